//! The option `trace` of the laws for one frictional contact.

use carom_wire::{Command, answer_line};
use serde_json::{Value, json};

fn resolve(problem: &Value) -> Value {
    let answer = answer_line(Command::Resolve, 1, &problem.to_string());
    serde_json::from_str(&answer.text).unwrap()
}

/// A rod of 1 kg that slides and closes: the trace runs from before to after the impact.
fn rod(options: Value) -> Value {
    json!({
        "law": "routh", "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1.0 / 3.0]], "velocity": [0.5, -1, 0],
        "contacts": [{"normal": [0, 1, -0.5], "tangents": [[1, 0, 0.5]], "friction": 0.3, "restitution": 0.5}],
        "options": options,
    })
}

#[test]
fn a_trace_runs_from_before_to_after() {
    let answer = resolve(&rod(json!({"trace": true})));
    let rows = answer["trace"]["rows"].as_array().unwrap();
    assert_eq!(answer["trace"]["columns"][7], "mode");
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    assert_eq!((&first[2], &first[5]), (&json!(0.0), &json!(-1.0)));
    let impulse = answer["impulses"][0][0].as_f64().unwrap();
    assert!((last[2].as_f64().unwrap() - impulse).abs() <= 1e-12);
    assert_eq!(resolve(&rod(json!({}))).get("trace"), None);
    assert_eq!(resolve(&rod(json!({"trace": false}))).get("trace"), None);
}

#[test]
fn two_bodies_have_a_trace_too() {
    let answer = resolve(&json!({
        "law": "two-body", "friction": 0.3, "restitution": 0.8, "options": {"trace": true},
        "contact": {"point": [0, 0, 0], "normal": [0, 0, 1]},
        "body1": {
            "mass": 2, "inertia": [[0.2, 0, 0], [0, 0.3, 0], [0, 0, 0.4]], "center": [0.1, 0, 0.5],
            "velocity": [1, 0, -2], "angular_velocity": [0, 0, 3],
        },
    }));
    let rows = answer["trace"]["rows"].as_array().unwrap();
    assert!(rows.len() > 2 && rows.iter().all(|row| row[7].is_string()));
}

#[test]
fn laws_without_a_path_have_no_such_option() {
    let mut problem = rod(json!({"trace": true}));
    problem["law"] = json!("anitescu-potra");
    let message = resolve(&problem)["error"]["message"].to_string();
    assert!(message.contains("options.trace"), "{message}");
}
