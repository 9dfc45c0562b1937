//! Who looks on while an impact is followed.

use super::arc::Arc;
use super::events::Event;
use super::line::Line;
use super::state::State;
use super::tail::Tail;

/// Sees the states of an impact in order.
pub(crate) trait Recorder {
    /// True if states between events are wanted.
    const DENSE: bool;

    /// True if turns of the normal velocity are recorded.
    const TURNS: bool = false;

    /// Sets the size of one unit of impulse and of velocity in the states to come.
    fn units(&mut self, impulse: f64, velocity: f64);

    /// A state and the elastic energy in it.
    fn point(&mut self, state: &State, energy: f64);

    /// An arc begins at a state.
    #[inline]
    fn arc_begins(&mut self, _arc: &Arc, _from: &State) {}

    /// A parameter of the arc has been reached, and a state.
    #[inline]
    fn arc_to(&mut self, _at: f64, _state: &State) {}

    /// At a parameter of the arc that has been passed the normal velocity turned, in a state.
    #[inline]
    fn arc_turns(&mut self, _at: f64, _state: &State) {}

    /// Sliding comes to rest by a series, from a state at an angle off its direction.
    #[inline]
    fn tail(&mut self, _tail: &Tail, _from: &State, _delta: f64, _rest: &State) {}

    /// A line is followed from a state for a normal impulse.
    #[inline]
    fn line(&mut self, _from: &State, _line: &Line, _by: f64) {}

    /// An event happens in a state.
    #[inline]
    fn event(&mut self, _event: Event, _state: &State) {}
}

/// Sees nothing.
pub(crate) struct Blind;

impl Recorder for Blind {
    const DENSE: bool = false;

    #[inline]
    fn units(&mut self, _: f64, _: f64) {}

    #[inline]
    fn point(&mut self, _: &State, _: f64) {}
}
