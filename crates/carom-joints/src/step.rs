//! One step: kick, free flight of every body, kick.

// Rows have the same index in several lists.
#![allow(clippy::needless_range_loop)]

pub mod contacts;
mod first;
mod kept;
mod noise;
mod replies;
mod second;

pub use replies::History;

use crate::JointError;
use crate::coordinates::{Actuator, CoordinateSpec};
use crate::elimination::{Elimination, push, rate};
use crate::frames::{Frames, Row};
use crate::multibody::{Multibody, Posture};
use carom_variational::State;
use contacts::{Contacts, Room};
use kept::Kept;
use nalgebra::{Vector3, Vector6};

/// Suzuki's composition, order 4.
const SUZUKI: f64 = 0.414_490_771_794_375_7;
/// Fractions of Suzuki's five steps.
pub const SUZUKI_4: [f64; 5] = [SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI];

/// Fractions of Yoshida's seven steps (1990, solution A), order 6.
pub const YOSHIDA_6: [f64; 7] = [
    0.784_513_610_477_557_3,
    0.235_573_213_359_358_13,
    -1.177_679_984_178_871,
    1.315_186_320_683_911_2,
    -1.177_679_984_178_871,
    0.235_573_213_359_358_13,
    0.784_513_610_477_557_3,
];

/// State of dry friction and limits, coordinate by coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// Value at which a coordinate is kept: it sticks, or rests at a limit.
    pub held: Vec<Option<f64>>,
    /// Dry friction against its coordinate, as a fraction of the largest: 1 or −1, the direction of sliding, or 0 without
    /// friction; where friction is implicit, any value between them.
    pub slides: Vec<f64>,
    /// True where dry friction is implicit: the first kick has the friction of `slides`, the second one lets the
    /// coordinate stick or slide by what it finds.
    pub implicit: Vec<bool>,
    /// Force of the caller along each coordinate, on top of the actuators.
    pub control: Vec<f64>,
}

impl Modes {
    /// Nothing is held, and nothing slides.
    pub fn free(multibody: &Multibody) -> Self {
        let n = multibody.n_coordinates();
        Self {
            held: vec![None; n],
            slides: vec![0.0; n],
            implicit: vec![false; n],
            control: vec![0.0; n],
        }
    }
}

/// Work of the forces along coordinates (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Works {
    /// Work of actuators on the bodies.
    pub actuator: f64,
    /// Energy that dampers took.
    pub damper: f64,
    /// Energy that dry friction took.
    pub friction: f64,
    /// Energy that contacts took.
    pub contact: f64,
}

impl Works {
    /// Adds the works of another step.
    pub fn add(&mut self, more: &Self) {
        self.actuator += more.actuator;
        self.damper += more.damper;
        self.friction += more.friction;
        self.contact += more.contact;
    }
}

/// Impulses of one joint during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force of the conditions on the child at its origin (N s).
    pub force: Vector3<f64>,
    /// Moment of the conditions on the child about its origin (N m s).
    pub moment: Vector3<f64>,
    /// Force of conditions and coordinates on the child (N s).
    pub total: Vector3<f64>,
}

impl Load {
    /// Adds the impulses of another step.
    pub fn add(&mut self, more: &Self) {
        self.force += more.force;
        self.moment += more.moment;
        self.total += more.total;
    }
}

/// A step that was made. One that was used before is room for another: see [`Stepper::step_into`].
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Everything at the end.
    pub end: Posture,
    /// States between the kicks: after the first, at the start of the flights.
    pub kicked: Vec<State>,
    /// Works of both kicks.
    pub works: Works,
    /// Impulses of the joints.
    pub loads: Vec<Load>,
    /// Impulses that hold coordinates, and those of implicit dry friction, of the first and of the second kick.
    pub holding: Vec<[f64; 2]>,
    /// Rates of the coordinates at the end.
    pub rates: Vec<f64>,
    /// Largest residual of a condition against the size at the end.
    pub residual: f64,
    /// Iterations of the first kick.
    pub iterations: usize,
    /// Impulses of the contacts' rows: of all points at the start, and of those closed at the end (N s).
    pub touching: [Vec<f64>; 2],
    /// Velocities of the closed contacts' rows at the end (m/s).
    pub contact_rates: Vec<f64>,
}

impl Step {
    /// The start of a step that begins at a posture.
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
        self.touching[0].clear();
        self.touching[1].clear();
        self.contact_rates.clear();
    }
}

/// Makes steps, and keeps what the next one needs.
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
#[derive(Clone, Debug)]
pub struct Stepper<'m> {
    multibody: &'m Multibody,
    elimination: Elimination,
    rows: Vec<Row>,
    end_rows: Vec<Row>,
    /// Frames of all joints at the end of the flights.
    frames: Vec<Frames>,
    /// End of the last step, whose rows and factors the next one may begin with.
    kept: Kept,
    /// True if the first kick depends on coordinates: some are held, or have rotors.
    measures: bool,
    compliance: Vec<f64>,
    /// Multipliers of the first kicks of the last steps per unit of time, latest first.
    history: Vec<Vec<f64>>,
    velocities: Vec<Vector6<f64>>,
    momenta: Vec<Vector6<f64>>,
    after: Vec<Vector6<f64>>,
    wanted: Vec<f64>,
    correction: Vec<f64>,
    room: Room,
    /// Velocities and multipliers that impulses of contacts add.
    passed_on: (Vec<Vector6<f64>>, Vec<f64>),
    /// Forces along the coordinates in the kick that is made.
    pushes: Vec<Push>,
    /// Forces of actuators that push with their limit.
    clamped: Vec<Option<f64>>,
    /// Directions in which coordinates with implicit dry friction slide; `None` where they stick, or have none.
    rubbed: Vec<Option<f64>>,
    /// Impulses of the rows in the kick that is made.
    multipliers: Vec<f64>,
    /// Momenta of the explicit forces of the first kick.
    base: Vec<Vector6<f64>>,
    /// Row, impulse and rate before of each damped rate of a spherical joint.
    balls: Vec<(usize, f64, f64)>,
}

/// Forces along a coordinate in one kick.
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

    /// Adds the works of the impulses `self * half`, with the mean of the rates before and after.
    fn book(&self, half: f64, mean: f64, works: &mut Works) {
        works.actuator += self.actuator * half * mean;
        works.damper -= self.damper * half * mean;
        works.friction -= self.friction * half * mean;
    }
}

impl<'m> Stepper<'m> {
    /// Room for the steps of a multibody.
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
        }
    }

    /// Forgets the impulses of earlier steps: after an impact, or a change of the step.
    pub fn forget(&mut self) {
        self.history.clear();
    }

    /// Rows and independent rows at the last factored configuration.
    pub fn rank(&self) -> (usize, usize) {
        self.elimination.rank()
    }

    /// One step of order 2 from a posture at a time (s) over a length (s), which may be negative without damping.
    ///
    /// # Errors
    ///
    /// [`JointError::StepTooLarge`], [`JointError::SingularJoints`], [`JointError::InconsistentJoints`],
    /// [`JointError::Flight`].
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

    /// [`step`](Self::step) into the memory of an earlier step: in a tree nothing is allocated then.
    ///
    /// # Errors
    ///
    /// The errors of [`step`](Self::step).
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
        check_gimbals(mb, &self.rows, modes, time)?;
        mb.velocities(&start.states, &mut self.velocities);
        step.begin(start, mb);
        // Explicit forces.
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
        made?;
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

    /// Calls for every coordinate: its joint, its row, its place and its constants.
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

    /// Refuses forces that are not finite.
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

    /// Explicit damping of spherical joints: impulses on their rates.
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

    /// Compliances of all rows for the inertia of rotors and `half` a step of damping.
    fn compliances(&mut self, half: f64, modes: &Modes) {
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
            this.compliance[row] = match modes.held[k] {
                Some(_) => 0.0,
                None if stiff > 0.0 => 1.0 / stiff,
                None => f64::INFINITY,
            };
        });
    }
}

/// Explicit forces along a coordinate at the start of a step.
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

/// Axes of a gimbal whose couples act must not lie in a plane.
fn check_gimbals(mb: &Multibody, rows: &[Row], modes: &Modes, time: f64) -> Result<(), JointError> {
    for (j, joint) in mb.joints().iter().enumerate() {
        if joint.kind.name != "gimbal" {
            continue;
        }
        let (_, first) = mb.rows_of(j);
        let acts = joint
            .coordinates
            .iter()
            .zip(mb.coordinates_of(j))
            .any(|(c, k)| {
                c.stiffness + c.damping + c.friction + c.armature > 0.0
                    || c.actuator.is_some()
                    || modes.control[k] != 0.0
                    || modes.held[k].is_some()
                    || c.lower.is_finite()
                    || c.upper.is_finite()
            });
        // The couple dual to the first axis is 1/det long across the two others.
        let most = rows[first].couple.norm().max(rows[first + 2].couple.norm());
        if acts && !(most > 0.0 && most < 1e6) {
            return Err(JointError::SingularJoints {
                joint: joint.name.clone(),
                time,
            });
        }
    }
    Ok(())
}

fn finite(state: &State) -> bool {
    state.check().is_ok()
}
