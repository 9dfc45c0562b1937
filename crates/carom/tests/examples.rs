//! The examples run, and stay short enough to be read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

/// Most lines of an example.
const MAX_LINES: usize = 60;

#[path = "../examples/anitescu_potra.rs"]
mod anitescu_potra;
#[path = "../examples/collision_integrator.rs"]
mod collision_integrator;
#[path = "../examples/judge.rs"]
mod judge;
#[path = "../examples/lcp.rs"]
mod lcp;
#[path = "../examples/mechanism.rs"]
mod mechanism;
#[path = "../examples/moreau_newton.rs"]
mod moreau_newton;
#[path = "../examples/nonholonomic.rs"]
mod nonholonomic;
#[path = "../examples/own_mechanism.rs"]
mod own_mechanism;
#[path = "../examples/penny_billiard.rs"]
mod penny_billiard;
#[path = "../examples/plastic.rs"]
mod plastic;
#[path = "../examples/propagative.rs"]
mod propagative;
#[path = "../examples/routh.rs"]
mod routh;
#[path = "../examples/sensitivity.rs"]
mod sensitivity;
#[path = "../examples/sequential.rs"]
mod sequential;
#[path = "../examples/set_valued.rs"]
mod set_valued;
#[path = "../examples/two_body.rs"]
mod two_body;
#[path = "../examples/world.rs"]
mod world;

/// Every example, and its main function.
type Main = fn();
const EXAMPLES: &[(&str, Main)] = &[
    ("anitescu_potra", || anitescu_potra::main().unwrap()),
    ("collision_integrator", || {
        collision_integrator::main().unwrap()
    }),
    ("judge", || judge::main().unwrap()),
    ("lcp", || lcp::main().unwrap()),
    ("mechanism", || mechanism::main().unwrap()),
    ("moreau_newton", || moreau_newton::main().unwrap()),
    ("nonholonomic", || nonholonomic::main().unwrap()),
    ("own_mechanism", || own_mechanism::main().unwrap()),
    ("penny_billiard", || penny_billiard::main().unwrap()),
    ("plastic", || plastic::main().unwrap()),
    ("propagative", || propagative::main().unwrap()),
    ("routh", || routh::main().unwrap()),
    ("sensitivity", || sensitivity::main().unwrap()),
    ("sequential", || sequential::main().unwrap()),
    ("set_valued", || set_valued::main().unwrap()),
    ("two_body", || two_body::main().unwrap()),
    ("world", || world::main().unwrap()),
];

#[test]
fn every_example_runs() {
    for (name, main) in EXAMPLES {
        println!("== {name}");
        main();
    }
}

#[test]
fn every_example_is_listed_here_and_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{name} has {lines} lines");
        found.push(name);
    }
    found.sort();
    let listed: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, listed);
}
