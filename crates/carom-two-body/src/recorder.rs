//! Observers of an impact during its computation.

use super::arc::Arc;
use super::events::Event;
use super::line::Line;
use super::state::State;
use super::tail::Tail;

/// Receives the states of an impact in order.
pub(crate) trait Recorder {
    /// True if states between events are recorded.
    const DENSE: bool;

    /// True if extrema of the normal velocity are recorded.
    const TURNS: bool = false;

    /// Sets the unit of impulse and of velocity of all following states.
    fn units(&mut self, impulse: f64, velocity: f64);

    /// Receives a state and the elastic energy stored in it.
    fn point(&mut self, state: &State, energy: f64);

    /// Receives the start of an arc and its state.
    #[inline]
    fn arc_begins(&mut self, _arc: &Arc, _from: &State) {}

    /// Receives a parameter of the arc that was reached, and the state there.
    #[inline]
    fn arc_to(&mut self, _at: f64, _state: &State) {}

    /// Receives an extremum of the normal velocity at a parameter of the arc that was already passed, and the state
    /// there.
    #[inline]
    fn arc_turns(&mut self, _at: f64, _state: &State) {}

    /// Receives the end of sliding by a tail series: from a state whose direction deviates by an angle, to the state at
    /// rest.
    #[inline]
    fn tail(&mut self, _tail: &Tail, _from: &State, _delta: f64, _rest: &State) {}

    /// Receives a line that is followed from a state over a normal impulse.
    #[inline]
    fn line(&mut self, _from: &State, _line: &Line, _by: f64) {}

    /// Receives an event and its state.
    #[inline]
    fn event(&mut self, _event: Event, _state: &State) {}
}

/// Observer that ignores everything.
pub(crate) struct Blind;

impl Recorder for Blind {
    const DENSE: bool = false;

    #[inline]
    fn units(&mut self, _: f64, _: f64) {}

    #[inline]
    fn point(&mut self, _: &State, _: f64) {}
}
