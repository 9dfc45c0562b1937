//! Setup of worlds with joints from their keys.

use super::super::body::BodyConfig;
use super::super::config::Config;
use super::super::contact::with_hint;
use super::super::setup::Setup;
use super::super::urdf::Imported;
use super::config::{JointConfig, Things};
use crate::ScenarioError;
use carom_geometry::Shape;
use carom_variational::load::Loads;
use carom_world::jointed::{JointedSpec, JointedWorld, TouchSpec};
use carom_world::joints::variational::RigidBody;
use carom_world::joints::{JointError, JointSpec, MultibodySpec, Placed};
use carom_world::{MotionError, Scheme, Surface, WorldSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// World of jointed bodies with the settings of its run.
#[derive(Clone, Debug)]
pub(in super::super) struct Jointed {
    pub(in super::super) setup: Arc<Setup>,
    pub(in super::super) world: Arc<JointedWorld>,
    /// Names of the coordinates.
    pub(in super::super) coordinates: Vec<String>,
    /// Shape of each body, for the animation.
    pub(in super::super) shapes: Vec<Option<Shape>>,
    pub(in super::super) imported: Option<Arc<Imported>>,
}

impl Jointed {
    /// Returns the names of those pairs of an imported robot's bodies that overlap at the start and therefore never touch.
    pub(in super::super) fn overlapping(&self) -> Vec<[&str; 2]> {
        let pairs = self.world.overlapping().iter();
        pairs
            .map(|pair| pair.map(|thing| self.world.thing_name(thing)))
            .collect()
    }

    pub(in super::super) fn new(
        config: &Config,
        given: &dyn Fn(&str) -> bool,
    ) -> Result<Self, ScenarioError> {
        if let Some(key) = config.runs() {
            let message = "surfaces that run and bodies that are told their motion are not done in worlds with joints yet";
            return Err(ScenarioError::value(&key, message));
        }
        let bodies = config.bodies.as_deref().unwrap_or_default();
        let fills = config.filled()?;
        if bodies.is_empty() && fills.is_empty() {
            return Err(ScenarioError::value("bodies", "at least one is needed"));
        }
        let joints = config.joints.as_deref().unwrap_or_default();
        let mut parts = Vec::new();
        let mut placed = Vec::new();
        let mut shapes = Vec::new();
        for (i, body) in bodies.iter().enumerate() {
            let key = format!("bodies[{i}]");
            let (mass, place) = body.part(&key, joints.is_empty())?;
            parts.push((body.name.clone(), mass.as_ref().map(RigidBody::new)));
            placed.push(place);
            shapes.push(body.own_shape(&key)?);
        }
        for body in fills {
            parts.push((body.name, body.mass.as_ref().map(RigidBody::new)));
            placed.push(
                Placed::default()
                    .with_configuration(Some(body.configuration))
                    .with_velocity(body.velocity),
            );
            shapes.push(Some(body.shape));
        }
        let names: Vec<String> = parts.iter().map(|(name, _)| name.clone()).collect();
        let setup = config.setup_of(Vec::new(), &names, given)?;
        let planes: Vec<String> = setup
            .spec
            .planes
            .iter()
            .map(|plane| plane.name.clone())
            .collect();
        let mobile: Vec<(String, bool)> = parts
            .iter()
            .map(|(name, rigid)| (name.clone(), rigid.is_some()))
            .collect();
        let things = Things {
            bodies: &mobile,
            planes: &planes,
            parameters: &config.parameters,
        };
        let (specs, coordinates) = built(joints, &things)?;
        let pairs = touching_pairs(config, &shapes, planes.len(), &specs, &mobile, &setup);
        let mut touch = TouchSpec::new(shapes.clone(), setup.spec.planes.clone(), pairs);
        touch.may_overlap = may_overlap(config, &setup);
        let (flight, time_step) = (setup.spec.flight, setup.spec.time_step);
        let is_exact = flight == carom_world::FlightRule::Exact;
        let moving = mobile.iter().map(|(name, moves)| (name.as_str(), *moves));
        let moving: Vec<_> = moving.collect();
        let (loads, springs) = (config.loads(&moving)?, config.springs(&moving)?);
        let loads = if loads.iter().all(Loads::is_empty) {
            Vec::new()
        } else {
            loads
        };
        let multibody = MultibodySpec::new(parts, specs, setup.gravity, is_exact)
            .with_loads(loads)
            .with_springs(springs);
        let spec = JointedSpec::new(multibody, placed, flight, time_step, touch);
        let world = JointedWorld::new(&spec).map_err(|error| named(&error, joints, bodies))?;
        let scheme = setup.chosen(config, world.suitable_scheme())?;
        let world = if scheme == Scheme::TimeStepping || setup.hands_over(config) {
            world.with_steps(scheme, setup.stepping)
        } else {
            world
        };
        Ok(Self {
            setup: Arc::new(setup),
            world: Arc::new(world),
            coordinates,
            shapes,
            imported: None,
        })
    }
}

/// Returns the specifications of all joints, and the names of all coordinates.
fn built(
    joints: &[JointConfig],
    things: &Things<'_>,
) -> Result<(Vec<JointSpec>, Vec<String>), ScenarioError> {
    let mut specs: Vec<JointSpec> = Vec::new();
    let mut coordinates = Vec::new();
    for (i, joint) in joints.iter().enumerate() {
        let key = format!("joints[{i}]");
        let named = format!("{key}.name");
        if joint.name.is_empty() {
            return Err(ScenarioError::value(&named, "a name is needed"));
        }
        if specs.iter().any(|earlier| earlier.name == joint.name) {
            return Err(ScenarioError::value(
                &named,
                format!("`{}` is there twice", joint.name),
            ));
        }
        let built = joint.build(&key, things)?;
        specs.push(built.spec);
        for name in built.names {
            if coordinates.contains(&name) {
                let message = format!("two coordinates are called `{name}`");
                return Err(ScenarioError::value(&format!("{key}.names"), message));
            }
            coordinates.push(name);
        }
    }
    Ok((specs, coordinates))
}

/// Checks the joints of a world in which they hold nothing.
pub(in super::super) fn check_free(
    joints: &[JointConfig],
    parameters: &BTreeMap<String, f64>,
    spec: &WorldSpec,
) -> Result<(), ScenarioError> {
    let bodies: Vec<(String, bool)> = { spec.bodies.iter() }
        .map(|body| (body.name.clone(), body.mass.is_some()))
        .collect();
    let planes: Vec<String> = spec.planes.iter().map(|plane| plane.name.clone()).collect();
    let things = Things {
        bodies: &bodies,
        planes: &planes,
        parameters,
    };
    built(joints, &things).map(|_| ())
}

/// Converts a motion error to a scenario error with the configuration key of the joint or body that caused it.
fn named(error: &MotionError, joints: &[JointConfig], bodies: &[BodyConfig]) -> ScenarioError {
    let message = with_hint(error);
    let of_joint = |name: &str| joints.iter().position(|joint| joint.name == name);
    let of_body = |name: &str| bodies.iter().position(|body| body.name == name);
    let key = match error {
        MotionError::Joint(JointError::NotPlaced { body }) => {
            of_body(body).map(|i| format!("bodies[{i}].position"))
        }
        MotionError::Joint(JointError::StepTooLarge { .. }) => Some("time_step".to_owned()),
        MotionError::Joint(
            JointError::InvalidValue { joint, what, .. }
            | JointError::InvalidKey { joint, what, .. },
        ) => of_joint(joint).map(|i| format!("joints[{i}].{what}")),
        MotionError::Joint(
            JointError::NotAssembled { joint, .. }
            | JointError::SingularJoints { joint, .. }
            | JointError::InconsistentJoints { joint, .. },
        ) => of_joint(joint).map(|i| format!("joints[{i}]")),
        MotionError::InitialPenetration { .. } | MotionError::CoarseCoordinates { .. } => {
            Some("bodies.position".to_owned())
        }
        MotionError::Shape { body, .. } => of_body(body).map(|i| format!("bodies[{i}].shape")),
        _ => None,
    };
    ScenarioError::value(&key.unwrap_or_else(|| "joints".to_owned()), message)
}

/// Returns the pairs of bodies that may overlap at the start, as body indices: all pairs of an imported robot, except those
/// that the user gives. Bodies of a robot model often overlap at their joints.
fn may_overlap(config: &Config, setup: &Setup) -> BTreeSet<[usize; 2]> {
    let n = config.imported.as_ref().map_or(0, |robot| robot.n_bodies);
    let given = |[i, j]: &[usize; 2]| {
        let mut pairs = setup.spec.pairs.iter();
        pairs.any(|(pair, _)| pair.contains(i) && pair.contains(j))
    };
    let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
    all.filter(|pair| !given(pair)).collect()
}

/// Returns the pairs that may touch, with the friction and restitution between them. Bodies that `joints` connect are
/// included only if the configuration allows contact between them. An index counts the bodies first, then the planes,
/// of which there are `n_planes`. `shapes`: shape of each body; `mobile`: name of each body, and true if it moves.
fn touching_pairs(
    config: &Config,
    shapes: &[Option<Shape>],
    n_planes: usize,
    joints: &[JointSpec],
    mobile: &[(String, bool)],
    setup: &Setup,
) -> Vec<([usize; 2], Surface)> {
    let n = shapes.len();
    let moves = |thing: usize| mobile.get(thing).is_some_and(|(_, moves)| *moves);
    let has_shape = |thing: usize| shapes.get(thing).is_none_or(Option::is_some);
    // Articulations: groups of bodies that are connected by joints, but not through the ground.
    let mut group: Vec<usize> = (0..n).collect();
    for joint in joints
        .iter()
        .filter(|joint| !joint.kind.conditions.is_empty())
    {
        if let Some(parent) = joint.parent.filter(|parent| moves(*parent)) {
            let (from, to) = (group[parent], group[joint.child]);
            group
                .iter_mut()
                .filter(|g| **g == from)
                .for_each(|g| *g = to);
        }
    }
    let adjacent: BTreeSet<(usize, usize)> = joints
        .iter()
        .filter_map(|joint| {
            let parent = joint.parent?;
            Some((parent.min(joint.child), parent.max(joint.child)))
        })
        .collect();
    let (beside, within) = config.self_contact();
    let given: BTreeMap<(usize, usize), Surface> = setup
        .spec
        .pairs
        .iter()
        .map(|([i, j], surface)| ((*i.min(j), *i.max(j)), *surface))
        .collect();
    let mut pairs = Vec::new();
    for i in 0..n {
        for j in i + 1..n + n_planes {
            if !(moves(i) || moves(j)) || !has_shape(i) || !has_shape(j) {
                continue;
            }
            let surface = given.get(&(i, j));
            let collide = match surface {
                Some(surface) => surface.collide,
                None if adjacent.contains(&(i, j)) => beside,
                None if j < n && moves(i) && moves(j) && group[i] == group[j] => within,
                None => true,
            };
            if collide {
                pairs.push(([i, j], *surface.unwrap_or(&setup.spec.surface)));
            }
        }
    }
    pairs
}
