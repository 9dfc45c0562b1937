//! The run of jointed bodies: steps, limits, dry friction, samples.

use super::impact::{JointImpact, LimitContact};
use crate::hybrid::{self, Ending, Limits};
use crate::world::{FlightRule, Laws, MotionError};
use carom_joints::coordinates::{Actuator, CoordinateSpec};
use carom_joints::step::{Load, Modes, SUZUKI_4, Step, Stepper, Works, YOSHIDA_6};
use carom_joints::{Assembly, JointError, Multibody, MultibodySpec, Placed, Posture};
use nalgebra::Vector3;

/// Instants are found to this (s).
const INSTANT: f64 = 1e-12;

/// Rates below this fraction of the fastest of their kind are rest: an impact that leaves less has ended.
const AT_REST: f64 = 1e-10;

/// A coordinate within this of its limit, against the size of its numbers, is there.
const AT_LIMIT: f64 = 1e-11;

/// Events without time between them.
const EVENTS_PER_INSTANT: usize = 10_000;

/// Evaluations of a shortened step for one event; each gains a digit or more.
const MOST_EVALUATIONS: usize = 80;

/// Jointed bodies as they are given.
#[derive(Clone, Debug)]
pub struct JointedSpec {
    /// Bodies and joints.
    pub multibody: MultibodySpec,
    /// Places of the bodies.
    pub placed: Vec<Placed>,
    /// Rule of flight: `Exact` and `Lgvi` of order 2, `Lgvi4` and `Lgvi6` of orders 4 and 6 where nothing dissipates.
    pub flight: FlightRule,
    /// Step of the grid (s).
    pub time_step: f64,
}

/// Jointed bodies, assembled.
///
/// # Examples
///
/// A block of 2 kg at 1 m/s on a slide with a dry friction of 4 N stops after $mv^2/2f$:
///
/// ```
/// # use carom_geometry::MassProperties;
/// # use carom_impact::frictional::MoreauNewton;
/// # use carom_impact::two_body::ImpactOptions;
/// # use carom_joints::coordinates::CoordinateSpec;
/// # use carom_joints::frames::Frame;
/// # use carom_joints::kinds::Kind;
/// # use carom_joints::{BallSpec, JointSpec, MultibodySpec, Placed};
/// # use carom_variational::RigidBody;
/// # use nalgebra::{Matrix3, Vector3};
/// use carom_motion::hybrid::Limits;
/// use carom_motion::jointed::{JointedSpec, JointedWorld};
/// use carom_motion::world::{FlightRule, Laws, OnZeno, SingleLaw};
/// let slide = JointSpec {
///     name: "slide".to_owned(),
///     kind: Kind::named("prismatic").expect("a type of joint"),
///     parent: None,
///     child: 0,
///     parent_frame: Frame::identity(),
///     child_frame: Frame::identity(),
///     axes: vec![Vector3::x()],
///     length: None,
///     coordinates: vec![CoordinateSpec {
///         velocity: Some(1.0),
///         friction: 4.0,
///         ..CoordinateSpec::default()
///     }],
///     ball: BallSpec::default(),
/// };
/// let body = RigidBody::new(&MassProperties::new(2.0, Matrix3::identity())?);
/// let world = JointedWorld::new(&JointedSpec {
///     multibody: MultibodySpec {
///         bodies: vec![("block".to_owned(), Some(body))],
///         joints: vec![slide],
///         gravity: Vector3::zeros(),
///         exact: false,
///     },
///     placed: vec![Placed {
///         configuration: None,
///         velocity: Vector3::zeros(),
///         angular_velocity: Vector3::zeros(),
///     }],
///     flight: FlightRule::Lgvi,
///     time_step: 1e-3,
/// })?;
/// let laws = Laws {
///     single: SingleLaw::TwoBody(ImpactOptions::default()),
///     several: &|_| Box::new(MoreauNewton::default()),
///     on_zeno: OnZeno::Rest,
/// };
/// let end = world.run(&laws, &Limits::duration(1.0), &[], None, &mut |_| ());
/// assert!((end.posture.q[0] - 0.25).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JointedWorld {
    multibody: Multibody,
    start: Posture,
    assembly: Assembly,
    fractions: &'static [f64],
    time_step: f64,
    rows: Vec<usize>,
    ranks: (usize, usize),
    corners: Vec<f64>,
}

/// State at a time that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct JointSample<'e> {
    /// Time (s).
    pub time: f64,
    /// Bodies, coordinates and rotors.
    pub posture: &'e Posture,
    /// Rates of the coordinates.
    pub rates: &'e [f64],
    /// Force of spring, damper, friction and actuator along each coordinate.
    pub forces: &'e [f64],
    /// Impulses of the joints over the step that ends there, and its length (s); `None` at the start.
    pub loads: Option<(&'e [Load], f64)>,
}

/// Something that happens during a run; limits that press are lasting contacts.
pub type JointEvent<'e> = hybrid::Event<'e, JointSample<'e>, JointImpact, LimitContact>;

/// State of a run after its end.
#[derive(Clone, Debug)]
pub struct JointedEnd {
    /// Outcome.
    pub ending: Ending<MotionError>,
    /// Time (s).
    pub time: f64,
    /// Bodies, coordinates and rotors.
    pub posture: Posture,
    /// Rates of the coordinates.
    pub rates: Vec<f64>,
    /// Force of spring, damper, friction and actuator along each coordinate.
    pub forces: Vec<f64>,
    /// Impulses of the joints in the last step, and its length (s).
    pub loads: Option<(Vec<Load>, f64)>,
    /// Instants of impact.
    pub n_impacts: usize,
    /// Steps.
    pub n_steps: usize,
    /// Works of actuators, dampers and dry friction (J).
    pub works: Works,
    /// Energy that impacts took (J).
    pub impact_loss: f64,
    /// Largest difference of the energy and its losses, less the work of actuators, from the energy at the start (J).
    pub energy_error: f64,
    /// Impulses of the ground (first) and of each body that never moves, through joints (N s).
    pub supports: Vec<Vector3<f64>>,
    /// Largest residual of a joint (m).
    pub residual: f64,
}

impl JointedWorld {
    /// Checks and assembles.
    ///
    /// # Errors
    ///
    /// [`MotionError::Joint`].
    pub fn new(spec: &JointedSpec) -> Result<Self, MotionError> {
        let multibody = Multibody::new(&spec.multibody).map_err(MotionError::Joint)?;
        let (start, assembly) = multibody
            .assemble(&spec.placed)
            .map_err(MotionError::Joint)?;
        let mut rows = Vec::new();
        for (j, joint) in multibody.joints().iter().enumerate() {
            let (_, first) = multibody.rows_of(j);
            rows.extend(first..first + joint.coordinates.len());
        }
        let loses = |c: &CoordinateSpec| {
            let gains = c.actuator.as_ref().is_some_and(Actuator::dissipates);
            c.damping > 0.0 || c.friction > 0.0 || gains
        };
        let dissipates = multibody.coordinates().any(loses)
            || multibody
                .joints()
                .iter()
                .any(|joint| joint.ball.damping > 0.0);
        let fractions: &'static [f64] = match spec.flight {
            FlightRule::Lgvi4 if !dissipates => &SUZUKI_4,
            FlightRule::Lgvi6 if !dissipates => &YOSHIDA_6,
            _ => &[1.0],
        };
        let mut corners: Vec<f64> = multibody
            .coordinates()
            .filter_map(|c| c.actuator.as_ref())
            .flat_map(|actuator| actuator.corners().to_vec())
            .filter(|time| *time > 0.0)
            .collect();
        corners.sort_by(f64::total_cmp);
        corners.dedup();
        let mut stepper = Stepper::new(&multibody);
        if let Some((fastest, k)) = stepper.fastest(&start).map_err(MotionError::Joint)?
            && spec.time_step * fastest >= 2.0
        {
            let joint = multibody.joint_of_row(rows[k]);
            return Err(MotionError::Joint(JointError::StepTooLarge {
                joint: multibody.joints()[joint].name.clone(),
                step: spec.time_step,
                time: 0.0,
                reason: format!("its spring needs a step below {} s", 2.0 / fastest),
            }));
        }
        let ranks = stepper
            .condition_ranks(&start)
            .map_err(MotionError::Joint)?;
        Ok(Self {
            multibody,
            start,
            assembly,
            fractions,
            time_step: spec.time_step,
            rows,
            ranks,
            corners,
        })
    }

    /// Bodies and joints.
    pub fn multibody(&self) -> &Multibody {
        &self.multibody
    }

    /// Everything at the start.
    pub fn start(&self) -> &Posture {
        &self.start
    }

    /// Differences that were closed at the start.
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// Number of conditions, and how many of them are independent.
    pub fn ranks(&self) -> (usize, usize) {
        self.ranks
    }

    /// Row of a coordinate's rate.
    pub(super) fn row_of(&self, coordinate: usize) -> usize {
        self.rows[coordinate]
    }

    /// Runs from the start, and reports samples and events in their order. `control` sees time, coordinates and rates at
    /// every line of the grid, and sets forces along the coordinates until the next.
    pub fn run<'o>(
        &'o self,
        laws: &Laws<'o>,
        limits: &Limits,
        samples: &'o [f64],
        control: Option<&'o mut Control<'o>>,
        observe: &'o mut (dyn FnMut(JointEvent<'_>) + 'o),
    ) -> JointedEnd {
        let mb = &self.multibody;
        let mut run = Run {
            world: self,
            laws: *laws,
            limits: *limits,
            posture: self.start.clone(),
            rates: self.start_rates(),
            time: 0.0,
            modes: Modes::free(mb),
            stepper: Stepper::new(mb),
            line: 0,
            samples,
            control,
            observe,
            at_once: 0,
            n_impacts: 0,
            n_steps: 0,
            works: Works::default(),
            impact_loss: 0.0,
            energy_error: 0.0,
            initial: mb.energy(&self.start),
            supports: vec![Vector3::zeros(); 1 + mb.n_bodies()],
            residual: 0.0,
            holding: vec![0.0; mb.n_coordinates()],
            last: None,
        };
        let ending = match run.go() {
            Ok(ending) => ending,
            Err(error) => Ending::Stopped(error),
        };
        let forces = run.forces(run.time, &run.posture.q, &run.rates);
        JointedEnd {
            ending,
            forces,
            loads: run.last,
            time: run.time,
            posture: run.posture,
            rates: run.rates,
            n_impacts: run.n_impacts,
            n_steps: run.n_steps,
            works: run.works,
            impact_loss: run.impact_loss,
            energy_error: run.energy_error,
            supports: run.supports,
            residual: run.residual * mb.size(),
        }
    }

    fn start_rates(&self) -> Vec<f64> {
        let (mut rows, mut velocities, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        self.multibody
            .rows(&self.start.states, &self.start.q, &mut rows);
        self.multibody
            .velocities(&self.start.states, &mut velocities);
        self.multibody
            .coordinate_rates(&rows, &velocities, &mut rates);
        rates
    }
}

/// Forces along all coordinates at a time, from coordinates and rates.
pub type Control<'c> = dyn FnMut(f64, &[f64], &[f64]) -> Vec<f64> + 'c;

/// A run on its way.
pub(super) struct Run<'w, 'o> {
    pub(super) world: &'w JointedWorld,
    pub(super) laws: Laws<'o>,
    limits: Limits,
    pub(super) posture: Posture,
    pub(super) rates: Vec<f64>,
    pub(super) time: f64,
    modes: Modes,
    pub(super) stepper: Stepper<'w>,
    /// Lines of the grid passed.
    line: u64,
    samples: &'o [f64],
    control: Option<&'o mut Control<'o>>,
    observe: &'o mut (dyn FnMut(JointEvent<'_>) + 'o),
    at_once: usize,
    pub(super) n_impacts: usize,
    n_steps: usize,
    works: Works,
    impact_loss: f64,
    energy_error: f64,
    initial: f64,
    supports: Vec<Vector3<f64>>,
    residual: f64,
    /// Mean forces that held coordinates in the last step.
    holding: Vec<f64>,
    last: Option<(Vec<Load>, f64)>,
}

/// Change of a coordinate's mode within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// A limit is reached.
    Limit,
    /// Sliding stops.
    Stop(usize),
    /// Sticking ends, and sliding begins.
    Slip(usize),
}

/// An event function of the length of a step: positive before the event.
type Gauge<'g> = &'g dyn Fn(&Step, f64) -> f64;

impl Run<'_, '_> {
    fn go(&mut self) -> Result<Ending<MotionError>, MotionError> {
        self.begin()?;
        loop {
            self.due_samples();
            if self.n_impacts >= self.limits.impacts {
                return Ok(Ending::MaxImpacts);
            }
            if self.time >= self.limits.duration {
                return Ok(Ending::Completed);
            }
            let target = self.target();
            let before = self.time;
            self.advance(target)?;
            self.at_once = if self.time > before + INSTANT {
                0
            } else {
                self.at_once + 1
            };
            if self.at_once > EVENTS_PER_INSTANT {
                return Err(MotionError::EventLimit {
                    limit: EVENTS_PER_INSTANT,
                    time: self.time,
                });
            }
        }
    }

    fn begin(&mut self) -> Result<(), MotionError> {
        self.refresh_friction();
        self.ask_control();
        self.meet_limits()
    }

    /// The next line of the grid, corner of a table, or the end.
    fn target(&self) -> f64 {
        let line = (self.line + 1) as f64 * self.world.time_step;
        let mut target = line.min(self.limits.duration);
        let after = self
            .world
            .corners
            .partition_point(|t| *t <= self.time + INSTANT);
        if let Some(corner) = self.world.corners.get(after) {
            target = target.min(*corner);
        }
        target
    }

    fn coordinate(&self, k: usize) -> (&CoordinateSpec, usize) {
        let mb = self.world.multibody();
        let joint = mb.joint_of_row(self.world.rows[k]);
        let first = mb.coordinates_of(joint).start;
        (&mb.joints()[joint].coordinates[k - first], joint)
    }

    fn ask_control(&mut self) {
        if let Some(control) = &mut self.control {
            let forces = control(self.time, &self.posture.q, &self.rates);
            for (held, force) in self.modes.control.iter_mut().zip(forces) {
                *held = if force.is_finite() { force } else { 0.0 };
            }
        }
    }

    /// Coordinates with dry friction slide or stick by their rates.
    fn refresh_friction(&mut self) {
        for k in 0..self.rates.len() {
            let (c, _) = self.coordinate(k);
            if c.friction == 0.0 || self.at_limit(k).is_some() {
                continue;
            }
            let rate = self.rates[k];
            if rate.abs() > AT_REST {
                self.modes.held[k] = None;
                self.modes.slides[k] = rate.signum();
            } else {
                self.modes.held[k] = Some(self.posture.q[k]);
                self.modes.slides[k] = 0.0;
            }
        }
    }

    /// The limit that a held coordinate rests on.
    fn at_limit(&self, k: usize) -> Option<LimitContact> {
        let held = self.modes.held[k]?;
        let (c, _) = self.coordinate(k);
        let upper = held == c.upper;
        (upper || held == c.lower).then_some(LimitContact {
            coordinate: k,
            upper,
        })
    }

    fn step_for(&mut self, length: f64) -> Result<Step, MotionError> {
        let (fractions, time) = (self.world.fractions, self.time);
        self.stepper
            .preview(&self.posture, time, length, fractions, &self.modes)
            .map_err(MotionError::Joint)
    }

    /// One step towards a time, or to the first event before it.
    fn advance(&mut self, target: f64) -> Result<(), MotionError> {
        let length = target - self.time;
        let (fractions, time) = (self.world.fractions, self.time);
        let saved = self.stepper.clone();
        let step = self
            .stepper
            .compose(&self.posture, time, length, fractions, &self.modes)
            .map_err(MotionError::Joint)?;
        if self.release(&step, length) {
            self.stepper.forget();
            return Ok(());
        }
        let events = self.events(&step, length)?;
        let Some((first, _)) = events.iter().min_by(|a, b| a.0.total_cmp(&b.0)).copied() else {
            self.accept(step, length, target)?;
            return Ok(());
        };
        self.stepper = saved;
        if first > INSTANT {
            let part = self
                .stepper
                .compose(&self.posture, time, first, fractions, &self.modes)
                .map_err(MotionError::Joint)?;
            self.accept(part, first, time + first)?;
        }
        self.stepper.forget();
        for (at, change) in events {
            if at > first + INSTANT {
                continue;
            }
            match change {
                Change::Limit => (),
                Change::Stop(k) => {
                    self.modes.held[k] = Some(self.posture.q[k]);
                    self.modes.slides[k] = 0.0;
                }
                Change::Slip(k) => {
                    self.modes.held[k] = None;
                    self.modes.slides[k] = -self.holding[k].signum();
                }
            }
        }
        self.meet_limits()
    }

    /// Opens limits that would pull; true if there were any.
    fn release(&mut self, step: &Step, length: f64) -> bool {
        let mut opened = false;
        for k in 0..self.rates.len() {
            let Some(contact) = self.at_limit(k) else {
                continue;
            };
            let (c, _) = self.coordinate(k);
            let friction = c.friction;
            let press = contact.sign() * (step.holding[k][0] + step.holding[k][1]);
            if press < -friction * length {
                self.modes.held[k] = None;
                self.modes.slides[k] = if friction > 0.0 { contact.sign() } else { 0.0 };
                (self.observe)(JointEvent::Released {
                    time: self.time,
                    contact,
                });
                opened = true;
            }
        }
        opened
    }

    /// All events within a step, each with its time from the start of the step.
    fn events(&mut self, step: &Step, length: f64) -> Result<Vec<(f64, Change)>, MotionError> {
        let mut events = Vec::new();
        for k in 0..self.rates.len() {
            let (c, _) = self.coordinate(k);
            let (lower, upper, friction) = (c.lower, c.upper, c.friction);
            match self.modes.held[k] {
                Some(_) if self.at_limit(k).is_some() => continue,
                Some(_) => {
                    let excess = |step: &Step, s: f64| {
                        let [first, second] = step.holding[k];
                        friction - (first + second).abs() / s
                    };
                    if excess(step, length) < -1e-9 * friction {
                        let at = self.root(&excess, friction, length)?;
                        // The direction of what it can no longer hold.
                        let [first, second] = step.holding[k];
                        self.holding[k] = (first + second) / length;
                        events.push((at, Change::Slip(k)));
                    }
                    continue;
                }
                None => (),
            }
            let slides = self.modes.slides[k];
            if slides != 0.0 && step.rates[k] * slides < 0.0 {
                let rate = self.rates[k] * slides;
                let at = self.root(&|step, _| step.rates[k] * slides, rate, length)?;
                events.push((at, Change::Stop(k)));
            }
            for (bound, sign) in [(lower, 1.0), (upper, -1.0)] {
                if bound.is_infinite() {
                    continue;
                }
                let gap = |step: &Step, _: f64| sign * (step.end.q[k] - bound);
                let now = sign * (self.posture.q[k] - bound);
                let end = gap(step, length);
                let reach = match end < 0.0 {
                    true => Some(length),
                    false => self.dip(k, sign, now, end, step, length, &gap)?,
                };
                if let Some(reach) = reach {
                    let at = self.root(&gap, now, reach)?;
                    events.push((at, Change::Limit));
                }
            }
        }
        Ok(events)
    }

    /// A length at which a coordinate that comes back within the step is beyond its limit.
    #[allow(clippy::too_many_arguments)]
    fn dip(
        &mut self,
        k: usize,
        sign: f64,
        now: f64,
        end: f64,
        step: &Step,
        length: f64,
        gap: Gauge<'_>,
    ) -> Result<Option<f64>, MotionError> {
        let (before, after) = (sign * self.rates[k], sign * step.rates[k]);
        if !(before < 0.0 && after > 0.0) {
            return Ok(None);
        }
        // The lowest point of the cubic through both ends, and margin for what the cubic misses.
        let (a, b) = (before * length, after * length);
        let cubic = |u: f64| {
            let (v, w) = (1.0 - u, u * u);
            now * v * v * (1.0 + 2.0 * u) + a * u * v * v + end * w * (3.0 - 2.0 * u) - b * w * v
        };
        let points = (1..64).map(|i| f64::from(i) / 64.0);
        let lowest = points
            .min_by(|u, v| cubic(*u).total_cmp(&cubic(*v)))
            .unwrap_or(0.5);
        if cubic(lowest) > 0.05 * (b - a) {
            return Ok(None);
        }
        let (mut low, mut high) = (lowest - 1.0 / 64.0, lowest + 1.0 / 64.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            let step = self.step_for(middle * length)?;
            if gap(&step, middle * length) < 0.0 {
                return Ok(Some(middle * length));
            }
            if sign * step.rates[k] < 0.0 {
                low = middle
            } else {
                high = middle
            }
        }
        Ok(None)
    }

    /// Length of the step that ends at an event: a root within (0, `length`], by false position with a bracket.
    fn root(&mut self, gauge: Gauge<'_>, start: f64, length: f64) -> Result<f64, MotionError> {
        let (mut low, mut at_low) = (0.0, start);
        let mut high = length;
        let mut budget = MOST_EVALUATIONS;
        // After an event the function is about zero: it first must rise.
        let mut probe = 0.5 * length;
        while !(at_low > 0.0) || low == 0.0 && start <= f64::EPSILON {
            if probe < INSTANT || budget == 0 {
                return Ok(0.0);
            }
            budget -= 1;
            let step = self.step_for(probe)?;
            let value = gauge(&step, probe);
            if value > 0.0 {
                (low, at_low) = (probe, value);
                break;
            }
            high = probe;
            probe *= 0.5;
        }
        let step = self.step_for(high)?;
        let mut at_high = gauge(&step, high);
        if at_high > 0.0 {
            return Ok(high);
        }
        let mut side = 0;
        while high - low > INSTANT && budget > 0 && at_high != 0.0 {
            budget -= 1;
            let mut next = (low * at_high - high * at_low) / (at_high - at_low);
            // A step towards the middle where false position has stalled.
            if !(next > low && next < high) || budget.is_multiple_of(8) {
                next = 0.5 * (low + high);
            }
            // Close brackets from both sides.
            let margin = 0.25 * INSTANT;
            next = next.clamp(low + margin, high - margin);
            let step = self.step_for(next)?;
            let value = gauge(&step, next);
            if value > 0.0 {
                (low, at_low) = (next, value);
                if side == 1 {
                    at_high *= 0.5;
                }
                side = 1;
            } else {
                (high, at_high) = (next, value);
                if side == -1 {
                    at_low *= 0.5;
                }
                side = -1;
            }
        }
        Ok(if at_high == 0.0 {
            high
        } else {
            0.5 * (low + high)
        })
    }

    /// Goes to the end of a step.
    fn accept(&mut self, step: Step, length: f64, end: f64) -> Result<(), MotionError> {
        self.samples_within(end)?;
        let mb = self.world.multibody();
        self.works.add(&step.works);
        self.residual = self.residual.max(step.residual);
        for (j, load) in step.loads.iter().enumerate() {
            self.support(j, &load.total);
        }
        for (mean, [first, second]) in self.holding.iter_mut().zip(&step.holding) {
            *mean = (first + second) / length;
        }
        (self.posture, self.rates) = (step.end, step.rates);
        self.last = Some((step.loads, length));
        self.time = end;
        self.n_steps += 1;
        let line = (self.line + 1) as f64 * self.world.time_step;
        if end >= line {
            self.line += 1;
            self.ask_control();
        }
        let energy = mb.energy(&self.posture);
        let taken = self.impact_loss + self.works.damper + self.works.friction;
        let error = (energy - self.initial + taken - self.works.actuator).abs();
        if error.is_finite() {
            self.energy_error = self.energy_error.max(error);
        }
        Ok(())
    }

    /// Adds an impulse on a joint's child to what the ground or a fixed parent gave.
    pub(super) fn support(&mut self, joint: usize, impulse: &Vector3<f64>) {
        let mb = self.world.multibody();
        let parent = mb.joints()[joint].parent;
        let place = match parent {
            None => 0,
            Some(body) if mb.rigid(body).is_none() => 1 + body,
            Some(_) => return,
        };
        if let Some(total) = self.supports.get_mut(place) {
            *total += impulse;
        }
    }

    /// Impacts at limits that are reached, and limits that begin to press.
    fn meet_limits(&mut self) -> Result<(), MotionError> {
        let mut list: Vec<(LimitContact, f64)> = Vec::new();
        let mut approaching = false;
        for k in 0..self.rates.len() {
            let (c, _) = self.coordinate(k);
            let q = self.posture.q[k];
            for (bound, upper) in [(c.lower, false), (c.upper, true)] {
                let contact = LimitContact {
                    coordinate: k,
                    upper,
                };
                let rate = contact.sign() * self.rates[k];
                let near = AT_LIMIT * (1.0 + bound.abs()) + 2.0 * INSTANT * rate.abs();
                if bound.is_infinite() || contact.sign() * (q - bound) > near {
                    continue;
                }
                let approaches = rate < -AT_REST;
                approaching |= approaches;
                if rate <= AT_REST {
                    list.push((contact, if approaches { c.restitution } else { 0.0 }));
                }
            }
        }
        if list.is_empty() {
            return Ok(());
        }
        if approaching {
            let impact = self.resolve(&list)?;
            self.impact_loss += impact.energy_minus - impact.energy_plus;
            self.n_impacts += 1;
            self.stepper.forget();
            (self.observe)(JointEvent::Impact(&impact));
        }
        for (contact, _) in list {
            let k = contact.coordinate;
            let rests = contact.sign() * self.rates[k] <= AT_REST;
            let held = self.at_limit(k).is_some();
            let time = self.time;
            if rests && !held {
                let (c, _) = self.coordinate(k);
                self.modes.held[k] = Some(if contact.upper { c.upper } else { c.lower });
                self.modes.slides[k] = 0.0;
                (self.observe)(JointEvent::Established { time, contact });
            } else if held && !rests {
                self.modes.held[k] = None;
                (self.observe)(JointEvent::Released { time, contact });
            }
        }
        if approaching {
            self.refresh_friction();
        }
        Ok(())
    }

    /// Samples at the time that is reached.
    fn due_samples(&mut self) {
        while let Some((sample, rest)) = self.samples.split_first() {
            if *sample > self.time + INSTANT * (1.0 + self.time) {
                return;
            }
            self.samples = rest;
            let forces = self.forces(*sample, &self.posture.q, &self.rates);
            let loads = self
                .last
                .as_ref()
                .map(|(loads, length)| (loads.as_slice(), *length));
            (self.observe)(JointEvent::Sample(JointSample {
                time: *sample,
                posture: &self.posture,
                rates: &self.rates,
                forces: &forces,
                loads,
            }));
        }
    }

    /// Samples before the end of a step that has not been taken: ends of shortened steps.
    fn samples_within(&mut self, end: f64) -> Result<(), MotionError> {
        while let Some((sample, rest)) = self.samples.split_first() {
            if *sample >= end - INSTANT * (1.0 + end) {
                return Ok(());
            }
            self.samples = rest;
            let length = *sample - self.time;
            let step = self.step_for(length)?;
            let forces = self.forces(*sample, &step.end.q, &step.rates);
            (self.observe)(JointEvent::Sample(JointSample {
                time: *sample,
                posture: &step.end,
                rates: &step.rates,
                forces: &forces,
                loads: Some((&step.loads, length)),
            }));
        }
        Ok(())
    }

    /// Forces of springs, dampers, friction and actuators.
    fn forces(&self, time: f64, q: &[f64], rates: &[f64]) -> Vec<f64> {
        let mb = self.world.multibody();
        let one = |(k, c): (usize, &CoordinateSpec)| {
            let friction = match (self.modes.held[k], self.at_limit(k)) {
                (Some(_), None) => self.holding[k],
                (Some(_), Some(_)) => 0.0,
                (None, _) => -c.friction * self.modes.slides[k],
            };
            let actuator = c
                .actuator
                .as_ref()
                .map_or(0.0, |a| a.force(q[k], rates[k], time, true));
            c.stiffness * (c.rest - q[k]) - c.damping * rates[k]
                + friction
                + actuator
                + self.modes.control[k]
        };
        mb.coordinates().enumerate().map(one).collect()
    }
}
