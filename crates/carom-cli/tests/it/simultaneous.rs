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

/// Refusals of the contact problem carry their reasons: outcomes, a proof, a residual.
#[test]
fn refusals_carry_outcomes_and_proofs() {
    let doubled = |law: &str, selection: &str, restitution: f64| {
        let contact = |tangent: [i32; 2], friction: i32| json!({"normal": [-1, 0], "tangents": [tangent], "friction": friction, "restitution": restitution});
        json!({
            "law": law, "mass_matrix": [[1, 0], [0, 1]], "velocity": [1, -1],
            "contacts": [contact([0, -2], 1), contact([2, -2], 2)],
            "options": {"selection": selection},
        })
    };
    let wall = |side: i32| json!({"normal": [side, 0], "tangents": [[0, 1]], "friction": 0.5, "restitution": 0.5});
    let jammed = json!({
        "law": "moreau-newton", "mass_matrix": [[2, 0], [0, 2]], "velocity": [-1, 0.2],
        "contacts": [wall(2), wall(-1)],
    });
    let lines = [
        doubled("moreau-newton", "even", 1.0),
        doubled("moreau-newton", "first", 1.0),
        jammed,
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let answers = answers(&carom(&["resolve"], &lines));
    let error = &answers[0]["error"];
    assert_eq!(error["kind"], "ambiguous");
    let outcomes = error["outcomes"].as_array().unwrap();
    let modes: Vec<&Value> = outcomes
        .iter()
        .map(|o| &o["diagnostics"]["modes"])
        .collect();
    assert_eq!(
        modes,
        [&json!([["stick", "open"]]), &json!([["open", "stick"]])]
    );
    for (outcome, energy) in outcomes.iter().zip([0.5, 1.0]) {
        assert!((outcome["energy_plus_j"].as_f64().unwrap() - energy).abs() <= 1e-14);
        assert!(outcome["audit"].is_object() && outcome["impulses"].is_array());
    }
    assert_eq!(answers[1]["velocity_plus"], outcomes[0]["velocity_plus"]);
    assert_eq!(answers[1]["warnings"], json!(["not-unique"]));
    let error = &answers[2]["error"];
    assert_eq!(error["kind"], "infeasible-law");
    let proof = &error["proof"]["impulses"];
    let push = |contact: usize| proof[contact][0].as_f64().unwrap();
    assert!(push(0) > 0.0 && (2.0 * push(0) - push(1)).abs() <= 1e-14 * push(1));
    assert_eq!([&proof[0][1], &proof[1][1]], [&json!(0.0); 2]);
}
