//! Shape of friction cones: round, or a polygon.

/// Shape of the friction cones of contacts in space: the round cone $\lVert\lambda_t\rVert \le \mu\lambda_n$ of normal
/// impulse $\lambda_n$, tangential impulse $\lambda_t$ and friction coefficient $\mu$, or a polygon in place of the circle.
///
/// In the plane both shapes give the same exact cone.
///
/// # Examples
///
/// ```
/// use carom_contact::FrictionCone;
/// assert_eq!(FrictionCone::Polygon(8).directions(), Some(8));
/// assert_eq!(FrictionCone::default().directions(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum FrictionCone {
    /// The exact round cone.
    #[default]
    Round,
    /// A regular polygon inscribed in the cone, with this many directions: 4 to 256 in space (2 in the plane).
    /// The answer depends on the orientation of the polygon; with 4 directions velocities have errors of several
    /// percent.
    Polygon(usize),
}

impl FrictionCone {
    /// Number of directions of the friction polygon; `None` for round cones.
    pub fn directions(self) -> Option<usize> {
        match self {
            Self::Round => None,
            Self::Polygon(k) => Some(k),
        }
    }
}
