//! Sweeps of configurations of one's own: every cell is a single run, bit for bit.

use carom_scenarios::{Overrides, scenario};
use carom_sweep::{Plan, RunOptions, SweepError, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

const BALL: &str = "duration = 0.5\n[[bodies]]\nname = \"ball\"\nshape = { type = \"sphere\", radius = 0.1 }\nmass = 1.0\n\
                    position = [0.0, 0.0, 0.3]\nvelocity = [0.2, 0.0, 0.0]\n[[planes]]\nname = \"floor\"\n\
                    normal = [0.0, 0.0, 1.0]\noffset = 0.0\n[output]\nsample_step = 0.05\n";

const PLAN: &str = "name = \"drops\"\nseed = 5\n[scenario]\nname = \"world\"\nconfig = \"ball.toml\"\n\
                    [axes]\n\"contact.restitution\" = { values = [0.2, 0.9] }\n\
                    \"bodies.ball.mass\" = { linspace = [0.5, 2.0, 2] }\n\
                    [random]\ndraws = 2\n\"bodies.ball.velocity.0\" = { uniform = [-0.1, 0.1] }\n\
                    [columns]\nlast = { path = \"/trajectory/rows\", type = \"list\", last = 2 }\nimpacts = \"/n_impacts\"\n";

const OSCILLATOR: &str = include_str!("../../../../examples/sweeps/impact-oscillator.toml");

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.toml"), BALL).unwrap();
    folder
}

fn read(folder: &Path, text: &str) -> Result<Plan, SweepError> {
    let path = folder.join("plan.toml");
    fs::write(&path, text).unwrap();
    Plan::read(&path)
}

fn refusal(folder: &Path, text: &str) -> String {
    read(folder, text).unwrap_err().to_string()
}

/// Rows of the table of a sweep, as JSON.
fn rows(plan: &Plan, folder: &Path) -> Vec<Value> {
    let out = folder.join("out");
    let summary = run(plan, &out, &RunOptions::default()).unwrap();
    assert_eq!(summary.errors, 0);
    let table = folder.join("table.jsonl");
    carom_sweep::merge(&[out], &table, &carom_sweep::MergeOptions::default()).unwrap();
    let text = fs::read_to_string(table).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All numbers of a JSON value, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

/// Compares every cell with a run of the file that `cell_toml` prints.
fn compare(name: &str, plan: &Plan, folder: &Path, list: (&str, &str, usize), count: (&str, &str)) {
    let rows = rows(plan, folder);
    assert_eq!(rows.len() as u64, plan.n_cells());
    for (cell, row) in rows.iter().enumerate() {
        let toml = plan.cell_toml(cell as u64).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let overrides = Overrides {
            toml,
            file: Some(elsewhere.path().join("cell.toml")),
            ..Overrides::default()
        };
        let record = scenario(name).unwrap().run(&overrides).unwrap();
        let record = serde_json::to_value(&record).unwrap();
        let (column, path, last) = list;
        let items = record.pointer(path).unwrap().as_array().unwrap();
        let expected: Vec<f64> = items[items.len().saturating_sub(last)..]
            .iter()
            .flat_map(numbers)
            .collect();
        let found = numbers(&row[column]);
        assert_eq!(found.len(), expected.len(), "cell {cell}");
        for (a, b) in found.iter().zip(&expected) {
            assert_eq!(a.to_bits(), b.to_bits(), "cell {cell}");
        }
        let expected = record.pointer(count.1).unwrap().as_f64();
        assert_eq!(row[count.0].as_f64(), expected, "cell {cell}");
    }
}

#[test]
fn cells_of_a_world_are_single_runs() {
    let folder = folder();
    let plan = read(folder.path(), PLAN).unwrap();
    assert_eq!(plan.n_cells(), 8);
    let line = plan.cell(3).unwrap().line();
    assert!(line.contains("\"config\":\"ball.toml\",\"set\":{\"contact.restitution\":0.2,\"bodies.ball.mass\":2.0,"), "{line}");
    compare(
        "world",
        &plan,
        folder.path(),
        ("last", "/trajectory/rows", 2),
        ("impacts", "/n_impacts"),
    );
}

#[test]
fn cells_of_a_mechanism_are_single_runs() {
    let folder = folder();
    fs::write(folder.path().join("oscillator.toml"), OSCILLATOR).unwrap();
    let text = "name = \"strobe\"\n[scenario]\nname = \"mechanism\"\nconfig = \"oscillator.toml\"\n[axes]\n\
                duration = { values = [30.0] }\n\"system.parameters.stop\" = { linspace = [0.0, 1.0, 3] }\n\
                \"contacts.stop.restitution\" = { values = [0.5, 0.8] }\n\
                [columns]\nstrobe = { path = \"/trajectory/rows\", type = \"list\", last = 3 }\nimpacts = \"/n_impacts\"\n";
    let plan = read(folder.path(), text).unwrap();
    assert_eq!(plan.n_cells(), 6);
    compare(
        "mechanism",
        &plan,
        folder.path(),
        ("strobe", "/trajectory/rows", 3),
        ("impacts", "/n_impacts"),
    );
}

/// A robot: the digest covers its URDF, which stands beside its configuration, wherever the process runs.
#[test]
fn cells_of_a_robot_are_single_runs() {
    let folder = folder();
    let urdf = include_str!("../../../../examples/robots/quadruped.urdf");
    let robot =
        include_str!("../../../../examples/sweeps/robot-drop.toml").replace("../robots/", "");
    fs::write(folder.path().join("quadruped.urdf"), urdf).unwrap();
    fs::write(folder.path().join("robot.toml"), robot).unwrap();
    let text = "name = \"robot\"\n[scenario]\nname = \"world\"\nconfig = \"robot.toml\"\n[axes]\n\
                duration = { values = [0.26] }\n\"urdf.actuators.front_left_knee.proportional\" = { values = [40.0, 60.0] }\n\
                [random]\ndraws = 1\n\"urdf.velocity.0\" = { uniform = [-0.5, 0.5] }\n\
                [columns]\nlast = { path = \"/trajectory/rows\", type = \"list\", last = 1 }\nimpacts = \"/n_impacts\"\n";
    let plan = read(folder.path(), text).unwrap();
    compare(
        "world",
        &plan,
        folder.path(),
        ("last", "/trajectory/rows", 1),
        ("impacts", "/n_impacts"),
    );
    let before = plan.digest().to_owned();
    assert_eq!(read(folder.path(), text).unwrap().digest(), before);
    fs::write(
        folder.path().join("quadruped.urdf"),
        urdf.replace("10.0", "10.5"),
    )
    .unwrap();
    assert_ne!(read(folder.path(), text).unwrap().digest(), before);
}

/// A comment in the file is another sweep; the folder of the plan is not.
#[test]
fn the_digest_covers_the_bytes_of_the_configuration() {
    let (one, two) = (folder(), folder());
    let digest = |folder: &Path| read(folder, PLAN).unwrap().digest().to_owned();
    assert_eq!(digest(one.path()), digest(two.path()));
    fs::write(two.path().join("ball.toml"), format!("{BALL}# more\n")).unwrap();
    assert_ne!(digest(one.path()), digest(two.path()));
}

/// Errors of cells do not depend on the folder of the plan: shards would have other bytes.
#[test]
fn errors_of_cells_name_the_file_as_the_plan_does() {
    let folder = folder();
    let text = PLAN.replace("linspace = [0.5, 2.0, 2]", "values = [1.0, -1.0]");
    let plan = read(folder.path(), &text).unwrap();
    let out = folder.path().join("out");
    assert_eq!(run(&plan, &out, &RunOptions::default()).unwrap().errors, 4);
    let table = folder.path().join("table.jsonl");
    carom_sweep::merge(&[out], &table, &carom_sweep::MergeOptions::default()).unwrap();
    let text = fs::read_to_string(table).unwrap();
    assert!(text.contains("invalid-configuration"), "{text}");
    assert!(!text.contains(folder.path().to_str().unwrap()), "{text}");
}

#[test]
fn faults_are_refused_with_the_plan() {
    let folder = folder();
    let at = folder.path();
    for (from, to, words) in [
        (
            "\"ball.toml\"",
            "\"bal.toml\"",
            &["line 5", "scenario.config", "bal.toml"][..],
        ),
        (
            "\"ball.toml\"",
            "\".\"",
            &["line 5", "scenario.config", "directory"],
        ),
        (
            "bodies.ball.mass",
            "bodies.bal.mass",
            &["line 8", "bodies.bal.mass", "did you mean `ball`?"],
        ),
        (
            "bodies.ball.mass",
            "bodies.1.mass",
            &["line 8", "no element of a list of 1"],
        ),
        (
            "bodies.ball.mass",
            "bodies.ball.mas",
            &["line 8", "unknown key `mas`; did you mean `mass`?"],
        ),
        (
            "contact.restitution",
            "contact.restituton",
            &["line 7", "did you mean `restitution`?"],
        ),
        (
            "bodies.ball.velocity.0",
            "bodies.bell.velocity.0",
            &["line 11", "random", "did you mean `ball`?"],
        ),
        (
            "last = 2",
            "last = 0",
            &["line 13", "columns.last.last", "between 1"],
        ),
        (
            "type = \"list\", last = 2",
            "type = \"f64\", last = 2",
            &["line 13", "only a list has last items"],
        ),
        (
            "impacts = \"/n_impacts\"",
            "impacts = { path = \"/n_impacts\", last = 2 }",
            &["line 14", "only a list"],
        ),
        (
            "config = \"ball.toml\"",
            "config = \"ball.toml\"\nconfg = 1",
            &["did you mean `config`?"],
        ),
    ] {
        let message = refusal(at, &PLAN.replace(from, to));
        for word in words {
            assert!(message.contains(word), "{to}: {message}");
        }
    }
    fs::write(at.join("ball.toml"), format!("{BALL}[[bodies]\n")).unwrap();
    let message = refusal(at, PLAN);
    assert!(message.contains("ball.toml: line 14"), "{message}");
    fs::write(at.join("ball.toml"), "scenario = \"penny\"\n").unwrap();
    let message = refusal(at, PLAN);
    assert!(message.contains("a configuration of `penny`"), "{message}");
}

/// A random number whose name is no key of the configuration is a column alone; one with a dot, or a mistyped key, is refused.
#[test]
fn random_names_without_a_key_are_not_set() {
    let folder = folder();
    let text = PLAN.replace("[columns]", "zeta = { uniform = [0.0, 1.0] }\n[columns]");
    let plan = read(folder.path(), &text).unwrap();
    let line = plan.cell(0).unwrap().line();
    assert!(
        !line.contains("zeta") && line.contains("velocity.0"),
        "{line}"
    );
    let text = PLAN.replace("[columns]", "duraton = { uniform = [0.1, 0.2] }\n[columns]");
    let message = refusal(folder.path(), &text);
    assert!(message.contains("did you mean `duration`?"), "{message}");
}

#[test]
fn problems_have_no_configuration() {
    let text = include_str!("../../../../examples/sweeps/break-map.toml");
    let plan = Plan::from_toml(text, Path::new(".")).unwrap();
    assert!(matches!(plan.cell_toml(0), Err(SweepError::Unsuitable(_))));
}
