//! Contact coefficients of a pair.

/// Contact coefficients of a pair of bodies, or of a body and a plane: friction and restitution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Surface {
    /// Coulomb friction coefficient, at least 0.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\].
    pub restitution: f64,
    /// True if the pair can touch; false if its bodies pass through each other.
    pub collide: bool,
}
