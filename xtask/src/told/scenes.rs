//! Scenes that are told in several ways: shipped ones, simple ones, and random ones.

use super::Scene;
use crate::corpus::Draws;
use anyhow::Context;
use serde_json::{Value, json};
use std::path::Path;

fn scene(name: &str, mut config: Value) -> Scene {
    if config.get("gravity").is_none() {
        config["gravity"] = json!([0.0, 0.0, -9.80665]);
    }
    Scene {
        name: name.to_owned(),
        config,
    }
}

fn floor() -> Value {
    json!([{ "name": "floor", "normal": [0.0, 0.0, 1.0], "offset": 0.0 }])
}

/// The world of `carom show world`, and the robots of the examples.
pub(super) fn shipped(root: &Path) -> anyhow::Result<Vec<Scene>> {
    let read = |path: &str| -> anyhow::Result<Value> {
        let text = std::fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
        Ok(toml::from_str(&text)?)
    };
    let world = read("crates/carom-scenarios/src/motion/world.toml")?;
    let mut drop = read("examples/robots/drop.toml")?;
    let robot = root.join("examples/robots/quadruped.urdf");
    drop["urdf"]["file"] = json!(robot.display().to_string());
    drop["duration"] = json!(0.25);
    let mut limp = drop.clone();
    if let Some(urdf) = limp["urdf"].as_object_mut() {
        urdf.remove("actuators");
    }
    Ok(vec![
        scene("world", world),
        scene("quadruped", drop),
        scene("limp quadruped", limp),
    ])
}

/// Two boxes that lean, a cylinder that rolls on its rim, a stack, a sliding box, a pendulum that hits, balls in free space.
#[cfg(test)]
pub(super) fn six() -> Vec<Scene> {
    let contact = |friction: f64, restitution: f64| json!({ "friction": friction, "restitution": restitution });
    let block = |half: [f64; 3]| json!({ "type": "box", "half_extents": half });
    let ball = |name: &str, radius: f64, position: [f64; 3], velocity: [f64; 3]| {
        json!({
            "name": name, "mass": 1.0, "shape": { "type": "sphere", "radius": radius },
            "position": position, "velocity": velocity, "angular_velocity": [1.0, 2.0, 3.0]
        })
    };
    let card = |name: &str, side: f64| {
        json!({
            "name": name, "mass": 0.0018, "shape": block([0.0005, 0.03, 0.045]),
            "position": [0.012129819942757967 * side, 0.0, 0.04359607170555933],
            "quaternion": [0.9914448613738104, 0.0, -0.13052619222005157 * side, 0.0]
        })
    };
    let stacked = |k: u32| {
        json!({
            "name": format!("b{k}"), "mass": 1.0 + f64::from(k), "shape": block([0.1, 0.1, 0.1]),
            "position": [0.02 * f64::from(k), 0.0, 0.1 + 0.2 * f64::from(k)]
        })
    };
    vec![
        scene(
            "cards",
            json!({
                "duration": 0.1, "contact": contact(0.15, 0.0), "planes": floor(),
                "bodies": [card("L", -1.0), card("R", 1.0)]
            }),
        ),
        scene(
            "cup",
            json!({
                "duration": 0.2, "contact": contact(1.0, 0.0), "planes": floor(),
                "bodies": [{
                    "name": "cup", "mass": 0.3, "position": [0.0, 0.0, 0.12],
                    "shape": { "type": "capsule", "radius": 0.06, "half_length": 0.025 },
                    "quaternion": [0.9659258262890683, 0.25881904510252074, 0.0, 0.0],
                    "angular_velocity": [0.0, 0.0, 6.0]
                }]
            }),
        ),
        scene(
            "stack",
            json!({
                "duration": 0.2, "contact": contact(0.5, 0.0), "planes": floor(),
                "bodies": [stacked(0), stacked(1), stacked(2)]
            }),
        ),
        scene(
            "sliding box",
            json!({
                "duration": 0.3, "gravity": [3.5, 0.3, -9.0], "contact": contact(0.3, 0.0), "planes": floor(),
                "bodies": [{
                    "name": "box", "mass": 2.0, "shape": block([0.1, 0.15, 0.05]), "position": [0.0, 0.0, 0.05]
                }]
            }),
        ),
        scene(
            "pendulum",
            json!({
                "duration": 0.6, "contact": contact(0.3, 0.5),
                "planes": [{ "name": "wall", "normal": [1.0, 0.0, 0.0], "offset": 0.1 }],
                "bodies": [{
                    "name": "rod", "mass": 1.3, "shape": block([0.25, 0.02, 0.03]), "position": [0.25, 0.0, 1.0]
                }],
                "joints": [{
                    "name": "hinge", "type": "revolute", "child": "rod", "axis": [0.0, 1.0, 0.0],
                    "parent_frame": { "position": [0.0, 0.0, 1.0] }, "child_frame": { "position": [-0.25, 0.0, 0.0] }
                }]
            }),
        ),
        scene(
            "balls",
            json!({
                "duration": 1.0, "gravity": [0.0, 0.0, 0.0], "contact": contact(0.2, 0.8),
                "bodies": [
                    ball("a", 0.1, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
                    ball("b", 0.1, [0.6, 0.05, 0.02], [-0.5, 0.0, 0.0]),
                    ball("c", 0.15, [1.2, 0.1, 0.0], [-1.0, 0.0, 0.0])
                ]
            }),
        ),
    ]
}

/// Up to four bodies that fall on a floor and on each other, or a chain that falls on it.
pub(super) fn random(seed: u64) -> Scene {
    if seed % 3 == 2 {
        return chain(seed);
    }
    let mut draws = Draws::seeded(seed);
    let n = draws.count(1, 4);
    let mut bodies = Vec::new();
    for k in 0..n {
        let mut size = || draws.between(0.05, 0.15);
        let [a, b, c] = [size(), size(), size()];
        let shape = match draws.count(0, 3) {
            0 => json!({ "type": "box", "half_extents": [a, b, c] }),
            1 => json!({ "type": "sphere", "radius": a }),
            2 => json!({ "type": "ellipsoid", "semi_axes": [a, b, c] }),
            _ => json!({ "type": "capsule", "radius": a / 2.0, "half_length": b }),
        };
        let mut around = |half: f64| draws.between(-half, half);
        let place = [
            around(0.1) + 0.1 * k as f64,
            around(0.1),
            0.3 + 0.35 * k as f64,
        ];
        let velocity = [around(0.5), around(0.5), around(0.5) - 0.5];
        let spin = [around(3.0), around(3.0), around(3.0)];
        let turn = nalgebra::UnitQuaternion::new(nalgebra::Vector3::from_fn(|_, _| around(3.0)));
        bodies.push(json!({
            "name": format!("body{k}"), "mass": draws.between(0.3, 3.0), "shape": shape, "position": place,
            "quaternion": [turn.w, turn.i, turn.j, turn.k], "velocity": velocity, "angular_velocity": spin
        }));
    }
    let friction = [0.0, 0.2, 0.6][draws.count(0, 2)];
    let restitution = [0.0, 0.3, 0.8, 1.0][draws.count(0, 3)];
    let config = json!({
        "duration": 0.35, "planes": floor(), "bodies": bodies,
        "contact": { "friction": friction, "restitution": restitution }
    });
    scene(&format!("random scene {seed}"), config)
}

/// A chain of one to three hinged blocks, with limits, a spring or dry friction, that falls on a floor.
fn chain(seed: u64) -> Scene {
    let mut draws = Draws::seeded(seed);
    let n = draws.count(1, 3);
    let half = 0.5 / n as f64;
    let (mut bodies, mut joints) = (Vec::new(), Vec::new());
    for k in 0..n {
        let name = |k: usize| format!("link{k}");
        let [thick, wide] = [0.02, 0.03].map(|size| size * draws.between(0.5, 2.0));
        let way = half * (2.0 * k as f64 + 1.0);
        bodies.push(json!({
            "name": name(k), "mass": draws.between(0.3, 3.0), "position": [way, 0.0, 1.0],
            "shape": { "type": "box", "half_extents": [half, thick, wide] }
        }));
        let tilt = draws.between(-0.4, 0.4);
        let mut joint = json!({
            "name": format!("hinge{k}"), "type": "revolute", "child": name(k), "axis": [tilt, 1.0, 0.0],
            "child_frame": { "position": [-half, 0.0, 0.0] },
            "parent_frame": { "position": [if k == 0 { 0.0 } else { half }, 0.0, if k == 0 { 1.0 } else { 0.0 }] }
        });
        if k > 0 {
            joint["parent"] = json!(name(k - 1));
        }
        match draws.count(0, 3) {
            0 => {
                joint["limits"] =
                    json!({ "lower": -0.5, "upper": 0.4, "restitution": draws.between(0.0, 0.9) })
            }
            1 => joint["stiffness"] = json!(draws.between(0.5, 3.0)),
            2 => joint["friction"] = json!(draws.between(0.01, 0.3)),
            _ => joint["damping"] = json!(draws.between(0.01, 0.3)),
        }
        joints.push(joint);
    }
    let floor = json!([{ "name": "floor", "normal": [0.0, 0.0, 1.0], "offset": -0.3 }]);
    let config = json!({
        "duration": 0.8, "planes": floor, "bodies": bodies, "joints": joints,
        "contact": { "friction": draws.between(0.0, 0.6), "restitution": draws.between(0.0, 0.9) }
    });
    scene(&format!("random chain {seed}"), config)
}
