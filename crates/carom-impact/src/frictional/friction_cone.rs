//! Round friction cones or polygons.

use super::polygon::directions;
use crate::ImpactError;

/// The shape of the friction cones $\lVert\lambda_t\rVert \le \mu\lambda_n$ of spatial contacts.
///
/// In the plane both are the same, and exact.
///
/// # Examples
///
/// ```
/// use carom_impact::frictional::{AnitescuPotra, FrictionCone};
/// let law = AnitescuPotra {
///     friction_cone: FrictionCone::Polygon(8),
///     ..AnitescuPotra::default()
/// };
/// assert_eq!(law.friction_cone.directions(), Some(8));
/// assert_eq!(FrictionCone::default().directions(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum FrictionCone {
    /// The cone itself.
    #[default]
    Round,
    /// A regular polygon inside it, with this many directions: 4 to 256 in space (2 in the plane).
    /// The answer depends on how it is turned; with 4 directions velocities are off by several
    /// percent.
    Polygon(usize),
}

/// Shape of the friction cone for this number of tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConeShape {
    Round,
    /// Directions: 0 without tangents, 2 in the plane, else a polygon.
    Polygon(usize),
}

impl FrictionCone {
    /// The directions asked for; `None` for round cones.
    pub fn directions(self) -> Option<usize> {
        match self {
            Self::Round => None,
            Self::Polygon(k) => Some(k),
        }
    }

    /// The shape for contacts with `n_tangents` tangents.
    pub(super) fn shape(self, n_tangents: usize) -> Result<ConeShape, ImpactError> {
        match (self, n_tangents) {
            (Self::Round, 2..) => Ok(ConeShape::Round),
            _ => directions(n_tangents, self.directions())
                .map(ConeShape::Polygon)
                .map_err(|error| match error {
                    ImpactError::InvalidOption { value, allowed, .. } => {
                        ImpactError::InvalidOption {
                            what: "friction_cone (friction_directions)",
                            value,
                            allowed,
                        }
                    }
                    other => other,
                }),
        }
    }
}
