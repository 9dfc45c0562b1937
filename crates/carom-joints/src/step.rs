//! One time step: kick, free flight of every body, kick.

// One row index is used for several lists.
#![allow(clippy::needless_range_loop)]

pub mod contacts;
mod first;
mod kept;
mod loads;
mod noise;
mod replies;
mod second;
mod singular;

#[cfg(feature = "serde")]
pub use kept::Remembered;
pub use replies::History;

use crate::JointError;
use crate::coordinates::{Actuator, CoordinateSpec};
use crate::elimination::{Elimination, push, rate};
use crate::frames::{Frames, Row};
use crate::multibody::{Multibody, Posture};
use carom_variational::State;
use contacts::{Contacts, Room};
use kept::Kept;
use loads::LoadRoom;
use nalgebra::{Vector3, Vector6};

/// Number of steps whose impulses are extrapolated to the next step, by a cubic polynomial. With three steps, a robot that sways on
/// its feet needs three iterations for most first kicks, with four steps two. Rounding grows with the sum of the coefficients, 15.
pub const EXTRAPOLATED: usize = 4;

/// Coefficient of Suzuki's composition of order 4.
const SUZUKI: f64 = 0.414_490_771_794_375_7;
/// Lengths of the five substeps of Suzuki's composition of order 4, as fractions of the whole time step; input of
/// [`Stepper::compose`].
pub const SUZUKI_4: [f64; 5] = [SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI];

/// Lengths of the seven substeps of Yoshida's composition of order 6 (1990, solution A), as fractions of the whole time step;
/// input of [`Stepper::compose`].
pub const YOSHIDA_6: [f64; 7] = [
    0.784_513_610_477_557_3,
    0.235_573_213_359_358_13,
    -1.177_679_984_178_871,
    1.315_186_320_683_911_2,
    -1.177_679_984_178_871,
    0.235_573_213_359_358_13,
    0.784_513_610_477_557_3,
];

/// State of friction and limits of each joint coordinate in a time step (held, sliding or free), and the force that the caller
/// applies along each coordinate. The caller sets the modes before a step.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Modes {
    /// Value at which a coordinate is held because it sticks or rests at a limit; `None` if the coordinate moves.
    pub held: Vec<Option<f64>>,
    /// True for a held coordinate that leaves its limit at the end of the step: impulses at the start hold it, those at the end do
    /// not. A coordinate that leaves from rest under a force that grows from zero moves by less than the error of the step.
    pub leaves: Vec<bool>,
    /// Dry friction of each coordinate, divided by minus its largest value. A coordinate that slides has 1 or −1, the sign of its
    /// rate; one without friction has 0. Where friction is implicit, values between −1 and 1 are possible.
    pub slides: Vec<f64>,
    /// True where dry friction is implicit: the impulses at the start of the step use the friction in `slides`, and those at the
    /// end determine whether the coordinate sticks or slides.
    pub implicit: Vec<bool>,
    /// Direction in which each coordinate with implicit friction slid at the end of the step before (1 or −1), 0 where it stuck:
    /// the initial guess of the impulses at the end of the step.
    pub slid: Vec<f64>,
    /// Force that the caller applies along each coordinate (N or N m), in addition to the actuators.
    pub control: Vec<f64>,
}

impl Modes {
    /// Creates the modes of a time step in which all joint coordinates move freely: no coordinate is held by friction
    /// or a limit, no dry friction acts, and the caller applies no forces.
    pub fn free(multibody: &Multibody) -> Self {
        let n = multibody.n_coordinates();
        Self {
            held: vec![None; n],
            leaves: vec![false; n],
            slides: vec![0.0; n],
            implicit: vec![false; n],
            slid: vec![0.0; n],
            control: vec![0.0; n],
        }
    }

    /// Returns the value at which the impulses at the end of the step hold joint coordinate `k`; `None` if they do not hold it.
    fn held_at_end(&self, k: usize) -> Option<f64> {
        self.held[k].filter(|_| !self.leaves[k])
    }
}

/// Work and energy losses of a time step, or of several (J): of actuators, dampers, dry friction and contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Works {
    /// Work that actuators and the caller's forces do on the bodies (J).
    pub actuator: f64,
    /// Energy lost in dampers (J).
    pub damper: f64,
    /// Energy lost in dry friction of joint coordinates (J).
    pub friction: f64,
    /// Energy lost in contacts (J).
    pub contact: f64,
    /// Energy lost in drag (J).
    pub drag: f64,
    /// Work of forces on the bodies that act in kicks (J).
    pub applied: f64,
}

impl Works {
    /// Adds the work and the energy losses `more` of another step to this record.
    pub fn add(&mut self, more: &Self) {
        self.actuator += more.actuator;
        self.damper += more.damper;
        self.friction += more.friction;
        self.contact += more.contact;
        self.drag += more.drag;
        self.applied += more.applied;
    }
}

/// Impulses that one joint transmits to its child body during a time step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Load {
    /// Impulse of the joint conditions on the child, at the origin of the child's joint frame (N s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub force: Vector3<f64>,
    /// Angular impulse of the joint conditions on the child, about the origin of the child's joint frame (N m s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub moment: Vector3<f64>,
    /// Impulse on the child of the joint conditions together with the forces along the coordinates (N s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub total: Vector3<f64>,
}

impl Load {
    /// Adds the impulses `more` of this joint in another step to this record.
    pub fn add(&mut self, more: &Self) {
        self.force += more.force;
        self.moment += more.moment;
        self.total += more.total;
    }
}

/// Result of one time step of a multibody system: state at the end, work, and impulses of joints and contacts. The memory of
/// an earlier result can be reused: see [`Stepper::step_into`].
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Step {
    /// State of the system at the end of the step.
    pub end: Posture,
    /// States of the bodies after the impulses at the start of the step, when their free flights begin.
    pub kicked: Vec<State>,
    /// Work and losses of the impulses at the start and at the end of the step.
    pub works: Works,
    /// Impulses that each joint applies to its child within the step.
    pub loads: Vec<Load>,
    /// Impulses at the start and at the end of the step that hold each coordinate in place, or those of its implicit dry friction
    /// (N s or N m s).
    pub holding: Vec<[f64; 2]>,
    /// Rates of the joint coordinates at the end of the step (rad/s or m/s).
    pub rates: Vec<f64>,
    /// Largest residual of a joint condition at the end of the step; a residual that is a length is divided by the size of the
    /// system.
    pub residual: f64,
    /// True if no set of sticking and sliding coordinates was found that fits the implicit dry friction at the end of the step.
    /// Coordinates that would slide against their friction stick there, with a larger friction than they have.
    pub friction_exceeded: bool,
    /// Number of iterations for the impulses at the start of the step.
    pub iterations: usize,
    /// Impulses of the contact rows (N s), in two lists: at the start of the step for all contact points, and at the end for the
    /// points that are closed there.
    pub touching: [Vec<f64>; 2],
    /// Velocities along the rows of the closed contacts at the end of the step (m/s).
    pub contact_rates: Vec<f64>,
    /// Impulse of drag and of forces that act in kicks on all bodies (N s).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub given: Vector3<f64>,
}

impl Step {
    /// Clears this result and prepares it for a step that begins in the state `start` of the system.
    fn begin(&mut self, start: &Posture, multibody: &Multibody) {
        self.end.states.clone_from(&start.states);
        self.end.q.clone_from(&start.q);
        self.end.rotors.clone_from(&start.rotors);
        self.kicked.clone_from(&start.states);
        self.works = Works::default();
        self.loads.clear();
        self.loads.resize(multibody.joints().len(), Load::default());
        self.holding.clear();
        self.holding.resize(multibody.n_coordinates(), [0.0; 2]);
        self.rates.clear();
        (self.residual, self.iterations) = (0.0, 0);
        self.friction_exceeded = false;
        self.touching[0].clear();
        self.touching[1].clear();
        self.contact_rates.clear();
        self.given = Vector3::zeros();
    }
}

/// Time integrator of a multibody system. Between steps the integrator stores the factorized equations and the impulses of
/// earlier steps. The stored impulses give the initial guess of the next step.
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
/// use carom_joints::step::{Modes, Stepper};
/// let pendulum = Multibody::new(&spec)?;
/// let (mut posture, _) = pendulum.assemble(&[placed])?;
/// let (start, modes) = (pendulum.energy(&posture), Modes::free(&pendulum));
/// let mut stepper = Stepper::new(&pendulum);
/// for k in 0..1000 {
///     posture = stepper.step(&posture, f64::from(k) * 1e-3, 1e-3, &modes)?.end;
/// }
/// // A symplectic step of order 2: the error of the energy does not grow.
/// assert!((pendulum.energy(&posture) - start).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Stepper<'m> = StepperOf<&'m Multibody>;

/// Time integrator of the multibody system `M`; a paused one, whose system is `()`, holds only its memory, the default none. See
/// [`Stepper`].
#[derive(Clone, Debug, Default)]
pub struct StepperOf<M> {
    multibody: M,
    elimination: Elimination,
    rows: Vec<Row>,
    end_rows: Vec<Row>,
    /// Frames of all joints at the end of the flights.
    frames: Vec<Frames>,
    /// End of the last step, whose rows and factors the next step may reuse.
    kept: Kept,
    /// True if the first kick depends on the coordinates: some are held, or have rotors.
    measures: bool,
    compliance: Vec<f64>,
    /// Multipliers of the first kicks of the last steps, per unit of time, latest first.
    history: Vec<Vec<f64>>,
    velocities: Vec<Vector6<f64>>,
    momenta: Vec<Vector6<f64>>,
    after: Vec<Vector6<f64>>,
    wanted: Vec<f64>,
    correction: Vec<f64>,
    room: Room,
    /// Changes of velocities and multipliers by contact impulses.
    passed_on: (Vec<Vector6<f64>>, Vec<f64>),
    /// Forces along the coordinates in the current kick.
    pushes: Vec<Push>,
    /// Forces of actuators that are at their limit; `None` below the limit.
    clamped: Vec<Option<f64>>,
    /// Direction in which each coordinate with implicit dry friction slides; `None` where it sticks or has no such friction.
    rubbed: Vec<Option<f64>>,
    /// Impulses of the joint rows in the current kick.
    multipliers: Vec<f64>,
    /// Momentum changes by the explicit forces of the first kick.
    base: Vec<Vector6<f64>>,
    /// Row, impulse, and rate before the kick of each damped rate of a spherical joint.
    balls: Vec<(usize, f64, f64)>,
    loads: LoadRoom,
}

/// Forces along a coordinate in one kick (N or N m).
#[derive(Clone, Copy, Debug, Default)]
struct Push {
    spring: f64,
    actuator: f64,
    damper: f64,
    friction: f64,
}

impl Push {
    fn total(&self) -> f64 {
        self.spring + self.actuator + self.damper + self.friction
    }

    /// Adds the work of these forces over half a step to `works` (J). `half`: half the length of the step (s), so that force
    /// times `half` is the impulse; `mean`: mean of the coordinate's rates before and after the impulse.
    fn book(&self, half: f64, mean: f64, works: &mut Works) {
        works.actuator += self.actuator * half * mean;
        works.damper -= self.damper * half * mean;
        works.friction -= self.friction * half * mean;
    }
}

impl<M> StepperOf<M> {
    /// Returns this integrator with its memory, for another copy of the system: `with(())` pauses it, `with(&multibody)` goes on.
    /// Every copy must be of the system for which the integrator was created.
    #[must_use]
    pub fn with<N>(self, multibody: N) -> StepperOf<N> {
        StepperOf {
            multibody,
            elimination: self.elimination,
            rows: self.rows,
            end_rows: self.end_rows,
            frames: self.frames,
            kept: self.kept,
            measures: self.measures,
            compliance: self.compliance,
            history: self.history,
            velocities: self.velocities,
            momenta: self.momenta,
            after: self.after,
            wanted: self.wanted,
            correction: self.correction,
            room: self.room,
            passed_on: self.passed_on,
            pushes: self.pushes,
            clamped: self.clamped,
            rubbed: self.rubbed,
            multipliers: self.multipliers,
            base: self.base,
            balls: self.balls,
            loads: self.loads,
        }
    }
}

impl<'m> Stepper<'m> {
    /// Creates a time integrator of a multibody system, and allocates its memory.
    pub fn new(multibody: &'m Multibody) -> Self {
        let (n, rows) = (multibody.n_bodies(), multibody.n_rows());
        Self {
            multibody,
            elimination: Elimination::new(multibody.tree()),
            rows: Vec::with_capacity(rows),
            end_rows: Vec::with_capacity(rows),
            frames: Vec::with_capacity(multibody.joints().len()),
            kept: Kept::default(),
            measures: false,
            compliance: vec![0.0; rows],
            history: Vec::new(),
            velocities: Vec::with_capacity(n),
            momenta: vec![Vector6::zeros(); n],
            after: vec![Vector6::zeros(); n],
            wanted: vec![0.0; rows],
            correction: vec![0.0; rows],
            room: Room::default(),
            passed_on: (Vec::new(), Vec::new()),
            pushes: Vec::new(),
            clamped: Vec::new(),
            rubbed: Vec::new(),
            multipliers: vec![0.0; rows],
            base: Vec::new(),
            balls: Vec::new(),
            loads: LoadRoom::default(),
        }
    }

    /// Discards the stored impulses of earlier steps, which give the initial guess of the next step. The caller should call this
    /// function after a discontinuity, such as an impact, and after a change of the step length.
    pub fn forget(&mut self) {
        self.history.clear();
    }

    /// Returns the number of joint rows in the equations that were factored last, and the number of linearly independent ones
    /// among them.
    pub fn rank(&self) -> (usize, usize) {
        self.elimination.rank()
    }

    /// Computes one time step of order 2 of a multibody system without contacts. The step begins in the state `start` at
    /// `time` (s), with the given `modes` of the joint coordinates. Its `length` (s) may be negative if nothing dissipates
    /// energy.
    ///
    /// # Errors
    ///
    /// [`JointError::StepTooLarge`], [`JointError::SingularJoints`], [`JointError::InconsistentJoints`], [`JointError::Flight`],
    /// [`JointError::ActuatorForce`], [`JointError::NonFinite`].
    pub fn step(
        &mut self,
        start: &Posture,
        time: f64,
        length: f64,
        modes: &Modes,
    ) -> Result<Step, JointError> {
        let mut step = Step::default();
        self.any_step(start, time, length, modes, None, &mut step)?;
        Ok(step)
    }

    /// Computes one time step like [`step`](Self::step), and writes the result into `step`. On entry `step` is the result of
    /// an earlier step, whose memory is reused. If the joints form a tree, no memory is allocated.
    ///
    /// # Errors
    ///
    /// Errors of [`step`](Self::step).
    pub fn step_into(
        &mut self,
        start: &Posture,
        time: f64,
        length: f64,
        modes: &Modes,
        step: &mut Step,
    ) -> Result<(), JointError> {
        self.any_step(start, time, length, modes, None, step)
    }

    fn any_step(
        &mut self,
        start: &Posture,
        time: f64,
        length: f64,
        modes: &Modes,
        mut contacts: Option<&mut dyn Contacts>,
        step: &mut Step,
    ) -> Result<(), JointError> {
        let mb = self.multibody;
        let half = 0.5 * length;
        self.begin_rows(start);
        self.check_axes(modes, time)?;
        mb.velocities(&start.states, &mut self.velocities);
        step.begin(start, mb);
        // Forces at the start of the step.
        let mut pushes = std::mem::take(&mut self.pushes);
        pushes.clear();
        pushes.resize(mb.n_coordinates(), Push::default());
        self.momenta.fill(Vector6::zeros());
        self.each_coordinate(|this, joint, row, k, c| {
            let now = rate(&this.rows[row], mb.ends(joint), &this.velocities);
            let force = explicit(c, start.q[k], now, time, modes, k);
            push(
                &this.rows[row],
                mb.ends(joint),
                half * force.total(),
                &mut this.momenta,
            );
            pushes[k] = force;
            step.loads[joint].total += this.rows[row].force * (half * force.total());
        });
        self.damp_balls(half);
        self.load_start(start, time, half)?;
        let holds = |(held, c): (&Option<f64>, &CoordinateSpec)| held.is_some() || c.armature > 0.0;
        self.measures = modes.held.iter().zip(mb.coordinates()).any(holds);
        let mut base = std::mem::take(&mut self.base);
        base.clone_from(&self.momenta);
        let at = (time, length);
        let made = match &mut contacts {
            _ if self.check_forces(&pushes, time).is_err() => self.check_forces(&pushes, time),
            None => self.first_kick(start, at, modes, &base, step),
            Some(it) => self.first_kick_with(start, at, modes, &base, step, *it),
        };
        self.base = base;
        if made.is_ok() {
            self.note_first(&pushes, half, modes, step);
        }
        self.pushes = pushes;
        made.map_err(|error| self.coplanar_axes(error, modes, time, length))?;
        self.second_kick(time + length, length, modes, step, contacts)?;
        self.kept.keep(&step.end);
        for (body, state) in step.end.states.iter().enumerate() {
            if !finite(state) {
                return Err(JointError::NonFinite {
                    body: mb.body_name(body).to_owned(),
                    time: time + length,
                });
            }
        }
        Ok(())
    }

    /// Calls a function for each joint coordinate of the system. The arguments of the function are this stepper, the
    /// index of the joint, the index of the coordinate's Jacobian row, the index of the coordinate, and the
    /// coordinate's constants.
    fn each_coordinate(
        &mut self,
        mut call: impl FnMut(&mut Self, usize, usize, usize, &CoordinateSpec),
    ) {
        let mb = self.multibody;
        for (j, joint) in mb.joints().iter().enumerate() {
            let (_, first) = mb.rows_of(j);
            let places = mb.coordinates_of(j);
            for (k, c) in joint.coordinates.iter().enumerate() {
                call(self, j, first + k, places.start + k, c);
            }
        }
    }

    /// Checks that the actuator forces on all coordinates are finite. `time` (s) is reported in the error.
    fn check_forces(&self, pushes: &[Push], time: f64) -> Result<(), JointError> {
        let mb = self.multibody;
        let all = mb.joints().iter().enumerate();
        let of_joint = |(j, _): &(usize, &crate::Joint)| {
            let range = mb.coordinates_of(*j);
            pushes[range].iter().any(|p| !p.actuator.is_finite())
        };
        match { all }.find(of_joint) {
            None => Ok(()),
            Some((_, joint)) => Err(JointError::ActuatorForce {
                joint: joint.name.clone(),
                time,
            }),
        }
    }

    /// Applies the impulses of the dampers in spherical joints at the start of a step: minus the damping constant times the
    /// relative angular velocity times `half`, half the length of the step (s).
    fn damp_balls(&mut self, half: f64) {
        let mb = self.multibody;
        self.balls.clear();
        for (j, joint) in mb.joints().iter().enumerate() {
            if !(joint.kind.is_spherical() && joint.ball.damping > 0.0) {
                continue;
            }
            let (_, first) = mb.rows_of(j);
            let first = first + joint.first_couple();
            for row in first..first + 3 {
                let now = rate(&self.rows[row], mb.ends(j), &self.velocities);
                let impulse = -half * joint.ball.damping * now;
                push(&self.rows[row], mb.ends(j), impulse, &mut self.momenta);
                self.balls.push((row, impulse, now));
            }
        }
    }

    /// Sets the compliance of every joint row: the rate that a unit impulse gives to the row. The compliance is 0 for a
    /// condition and for a held coordinate. For a coordinate with a rotor or a damper it is $1/(I + hd)$. Here $I$ is
    /// the inertia of the rotor, $d$ the damping, and $h$ the time `half` (s) for which the damper acts, 0 if damping
    /// is explicit. All other rows have infinite compliance, which leaves them out of the equations. `modes`: state of
    /// each coordinate (held, sliding or free).
    fn compliances(&mut self, half: f64, held: impl Fn(usize) -> bool) {
        let mb = self.multibody;
        self.compliance.fill(f64::INFINITY);
        for (j, joint) in mb.joints().iter().enumerate() {
            let (first, rates) = mb.rows_of(j);
            self.compliance[first..rates].fill(0.0);
            if joint.kind.is_spherical() {
                let stiff = half * joint.ball.damping;
                if stiff > 0.0 {
                    let couple = rates + joint.first_couple();
                    self.compliance[couple..couple + 3].fill(1.0 / stiff);
                }
            }
        }
        self.each_coordinate(|this, _, row, k, c| {
            let gain = c.actuator.as_ref().map_or(0.0, Actuator::derivative);
            let stiff = c.armature + half * (c.damping + gain);
            this.compliance[row] = if held(k) {
                0.0
            } else if stiff > 0.0 {
                1.0 / stiff
            } else {
                f64::INFINITY
            };
        });
    }
}

/// Returns the forces of spring, actuator, damper and friction (N or N m) along the joint coordinate with index `k` at
/// the start of a step. `c`: constants of the coordinate; `q`, `rate`: value and rate of the coordinate; `time`: start
/// of the step (s); `modes`: friction of the coordinate and the caller's force.
fn explicit(c: &CoordinateSpec, q: f64, rate: f64, time: f64, modes: &Modes, k: usize) -> Push {
    let actuator = c
        .actuator
        .as_ref()
        .map_or(0.0, |a| a.force(q, rate, time, false));
    Push {
        spring: c.stiffness * (c.rest - q),
        actuator: actuator + modes.control[k],
        damper: -c.damping * rate,
        friction: -c.friction * modes.slides[k],
    }
}

fn finite(state: &State) -> bool {
    state.check().is_ok()
}
