//! Main loop of a run of jointed bodies: steps, limits, dry friction, samples.

use super::contact::{Change, LimitContact};
use super::memory::{Bounces, Crowding, Lasting, Plastic, PlasticTouches, Resting, Rubbing};
use super::pressing::{PairStep, Pressing};
use super::world::{Control, JointEvent, JointSample, JointedEnd, JointedWorld};
use crate::{Laws, MotionError, limits};
use carom_joints::coordinates::CoordinateSpec;
use carom_joints::step::{History, Load, Modes, Step, Stepper, Works};
use carom_joints::{JointError, Posture};
use carom_motion::hybrid::{Ending, Limits};
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};

/// Accuracy to which the times of events are located (s).
pub(super) const INSTANT: f64 = 1e-12;

/// Speeds below this fraction of the fastest speed of the run count as rest: a contact that an impact leaves slower than this is
/// at rest. Rounding of an impact is some 1e-14 of the speeds, more with unequal masses.
const AT_REST: f64 = 1e-10;

/// Distance within which a coordinate counts as being at its limit, as a fraction of its unit (1 rad, or the size of the system)
/// plus the size of the limit itself. Steps end at a limit with residuals of at most 1e-12 of the size.
const AT_LIMIT: f64 = 1e-11;

/// Impacts at a limit end when the coordinate rises by less than this between two of them, as a fraction of its unit (1 rad, or
/// the size of the system) or of the limit if that is larger. Coordinates are measured from the bodies with a rounding of some
/// 1e-15.
const FLAT: f64 = 64.0 * f64::EPSILON;

/// Largest number of events at one time before the run fails with an error.
pub(super) const EVENTS_PER_INSTANT: usize = 10_000;

/// Largest number of times that a step is halved when its contact impulses cannot be found: contacts that jam over a long step
/// may have a solution over a shorter one.
const SHORTENINGS: i32 = 4;

/// Number of events that may split one interval of the time grid. After that, the impulses of the steps close further points of
/// lasting pairs, without a search for the time.
const MOST_SPLITS: usize = 24;

/// Impulses of a trial step are the initial guess of a step that is at most this many times as long.
const MOST_STRETCHED: f64 = 4.0;

/// Number of stick-slip transitions of dry friction within one interval of the time grid, before friction becomes implicit.
const MOST_TURNS: usize = 4;

impl JointedWorld {
    /// Simulates the motion of the jointed bodies from the initial state until one of the `limits` (time, number of impacts)
    /// is reached.
    ///
    /// Reports the states at the times `samples` (s, ascending) and all events to `observe`, in order of time. If given,
    /// `control` is called at every grid time (multiples of the time step) with the time (s), the joint coordinates and their
    /// rates; it returns the forces along the coordinates (N or N m) until the next grid time.
    pub fn run<'o>(
        &'o self,
        laws: &Laws<'o>,
        limits: &Limits,
        samples: &'o [f64],
        control: Option<&'o mut Control<'o>>,
        observe: &'o mut (dyn FnMut(JointEvent<'_>) + 'o),
    ) -> JointedEnd {
        let mb = &self.multibody;
        let fall = mb.gravity().norm() * self.time_step;
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
            fastest: fall + mb.fastest_speed(&self.start.states),
            n_impacts: 0,
            n_steps: 0,
            works: Works::default(),
            impact_loss: 0.0,
            energy_error: 0.0,
            most_kinetic: mb.kinetic(&self.start),
            initial: mb.energy(&self.start),
            supports: vec![Vector3::zeros(); 1 + mb.n_bodies() + self.touch.n_planes()],
            pressing: Pressing::new(&self.touch),
            lasting: BTreeMap::new(),
            held_pairs: BTreeSet::new(),
            plastic: BTreeMap::new(),
            kept_limits: BTreeSet::new(),
            bounces: BTreeMap::new(),
            limit_bounces: BTreeMap::new(),
            results: BTreeMap::new(),
            splits: 0,
            rubbing: Rubbing::default(),
            crowding: Crowding::default(),
            previewed: None,
            backup: None,
            backs_up: false,
            resting: Resting::default(),
            ended: None,
            lowest_gap: self.touch.lowest_gap(&self.start.states, f64::INFINITY),
            residual: 0.0,
            friction_exceeded: 0,
            holding: vec![0.0; mb.n_coordinates()],
            leaving: Vec::new(),
            last: None,
        };
        let checked = limits::check(limits, samples.iter().copied());
        let ending = match checked.and_then(|()| run.go()) {
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
            lowest_gap: run.lowest_gap,
            residual: run.residual * mb.size(),
            friction_exceeded: run.friction_exceeded,
        }
    }
}

/// State of a run in progress.
pub(super) struct Run<'w, 'o> {
    pub(super) world: &'w JointedWorld,
    pub(super) laws: Laws<'o>,
    limits: Limits,
    pub(super) posture: Posture,
    pub(super) rates: Vec<f64>,
    pub(super) time: f64,
    pub(super) modes: Modes,
    pub(super) stepper: Stepper<'w>,
    /// Number of grid times passed.
    pub(super) line: u64,
    samples: &'o [f64],
    control: Option<&'o mut Control<'o>>,
    pub(super) observe: &'o mut (dyn FnMut(JointEvent<'_>) + 'o),
    at_once: usize,
    /// Fastest speed of a body so far (m/s), the largest of: velocity plus angular velocity times size, and the speed that
    /// gravity gives in one step.
    pub(super) fastest: f64,
    pub(super) n_impacts: usize,
    n_steps: usize,
    pub(super) works: Works,
    pub(super) impact_loss: f64,
    pub(super) energy_error: f64,
    /// Largest kinetic energy so far (J).
    pub(super) most_kinetic: f64,
    pub(super) initial: f64,
    supports: Vec<Vector3<f64>>,
    pub(super) pressing: Pressing<'w>,
    /// Lasting pairs, by index of the pair.
    pub(super) lasting: BTreeMap<usize, Lasting>,
    /// Pairs that stay lasting contacts until the next grid time, even if they separate.
    pub(super) held_pairs: BTreeSet<usize>,
    /// Number of impacts without restitution since the last grid time.
    pub(super) plastic: BTreeMap<Plastic, PlasticTouches>,
    /// Coordinates that stay at their limit until the next grid time, even if the limit would pull.
    pub(super) kept_limits: BTreeSet<usize>,
    pub(super) bounces: BTreeMap<usize, Bounces>,
    pub(super) limit_bounces: BTreeMap<LimitContact, Bounces>,
    /// Contact results of the latest step, by pair.
    pub(super) results: BTreeMap<usize, PairStep>,
    /// Number of splits since the last grid time.
    pub(super) splits: usize,
    pub(super) rubbing: Rubbing,
    pub(super) crowding: Crowding,
    /// Length (s) and impulses of the latest trial step from the current posture; `None` if there was no such step.
    previewed: Option<(f64, History)>,
    /// Contact results and contact impulses before the first trial step of a search for events; `None` without trial steps.
    backup: Option<Box<(BTreeMap<usize, PairStep>, Pressing<'w>)>>,
    /// True during a search for events.
    backs_up: bool,
    pub(super) resting: Resting,
    pub(super) ended: Option<Ending<MotionError>>,
    pub(super) lowest_gap: f64,
    residual: f64,
    friction_exceeded: usize,
    /// Mean force that kept each held coordinate in place in the last step (N or N m).
    pub(super) holding: Vec<f64>,
    /// Limits that have opened at the current time.
    pub(super) leaving: Vec<LimitContact>,
    pub(super) last: Option<(Vec<Load>, f64)>,
}

impl Run<'_, '_> {
    fn go(&mut self) -> Result<Ending<MotionError>, MotionError> {
        self.begin()?;
        loop {
            self.due_samples();
            if self.n_impacts >= self.limits.impacts {
                return Ok(Ending::MaxImpacts);
            }
            if let Some(ended) = self.ended.take() {
                return Ok(ended);
            }
            if self.time >= self.limits.duration {
                return Ok(Ending::Completed);
            }
            if self.limits.duration == f64::INFINITY && self.rests_for_ever() {
                return Ok(Ending::AtRest);
            }
            let target = self.target();
            let before = self.time;
            self.advance(target)?;
            let (world, states) = (self.world, &self.posture.states);
            world
                .touch
                .check_places(&world.multibody, states, self.time)?;
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
        self.ask_control()?;
        self.meet(&[])
    }

    /// Returns the time at which the next step must end (s): the next grid time (multiple of the time step), the next
    /// breakpoint of a tabulated input, or the end of the run.
    fn target(&self) -> f64 {
        let line = (self.line + 1) as f64 * self.world.time_step;
        let mut target = line;
        let after = self
            .world
            .corners
            .partition_point(|t| *t <= self.time + INSTANT);
        // Times that differ by rounding are one instant. The breakpoint is used: the slope changes there.
        if let Some(corner) = self.world.corners.get(after)
            && *corner <= target + INSTANT
        {
            target = *corner;
        }
        if self.limits.duration <= target + INSTANT {
            self.limits.duration
        } else {
            target
        }
    }

    pub(super) fn coordinate(&self, k: usize) -> (&CoordinateSpec, usize) {
        let mb = self.world.multibody();
        let joint = mb.joint_of_row(self.world.rows[k]);
        let first = mb.coordinates_of(joint).start;
        (&mb.joints()[joint].coordinates[k - first], joint)
    }

    /// Calls the user's control function for the forces on the joint coordinates, which then stay constant until the
    /// next grid time (multiple of the time step).
    fn ask_control(&mut self) -> Result<(), MotionError> {
        let Some(control) = &mut self.control else {
            return Ok(());
        };
        let forces = control(self.time, &self.posture.q, &self.rates);
        for (held, force) in self.modes.control.iter_mut().zip(&forces) {
            *held = if force.is_finite() { *force } else { 0.0 };
        }
        match forces.iter().position(|force| !force.is_finite()) {
            Some(k) if k < self.rates.len() => {
                let (_, joint) = self.coordinate(k);
                Err(MotionError::Joint(JointError::ActuatorForce {
                    joint: self.world.multibody.joints()[joint].name.clone(),
                    time: self.time,
                }))
            }
            _ => Ok(()),
        }
    }

    /// Returns the length or angle against which joint coordinate `k` is compared in tolerances: 1 rad for an angle, the size of
    /// the system (m) for a length.
    pub(super) fn unit(&self, k: usize) -> f64 {
        let mb = self.world.multibody();
        let joint = mb.joint_of_row(self.world.rows[k]);
        let place = k - mb.coordinates_of(joint).start;
        if mb.joints()[joint].kind.coordinates[place].is_angle {
            1.0
        } else {
            mb.size()
        }
    }

    /// Returns the rate below which joint coordinate `k` counts as at rest (rad/s or m/s).
    pub(super) fn still_rate(&self, k: usize) -> f64 {
        AT_REST * self.fastest * self.unit(k) / self.world.multibody().size()
    }

    /// Returns the distance within which joint coordinate `k` counts as being at its limit `bound` (rad or m).
    pub(super) fn at_bound(&self, k: usize, bound: f64) -> f64 {
        AT_LIMIT * (self.unit(k) + bound.abs())
    }

    /// Returns the largest rebound of a joint coordinate from its limit that cannot be distinguished from rounding
    /// error (rad or m).
    pub(super) fn flat(&self, limit: LimitContact) -> f64 {
        let (c, _) = self.coordinate(limit.coordinate);
        let bound = if limit.upper { c.upper } else { c.lower };
        FLAT * self.unit(limit.coordinate).max(bound.abs())
    }

    /// Returns the limit at which joint coordinate `k` is held, or `None` if the coordinate is free or held by friction.
    pub(super) fn at_limit(&self, k: usize) -> Option<LimitContact> {
        let held = self.modes.held[k]?;
        let (c, _) = self.coordinate(k);
        let upper = held == c.upper;
        (upper || held == c.lower).then_some(LimitContact {
            coordinate: k,
            upper,
        })
    }

    /// True if one step of the time grid is composed of several substeps (methods of orders 4 and 6) and no contact of bodies
    /// lasts.
    pub(super) fn is_composed(&self) -> bool {
        self.world.fractions.len() > 1 && self.pressing.is_empty()
    }

    /// Computes a trial step of order 2 and of the given length (s). The state of the run does not change.
    pub(super) fn plain_step(&mut self, length: f64) -> Result<Step, MotionError> {
        let time = self.time;
        self.stepper
            .preview(&self.posture, time, length, &[1.0], &self.modes)
            .map_err(MotionError::Joint)
    }

    /// Computes a trial step of the given length (s) from the current state. Positions and velocities of the run do not change;
    /// the impulses of the trial step are kept as the initial guess of later ones.
    pub(super) fn step_for(&mut self, length: f64) -> Result<Step, MotionError> {
        if self.backs_up && self.backup.is_none() {
            self.backup = Some(Box::new((self.results.clone(), self.pressing.clone())));
        }
        let history = self.stepper.history();
        self.start_from_preview(length);
        let step = self.make(length);
        if let Ok(step) = &step
            && !self.pressing.is_short(length)
        {
            self.previewed = Some((length, self.stepper.latest()));
            if !self.pressing.is_empty() {
                self.pressing.remember(step, length);
            }
        }
        self.stepper.restore(history);
        step
    }

    /// Uses the impulses of the latest trial step as the initial guess for a step of `length` (s). These impulses are
    /// not used if the trial step was much shorter: the part of its impulses that corrects residuals is then too large
    /// for the longer step.
    fn start_from_preview(&mut self, length: f64) {
        if let Some((of, previewed)) = &self.previewed
            && length <= MOST_STRETCHED * of
            && !self.is_composed()
        {
            self.stepper.restore(previewed.clone());
        }
    }

    /// Computes a step of the given length (s) from the current state without accepting it. Stores the results of lasting
    /// contacts of that step in the field `results`.
    pub(super) fn make(&mut self, length: f64) -> Result<Step, MotionError> {
        let time = self.time;
        let (stepper, posture, modes) = (&mut self.stepper, &self.posture, &self.modes);
        let made = if self.pressing.is_empty() {
            stepper.compose(posture, time, length, self.world.fractions, modes)
        } else {
            stepper.step_with(posture, time, length, modes, &mut self.pressing)
        };
        let step = made.map_err(MotionError::Joint)?;
        self.results = if self.pressing.is_empty() {
            BTreeMap::new()
        } else {
            self.pressing.results(&step)
        };
        Ok(step)
    }

    /// Advances the run by one step to the time `target` (s) or to the first event before it. If no contact impulses are found
    /// for the step, shorter steps are tried, then implicit friction.
    fn advance(&mut self, target: f64) -> Result<(), MotionError> {
        let begin = self.time;
        let mut made = self.attempt(target);
        for shortened in 1..=SHORTENINGS {
            if self.time > begin || !self.may_be_shorter(&made) {
                break;
            }
            self.pressing.forget();
            self.stepper.forget();
            if self.is_held_by_friction() {
                break;
            }
            made = self.attempt(begin + (target - begin) * carom_numeric::power(0.5, shortened));
        }
        if let Err(MotionError::Joint(JointError::ContactForces { .. })) = made
            && self.time <= begin
            && self.is_held_by_friction()
        {
            self.rub();
            made = self.attempt(target);
        }
        made
    }

    /// True if the failed step `made` may succeed with a shorter length: no contact impulses were found, or contact and
    /// constraint impulses did not converge together. If constraint impulses alone did not converge, the time step of the user is
    /// too large or the position is singular, and the result is false.
    fn may_be_shorter(&self, made: &Result<(), MotionError>) -> bool {
        match made {
            Err(MotionError::Joint(JointError::ContactForces { .. })) => true,
            Err(MotionError::Joint(
                JointError::StepTooLarge { .. } | JointError::SingularJoints { .. },
            )) => !self.pressing.is_empty(),
            _ => false,
        }
    }

    fn attempt(&mut self, target: f64) -> Result<(), MotionError> {
        if self.splits > MOST_SPLITS {
            self.hold_lasting();
        }
        let length = target - self.time;
        if let Some(step) = self.repeated(length) {
            self.results.clone_from(&self.resting.results);
            return self.accept(step, length, target);
        }
        let step = self.make(length)?;
        let mut step = self.leave(step, length)?;
        if self.release(&step, length)? {
            return Ok(());
        }
        (self.backup, self.backs_up) = (None, true);
        let events = self.events(&step, length);
        self.backs_up = false;
        let events = events?;
        let Some((first, _)) = events.iter().min_by(|a, b| a.0.total_cmp(&b.0)).copied() else {
            if let Some(before) = self.backup.take() {
                (self.results, self.pressing) = *before;
            }
            self.note_rest(&mut step, length);
            self.accept(step, length, target)?;
            return Ok(());
        };
        self.resting = Resting::default();
        self.stepper.forget();
        if first > INSTANT {
            self.start_from_preview(first);
            let part = self.make(first)?;
            self.accept(part, first, self.time + first)?;
        }
        self.let_go();
        self.splits += 1;
        self.stepper.forget();
        self.previewed = None;
        self.pressing.forget();
        let mut touched = Vec::new();
        for (at, change) in events {
            if at > first + INSTANT {
                continue;
            }
            match change {
                Change::Limit(_) | Change::Touch(_) if first <= INSTANT => touched.push(change),
                Change::Limit(_) | Change::Touch(_) => (),
                Change::Stop(k) => {
                    self.modes.held[k] = Some(self.posture.q[k]);
                    self.modes.slides[k] = 0.0;
                    self.rubbing.turns += 1;
                }
                Change::Slip(k) => {
                    self.modes.held[k] = None;
                    self.modes.slides[k] = -self.holding[k].signum();
                    self.rubbing.turns += 1;
                }
            }
        }
        if self.rubbing.turns > MOST_TURNS {
            self.rub();
        }
        self.meet(&touched)
    }

    /// Accepts a computed step of `length` (s): sets the state of the run to the end of the step, at the time `end` (s), and
    /// updates all sums and records.
    pub(super) fn accept(&mut self, step: Step, length: f64, end: f64) -> Result<(), MotionError> {
        self.samples_within(end)?;
        let mb = self.world.multibody();
        self.works.add(&step.works);
        self.residual = self.residual.max(step.residual);
        self.friction_exceeded += usize::from(step.friction_exceeded);
        for (j, load) in step.loads.iter().enumerate() {
            self.support(j, &load.total);
        }
        for (mean, [first, second]) in self.holding.iter_mut().zip(&step.holding) {
            *mean = (first + second) / length;
        }
        self.note_rubbing(&step, length);
        if !self.pressing.is_empty() {
            self.pressing.remember(&step, length);
        }
        (self.posture, self.rates) = (step.end, step.rates);
        self.let_go();
        self.previewed = None;
        self.last = Some((step.loads, length));
        let begin = self.time;
        self.time = end;
        self.n_steps += 1;
        if !self.world.touch.pairs.is_empty() {
            self.lowest_gap = self
                .world
                .touch
                .lowest_gap(&self.posture.states, self.lowest_gap);
        }
        self.note_lasting(begin);
        let line = (self.line + 1) as f64 * self.world.time_step;
        if end >= line - INSTANT {
            self.line += 1;
            self.splits = 0;
            self.plastic.clear();
            self.kept_limits.clear();
            self.end_rubbing();
            let held = self.held_pairs.len();
            self.end_crowding();
            if held > 0 {
                self.renew_pressing();
            }
            self.ask_control()?;
        }
        self.fastest = self.fastest.max(mb.fastest_speed(&self.posture.states));
        self.note_energy()
    }

    /// Adds a contact impulse (N s) to the sum of impulses on a body or plane that never moves; does nothing for a mobile body.
    /// `thing` is the index of the body, or of the plane counted after the bodies.
    pub(super) fn support_thing(&mut self, thing: usize, impulse: &Vector3<f64>) {
        if self.world.multibody().rigid(thing).is_none()
            && let Some(total) = self.supports.get_mut(1 + thing)
        {
            *total += impulse;
        }
    }

    /// Adds the impulse that a joint applies to its child body (N s) to the sum of the ground or of a fixed parent body. Does
    /// nothing if the parent is mobile.
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

    /// True if all samples are reported and no control function gives forces.
    pub(super) fn is_uncontrolled(&self) -> bool {
        self.samples.is_empty() && self.control.is_none()
    }

    /// Reports the samples that the user requested for times up to the current time.
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

    /// Reports the samples that the user requested for times before `end` (s), the end of a step that is not accepted yet. Each
    /// sample is the end of a shorter trial step.
    fn samples_within(&mut self, end: f64) -> Result<(), MotionError> {
        let is_due = |sample: &f64| *sample < end - INSTANT * (1.0 + end);
        if !self.samples.first().is_some_and(is_due) {
            return Ok(());
        }
        // Trial steps overwrite the contact results of the step to the end; they are restored below.
        let (results, pressing) = (self.results.clone(), self.pressing.clone());
        while let Some((sample, rest)) = self.samples.split_first() {
            if !is_due(sample) {
                break;
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
        (self.results, self.pressing) = (results, pressing);
        Ok(())
    }

    /// Returns the total force along each joint coordinate at the time `time` (s) (N or N m): spring, damper, friction, actuator
    /// and control. `q` holds the coordinates, `rates` their time derivatives.
    pub(super) fn forces(&self, time: f64, q: &[f64], rates: &[f64]) -> Vec<f64> {
        let mb = self.world.multibody();
        let one = |(k, c): (usize, &CoordinateSpec)| {
            let friction = match (self.modes.held[k], self.at_limit(k)) {
                _ if self.modes.implicit[k] => self.holding[k],
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
