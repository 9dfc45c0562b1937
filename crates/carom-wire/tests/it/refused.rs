//! Evidence beside refusals.

use carom_wire::{Command, answer_line};
use serde_json::{Value, json};

/// A skate at more than 45 degrees from the normal: the projected law leaves the contact approaching, and says how fast.
#[test]
fn an_infeasible_projection_says_what_it_would_be() {
    let problem = json!({
        "law": "nonholonomic-projected", "mass_matrix": [[1.2, 0, 0], [0, 1.2, 0], [0, 0, 0.1]], "velocity": [1, 0, 0.3],
        "constraints": [[0, 1, 0]], "contacts": [{"normal": [-0.5, 0.9, 0]}],
    });
    let answer = answer_line(Command::Resolve, 1, &problem.to_string());
    let answer: Value = serde_json::from_str(&answer.text).unwrap();
    let error = &answer["error"];
    assert_eq!(error["kind"], "infeasible-law");
    let e = error["would_be"]["effective_restitution"].as_f64().unwrap();
    let after = error["would_be"]["velocity_plus"][0].as_f64().unwrap();
    assert!(e < 0.0 && (after + e).abs() <= 1e-12, "{e} {after}");
}
