//! Rest: steps of articulations that stand still are repeated instead of solved again.
//!
//! If a step ends in the posture in which it began, up to rounding, the next one has the same equations, and so the same
//! impulses, as long as nothing that acts from outside changes: modes of the coordinates, forces of actuators, forces of the
//! caller, lasting contacts, length. Only bodies in lasting contact rest: one that hangs or balances is stepped on.

use super::memory::Resting;
use super::run::{INSTANT, Run};
use carom_joints::step::Step;
use carom_variational::State;

/// Displacement within a step that counts as rounding, as a fraction of the size of the system plus the distance from the
/// origin; for angles, in rad.
const STANDS: f64 = 16.0 * f64::EPSILON;

/// Change of velocity within a step that counts as rounding, as a fraction of the change that gravity alone would make. A body
/// that begins to move changes its velocity by a fraction that does not depend on the step, while its displacement in a very
/// short step may be rounding.
const UNCHANGED: f64 = 64.0 * f64::EPSILON;

/// Number of successive steps without motion after which the articulations rest: what is about to move has moved by then.
const LINES: usize = 8;

impl Run<'_, '_> {
    /// Returns a stored step of `length` (s) that the run can repeat instead of solving a new one. This is possible if the bodies
    /// connected by joints are at rest and nothing has changed since the last step; `None` otherwise.
    pub(super) fn repeated(&self, length: f64) -> Option<Step> {
        let resting = &self.resting;
        let step = resting.step.as_ref()?;
        let same = (length - resting.length).abs() <= INSTANT
            && self.modes == resting.modes
            && self.posture == step.end
            && self.pressing.pairs() == resting.pairs
            && self.drives(length).eq(resting.drives.iter().copied());
        same.then(|| step.clone())
    }

    /// Counts a step of `length` (s) from the current state, which is accepted next, if no body moves in it; a step with motion
    /// resets the count. After some steps without motion the step is stored for repetition.
    pub(super) fn note_rest(&mut self, step: &Step, length: f64) {
        if self.pressing.is_empty() || !self.stands_still(step, length) {
            self.resting = Resting::default();
            return;
        }
        self.resting.count += 1;
        if self.resting.count >= LINES {
            self.resting = Resting {
                count: self.resting.count,
                step: Some(step.clone()),
                length,
                modes: self.modes.clone(),
                pairs: self.pressing.pairs().to_vec(),
                drives: self.drives(length).collect(),
                results: self.results.clone(),
            };
        }
    }

    /// True if the bodies are at rest and nothing that acts from outside will change: no samples are left, no control function is
    /// asked, and the forces of the actuators are constant.
    pub(super) fn rests_for_ever(&self) -> bool {
        let last = self.world.corners.last();
        let is_constant = |[begin, end]: &[f64; 2]| begin == end;
        self.resting.step.is_some()
            && self.is_uncontrolled()
            && last.is_none_or(|last| *last < self.time)
            && self.resting.drives.iter().all(is_constant)
    }

    /// Returns the forces of all actuators at the start and at the end of a step of `length` (s), for the current coordinates at
    /// rest (N or N m).
    fn drives(&self, length: f64) -> impl Iterator<Item = [f64; 2]> {
        let (begin, end) = (self.time, self.time + length);
        let coordinates = self.world.multibody.coordinates().zip(&self.posture.q);
        coordinates.filter_map(move |(c, q)| {
            let actuator = c.actuator.as_ref()?;
            let force = |time: f64, before: bool| actuator.force(*q, 0.0, time, before);
            Some([force(begin, false), force(end, true)])
        })
    }

    /// True if nothing moves in the step of `length` (s) by more than rounding error. Three conditions must hold. No
    /// body and no joint coordinate moves in the step by more than rounding. The velocities at the end of the step are
    /// so small that a second such step would move nothing by more than rounding. No velocity changes in the step by
    /// more than rounding. Without gravity the size of rounding errors in velocities is unknown, and velocities must
    /// not change at all.
    fn stands_still(&self, step: &Step, length: f64) -> bool {
        let mb = self.world.multibody();
        let size = mb.size();
        let unchanged = UNCHANGED * mb.gravity().norm() * length;
        let bodies = self.posture.states.iter().zip(&step.end.states);
        let bodies_stand = bodies.enumerate().all(|(body, (before, after))| {
            let Some(rigid) = mb.rigid(body) else {
                return true;
            };
            let rounding = STANDS * (size + before.position.amax());
            let speed = after.linear_momentum.amax() / rigid.mass();
            let change = (after.linear_momentum - before.linear_momentum).amax() / rigid.mass();
            let spin = |state: &State| rigid.angular_velocity(&state.angular_momentum);
            let turn_change = (spin(after) - spin(before)).amax();
            (after.position - before.position).amax() <= rounding
                && speed * length <= rounding
                && spin(after).amax() * length <= STANDS
                && change <= unchanged
                && turn_change * size <= unchanged
        });
        let coordinates = self.posture.q.iter().zip(&step.end.q);
        bodies_stand
            && coordinates
                .zip(&step.rates)
                .enumerate()
                .all(|(k, ((before, after), rate))| {
                    let rounding = STANDS * (self.unit(k) + before.abs());
                    (after - before).abs() <= rounding && rate.abs() * length <= rounding
                })
    }
}
