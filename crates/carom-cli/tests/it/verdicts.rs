//! Unused input is reported; missing input is asked for.

use crate::common::{answers, carom};
use serde_json::{Value, json};

/// One contact with everything a contact can have.
fn problem(law: &str) -> Value {
    json!({
        "law": law,
        "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "velocity": [1, 0.5, -1],
        "contacts": [{
            "normal": [0, 0, 1],
            "tangents": [[1, 0, 0], [0, 1, 0]],
            "friction": 0.25,
            "restitution": 0.5,
        }],
    })
}

fn ask(problems: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = problems.iter().map(Value::to_string).collect();
    answers(&carom(&["resolve"], &lines.join("\n")))
}

/// The table of the book.
const IGNORED: [(&str, &[&str]); 13] = [
    ("propagative", &["friction", "restitution", "tangents"]),
    ("plastic", &["friction", "restitution", "tangents"]),
    (
        "nonholonomic-elastic",
        &["friction", "restitution", "tangents"],
    ),
    (
        "nonholonomic-projected",
        &["friction", "restitution", "tangents"],
    ),
    (
        "nonholonomic-newton",
        &["friction", "restitution", "tangents"],
    ),
    (
        "nonholonomic-projected-newton",
        &["friction", "restitution", "tangents"],
    ),
    ("moreau-newton", &[]),
    ("routh", &[]),
    ("two-body", &[]),
    ("anitescu-potra", &["restitution"]),
    ("sequential", &["restitution"]),
    ("set-valued", &["restitution"]),
    ("nonholonomic-rough", &["friction", "restitution"]),
];

#[test]
fn keys_that_a_law_does_not_use_are_listed() {
    for speed in [-1.0, 1.0] {
        let problems: Vec<Value> = IGNORED
            .iter()
            .map(|(law, _)| {
                let mut problem = problem(law);
                problem["velocity"][2] = speed.into();
                problem
            })
            .collect();
        for ((law, expected), answer) in IGNORED.iter().zip(ask(&problems)) {
            let status = if speed < 0.0 {
                "resolved"
            } else {
                "separating"
            };
            assert_eq!(answer["status"], status, "{law}: {answer}");
            let ignored = answer.get("ignored").cloned().unwrap_or(json!([]));
            assert_eq!(ignored, json!(expected), "{law}");
            assert_eq!(answer.get("ignored").is_some(), !expected.is_empty());
        }
    }
}

#[test]
fn default_values_are_not_listed() {
    let mut plain = problem("plastic");
    plain["contacts"] = json!([{
        "normal": [0, 0, 1], "tangents": [], "friction": 0.0, "restitution": 0.0,
    }]);
    assert!(ask(&[plain])[0].get("ignored").is_none());
}

#[test]
fn friction_without_directions_of_slip_is_refused_where_it_matters() {
    for (law, ignored) in IGNORED {
        let mut problem = problem(law);
        problem["contacts"][0]["tangents"] = json!([]);
        let answer = &ask(&[problem])[0];
        if ignored.contains(&"friction") {
            assert_eq!(answer["status"], "resolved", "{law}: {answer}");
        } else {
            assert_eq!(answer["error"]["kind"], "missing-tangents", "{law}");
        }
    }
}

#[test]
fn contacts_may_be_empty_but_not_left_out() {
    let mut empty = problem("plastic");
    empty["contacts"] = json!([]);
    let mut left_out = problem("plastic");
    left_out.as_object_mut().unwrap().remove("contacts");
    let found = ask(&[empty, left_out]);
    assert_eq!(found[0]["status"], "separating");
    assert_eq!(found[1]["error"]["kind"], "invalid-input");
    let message = found[1]["error"]["message"].as_str().unwrap();
    assert!(message.contains("contacts"), "{message}");
}

#[test]
fn a_chain_with_too_many_orders_is_answered_in_part() {
    let n = 10;
    let mass = |i: usize, j: usize| if i == j { 1.0 + (i % 2) as f64 } else { 0.0 };
    let normal = |i: usize| {
        let entry = |k: usize| f64::from(i8::from(k == i + 1) - i8::from(k == i));
        json!({ "normal": (0..n).map(entry).collect::<Vec<_>>() })
    };
    let mut velocity = vec![0.0; n];
    (velocity[0], velocity[n - 1]) = (1.0, -1.0);
    let chain = json!({
        "law": "propagative",
        "mass_matrix": (0..n).map(|i| (0..n).map(|j| mass(i, j)).collect()).collect::<Vec<Vec<f64>>>(),
        "velocity": velocity,
        "contacts": (0..n - 1).map(normal).collect::<Vec<_>>(),
        "options": { "outcomes": "all", "max_nodes": 3000, "samples": 1500 },
    });
    let answer = &ask(&[chain])[0];
    assert_eq!(answer["status"], "resolved", "{}", answer["error"]);
    let found = &answer["diagnostics"];
    assert_eq!(found["complete"], false);
    assert_eq!(found["orders"], 1500);
    assert_eq!(found["indeterminacy_is"], "lower-bound");
    assert!(found["indeterminacy"].as_f64().unwrap() > 0.6, "{found}");
    assert!(found["new_outcome_rate"].as_f64().unwrap() > 0.1);
    let written = answer["outcomes"].as_array().unwrap().len();
    let omitted = answer.get("omitted").and_then(Value::as_u64).unwrap_or(0);
    assert_eq!(found["distinct"], written as u64 + omitted);
    assert!(written <= 1000);
}
