//! Values of axes, random numbers and expressions, against their definitions.

use carom_sweep::Plan;
use serde_json::Value;
use std::path::Path;

fn plan(axes: &str) -> Plan {
    let text = format!(
        r#"
        name = "formulas"
        seed = 9
        [problem]
        law = "=name"
        mass_matrix = [[1]]
        velocity = ["=x"]
        contacts = [{{ normal = ["=y"] }}]
        options = {{ seed = "=seed", cell = "=cell", text = "==x", name = "=name" }}
        {axes}
        "#
    );
    Plan::from_toml(&text, Path::new(".")).unwrap()
}

fn cell(plan: &Plan, index: u64) -> Value {
    plan.cell(index).unwrap().input.unwrap()
}

#[test]
fn axes_have_the_bits_of_their_formulas() {
    let plan = plan(
        r#"
        [axes]
        name = { values = ["a", "b"] }
        x = { linspace = [0.1, 0.8, 7] }
        y = { geomspace = [-0.3, -5.0, 4] }
        "#,
    );
    assert_eq!((plan.n_cells(), plan.n_shards()), (56, 1));
    // numpy.linspace(0.1, 0.8, 7), printed with repr.
    let linspace = [
        0.1,
        0.216_666_666_666_666_67,
        0.333_333_333_333_333_37,
        0.450_000_000_000_000_07,
        0.566_666_666_666_666_8,
        0.683_333_333_333_333_3,
        0.8,
    ];
    for index in 0..56 {
        let line = cell(&plan, index);
        let [i, j, k] = [index / 28, index / 4 % 7, index % 4];
        assert_eq!(line["options"]["name"], ["a", "b"][i as usize]);
        assert_eq!(line["velocity"][0], linspace[j as usize]);
        let y = line["contacts"][0]["normal"][0].as_f64().unwrap();
        let expected = -0.3 * (5.0f64 / 0.3).powf(k as f64 / 3.0);
        assert!(
            (y - expected).abs() <= 1e-15 * expected.abs(),
            "{y} {expected}"
        );
        if k == 3 {
            assert_eq!(y, -5.0);
        }
        assert_eq!(
            (&line["options"]["cell"], &line["options"]["text"]),
            (&index.into(), &"=x".into())
        );
        assert_eq!(line["id"], format!("cell-{index}"));
    }
    assert!(plan.cell(56).is_err());
}

/// Seeds and draws as Python's hashlib gives them from the definition.
#[test]
fn random_numbers_are_those_of_another_language() {
    let plan = plan(
        r#"
        [axes]
        name = { values = ["x"] }
        [random]
        draws = 5
        x = { uniform = [-1.0, 3.0] }
        y = { uniform = [0.0, 1.0] }
        "#,
    );
    let expected = PYTHON;
    for (index, (seed, x, y)) in expected.into_iter().enumerate() {
        let line = cell(&plan, index as u64);
        assert_eq!(line["options"]["seed"], seed);
        assert_eq!(line["velocity"][0], x);
        assert_eq!(line["contacts"][0]["normal"][0], y);
        assert_eq!(
            (&line["options"]["name"], &line["law"]),
            (&"x".into(), &"x".into())
        );
    }
}

const PYTHON: [(u64, f64, f64); 5] = [
    (4542656045634406, 1.495591224075508, 0.35455476703479993),
    (8792332724032457, 2.4610600436621737, 0.23273835832405643),
    (8676647923605031, 1.709170007752569, 0.8782130804807925),
    (6504134114423130, 2.344473129238503, 0.0589864624811689),
    (3103223331564701, 0.6985370422477302, 0.11933573174427203),
];
