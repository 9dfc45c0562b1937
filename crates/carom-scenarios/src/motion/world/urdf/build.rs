//! Conversion of a robot to bodies, joints and pairs of a world.

use super::read::{Geometry, Joint, Robot};
use super::tree::{Group, Tree};
use super::{Base, Imported, Note, UrdfConfig};
use crate::ScenarioError;
use crate::common::{list, rows};
use crate::lie_group::bouncing::read_triangles;
use carom_geometry::Polyhedron;
use carom_lie::{Se3, So3};
use nalgebra::{Matrix3, Vector3};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Body of the world made from a group of links.
struct Body {
    name: String,
    /// Frame in which the joints of the body are given: its placement in the group's frame, or, for the ground, the placement of
    /// the group in the world.
    frame: Se3,
    /// True if its shape contains a cylinder; `None` without a shape.
    round: Option<bool>,
    is_fixed: bool,
}

/// Converts a robot read from a URDF file to bodies, joints, and pairs of bodies that may collide, as the scenario `world`
/// needs them. `tree`: links of the robot in groups that move as one body. `within`: true if bodies of one robot can touch
/// each other.
pub(super) fn build(
    config: &UrdfConfig,
    mut robot: Robot,
    tree: &Tree,
    within: bool,
) -> Result<Imported, ScenarioError> {
    check_names(config, &robot)?;
    let ignored = std::mem::take(&mut robot.ignored);
    let mut builder = Builder {
        config,
        robot: &robot,
        tree,
        place: place(config)?,
        bodies: Vec::new(),
        imported: Imported {
            ignored,
            ..Imported::default()
        },
    };
    for group in &tree.groups {
        builder.body(group)?;
    }
    for group in &tree.groups {
        if let Some(joint) = group.joint {
            builder.joint(&robot.joints[joint], group)?;
        }
    }
    builder.cylinders(within)?;
    Ok(builder.imported)
}

/// Returns the pose of the root link's frame in the world, from the configured position (m) and unit quaternion.
fn place(config: &UrdfConfig) -> Result<Se3, ScenarioError> {
    crate::motion::finite("urdf.position", &config.position)?;
    let rotation = match config.quaternion {
        Some(quaternion) => crate::motion::unit_quaternion("urdf.quaternion", quaternion)?,
        None => So3::identity(),
    };
    Ok(Se3::new(rotation, Vector3::from(config.position)))
}

/// Checks that every joint name in the configuration is the name of a movable joint of the robot.
fn check_names(config: &UrdfConfig, robot: &Robot) -> Result<(), ScenarioError> {
    let positions = config.joints.keys().map(|name| ("joints", name));
    let velocities = config.velocities.keys().map(|name| ("velocities", name));
    let actuators = config.actuators.keys().map(|name| ("actuators", name));
    for (key, name) in positions.chain(velocities).chain(actuators) {
        let moves = |joint: &Joint| joint.name == *name && joint.kind != "fixed";
        let message = match robot.joints.iter().find(|joint| moves(joint)) {
            None => format!("no joint that moves is called `{name}`"),
            Some(joint) if joint.kind == "planar" && key != "actuators" => {
                format!("the joint `{name}` is planar: one number does not place it")
            }
            Some(_) => continue,
        };
        return Err(ScenarioError::value(&format!("urdf.{key}.{name}"), message));
    }
    Ok(())
}

struct Builder<'a> {
    config: &'a UrdfConfig,
    robot: &'a Robot,
    tree: &'a Tree,
    place: Se3,
    bodies: Vec<Body>,
    imported: Imported,
}

impl Builder<'_> {
    fn fault(&self, message: String) -> ScenarioError {
        let file = self.config.file.display();
        ScenarioError::value("urdf.file", format!("{file}: {message}"))
    }

    fn made<T: DeserializeOwned>(&self, keys: Value) -> Result<T, ScenarioError> {
        serde_json::from_value(keys).map_err(|error| self.fault(error.to_string()))
    }

    /// Adds the body of a group: links of the robot that are connected by fixed joints and move as one body.
    fn body(&mut self, group: &Group) -> Result<(), ScenarioError> {
        let name = &self.robot.links[group.root].name;
        if name == "ground" {
            return Err(
                self.fault("a link is called `ground`, which is the name of space".to_owned())
            );
        }
        for (link, _) in group.members.iter().skip(1) {
            let merged = [self.robot.links[*link].name.clone(), name.clone()];
            self.imported.merged.push(merged);
        }
        let is_root = group.joint.is_none();
        if is_root && self.is_fixed(group)? {
            return self.ground(group);
        }
        if group.mass <= 0.0 {
            return Err(self.fault(format!("the link `{name}` moves and has no mass")));
        }
        let (shape, has_cylinder) = self.shape(group, &group.center)?;
        let round = shape.is_some().then_some(has_cylinder);
        let mut keys = Map::new();
        keys.insert("name".to_owned(), json!(name));
        keys.insert("mass".to_owned(), json!(group.mass));
        keys.insert("inertia".to_owned(), rows(&group.inertia));
        if let Some(shape) = shape {
            keys.insert("shape".to_owned(), shape);
        }
        if is_root {
            let spin = Vector3::from(self.config.angular_velocity.unwrap_or_default());
            let arm = self.place.rotation.rotate(&group.center);
            let velocity = Vector3::from(self.config.velocity.unwrap_or_default());
            keys.insert("position".to_owned(), list(&self.place.act(&group.center)));
            keys.insert("quaternion".to_owned(), quaternion(&self.place.rotation));
            keys.insert("velocity".to_owned(), list(&(velocity + spin.cross(&arm))));
            keys.insert("angular_velocity".to_owned(), list(&spin));
        }
        self.bodies.push(Body {
            name: name.clone(),
            frame: Se3::new(So3::identity(), -group.center),
            round,
            is_fixed: false,
        });
        let body = self.made(Value::Object(keys))?;
        self.imported.bodies.push(body);
        Ok(())
    }

    /// True if the root link of the robot is fixed in space: by the configuration, or because it has no mass of its own, as
    /// the link `world` of many files. `group`: the root link with the links fixed to it, whose mass a floating root needs.
    fn is_fixed(&self, group: &Group) -> Result<bool, ScenarioError> {
        if self.config.base == Some(Base::Floating) && group.mass <= 0.0 {
            let name = &self.robot.links[group.root].name;
            let message = format!("the root link `{name}` has no mass, so that it is the ground");
            return Err(ScenarioError::value("urdf.base", message));
        }
        let own = self.robot.links[group.root].inertial.as_ref();
        let is_fixed = match self.config.base {
            Some(base) => base == Base::Fixed,
            None => own.is_none_or(|inertial| inertial.mass <= 0.0),
        };
        let moves = |v: Option<[f64; 3]>| v.is_some_and(|v| v != [0.0; 3]);
        for (key, value) in [
            ("urdf.velocity", self.config.velocity),
            ("urdf.angular_velocity", self.config.angular_velocity),
        ] {
            if is_fixed && moves(value) {
                return Err(ScenarioError::value(key, "the root link is fixed"));
            }
        }
        Ok(is_fixed)
    }

    /// Adds the fixed root link, with the links fixed to it, as a fixed body. If the root link has no shape, it becomes
    /// the ground instead.
    fn ground(&mut self, group: &Group) -> Result<(), ScenarioError> {
        let (shape, has_cylinder) = self.shape(group, &Vector3::zeros())?;
        let Some(shape) = shape else {
            self.bodies.push(Body {
                name: "ground".to_owned(),
                frame: self.place,
                round: None,
                is_fixed: true,
            });
            return Ok(());
        };
        let name = &self.robot.links[group.root].name;
        let body = self.made(json!({
            "name": name,
            "fixed": true,
            "shape": shape,
            // With an inertia the shape keeps its frame.
            "inertia": rows(&Matrix3::identity()),
            "position": list(&self.place.translation),
            "quaternion": quaternion(&self.place.rotation),
        }))?;
        self.imported.bodies.push(body);
        self.bodies.push(Body {
            name: name.clone(),
            frame: Se3::identity(),
            round: Some(has_cylinder),
            is_fixed: true,
        });
        Ok(())
    }

    /// Returns the shape of a group of links that move as one body, and true if the shape contains a cylinder. `about`: point
    /// in the axes of the group that becomes the origin. The shape is `None` for a group without collision geometry.
    fn shape(
        &mut self,
        group: &Group,
        about: &Vector3<f64>,
    ) -> Result<(Option<Value>, bool), ScenarioError> {
        let mut parts = Vec::new();
        let mut has_cylinder = false;
        let robot = self.robot;
        for (link, pose) in &group.members {
            let link = &robot.links[*link];
            for (origin, geometry) in &link.collisions {
                let at = pose.compose(origin);
                let at = Se3::new(at.rotation, at.translation - about);
                has_cylinder |= matches!(geometry, Geometry::Cylinder(..));
                parts.extend(self.part(&link.name, &at, geometry)?);
            }
        }
        let shape = match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(json!({"type": "union", "parts": parts})),
        };
        Ok((shape, has_cylinder))
    }

    fn part(
        &mut self,
        link: &str,
        at: &Se3,
        geometry: &Geometry,
    ) -> Result<Option<Value>, ScenarioError> {
        let (center, turn) = (list(&at.translation), quaternion(&at.rotation));
        let round = |kind: &str, radius: f64, length: f64| json!({"type": kind, "radius": radius, "half_length": 0.5 * length, "center": center, "quaternion": turn});
        Ok(Some(match geometry {
            Geometry::Box(size) => {
                let half = size.map(|x| 0.5 * x);
                json!({"type": "box", "half_extents": half, "center": center, "quaternion": turn})
            }
            Geometry::Sphere(radius) => {
                json!({"type": "sphere", "radius": radius, "center": center})
            }
            Geometry::Cylinder(radius, length) => round("cylinder", *radius, *length),
            Geometry::Capsule(radius, length) => round("capsule", *radius, *length),
            Geometry::Mesh(address, scale) => return Ok(self.mesh(link, at, address, scale)),
        }))
    }

    /// Returns the configuration of a polyhedron: the convex hull of the vertices of a mesh file, which may be open. Returns
    /// `None` if the file has no such hull, and notes that for the record. `link`: name of the link; `at`: pose of the mesh;
    /// `address`: path in the URDF file; `scale`: scale factors along the axes.
    fn mesh(&mut self, link: &str, at: &Se3, address: &str, scale: &[f64; 3]) -> Option<Value> {
        match self.hull(link, at, address, scale) {
            Ok(hull) => {
                let vertices: Vec<Value> = hull.vertices().iter().map(list).collect();
                Some(json!({"type": "polyhedron", "vertices": vertices}))
            }
            Err(why) => {
                let note = Note::new("mesh", link, &why);
                self.imported.ignored.push(note.clone());
                self.imported.warnings.push(note);
                None
            }
        }
    }

    /// Returns the convex hull of the vertices of a mesh file, or the reason for which it has no hull. Arguments as for
    /// [`mesh`](Self::mesh).
    fn hull(
        &mut self,
        link: &str,
        at: &Se3,
        address: &str,
        scale: &[f64; 3],
    ) -> Result<Polyhedron, String> {
        let path = found(self.config, address).ok_or_else(|| {
            format!("{address} is not found; `urdf.mesh_dir` says where meshes are")
        })?;
        let mesh = read_triangles("urdf.file", &path).map_err(|error| error.to_string())?;
        let scaled: Vec<Vector3<f64>> = mesh
            .vertices
            .iter()
            .map(|v| at.act(&v.component_mul(&Vector3::from(*scale))))
            .collect();
        let hull =
            Polyhedron::new(&scaled).map_err(|error| format!("{}: {error}", path.display()))?;
        match mesh.close().and_then(Polyhedron::from_mesh) {
            Ok(own) if own.is_convex() => (),
            Ok(_) => {
                let why = format!("{address} is not convex: its hull takes its place");
                self.imported.ignored.push(Note::new("mesh", link, &why));
            }
            Err(_) => {
                let why = format!(
                    "{address} is not a closed mesh: the hull of its vertices takes its place"
                );
                self.imported.warnings.push(Note::new("mesh", link, &why));
            }
        }
        Ok(hull)
    }

    fn joint(&mut self, joint: &Joint, group: &Group) -> Result<(), ScenarioError> {
        let kind = match joint.kind.as_str() {
            "revolute" | "continuous" => "revolute",
            "prismatic" => "prismatic",
            "planar" => "planar",
            other => {
                let message = format!(
                    "joint `{}`: joints of type `{other}` are not supported",
                    joint.name
                );
                return Err(self.fault(message));
            }
        };
        let links = &self.robot.links;
        let parent_link = links.iter().position(|link| link.name == joint.parent);
        let Some((place, pose)) = parent_link.map(|link| self.tree.places[link]) else {
            return Ok(());
        };
        let child = links[group.root].name.clone();
        // A planar joint has no axis: its frames are rotated so that their z axis is the normal of the plane.
        let turn = match kind {
            "planar" => onto(&joint.axis),
            _ => So3::identity(),
        };
        let in_group = pose.compose(&joint.origin);
        let parent = &self.bodies[place];
        let at = parent.frame.compose(&in_group);
        let mut keys = Map::new();
        let mut set = |key: &str, value: Value| keys.insert(key.to_owned(), value);
        set("name", json!(joint.name));
        set("type", json!(kind));
        set("parent", json!(parent.name));
        set("child", json!(child));
        let frame = |at: &Vector3<f64>, turn: &So3| json!({"position": list(at), "quaternion": quaternion(turn)});
        set(
            "parent_frame",
            frame(&at.translation, &at.rotation.compose(&turn)),
        );
        set("child_frame", frame(&-group.center, &turn));
        if kind != "planar" {
            set("axis", list(&joint.axis));
            if let Some(position) = self.config.joints.get(&joint.name) {
                set("position", json!(position));
            }
            if let Some(velocity) = self.config.velocities.get(&joint.name) {
                set("velocity", json!(velocity));
            }
        }
        if joint.damping != 0.0 {
            set("damping", json!(joint.damping));
        }
        if joint.friction != 0.0 {
            set("friction", json!(joint.friction));
        }
        match joint.limits {
            Some([lower, upper]) if lower < upper => {
                set("limits", json!({"lower": lower, "upper": upper}));
            }
            Some([lower, upper]) => {
                let why = format!("{lower} to {upper} leaves no room");
                let note = Note::new("limit", &joint.name, &why);
                self.imported.ignored.push(note);
            }
            None => (),
        }
        if let Some(actuator) = self.config.actuators.get(&joint.name) {
            let mut actuator = actuator.clone();
            if let Some(effort) = joint.effort.filter(|x| *x > 0.0) {
                actuator.entry("limit").or_insert(json!(effort));
            }
            set("actuator", Value::Object(actuator));
        }
        let made = self.made(Value::Object(keys))?;
        self.imported.joints.push(made);
        Ok(())
    }

    /// Excludes contact between a body with cylinders and the other bodies of the robot, because cylinders can touch only
    /// planes. `within`: true if bodies that joints connect can touch each other; if not, there is nothing to exclude.
    fn cylinders(&mut self, within: bool) -> Result<(), ScenarioError> {
        let mut pairs = Vec::new();
        for (i, first) in self.bodies.iter().enumerate() {
            for second in &self.bodies[i + 1..] {
                if let (Some(a), Some(b)) = (first.round, second.round)
                    && (a || b)
                    && (within || first.is_fixed || second.is_fixed)
                {
                    pairs.push([first.name.clone(), second.name.clone()]);
                }
            }
        }
        for between in pairs {
            let name = format!("{} - {}", between[0], between[1]);
            let why = "bodies with cylinders touch planes only";
            self.imported.ignored.push(Note::new("contact", &name, why));
            let pair = self.made(json!({"between": between, "collide": false}))?;
            self.imported.pairs.push(pair);
        }
        Ok(())
    }
}

/// Returns a rotation that turns the z axis into the direction `axis`.
fn onto(axis: &Vector3<f64>) -> So3 {
    let unit = axis.try_normalize(0.0).unwrap_or_else(Vector3::z);
    let across = Vector3::z().cross(&unit);
    match across.try_normalize(0.0) {
        Some(about) => So3::exp(&(about * libm::atan2(across.norm(), unit.z))),
        None if unit.z < 0.0 => So3::exp(&(Vector3::x() * std::f64::consts::PI)),
        None => So3::identity(),
    }
}

/// Searches for the file of a mesh in the folder for meshes and in the folder of the robot's file. `address`: path in the URDF
/// file. `None` if the file does not exist.
fn found(config: &UrdfConfig, address: &str) -> Option<PathBuf> {
    let path = address
        .strip_prefix("package://")
        .or(address.strip_prefix("file://"))
        .unwrap_or(address);
    let beside = config.file.parent().unwrap_or(Path::new(""));
    let folders = [config.mesh_dir.as_deref(), Some(beside)];
    // In `package://name/meshes/a.stl`, `name` may be the folder itself.
    let tails = [Some(path), path.split_once('/').map(|(_, tail)| tail)];
    let all = folders.into_iter().flatten().flat_map(|folder| {
        tails
            .into_iter()
            .flatten()
            .map(move |tail| folder.join(tail))
    });
    all.into_iter().find(|path| path.is_file())
}

fn quaternion(rotation: &So3) -> Value {
    let (w, v) = rotation.quaternion();
    json!([w, v.x, v.y, v.z])
}
