//! Steps of jointed bodies without a search for events, where events crowd or their forces are not found.
//!
//! 1. Points and limits that would close within the step, faster than gravity accelerates in a few steps, rebound at its start, by
//!    the law of Poisson: compression, then at least $e$ times its normal impulses.
//! 2. The step is that of lasting contact, with kicks at both ends: $0\le\Lambda_n\perp\Phi(\text{end})\ge 0$ with the gaps $\Phi$
//!    of all points and limits that can close, and $0\le\Lambda_n\perp J_nv\ge 0$ for those that have. Friction is Coulomb's in
//!    the circular cone.
//!
//! Bodies at rest are held to rounding, as in steps of lasting contact; contacts that close or turn make errors of order 1. Overlaps
//! that turning leaves are removed by a tenth in each step.

use super::closing::{Closing, Results, rebounding};
use super::contact::{Place, Posed};
use super::near::Near;
use super::pressing::PairStep;
use super::run::{Run, SHORTENINGS};
use super::{JointContact, JointedEvent};
use crate::{HandedOver, MotionError, handover};
use carom_impact::frictional::Poisson;
use carom_joints::step::Step;
use carom_joints::{JointError, Posture};
use carom_numeric::power;
use nalgebra::Vector3;

/// A run before a step, as far as a step that is not found has changed it.
struct Before {
    posture: Posture,
    rates: Vec<f64>,
    supports: Vec<Vector3<f64>>,
    n_events: usize,
    n_impacts: usize,
    impact_loss: f64,
    lowest_gap: f64,
}

impl Before {
    fn of(run: &Run<'_>) -> Self {
        Self {
            posture: run.posture.clone(),
            rates: run.rates.clone(),
            supports: run.supports.clone(),
            n_events: run.events.len(),
            n_impacts: run.n_impacts,
            impact_loss: run.impact_loss,
            lowest_gap: run.lowest_gap,
        }
    }

    fn restore(self, run: &mut Run<'_>) {
        (run.posture, run.rates, run.supports) = (self.posture, self.rates, self.supports);
        run.events.truncate(self.n_events);
        run.n_impacts = self.n_impacts;
        (run.impact_loss, run.lowest_gap) = (self.impact_loss, self.lowest_gap);
    }
}

impl Run<'_> {
    /// Steps on without events after this `error` of a step or of an impact. Returns false if that would not help.
    pub(super) fn leaps_after(&mut self, error: &MotionError) -> bool {
        let crowds = match error {
            MotionError::Joint(error) => matches!(
                error,
                JointError::ContactForces { .. }
                    | JointError::StepTooLarge { .. }
                    | JointError::Flight { .. }
            ),
            MotionError::Impact { .. } | MotionError::EventLimit { .. } => true,
            _ => false,
        };
        if !crowds || self.leaps || self.world.steps.is_none() {
            return false;
        }
        self.handed_over = Some(HandedOver {
            time: self.time,
            kind: handover::reason(error).into(),
            message: error.to_string(),
        });
        self.leap_on();
        true
    }

    /// Steps on without events from now on.
    pub(super) fn leap_on(&mut self) {
        self.leaps = true;
        for k in 0..self.rates.len() {
            if let Some(limit) = self.at_limit(k) {
                self.events.push(JointedEvent::Released {
                    time: self.time,
                    contact: JointContact::Limit(limit),
                });
            }
        }
        self.modes.held.fill(None);
        self.modes.leaves.fill(false);
        // No line of the grid comes so late.
        self.rubbing.until = Some(u64::MAX >> 16);
        self.refresh_friction();
        self.held_pairs.clear();
        self.pressing.set_pairs(Vec::new());
        self.start_anew();
    }

    /// Makes the next step without events, unless it ends after `until` (s). Returns false if it does.
    pub(super) fn proceed_by_leaps(&mut self, until: f64) -> Result<bool, MotionError> {
        let end = self.next_stop();
        if !self.reaches_end(until, end) {
            return Ok(false);
        }
        let length = end - self.time;
        self.leap(end)?;
        let (world, mb) = (self.world, self.world.multibody());
        let slow = world.stepping().tolerance() * mb.gravity().norm() * length;
        let is_still = mb.fastest_speed(&self.posture.states) <= slow;
        self.still = if is_still { self.still + 1 } else { 0 };
        self.check_places()?;
        Ok(true)
    }

    /// Checks that rounding of the present positions is small enough for every body.
    pub(super) fn check_places(&self) -> Result<(), MotionError> {
        let (mb, states) = (self.world.multibody(), &self.posture.states);
        self.world.touch().check_places(mb, states, self.time)
    }

    /// Makes a step to the time `end` (s). If it is not found, it is made in halves.
    pub(super) fn leap(&mut self, end: f64) -> Result<(), MotionError> {
        let length = end - self.time;
        let before = Before::of(self);
        let (step, results) = match self.leapt(length) {
            Ok(found) => found,
            Err(error) => {
                before.restore(self);
                if length <= self.world.time_step() * power(0.5, SHORTENINGS) {
                    return Err(error);
                }
                self.leap(self.time + 0.5 * length)?;
                return self.leap(end);
            }
        };
        self.results = results;
        for pair in self.lasting.keys() {
            self.results.entry(*pair).or_insert_with(|| PairStep {
                open: true,
                ..PairStep::default()
            });
        }
        let pressed = self.results.iter().filter(|(_, it)| it.pressed > 0.0);
        for (pair, _) in pressed {
            self.lasting.entry(*pair).or_default();
        }
        self.accept(step, length, end)
    }

    /// Computes a step of `length` (s) and its results by pair. The posture changes by what rebounds at once.
    fn leapt(&mut self, length: f64) -> Result<(Step, Results), MotionError> {
        let mut near = self.near(length);
        if self.rebound(&near, length)? {
            near = self.near(length);
        }
        let mut closing = Closing::new(self.world, near, self.posture.q.clone());
        let made = if closing.near.is_empty() {
            self.plain_step(length)
        } else {
            self.stepper.forget();
            let (posture, time) = (&self.posture, self.time);
            self.stepper
                .step_with(posture, time, length, &self.modes, &mut closing)
                .map_err(MotionError::Joint)
        };
        let mut step = made?;
        if !closing.near.is_empty() && self.explodes(&step) {
            return Err(MotionError::Joint(JointError::ContactForces {
                time: self.time,
            }));
        }
        let results = closing.results(&mut step, length);
        Ok((step, results))
    }

    /// Lets the contacts rebound that close fast within the step, if any. Returns true if so.
    fn rebound(&mut self, near: &[Near], length: f64) -> Result<bool, MotionError> {
        let gravity = self.world.multibody().gravity().norm();
        let slow = self.world.stepping().impact_speed() * gravity * self.world.time_step();
        let unit = |near: &Near| match near.posed.place {
            Place::Limit(limit) => self.unit(limit.coordinate) / self.world.multibody().size(),
            Place::Point { .. } => 1.0,
        };
        let hits = |near: &Near| {
            near.posed.restitution > 0.0
                && near.posed.before[0] < -slow * unit(near)
                && near.gap + length * near.posed.before[0] < 0.0
        };
        if !near.iter().any(hits) {
            return Ok(false);
        }
        let touches = |near: &&Near| hits(near) || near.gap <= near.tolerance;
        let members: Vec<Near> = near.iter().filter(touches).cloned().collect();
        let share: Vec<f64> = members
            .iter()
            .map(|it| if hits(it) { it.posed.restitution } else { 0.0 })
            .collect();
        let posed: Vec<Posed> = members.iter().map(|it| it.posed.clone()).collect();
        let instant = self.instant_of(&posed)?;
        let failed = || MotionError::Joint(JointError::ContactForces { time: self.time });
        let posed_at: Vec<&Posed> = posed.iter().collect();
        let total =
            rebounding(self.world, &posed_at, &share, &instant.mobility).ok_or_else(failed)?;
        let impact = self.apply(&posed, &total, &instant, Poisson::NAME);
        self.impact_loss += impact.energy_minus - impact.energy_plus;
        self.n_impacts += 1;
        self.events.push(JointedEvent::Impact(impact));
        Ok(true)
    }
}
