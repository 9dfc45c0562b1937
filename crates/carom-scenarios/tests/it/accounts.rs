//! The account of a run: its energy adds up, its figures end with it, and an early end has a reason.

use carom_scenarios::carom_report::record::Mark;
use carom_scenarios::{Overrides, Record, scenario};

fn run(name: &str, assignments: &[&str], toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        assignments: assignments.iter().map(ToString::to_string).collect(),
        ..Overrides::default()
    };
    scenario(name).unwrap().run(&overrides).unwrap()
}

/// The terms of the energy balance, of which the last one is `unexplained`; their sum is checked.
fn balance(record: &Record) -> Vec<(String, f64)> {
    let energy = &record.results["energy"];
    let number = |key: &str| energy[key].as_f64().unwrap();
    let (initial, last) = (number("initial_j"), number("final_j"));
    let terms: Vec<(String, f64)> = energy["balance"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let name = entry["term"].as_str().unwrap().to_owned();
            (name, entry["work_j"].as_f64().unwrap())
        })
        .collect();
    let works = terms.iter().map(|(_, work)| work.abs());
    let largest = works.fold(initial.abs().max(last.abs()), f64::max);
    let sum = initial + terms.iter().map(|(_, work)| work).sum::<f64>();
    assert!((sum - last).abs() <= 1e-12 * largest, "{terms:?}");
    let (name, unexplained) = terms.last().unwrap();
    assert_eq!(name, "unexplained");
    assert!(unexplained.abs() <= number("max_abs_error_j"), "{terms:?}");
    terms
}

/// Every line of a figure over time ends at `time`; lines of two points are marks of impacts.
fn figures_end_at(record: &Record, time: f64) {
    let over_time = record.figures.iter().filter(|f| f.x.label == "time");
    let mut lines = 0;
    for figure in over_time {
        for mark in &figure.marks {
            if let Mark::Line { x, .. } = mark
                && x.len() > 2
            {
                assert_eq!(x.last(), Some(&time), "{}", figure.name);
                lines += 1;
            }
        }
    }
    assert!(lines > 0);
}

/// A pendulum with a damper, dry friction and a motor hits a floor; a ball beside it bounces and comes to rest.
const PENDULUM: &str = r#"
duration = 0.777
contact = { friction = 0.0, restitution = 0.6 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0], offset = 0.5 }]
[[bodies]]
name = "rod"
mass = 1.0
shape = { type = "capsule", radius = 0.02, half_length = 0.5 }
[[bodies]]
name = "ball"
mass = 0.5
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 1.0, -0.2]
velocity = [0.3, 0.0, 0.0]
[[joints]]
name = "hinge"
type = "revolute"
parent = "ground"
child = "rod"
axis = [0.0, 1.0, 0.0]
child_frame = { position = [0.0, 0.0, 0.5] }
position = 1.2
damping = 0.1
friction = 0.05
actuator = { type = "expression", value = "0.4*sin(5.0*t)" }
"#;

/// A cart on a spring with a damper carries an arm with an actuator, whose tip hits the ground and slides.
const CART: &str = r#"
duration = 1.777
time_step = 0.001
[[links]]
name = "cart"
joint = "slider"
direction = [1.0, 0.0]
mass = 1.0
spring = { stiffness = 20.0, damping = 0.7, rest = 0.5 }
[[links]]
name = "arm"
parent = "cart"
joint = "hinge"
mass = 0.3
center = [0.5, 0.0]
inertia = 0.01
actuator = { proportional = 0.3, derivative = 0.04, reference = { hold = 1.0, rate = 0.0, start = 0.0 } }
[[contacts]]
name = "tip"
link = "arm"
point = [1.0, 0.0]
line = { point = [0.0, -0.6], normal = [0.0, 1.0] }
friction = 0.3
restitution = 0.5
"#;

#[test]
fn the_energy_of_worlds_adds_up_and_their_figures_end_with_them() {
    let events = ["duration=0.777"];
    let steps = ["duration=0.777", "scheme=\"time-stepping\""];
    for assignments in [&events[..], &steps] {
        let record = run("world", assignments, "");
        let terms = balance(&record);
        assert!(terms[0].0 == "impacts" && terms[0].1 < -1.0, "{terms:?}");
        figures_end_at(&record, 0.777);
    }
}

#[test]
fn every_term_of_a_jointed_world_has_its_sign() {
    let record = run("world", &[], PENDULUM);
    let terms = balance(&record);
    let names: Vec<&str> = terms.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "impacts",
        "lasting contacts",
        "actuators",
        "dampers",
        "dry friction",
        "unexplained",
    ];
    assert_eq!(names, expected);
    for term in [0, 3, 4] {
        assert!(terms[term].1 < -1e-3, "{terms:?}");
    }
    assert!(terms[2].1.abs() > 1e-3, "{terms:?}");
    figures_end_at(&record, 0.777);
}

#[test]
fn dampers_of_a_mechanism_are_apart_from_its_actuators() {
    let record = run("mechanism", &[], CART);
    let terms = balance(&record);
    let work = |name: &str| terms.iter().find(|(term, _)| term == name).unwrap().1;
    assert!(
        work("dampers") < -0.1 && work("actuators").abs() > 1e-2,
        "{terms:?}"
    );
    assert!(work("impacts") < -1e-3, "{terms:?}");
    let forces = record.results["energy"]["force_work_j"].as_f64().unwrap();
    assert!((work("dampers") + work("actuators") - forces).abs() <= 1e-12);
    figures_end_at(&record, record.results["final"]["time"].as_f64().unwrap());
}

#[test]
fn an_early_end_has_its_reason_in_words() {
    let ended = |record: &Record| record.results["ended"].as_str().unwrap().to_owned();
    let figures = run("penny-figures", &["impacts=60"], "");
    assert_eq!(figures.status, "grazing-cascade");
    let text = ended(&figures);
    let of_figure =
        "Fig. 2: impacts 29 and later graze the wall; the run ended before its 60 impacts";
    assert!(text.starts_with(of_figure), "{text}");
    let counted = run("world", &["max_impacts=2"], "");
    assert_eq!(counted.status, "max-impacts");
    assert!(
        ended(&counted)
            .starts_with("2 impacts are the most that the run may have; the run ended at ")
    );
    assert!(!run("penny", &[], "").results.contains_key("ended"));
    assert!(
        !run("world", &["duration=0.1"], "")
            .results
            .contains_key("ended")
    );
}

/// The chain with steps of half a second: the error of a mechanism's run has the form of all others.
#[test]
fn a_mechanism_that_stops_says_why() {
    let record = run("falling-chain", &["time_step=0.5"], "");
    let error = &record.results["error"];
    assert!(error["kind"].is_string(), "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("cannot be solved"), "{message}");
}
