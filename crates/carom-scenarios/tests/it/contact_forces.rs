//! Contact forces of a record: they carry the loads, their center of pressure is that of statics, and each lies in its cone.

use carom_scenarios::{Overrides, Record, scenario};
use std::fmt::Write;

/// Standard gravity (m/s²).
const G: f64 = 9.80665;

/// Half height of the box (m).
const HALF: f64 = 0.15;

/// Runs a box of 2 kg for 50 ms on a plane that is inclined by `angle` (rad).
fn run(angle: f64, friction: f64, scheme: &str, rest: &str) -> Record {
    let (s, c) = angle.sin_cos();
    let gravity = [G * s, 0.0, -G * c];
    let toml = format!(
        "duration = 0.05\ngravity = {gravity:?}\n{scheme}\n\
         contact = {{ friction = {friction:?}, restitution = 0.0 }}\n\
         [[planes]]\nname = \"floor\"\nnormal = [0.0, 0.0, 1.0]\noffset = 0.0\n\
         [[bodies]]\nname = \"box\"\nmass = 2.0\nshape = {{ type = \"box\", half_extents = [0.1, 0.2, {HALF}] }}\n\
         position = [0.0, 0.0, {HALF}]\n{rest}"
    );
    let overrides = Overrides {
        toml,
        ..Overrides::default()
    };
    let record = scenario("world").unwrap().run(&overrides).unwrap();
    assert_eq!(record.status, "completed");
    record
}

/// Force of the floor at one time: sum (N), distance of the center of pressure from the box along x (m), and largest excess of a
/// friction force over its limit (N).
struct Floor {
    force: [f64; 3],
    center: f64,
    excess: f64,
}

/// Forces of the floor at every sample.
fn floors(record: &Record, friction: f64) -> Vec<Floor> {
    let number = |row: &serde_json::Value, k: usize| row[k].as_f64().unwrap();
    let rows = record.results["contact_forces"]["rows"].as_array().unwrap();
    let rows: Vec<_> = rows.iter().filter(|row| row[2] == "floor").collect();
    let path = record.results["trajectory"]["rows"].as_array().unwrap();
    let samples = path.iter().filter(|row| row[1] == 0).skip(1);
    let floor = |sample: &serde_json::Value| {
        let now = || rows.iter().filter(|row| row[0] == sample[0]);
        assert!(now().all(|row| row[1] == "box"));
        let sum = |k: usize| now().map(|row| number(row, k)).sum::<f64>();
        let moment: f64 = now().map(|row| number(row, 3) * number(row, 8)).sum();
        let excess =
            now().map(|row| number(row, 6).hypot(number(row, 7)) - friction * number(row, 8));
        Floor {
            force: [6, 7, 8].map(sum),
            center: moment / sum(8) - number(sample, 2),
            excess: excess.fold(f64::NEG_INFINITY, f64::max),
        }
    };
    samples.map(floor).collect()
}

/// A joint far away: the box then moves in the scheduler of jointed worlds.
const PENDULUM: &str = "[[bodies]]\nname = \"bob\"\nmass = 0.5\n\
    inertia = [[0.01, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.01]]\nposition = [5.0, 0.0, 3.0]\n\
    [[joints]]\nname = \"pin\"\ntype = \"revolute\"\nchild = \"bob\"\naxis = [0, 1, 0]\n\
    parent_frame = { position = [5.0, 0.0, 3.5] }\nchild_frame = { position = [0.0, 0.0, 0.5] }\n";

/// Key of the scheme, and what else is in the world.
const SCHEMES: [(&str, &str); 4] = [("", ""), (STEPS, ""), ("", PENDULUM), (STEPS, PENDULUM)];

const STEPS: &str = "scheme = \"time-stepping\"";

/// At rest the forces are those of statics: the weight, with its center of pressure below the center of mass along gravity.
#[test]
fn a_box_on_a_slope_is_held() {
    for (angle, friction) in [(0.0, 0.4), (0.2, 0.5), (0.3, 0.35)] {
        for (scheme, rest) in SCHEMES {
            let (s, c) = f64::sin_cos(angle);
            let weight = 2.0 * G;
            let record = run(angle, friction, scheme, rest);
            let floors = floors(&record, friction);
            assert_eq!(floors.len(), 5);
            for floor in floors {
                let missing = [-weight * s, 0.0, weight * c];
                for (is, must) in floor.force.iter().zip(missing) {
                    assert!((is - must).abs() <= 1e-8 * weight, "{scheme}: {is} {must}");
                }
                assert!((floor.center - HALF * s / c).abs() <= 1e-8, "{scheme}");
                assert!(floor.excess <= 1e-12 * weight, "{scheme}");
            }
        }
    }
}

/// A box that slides is pressed at the friction coefficient times its half height ahead of its center.
#[test]
fn a_box_that_slides_is_held_back() {
    let (angle, friction) = (0.3_f64, 0.2);
    for rest in ["", PENDULUM] {
        let load = 2.0 * G * angle.cos();
        for floor in floors(&run(angle, friction, "", rest), friction) {
            assert!((floor.force[2] - load).abs() <= 1e-8 * load);
            assert!((floor.force[0] + friction * load).abs() <= 1e-8 * load);
            assert!((floor.center - HALF * friction).abs() <= 1e-8);
        }
    }
}

/// Samples within a step, and the end between two samples, have the forces of the step that ends there. A ball that flies has none.
#[test]
fn forces_are_those_of_the_step_that_ends_there() {
    let mut rest = String::from(
        "[[bodies]]\nname = \"ball\"\nmass = 1.0\nshape = { type = \"sphere\", radius = 0.1 }\nposition = [2.0, 0.0, 5.0]\n",
    );
    writeln!(rest, "[output]\nsample_step = 0.0123").unwrap();
    for scheme in ["", STEPS] {
        let record = run(0.0, 0.5, scheme, &rest);
        let floors = floors(&record, 0.5);
        assert_eq!(floors.len(), 5);
        assert!(
            floors
                .iter()
                .all(|floor| (floor.force[2] - 2.0 * G).abs() <= 1e-7)
        );
    }
    rest.push_str("forces = false\n");
    let record = run(0.0, 0.5, "", &rest);
    assert!(!record.results.contains_key("contact_forces"));
}
