//! Lasting contact from event to event against closed forms and an independent integration: grips, a celt, a cup.

use carom_scenarios::{Overrides, Record, scenario};
use serde_json::Value;

fn world(toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    scenario("world").unwrap().run(&overrides).unwrap()
}

fn vector(value: &Value) -> [f64; 3] {
    [0, 1, 2].map(|k| value[k].as_f64().unwrap())
}

fn largest(vector: [f64; 3]) -> f64 {
    vector.into_iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// A box of 1 kg at a height of 1 m between fingers, or a finger and a wall.
#[derive(Clone, Copy)]
struct Grip {
    force: f64,
    finger: f64,
    gravity: f64,
    time_step: f64,
    duration: f64,
    wall: bool,
}

const GRIP: Grip = Grip {
    force: 100.0,
    finger: 0.2,
    gravity: 9.80665,
    time_step: 1e-3,
    duration: 0.1,
    wall: false,
};

impl Grip {
    fn run(&self) -> Record {
        let finger = |name: &str, x: f64| {
            format!(
                "[[bodies]]\nname = \"{name}\"\nmass = {:e}\nposition = [{x}, 0.0, 1.0]\n\
                 shape = {{ type = \"box\", half_extents = [0.01, 0.02, 0.02] }}\n\
                 [[joints]]\nname = \"slide {name}\"\ntype = \"prismatic\"\nchild = \"{name}\"\naxis = [{}, 0, 0]\n\
                 parent_frame = {{ position = [{x}, 0.0, 1.0] }}\n\
                 actuator = {{ type = \"constant\", value = {:e} }}\n",
                self.finger,
                -x.signum(),
                self.force
            )
        };
        let (planes, other) = if self.wall {
            let wall = "[[planes]]\nname = \"wall\"\nnormal = [1.0, 0.0, 0.0]\noffset = 0.05\n";
            (wall.to_owned(), String::new())
        } else {
            (String::new(), finger("left", -0.06))
        };
        world(&format!(
            "duration = {:e}\ntime_step = {:e}\ngravity = [0.0, 0.0, {:e}]\n\
             contact = {{ friction = 0.5, restitution = 0.0 }}\n{planes}\
             [[bodies]]\nname = \"box\"\nmass = 1.0\nposition = [0.0, 0.0, 1.0]\n\
             shape = {{ type = \"box\", half_extents = [0.05, 0.05, 0.05] }}\n{}{other}",
            self.duration,
            self.time_step,
            -self.gravity,
            finger("right", 0.06)
        ))
    }
}

/// A grip holds as long as its friction carries the weight: nothing moves, whatever the masses and the step.
#[test]
fn a_grip_holds() {
    let weak = Grip {
        force: 10.0,
        ..GRIP
    };
    for grip in [
        weak,
        Grip {
            force: 400.0,
            ..GRIP
        },
        Grip { wall: true, ..weak },
        Grip {
            finger: 1e-3,
            ..GRIP
        },
        Grip {
            finger: 400.0,
            ..GRIP
        },
        Grip {
            gravity: 0.0,
            ..GRIP
        },
        Grip {
            time_step: 5e-3,
            ..GRIP
        },
    ] {
        let record = grip.run();
        assert_eq!(record.status, "completed");
        let held = &record.results["final"][0];
        let [x, y, z] = vector(&held["position"]);
        assert!(largest([x, y, z - 1.0]) <= 1e-12, "{x} {y} {z}");
        assert!(largest(vector(&held["angular_velocity"])) <= 1e-12);
    }
}

/// A grip that is too weak lets the box slip with $g - 2\mu F/m$, and does not turn it.
#[test]
fn a_grip_slips_without_turning() {
    for (grip, force) in [
        (GRIP, 9.7),
        (GRIP, 5.0),
        (Grip { wall: true, ..GRIP }, 9.0),
        (
            Grip {
                finger: 1e-3,
                ..GRIP
            },
            9.7,
        ),
        (
            Grip {
                time_step: 5e-3,
                ..GRIP
            },
            9.7,
        ),
    ] {
        let grip = Grip { force, ..grip };
        let record = grip.run();
        assert_eq!(record.status, "completed");
        let slips = &record.results["final"][0];
        let fall = 0.5 * (9.80665 - force) * grip.duration * grip.duration;
        let [x, y, z] = vector(&slips["position"]);
        assert!(largest([x, y, z - 1.0 + fall]) <= 1e-9, "{x} {y} {z}");
        assert!(largest(vector(&slips["angular_velocity"])) <= 1e-6);
    }
}

/// The box falls out, and the fingers meet on their faces: joints block both tangents there.
#[test]
fn fingers_meet_when_the_box_has_left() {
    let grip = Grip {
        force: 2.0,
        duration: 0.4,
        ..GRIP
    };
    let record = grip.run();
    assert_eq!(record.status, "completed");
    let [x, ..] = vector(&record.results["final"][1]["position"]);
    assert!((x - 0.01).abs() <= 1e-9, "{x}");
}

const CELT: &str = r#"
duration = 1.0
contact = { friction = 1.0, restitution = 0.0 }
[[planes]]
name = "floor"
normal = [0.0, 0.0, 1.0]
[[bodies]]
name = "celt"
mass = 1.0
shape = { type = "ellipsoid", semi_axes = [0.2, 0.03, 0.02] }
inertia = [[0.0021063457289145437, -0.0012155372436685123, 0.0], [-0.0012155372436685123, 0.015893654271085456, 0.0], [0.0, 0.0, 0.017]]
position = [0.0, 0.0, 0.02]
velocity = [0.0004, -0.0002, 0.0]
angular_velocity = [0.01, 0.02, -5.0]
"#;

const CUP: &str = r#"
duration = 0.39
contact = { friction = 1.0, restitution = 0.0 }
[[planes]]
name = "floor"
normal = [0.0, 0.0, 1.0]
[[bodies]]
name = "cup"
mass = 0.3
shape = { type = "cylinder", radius = 0.06, half_length = 0.025 }
inertia = [[3.325e-4, 0.0, 0.0], [0.0, 3.325e-4, 0.0], [0.0, 0.0, 5.4e-4]]
position = [0.0, 0.0, 0.12]
quaternion = [0.9659258262890683, 0.25881904510252074, 0.0, 0.0]
angular_velocity = [0.0, 0.0, 6.0]
"#;

/// A pendulum far away: the solver for jointed bodies follows all bodies.
const FAR: &str = r#"
[[bodies]]
name = "far"
mass = 1.0
inertia = [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]]
position = [50.0, 0.0, 50.0]
[[joints]]
name = "hinge"
type = "revolute"
child = "far"
axis = [0.0, 1.0, 0.0]
parent_frame = { position = [50.0, 0.0, 50.5] }
child_frame = { position = [0.0, 0.0, 0.5] }
"#;

/// Rolling without slip ends where an event-driven integration at $10^{-11}$ ends, at coarse steps and at fine ones, alone and
/// beside a joint; it has no impacts but the first of the cup, and takes no energy.
#[test]
fn a_celt_and_a_cup_roll_at_any_step() {
    let celt = [
        -0.179_696_975_921_852_1,
        -1.170_498_726_987_345_7,
        -4.906_567_098_629_179,
    ];
    let cup = [
        7.163_681_346_168_575,
        -2.998_582_028_983_602_5,
        6.655_688_433_897_196,
    ];
    for (toml, rates, impacts) in [(CELT, celt, 0), (CUP, cup, 1)] {
        for (time_step, far) in [
            (4e-3, ""),
            (1e-3, ""),
            (2.5e-4, ""),
            (4e-3, FAR),
            (1e-3, FAR),
        ] {
            let record = world(&format!("time_step = {time_step:e}\n{toml}{far}"));
            assert_eq!(record.status, "completed");
            assert_eq!(record.results["n_impacts"], impacts);
            let found = vector(&record.results["final"][0]["angular_velocity"]);
            let error = largest([0, 1, 2].map(|k| found[k] - rates[k])) / largest(rates);
            assert!(error <= 4e-3, "{time_step}: {error:e}");
            let energy = &record.results["energy"];
            if impacts == 0 && far.is_empty() {
                let lost = energy["contact_loss_j"].as_f64().unwrap();
                assert!(lost.abs() <= 1e-4 * energy["initial_j"].as_f64().unwrap());
            }
        }
    }
}
