//! Friction cones in the form that solvers take: round, or a polygon with a number of directions.

use super::polygon::directions;
use carom_contact::{FrictionCone, ImpactError};

/// Friction cone in the form that solvers take, for a given number of tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConeShape {
    Round,
    /// Number of directions: 0 without tangents, 2 in the plane, else those of the polygon.
    Polygon(usize),
}

impl ConeShape {
    /// Converts the friction cone selected by the caller to the shape used for contacts with `n_tangents` tangents. A round
    /// cone in the plane is a polygon with two directions.
    pub(super) fn of(cone: FrictionCone, n_tangents: usize) -> Result<Self, ImpactError> {
        match (cone, n_tangents) {
            (FrictionCone::Round, 2..) => Ok(Self::Round),
            _ => directions(n_tangents, cone.directions()).map(Self::Polygon),
        }
    }
}
