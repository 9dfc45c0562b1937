//! Scenarios in time against statics, conservation laws and closed forms, with numbers other than theirs.

use carom_scenarios::{Overrides, Record, scenario};
use serde_json::Value;

fn run(name: &str, assignments: &[&str], toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        assignments: assignments.iter().map(ToString::to_string).collect(),
        ..Overrides::default()
    };
    scenario(name).unwrap().run(&overrides).unwrap()
}

fn quantity(record: &Record, name: &str) -> f64 {
    let found = record.quantities.iter().find(|q| q.name == name);
    found.map(|q| q.value).unwrap()
}

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} and {b}: {:e}", a - b);
}

/// Statics draws the borders of stick, slide, tip, and tip while sliding.
#[test]
fn boxes_on_an_incline_do_what_statics_says() {
    let changed = [
        "half_width=0.12",
        "half_heights=[0.1, 0.2, 0.21]",
        "mass=30.0",
        "map.frictions=9",
        "map.slopes=11",
        "map.friction=1.3",
    ];
    let record = run("incline", &changed, "");
    close(quantity(&record, "map_cells_that_agree"), 99.0, 0.0);
    let outcomes: Vec<f64> = record.tables[0].rows.iter().map(|row| row[2]).collect();
    for outcome in [0.0, 1.0, 2.0, 3.0] {
        assert!(outcomes.contains(&outcome), "none is {outcome}");
    }
}

/// The virial theorem counts every impulse of every impact: it holds to rounding.
#[test]
fn a_gas_obeys_the_virial_theorem_and_comes_to_maxwells_law() {
    let changed = [
        "per_side=3",
        "mass=0.2",
        "speed=3.0",
        "duration=30.0",
        "seed=7",
    ];
    let record = run("elastic-gas", &changed, "");
    close(quantity(&record, "virial_error"), 0.0, 1e-12);
    close(quantity(&record, "energy_max_error_j"), 0.0, 1e-11);
    // One number of 5/3 is spread by about a tenth over this time.
    close(quantity(&record, "fourth_moment"), 5.0 / 3.0, 0.1);
    assert!(quantity(&record, "distance_to_maxwell") < 0.03);
}

/// No ball is lost, and left and right are alike: the mean is that of even choices within the spread of
/// 400 balls.
#[test]
fn a_galton_board_has_no_preferred_side() {
    let record = run("galton-board", &["balls=400", "seed=3"], "");
    close(quantity(&record, "balls_in_bins"), 400.0, 0.0);
    let variance = quantity(&record, "variance");
    close(
        quantity(&record, "mean_bin"),
        3.0,
        4.0 * (variance / 400.0).sqrt(),
    );
    assert!(quantity(&record, "energy_max_error_j") < 1e-12);
}

/// A block slides on its corners until friction has all of its energy; no corner slides afterwards.
#[test]
fn a_mechanism_accounts_for_what_friction_takes() {
    let corner = |name: &str, x: f64| {
        format!(
            "[[contacts]]\nname = \"{name}\"\nlink = \"block\"\npoint = [{x}, -0.1]\nfriction = 0.3\n\
             line = {{ point = [0, 0], normal = [0, 1] }}\n"
        )
    };
    let toml = format!(
        "[[links]]\nname = \"block\"\njoint = \"floating\"\nmass = 2.0\ninertia = 0.03\n\
         position = [0.0, 0.1, 0.0]\nvelocity = [1.5, 0.0, 0.0]\n{}{}",
        corner("left", -0.2),
        corner("right", 0.2)
    );
    let record = run("mechanism", &["duration=1.0"], &toml);
    let energy = &record.results["energy"];
    close(energy["contact_loss_j"].as_f64().unwrap(), 2.25, 1e-12);
    close(energy["max_abs_error_j"].as_f64().unwrap(), 0.0, 1e-12);
    for contact in record.results["contacts"].as_array().unwrap() {
        let modes: Vec<&Value> = contact["modes"].as_array().unwrap().iter().collect();
        assert_eq!(modes.last().unwrap()["mode"], "sticking", "{contact}");
    }
}
