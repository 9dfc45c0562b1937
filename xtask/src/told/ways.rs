//! Ways to tell a scene again, and back from the answer.

use super::{Body, Motion};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::{Map, Value, json};

/// A scene told again.
pub(super) struct Told {
    pub(super) config: Value,
    /// Returns the motion as the first telling has it.
    pub(super) back: Box<dyn Fn(Motion) -> Motion>,
}

/// One way to tell a scene again.
pub(super) struct Way {
    pub(super) name: &'static str,
    /// Largest difference of the answers, as a fraction of lengths of 1 m and speeds of 1 m/s; at rest `at_rest`.
    pub(super) bound: f64,
    pub(super) at_rest: f64,
    /// `None` if a scene cannot be told so.
    pub(super) tell: fn(&Value) -> Option<Told>,
}

/// All ways.
pub(super) const WAYS: [Way; 12] = [
    way("order", 1e-9, 1e-12, order),
    way("names", 0.0, 0.0, names),
    way("bystander", 0.0, 0.0, bystander),
    way("free joints", 0.0, 0.0, free_joints),
    way("joint far away", 1e-5, 1e-12, far_joint),
    way("quarter turn", 1e-8, 1e-12, quarter_turn),
    way("rotation", 1e-8, 1e-12, rotation),
    way("mirror", 1e-8, 1e-12, mirror),
    way("boost", 1e-8, 1e-12, boost),
    way("millimetres and grams", 1e-8, 1e-12, small_units),
    way("slab", 1e-9, 1e-9, slab),
    way("time steps", f64::INFINITY, 1e-9, steps),
];

const fn way(
    name: &'static str,
    bound: f64,
    at_rest: f64,
    tell: fn(&Value) -> Option<Told>,
) -> Way {
    Way {
        name,
        bound,
        at_rest,
        tell,
    }
}

/// Keys of a body, and of a plane.
const POLAR: [&str; 2] = ["position", "velocity"];

/// Name of the body that is added.
const FAR: &str = "far";

/// Lists of a configuration.
fn list<'v>(config: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Map<String, Value>> {
    let list = config.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// True if the scene has a robot, whose bodies are told by a file.
fn is_robot(config: &Value) -> bool {
    config.get("urdf").is_some()
}

fn has(config: &Value, key: &str) -> bool {
    config
        .get(key)
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty())
}

pub(super) fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_fn(|k, _| value[k].as_f64().unwrap_or(0.0))
}

pub(super) fn quaternion(value: &Value) -> UnitQuaternion<f64> {
    let entry = |k: usize| value[k].as_f64().unwrap_or(0.0);
    UnitQuaternion::from_quaternion(Quaternion::new(entry(0), entry(1), entry(2), entry(3)))
}

fn numbers(q: &UnitQuaternion<f64>) -> Value {
    json!([q.w, q.i, q.j, q.k])
}

fn change(map: &mut Map<String, Value>, key: &str, to: impl Fn(&Value) -> Value) {
    if let Some(value) = map.get_mut(key) {
        *value = to(value);
    }
}

/// Multiplies all numbers of a value.
fn times(value: &Value, factor: f64) -> Value {
    match value {
        Value::Array(list) => list.iter().map(|entry| times(entry, factor)).collect(),
        Value::Number(number) => json!(number.as_f64().unwrap_or(0.0) * factor),
        other => other.clone(),
    }
}

fn same(config: Value) -> Option<Told> {
    Some(Told {
        config,
        back: Box::new(|motion| motion),
    })
}

fn each(config: Value, back: impl Fn(Body) -> Body + 'static) -> Option<Told> {
    Some(Told {
        config,
        back: Box::new(move |motion| motion.into_iter().map(|(n, b)| (n, back(b))).collect()),
    })
}

fn order(scene: &Value) -> Option<Told> {
    let mut config = scene.clone();
    for key in ["bodies", "joints", "planes", "pairs"] {
        if let Some(list) = config.get_mut(key).and_then(Value::as_array_mut) {
            list.reverse();
        }
    }
    same(config)
}

fn names(scene: &Value) -> Option<Told> {
    if is_robot(scene) || has(scene, "pairs") {
        return None;
    }
    let mut config = scene.clone();
    let new = |name: &Value| {
        let reversed: String = name.as_str().unwrap_or("").chars().rev().collect();
        json!(format!("z{reversed}"))
    };
    list(&mut config, "bodies").for_each(|body| change(body, "name", new));
    for joint in list(&mut config, "joints") {
        ["parent", "child"]
            .iter()
            .for_each(|key| change(joint, key, new));
    }
    let old = |name: String| {
        name.chars()
            .skip(1)
            .collect::<Vec<_>>()
            .iter()
            .rev()
            .collect()
    };
    Some(Told {
        config,
        back: Box::new(move |motion| motion.into_iter().map(|(n, b)| (old(n), b)).collect()),
    })
}

fn bystander(scene: &Value) -> Option<Told> {
    let walls = scene.get("planes").and_then(Value::as_array);
    if walls.is_some_and(|walls| walls.len() > 1) {
        return None;
    }
    let mut config = scene.clone();
    let far = json!({
        "name": FAR, "mass": 2.0, "shape": { "type": "sphere", "radius": 0.1 },
        "position": [40.0, 0.0, 50.0], "velocity": [1.0, 2.0, 3.0], "angular_velocity": [1.0, 0.3, 0.2]
    });
    let bodies = config.as_object_mut()?.entry("bodies");
    bodies
        .or_insert_with(|| json!([]))
        .as_array_mut()?
        .push(far);
    Some(Told {
        config,
        back: Box::new(|motion| motion.into_iter().filter(|(n, _)| n != FAR).collect()),
    })
}

/// A pendulum far away, with which free bodies are followed as jointed ones are.
fn far_joint(scene: &Value) -> Option<Told> {
    let mut told = bystander(scene)?;
    let joints = told.config.as_object_mut()?.entry("joints");
    joints.or_insert_with(|| json!([])).as_array_mut()?.push(json!({
        "name": FAR, "type": "spherical", "child": FAR,
        "parent_frame": { "position": [40.0, 0.0, 50.5] }, "child_frame": { "position": [0.0, 0.0, 0.5] }
    }));
    let far = told.config["bodies"]
        .as_array_mut()?
        .last_mut()?
        .as_object_mut()?;
    far.remove("velocity");
    far.remove("angular_velocity");
    Some(told)
}

fn free_joints(scene: &Value) -> Option<Told> {
    if is_robot(scene) || has(scene, "joints") {
        return None;
    }
    let mut config = scene.clone();
    let mobile = list(&mut config, "bodies").filter(|body| body.get("fixed").is_none());
    let joints: Value = mobile
        .map(|body| {
            let name = body["name"].as_str().unwrap_or("");
            json!({ "name": format!("free_{name}"), "type": "free", "child": name })
        })
        .collect();
    config.as_object_mut()?.insert("joints".to_owned(), joints);
    same(config)
}

fn quarter_turn(scene: &Value) -> Option<Told> {
    turned(scene, std::f64::consts::FRAC_PI_2 * Vector3::z())
}

fn rotation(scene: &Value) -> Option<Told> {
    turned(scene, Vector3::new(0.7, -1.1, 0.4))
}

fn turned(scene: &Value, by: Vector3<f64>) -> Option<Told> {
    if is_robot(scene) {
        return None;
    }
    let turn = UnitQuaternion::new(by);
    let polar = |value: &Value| json!((turn * vector(value)).as_slice());
    let attitude = |value: Option<&Value>| {
        let now = value.map_or_else(UnitQuaternion::identity, quaternion);
        numbers(&(turn * now))
    };
    let mut config = scene.clone();
    change(config.as_object_mut()?, "gravity", polar);
    for plane in list(&mut config, "planes") {
        change(plane, "normal", polar);
    }
    for body in list(&mut config, "bodies") {
        for key in [POLAR[0], POLAR[1], "angular_velocity"] {
            change(body, key, polar);
        }
        let turned = attitude(body.get("quaternion"));
        body.insert("quaternion".to_owned(), turned);
    }
    for joint in list(&mut config, "joints").filter(|joint| joint.get("parent").is_none()) {
        let frame = joint.entry("parent_frame").or_insert_with(|| json!({}));
        let frame = frame.as_object_mut()?;
        change(frame, "position", polar);
        let turned = attitude(frame.get("quaternion"));
        frame.insert("quaternion".to_owned(), turned);
    }
    each(config, move |body| Body {
        vectors: body.vectors.map(|v| turn.inverse() * v),
        attitude: turn.inverse() * body.attitude,
    })
}

/// Reflection in the plane through the origin across x; of shapes that it leaves alone.
fn mirror(scene: &Value) -> Option<Told> {
    if is_robot(scene) {
        return None;
    }
    let polar = |value: &Value| -> Value { mirrored(value, [-1.0, 1.0, 1.0]) };
    let axial = |value: &Value| mirrored(value, [1.0, -1.0, -1.0]);
    let attitude = |value: &Value| mirrored(value, [1.0, 1.0, -1.0, -1.0]);
    let mut config = scene.clone();
    change(config.as_object_mut()?, "gravity", polar);
    for plane in list(&mut config, "planes") {
        change(plane, "normal", polar);
    }
    for body in list(&mut config, "bodies") {
        POLAR.iter().for_each(|key| change(body, key, polar));
        change(body, "angular_velocity", axial);
        change(body, "quaternion", attitude);
    }
    for joint in list(&mut config, "joints") {
        let is_turn = joint.get("type").and_then(Value::as_str) == Some("revolute");
        change(joint, "axis", |axis| {
            if is_turn { axial(axis) } else { polar(axis) }
        });
        for key in ["parent_frame", "child_frame"] {
            if let Some(frame) = joint.get_mut(key).and_then(Value::as_object_mut) {
                change(frame, "position", polar);
                change(frame, "quaternion", attitude);
            }
        }
    }
    each(config, |body| {
        let [x, v, w] = body.vectors;
        let polar = |v: Vector3<f64>| Vector3::new(-v.x, v.y, v.z);
        let q = body.attitude.quaternion();
        Body {
            vectors: [polar(x), polar(v), -polar(w)],
            attitude: UnitQuaternion::from_quaternion(Quaternion::new(q.w, q.i, -q.j, -q.k)),
        }
    })
}

fn mirrored<const N: usize>(value: &Value, signs: [f64; N]) -> Value {
    let entries = signs.iter().enumerate();
    entries
        .map(|(k, sign)| json!(sign * value[k].as_f64().unwrap_or(0.0)))
        .collect()
}

fn boost(scene: &Value) -> Option<Told> {
    let fixed = |body: &Value| body.get("fixed").is_some();
    if has(scene, "planes")
        || is_robot(scene)
        || has(scene, "joints")
        || scene["bodies"].as_array()?.iter().any(fixed)
    {
        return None;
    }
    let boost = Vector3::new(0.7, -0.4, 0.2);
    let way = boost * scene["duration"].as_f64()?;
    let mut config = scene.clone();
    for body in list(&mut config, "bodies") {
        let velocity = body.get("velocity").map_or_else(Vector3::zeros, vector);
        body.insert("velocity".to_owned(), json!((velocity + boost).as_slice()));
    }
    each(config, move |body| {
        let [x, v, w] = body.vectors;
        Body {
            vectors: [x - way, v - boost, w],
            ..body
        }
    })
}

fn small_units(scene: &Value) -> Option<Told> {
    if is_robot(scene) || has(scene, "joints") {
        return None;
    }
    const LENGTH: f64 = 1e3;
    const MASS: f64 = 1e3;
    let longer = |value: &Value| times(value, LENGTH);
    let mut config = scene.clone();
    change(config.as_object_mut()?, "gravity", longer);
    for plane in list(&mut config, "planes") {
        change(plane, "offset", longer);
    }
    for body in list(&mut config, "bodies") {
        POLAR.iter().for_each(|key| change(body, key, longer));
        change(body, "mass", |mass| times(mass, MASS));
        if let Some(shape) = body.get_mut("shape").and_then(Value::as_object_mut) {
            let numbers: Vec<String> = shape.keys().filter(|key| *key != "type").cloned().collect();
            numbers.iter().for_each(|key| change(shape, key, longer));
        }
    }
    each(config, |body| {
        let [x, v, w] = body.vectors;
        Body {
            vectors: [x / LENGTH, v / LENGTH, w],
            ..body
        }
    })
}

/// The floor as a wide box.
fn slab(scene: &Value) -> Option<Told> {
    let up = json!([0.0, 0.0, 1.0]);
    let is_floor = |plane: &Value| plane["normal"] == up;
    let planes = scene.get("planes")?.as_array()?;
    let touches_planes_only = |body: &Value| body["shape"]["type"] == "cylinder";
    if has(scene, "joints") || scene["bodies"].as_array()?.iter().any(touches_planes_only) {
        return None;
    }
    let floor = planes.iter().find(|plane| is_floor(plane))?;
    let name = floor["name"].as_str()?.to_owned();
    let top = -floor.get("offset").and_then(Value::as_f64).unwrap_or(0.0);
    let others: Value = planes
        .iter()
        .filter(|plane| !is_floor(plane))
        .cloned()
        .collect();
    let slab = json!({
        "name": name, "fixed": true, "position": [0.0, 0.0, top - 1.0],
        "shape": { "type": "box", "half_extents": [20.0, 20.0, 1.0] }
    });
    let mut config = scene.clone();
    config.as_object_mut()?.insert("planes".to_owned(), others);
    config.get_mut("bodies")?.as_array_mut()?.push(slab);
    Some(Told {
        config,
        back: Box::new(move |motion| motion.into_iter().filter(|(n, _)| *n != name).collect()),
    })
}

/// Time steps agree at rest; the order of their error is checked elsewhere.
fn steps(scene: &Value) -> Option<Told> {
    if is_robot(scene) || has(scene, "joints") {
        return None;
    }
    let mut config = scene.clone();
    config
        .as_object_mut()?
        .insert("scheme".to_owned(), json!("time-stepping"));
    same(config)
}
