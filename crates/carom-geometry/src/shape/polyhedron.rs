//! Polyhedra.

use crate::tolerances::EQUAL;
use crate::{GeometryError, PointVisitor, Support, SupportMap, TriangleMesh};
use nalgebra::{Matrix3, Vector3};

/// Polyhedron that is the convex hull of given points, or a body bounded by a closed mesh.
///
/// Contact with a plane depends only on the convex hull, so that only the vertices of the hull are searched. Mass and inertia are
/// those of the body that the mesh bounds.
///
/// # Examples
///
/// ```
/// use carom_geometry::{Polyhedron, SupportMap};
/// use nalgebra::Vector3;
/// let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
/// let tips: Vec<Vector3<f64>> = axes.iter().flat_map(|a| [*a, -a]).collect();
/// let octahedron = Polyhedron::new(&tips)?;
/// // It lies on a face at 1/√3, and its volume is 4/3.
/// let face = octahedron.support(&Vector3::new(1.0, 1.0, 1.0).normalize()).value;
/// assert!((face + 1.0 / 3.0_f64.sqrt()).abs() < 1e-15);
/// assert!((octahedron.mesh().volume() - 4.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "PolyhedronForm"))]
pub struct Polyhedron {
    surface: TriangleMesh,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    vertices: Vec<Vector3<f64>>,
    convex: bool,
    #[cfg_attr(feature = "serde", serde(skip_serializing))]
    radius: f64,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    PolyhedronForm {
        surface: TriangleMesh,
        #[serde(with = "carom_numeric::stored::finite")]
        vertices: Vec<Vector3<f64>>,
        convex: bool,
    } -> Polyhedron,
    |form| {
        let own = Polyhedron::from_mesh(form.surface)?;
        let sorted = |vertices: &[Vector3<f64>]| {
            let mut entries: Vec<[u64; 3]> = vertices.iter().map(|v| v.map(f64::to_bits).into()).collect();
            entries.sort_unstable();
            entries
        };
        if own.convex != form.convex || sorted(&own.vertices) != sorted(&form.vertices) {
            return Err(GeometryError::Inconsistent { what: "convex hull" });
        }
        Ok(Polyhedron::assemble(form.vertices, own.surface, own.convex))
    }
);

impl Polyhedron {
    /// Creates a convex polyhedron: the convex hull of points in the body frame (m).
    ///
    /// # Errors
    ///
    /// [`GeometryError::TooFewVertices`], [`GeometryError::Flat`], [`GeometryError::NonFinite`].
    pub fn new(points: &[Vector3<f64>]) -> Result<Self, GeometryError> {
        let hull = TriangleMesh::hull(points)?;
        Ok(Self::assemble(hull.vertices().to_vec(), hull, true))
    }

    /// Creates a polyhedron that is bounded by a closed mesh, convex or not.
    ///
    /// # Errors
    ///
    /// [`GeometryError::Flat`].
    pub fn from_mesh(mesh: TriangleMesh) -> Result<Self, GeometryError> {
        let hull = TriangleMesh::hull(mesh.vertices())?;
        let (whole, own) = (hull.volume(), mesh.volume());
        let convex = (whole - own).abs() <= EQUAL * whole;
        Ok(Self::assemble(hull.vertices().to_vec(), mesh, convex))
    }

    fn assemble(vertices: Vec<Vector3<f64>>, surface: TriangleMesh, convex: bool) -> Self {
        let radius = vertices.iter().fold(0.0, |r, v| v.norm().max(r));
        Self {
            surface,
            vertices,
            convex,
            radius,
        }
    }

    /// Returns the surface of the polyhedron as a triangle mesh.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.surface
    }

    /// Returns the vertices of the convex hull of the polyhedron, in the body frame (m).
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// True if the polyhedron is convex, that is equal to its convex hull.
    pub fn is_convex(&self) -> bool {
        self.convex
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        let vertices = self.vertices.iter().map(|v| v + by).collect();
        Self::assemble(vertices, self.surface.translated(by), self.convex)
    }
}

impl SupportMap for Polyhedron {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let mut best = Support {
            point: Vector3::zeros(),
            value: f64::INFINITY,
        };
        for &point in &self.vertices {
            let value = point.dot(direction);
            if value < best.value {
                best = Support { point, value };
            }
        }
        best
    }

    /// Returns zero, because the lowest vertex of a polyhedron does not change for a small change of direction.
    fn support_derivative(&self, _direction: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }

    fn bounding_radius(&self) -> f64 {
        self.radius
    }

    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        let low = self.vertices.iter().copied();
        low.filter(|v| v.dot(direction) <= bound).for_each(report);
    }
}
