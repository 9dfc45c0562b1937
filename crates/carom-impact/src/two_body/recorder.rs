//! Who looks on while an impact is followed.

use super::state::State;

/// Sees the states of an impact in order.
pub(super) trait Recorder {
    /// Whether curved sliding is followed to rest instead of ending it in closed form.
    const DENSE: bool;

    /// What one unit of impulse and of velocity in the states to come is worth.
    fn units(&mut self, impulse: f64, velocity: f64);

    /// A state and the elastic energy in it.
    fn point(&mut self, state: &State, energy: f64);
}

/// Sees nothing.
pub(super) struct Blind;

impl Recorder for Blind {
    const DENSE: bool = false;

    #[inline]
    fn units(&mut self, _: f64, _: f64) {}

    #[inline]
    fn point(&mut self, _: &State, _: f64) {}
}
