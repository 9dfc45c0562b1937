//! Run of jointed bodies: steps, limits, dry friction.

#[cfg(feature = "serde")]
mod saved;

use super::contact::{Change, LimitContact};
use super::memory::{Bounces, Crowding, Lasting, Plastic, PlasticTouches, Resting, Rubbing};
use super::pressing::{PairStep, Pressing, PressingOf};
use super::touch::Touch;
use super::world::{JointedEnd, JointedEvent, JointedState, JointedWorld};
use crate::run::EVENTS_PER_INSTANT;
#[cfg(feature = "serde")]
use crate::saved::Part;
use crate::{ContactForce, HandedOver, Laws, MotionError, Scheme};
use carom_joints::step::{History, Load, Modes, Step, Stepper, StepperOf, Works};
use carom_joints::{JointError, Multibody, Posture};
use carom_motion::hybrid::Ending;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};

/// Accuracy to which the times of events are located (s).
pub(super) const INSTANT: f64 = 1e-12;

/// Largest number of times that a step is halved when its contact impulses cannot be found: contacts that jam over a long step
/// may have a solution over a shorter one.
pub(super) const SHORTENINGS: i32 = 4;

/// Number of events that may split one interval of the time grid. After that, the impulses of the steps close further points of
/// lasting pairs, without a search for the time.
const MOST_SPLITS: usize = 24;

/// Impulses of a trial step are the initial guess of a step that is at most this many times as long.
const MOST_STRETCHED: f64 = 4.0;

/// Number of stick-slip transitions of dry friction within one interval of the time grid, before friction becomes implicit.
const MOST_TURNS: usize = 4;

/// Run of jointed bodies. Between two calls of a session it is paused: then it holds neither the world `W`, the laws `L`, the system
/// `M` nor the shapes `T`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "W: Part, L: Part, M: Part, T: Part"))]
pub struct RunOf<W, L, M, T> {
    pub(super) world: W,
    pub(super) laws: L,
    pub(super) posture: Posture,
    pub(super) rates: Vec<f64>,
    pub(super) time: f64,
    pub(super) modes: Modes,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) stepper: StepperOf<M>,
    /// Number of grid times passed.
    pub(super) line: u64,
    at_once: usize,
    /// Fastest speed of a body so far (m/s), the largest of: velocity plus angular velocity times size, and the speed that
    /// gravity gives in one step.
    pub(super) fastest: f64,
    pub(super) n_impacts: usize,
    n_steps: usize,
    pub(super) works: Works,
    pub(super) impact_loss: f64,
    /// Energy (J) and momentum (N s) that inputs added.
    pub(super) input: f64,
    pub(super) input_impulse: Vector3<f64>,
    /// Work of the forces that the caller held (J), without those that he holds now.
    pub(super) applied: f64,
    pub(super) energy_error: f64,
    /// Largest kinetic energy so far (J).
    pub(super) most_kinetic: f64,
    pub(super) initial: f64,
    pub(super) supports: Vec<Vector3<f64>>,
    pub(super) pressing: PressingOf<T>,
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
    #[cfg_attr(feature = "serde", serde(skip))]
    backup: Option<Box<Backup<T>>>,
    /// True during a search for events.
    #[cfg_attr(feature = "serde", serde(skip))]
    backs_up: bool,
    pub(super) resting: Resting,
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::ending"))]
    pub(super) ended: Option<Ending<MotionError>>,
    pub(super) lowest_gap: f64,
    residual: f64,
    friction_exceeded: usize,
    /// Mean force that kept each held coordinate in place in the last step (N or N m).
    pub(super) holding: Vec<f64>,
    /// Limits that have opened at the current time.
    pub(super) leaving: Vec<LimitContact>,
    pub(super) last: Option<(Vec<Load>, f64)>,
    /// True if the run steps in time without a search for events.
    pub(super) leaps: bool,
    /// Number of such steps one after the other in which nothing moved.
    pub(super) still: usize,
    /// Switch to such steps; `None` before it.
    pub(super) handed_over: Option<HandedOver>,
    /// Forces of the contacts in the step that ended last.
    contacts: Vec<ContactForce>,
    /// Step that is computed and not accepted yet.
    pending: Option<Box<Pending>>,
    /// Events that are not reported yet.
    pub(super) events: Vec<JointedEvent>,
}

/// Run of jointed bodies with its world and its laws.
pub(super) type Run<'w> = RunOf<&'w JointedWorld, Laws<'w>, &'w Multibody, &'w Touch>;

/// Contact results and contact impulses.
type Backup<T> = (BTreeMap<usize, PairStep>, PressingOf<T>);

/// Step that ends at a grid time or at the first event, with the events at its end.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Pending {
    step: Step,
    length: f64,
    end: f64,
    events: Vec<(f64, Change)>,
}

impl<W, L, M, T> RunOf<W, L, M, T> {
    /// Returns this run with another world, other laws, and the system and the shapes of that world.
    pub(super) fn with<V, K, N, U>(
        self,
        world: V,
        laws: K,
        multibody: N,
        touch: U,
    ) -> RunOf<V, K, N, U> {
        RunOf {
            world,
            laws,
            posture: self.posture,
            rates: self.rates,
            time: self.time,
            modes: self.modes,
            stepper: self.stepper.with(multibody),
            line: self.line,
            at_once: self.at_once,
            fastest: self.fastest,
            n_impacts: self.n_impacts,
            n_steps: self.n_steps,
            works: self.works,
            impact_loss: self.impact_loss,
            input: self.input,
            input_impulse: self.input_impulse,
            applied: self.applied,
            energy_error: self.energy_error,
            most_kinetic: self.most_kinetic,
            initial: self.initial,
            supports: self.supports,
            pressing: self.pressing.with(touch),
            lasting: self.lasting,
            held_pairs: self.held_pairs,
            plastic: self.plastic,
            kept_limits: self.kept_limits,
            bounces: self.bounces,
            limit_bounces: self.limit_bounces,
            results: self.results,
            splits: self.splits,
            rubbing: self.rubbing,
            crowding: self.crowding,
            previewed: self.previewed,
            backup: None,
            backs_up: self.backs_up,
            resting: self.resting,
            ended: self.ended,
            lowest_gap: self.lowest_gap,
            residual: self.residual,
            friction_exceeded: self.friction_exceeded,
            holding: self.holding,
            leaving: self.leaving,
            last: self.last,
            leaps: self.leaps,
            still: self.still,
            handed_over: self.handed_over,
            contacts: self.contacts,
            pending: self.pending,
            events: self.events,
        }
    }
}

impl<'w> Run<'w> {
    /// Creates a run from the initial state of a world.
    pub(super) fn new(world: &'w JointedWorld, laws: Laws<'w>) -> Self {
        let mb = &world.multibody;
        let fall = mb.gravity().norm() * world.time_step;
        Self {
            world,
            laws,
            posture: world.start.clone(),
            rates: world.rates_of(&world.start),
            time: 0.0,
            modes: Modes::free(mb),
            stepper: Stepper::new(mb),
            line: 0,
            at_once: 0,
            fastest: fall + mb.fastest_speed(&world.start.states),
            n_impacts: 0,
            n_steps: 0,
            works: Works::default(),
            impact_loss: 0.0,
            input: 0.0,
            applied: -mb.held_work(&world.start),
            input_impulse: Vector3::zeros(),
            energy_error: 0.0,
            most_kinetic: mb.kinetic(&world.start),
            initial: mb.energy(&world.start),
            supports: vec![Vector3::zeros(); 1 + mb.n_bodies() + world.touch.n_planes()],
            pressing: Pressing::new(&world.touch),
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
            lowest_gap: world.touch.lowest_gap(&world.start.states, f64::INFINITY),
            residual: 0.0,
            friction_exceeded: 0,
            holding: vec![0.0; mb.n_coordinates()],
            leaving: Vec::new(),
            last: None,
            leaps: false,
            still: 0,
            handed_over: None,
            contacts: Vec::new(),
            pending: None,
            events: Vec::new(),
        }
    }

    /// Handles the contacts at the start.
    pub(super) fn begin(&mut self) -> Result<(), MotionError> {
        if let Some((Scheme::TimeStepping, _)) = self.world.steps {
            self.leap_on();
        }
        self.refresh_friction();
        self.meet(&[])
    }

    /// Makes the next step, or the next event where the last step ended, unless the step ends after `until` (s). Returns false if
    /// nothing is left to do up to then. A step that ends later is kept.
    pub(super) fn proceed(&mut self, until: f64) -> Result<bool, MotionError> {
        if self.reaches(until, self.time) {
            return Ok(false);
        }
        if self.leaps {
            return self.proceed_by_leaps(until);
        }
        let before = self.time;
        if self.pending.is_none() {
            let target = self.target();
            self.pending = self.prepare(target)?.map(Box::new);
        }
        match self.pending.take() {
            Some(pending) if !self.reaches_end(until, pending.end) => {
                self.pending = Some(pending);
                return Ok(false);
            }
            Some(pending) => self.complete(*pending)?,
            None => (),
        }
        self.check_places()?;
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
        Ok(true)
    }

    /// True if the state at `time` (s), to which the run has come, is the state at `until`.
    fn reaches(&self, until: f64, time: f64) -> bool {
        until <= time + INSTANT * (1.0 + time)
    }

    /// True if a step that ends at `end` (s) is not after `until`, up to rounding.
    pub(super) fn reaches_end(&self, until: f64, end: f64) -> bool {
        until >= end - INSTANT * (1.0 + end)
    }

    /// Returns the state at `time` (s), which no event precedes, by a shorter step that changes nothing in the run.
    pub(super) fn show(&mut self, time: f64) -> Result<JointedState, MotionError> {
        if self.reaches(time, self.time) {
            return Ok(JointedState {
                time,
                posture: self.posture.clone(),
                rates: self.rates.clone(),
                forces: self.forces(time, &self.posture.q, &self.rates),
                loads: self.last.clone(),
                contacts: self.contacts.clone(),
            });
        }
        if self.leaps {
            let mut copy = self.clone();
            copy.leap(time)?;
            return copy.show(time);
        }
        let kept = (
            self.results.clone(),
            self.pressing.clone(),
            self.stepper.clone(),
            self.previewed.clone(),
        );
        let length = time - self.time;
        let step = self.step_for(length);
        let contacts = self.contact_forces().collect();
        (self.results, self.pressing, self.stepper, self.previewed) = kept;
        let step = step?;
        let forces = self.forces(time, &step.end.q, &step.rates);
        Ok(JointedState {
            time,
            posture: step.end,
            rates: step.rates,
            forces,
            loads: Some((step.loads, length)),
            contacts,
        })
    }

    /// Returns the mean forces of contacts in the latest step that was computed.
    fn contact_forces(&self) -> impl Iterator<Item = ContactForce> {
        let touch = &self.world.touch;
        let all = self.results.iter();
        all.flat_map(|(pair, result)| result.forces.iter().map(|force| touch.force(*pair, force)))
    }

    /// Ends the run at `time` (s), by a shorter step. `ending` is the reason for the end.
    pub(super) fn finish(&mut self, time: f64, mut ending: Ending<MotionError>) -> JointedEnd {
        if matches!(ending, Ending::Completed)
            && !self.shows_now(time)
            && let Err(error) = self.end_step_at(time)
        {
            ending = Ending::Stopped(error);
        }
        let reached = matches!(ending, Ending::Completed);
        JointedEnd {
            ending,
            forces: self.forces(self.time, &self.posture.q, &self.rates),
            loads: self.last.clone(),
            contacts: self.contacts.clone(),
            handed_over: self.handed_over.clone(),
            time: if reached { time } else { self.time },
            posture: self.posture.clone(),
            rates: self.rates.clone(),
            n_impacts: self.n_impacts,
            n_steps: self.n_steps,
            works: self.works,
            impact_loss: self.impact_loss,
            input: self.input,
            applied_work: self.applied_work() + self.works.applied,
            input_impulse: self.input_impulse + self.held_impulse(self.time),
            energy_error: self.energy_error,
            supports: self.supports.clone(),
            lowest_gap: self.lowest_gap,
            residual: self.residual * self.world.multibody.size(),
            friction_exceeded: self.friction_exceeded,
        }
    }

    /// True if the state at `time` (s) is that to which the run has come.
    pub(super) fn shows_now(&self, time: f64) -> bool {
        self.reaches(time, self.time)
    }

    /// Ends the present step at `time` (s), before its planned end.
    pub(super) fn end_step_at(&mut self, time: f64) -> Result<(), MotionError> {
        let length = time - self.time;
        self.pending = None;
        if self.leaps {
            return self.leap(time);
        }
        let step = self.step_for(length)?;
        self.accept(step, length, time)
    }

    /// Sets the forces of the caller along the joint coordinates (N or N m), which then stay constant. The time must be one at which
    /// a step ended.
    pub(super) fn push(&mut self, forces: &[f64]) -> Result<(), MotionError> {
        for (held, force) in self.modes.control.iter_mut().zip(forces) {
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
        if self.is_unsound(&step) {
            return Err(MotionError::Joint(JointError::ContactForces { time }));
        }
        self.results = if self.pressing.is_empty() {
            BTreeMap::new()
        } else {
            self.pressing.results(&step)
        };
        Ok(step)
    }

    /// Computes the next step, to the time `target` (s) or to the first event before it. If no contact impulses are found for the
    /// step, shorter steps are tried, then implicit friction. Returns `None` if something happened at once instead.
    fn prepare(&mut self, target: f64) -> Result<Option<Pending>, MotionError> {
        let begin = self.time;
        let mut made = self.attempt(target);
        for shortened in 1..=SHORTENINGS {
            if !self.may_be_shorter(&made) {
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
    fn may_be_shorter<T>(&self, made: &Result<T, MotionError>) -> bool {
        match made {
            Err(MotionError::Joint(JointError::ContactForces { .. })) => true,
            Err(MotionError::Joint(
                JointError::StepTooLarge { .. } | JointError::SingularJoints { .. },
            )) => !self.pressing.is_empty(),
            _ => false,
        }
    }

    fn attempt(&mut self, target: f64) -> Result<Option<Pending>, MotionError> {
        if self.splits > MOST_SPLITS {
            self.hold_lasting();
        }
        let length = target - self.time;
        let whole = |step: Step| Pending {
            step,
            length,
            end: target,
            events: Vec::new(),
        };
        if let Some(step) = self.repeated(length) {
            self.results.clone_from(&self.resting.results);
            return Ok(Some(whole(step)));
        }
        let step = self.make(length)?;
        let mut step = self.leave(step, length)?;
        if self.release(&step, length)? {
            return Ok(None);
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
            return Ok(Some(whole(step)));
        };
        self.backup = None;
        self.resting = Resting::default();
        self.stepper.forget();
        if first <= INSTANT {
            self.happen(first, events)?;
            return Ok(None);
        }
        self.start_from_preview(first);
        Ok(Some(Pending {
            step: self.make(first)?,
            length: first,
            end: self.time + first,
            events,
        }))
    }

    /// Accepts a computed step, and handles the events at its end.
    fn complete(&mut self, pending: Pending) -> Result<(), MotionError> {
        self.accept(pending.step, pending.length, pending.end)?;
        if pending.events.is_empty() {
            return Ok(());
        }
        self.happen(pending.length, pending.events)
    }

    /// Handles the first of the `events` of a step, those at the time `first` (s) from its begin, where the run has come to.
    fn happen(&mut self, first: f64, events: Vec<(f64, Change)>) -> Result<(), MotionError> {
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
        let mb = self.world.multibody();
        let ways = [self.posture.states.as_slice(), step.end.states.as_slice()];
        mb.check_way(ways, end).map_err(MotionError::Joint)?;
        self.works.add(&step.works);
        self.input_impulse += step.given;
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
        self.contacts = self.contact_forces().collect();
        let begin = std::mem::replace(&mut self.time, end);
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
}
