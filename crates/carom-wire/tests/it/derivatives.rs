//! `derivative`, as it is asked for and answered.

use carom_wire::{Command, answer_line};
use serde_json::{Value, json};

fn resolve(problem: &Value) -> Value {
    let answer = answer_line(Command::Resolve, 1, &problem.to_string());
    serde_json::from_str(&answer.text).unwrap()
}

fn balls(masses: [f64; 3], velocity: [f64; 3], derivative: &Value) -> Value {
    let [a, b, c] = masses;
    json!({
        "law": "propagative", "mass_matrix": [[a, 0, 0], [0, b, 0], [0, 0, c]],
        "velocity": velocity, "contacts": [{"normal": [-1, 1, 0]}, {"normal": [0, -1, 1]}],
        "derivative": derivative,
    })
}

fn slide(velocity: [f64; 2], derivative: &Value) -> Value {
    json!({
        "law": "anitescu-potra", "mass_matrix": [[1, 0], [0, 1]], "velocity": velocity,
        "contacts": [{"normal": [0, 1], "tangents": [[1, 0]], "friction": 0.5}],
        "derivative": derivative,
    })
}

fn close(found: &Value, expected: &Value) {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len());
            found.iter().zip(expected).for_each(|(a, b)| close(a, b));
        }
        _ => {
            let (a, b) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-12, "{a} and {b}");
        }
    }
}

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn a_slide_has_the_jacobians_of_its_closed_form() {
    let ask = json!({"directions": [{"velocity": [0, 1]}, {"contacts": [{"friction": 1}]}]});
    let answer = resolve(&slide([2.0, -1.0], &ask));
    let jacobian = &answer["jacobian"];
    assert_eq!(jacobian["class"], "smooth");
    close(&jacobian["margin"], &json!(0.2f64.sqrt()));
    close(&jacobian["dv_dv"], &json!([[1, 0.5], [0, 0]]));
    close(&jacobian["dv_dfriction"], &json!([[-1], [0]]));
    close(&jacobian["dv_drestitution"], &json!([[0], [0]]));
    close(&jacobian["dimpulses_dv"], &json!([[0, -1], [0, 0.5]]));
    close(
        &jacobian["directions"][0]["velocity_plus"],
        &json!([0.5, 0]),
    );
    close(&jacobian["directions"][1]["velocity_plus"], &json!([-1, 0]));
    close(&jacobian["directions"][1]["impulses"], &json!([[0, -1]]));
    assert_eq!(jacobian["pieces"], json!([]));
    assert_eq!(jacobian["complete"], true);
}

#[test]
fn what_is_not_asked_for_is_left_out() {
    let jacobian = |wrt: Value| {
        let answer = resolve(&slide([2.0, -1.0], &json!({"wrt": wrt})));
        answer["jacobian"].clone()
    };
    let of = |wrt: Value| {
        let found = jacobian(wrt);
        let named = keys(&found).into_iter().filter(|key| key.starts_with('d'));
        named.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of(json!([])), ["directions"]);
    assert_eq!(of(json!(["friction"])), ["dv_dfriction", "directions"]);
    assert_eq!(
        of(json!(["restitution"])),
        ["dv_drestitution", "directions"]
    );
    assert_eq!(
        of(json!(["velocity"])),
        ["dv_dv", "dimpulses_dv", "directions"]
    );
    for off in [Value::Null, json!(false)] {
        assert!(resolve(&slide([2.0, -1.0], &off)).get("jacobian").is_none());
    }
}

#[test]
fn a_kink_has_ties_and_pieces_in_place_of_matrices() {
    let of = |pieces: bool| {
        let ask = json!({"directions": [{"velocity": [1, 0]}], "pieces": pieces});
        let jacobian = resolve(&slide([0.5, -1.0], &ask))["jacobian"].clone();
        for key in [
            "dv_dv",
            "dv_dfriction",
            "dv_drestitution",
            "dimpulses_dv",
            "directions",
            "unique",
        ] {
            assert_eq!(jacobian[key], Value::Null, "{key}");
        }
        let ties = json!([{"contact": 0, "row": 1, "kind": "sticking"}]);
        assert_eq!(jacobian["ties"], ties);
        assert_eq!(jacobian["margin"], 0.0);
        assert_eq!(jacobian["complete"], pieces);
        jacobian
    };
    let tied = of(false);
    assert_eq!(tied["class"], "tied");
    assert_eq!(tied["pieces"], json!([]));
    let jacobian = of(true);
    assert_eq!(jacobian["class"], "kink");
    let pieces = jacobian["pieces"].as_array().unwrap();
    assert_eq!(pieces.len(), 2);
    for piece in pieces {
        assert_eq!(keys(piece).len(), 3);
        close(&piece["velocity_plus"], &json!([0, 0]));
        // The direction leads into the region: there the slope is that of the piece.
        let slides =
            piece["direction"][0].as_f64().unwrap() + 0.5 * piece["direction"][1].as_f64().unwrap();
        close(
            &piece["dv_dv"][0][0],
            &json!(if slides > 0.0 { 1 } else { 0 }),
        );
    }
}

#[test]
fn hit_from_both_sides_the_outcome_jumps() {
    let jacobian = resolve(&balls(
        [1.0, 2.0, 1.0],
        [1.0, 0.0, -1.0],
        &json!({"pieces": true}),
    ))["jacobian"]
        .clone();
    assert_eq!(jacobian["class"], "jump");
    let tie = json!([{"contact": 1, "row": 0, "kind": "order"}]);
    assert_eq!(jacobian["ties"], tie);
    let pieces = jacobian["pieces"].as_array().unwrap();
    assert_eq!(pieces.len(), 2);
    let ninths = |x: [f64; 3]| json!(x.map(|x| x / 27.0));
    close(&pieces[0]["velocity_plus"], &ninths([-13.0, -10.0, 33.0]));
    close(&pieces[1]["velocity_plus"], &ninths([-33.0, 10.0, 13.0]));
    let equal = resolve(&balls([1.0; 3], [1.0, 0.0, -1.0], &json!(true)));
    assert_eq!(equal["jacobian"]["class"], "smooth");
}

#[test]
fn every_outcome_of_a_set_has_its_jacobian() {
    let mut problem = balls(
        [1.0, 2.0, 1.0],
        [1.0, 0.1, -0.6],
        &json!({"wrt": ["velocity"]}),
    );
    problem["options"] = json!({"outcomes": "all"});
    let answer = resolve(&problem);
    let outcomes = answer["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 2);
    for outcome in outcomes {
        // Homogeneous of degree 1: the Jacobian takes the velocity before to that after.
        let rows = outcome["jacobian"]["dv_dv"].as_array().unwrap();
        let before = [1.0, 0.1, -0.6];
        let image = rows.iter().map(|row| {
            let row = row.as_array().unwrap().iter().zip(before);
            row.map(|(d, v)| d.as_f64().unwrap() * v).sum::<f64>()
        });
        close(&json!(image.collect::<Vec<_>>()), &outcome["velocity_plus"]);
    }
    let sample = json!({
        "law": "set-valued", "mass_matrix": [[1, 0], [0, 1]], "velocity": [2, -1],
        "contacts": [{"normal": [0, 1], "tangents": [[1, 0]], "friction": 0.5}],
        "options": {"samples": 3}, "derivative": true,
    });
    for outcome in resolve(&sample)["outcomes"].as_array().unwrap() {
        assert!(outcome["jacobian"]["class"].is_string());
    }
}

#[test]
fn what_separates_has_the_identity() {
    let jacobian = resolve(&slide([2.0, 1.0], &json!(true)))["jacobian"].clone();
    close(&jacobian["dv_dv"], &json!([[1, 0], [0, 1]]));
    close(&jacobian["dv_dfriction"], &json!([[0], [0]]));
    close(&jacobian["dimpulses_dv"], &json!([[0, 0], [0, 0]]));
}

#[test]
fn an_error_names_its_key() {
    for (ask, key) in [
        (json!(3), "derivative"),
        (json!({"wrt": ["mass"]}), "derivative"),
        (json!({"colour": 1}), "colour"),
        (json!({"tolerance": 0}), "derivative.tolerance"),
        (json!({"tolerance": 0.01}), "derivative.tolerance"),
        (
            json!({"directions": [{"velocity": [1]}]}),
            "derivative.directions[0].velocity",
        ),
        (
            json!({"directions": [{}, {"mass_matrix": [[1, 1], [0, 1]]}]}),
            "derivative.directions[1].mass_matrix",
        ),
        (
            json!({"directions": [{"mass_matrix": [[1, 1]]}]}),
            "derivative.directions[0].mass_matrix",
        ),
        (
            json!({"directions": [{"contacts": []}]}),
            "derivative.directions[0].contacts",
        ),
        (
            json!({"directions": [{"contacts": [{"tangents": [[1]]}]}]}),
            "derivative.directions[0].contacts[0].tangents",
        ),
        (
            json!({"directions": [{"constraints": [[1, 0]]}]}),
            "derivative.directions[0].constraints",
        ),
    ] {
        let answer = resolve(&slide([2.0, -1.0], &ask));
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(key), "{ask}: {answer}");
        assert_eq!(answer["error"]["kind"], "invalid-input", "{ask}");
    }
}

#[test]
fn a_refusal_says_what_would_help() {
    // One tangent of a spatial contact is zero.
    let problem = json!({
        "law": "anitescu-potra", "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "velocity": [1, 0.2, -1], "derivative": true, "options": {"friction_directions": 4},
        "contacts": [{"normal": [0, 0, 1], "tangents": [[1, 0, 0], [0, 0, 0]], "friction": 0.5}],
    });
    let answer = resolve(&problem);
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("leave it out"), "{answer}");
    // Two balls between walls of which one is light: its impacts count the digits of pi.
    let mut long = balls([1.0, 1e10, 1.0], [0.0, 0.0, 0.0], &json!(true));
    long["mass_matrix"] = json!([[1, 0], [0, 1e10]]);
    long["velocity"] = json!([0, -1]);
    long["contacts"] = json!([{"normal": [1, 0]}, {"normal": [-1, 1]}]);
    let answer = resolve(&long);
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("10000") && message.contains("plastic"),
        "{answer}"
    );
}

/// Three contacts of a body with three degrees of freedom that slide: their pressures are not unique, and friction
/// follows them.
#[test]
fn a_member_of_a_continuum_has_no_derivative() {
    let contact = |normal: [f64; 3], tangent: [f64; 3], friction: f64| json!({"normal": normal, "tangents": [tangent], "friction": friction});
    let answer = resolve(&json!({
        "law": "set-valued",
        "options": {"samples": 1, "seed": 255, "impulse_step": 1.0},
        "mass_matrix": [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]],
        "velocity": [-1.0, -2.0, 0.0],
        "contacts": [
            contact([-2.0, 2.0, 2.0], [-1.0, 0.0, 2.0], 1.0),
            contact([2.0, -1.0, 1.0], [-1.0, 2.0, 1.0], 2.0),
            contact([-1.0, 1.0, 0.0], [0.0, -2.0, 0.0], 1.0),
        ],
        "derivative": true,
    }));
    let jacobian = &answer["outcomes"][0]["jacobian"];
    assert_eq!(jacobian["reason"], "family");
    assert_eq!(jacobian["class"], Value::Null);
    assert_eq!(jacobian["dv_dv"], Value::Null);
}
