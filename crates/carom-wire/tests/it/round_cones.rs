//! Round friction cones and bounds, as they are asked for and written.

use carom_wire::{Command, answer_line};
use serde_json::{Value, json};

fn resolve(problem: &Value) -> Value {
    let answer = answer_line(Command::Resolve, 1, &problem.to_string());
    serde_json::from_str(&answer.text).unwrap()
}

/// A box of 1 × 1.5 × 2 m and 1 kg on four corners; velocities are (v, ω).
fn slab(law: &str, velocity: [f64; 6], friction: f64, options: Value) -> Value {
    let (x, y, z) = (1.0, 1.5, 2.0);
    let inertia = [y * y + z * z, x * x + z * z, x * x + y * y].map(|s: f64| s / 12.0);
    let diagonal = [1.0, 1.0, 1.0, inertia[0], inertia[1], inertia[2]];
    let mass: Vec<Vec<f64>> = (0..6)
        .map(|i| {
            (0..6)
                .map(|j| if i == j { diagonal[i] } else { 0.0 })
                .collect()
        })
        .collect();
    let corners = [(-0.5, -0.75), (0.5, -0.75), (-0.5, 0.75), (0.5, 0.75)];
    let contacts: Vec<Value> = corners
        .map(|(x, y)| {
            json!({
                "normal": [0, 0, 1, y, -x, 0],
                "tangents": [[1, 0, 0, 0, -1, -y], [0, 1, 0, 1, 0, x]],
                "friction": friction,
            })
        })
        .to_vec();
    json!({
        "law": law, "mass_matrix": mass, "velocity": velocity, "contacts": contacts,
        "options": options,
    })
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn block(options: Value) -> Value {
    let corner = |x: f64| json!({"normal": [0, 1, x], "tangents": [[1, 0, 1]], "friction": 1});
    json!({
        "law": "set-valued",
        "mass_matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 5.0 / 12.0]], "velocity": [0.2, -1, 0.3],
        "contacts": [corner(-0.5), corner(0.5)], "options": options,
    })
}

#[test]
fn a_box_slides_on_round_cones_by_default() {
    let velocity = [1.4, 0.67, -0.5, 0.0, 0.0, 0.0];
    let answer = resolve(&slab("anitescu-potra", velocity, 0.5, json!({})));
    let found = &answer["diagnostics"];
    assert_eq!(found["cone"], "round");
    assert!(found["residual"].as_f64().unwrap() <= 1e-12);
    assert!(found["family"].is_u64() && found["newton_steps"].is_u64());
    assert_eq!(found["modes"].as_array().unwrap().len(), 4);
    let v = numbers(&answer["velocity_plus"]);
    assert!((v[0] - 1.1744937108).abs() < 1e-9 && (v[1] - 0.562079133).abs() < 1e-9);
}

#[test]
fn the_older_key_asks_for_the_same_polygon() {
    let velocity = [1.4, 0.67, -0.5, 0.0, 0.0, 0.0];
    let ask = |options| resolve(&slab("anitescu-potra", velocity, 0.5, options));
    let one = ask(json!({"friction_cone": {"polygon": 4}}));
    assert_eq!(one, ask(json!({"friction_directions": 4})));
    let both = json!({"friction_cone": {"polygon": 4}, "friction_directions": 4});
    assert_eq!(one, ask(both));
    assert_eq!(one["diagnostics"]["cone"], 4);
    let error = one["diagnostics"]["cone_error"].as_f64().unwrap();
    assert!((error - 0.068).abs() <= 0.002, "{error}");
}

#[test]
fn every_law_tells_its_cone_and_its_residual() {
    let velocity = [1.4, 0.67, -0.5, 0.0, 0.0, 0.0];
    for (law, friction) in [
        ("anitescu-potra", 0.5),
        ("anitescu-potra", 0.0),
        ("moreau-newton", 0.5),
        ("sequential", 0.5),
    ] {
        let found = resolve(&slab(law, velocity, friction, json!({})));
        let found = &found["diagnostics"];
        assert_eq!(found["cone"], "round", "{law}");
        assert!(found["residual"].as_f64().unwrap() <= 1e-12, "{law}");
        let polygon = json!({"friction_cone": {"polygon": 4}});
        if friction > 0.0 {
            let found = resolve(&slab(law, velocity, friction, polygon));
            let found = &found["diagnostics"];
            assert_eq!(found["cone"], 4, "{law}");
            assert!(found["cone_residual"].as_f64().unwrap() > 1e-3, "{law}");
        }
    }
}

/// A spinning box has a continuum of outcomes: the member found first is not one that compliant
/// contacts select, and still an answer of the law.
#[test]
fn any_member_of_a_family_is_an_answer_of_the_law() {
    let velocity = [1.4, 0.7, -0.5, 0.1, -0.2, 2.0];
    let even = resolve(&slab("anitescu-potra", velocity, 0.3, json!({})));
    let first = json!({"selection": "first"});
    let first = resolve(&slab("anitescu-potra", velocity, 0.3, first));
    assert_eq!(first["diagnostics"]["rank"], "family");
    let mut problem = slab("anitescu-potra", velocity, 0.3, json!({"samples": 16}));
    for after in [even, first] {
        let after = &after["velocity_plus"];
        problem["velocity_plus"] = json!(after);
        let answer = answer_line(Command::Judge, 1, &problem.to_string());
        let answer: Value = serde_json::from_str(&answer.text).unwrap();
        let laws = answer["laws"].as_array().unwrap();
        let found = laws.iter().find(|law| law["law"] == "anitescu-potra");
        let found = found.unwrap();
        assert_eq!(found["verdict"], "match");
        assert_eq!(answer["outcome_set"]["membership"], "inside");
    }
}

#[test]
fn a_tangent_of_zero_rubs_along_the_other_alone() {
    let velocity = [1.4, 0.67, -0.5, 0.0, 0.0, 0.0];
    let mut problem = slab("anitescu-potra", velocity, 0.5, json!({}));
    for contact in 0..4 {
        problem["contacts"][contact]["tangents"][1] = json!([0, 0, 0, 0, 0, 0]);
    }
    let v = numbers(&resolve(&problem)["velocity_plus"]);
    assert!(
        (v[0] - 1.15).abs() < 1e-12 && (v[1] - 0.67).abs() < 1e-12,
        "{v:?}"
    );
}

#[test]
fn an_option_that_says_nothing_sensible_is_named() {
    let velocity = [1.4, 0.67, -0.5, 0.0, 0.0, 0.0];
    for (options, key) in [
        (json!({"friction_cone": {"polygon": 2}}), "friction_cone"),
        (json!({"friction_directions": 2}), "friction_directions"),
        (json!({"friction_cone": "square"}), "friction_cone"),
        (
            json!({"friction_cone": {"polygon": 4}, "friction_directions": 8}),
            "friction_cone",
        ),
        (
            json!({"friction_cone": "round", "friction_directions": 8}),
            "friction_cone",
        ),
        (json!({"selection": "odd"}), "selection"),
    ] {
        let answer = resolve(&slab("anitescu-potra", velocity, 0.5, options.clone()));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(key), "{options}: {message}");
    }
    for bounds in [
        json!({"directions": [[1, 0]]}),
        json!({"directions": [[0, 0, 0]]}),
        json!({"directions": "everywhere"}),
        json!({"relaxation": "guess"}),
    ] {
        let answer = resolve(&block(json!({"bounds": bounds, "samples": 8})));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("bounds"), "{bounds}: {message}");
    }
    let spatial = json!({"bounds": {"relaxation": "moment"}, "samples": 4});
    let answer = resolve(&slab("set-valued", velocity, 0.5, spatial));
    assert_eq!(answer["error"]["kind"], "invalid-option");
}

#[test]
fn bounds_hold_every_outcome_and_carry_their_proofs() {
    for (relaxation, outcomes) in [("cone", "all"), ("moment", "one")] {
        let bounds = json!({"directions": "contact", "relaxation": relaxation});
        let options = json!({"bounds": bounds, "samples": 64, "outcomes": outcomes});
        let answer = resolve(&block(options));
        let bounds = answer["bounds"].as_array().unwrap();
        assert_eq!(bounds.len(), 4);
        for (k, bound) in bounds.iter().enumerate() {
            assert_eq!(bound["contact"], k / 2);
            assert_eq!(bound["row"], k % 2);
            assert_eq!(bound["method"], relaxation);
            let (inner, outer) = (numbers(&bound["inner"]), numbers(&bound["outer"]));
            assert!(outer[0] <= inner[0] && inner[0] <= inner[1] && inner[1] <= outer[1]);
            for side in ["min", "max"] {
                let proofs = bound["certificate"][side].as_array().unwrap();
                assert_eq!(proofs.len(), 2);
                for (last, proof) in proofs.iter().enumerate() {
                    assert_eq!(proof["last"], last);
                    assert_eq!(numbers(&proof["nu"]).len(), 2);
                }
            }
        }
    }
}

/// A line asks for more than its budget allows: bounds that are wider than they might be say so.
#[test]
fn bounds_without_work_follow_from_energy_and_say_so() {
    let bounds = json!({"directions": "contact", "relaxation": "moment"});
    let options = |work: u64| json!({"bounds": bounds, "samples": 4, "max_work": work});
    let limited = resolve(&block(options(2_000)));
    let whole = resolve(&block(options(5_000_000_000)));
    let each = |answer: &Value| answer["bounds"].as_array().unwrap().clone();
    assert!(
        each(&whole)
            .iter()
            .all(|bound| bound.get("limit").is_none())
    );
    for (limited, whole) in each(&limited).iter().zip(each(&whole)) {
        assert_eq!(limited["limit"], "work");
        assert_eq!(limited["method"], "energy");
        let (wide, narrow) = (numbers(&limited["outer"]), numbers(&whole["outer"]));
        assert!(wide[0] <= narrow[0] && narrow[1] <= wide[1]);
    }
}

/// A point that strikes the floor with a normal impulse of one and slides on, is stopped, or leaves.
#[test]
fn every_frictional_law_tells_the_modes_of_its_contacts() {
    let laws = [
        "anitescu-potra",
        "moreau-newton",
        "poisson",
        "sequential",
        "set-valued",
    ];
    for law in laws {
        for (velocity, mode) in [([3, -1], "slide"), ([0, -1], "stick"), ([3, 1], "open")] {
            let answer = resolve(&json!({
                "law": law, "mass_matrix": [[1, 0], [0, 1]], "velocity": velocity,
                "contacts": [{"normal": [0, 1], "tangents": [[1, 0]], "friction": 0.5}],
                "options": if law == "set-valued" { json!({"outcomes": "all"}) } else { json!({}) },
            }));
            let one = answer["outcomes"].get(0).unwrap_or(&answer);
            assert_eq!(one["diagnostics"]["modes"], json!([mode]), "{law} {one}");
        }
    }
}
