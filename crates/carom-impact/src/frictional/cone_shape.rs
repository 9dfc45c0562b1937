//! Friction cones in the form that solvers take: round, or a polygon with a number of directions.

use super::polygon::directions;
use carom_contact::{FrictionCone, ImpactError};

/// Friction cone in the form that solvers take, for a given number of tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConeShape {
    Round,
    /// Number of directions of the polygon in space.
    Polygon(usize),
}

impl ConeShape {
    /// Converts the friction cone selected by the caller to the shape used for contacts with `n_tangents` tangents. A
    /// polygon in the plane is the cone itself.
    pub(super) fn of(cone: FrictionCone, n_tangents: usize) -> Result<Self, ImpactError> {
        let directions = directions(n_tangents, cone.directions())?;
        Ok(match (cone, n_tangents) {
            (FrictionCone::Round, _) | (_, 0 | 1) => Self::Round,
            _ => Self::Polygon(directions),
        })
    }
}
