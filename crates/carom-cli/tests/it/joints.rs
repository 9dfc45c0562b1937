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
        (format!("scheme = \"time-stepping\"\n{ROD}"), "key `scheme`"),
        (
            format!(
                "planes = [{{ name = \"floor\", normal = [0.0, 0.0, 1.0], offset = 2.0 }}]\n{}",
                changed(
                    "inertia",
                    "shape = { type = \"sphere\", radius = 0.1 }\ninertia"
                )
            ),
            "`rod` and `floor` may touch",
        ),
    ];
    for (text, words) in faults {
        let (status, out, error) = run(&text);
        assert_eq!((status, out.len()), (Some(2), 0), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(words), "no `{words}` in {error}");
    }
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
