//! Round friction cones or polygons.

/// The shape of the friction cones $\lVert\lambda_t\rVert \le \mu\lambda_n$ of spatial contacts.
///
/// In the plane both are the same, and exact.
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
    /// The cone itself.
    #[default]
    Round,
    /// A regular polygon inside it, with this many directions: 4 to 256 in space (2 in the plane).
    /// The answer depends on how it is turned; with 4 directions velocities are off by several
    /// percent.
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
}
