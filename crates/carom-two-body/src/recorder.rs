//! Observers of an impact during its computation.

use super::arc::Arc;
use super::events::{Event, TraceMode};
use super::line::Line;
use super::state::State;
use super::tail::Tail;

/// Receives the states of an impact in order.
pub(crate) trait Recorder {
    /// True if states between events are recorded.
    const DENSE: bool;

    /// True if extrema of the normal velocity are recorded.
    const TURNS: bool = false;

    /// Receives the physical units of all following states. One scaled unit is `impulse` (N s) for impulses and `velocity` (m/s)
    /// for velocities.
    fn units(&mut self, impulse: f64, velocity: f64);

    /// Receives a state of the contact during the impact and the elastic energy stored in this state, both in scaled units.
    fn point(&mut self, state: &State, energy: f64);

    /// Receives the mode of the contact in the phase that begins at the last received state.
    #[inline]
    fn phase(&mut self, _mode: TraceMode) {}

    /// Receives the Taylor polynomials of a step of curved sliding that begins, and the state at the start of the step.
    #[inline]
    fn arc_begins(&mut self, _arc: &Arc, _from: &State) {}

    /// Receives a point that the impact has reached on the present step of curved sliding: the path parameter `_at`, and the
    /// state at this point.
    #[inline]
    fn arc_to(&mut self, _at: f64, _state: &State) {}

    /// Receives an extremum of the normal velocity on the present step of curved sliding: its path parameter `_at`, and the state
    /// there. The impact has already passed this point.
    #[inline]
    fn arc_turns(&mut self, _at: f64, _state: &State) {}

    /// Receives the last part of sliding before rest, which is computed by the power series `_tail` about the limiting direction
    /// of sliding. `_from` is the state at the start of this part, `_delta` the angle (rad) from the limiting direction to the
    /// sliding direction at the start, and `_rest` the state at rest.
    #[inline]
    fn tail(&mut self, _tail: &Tail, _from: &State, _delta: f64, _rest: &State) {}

    /// Receives a phase in which the impulse keeps its direction: the state at the start of the phase, and the normal impulse
    /// `_by` of the phase.
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
