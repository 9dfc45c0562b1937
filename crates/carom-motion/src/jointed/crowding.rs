//! Impacts that crowd: the steps take over what is slow.
//!
//! Contacts of a chain that lies on something lift each other and close again at shorter and shorter intervals, at
//! speeds at which nothing moves visibly. Each is an event, and there is no end of them. Where a step of the grid has had
//! many impacts, contacts that close more slowly than gravity makes them in a few steps do not restitute, and the kicks
//! of the steps close them, as those of pairs that last: $0\le\Lambda_n\perp\Phi(\text{end})\ge 0$. Faster ones are
//! impacts as before. That holds until the next line of the grid, and for twice as many lines each time that it is
//! needed again at once. Where rebounds are to continue for ever, nothing is taken over.

use super::contact::Posed;
use super::run::Run;
use crate::world::OnZeno;

/// Slow impacts between two lines of the grid, before they crowd: four feet that rock have a few.
const MOST_IMPACTS: usize = 6;

/// Lines of the grid for which slow contacts are left to the steps at most: a sixteenth of a second at a step of 1 ms.
const MOST_LINES: u64 = 64;

/// Contacts that close more slowly than gravity makes them in this many steps are slow: below the speed of the time
/// stepping of heaps, within which impacts do not restitute.
const SLOW: f64 = 3.0;

impl Run<'_, '_> {
    /// Counts an impact, if it is slow; if there are too many, slow contacts are left to the steps.
    pub(super) fn note_impact(&mut self, members: &[Posed]) {
        if members.iter().any(|posed| !self.is_slow(posed)) {
            return;
        }
        self.crowding.impacts += 1;
        if self.crowding.impacts <= MOST_IMPACTS
            || self.crowding.until.is_some()
            || self.laws.on_zeno == OnZeno::Continue
        {
            return;
        }
        let again = self.crowding.lines > 0 && self.line <= self.crowding.ended + 1;
        let lines = match again {
            true => (2 * self.crowding.lines).min(MOST_LINES),
            false => 1,
        };
        self.crowding.lines = lines;
        self.crowding.until = Some(self.line + lines);
        self.hold_lasting();
    }

    /// True if a contact that closes is left to the steps.
    pub(super) fn is_left_to_steps(&self, posed: &Posed) -> bool {
        self.crowding.until.is_some() && posed.pair().is_some() && self.is_slow(posed)
    }

    /// True if a pair that comes closer by a distance within a step of some length is left to the steps without a look
    /// for the instant.
    pub(super) fn closes_slowly(&self, closer: f64, length: f64) -> bool {
        self.crowding.until.is_some() && closer <= self.slow() * length
    }

    fn is_slow(&self, posed: &Posed) -> bool {
        posed.before[0] > -self.slow()
    }

    /// Speed of a slow contact (m/s).
    fn slow(&self) -> f64 {
        let gravity = self.world.multibody().gravity().norm();
        SLOW * gravity * self.world.time_step()
    }

    /// Goes back to events at a line of the grid, if it is time; else keeps what presses.
    pub(super) fn end_crowding(&mut self) {
        self.crowding.impacts = 0;
        let Some(until) = self.crowding.until else {
            self.held_pairs.clear();
            return;
        };
        if self.line >= until {
            self.crowding.until = None;
            self.crowding.ended = self.line;
            self.held_pairs.clear();
            return;
        }
        let touch = self.world.touch();
        let results = &self.results;
        let presses = |pair: usize| results.get(&pair).is_some_and(|r| r.pressed > 0.0);
        self.held_pairs
            .retain(|pair| presses(*pair) || touch.pairs[*pair].surface.restitution == 0.0);
    }
}
