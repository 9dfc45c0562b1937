//! Dry friction of coordinates: events where it stops and slips, and implicit where these crowd.
//!
//! A coordinate that slides or sticks splits the step where that ends. Where several coordinates carry one load, as the
//! joints of legs on a floor do, each split changes the loads of the others, and where contacts stick, too, more can be
//! held than a configuration has freedoms. Then friction is implicit until a later line of the grid: the first kick has the
//! friction of the step before, the second one finds which coordinates stick and which slide. Such a step is of order 1
//! where a coordinate turns, of order 2 elsewhere, and keeps equilibria.

use super::run::Run;

/// Lines of the grid for which friction is implicit at first; twice as many each time that it is needed again at once.
const FEWEST_LINES: u64 = 8;

/// Lines of the grid for which friction is implicit at most: a quarter of a second at a step of 1 ms.
const MOST_LINES: u64 = 256;

impl Run<'_, '_> {
    /// Coordinates with dry friction slide or stick by their rates.
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
                }
                (false, true) => self.modes.held[k] = None,
                (false, false) => {
                    self.modes.held[k] = Some(self.posture.q[k]);
                    self.modes.slides[k] = 0.0;
                }
            }
        }
    }

    /// True if a coordinate's dry friction is implicit once no limit holds it.
    pub(super) fn is_rubbing(&self, k: usize) -> bool {
        self.rubbing.until.is_some() && self.coordinate(k).0.friction > 0.0
    }

    /// True if dry friction, not a limit, holds a coordinate.
    pub(super) fn is_held_by_friction(&self) -> bool {
        (0..self.rates.len()).any(|k| self.modes.held[k].is_some() && self.at_limit(k).is_none())
    }

    /// Makes dry friction implicit until a later line of the grid.
    pub(super) fn rub(&mut self) {
        let again = self.rubbing.lines > 0 && self.line <= self.rubbing.ended + 1;
        let lines = match again {
            true => (2 * self.rubbing.lines).min(MOST_LINES),
            false => FEWEST_LINES,
        };
        self.rubbing.lines = lines;
        self.rubbing.until = Some(self.line + lines);
        for k in 0..self.rates.len() {
            let friction = self.coordinate(k).0.friction;
            if friction == 0.0 || self.at_limit(k).is_some() {
                continue;
            }
            if self.modes.held[k].take().is_some() {
                self.modes.slides[k] = (-self.holding[k] / friction).clamp(-1.0, 1.0);
            }
            self.modes.implicit[k] = true;
        }
        self.stepper.forget();
        self.pressing.forget();
    }

    /// Takes over the implicit friction of a step: its mean over both kicks, so that a load that does not change is held
    /// from the first step on.
    pub(super) fn note_rubbing(&mut self) {
        for k in 0..self.rates.len() {
            if self.modes.implicit[k] {
                let friction = self.coordinate(k).0.friction;
                self.modes.slides[k] = (-self.holding[k] / friction).clamp(-1.0, 1.0);
            }
        }
    }

    /// Goes back to events at a line of the grid, if it is time.
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
