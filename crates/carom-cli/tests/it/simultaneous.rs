//! The laws of simultaneous frictional impact on the command line.

use crate::common::{answers, carom};
use serde_json::{Value, json};

fn flat_drop(law: &str, options: Value) -> String {
    let corner = |x: f64| json!({"normal": [0, 1, x], "tangents": [[1, 0, 1]], "friction": 1});
    json!({
        "id": law, "law": law,
        "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 5.0 / 12.0]], "velocity": [0, -1, 0],
        "contacts": [corner(-0.5), corner(0.5)], "options": options,
    })
    .to_string()
}

/// Halm & Posa, Section 5.1.
#[test]
fn frictional_laws_answer_a_flat_drop() {
    let lines = [
        flat_drop("anitescu-potra", json!({"outcomes": "all"})),
        flat_drop("moreau-newton", json!({})),
        flat_drop("sequential", json!({"order": [1, 0]})),
        flat_drop(
            "set-valued",
            json!({"impulse_step": 0.7, "samples": 50, "seed": 3}),
        ),
        flat_drop(
            "set-valued",
            json!({"samples": 50, "branch": "enumerate", "caps": "mixed"}),
        ),
    ];
    let output = carom(&["resolve"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(0));
    let answers = answers(&output);
    let speed = |answer: &Value, i: usize| answer["velocity_plus"][i].as_f64().unwrap();
    for answer in &answers[..2] {
        assert!((0..3).all(|i| speed(answer, i).abs() <= 1e-15));
        assert_eq!(answer["diagnostics"]["rank"], "shared-impulses");
    }
    assert_eq!(answers[0]["outcomes"].as_array().unwrap().len(), 1);
    assert_eq!(answers[2]["diagnostics"]["sequence"], json!([1, 0]));
    assert!((speed(&answers[2], 1) - 0.105).abs() <= 1e-15);
    for answer in &answers[3..] {
        let diagnostics = &answer["diagnostics"];
        let outcomes = answer["outcomes"].as_array().unwrap();
        assert_eq!(
            outcomes.len() as u64,
            diagnostics["terminated"].as_u64().unwrap()
        );
        assert_eq!(answer["velocity_plus"], outcomes[0]["velocity_plus"]);
        assert_eq!(diagnostics["hull"].as_array().unwrap().len(), 2);
        assert!(diagnostics["lcp_per_sample"].as_f64().unwrap() > 1.0);
        assert!(diagnostics["coverage"]["new_cell_rate"].is_number());
    }
}

#[test]
fn frictional_laws_name_the_option_that_they_refuse() {
    let faults = [
        (
            "set-valued",
            json!({"impulse_step": 0}),
            "invalid-option",
            "impulse_step",
        ),
        (
            "set-valued",
            json!({"samples": 0}),
            "invalid-option",
            "samples",
        ),
        (
            "set-valued",
            json!({"epsilon": 9, "impulse_step": 1}),
            "invalid-option",
            "epsilon",
        ),
        (
            "set-valued",
            json!({"branch": "magic"}),
            "invalid-input",
            "branch",
        ),
        (
            "set-valued",
            json!({"friction_directions": 3}),
            "invalid-option",
            "friction_directions",
        ),
        (
            "set-valued",
            json!({"impulse_step": 1e-3, "max_steps": 1}),
            "limit",
            "max_steps",
        ),
        (
            "sequential",
            json!({"order": [2]}),
            "invalid-contact",
            "order",
        ),
        (
            "anitescu-potra",
            json!({"samples": 1}),
            "invalid-input",
            "samples",
        ),
    ];
    let lines: Vec<String> = faults
        .iter()
        .map(|(law, options, _, _)| flat_drop(law, options.clone()))
        .collect();
    let output = carom(&["resolve"], &lines.join("\n"));
    assert_eq!(output.status.code(), Some(1));
    for (answer, (law, options, kind, named)) in answers(&output).iter().zip(&faults) {
        let error = &answer["error"];
        assert_eq!(error["kind"], *kind, "{law} {options}: {answer}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(named), "{law} {options}: {answer}");
    }
}
