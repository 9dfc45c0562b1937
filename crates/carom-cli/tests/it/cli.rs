//! The command line as its users meet it.
#![allow(
    clippy::excessive_precision,
    reason = "digits as their source has them"
)]

use crate::common::{answers, carom};
use serde_json::{Value, json};

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

/// Keys with bad values, the kind of the error, and the part of the problem that its message names.
fn faults() -> [(&'static str, Value, &'static str, &'static str); 18] {
    [
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
        ("options", json!({"max_impacts": 0}), "limit", "max_impacts"),
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
    ]
}

#[test]
fn every_fault_of_a_problem_names_its_key() {
    let good = json!({
        "id": "a", "law": "propagative", "mass_matrix": [[1, 0], [0, 1]], "velocity": [0, -1],
        "contacts": [{"normal": [0, 1]}],
    });
    let faults = faults();
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
        &["lcp", "/nonexistent.jsonl"],
        &["lcp", "--threads", "0"],
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

fn lcp(id: usize, q: f64) -> String {
    json!({ "id": id, "matrix": [[2, 1], [1, 2]], "vector": [q, -6.0] }).to_string()
}

#[test]
fn complementarity_problems_are_answered_in_order_by_any_number_of_threads() {
    let mut lines: Vec<String> = (0..2500).map(|k| lcp(k, -5.0 - k as f64)).collect();
    lines.insert(3, "{broken".to_owned());
    let one = carom(&["lcp", "--threads", "1"], &lines.join("\n"));
    let three = carom(&["lcp", "--threads", "3"], &lines.join("\n"));
    assert_eq!(one.status.code(), Some(1));
    assert_eq!(one.stdout, three.stdout);
    let answers = answers(&one);
    assert_eq!(answers[3]["error"]["kind"], "invalid-json");
    let message = answers[3]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("line 4 column "), "{message}");
    assert_eq!(answers[0]["status"], "solved");
    let z = answers[0]["z"][1].as_f64().unwrap();
    assert!((z - 7.0 / 3.0).abs() < 1e-15);
    assert!(answers[0]["residual"].as_f64().unwrap() <= 1e-15);
    assert_eq!(answers[0]["pivots"], 3);
    assert_eq!(answers[2500]["id"], 2499);
}

#[test]
fn the_methods_of_lcp_say_what_they_found() {
    let painleve = r#"{"matrix":[[-0.5]],"vector":[1],"method":"enumerate"}"#;
    let chosen = r#"{"matrix":[[-0.5]],"vector":[1],"method":"auto"}"#;
    let solved = carom(&["lcp"], &format!("{painleve}\n{chosen}\n"));
    assert_eq!(solved.status.code(), Some(0));
    let solved = answers(&solved);
    assert_eq!(solved[0]["solutions"][1]["z"], json!([2.0]));
    assert_eq!(solved[1]["method"], "lemke");

    let infeasible = r#"{"matrix":[[0]],"vector":[-1]}"#;
    let limited = r#"{"matrix":[[1,0],[2,1]],"vector":[-1,-1],"max_pivots":1}"#;
    let ray = r#"{"matrix":[[-1,-1],[-1,0]],"vector":[1,-1]}"#;
    let unsolved = carom(&["lcp"], &format!("{infeasible}\n{limited}\n{ray}\n"));
    assert_eq!(unsolved.status.code(), Some(1));
    let unsolved = answers(&unsolved);
    assert_eq!(unsolved[0]["status"], "infeasible");
    assert_eq!(unsolved[1]["status"], "iteration-limit");
    assert_eq!(unsolved[1]["pivots"], 1);
    // The path ends on a ray; that there is no solution is proven.
    assert_eq!(unsolved[2]["status"], "infeasible");
    assert_eq!(unsolved[2]["proof"], "farkas");
}

#[test]
fn every_fault_of_a_complementarity_problem_names_its_key() {
    let good = json!({ "id": "a", "matrix": [[1, 0], [0, 1]], "vector": [0, -1] });
    let faults = [
        (
            "matrix",
            json!([[1, 0], [0]]),
            "dimension-mismatch",
            "matrix",
        ),
        ("matrix", json!([[1, 0]]), "dimension-mismatch", "matrix"),
        (
            "matrix",
            json!([[1, 0], [0, null]]),
            "invalid-input",
            "matrix[1][1]",
        ),
        ("matrix", Value::Null, "invalid-input", "matrix"),
        ("vector", json!([1]), "dimension-mismatch", "matrix"),
        ("vector", json!(["x", 1]), "invalid-input", "vector[0]"),
        ("vector", json!(vec![0.0; 100_000]), "too-large", "vector"),
        ("method", json!("magic"), "unknown-method", "method"),
        ("max_pivots", json!(-1), "invalid-input", "max_pivots"),
        ("surprise", json!(1), "invalid-input", "surprise"),
    ];
    let lines = faults.iter().map(|(key, value, _, _)| {
        let mut problem = good.clone();
        problem[key] = value.clone();
        problem.to_string()
    });
    let mut lines: Vec<String> = lines.collect();
    lines.push(r#"{"id":"e","matrix":[],"vector":[]}"#.to_owned());
    let output = carom(&["lcp"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(1));
    let answers = answers(&output);
    for (answer, (key, value, kind, named)) in answers.iter().zip(&faults) {
        let error = &answer["error"];
        assert_eq!(error["kind"], *kind, "{key} = {value}: {answer}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(named), "{key} = {value}: {answer}");
    }
    assert_eq!(answers[faults.len()]["status"], "solved");
}

const DROP: &str = r#"{"id":"drop","law":"two-body","friction":0.3,"restitution":0.8,
"contact":{"point":[0,0,0],"normal":[0,0,1]},
"body1":{"mass":2,"inertia":[[0.2,0,0],[0,0.3,0],[0,0,0.4]],"center":[0.1,0,0.5],
"velocity":[1,0,-2],"angular_velocity":[0,0,3]}}"#;

fn one_line(text: &str) -> String {
    text.replace('\n', "")
}

/// The bodies form and the algebraic form of the same impact.
#[test]
fn two_bodies_and_their_matrices_give_the_same_impact() {
    // The arm from the center to the contact is (-0.1, 0, -0.5); rows are direction and moment.
    let rows = json!({
        "id": "rows", "law": "routh",
        "mass_matrix": [[2,0,0,0,0,0],[0,2,0,0,0,0],[0,0,2,0,0,0],
                        [0,0,0,0.2,0,0],[0,0,0,0,0.3,0],[0,0,0,0,0,0.4]],
        "velocity": [1, 0, -2, 0, 0, 3],
        "contacts": [{
            "normal": [0, 0, 1, 0.0, 0.1, 0.0],
            "tangents": [[1, 0, 0, 0, -0.5, 0], [0, 1, 0, 0.5, 0, -0.1]],
            "friction": 0.3, "restitution": 0.8,
        }],
    });
    let input = format!("{}\n{rows}", one_line(DROP));
    let output = carom(&["resolve"], &input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let [bodies, rows] = &answers(&output)[..] else {
        panic!("{output:?}");
    };
    assert_eq!(bodies["status"], "resolved");
    assert_eq!(
        bodies["diagnostics"]["events"],
        rows["diagnostics"]["events"]
    );
    assert_eq!(bodies["diagnostics"]["energy_gain_j"], 0.0);
    let number = |v: &Value| v.as_f64().unwrap();
    for k in 0..3 {
        let linear = number(&bodies["velocity1_plus"][k]) - number(&rows["velocity_plus"][k]);
        let spin =
            number(&bodies["angular_velocity1_plus"][k]) - number(&rows["velocity_plus"][3 + k]);
        assert!(
            linear.abs() + spin.abs() < 1e-13,
            "{k}: {linear:e} {spin:e}"
        );
    }
    let normal = number(&rows["impulses"][0][0]) - number(&bodies["impulse"][2]);
    assert!(normal.abs() < 1e-13);
    assert!(number(&bodies["energy_plus_j"]) < number(&bodies["energy_minus_j"]));
    assert!(bodies.get("velocity2_plus").is_none());
    let directions = bodies["diagnostics"]["invariant_directions"]
        .as_array()
        .unwrap();
    assert!((2..=4).contains(&directions.len()));
}

#[test]
fn faults_of_bodies_are_named() {
    let drop: Value = serde_json::from_str(DROP).unwrap();
    let ask = |path: &str, value: Value| {
        let mut problem = drop.clone();
        *problem.pointer_mut(path).unwrap() = value;
        let output = carom(&["resolve"], &problem.to_string());
        answers(&output).remove(0)
    };
    for (path, value, kind, part) in [
        ("/friction", json!(-1), "invalid-friction", "friction"),
        (
            "/restitution",
            json!(1.5),
            "invalid-restitution",
            "restitution",
        ),
        ("/body1/mass", json!(0), "invalid-body", "body1"),
        ("/body1/inertia/2/2", json!(0), "invalid-body", "body1"),
        (
            "/body1/inertia/0/1",
            json!(0.1),
            "invalid-body",
            "symmetric",
        ),
        (
            "/contact/normal",
            json!([0, 0, 0]),
            "invalid-normal",
            "normal",
        ),
        (
            "/contact/point",
            json!([0, 0]),
            "invalid-input",
            "contact.point",
        ),
        ("/law", json!("two-bodies"), "unknown-law", "two-body"),
    ] {
        let answer = ask(path, value);
        assert_eq!(answer["error"]["kind"], kind, "{path}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{path}: {message}");
    }
    let away = ask("/body1/velocity", json!([0, 0, 2]));
    assert_eq!(away["status"], "separating");
    assert_eq!(away["velocity1_plus"], json!([0.0, 0.0, 2.0]));
}

/// Clark & Bloch's penny in full coordinates: rim at 0.7 rad, wall normal (0.6, 0.8), against
/// 40-digit arithmetic.
fn rolling_penny(law: &str, options: &Value) -> String {
    let (sin, cos) = 0.7f64.sin_cos();
    let side = 0.01 * (-0.6 * sin + 0.8 * cos);
    json!({
        "id": "penny", "law": law,
        "mass_matrix": [[0.0025, 0, 0, 0], [0, 0.0025, 0, 0], [0, 0, 1.25e-7, 0], [0, 0, 0, 6.25e-8]],
        "velocity": [0.1 * cos, 0.1 * sin, 10.0, 0.2],
        "contacts": [{"normal": [-0.6, -0.8, 0.0, -side]}],
        "constraints": [[1.0, 0.0, -0.01 * cos, 0.0], [0.0, 1.0, -0.01 * sin, 0.0]],
        "options": options,
    })
    .to_string()
}

#[test]
fn nonholonomic_laws_report_their_multipliers() {
    let near = |value: &Value, expected: f64| {
        let found = value.as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    };
    let lines = [
        rolling_penny("nonholonomic-elastic", &json!({})),
        rolling_penny("nonholonomic-projected", &json!({})),
        rolling_penny("nonholonomic-newton", &json!({"restitution": 0.5})),
    ];
    let output = carom(&["resolve"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(0));
    let answers = answers(&output);
    let diagnostics = &answers[0]["diagnostics"];
    near(&diagnostics["alpha"], 5.8544630402642933e-4);
    near(&diagnostics["lambda"][0], 6.0429753893706329e-5);
    near(&diagnostics["lambda"][1], 2.2338755120014576e-4);
    near(&diagnostics["effective_restitution"], 1.0);
    near(&answers[0]["velocity_plus"][2], -5.2103549389579904);
    near(
        &answers[1]["diagnostics"]["effective_restitution"],
        0.38960880491340796,
    );
    near(&answers[2]["velocity_plus"][3], -15.631156837395854);
}

#[test]
fn nonholonomic_faults_name_what_is_wrong() {
    let lines = [
        rolling_penny(
            "nonholonomic-projected-newton",
            &json!({"restitution": 0.0}),
        ),
        rolling_penny("nonholonomic-newton", &json!({"restitution": 1.5})),
        rolling_penny("nonholonomic-elastic", &json!({"restitution": 0.5})),
    ];
    let output = carom(&["resolve"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(1));
    let answers = answers(&output);
    let kinds = ["infeasible-law", "invalid-restitution", "invalid-input"];
    for (answer, kind) in answers.iter().zip(kinds) {
        assert_eq!(answer["error"]["kind"], kind);
    }
    for answer in &answers[1..] {
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("options")
        );
    }
}

#[test]
fn the_penny_stops_by_impacts_or_by_time() {
    let run = |settings: &[&str]| {
        let mut args = vec!["run", "penny", "--json"];
        args.extend(settings.iter().flat_map(|s| ["--set", s]));
        let output = carom(&args, "");
        assert_eq!(output.status.code(), Some(0));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let default = run(&[]);
    assert_eq!(default["status"], "completed");
    let impacts = default["impacts"].as_array().unwrap();
    assert_eq!(impacts.len(), 20);
    assert_eq!(impacts[0]["n"], 1);
    assert_eq!(impacts[0]["rim"], "front");
    // A duration alone lifts the limit on impacts; a limit beside it is reported.
    let long = run(&["duration=40"]);
    assert_eq!(long["status"], "completed");
    assert!(long["impacts"].as_array().unwrap().len() > 25);
    let short = run(&["duration=40", "impacts=3"]);
    assert_eq!(short["status"], "max-impacts");
    let energy = &long["energy"];
    assert!(energy["max_abs_error_j"].as_f64().unwrap() < 1e-17);
    assert_eq!(
        run(&["initial.theta_dot=1", "initial.phi_dot=20"])["status"],
        "never-hits"
    );
    let told = carom(
        &[
            "run",
            "penny",
            "--set",
            "initial.theta_dot=0.1",
            "--set",
            "initial.phi_dot=20",
        ],
        "",
    );
    let told = String::from_utf8(told.stdout).unwrap();
    let ended =
        "`never-hits`: nothing is hit from the start on; the run ended before its 20 impacts";
    assert!(told.contains(&format!("\n{ended}\n")), "{told}");
    assert_eq!(
        run(&["law=newton", "restitution=0"])["status"],
        "grazing-cascade"
    );
}
