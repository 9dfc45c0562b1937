//! Contact coefficients of a pair.

/// Contact coefficients of a pair of bodies, or of a body and a plane: friction and restitution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Surface {
    /// Coulomb friction coefficient, at least 0.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\].
    pub restitution: f64,
    /// True if the pair can touch; false if its bodies pass through each other.
    pub collide: bool,
}

impl Surface {
    /// Creates the coefficients of a pair that can touch, from the Coulomb friction coefficient, at least 0, and the coefficient of
    /// restitution, in \[0, 1\].
    pub fn new(friction: f64, restitution: f64) -> Self {
        Self {
            friction,
            restitution,
            collide: true,
        }
    }
}

carom_numeric::setters!(Surface {
    /// Sets the Coulomb friction coefficient, at least 0.
    with_friction: friction, f64;
    /// Sets the coefficient of restitution, in \[0, 1\].
    with_restitution: restitution, f64;
    /// Sets if the pair can touch.
    with_collide: collide, bool;
});
