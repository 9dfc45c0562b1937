//! A multibody system: bodies and joints.

use crate::JointError;
use crate::elimination::{Scene, rate};
use crate::frames::{Frames, Row, stack};
use crate::joint::{Joint, JointSpec};
use crate::tree::Tree;
use carom_lie::So3;
use carom_variational::{ExactFlight, Flight, FreeFlight, RigidBody, State};
use nalgebra::{Matrix6, Vector3, Vector6};

/// Smallest value of the size of the system (m).
const LEAST_SIZE: f64 = 1e-3;

/// Principal moments of inertia that differ by less than this fraction of the largest count as equal: the body rotates with
/// constant angular velocity.
const ISOTROPIC: f64 = 1e-14;

/// Specification of a multibody system.
#[derive(Clone, Debug)]
pub struct MultibodySpec {
    /// Name of each body with its mass and inertia; `None` for a body that never moves.
    pub bodies: Vec<(String, Option<RigidBody>)>,
    /// Joints.
    pub joints: Vec<JointSpec>,
    /// Acceleration of gravity (m/s²).
    pub gravity: Vector3<f64>,
    /// True if bodies fly by the exact solution between kicks, false if by the variational integrator.
    pub exact: bool,
}

/// A body of the system.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) rigid: Option<RigidBody>,
    /// Moment of inertia, if it is equal about all axes (kg m²).
    isotropic: Option<f64>,
}

/// A checked multibody system of bodies and joints.
///
/// # Examples
///
/// ```
/// # use carom_geometry::MassProperties;
/// # use carom_joints::coordinates::CoordinateSpec;
/// # use carom_joints::frames::Frame;
/// # use carom_joints::kinds::Kind;
/// # use carom_joints::{BallSpec, JointSpec, Multibody, MultibodySpec, Placed};
/// # use carom_variational::RigidBody;
/// # use nalgebra::{Matrix3, Vector3};
/// # let hinge = JointSpec {
/// #     name: "hinge".to_owned(),
/// #     kind: Kind::named("revolute").expect("a type of joint"),
/// #     parent: None,
/// #     child: 0,
/// #     parent_frame: Frame::identity(),
/// #     child_frame: Frame { position: Vector3::new(0.0, 0.0, 0.5), ..Frame::identity() },
/// #     axes: vec![Vector3::y()],
/// #     length: None,
/// #     coordinates: vec![CoordinateSpec { position: Some(1.0), ..CoordinateSpec::default() }],
/// #     ball: BallSpec::default(),
/// # };
/// # let body = RigidBody::new(&MassProperties::new(2.0, Matrix3::identity() * 0.1)?);
/// # let spec = MultibodySpec {
/// #     bodies: vec![("rod".to_owned(), Some(body))],
/// #     joints: vec![hinge],
/// #     gravity: Vector3::new(0.0, 0.0, -10.0),
/// #     exact: false,
/// # };
/// # let placed = Placed {
/// #     configuration: None,
/// #     velocity: Vector3::zeros(),
/// #     angular_velocity: Vector3::zeros(),
/// # };
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
}

/// State of the system: bodies, coordinates, rotors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posture {
    /// Position, attitude and momenta of the bodies.
    pub states: Vec<State>,
    /// Coordinates of all joints in their order; angles are continuous over $2\pi$.
    pub q: Vec<f64>,
    /// Position and rate of each coordinate's rotor.
    pub rotors: Vec<[f64; 2]>,
}

impl Multibody {
    /// Checks the joints and creates the system.
    ///
    /// # Errors
    ///
    /// Errors of [`Joint::new`].
    pub fn new(spec: &MultibodySpec) -> Result<Self, JointError> {
        let joints: Vec<Joint> = spec
            .joints
            .iter()
            .map(Joint::new)
            .collect::<Result<_, _>>()?;
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
            parts: spec.bodies.iter().map(part).collect(),
            joints,
            tree,
            offsets,
            coordinate_offsets,
            gravity: spec.gravity,
            exact: spec.exact,
            size,
        })
    }

    /// Joints in their order.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Spanning tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Number of bodies.
    pub fn n_bodies(&self) -> usize {
        self.parts.len()
    }

    /// Name of a body.
    pub fn body_name(&self, body: usize) -> &str {
        self.parts.get(body).map_or("ground", |part| &part.name)
    }

    /// Mass and inertia of a body; `None` if it never moves.
    pub fn rigid(&self, body: usize) -> Option<&RigidBody> {
        self.parts.get(body)?.rigid.as_ref()
    }

    /// Size of the system: largest distance of a joint from the center of mass of a mobile body, at least 1e-3 m.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Acceleration of gravity (m/s²).
    pub fn gravity(&self) -> &Vector3<f64> {
        &self.gravity
    }

    /// Number of rows of all joints: conditions and rates.
    pub fn n_rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Number of coordinates.
    pub fn n_coordinates(&self) -> usize {
        self.coordinate_offsets.last().copied().unwrap_or(0)
    }

    /// Range of a joint's coordinates in the list of all coordinates.
    pub fn coordinates_of(&self, joint: usize) -> std::ops::Range<usize> {
        self.coordinate_offsets[joint]..self.coordinate_offsets[joint + 1]
    }

    /// Indices of the first condition row and of the first rate row of a joint.
    pub fn rows_of(&self, joint: usize) -> (usize, usize) {
        let first = self.offsets[joint];
        (first, first + self.joints[joint].kind.conditions.len())
    }

    /// Parent and child of a joint; `None` for the ground or a fixed body.
    pub fn ends(&self, joint: usize) -> &[Option<usize>; 2] {
        &self.ends[joint]
    }

    /// Returns tree, masses and layout of rows for an [`Elimination`](crate::elimination::Elimination).
    pub fn scene(&self) -> Scene<'_> {
        Scene {
            tree: &self.tree,
            masses: &self.masses,
            ends: &self.ends,
            anchors: &self.anchors,
            offsets: &self.offsets,
        }
    }

    /// Computes all joint rows at some states, in the layout of [`rows_of`](Self::rows_of).
    pub fn rows(&self, states: &[State], q: &[f64], out: &mut Vec<Row>) {
        out.clear();
        for (j, joint) in self.joints.iter().enumerate() {
            let frames = joint.frames(states);
            joint.add_rows(&frames, &q[self.coordinates_of(j)], out);
        }
    }

    /// Computes the frames of all joints in space.
    pub(crate) fn frames(&self, states: &[State], out: &mut Vec<Frames>) {
        out.clear();
        out.extend(self.joints.iter().map(|joint| joint.frames(states)));
    }

    /// Computes all joint rows from the frames of the joints, like [`rows`](Self::rows).
    pub(crate) fn rows_at(&self, frames: &[Frames], q: &[f64], out: &mut Vec<Row>) {
        out.clear();
        for (j, (joint, frames)) in self.joints.iter().zip(frames).enumerate() {
            joint.add_rows(frames, &q[self.coordinates_of(j)], out);
        }
    }

    /// Computes the velocities of the bodies: of the centers in space, angular velocities in body axes.
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

    /// Sets the momenta of the bodies from their velocities.
    pub fn set_velocities(&self, velocities: &[Vector6<f64>], states: &mut [State]) {
        for ((part, velocity), state) in self.parts.iter().zip(velocities).zip(states) {
            if let Some(rigid) = &part.rigid {
                state.linear_momentum = velocity.fixed_rows::<3>(0) * rigid.mass();
                state.angular_momentum = rigid.inertia() * velocity.fixed_rows::<3>(3);
            }
        }
    }

    /// Measures the coordinates at some states; angles are continued from the coordinates `near` of a nearby state.
    pub fn measure(&self, states: &[State], near: &[f64], out: &mut [f64]) {
        for (j, joint) in self.joints.iter().enumerate() {
            let range = self.coordinates_of(j);
            joint.measure(&joint.frames(states), &near[range.clone()], &mut out[range]);
        }
    }

    /// Measures the coordinates from the frames of all joints, like [`measure`](Self::measure).
    pub(crate) fn measure_at(&self, frames: &[Frames], near: &[f64], out: &mut [f64]) {
        for (j, (joint, frames)) in self.joints.iter().zip(frames).enumerate() {
            let range = self.coordinates_of(j);
            joint.measure(frames, &near[range.clone()], &mut out[range]);
        }
    }

    /// Computes the rates of all coordinates.
    pub fn coordinate_rates(&self, rows: &[Row], velocities: &[Vector6<f64>], out: &mut Vec<f64>) {
        out.clear();
        for (j, joint) in self.joints.iter().enumerate() {
            let (_, first) = self.rows_of(j);
            for k in 0..joint.coordinates.len() {
                out.push(rate(&rows[first + k], &self.ends[j], velocities));
            }
        }
    }

    /// Returns the largest value of center speed plus angular speed times [`size`](Self::size) over all bodies (m/s).
    pub fn fastest_speed(&self, states: &[State]) -> f64 {
        let all = self.parts.iter().zip(states);
        let speeds = all.filter_map(|(part, state)| {
            let rigid = part.rigid.as_ref()?;
            let spin = rigid.angular_velocity(&state.angular_momentum).norm();
            Some(state.linear_momentum.norm() / rigid.mass() + self.size * spin)
        });
        speeds.fold(0.0, f64::max)
    }

    /// Extends limits to coordinates that start slightly beyond them, by rounding of the input.
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

    /// Advances one body by its free flight, without joints, for `time` (s).
    ///
    /// # Errors
    ///
    /// [`JointError::Flight`].
    pub fn fly(&self, body: usize, from: &State, time: f64) -> Result<State, JointError> {
        let part = &self.parts[body];
        let Some(rigid) = &part.rigid else {
            return Ok(*from);
        };
        if let Some(moment) = part.isotropic {
            let drop = self.gravity * (0.5 * time * time);
            let turn = from.angular_momentum * (time / moment);
            return Ok(State {
                position: from.position + (from.linear_momentum * (time / rigid.mass()) + drop),
                linear_momentum: from.linear_momentum + self.gravity * (rigid.mass() * time),
                angular_momentum: from.angular_momentum,
                rotation: from.rotation.compose(&So3::exp(&turn)),
            });
        }
        let flown = match self.exact {
            true => ExactFlight::new(self.gravity).advance(rigid, from, time),
            false => FreeFlight::lgvi(self.gravity).advance(rigid, from, time),
        };
        flown.map_err(|source| JointError::Flight {
            body: part.name.clone(),
            source,
        })
    }

    /// Kinetic energy of bodies and rotors (J).
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

    /// Kinetic energy of bodies and rotors, plus potential energy of gravity and springs (J).
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
        self.kinetic(posture) + heights + springs
    }

    /// All coordinates in their order.
    pub fn coordinates(&self) -> impl Iterator<Item = &crate::coordinates::CoordinateSpec> {
        self.joints.iter().flat_map(|joint| &joint.coordinates)
    }

    /// Lists the joints that lie on a loop, in their order.
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

    /// Index of the joint to which a row belongs.
    pub fn joint_of_row(&self, row: usize) -> usize {
        self.offsets
            .partition_point(|first| *first <= row)
            .saturating_sub(1)
    }

    /// Returns the largest residual of the joint conditions: the joint, the residual divided by the size of the system for
    /// lengths, the residual itself, and `true` if it is a length. `None` if there are no conditions.
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

fn part((name, rigid): &(String, Option<RigidBody>)) -> Part {
    let moment = rigid.as_ref().and_then(|rigid| {
        let j = rigid.inertia();
        let moments = rigid.moments();
        let most = moments.z;
        let off = j.m12.abs() + j.m13.abs() + j.m23.abs();
        (moments.z - moments.x <= ISOTROPIC * most && off <= ISOTROPIC * most).then_some(moments.x)
    });
    Part {
        name: name.clone(),
        rigid: rigid.clone(),
        isotropic: moment,
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
