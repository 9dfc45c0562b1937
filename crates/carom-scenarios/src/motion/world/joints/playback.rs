//! Animation of jointed bodies: their shapes, rods to joints outside the shapes, pins along the axes of joints, and the rods of
//! distance joints.

use super::setup::Jointed;
use crate::motion::playback::{Hit, between, playback};
use carom_geometry::{Ellipsoid, MassProperties, Rounded, Segment, Shape, SupportMap, Union};
use carom_lie::{Se3, So3};
use carom_report::Record;
use carom_variational::State;
use carom_world::BodySpec;
use carom_world::jointed::{JointEvent, JointedEnd, Reaction};
use carom_world::joints::{Joint, Multibody};
use nalgebra::{Matrix3, Rotation3, Unit, Vector3};

/// Largest number of frames.
const FRAMES: usize = 300;

/// Largest number of impacts shown.
const SHOWN: usize = 5_000;

/// Radius of a rod, as a fraction of the size of its body.
const ROD: f64 = 0.04;

/// Smallest radius of a rod outside the shape of its body, as a fraction of the rod's length.
const THINNEST: f64 = 0.012;

/// Half length and radius of a pin, as fractions of the size of its body.
const PIN: [f64; 2] = [0.25, 0.05];

/// Recorded frames and impacts of a run.
pub(in super::super) struct Film<'w> {
    jointed: &'w Jointed,
    stride: usize,
    n_samples: usize,
    frames: Vec<(f64, Vec<State>)>,
    hits: Vec<(f64, Vec<Reaction>)>,
}

impl<'w> Film<'w> {
    pub(in super::super) fn new(jointed: &'w Jointed) -> Self {
        Self {
            jointed,
            stride: jointed.setup.samples.len().div_ceil(FRAMES).max(1),
            n_samples: 0,
            frames: Vec::new(),
            hits: Vec::new(),
        }
    }

    pub(in super::super) fn note(&mut self, event: &JointEvent<'_>) {
        match *event {
            JointEvent::Sample(sample) => {
                if self.n_samples.is_multiple_of(self.stride) {
                    let states = sample.posture.states.clone();
                    self.frames.push((sample.time, states));
                }
                self.n_samples += 1;
            }
            JointEvent::Impact(impact) if self.hits.len() < SHOWN => {
                self.hits.push((impact.time, impact.reactions.clone()));
            }
            _ => (),
        }
    }

    /// Adds the animation of the recorded frames to a record. `end`: end of the run, which becomes the last frame.
    pub(in super::super) fn show(mut self, end: &JointedEnd, record: &mut Record) {
        if self.frames.last().is_none_or(|(time, _)| *time < end.time) {
            self.frames.push((end.time, end.posture.states.clone()));
        }
        let mb = self.jointed.world.multibody();
        let start = &self.jointed.world.start().states;
        let bodies = (0..mb.n_bodies()).filter_map(|body| {
            let shape = self.jointed.shapes.get(body).and_then(Option::as_ref);
            drawn(mb, body, shape, start)
        });
        let mut spec = self.jointed.setup.spec.clone();
        spec.bodies = bodies.collect();
        if spec.bodies.len() < mb.n_bodies() {
            return;
        }
        let hits: Vec<Hit> = self.hits.iter().map(|hit| self.hit(hit)).collect();
        for joint in mb.joints().iter().filter(|j| j.kind.name == "distance") {
            if let Some(rod) = distance_rod(joint, start) {
                spec.bodies.push(rod);
                append(&mut self.frames, joint);
            }
        }
        playback(&spec, &self.frames, &hits, record);
    }

    /// Converts the joint reactions in an impact to the form that the animation needs: the impulse of each joint on its child
    /// body, at the position of the joint at that time (s).
    fn hit(&self, (time, reactions): &(f64, Vec<Reaction>)) -> Hit {
        let mb = self.jointed.world.multibody();
        let start = &self.jointed.world.start().states;
        let one = |reaction: &Reaction| {
            let joint = mb.joints().get(reaction.joint)?;
            let (state, mass) = (start.get(joint.child)?, mb.rigid(joint.child)?.mass());
            let arm = within(state, &joint.frames(start).child.origin);
            let frames = self.frames.iter();
            let nodes = frames.filter_map(|(t, states)| Some((*t, states.get(joint.child)?)));
            let nodes: Vec<(f64, &State)> = nodes.collect();
            let (position, [x, y, z, w]) = between(&nodes, *time, mass);
            let turn = So3::from_quaternion(w, &Vector3::new(x, y, z))?;
            Some((
                Vector3::from(position) + turn.rotate(&arm),
                reaction.impulse,
            ))
        };
        Hit {
            time: *time,
            states: Vec::new(),
            impulses: reactions.iter().filter_map(one).collect(),
        }
    }
}

/// Converts a point from world coordinates to the axes of a body with the pose in `state`.
fn within(state: &State, point: &Vector3<f64>) -> Vector3<f64> {
    state.rotation.rotate_back(&(point - state.position))
}

/// Returns the drawing of the body with the index `body`: its shape, rods from its center of mass to joints outside the shape,
/// and pins along the axes of its joints. `mb`: bodies and joints; `start`: initial states. `None` if the drawing cannot be
/// built.
fn drawn(mb: &Multibody, body: usize, shape: Option<&Shape>, start: &[State]) -> Option<BodySpec> {
    let state = start.get(body)?;
    let ends: Vec<Vector3<f64>> = mb
        .joints()
        .iter()
        .filter_map(|joint| {
            let [parent, child] = joint.ends(&joint.frames(start));
            match (joint.child == body, joint.parent == Some(body)) {
                (true, _) => Some(within(state, &child)),
                (_, true) => Some(within(state, &parent)),
                _ => None,
            }
        })
        .collect();
    let reach = ends.iter().map(|end| end.norm()).fold(0.0, f64::max);
    let size = match shape {
        Some(shape) => shape.bounding_radius(),
        None if reach > 0.0 => reach,
        None => mb.size(),
    };
    let mut parts: Vec<Shape> = Vec::new();
    match shape {
        Some(shape) => {
            parts.push(shape.clone());
            // The support of the shape towards `end` is minus the support in the opposite direction.
            let outside = |end: &&Vector3<f64>| {
                let highest = -shape.support(&-**end).value;
                end.norm_squared() > highest
            };
            let outside = ends.iter().filter(outside);
            let radius = |end: &Vector3<f64>| (ROD * size).max(THINNEST * end.norm());
            parts.extend(outside.filter_map(|end| rod(&(end * 0.5), &(end * 0.5), radius(end))));
        }
        None => {
            let mass = Ellipsoid::sphere(2.0 * ROD * size, Vector3::zeros()).ok()?;
            parts.push(Shape::Ellipsoid(mass));
            parts.extend(
                ends.iter()
                    .filter_map(|end| rod(&(end * 0.5), &(end * 0.5), ROD * size)),
            );
        }
    }
    for joint in mb.joints().iter().filter(|joint| joint.child == body) {
        parts.extend(pins(joint, state, start, size));
    }
    let rigid = mb.rigid(body);
    let mass = rigid.and_then(|r| MassProperties::new(r.mass(), *r.inertia()).ok());
    Some(BodySpec::new(
        mb.body_name(body).to_owned(),
        mass,
        Shape::Union(Union::new(parts).ok()?),
        Se3::new(state.rotation, state.position),
    ))
}

/// Returns the pose of the rod that represents a distance joint, for drawing. The center of the rod is midway between the
/// joint's ends, and the third axis of the pose points along the rod. `states`: states of all bodies.
fn stretched(joint: &Joint, states: &[State]) -> State {
    let frames = joint.frames(states);
    let axis = frames.separation();
    let turn = Rotation3::rotation_between(&Vector3::z(), &axis)
        .unwrap_or_else(|| Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    State {
        position: (frames.parent.origin + frames.child.origin) * 0.5,
        rotation: So3::nearest(turn.matrix()).unwrap_or_else(|_| So3::identity()),
        linear_momentum: Vector3::zeros(),
        angular_momentum: Vector3::zeros(),
    }
}

/// Returns the rod that represents a distance joint, for drawing, as a body of mass 1 kg. `start`: initial states of all
/// bodies. `None` if the joint's ends coincide.
fn distance_rod(joint: &Joint, start: &[State]) -> Option<BodySpec> {
    let length = joint.frames(start).separation().norm();
    let half = Vector3::z() * (0.5 * length);
    Some(BodySpec::new(
        joint.name.clone(),
        MassProperties::new(1.0, Matrix3::identity()).ok(),
        rod(&Vector3::zeros(), &half, 0.5 * ROD * length)?,
        stretched(joint, start).configuration(),
    ))
}

/// Adds the state of the rod that represents a distance joint to every frame (time in s, states of all bodies). The velocity of
/// the rod is that of straight motion to the next frame.
fn append(frames: &mut [(f64, Vec<State>)], joint: &Joint) {
    let mut later: Option<(f64, Vector3<f64>)> = None;
    for (time, states) in frames.iter_mut().rev() {
        let mut state = stretched(joint, states);
        if let Some((next, position)) = later
            && next > *time
        {
            state.linear_momentum = (position - state.position) / (next - *time);
        }
        later = Some((*time, state.position));
        states.push(state);
    }
}

/// Creates a capsule (rounded rod) about `center` with the radius `radius` (m). `half`: vector from the center to one end;
/// `None` if this vector is zero.
fn rod(center: &Vector3<f64>, half: &Vector3<f64>, radius: f64) -> Option<Shape> {
    let axis = Unit::try_new(*half, 0.0)?;
    let core = Segment::new(half.norm(), &axis, *center).ok()?;
    let capsule = Rounded::new(Shape::Segment(core), radius).ok()?;
    Some(Shape::Rounded(Box::new(capsule)))
}

/// Creates the capsule that shows the axis of a joint, or a ball for a joint without axis. The shape is fixed to the joint's child
/// body, whose state is `state`. `start`: initial states of all bodies; `size`: length scale of the drawing (m).
fn pins(joint: &Joint, state: &State, start: &[State], size: f64) -> Vec<Shape> {
    let frames = joint.frames(start);
    let [_, child] = joint.ends(&frames);
    let at = within(state, &child);
    let pin = |axis: Vector3<f64>| {
        let axis = state.rotation.rotate_back(&axis);
        rod(&at, &(axis * (PIN[0] * size)), PIN[1] * size)
    };
    let axis = joint.child_axis(&frames);
    let pins: Vec<Shape> = axis.and_then(pin).into_iter().collect();
    if pins.is_empty() && !joint.kind.conditions.is_empty() {
        let ball = Ellipsoid::sphere(2.0 * PIN[1] * size, at).ok();
        return ball.map(Shape::Ellipsoid).into_iter().collect();
    }
    pins
}
