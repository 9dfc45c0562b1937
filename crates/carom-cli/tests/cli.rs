//! The command line as its users meet it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn carom(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn answers(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn cradle(id: usize, first: f64) -> String {
    json!({
        "id": id.to_string(), "law": "propagative",
        "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "velocity": [first, 0.0, -first],
        "contacts": [{"normal": [-1, 1, 0]}, {"normal": [0, -1, 1]}],
        "options": {"outcomes": "all"},
    })
    .to_string()
}

#[test]
fn a_hundred_problems_with_faults_between_are_answered_in_order() {
    let mut lines: Vec<String> = (0..100).map(|k| cradle(k, 1.0 + k as f64)).collect();
    lines.insert(10, "{broken".to_owned());
    lines.insert(50, String::new());
    lines.insert(70, r#"{"id":"x","law":"propagative"}"#.to_owned());
    let output = carom(&["resolve"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty());
    let answers = answers(&output);
    assert_eq!(answers.len(), 102);
    assert_eq!(answers[10]["id"], Value::Null);
    assert_eq!(answers[10]["error"]["kind"], "invalid-json");
    assert!(
        answers[69]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("mass_matrix")
    );
    let solved: Vec<&Value> = answers
        .iter()
        .filter(|a| a.get("error").is_none())
        .collect();
    for (k, answer) in solved.iter().enumerate() {
        assert_eq!(answer["id"], k.to_string());
        let v = answer["velocity_plus"][2].as_f64().unwrap();
        assert!((v - (1.0 + k as f64)).abs() < 1e-12);
        assert_eq!(answer["outcomes"].as_array().unwrap().len(), 1);
        assert_eq!(answer["outcomes"][0]["diagnostics"]["n_sequences"], 2);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let input: Vec<String> = (0..3000).map(|k| cradle(k, 0.1 + k as f64)).collect();
    let input = input.join("\n");
    let one = carom(&["resolve", "--threads", "1"], &input);
    let three = carom(&["resolve", "--threads", "3"], &input);
    assert_eq!(one.status.code(), Some(0));
    assert_eq!(one.stdout, three.stdout);
}

#[test]
fn every_fault_of_a_problem_names_its_key() {
    let good = json!({
        "id": "a", "law": "propagative", "mass_matrix": [[1, 0], [0, 1]], "velocity": [0, -1],
        "contacts": [{"normal": [0, 1]}],
    });
    let faults = [
        ("law", json!("magic"), "unknown-law", "law"),
        (
            "mass_matrix",
            json!([[1, 0], [0]]),
            "not-square",
            "mass_matrix",
        ),
        (
            "mass_matrix",
            json!([[1, 2], [2, 1]]),
            "not-positive-definite",
            "mass_matrix",
        ),
        (
            "mass_matrix",
            json!([[1, 0.5], [0, 1]]),
            "not-symmetric",
            "mass_matrix",
        ),
        ("mass_matrix", json!([]), "empty", "mass_matrix"),
        ("velocity", json!([1]), "dimension-mismatch", "velocity"),
        ("velocity", json!([1, null]), "invalid-input", "velocity[1]"),
        (
            "contacts",
            json!([{"normal": [0, 0]}]),
            "zero-normal",
            "contacts",
        ),
        (
            "contacts",
            json!([{"normal": [0]}]),
            "dimension-mismatch",
            "contact 0",
        ),
        (
            "contacts",
            json!([{"normal": [0, 1], "friction": -1}]),
            "invalid-friction",
            "friction",
        ),
        (
            "contacts",
            json!([{"normal": [0, 1], "mu": 1}]),
            "invalid-input",
            "contacts[0].mu",
        ),
        (
            "contacts",
            json!([{"normal": [0, 1]}, {"normal": [0, -1]}]),
            "no-elastic-outcome",
            "[0, 1]",
        ),
        (
            "constraints",
            json!([[0, 0]]),
            "dependent-constraints",
            "constraint",
        ),
        (
            "constraints",
            json!([[0, 1]]),
            "constrained-contact",
            "contact 0",
        ),
        (
            "options",
            json!({"restitution": 1.2}),
            "invalid-restitution",
            "restitution",
        ),
        (
            "options",
            json!({"max_impacts": 0}),
            "limit-exceeded",
            "max_impacts",
        ),
        (
            "options",
            json!({"selection": {"priority": [3]}}),
            "invalid-contact",
            "priority",
        ),
        (
            "options",
            json!({"selection": "fast"}),
            "invalid-input",
            "options.selection",
        ),
        ("surprise", json!(1), "invalid-input", "surprise"),
    ];
    let lines: Vec<String> = faults
        .iter()
        .map(|(key, value, _, _)| {
            let mut problem = good.clone();
            problem[key] = value.clone();
            problem.to_string()
        })
        .collect();
    let output = carom(&["resolve"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(1));
    let answers = answers(&output);
    assert_eq!(answers.len(), faults.len());
    for (answer, (key, value, kind, named)) in answers.iter().zip(&faults) {
        let error = &answer["error"];
        assert_eq!(answer["id"], "a");
        assert_eq!(error["kind"], *kind, "{key} = {value}: {answer}");
        assert!(
            error["message"].as_str().unwrap().contains(named),
            "{key} = {value}: {answer}"
        );
    }
}

#[test]
fn bad_usage_is_one_line_and_status_two() {
    for args in [
        &["run", "nothing"][..],
        &["run", "newtons-cradle", "--set", "masses=[1, -1]"],
        &["run", "newtons-cradle", "--set", "nonsense=1"],
        &["run", "newtons-cradle", "--config", "/nonexistent.toml"],
        &["resolve", "/nonexistent.jsonl"],
        &["resolve", "--threads", "0"],
        &["frobnicate"],
        &["run"],
        &[],
    ] {
        let output = carom(args, "");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn the_default_configuration_can_be_shown_edited_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cradle.toml");
    let shown = carom(&["show", "newtons-cradle"], "");
    std::fs::write(&file, &shown.stdout).unwrap();
    let file = file.to_str().unwrap();
    let plain = carom(&["run", "newtons-cradle", "--json"], "");
    let edited = carom(&["run", "newtons-cradle", "--json", "--config", file], "");
    assert_eq!(plain.stdout, edited.stdout);

    std::fs::write(file, "velocities = [1, 0, 0]\nmases = 3\n").unwrap();
    let wrong = carom(&["run", "newtons-cradle", "--config", file], "");
    let stderr = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        stderr.contains("line 2, column 1") && stderr.contains("mases"),
        "{stderr}"
    );
}

#[test]
fn the_record_in_the_folder_is_the_one_on_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let run = carom(
        &[
            "run",
            "newtons-cradle",
            "--json",
            "--seed",
            "3",
            "--out",
            out.to_str().unwrap(),
        ],
        "",
    );
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(std::fs::read(out.join("record.json")).unwrap(), run.stdout);
    for name in ["index.html", "fig2b_energy_loss.svg", "balls.csv"] {
        assert!(out.join(name).metadata().unwrap().len() > 0, "{name}");
    }
}

#[test]
fn the_list_is_an_array_of_names_and_sources() {
    let list = carom(&["list", "--json"], "");
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    for entry in list.as_array().unwrap() {
        for key in ["name", "summary", "paper", "reproduces"] {
            assert!(entry[key].is_string(), "{entry}");
        }
    }
}
