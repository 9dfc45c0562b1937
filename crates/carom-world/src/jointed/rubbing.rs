//! Dry friction of coordinates: event detection of stops and slips, and implicit friction where these crowd.
//!
//! Each stop or slip of a coordinate splits the step. Where several coordinates carry one load, such as the joints of legs on a
//! floor, each split changes the loads of the others; with sticking contacts in addition, more directions can stick than the
//! mechanism has degrees of freedom. Friction is then implicit until a later grid time: the first kick uses the friction of the
//! previous step, the second finds which coordinates stick and which slide. Such a step is of order 1 when a coordinate changes
//! its direction, of order 2 elsewhere, and preserves equilibria.

use super::run::Run;
use carom_joints::step::Step;

/// Number of grid intervals with implicit friction at first; it doubles each time that implicit friction is needed again at once.
const FEWEST_LINES: u64 = 8;

/// Largest number of grid intervals with implicit friction: a quarter of a second at a step of 1 ms.
const MOST_LINES: u64 = 256;

/// A coordinate slides at the end of a step if the impulse there reaches that of its dry friction but for this fraction, which
/// covers rounding.
const SLIDES: f64 = 1e-9;

impl Run<'_> {
    /// Decides from the rate of each joint coordinate with dry friction if it slides or sticks.
    pub(super) fn refresh_friction(&mut self) {
        for k in 0..self.rates.len() {
            let (c, _) = self.coordinate(k);
            if c.friction == 0.0 || self.at_limit(k).is_some() {
                continue;
            }
            let rate = self.rates[k];
            let slides = rate.abs() > self.still_rate(k);
            self.modes.implicit[k] = self.rubbing.until.is_some();
            match (slides, self.modes.implicit[k]) {
                (true, _) => {
                    self.modes.held[k] = None;
                    self.modes.slides[k] = rate.signum();
                    self.modes.slid[k] = rate.signum();
                }
                (false, true) => self.modes.held[k] = None,
                (false, false) => {
                    self.modes.held[k] = Some(self.posture.q[k]);
                    self.modes.slides[k] = 0.0;
                }
            }
        }
    }

    /// True if joint coordinate `k` has dry friction and friction is currently solved implicitly, together with the step, instead
    /// of by events of sliding and sticking. A limit that holds the coordinate is not considered.
    pub(super) fn is_rubbing(&self, k: usize) -> bool {
        self.rubbing.until.is_some() && self.coordinate(k).0.friction > 0.0
    }

    /// True if at least one joint coordinate is held by dry friction and not by a limit.
    pub(super) fn is_held_by_friction(&self) -> bool {
        (0..self.rates.len()).any(|k| self.modes.held[k].is_some() && self.at_limit(k).is_none())
    }

    /// Switches dry friction of joint coordinates to its implicit form, solved together with the step, until a later
    /// grid time (multiple of the time step). The number of grid intervals until then doubles, up to a maximum, if the
    /// last such phase has just ended.
    pub(super) fn rub(&mut self) {
        let again = self.rubbing.lines > 0 && self.line <= self.rubbing.ended + 1;
        let lines = if again {
            (2 * self.rubbing.lines).min(MOST_LINES)
        } else {
            FEWEST_LINES
        };
        self.rubbing.lines = lines;
        self.rubbing.until = Some(self.line + lines);
        for k in 0..self.rates.len() {
            let friction = self.coordinate(k).0.friction;
            if friction == 0.0 || self.at_limit(k).is_some() {
                continue;
            }
            self.modes.slid[k] = self.modes.slides[k];
            if self.modes.held[k].take().is_some() {
                self.modes.slides[k] = (-self.holding[k] / friction).clamp(-1.0, 1.0);
                self.modes.slid[k] = 0.0;
            }
            self.modes.implicit[k] = true;
        }
        self.stepper.forget();
        self.pressing.forget();
    }

    /// Stores the friction of the accepted step `step` of `length` (s) with implicit friction, as a fraction of the largest
    /// friction force, for use in the next step. The stored friction is the mean force over the step, from the impulses at the
    /// start and the end of the step. With the mean, a constant load is balanced from the first step on. The impulse at the end
    /// alone tells which coordinates slide there.
    pub(super) fn note_rubbing(&mut self, step: &Step, length: f64) {
        for k in 0..self.rates.len() {
            if self.modes.implicit[k] {
                let friction = self.coordinate(k).0.friction;
                self.modes.slides[k] = (-self.holding[k] / friction).clamp(-1.0, 1.0);
                let [_, last] = step.holding[k];
                let slides = last.abs() >= 0.5 * friction * length * (1.0 - SLIDES);
                self.modes.slid[k] = if slides { -last.signum() } else { 0.0 };
            }
        }
    }

    /// Ends implicit friction of joint coordinates, and returns to the detection of sliding and sticking events, if the
    /// grid time (multiple of the time step) planned for this has come. Called at every grid time.
    pub(super) fn end_rubbing(&mut self) {
        self.rubbing.turns = 0;
        if self.rubbing.until.is_some_and(|until| self.line >= until) {
            self.rubbing.until = None;
            self.rubbing.ended = self.line;
            self.refresh_friction();
            self.stepper.forget();
        }
    }
}
