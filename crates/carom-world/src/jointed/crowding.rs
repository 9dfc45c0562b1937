//! Crowded impacts: time stepping takes over slow contacts.
//!
//! Contacts of a chain that lies on the ground lift each other and close again at shorter and shorter intervals, at speeds at
//! which no motion is visible. Each closing is an event, and their number has no bound. When one interval of the time grid has
//! had many impacts, contacts that close more slowly than the speed that gravity gives in a few steps have no restitution; the
//! kicks of the steps close them like lasting pairs: $0\le\Lambda_n\perp\Phi(\text{end})\ge 0$ with the normal impulse
//! $\Lambda_n$ and the gap $\Phi$. Faster contacts remain impacts. This lasts until the next grid time; if it is needed again at
//! once, for twice as many intervals each time. Under [`OnZeno::Continue`] nothing is taken over.

use super::contact::Posed;
use super::run::Run;
use crate::OnZeno;
use crate::spec::SLOW;

/// Number of slow impacts within one interval of the time grid above which time stepping takes over; four feet that rock have a
/// few.
const MOST_IMPACTS: usize = 6;

/// Largest number of grid intervals for which time stepping handles slow contacts: a sixteenth of a second at a step of 1 ms.
const MOST_LINES: u64 = 64;

impl Run<'_> {
    /// Counts the impact of the contacts `members` if all of them close slowly. If there are too many such impacts
    /// since the last grid time (multiple of the time step), time stepping handles slow contacts, without single
    /// impacts, until a later grid time.
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
        let lines = if again {
            (2 * self.crowding.lines).min(MOST_LINES)
        } else {
            1
        };
        self.crowding.lines = lines;
        self.crowding.until = Some(self.line + lines);
        self.hold_lasting();
    }

    /// True if time stepping handles the closing of this contact, so that no impact is resolved: many slow impacts came before,
    /// and this contact of two bodies closes slowly, too.
    pub(super) fn is_left_to_steps(&self, posed: &Posed) -> bool {
        self.crowding.until.is_some() && posed.pair().is_some() && self.is_slow(posed)
    }

    /// True if time stepping handles the closing of a pair of bodies, so that the time of contact need not be searched: many slow
    /// impacts came before, and the gap decreases slowly. `closer` is the decrease of the gap (m) within a step of `length` (s).
    pub(super) fn closes_slowly(&self, closer: f64, length: f64) -> bool {
        self.crowding.until.is_some() && closer <= self.slow() * length
    }

    fn is_slow(&self, posed: &Posed) -> bool {
        posed.before[0] > -self.slow()
    }

    /// Returns the largest closing speed at which a contact counts as slow (m/s).
    fn slow(&self) -> f64 {
        let gravity = self.world.multibody().gravity().norm();
        SLOW * gravity * self.world.time_step()
    }

    /// Ends the treatment of slow contacts by time stepping if its last grid time (multiple of the time step) has come.
    /// Otherwise continues it for those pairs of bodies that have a normal impulse or no restitution. Called at every
    /// grid time.
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
