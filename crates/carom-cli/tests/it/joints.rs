//! `carom run world` with joints.

use crate::common::carom;
use serde_json::Value;

/// A rod on a hinge, 0.5 m from its center.
const ROD: &str = r#"duration = 0.02
time_step = 0.001
[[bodies]]
name = "rod"
mass = 1.0
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.02]]
[[joints]]
name = "hinge"
type = "revolute"
child = "rod"
axis = [0.0, 1.0, 0.0]
child_frame = { position = [0.0, 0.0, 0.5] }
position = 0.3
"#;

/// Exit status, stdout and stderr of a world.
fn run(text: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let output = carom(&["run", "world", "--config", path, "--json"], "");
    let [out, error] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
    (output.status.code(), out, error)
}

fn refused_in_a_line(faults: &[(String, &str)]) {
    for (text, words) in faults {
        let (status, out, error) = run(text);
        assert_eq!((status, out.len()), (Some(2), 0), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(words), "no `{words}` in {error}");
    }
}

/// Each fault is one line that names key and joint, with status 2 and nothing on stdout.
#[test]
fn a_fault_of_a_joint_is_named_with_its_key() {
    let added = |line: &str| format!("{ROD}{line}\n");
    let changed = |from: &str, to: &str| {
        assert!(ROD.contains(from), "{from}");
        ROD.replace(from, to)
    };
    let frame = "position = [0.0, 0.0, 0.5] }";
    let second = "[[joints]]\nname = \"second\"\ntype = \"spherical\"\nchild = \"rod\"\n";
    let faults = [
        (changed("\"revolute\"", "\"hinge\""), "joints[0].type"),
        (
            changed("child = \"rod\"", "child = \"r\""),
            "no body is called `r`",
        ),
        (
            changed("[0.0, 1.0, 0.0]", "[0.0, 0.0, 0.0]"),
            "joints[0].axis",
        ),
        (
            changed(
                frame,
                "position = [0.0, 0.0, 0.5], quaternion = [1, 1, 0, 0] }",
            ),
            "joints[0].child_frame.quaternion",
        ),
        (changed("mass = 1.0", "mass = 0.0"), "bodies[0].mass"),
        (changed("[0, 0, 0.02]", "[0, 0, 5.0]"), "bodies[0].inertia"),
        (
            changed("position = 0.3", "position = nan"),
            "joints[0].position",
        ),
        (changed("\"revolute\"", "\"spherical\""), "joints[0].axis"),
        (added("foo = 1"), "joints[0].foo"),
        (added("parent = \"x\""), "joints[0].parent"),
        (added("parent = \"rod\""), "parent and child"),
        (added("length = 1.0"), "joints[0].length"),
        (
            added("limits = { lower = 1.0, upper = -1.0 }"),
            "limits.lower",
        ),
        (added("limits = { lower = 0.5 }"), "the lower limit 0.5"),
        (
            added("limits = { lower = 0.0, restitution = 2.0 }"),
            "limits.restitution",
        ),
        (added("stiffness = -1.0"), "joints[0].stiffness"),
        (added("stiffness = 1e9"), "step-too-large"),
        (added("damping = [1.0, 2.0]"), "2 numbers for 1"),
        (
            added("actuator = { type = \"table\", times = [0.0, 0.0], values = [0.0, 1.0] }"),
            "joints[0].actuator.times",
        ),
        (
            added(&second.replace("second", "hinge")),
            "`hinge` is there twice",
        ),
        (
            added(&format!(
                "{second}parent_frame = {{ position = [1.0, 0.0, 0.0] }}"
            )),
            "not-assembled",
        ),
        (format!("scheme = \"steps\"\n{ROD}"), "key `scheme`"),
        (
            format!(
                "planes = [{{ name = \"floor\", normal = [0.0, 0.0, 1.0], offset = 0.0 }}]\n{}",
                changed(
                    "inertia",
                    "shape = { type = \"sphere\", radius = 0.1 }\ninertia"
                )
            ),
            "`rod` and `floor` overlap",
        ),
    ];
    refused_in_a_line(&faults);
}

/// So is each of a second joint, a second body and the start.
#[test]
fn a_fault_beside_a_joint_is_named_with_its_key() {
    let added = |line: &str| format!("{ROD}{line}\n");
    let changed = |from: &str, to: &str| {
        assert!(ROD.contains(from), "{from}");
        ROD.replace(from, to)
    };
    let more = |keys: &str| format!("{ROD}[[joints]]\nname = \"more\"\n{keys}\n");
    let lone = "[[bodies]]\nname = \"lone\"\nmass = 1.0\ninertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]\n";
    let post = "[[bodies]]\nname = \"post\"\nfixed = true\nposition = [3.0, 0.0, 0.0]\nshape = { type = \"sphere\", radius = 0.1 }\n";
    let faults = [
        (format!("{ROD}{lone}"), "`lone`"),
        (
            format!("{}{post}", more("type = \"spherical\"\nchild = \"post\"")),
            "joints[1].child",
        ),
        (
            more("type = \"universal\"\nchild = \"rod\"\naxis = [1, 0, 0]\naxis2 = [1, 1, 0]"),
            "joints[1].axis2",
        ),
        (
            more("type = \"gimbal\"\nchild = \"rod\"\naxes = [[1, 0, 0], [1, 1, 0], [0, 0, 1]]"),
            "joints[1].axes",
        ),
        (
            more("type = \"biaxial\"\nchild = \"rod\"\naxis = [1, 0, 0]\naxis2 = [-2, 0, 0]"),
            "`joints[1].axis2`: invalid-key: joint `more`: axis2 is parallel to the axis before it",
        ),
        (
            more("type = \"triaxial\"\nchild = \"rod\"\nanchors = [[0, 0, 0], [0, 0, 0.1]]"),
            "`joints[1].anchors`: `more`: 2 points for 3 axes",
        ),
        (
            more("type = \"pin-slot\"\nchild = \"rod\"\nanchors = [[0, 0, 0], [0, 0, 0.1]]"),
            "`joints[1].anchors`: `more`: is no key of a `pin-slot` joint",
        ),
        (
            more(
                "type = \"cross-slide\"\nchild = \"rod\"\naxes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
            ),
            "joints[1].axes",
        ),
        (
            more("type = \"distance\"\nchild = \"rod\""),
            "joints[1].length",
        ),
        (
            more("type = \"distance\"\nchild = \"rod\"\nlength = 0.0"),
            "joints[1].length",
        ),
        (
            more("type = \"fixed\"\nchild = \"rod\"\nlimits = { lower = 0.0 }"),
            "joints[1].limits",
        ),
        (
            more("type = \"spherical\"\nchild = \"rod\"\naxis = [0, 0, 1]"),
            "joints[1].axis",
        ),
        (changed("[0, 0, 0.02]", "[0, 0, 0.0]"), "bodies[0].inertia"),
        (changed("[0.0, 1.0, 0.0]", "[0.0, 1.0]"), "joints[0].axis"),
        (
            added("limits = { lower = -1.0, upper = 0.2 }"),
            "the upper limit 0.2",
        ),
        (added("damping = -1.0"), "joints[0].damping"),
        (added("friction = -1.0"), "joints[0].friction"),
        (added("armature = -1.0"), "joints[0].armature"),
        (
            added(
                "actuator = { type = \"pd\", proportional = -1.0, derivative = 0.0, times = [0.0], values = [0.0] }",
            ),
            "joints[0].actuator.proportional",
        ),
        (
            added(
                "actuator = { type = \"pd\", proportional = 1.0, derivative = -1.0, times = [0.0], values = [0.0] }",
            ),
            "joints[0].actuator.derivative",
        ),
        (
            added("actuator = { type = \"constant\", value = 1.0, limit = 0.0 }"),
            "joints[0].actuator.limit",
        ),
        (
            changed("child_frame", "velocity = 1.0\nchild_frame")
                .replace("[[joints]]", "position = [0.0, 0.0, -0.4]\n[[joints]]"),
            "not-assembled",
        ),
    ];
    refused_in_a_line(&faults);
}

/// Two rods on hinges with a spring, a damper and a rotor at the first one.
fn double_pendulum(step: f64) -> [f64; 4] {
    let text = format!(
        r#"duration = 0.5
time_step = {step}
[[bodies]]
name = "a"
mass = 1.0
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.02]]
[[bodies]]
name = "b"
mass = 0.7
inertia = [[0.05, 0, 0], [0, 0.05, 0], [0, 0, 0.01]]
[[joints]]
name = "first"
type = "revolute"
child = "a"
axis = [0.0, 1.0, 0.0]
child_frame = {{ position = [0.0, 0.0, 0.5] }}
position = 1.0
damping = 0.1
stiffness = 2.0
armature = 0.05
[[joints]]
name = "second"
type = "revolute"
parent = "a"
child = "b"
axis = [0.0, 1.0, 0.0]
parent_frame = {{ position = [0.0, 0.0, -0.5] }}
child_frame = {{ position = [0.0, 0.0, 0.4] }}
position = -0.6
velocity = 2.0
[output]
sample_step = 0.0
"#
    );
    let (status, out, error) = run(&text);
    assert_eq!(status, Some(0), "{error}");
    let record: Value = serde_json::from_str(&out).unwrap();
    let of = |joint: usize, key: &str| record["final_joints"][joint][key].as_f64().unwrap();
    [
        of(0, "position"),
        of(1, "position"),
        of(0, "velocity"),
        of(1, "velocity"),
    ]
}

/// Rates of the two angles and of their rates, by Lagrange's equations in these two coordinates alone.
fn rates([q1, q2, w1, w2]: [f64; 4]) -> [f64; 4] {
    const G: f64 = 9.80665;
    let (masses, inertias, arms, length) = ([1.0, 0.7], [0.1, 0.05], [0.5, 0.4], 1.0);
    let (a, b, wb) = (q1, q1 + q2, w1 + w2);
    let coupling = masses[1] * length * arms[1];
    let m11 = inertias[0] + masses[0] * arms[0] * arms[0] + masses[1] * length * length;
    let m22 = inertias[1] + masses[1] * arms[1] * arms[1];
    let (m12, s) = (coupling * (a - b).cos(), coupling * (a - b).sin());
    let weight = masses[0] * arms[0] + masses[1] * length;
    let fa = -s * wb * wb - weight * G * a.sin();
    let fb = s * w1 * w1 - masses[1] * arms[1] * G * b.sin();
    // Relative angles: absolute rates are w1 and w1 + w2; the rotor turns with the first.
    let (k11, k12, k22) = (m11 + 2.0 * m12 + m22 + 0.05, m12 + m22, m22);
    let (f1, f2) = (fa + fb - 2.0 * q1 - 0.1 * w1, fb);
    let det = k11 * k22 - k12 * k12;
    [
        w1,
        w2,
        (k22 * f1 - k12 * f2) / det,
        (k11 * f2 - k12 * f1) / det,
    ]
}

/// The classical Runge-Kutta method.
fn reference(mut y: [f64; 4], duration: f64, steps: u32) -> [f64; 4] {
    let h = duration / f64::from(steps);
    let plus = |y: [f64; 4], k: [f64; 4], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    for _ in 0..steps {
        let k1 = rates(y);
        let k2 = rates(plus(y, k1, 0.5 * h));
        let k3 = rates(plus(y, k2, 0.5 * h));
        let k4 = rates(plus(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
    }
    y
}

/// A double pendulum with a spring, a damper and a rotor follows Lagrange's equations at order 2.
#[test]
fn a_double_pendulum_follows_its_equations_in_two_angles() {
    let exact = reference([1.0, -0.6, 0.0, 2.0], 0.5, 5000);
    let runs = [4e-3, 2e-3].map(double_pendulum);
    let error = |y: &[f64; 4]| (0..4).fold(0.0, |m: f64, i| m.max((y[i] - exact[i]).abs()));
    let ratio = error(&runs[0]) / error(&runs[1]);
    assert!((ratio - 4.0).abs() <= 0.02, "{ratio}");
    let [coarse, fine] = runs;
    let extrapolated = std::array::from_fn(|i| (4.0 * fine[i] - coarse[i]) / 3.0);
    assert!(error(&extrapolated) <= 2e-7, "{}", error(&extrapolated));
}

/// A pendulum with a ball swings into a wall and back, with $\omega^+ = -e\omega^-$: one coordinate, so that every
/// impact leaves $e^2$ of the kinetic energy, and its impulse is $(1 + e)$ times the momentum about the hinge by the arm
/// of the wall's normal.
#[test]
fn a_pendulum_at_a_wall_restitutes_as_the_law_says() {
    let text = r#"duration = 4.0
time_step = 0.001
contact = { friction = 0.0, restitution = 0.6 }
planes = [{ name = "wall", normal = [-1.0, 0.0, 0.0], offset = 0.1 }]
[[bodies]]
name = "ball"
mass = 2.0
shape = { type = "sphere", radius = 0.1 }
inertia = [[0.03, 0, 0], [0, 0.03, 0], [0, 0, 0.03]]
[[joints]]
name = "hinge"
type = "revolute"
child = "ball"
axis = [0.0, 1.0, 0.0]
child_frame = { position = [0.0, 0.0, 1.0] }
position = 0.7
"#;
    let (status, out, error) = run(text);
    assert_eq!(status, Some(0), "{error}");
    let record: Value = serde_json::from_str(&out).unwrap();
    let impacts = record["impacts"].as_array().unwrap();
    assert!(impacts.len() >= 3, "{}", impacts.len());
    for impact in impacts {
        let [minus, plus] =
            ["energy_minus_j", "energy_plus_j"].map(|key| impact[key].as_f64().unwrap());
        assert!(
            (plus - 0.36 * minus).abs() <= 1e-11 * minus,
            "{minus} {plus}"
        );
        let contact = &impact["contacts"][0];
        assert_eq!(
            (&contact["first"], &contact["second"]),
            (&"ball".into(), &"wall".into())
        );
        let of = |key: &str, k: usize| contact[key][k].as_f64().unwrap();
        // It touches where it hangs straight down: the arm is 1 m, the inertia 2.03 kg m².
        let rate = (2.0 * minus / 2.03).sqrt();
        assert!(
            (of("impulse", 0) + 1.6 * 2.03 * rate).abs() <= 1e-10,
            "{contact}"
        );
        assert!((of("normal", 0) + 1.0).abs() <= 1e-15);
        let speed = contact["normal_velocity"].as_f64().unwrap();
        assert!((speed + rate).abs() <= 1e-10, "{speed} {rate}");
        // The hinge takes up what the wall gives beyond the ball's own change of momentum.
        let hinge = impact["joints"][0]["impulse"][0].as_f64().unwrap();
        let change = -1.6 * 2.0 * rate;
        assert!(
            (hinge + of("impulse", 0) - change).abs() <= 1e-10,
            "{hinge}"
        );
    }
    let energy = &record["energy"];
    assert!(
        energy["max_abs_error_j"].as_f64().unwrap() <= 1e-4,
        "{energy}"
    );
    assert!(record["momentum"]["max_abs_error"].as_f64().unwrap() <= 1e-10);
    assert!(record["lowest_gap_m"].as_f64().unwrap() >= -1e-11);
}

/// Two links that a hinge connects fall flat on a floor and stay: contacts that last, with a mode, and supports that
/// carry the weight.
#[test]
fn two_hinged_links_come_to_rest_on_a_floor() {
    let text = r#"duration = 1.5
time_step = 0.001
contact = { friction = 0.5, restitution = 0.2 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "a"
mass = 1.0
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 0.3]
[[bodies]]
name = "b"
mass = 0.5
shape = { type = "sphere", radius = 0.1 }
[[joints]]
name = "hinge"
type = "revolute"
parent = "a"
child = "b"
axis = [0.0, 1.0, 0.0]
parent_frame = { position = [0.3, 0.0, 0.0] }
child_frame = { position = [-0.3, 0.0, 0.0] }
damping = 0.05
"#;
    let (status, out, error) = run(text);
    assert_eq!(status, Some(0), "{error}");
    let record: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(record["status"], "completed");
    let contacts = record["contacts"].as_array().unwrap();
    for body in ["a", "b"] {
        let lasts = |c: &&Value| c["first"] == body && c["second"] == "floor" && c["end"].is_null();
        let contact = contacts.iter().find(lasts).unwrap();
        let mode = contact["modes"].as_array().unwrap().last().unwrap();
        assert_eq!(mode["mode"], "sticking", "{contact}");
    }
    for state in record["final"].as_array().unwrap() {
        assert!(
            (state["position"][2].as_f64().unwrap() - 0.1).abs() <= 1e-9,
            "{state}"
        );
        for k in 0..3 {
            assert!(
                state["velocity"][k].as_f64().unwrap().abs() <= 1e-9,
                "{state}"
            );
        }
    }
    let up = record["momentum"]["supports"]["floor"][2].as_f64().unwrap();
    assert!((up - 1.5 * 9.80665 * 1.5).abs() <= 1e-8, "{up}");
    assert!(record["max_joint_residual_m"].as_f64().unwrap() <= 1e-12);
    assert!(record["momentum"]["max_abs_error"].as_f64().unwrap() <= 1e-10);
}

/// A ball on a rope strikes a tower of boxes that rest on each other: the boxes below the blow keep the size of their own
/// velocities, which is rounding.
#[test]
fn a_ball_on_a_rope_strikes_a_tower() {
    let mut text = r#"duration = 0.02
contact = { friction = 0.5, restitution = 0.2 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0], offset = 0.0 }]
[[bodies]]
name = "ball"
mass = 20.0
shape = { type = "sphere", radius = 0.25 }
[[joints]]
name = "rope"
type = "spherical"
child = "ball"
parent_frame = { position = [0.0, 0.0, 3.0] }
child_frame = { position = [0.0, 0.0, 2.3] }
position = [0.9982005399352042, 0.0, -0.059964006479444595, 0.0]
velocity = [0.0, -2.5, 0.0]
"#
    .to_owned();
    for i in 0..5 {
        text += &format!(
            "[[bodies]]\nname = \"box{i}\"\nmass = 1.0\nshape = {{ type = \"box\", half_extents = [0.2, 0.2, 0.15] }}\n\
             position = [0.76, 0.0, {}]\n",
            0.15 + 0.3 * f64::from(i)
        );
    }
    let (status, out, error) = run(&text);
    assert_eq!(status, Some(0), "{error}");
    let record: Value = serde_json::from_str(&out).unwrap();
    let first = &record["impacts"][0];
    let contacts = first["contacts"].as_array().unwrap();
    assert_eq!(contacts.len(), 21, "{first}");
    let [minus, plus] = ["energy_minus_j", "energy_plus_j"].map(|key| first[key].as_f64().unwrap());
    assert!(plus < minus, "{minus} {plus}");
}

/// Angles and rates of a double pendulum at the end, as a planar mechanism and as bodies in space, both extrapolated from two
/// steps.
#[test]
fn a_planar_linkage_in_space_moves_as_the_planar_mechanism_does() {
    let mechanism = |step: f64| {
        let text = format!(
            r#"duration = 0.6
time_step = {step}
gravity = [0.0, -9.80665]
[law]
name = "moreau-newton"
options = {{}}
[[links]]
name = "upper"
joint = "hinge"
angle = -1.5707963267948966
mass = 1.2
center = [0.25, 0.0]
inertia = 0.03
position = 0.9
velocity = 1.0
[[links]]
name = "lower"
parent = "upper"
joint = "hinge"
anchor = [0.5, 0.0]
mass = 0.7
center = [0.2, 0.0]
inertia = 0.01
position = -0.4
spring = {{ stiffness = 1.5, damping = 0.0, rest = 0.2 }}
"#
        );
        let record = record_of("mechanism", &text);
        let numbers = |key: &str| numbers(&record["final"][key]);
        [numbers("q"), numbers("v")].concat()
    };
    let world = |step: f64| {
        let text = format!(
            r#"duration = 0.6
time_step = {step}
flight = "lgvi"
gravity = [0.0, -9.80665, 0.0]
[[bodies]]
name = "upper"
mass = 1.2
inertia = [[0.02, 0, 0], [0, 0.025, 0], [0, 0, 0.03]]
[[bodies]]
name = "lower"
mass = 0.7
inertia = [[0.006, 0, 0], [0, 0.009, 0], [0, 0, 0.01]]
[[joints]]
name = "upper"
type = "revolute"
child = "upper"
parent_frame = {{ quaternion = [0.7071067811865476, 0, 0, -0.7071067811865476] }}
child_frame = {{ position = [-0.25, 0, 0] }}
position = 0.9
velocity = 1.0
[[joints]]
name = "lower"
type = "revolute"
parent = "upper"
child = "lower"
parent_frame = {{ position = [0.25, 0, 0] }}
child_frame = {{ position = [-0.2, 0, 0] }}
position = -0.4
stiffness = 1.5
rest = 0.2
"#
        );
        let record = record_of("world", &text);
        let joints = record["final_joints"].as_array().unwrap();
        let of =
            |key: &str| -> Vec<f64> { joints.iter().map(|j| j[key].as_f64().unwrap()).collect() };
        [of("position"), of("velocity")].concat()
    };
    let extrapolated = |run: &dyn Fn(f64) -> Vec<f64>| -> Vec<f64> {
        let (coarse, fine) = (run(1e-3), run(5e-4));
        { coarse.iter().zip(&fine) }
            .map(|(c, f)| (4.0 * f - c) / 3.0)
            .collect()
    };
    let (plane, space) = (extrapolated(&mechanism), extrapolated(&world));
    for (a, b) in plane.iter().zip(&space) {
        assert!((a - b).abs() <= 1e-7, "{plane:?} {space:?}");
    }
}

/// The record of a scenario that runs to its end.
fn record_of(scenario: &str, text: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let output = carom(&["run", scenario, "--config", path, "--json"], "");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}
