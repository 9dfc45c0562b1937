//! Steps of worlds with joints without a search for events: from the start, and where events find no forces.

use carom_scenarios::{Overrides, Record, scenario};

const QUADRUPED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/robots/quadruped.urdf"
);

const STEPS: &str = "scheme = \"time-stepping\"\n";

fn run(toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    let record = scenario("world").unwrap().run(&overrides).unwrap();
    assert_eq!(
        record.status,
        "completed",
        "{:?}",
        record.results.get("error")
    );
    record
}

fn number(record: &Record, pointer: &[&str]) -> f64 {
    let mut value = &record.results[pointer[0]];
    for key in &pointer[1..] {
        value = match key.parse::<usize>() {
            Ok(k) => &value[k],
            Err(_) => &value[*key],
        };
    }
    value.as_f64().unwrap()
}

/// Impulses of gravity and supports without the change of the momentum (N s).
fn momentum_error(record: &Record) -> f64 {
    let mut all = record.quantities.iter();
    all.find(|it| it.name == "momentum_error_ns").unwrap().value
}

/// The quadruped of the examples above a floor.
fn robot(duration: f64, surface: [f64; 2], rest: &str) -> String {
    let [friction, restitution] = surface;
    format!(
        "duration = {duration:?}\ncontact = {{ friction = {friction:?}, restitution = {restitution:?} }}\n\
         planes = [{{ name = \"floor\", normal = [0.0, 0.0, 1.0], offset = 0.0 }}]\n[urdf]\nfile = {QUADRUPED:?}\n{rest}"
    )
}

/// Without motors a robot folds onto its limits while many of its parts touch: events then find no forces. The run goes on in steps,
/// says so, and keeps its energy and its gaps.
#[test]
fn limp_robots_fall_to_the_end() {
    let falls = [
        ([-0.1865, 0.5352, 0.6093, -0.5546], [1.0, 0.6]),
        ([-0.5265, 0.5814, 0.1003, -0.6121], [0.0, 0.6]),
        ([-0.236, -0.7691, 0.4475, 0.3905], [0.5, 0.6]),
        ([0.6177, 0.695, 0.0318, -0.3666], [0.8, 0.0]),
    ];
    let mut handed_over = 0;
    for (quaternion, surface) in falls {
        let start = format!(
            "position = [0.0, 0.0, 1.2]\nquaternion = {quaternion:?}\nbase = \"floating\"\n"
        );
        let record = run(&robot(0.9, surface, &start));
        let initial = number(&record, &["energy", "initial_j"]);
        assert!(number(&record, &["energy", "final_j"]) <= initial);
        assert!(number(&record, &["energy", "max_abs_error_j"]) <= 5e-3 * initial);
        assert!(number(&record, &["lowest_gap_m"]) >= -2e-3);
        assert!(number(&record, &["max_joint_residual_m"]) <= 1e-9);
        assert!(momentum_error(&record) <= 1e-9);
        if let Some(change) = record.results.get("handed_over") {
            handed_over += 1;
            assert_eq!(change[0]["bodies"].as_array().unwrap().len(), 9);
            assert!(change[0]["time"].as_f64().unwrap() > 0.3);
        }
    }
    assert!(handed_over > 0, "the falls do not show what they are for");
}

/// In steps from the start the robot lands on its feet and its motors hold it, as from event to event.
#[test]
fn a_robot_stands_in_steps() {
    let mut rest = "position = [0.0, 0.0, 0.45]\njoints = { ".to_owned();
    let mut motors = String::new();
    for leg in ["front_left", "front_right", "rear_left", "rear_right"] {
        rest += &format!("{leg}_hip = 0.6, {leg}_knee = -1.2, ");
        for (joint, angle) in [("hip", 0.6), ("knee", -1.2)] {
            motors += &format!(
                "{leg}_{joint} = {{ type = \"pd\", proportional = 60.0, derivative = 1.5, times = [0.0], values = [{angle:?}] }}\n"
            );
        }
    }
    rest = rest.trim_end_matches(", ").to_owned() + " }\n[urdf.actuators]\n" + &motors;
    let world = robot(0.6, [0.7, 0.0], &rest)
        .replace("restitution = 0.0", "restitution = 0.0, self = false");
    let [events, steps] = [world.clone(), STEPS.to_owned() + &world].map(|toml| run(&toml));
    assert_eq!(steps.results["scheme"], "time-stepping");
    assert!(number(&steps, &["lowest_gap_m"]) >= -2e-3);
    let height = ["final", "0", "position", "2"];
    let apart = number(&events, &height) - number(&steps, &height);
    assert!(apart.abs() <= 2e-3, "{apart:e}");
    // The floor gives what gravity takes.
    assert!(momentum_error(&steps) <= 1e-9);
}

/// Two rods with dry friction and a limit that is hit: the difference to events falls with the step, and joints stay closed.
#[test]
fn the_difference_to_events_falls_with_the_step() {
    let world = |step: f64, scheme: &str| {
        let rod = |name: &str, mass: f64| {
            format!(
                "[[bodies]]\nname = {name:?}\nmass = {mass:?}\n\
                 inertia = [[0.02, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.01]]\n"
            )
        };
        format!(
            "duration = 1.0\ntime_step = {step:?}\n{scheme}{}{}\
             [[joints]]\nname = \"p\"\ntype = \"revolute\"\nchild = \"a\"\naxis = [0, 1, 0]\nposition = 1.2\n\
             parent_frame = {{ position = [0.0, 0.0, 2.0] }}\nchild_frame = {{ position = [0.0, 0.0, 0.5] }}\n\
             limits = {{ lower = -0.9, upper = 2.0, restitution = 0.5 }}\n\
             [[joints]]\nname = \"q\"\ntype = \"revolute\"\nparent = \"a\"\nchild = \"b\"\naxis = [0, 1, 0]\nposition = 0.4\n\
             parent_frame = {{ position = [0.0, 0.0, -0.5] }}\nchild_frame = {{ position = [0.0, 0.0, 0.5] }}\nfriction = 0.05\n",
            rod("a", 1.0),
            rod("b", 0.7),
        )
    };
    let angle = |record: &Record| number(record, &["final_joints", "0", "position"]);
    let exact = angle(&run(&world(2.5e-4, "")));
    let error = |step: f64| {
        let record = run(&world(step, STEPS));
        assert!(number(&record, &["max_joint_residual_m"]) <= 1e-9);
        assert_eq!(number(&record, &["n_impacts"]), 1.0);
        (angle(&record) - exact).abs()
    };
    let errors = [2e-3, 5e-4, 1.25e-4].map(error);
    assert!(
        errors[0] <= 3e-3 && errors[2] <= 0.25 * errors[0],
        "{errors:?}"
    );
}

/// An arm that is driven stirs balls that fill a box.
#[test]
fn a_heap_with_an_arm_in_it_is_stirred() {
    let wall = |name: &str, normal: [f64; 3]| {
        format!("[[planes]]\nname = {name:?}\nnormal = {normal:?}\noffset = 0.3\n")
    };
    let walls = [
        wall("a", [1.0, 0.0, 0.0]),
        wall("b", [-1.0, 0.0, 0.0]),
        wall("c", [0.0, 1.0, 0.0]),
        wall("d", [0.0, -1.0, 0.0]),
    ];
    let toml = format!(
        "duration = 0.6\ntime_step = 2e-3\ncontact = {{ friction = 0.5, restitution = 0.3 }}\n\
         [[planes]]\nname = \"floor\"\nnormal = [0.0, 0.0, 1.0]\noffset = 0.0\n{}\
         [[fill]]\ncount = 25\nmass = 0.1\nshape = {{ type = \"sphere\", radius = 0.05 }}\n\
         box = [[-0.25, -0.25, 0.8], [0.25, 0.25, 1.4]]\n\
         [[bodies]]\nname = \"arm\"\nmass = 1.0\nshape = {{ type = \"capsule\", radius = 0.04, half_length = 0.15 }}\n\
         position = [0.0, 0.0, 0.45]\n\
         [[joints]]\nname = \"hinge\"\ntype = \"revolute\"\nchild = \"arm\"\naxis = [0, 1, 0]\n\
         parent_frame = {{ position = [0.0, 0.0, 0.7] }}\nchild_frame = {{ position = [0.0, 0.0, 0.25] }}\n\
         actuator = {{ type = \"expression\", value = \"0.5*sin(6*t)\" }}\n",
        walls.concat()
    );
    let record = run(&toml);
    assert_eq!(record.results["scheme"], "time-stepping");
    assert!(number(&record, &["lowest_gap_m"]) >= -1e-4);
    assert!(momentum_error(&record) <= 1e-9);
    assert!(number(&record, &["energy", "max_abs_error_j"]) <= 1e-3);
}
