//! A multibody system: bodies and joints.

use crate::JointError;
use crate::elimination::{Scene, rate};
use crate::frames::{Frames, Row, stack};
use crate::joint::{Joint, JointSpec};
use crate::tree::Tree;
use carom_lie::So3;
use carom_variational::load::{Loads, Pull};
use carom_variational::spring::Spring;
use carom_variational::{ExactFlight, Flight, FreeFlight, RigidBody, State, VariationalError};
use nalgebra::{Matrix6, Vector3, Vector6};

/// Smallest value of the size of the system (m).
const LEAST_SIZE: f64 = 1e-3;

/// Principal moments of inertia that differ by less than this fraction of the largest count as equal: the body rotates with
/// constant angular velocity.
const ISOTROPIC: f64 = 1e-14;

/// Specification of a multibody system: bodies, joints, gravity and the scheme of free flight.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MultibodySpec {
    /// Name of each body with its mass and inertia; `None` for a body that never moves.
    pub bodies: Vec<(String, Option<RigidBody>)>,
    /// Specifications of the joints.
    pub joints: Vec<JointSpec>,
    /// Acceleration of gravity (m/s²).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub gravity: Vector3<f64>,
    /// True if the free flight of bodies between impulses follows the exact solution, false if it follows the variational
    /// integrator.
    pub exact: bool,
    /// Drag and forces of the bodies; a body that the list is too short for has none.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub loads: Vec<Loads>,
    /// Springs between points of bodies.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub springs: Vec<Spring>,
}

impl MultibodySpec {
    /// Specifies a system: names of the bodies with mass and inertia (`None` for a body that never moves), joints, and the
    /// acceleration of gravity (m/s²). `exact` selects the exact solution of free flight instead of the variational integrator.
    pub fn new(
        bodies: Vec<(String, Option<RigidBody>)>,
        joints: Vec<JointSpec>,
        gravity: Vector3<f64>,
        exact: bool,
    ) -> Self {
        Self {
            bodies,
            joints,
            gravity,
            exact,
            loads: Vec::new(),
            springs: Vec::new(),
        }
    }

    /// Sets the springs between points of bodies.
    #[must_use]
    pub fn with_springs(self, springs: Vec<Spring>) -> Self {
        Self { springs, ..self }
    }

    /// Sets drag and forces of the bodies, in their order.
    #[must_use]
    pub fn with_loads(self, loads: Vec<Loads>) -> Self {
        Self { loads, ..self }
    }
}

/// A body of the system.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) rigid: Option<RigidBody>,
    /// Moment of inertia, if it is equal about all axes (kg m²).
    isotropic: Option<f64>,
    /// Drag and forces; `kicks` is true if some act in kicks.
    loads: Loads,
    pub(crate) kicks: bool,
    /// Acceleration by constant forces (m/s²), and by these and the force that a caller holds.
    own_push: Vector3<f64>,
    push: Vector3<f64>,
}

/// A multibody system: rigid bodies connected by joints, whose specification has been checked.
///
/// # Examples
///
/// ```
/// # use carom_geometry::MassProperties;
/// # use carom_joints::coordinates::CoordinateSpec;
/// # use carom_joints::frames::Frame;
/// # use carom_joints::kinds::Kind;
/// # use carom_joints::{JointSpec, Multibody, MultibodySpec, Placed};
/// # use carom_variational::RigidBody;
/// # use nalgebra::{Matrix3, Vector3};
/// # let revolute = Kind::named("revolute").expect("a type of joint");
/// # let top = Frame { position: Vector3::new(0.0, 0.0, 0.5), ..Frame::identity() };
/// # let hinge = JointSpec::new("hinge", revolute, None, 0)
/// #     .with_frames(Frame::identity(), top)
/// #     .with_axes(vec![Vector3::y()])
/// #     .with_coordinates(vec![CoordinateSpec::default().with_position(1.0)]);
/// # let body = RigidBody::new(&MassProperties::new(2.0, Matrix3::identity() * 0.1)?);
/// # let bodies = vec![("rod".to_owned(), Some(body))];
/// # let spec = MultibodySpec::new(bodies, vec![hinge], Vector3::new(0.0, 0.0, -10.0), false);
/// # let placed = Placed::default();
///
/// // A pendulum whose center is 0.5 m below its hinge, lifted by 1 rad; the hinge places it.
/// let pendulum = Multibody::new(&spec)?;
/// let (posture, _) = pendulum.assemble(&[placed])?;
/// assert!((posture.states[0].position.z + 0.5 * 1.0_f64.cos()).abs() < 1e-12);
/// assert!((pendulum.energy(&posture) + 2.0 * 10.0 * 0.5 * 1.0_f64.cos()).abs() < 1e-11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Multibody {
    pub(crate) parts: Vec<Part>,
    joints: Vec<Joint>,
    tree: Tree,
    masses: Vec<Matrix6<f64>>,
    ends: Vec<[Option<usize>; 2]>,
    /// Child of each joint, and the joint's origin in the child, in body axes (m).
    anchors: Vec<(usize, Vector3<f64>)>,
    offsets: Vec<usize>,
    coordinate_offsets: Vec<usize>,
    gravity: Vector3<f64>,
    exact: bool,
    size: f64,
    pub(crate) springs: Vec<Spring>,
}

/// Configuration and velocity of a multibody system: states of the bodies, values of the joint coordinates, and the rotors of
/// motors.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Posture {
    /// Position, attitude and momenta of the bodies.
    pub states: Vec<State>,
    /// Values of all joint coordinates in their order (rad or m); an angle is continuous, so that it can exceed $2\pi$.
    pub q: Vec<f64>,
    /// Position (rad or m) and rate (rad/s or m/s) of the rotor of each coordinate, referred to the coordinate.
    pub rotors: Vec<[f64; 2]>,
}

impl Multibody {
    /// Creates a multibody system, and checks the specification of every joint.
    ///
    /// # Errors
    ///
    /// Errors of [`Joint::new`], and [`JointError::InvalidKey`] for a joint of bodies that do not exist, or of a body with itself.
    pub fn new(spec: &MultibodySpec) -> Result<Self, JointError> {
        let checked = |joint: &JointSpec| {
            joint.check_bodies(spec.bodies.len())?;
            Joint::new(joint)
        };
        let joints: Vec<Joint> = spec.joints.iter().map(checked).collect::<Result<_, _>>()?;
        let mobile: Vec<bool> = spec
            .bodies
            .iter()
            .map(|(_, rigid)| rigid.is_some())
            .collect();
        let tree = Tree::new(&mobile, &joints);
        let (mut offsets, mut coordinate_offsets) = (vec![0], vec![0]);
        let (mut rows, mut coordinates) = (0, 0);
        for joint in &joints {
            rows += joint.kind.conditions.len() + joint.n_rates();
            coordinates += joint.coordinates.len();
            offsets.push(rows);
            coordinate_offsets.push(coordinates);
        }
        let is_mobile = |body: usize| mobile.get(body).copied().unwrap_or(false);
        let reach = joints.iter().map(|joint| joint.reach(is_mobile));
        let size = reach.fold(LEAST_SIZE, f64::max);
        let movable = |body: Option<usize>| body.filter(|b| is_mobile(*b));
        Ok(Self {
            masses: spec
                .bodies
                .iter()
                .map(|(_, rigid)| mass(rigid.as_ref()))
                .collect(),
            ends: joints
                .iter()
                .map(|joint| [movable(joint.parent), movable(Some(joint.child))])
                .collect(),
            anchors: joints
                .iter()
                .map(|joint| (joint.child, joint.frame(1).position))
                .collect(),
            parts: { spec.bodies.iter().enumerate() }
                .map(|(i, body)| part(body, spec.loads.get(i).cloned().unwrap_or_default()))
                .collect(),
            joints,
            tree,
            offsets,
            coordinate_offsets,
            gravity: spec.gravity,
            exact: spec.exact,
            size,
            springs: spec.springs.clone(),
        })
    }

    /// Returns the joints of the system, in the order of its specification.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Returns the spanning tree of the system's mobile bodies, connected by its joints.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the number of bodies of the system, fixed ones included.
    pub fn n_bodies(&self) -> usize {
        self.parts.len()
    }

    /// Returns the name of the body with the given index; `ground` for an index without a body.
    pub fn body_name(&self, body: usize) -> &str {
        self.parts.get(body).map_or("ground", |part| &part.name)
    }

    /// Returns mass and inertia of the body with the given index; `None` if the body is fixed.
    pub fn rigid(&self, body: usize) -> Option<&RigidBody> {
        self.parts.get(body)?.rigid.as_ref()
    }

    /// Returns the characteristic length of the system (m), which relates lengths and angles in tolerances: the largest
    /// distance of a joint from the center of mass of a mobile body that it connects, at least 1e-3 m.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Returns the acceleration of gravity that acts on the system, in world coordinates (m/s²).
    pub fn gravity(&self) -> &Vector3<f64> {
        &self.gravity
    }

    /// Returns the number of Jacobian rows of all joints of the system: constraint conditions and coordinate rates.
    pub fn n_rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Returns the number of joint coordinates of the system, summed over all joints.
    pub fn n_coordinates(&self) -> usize {
        self.coordinate_offsets.last().copied().unwrap_or(0)
    }

    /// Returns the index range of one joint's coordinates in the list of all joint coordinates of the system.
    pub fn coordinates_of(&self, joint: usize) -> std::ops::Range<usize> {
        self.coordinate_offsets[joint]..self.coordinate_offsets[joint + 1]
    }

    /// Returns two indices into the list of the system's Jacobian rows, for one joint: its first constraint condition, and
    /// its first coordinate rate.
    pub fn rows_of(&self, joint: usize) -> (usize, usize) {
        let first = self.offsets[joint];
        (first, first + self.joints[joint].kind.conditions.len())
    }

    /// Returns the indices of the parent and the child body of a joint; `None` for the ground or a fixed body.
    pub fn ends(&self, joint: usize) -> &[Option<usize>; 2] {
        &self.ends[joint]
    }

    /// Returns the input of the block elimination of the joint equations ([`Elimination`](crate::elimination::Elimination)):
    /// spanning tree, mass matrices and layout of the joint rows.
    pub fn scene(&self) -> Scene<'_> {
        Scene {
            tree: &self.tree,
            masses: &self.masses,
            ends: &self.ends,
            anchors: &self.anchors,
            offsets: &self.offsets,
        }
    }

    /// Computes the Jacobian rows of all joints into `out`, in the layout of [`rows_of`](Self::rows_of), at given states of
    /// all bodies. `q` are the values of all joint coordinates there.
    pub fn rows(&self, states: &[State], q: &[f64], out: &mut Vec<Row>) {
        out.clear();
        for (j, joint) in self.joints.iter().enumerate() {
            let frames = joint.frames(states);
            joint.add_rows(&frames, &q[self.coordinates_of(j)], out);
        }
    }

    /// Computes the joint frames in space of all joints from the states of the bodies, into `out`.
    pub(crate) fn frames(&self, states: &[State], out: &mut Vec<Frames>) {
        out.clear();
        out.extend(self.joints.iter().map(|joint| joint.frames(states)));
    }

    /// Computes the Jacobian rows of all joints from their frames in space, into `out`, in the layout of [`rows`](Self::rows).
    /// `q`: values of all joint coordinates.
    pub(crate) fn rows_at(&self, frames: &[Frames], q: &[f64], out: &mut Vec<Row>) {
        out.clear();
        for (j, (joint, frames)) in self.joints.iter().zip(frames).enumerate() {
            joint.add_rows(frames, &q[self.coordinates_of(j)], out);
        }
    }

    /// Computes the velocity of every body from its momenta, into `out`: velocity of the center of mass in space (m/s), then
    /// angular velocity in body axes (rad/s); zero for fixed bodies.
    pub fn velocities(&self, states: &[State], out: &mut Vec<Vector6<f64>>) {
        out.clear();
        out.extend(self.parts.iter().zip(states).map(|(part, state)| {
            part.rigid.as_ref().map_or(Vector6::zeros(), |rigid| {
                stack(
                    &(state.linear_momentum / rigid.mass()),
                    &rigid.angular_velocity(&state.angular_momentum),
                )
            })
        }));
    }

    /// Sets the momenta in the `states` of all mobile bodies from given velocities: velocity of the center of mass in space
    /// (m/s), then angular velocity in body axes (rad/s).
    pub fn set_velocities(&self, velocities: &[Vector6<f64>], states: &mut [State]) {
        for ((part, velocity), state) in self.parts.iter().zip(velocities).zip(states) {
            if let Some(rigid) = &part.rigid {
                state.linear_momentum = velocity.fixed_rows::<3>(0) * rigid.mass();
                state.angular_momentum = rigid.inertia() * velocity.fixed_rows::<3>(3);
            }
        }
    }

    /// Computes the values of all joint coordinates from the states of the bodies, into `out` (rad or m). Each angle is
    /// shifted by a multiple of $2\pi$ to be closest to the angle in `near`, the coordinates of a nearby state.
    pub fn measure(&self, states: &[State], near: &[f64], out: &mut [f64]) {
        for (j, joint) in self.joints.iter().enumerate() {
            let range = self.coordinates_of(j);
            joint.measure(&joint.frames(states), &near[range.clone()], &mut out[range]);
        }
    }

    /// Computes the values of all joint coordinates (rad or m) from the frames of the joints in space, into `out`. Each angle is
    /// shifted by a multiple of $2\pi$ to be closest to that in `near`.
    pub(crate) fn measure_at(&self, frames: &[Frames], near: &[f64], out: &mut [f64]) {
        for (j, (joint, frames)) in self.joints.iter().zip(frames).enumerate() {
            let range = self.coordinates_of(j);
            joint.measure(frames, &near[range.clone()], &mut out[range]);
        }
    }

    /// Computes the rates of all joint coordinates into `out` (rad/s or m/s). `rows` are the Jacobian rows of all joints, and
    /// `velocities` the velocities of all bodies.
    pub fn coordinate_rates(&self, rows: &[Row], velocities: &[Vector6<f64>], out: &mut Vec<f64>) {
        out.clear();
        for (j, joint) in self.joints.iter().enumerate() {
            let (_, first) = self.rows_of(j);
            for k in 0..joint.coordinates.len() {
                out.push(rate(&rows[first + k], &self.ends[j], velocities));
            }
        }
    }

    /// Returns an upper bound of the speed of points within the distance [`size`](Self::size) of the center of mass, over all
    /// mobile bodies (m/s): the largest value of center speed plus angular speed times `size`.
    pub fn fastest_speed(&self, states: &[State]) -> f64 {
        let all = self.parts.iter().zip(states);
        let speeds = all.filter_map(|(part, state)| {
            let rigid = part.rigid.as_ref()?;
            let spin = rigid.angular_velocity(&state.angular_momentum).norm();
            Some(state.linear_momentum.norm() / rigid.mass() + self.size * spin)
        });
        speeds.fold(0.0, f64::max)
    }

    /// Widens the limits of the joint coordinates so that the values `q` (one per coordinate) lie within them, for a start
    /// that exceeds a limit by rounding of the input.
    pub fn admit(&mut self, q: &[f64]) {
        let all = self
            .joints
            .iter_mut()
            .flat_map(|joint| &mut joint.coordinates);
        for (c, q) in all.zip(q) {
            c.lower = c.lower.min(*q);
            c.upper = c.upper.max(*q);
        }
    }

    /// Computes the state of one body after free flight under gravity for `time` (s), without joints.
    ///
    /// # Errors
    ///
    /// [`JointError::Flight`].
    pub fn fly(&self, body: usize, from: &State, time: f64) -> Result<State, JointError> {
        let part = &self.parts[body];
        let Some(rigid) = &part.rigid else {
            return Ok(*from);
        };
        let gravity = self.gravity + part.push;
        if let Some(moment) = part.isotropic {
            let drop = gravity * (0.5 * time * time);
            let turn = from.angular_momentum * (time / moment);
            return Ok(State {
                position: from.position + (from.linear_momentum * (time / rigid.mass()) + drop),
                linear_momentum: from.linear_momentum + gravity * (rigid.mass() * time),
                angular_momentum: from.angular_momentum,
                rotation: from.rotation.compose(&So3::exp(&turn)),
            });
        }
        let flown = if self.exact {
            ExactFlight::new(gravity).advance(rigid, from, time)
        } else {
            FreeFlight::lgvi(gravity).advance(rigid, from, time)
        };
        flown.map_err(|source| JointError::Flight {
            body: part.name.clone(),
            source,
        })
    }

    /// Sets the force that a caller holds on a body (N), and returns the acceleration by this and its constant forces (m/s²).
    pub fn hold_force(&mut self, body: usize, force: &Vector3<f64>) -> Vector3<f64> {
        match self.parts.get_mut(body) {
            Some(part) => {
                let mass = part.rigid.as_ref().map_or(f64::INFINITY, RigidBody::mass);
                part.push = part.own_push + force / mass;
                part.push
            }
            None => Vector3::zeros(),
        }
    }

    /// Returns the acceleration of a body by its constant forces, and that which a caller holds (m/s²).
    pub fn push(&self, body: usize) -> Vector3<f64> {
        self.parts
            .get(body)
            .map_or(Vector3::zeros(), |part| part.push)
    }

    /// Returns the indices of the bodies on which drag or forces act in kicks.
    pub fn loaded(&self) -> impl Iterator<Item = usize> + use<> {
        let kicks = self.parts.iter().map(|part| part.kicks);
        let kicks: Vec<usize> = { kicks.enumerate() }
            .filter_map(|(body, kicks)| kicks.then_some(body))
            .collect();
        kicks.into_iter()
    }

    /// Returns the drag and the forces of a body.
    pub fn loads(&self, body: usize) -> Option<&Loads> {
        self.parts.get(body).map(|part| &part.loads)
    }

    /// Asks the loads of a mobile body at `time` (s).
    pub(crate) fn pull(
        &self,
        body: usize,
        time: f64,
        ask: impl FnOnce(&Loads, &RigidBody) -> Result<Pull, VariationalError>,
    ) -> Result<Pull, JointError> {
        let part = &self.parts[body];
        let Some(rigid) = &part.rigid else {
            return Ok(Pull::default());
        };
        ask(&part.loads, rigid).map_err(|source| JointError::Force {
            body: part.name.clone(),
            time,
            source,
        })
    }

    /// Returns the work of the force that a caller holds on a body, from the origin to its place (J), and the force (N).
    pub fn held(&self, body: usize, state: &State) -> (f64, Vector3<f64>) {
        let part = &self.parts[body];
        let mass = part.rigid.as_ref().map_or(0.0, RigidBody::mass);
        let force = part.push * mass;
        (force.dot(&state.position), force)
    }

    /// Returns the work of the forces that a caller holds, and of constant forces, from the origin to the places of all bodies (J).
    pub fn held_work(&self, posture: &Posture) -> f64 {
        let states = posture.states.iter().enumerate();
        states.map(|(body, state)| self.held(body, state).0).sum()
    }

    /// Returns the kinetic energy of all bodies and rotors of the system (J).
    pub fn kinetic(&self, posture: &Posture) -> f64 {
        let bodies = self.parts.iter().zip(&posture.states);
        let bodies: f64 = bodies
            .filter_map(|(part, state)| {
                let rigid = part.rigid.as_ref()?;
                Some(rigid.translational_energy(state) + rigid.rotational_energy(state))
            })
            .sum();
        let rotors: f64 = self
            .coordinates()
            .zip(&posture.rotors)
            .map(|(c, [_, rate])| 0.5 * c.armature * rate * rate)
            .sum();
        bodies + rotors
    }

    /// Returns the total energy of the system (J): kinetic energy of bodies and rotors, potential energy of gravity and
    /// springs.
    pub fn energy(&self, posture: &Posture) -> f64 {
        let bodies = self.parts.iter().zip(&posture.states);
        let heights: f64 = bodies
            .filter_map(|(part, state)| {
                let rigid = part.rigid.as_ref()?;
                Some(-rigid.mass() * self.gravity.dot(&state.position))
            })
            .sum();
        let springs: f64 = self
            .coordinates()
            .zip(&posture.q)
            .map(|(c, q)| 0.5 * c.stiffness * (q - c.rest) * (q - c.rest))
            .sum();
        self.kinetic(posture) + heights + springs + self.spring_energy(&posture.states)
    }

    pub(crate) fn joints_mut(&mut self) -> &mut [Joint] {
        &mut self.joints
    }

    /// Replaces the actuator of the joint coordinate with the index `coordinate`.
    pub fn set_actuator(&mut self, coordinate: usize, actuator: crate::coordinates::Actuator) {
        let mut all = self
            .joints
            .iter_mut()
            .flat_map(|joint| &mut joint.coordinates);
        if let Some(c) = all.nth(coordinate) {
            c.actuator = Some(actuator);
        }
    }

    /// Returns the parameters of all joint coordinates of the system, in the order of the joints.
    pub fn coordinates(&self) -> impl Iterator<Item = &crate::coordinates::CoordinateSpec> {
        self.joints.iter().flat_map(|joint| &joint.coordinates)
    }

    /// Returns the indices of the joints that belong to a closed kinematic loop, in ascending order.
    pub fn loop_joints(&self) -> Vec<usize> {
        let mut found = vec![false; self.joints.len()];
        for &closing in &self.tree.loops {
            found[closing] = true;
            // A joint lies on the loop if one of both paths to the root passes it, not both.
            let mut on_path = vec![false; self.joints.len()];
            for end in self.ends[closing] {
                let mut body = end;
                while let Some(branch) = body
                    .and_then(|b| self.tree.place[b])
                    .map(|place| self.tree.branches[place])
                {
                    if let Some(joint) = branch.joint {
                        on_path[joint] = !on_path[joint];
                    }
                    body = branch.towards;
                }
            }
            for (found, on) in found.iter_mut().zip(&on_path) {
                *found |= on;
            }
        }
        (0..found.len()).filter(|j| found[*j]).collect()
    }

    /// Returns the index of the joint to which a Jacobian row belongs; `row` is an index into the list of all rows of the
    /// system.
    pub fn joint_of_row(&self, row: usize) -> usize {
        self.offsets
            .partition_point(|first| *first <= row)
            .saturating_sub(1)
    }

    /// Returns the most violated joint condition at given states of all bodies; `None` if no joint has a condition. The
    /// entries: index of the joint; residual relative to [`size`](Self::size) if it is a length, else equal to the next
    /// entry; absolute residual (m, or cosine of an angle); `true` if it is a length.
    pub fn worst_residual(&self, states: &[State]) -> Option<(usize, f64, f64, bool)> {
        let mut worst: Option<(usize, f64, f64, bool)> = None;
        for (j, joint) in self.joints.iter().enumerate() {
            let frames = joint.frames(states);
            for (condition, residual) in joint.kind.conditions.iter().zip(joint.residuals(&frames))
            {
                let length = condition.is_length();
                let relative = residual.abs() / if length { self.size } else { 1.0 };
                // Written in this order so that NaN is the worst.
                if !worst.is_some_and(|(_, most, _, _)| relative <= most) {
                    worst = Some((j, relative, residual.abs(), length));
                }
            }
        }
        worst
    }
}

fn part((name, rigid): &(String, Option<RigidBody>), loads: Loads) -> Part {
    let moment = rigid.as_ref().and_then(|rigid| {
        let j = rigid.inertia();
        let moments = rigid.moments();
        let most = moments.z;
        let off = j.m12.abs() + j.m13.abs() + j.m23.abs();
        (moments.z - moments.x <= ISOTROPIC * most && off <= ISOTROPIC * most).then_some(moments.x)
    });
    let constant = loads.constant();
    let push = rigid
        .as_ref()
        .map_or(Vector3::zeros(), |rigid| constant / rigid.mass());
    Part {
        name: name.clone(),
        rigid: rigid.clone(),
        isotropic: moment,
        kicks: rigid.is_some() && loads.kicks(),
        own_push: push,
        push,
        loads,
    }
}

fn mass(rigid: Option<&RigidBody>) -> Matrix6<f64> {
    let mut mass = Matrix6::identity();
    if let Some(rigid) = rigid {
        for k in 0..3 {
            mass[(k, k)] = rigid.mass();
        }
        mass.fixed_view_mut::<3, 3>(3, 3).copy_from(rigid.inertia());
    }
    mass
}
