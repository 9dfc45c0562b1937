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

    /// Sets the physical units of all following states: one scaled unit is `impulse` (N s) for impulses and `velocity`
    /// (m/s) for velocities.
    fn units(&mut self, impulse: f64, velocity: f64);

    /// Receives a state of the impact and the elastic energy stored there, in scaled units.
    fn point(&mut self, state: &State, energy: f64);

    /// Receives a step of curved sliding that begins, and the state at its start.
    #[inline]
    fn arc_begins(&mut self, _arc: &Arc, _from: &State) {}

    /// Receives a point reached on the present step of curved sliding: the parameter of the step and the state there.
    #[inline]
    fn arc_to(&mut self, _at: f64, _state: &State) {}

    /// Receives an extremum of the normal velocity on the present step of curved sliding: the parameter, which was already
    /// passed, and the state there.
    #[inline]
    fn arc_turns(&mut self, _at: f64, _state: &State) {}

    /// Receives the last part of sliding before rest, computed by a power series about the sliding direction at which the
    /// contact sticks. `_from` is the state at the start of the series, `_delta` the angle (rad) from that direction to the sliding
    /// direction at the start, and `_rest` the state at rest.
    #[inline]
    fn tail(&mut self, _tail: &Tail, _from: &State, _delta: f64, _rest: &State) {}

    /// Receives a phase in which the impulse keeps its direction: the state at its start, and the normal impulse `_by` over
    /// which it lasts.
    #[inline]
    fn line(&mut self, _from: &State, _line: &Line, _by: f64) {}

    /// Receives an event, such as the end of compression, and the state at which it occurs.
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
