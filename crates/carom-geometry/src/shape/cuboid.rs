//! Boxes with faces parallel to the coordinate planes of the body.

use crate::{GeometryError, PointVisitor, Support, SupportMap, TriangleMesh};
use nalgebra::{Matrix3, Vector3};

/// Box with edges along the body axes.
///
/// # Examples
///
/// The moment of inertia of a box of 3 kg, $J_x = \tfrac m3(b^2 + c^2)$:
///
/// ```
/// use carom_geometry::{Cuboid, MassProperties};
/// let cuboid = Cuboid::new([0.1, 0.2, 0.3])?;
/// let inertia = *MassProperties::cuboid(&cuboid, 3.0)?.inertia();
/// assert!((inertia[(0, 0)] - (0.2_f64.powi(2) + 0.3_f64.powi(2))).abs() < 1e-15);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "CuboidForm"))]
pub struct Cuboid {
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    half_extents: Vector3<f64>,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    center: Vector3<f64>,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    CuboidForm {
        #[serde(with = "carom_numeric::stored::finite")]
        half_extents: Vector3<f64>,
        #[serde(with = "carom_numeric::stored::finite")]
        center: Vector3<f64>,
    } -> Cuboid,
    |form| {
        let center = form.center;
        let half_extents = form.half_extents.into();
        Ok(Cuboid { center, ..Cuboid::new(half_extents)? })
    }
);

impl Cuboid {
    /// Creates a box from its half extents (m), centered at the body's origin.
    ///
    /// # Errors
    ///
    /// [`GeometryError::InvalidExtent`], [`GeometryError::NonFinite`].
    pub fn new(half_extents: [f64; 3]) -> Result<Self, GeometryError> {
        GeometryError::check_positive("half extent", &half_extents)?;
        Ok(Self {
            half_extents: Vector3::from(half_extents),
            center: Vector3::zeros(),
        })
    }

    /// Returns the half extents of the box along the body axes (m).
    pub fn half_extents(&self) -> &Vector3<f64> {
        &self.half_extents
    }

    /// Returns the center of the box in the body frame (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        Self {
            center: self.center + by,
            ..*self
        }
    }

    /// Returns corner `i` (0 to 7) of the cuboid in the body frame (m). Bit 0 of `i` selects the side along x, bit 1
    /// along y, bit 2 along z.
    fn vertex(&self, i: usize) -> Vector3<f64> {
        let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let signs = Vector3::new(sign(0), sign(1), sign(2));
        self.center + self.half_extents.component_mul(&signs)
    }

    /// Returns the surface of the box as a triangle mesh.
    pub fn mesh(&self) -> TriangleMesh {
        const FACES: [[usize; 4]; 6] = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        let triangles = FACES
            .iter()
            .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
        TriangleMesh::trusted(
            (0..8).map(|i| self.vertex(i)).collect(),
            triangles.collect(),
        )
    }
}

impl SupportMap for Cuboid {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        // For a zero component the negative side is taken, which gives the vertex of lowest index.
        let corner = self
            .half_extents
            .zip_map(direction, |h, d| if d >= 0.0 { -h } else { h });
        let reach = self.half_extents.dot(&direction.abs());
        Support {
            point: self.center + corner,
            value: self.center.dot(direction) - reach,
        }
    }

    /// Returns zero, because the lowest vertex of a cuboid does not change for a small change of direction.
    fn support_derivative(&self, _direction: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }

    fn bounding_radius(&self) -> f64 {
        self.center.norm() + self.half_extents.norm()
    }

    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        let low = (0..8).map(|i| self.vertex(i));
        low.filter(|v| v.dot(direction) <= bound).for_each(report);
    }
}
