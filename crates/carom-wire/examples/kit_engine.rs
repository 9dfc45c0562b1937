//! A small engine behind the protocol of the contact test kit: balls on planes, one step after the other.
//! Run it with `python -m carom.kit run "jsonl:target/debug/examples/kit_engine"`.

use serde_json::{Value, json};
use std::io::BufRead;

type Vector = [f64; 3];

fn vector(value: &Value) -> Vector {
    [0, 1, 2].map(|k| value[k].as_f64().unwrap_or(0.0))
}

fn run(scene: &Value) -> Value {
    let empty = Vec::new();
    let list = |key: &str| scene[key].as_array().unwrap_or(&empty).clone();
    if list("bodies").len() != 1 {
        return json!({"unsupported": "more than one body"});
    }
    let body = &scene["bodies"][0];
    let radius = body["shape"]["sphere"]["radius"].as_f64().unwrap_or(0.0);
    let (mut x, mut v) = (vector(&body["position"]), vector(&body["velocity"]));
    let (gravity, restitution) = (vector(&scene["gravity"]), &scene["restitution"]);
    let (mut time, mut positions, mut velocities) = (0.0, Vec::new(), Vec::new());
    for end in list("output_times").iter().filter_map(Value::as_f64) {
        while time < end - 1e-12 {
            let step = scene["step"].as_f64().unwrap_or(1e-3).min(end - time);
            (0..3).for_each(|k| v[k] += step * gravity[k]);
            for plane in list("planes") {
                let n = vector(&plane["normal"]);
                let offset = plane["offset"].as_f64().unwrap_or(0.0);
                let gap = (0..3).map(|k| n[k] * x[k]).sum::<f64>() + offset - radius;
                let rate: f64 = (0..3).map(|k| n[k] * v[k]).sum();
                if rate < 0.0 && gap + step * rate < 0.0 {
                    let change = -(1.0 + restitution.as_f64().unwrap_or(0.0)) * rate;
                    (0..3).for_each(|k| v[k] += change * n[k]);
                }
            }
            (0..3).for_each(|k| x[k] += step * v[k]);
            time += step;
        }
        positions.push(x);
        velocities.push(v);
    }
    let still = vec![[0.0; 3]; positions.len()];
    let upright = vec![[1.0, 0.0, 0.0, 0.0]; positions.len()];
    json!({"bodies": [{"position": positions, "quaternion": upright,
                       "velocity": velocities, "angular_velocity": still}]})
}

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let given: Value = serde_json::from_str(&line).unwrap_or_default();
        let answer = if given.get("hello").is_some() {
            json!({"name": "tiny", "version": "0.1", "settings": {}, "precision": "double",
                   "unsupported": ["box", "friction"]})
        } else {
            run(&given)
        };
        println!("{answer}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A half-space is free where normal · x + offset > 0: the surface of a floor with the offset 0.5 lies at z = -0.5, and a
    /// ball of radius 0.1 turns at z = -0.4.
    #[test]
    fn a_ball_turns_at_a_plane_with_an_offset() {
        let scene = json!({
            "gravity": [0, 0, 0], "restitution": 0.5, "friction": 0.0, "step": 1e-3, "output_times": [0.95, 1.05, 1.2],
            "bodies": [{"shape": {"sphere": {"radius": 0.1}}, "position": [0, 0, 0.6], "velocity": [0, 0, -1]}],
            "planes": [{"normal": [0, 0, 1], "offset": 0.5}],
        });
        let answer = run(&scene);
        let heights = [0, 1, 2].map(|k| answer["bodies"][0]["position"][k][2].as_f64());
        let expected = [-0.35, -0.375, -0.3];
        for (height, expected) in heights.into_iter().zip(expected) {
            assert!(
                height.is_some_and(|z| (z - expected).abs() < 2e-3),
                "{heights:?}"
            );
        }
    }
}
