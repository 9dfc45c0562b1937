//! Conversion of a robot to bodies, joints and pairs of a world.

use super::inertia::mend;
use super::meshes::{Hulls, hulls};
use super::model::{Geometry, Joint, Model};
use super::notes::check_words;
use super::start::{clip, limits};
use super::tree::{Group, Tree};
use super::{Base, Imported, UrdfConfig, paths};
use crate::ScenarioError;
use crate::lie_group::bouncing::ShapeConfig;
use crate::motion::world::body::BodyConfig;
use crate::motion::world::joints::{Bounds, FrameConfig, JointConfig, LimitsConfig, Numbers};
use carom_lie::{Se3, So3};
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeMap;
use std::path::Path;

/// Body of the world made from a group of links.
struct Body {
    name: String,
    /// Frame in which the joints of the body are given: its placement in the group's frame, or, for the ground, the placement of
    /// the group in the world.
    frame: Se3,
}

/// Converts the model of a robot to bodies, joints, and pairs of bodies that may collide, as the scenario `world` needs them.
/// `tree`: links of the robot in groups that move as one body.
pub(super) fn build(
    config: &UrdfConfig,
    mut model: Model,
    tree: &Tree,
) -> Result<Imported, ScenarioError> {
    check_words(&config.allow).map_err(|m| ScenarioError::value("urdf.allow", m))?;
    check_names(config, &model)?;
    let mut positions = config.joints.clone();
    let clipped = clip(config, &mut model, &mut positions)?;
    let notes = std::mem::take(&mut model.notes);
    let mut builder = Builder {
        config,
        model: &model,
        tree,
        place: place(config)?,
        positions,
        bodies: Vec::new(),
        faults: Vec::new(),
        imported: Imported {
            root: tree.groups.first().map_or_else(Default::default, |group| {
                (model.links[group.root].name.clone(), group.mass > 0.0)
            }),
            notes,
            clipped,
            ..Imported::default()
        },
    };
    builder.check_masses()?;
    for group in &tree.groups {
        builder.body(group)?;
    }
    builder.check_inertias()?;
    let settled = builder.imported.notes.settle(&config.allow, "[urdf] allow");
    settled.map_err(|message| builder.fault(message))?;
    for group in &tree.groups {
        if let Some(joint) = group.joint {
            builder.joint(&model.joints[joint], group)?;
        }
    }
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
fn check_names(config: &UrdfConfig, model: &Model) -> Result<(), ScenarioError> {
    let positions = config.joints.keys().map(|name| ("joints", name));
    let velocities = config.velocities.keys().map(|name| ("velocities", name));
    let actuators = config.actuators.keys().map(|name| ("actuators", name));
    for (key, name) in positions.chain(velocities).chain(actuators) {
        let moves = |joint: &Joint| joint.name == *name && joint.kind != "fixed";
        let message = match model.joints.iter().find(|joint| moves(joint)) {
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
    model: &'a Model,
    tree: &'a Tree,
    place: Se3,
    /// Starts of the joints that do not start at 0 (rad or m).
    positions: BTreeMap<String, f64>,
    bodies: Vec<Body>,
    /// Faults of inertias.
    faults: Vec<String>,
    imported: Imported,
}

impl Builder<'_> {
    fn fault(&self, message: String) -> ScenarioError {
        let file = self.config.file.display();
        ScenarioError::value("urdf.file", format!("{file}: {message}"))
    }

    /// Returns an error that names all links that move and have no mass.
    fn check_masses(&self) -> Result<(), ScenarioError> {
        let mut names = Vec::new();
        for group in &self.tree.groups {
            let is_ground = group.joint.is_none() && self.is_fixed(group)?;
            if group.mass <= 0.0 && !is_ground {
                names.push(format!("`{}`", self.model.links[group.root].name));
            }
        }
        match names.as_slice() {
            [] => Ok(()),
            [name] => Err(self.fault(format!("the link {name} moves and has no mass"))),
            all => Err(self.fault(format!(
                "links that move and have no mass: {}",
                all.join(", ")
            ))),
        }
    }

    /// Returns an error that names all bodies whose inertias are at fault.
    fn check_inertias(&self) -> Result<(), ScenarioError> {
        if self.faults.is_empty() {
            return Ok(());
        }
        let file = self.config.file.display();
        let message = format!(
            "{file}: {}; inertia = \"given\", \"balance\" or \"shape\" mends what it can",
            self.faults.join("; ")
        );
        Err(ScenarioError::value("urdf.inertia", message))
    }

    /// Adds the body of a group: links of the robot that are connected by fixed joints and move as one body.
    fn body(&mut self, group: &Group) -> Result<(), ScenarioError> {
        let name = &self.model.links[group.root].name;
        if name == "ground" {
            return Err(
                self.fault("a link is called `ground`, which is the name of space".to_owned())
            );
        }
        for (link, _) in group.members.iter().skip(1) {
            let merged = [self.model.links[*link].name.clone(), name.clone()];
            self.imported.merged.push(merged);
        }
        let is_root = group.joint.is_none();
        if is_root && self.is_fixed(group)? {
            self.ground(group);
            return Ok(());
        }
        let shape = self.shape(group, &group.center);
        let notes = &mut self.imported.notes;
        let mended = match mend(group, name, shape.as_ref(), self.config.inertia, notes) {
            Ok(mended) => mended,
            Err(fault) => {
                self.faults.push(fault);
                return Ok(());
            }
        };
        let mut body = BodyConfig {
            name: name.clone(),
            mass: Some(group.mass),
            inertia: Some(rows(&mended.inertia)),
            is_unphysical: mended.is_unphysical,
            shape,
            ..BodyConfig::default()
        };
        if is_root {
            let spin = Vector3::from(self.config.angular_velocity.unwrap_or_default());
            let arm = self.place.rotation.rotate(&group.center);
            let velocity = Vector3::from(self.config.velocity.unwrap_or_default());
            body.position = Some(self.place.act(&group.center).into());
            body.quaternion = Some(quaternion(&self.place.rotation));
            body.velocity = Some((velocity + spin.cross(&arm)).into());
            body.angular_velocity = Some(spin.into());
        }
        self.bodies.push(Body {
            name: name.clone(),
            frame: Se3::new(So3::identity(), -group.center),
        });
        self.imported.bodies.push(body);
        Ok(())
    }

    /// True if the root link of the robot is fixed in space: by the configuration, or because it has no mass of its own, as
    /// the link `world` of many files. `group`: the root link with the links fixed to it, whose mass a floating root needs.
    fn is_fixed(&self, group: &Group) -> Result<bool, ScenarioError> {
        if self.config.base == Some(Base::Floating) && group.mass <= 0.0 {
            let name = &self.model.links[group.root].name;
            let message = format!("the root link `{name}` has no mass, so that it is the ground");
            return Err(ScenarioError::value("urdf.base", message));
        }
        let own = self.model.links[group.root].inertial.as_ref();
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
    fn ground(&mut self, group: &Group) {
        let shape = self.shape(group, &Vector3::zeros());
        if shape.is_none() {
            self.bodies.push(Body {
                name: "ground".to_owned(),
                frame: self.place,
            });
            return;
        }
        let name = &self.model.links[group.root].name;
        self.imported.bodies.push(BodyConfig {
            name: name.clone(),
            fixed: true,
            shape,
            // With an inertia the shape keeps its frame.
            inertia: Some(rows(&Matrix3::identity())),
            position: Some(self.place.translation.into()),
            quaternion: Some(quaternion(&self.place.rotation)),
            ..BodyConfig::default()
        });
        self.bodies.push(Body {
            name: name.clone(),
            frame: Se3::identity(),
        });
    }

    /// Returns the shape of a group of links that move as one body. `about`: point
    /// in the axes of the group that becomes the origin. The shape is `None` for a group without collision geometry.
    fn shape(&mut self, group: &Group, about: &Vector3<f64>) -> Option<ShapeConfig> {
        let mut parts = Vec::new();
        let model = self.model;
        for (link, pose) in &group.members {
            let link = &model.links[*link];
            let (before, mut lost) = (parts.len(), Vec::new());
            for (origin, geometry) in &link.collisions {
                let at = pose.compose(origin);
                let at = Se3::new(at.rotation, at.translation - about);
                match self.parts(&link.name, &at, geometry) {
                    Ok(more) => parts.extend(more),
                    Err(why) => lost.push(why),
                }
            }
            let keeps_shape = parts.len() > before;
            for why in lost {
                let notes = &mut self.imported.notes;
                if keeps_shape {
                    notes.tell("mesh", &link.name, &why);
                } else {
                    notes.warn("mesh", &link.name, &why);
                }
            }
        }
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(ShapeConfig::Union { parts }),
        }
    }

    /// Returns the shapes of a collision element, or the reason for which a mesh has none. `link`: name of the link; `at`: pose of
    /// the element in the body.
    fn parts(
        &mut self,
        link: &str,
        at: &Se3,
        geometry: &Geometry,
    ) -> Result<Vec<ShapeConfig>, String> {
        let center = at.translation.into();
        let turn = Some(quaternion(&at.rotation));
        Ok(vec![match geometry {
            Geometry::Box(size) => ShapeConfig::Box {
                half_extents: size.map(|x| 0.5 * x),
                center,
                quaternion: turn,
            },
            Geometry::Sphere(radius) => ShapeConfig::Sphere {
                radius: *radius,
                center,
            },
            Geometry::Cylinder(radius, length) => ShapeConfig::Cylinder {
                radius: *radius,
                half_length: 0.5 * length,
                center,
                quaternion: turn,
            },
            Geometry::Capsule(radius, length) => ShapeConfig::Capsule {
                radius: *radius,
                half_length: 0.5 * length,
                center,
                quaternion: turn,
            },
            Geometry::Mesh(address, scale) => {
                let folder = self.config.file.parent().unwrap_or(Path::new(""));
                let path = paths::find(address, folder, &self.config.mesh_dir.0)?;
                let Hulls { parts, replaces } = hulls(&path, at, scale)?;
                if let Some(why) = replaces {
                    let notes = &mut self.imported.notes;
                    notes.warn("hull", link, &format!("{address} {why}"));
                }
                let part = |vertices| ShapeConfig::Polyhedron { vertices };
                return Ok(parts.into_iter().map(part).collect());
            }
        }])
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
        let links = &self.model.links;
        let parent_link = links.iter().position(|link| link.name == joint.parent);
        let Some((place, pose)) = parent_link.map(|link| self.tree.places[link]) else {
            return Ok(());
        };
        // A planar joint has no axis: its frames are rotated so that their z axis is the normal of the plane.
        let turn = match kind {
            "planar" => onto(&joint.axis),
            _ => So3::identity(),
        };
        let in_group = pose.compose(&joint.origin);
        let parent = &self.bodies[place];
        let at = parent.frame.compose(&in_group);
        let frame = |at: &Vector3<f64>, turn: &So3| FrameConfig {
            position: (*at).into(),
            quaternion: Some(quaternion(turn)),
            rotation: None,
        };
        let moves = |value: f64| (value != 0.0).then_some(Numbers::One(value));
        let mut made = JointConfig {
            name: joint.name.clone(),
            kind: kind.to_owned(),
            parent: Some(parent.name.clone()),
            child: links[group.root].name.clone(),
            parent_frame: frame(&at.translation, &at.rotation.compose(&turn)),
            child_frame: frame(&-group.center, &turn),
            damping: moves(joint.damping),
            friction: moves(joint.friction),
            ..JointConfig::default()
        };
        if kind != "planar" {
            made.axis = Some(joint.axis.into());
            let start = |of: &BTreeMap<String, f64>| of.get(&joint.name).copied().map(Numbers::One);
            made.position = start(&self.positions);
            made.velocity = start(&self.config.velocities);
        }
        match (limits(joint), joint.limits) {
            (Some([lower, upper]), _) => {
                made.limits = Some(LimitsConfig {
                    lower: Some(Bounds(Numbers::One(lower))),
                    upper: Some(Bounds(Numbers::One(upper))),
                    restitution: None,
                });
            }
            (None, Some([lower, upper])) => {
                let why = format!("{lower} to {upper} leaves no room");
                self.imported.notes.tell("limit", &joint.name, &why);
            }
            (None, None) => (),
        }
        if let Some(actuator) = self.config.actuators.get(&joint.name) {
            let effort = joint.effort.filter(|x| *x > 0.0);
            made.actuator = Some(actuator.clone().with_limit(effort));
        }
        self.imported.joints.push(made);
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

fn quaternion(rotation: &So3) -> [f64; 4] {
    let (w, v) = rotation.quaternion();
    [w, v.x, v.y, v.z]
}

/// Returns the rows of a matrix.
fn rows(m: &Matrix3<f64>) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| m[(i, j)]))
}
