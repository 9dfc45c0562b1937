//! Tolerances of the crate, grouped by the decision that they control. Each is a constant with a unit or scale and a reason.
//! Constants of a single algorithm are defined in its file.

/// Weight of a contact in the jamming combination (weights sum to 1) below which the contact does not take part.
pub(crate) const JAMMED_WEIGHT: f64 = 1e-9;

/// Largest accepted violation of a rule of the gate, as a fraction of the scale of that rule.
pub(crate) const GATE_TOLERANCE: f64 = 1e-9;

/// Rounding of the velocities that the gate's rules of momentum and energy allow: two units in the last place.
pub(crate) const ROUNDING: f64 = 2.0 * f64::EPSILON;
