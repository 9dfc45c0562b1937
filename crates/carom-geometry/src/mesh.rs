//! Closed triangle meshes.

#[cfg(feature = "meshes")]
use crate::MeshFile;
use crate::{GeometryError, hull};
use carom_numeric::decisions::Sum;
use nalgebra::Vector3;

/// Closed triangle mesh that bounds a solid body; its triangles are oriented outward.
///
/// # Examples
///
/// A corner of the unit cube has a sixth of its volume:
///
/// ```
/// use carom_geometry::TriangleMesh;
/// use nalgebra::Vector3;
/// let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let outward = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let mesh = TriangleMesh::new(corners.to_vec(), outward)?;
/// assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-16);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "TriangleMeshForm"))]
pub struct TriangleMesh {
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[usize; 3]>,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    TriangleMeshForm {
        #[serde(with = "carom_numeric::stored::finite")]
        vertices: Vec<Vector3<f64>>,
        triangles: Vec<[usize; 3]>,
    } -> TriangleMesh,
    |form| TriangleMesh::new(form.vertices, form.triangles)
);

impl TriangleMesh {
    /// Creates a closed mesh from vertices (m) and triangles. A triangle is three vertex indices,
    /// counterclockwise when seen from outside.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonFinite`], [`GeometryError::TooFewTriangles`],
    /// [`GeometryError::VertexOutOfRange`]; [`GeometryError::OpenMesh`] unless every directed edge
    /// occurs once and its reverse once; [`GeometryError::InvertedMesh`] unless the enclosed
    /// volume is positive.
    pub fn new(
        vertices: Vec<Vector3<f64>>,
        triangles: Vec<[usize; 3]>,
    ) -> Result<Self, GeometryError> {
        GeometryError::check_finite("vertex", vertices.iter().flat_map(|v| v.iter()))?;
        if triangles.len() < 4 {
            let found = triangles.len();
            return Err(GeometryError::TooFewTriangles { found });
        }
        let n_vertices = vertices.len();
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v >= n_vertices) {
                return Err(GeometryError::VertexOutOfRange {
                    triangle,
                    vertex,
                    n_vertices,
                });
            }
        }
        check_closed(&triangles)?;
        let mesh = Self {
            vertices,
            triangles,
        };
        let volume = mesh.volume();
        // A volume that is only rounding error has no sign.
        let size = mesh.extent();
        if volume > Sum::ROUNDING * size * size * size {
            Ok(mesh)
        } else {
            Err(GeometryError::InvertedMesh { volume })
        }
    }

    /// Creates a mesh without checks; the caller guarantees that it is closed and outward oriented.
    pub(crate) fn trusted(vertices: Vec<Vector3<f64>>, triangles: Vec<[usize; 3]>) -> Self {
        Self {
            vertices,
            triangles,
        }
    }

    /// Computes the convex hull of points (m) as a triangle mesh. Points that are not a vertex of the hull are omitted.
    ///
    /// # Errors
    ///
    /// [`GeometryError::TooFewVertices`], [`GeometryError::Flat`], [`GeometryError::NonFinite`].
    pub fn hull(points: &[Vector3<f64>]) -> Result<Self, GeometryError> {
        let triangles = hull::hull(points)?;
        // The remaining vertices keep their order.
        let mut place = vec![None; points.len()];
        for &corner in triangles.iter().flatten() {
            place[corner] = Some(0);
        }
        let mut vertices = Vec::new();
        for (point, place) in points.iter().zip(&mut place) {
            if place.is_some() {
                *place = Some(vertices.len());
                vertices.push(*point);
            }
        }
        let renumber = |corner: usize| place[corner].unwrap_or_default();
        let triangles = triangles.iter().map(|t| t.map(renumber)).collect();
        Ok(Self {
            vertices,
            triangles,
        })
    }

    /// Reads a closed triangle mesh from the bytes of an STL file, binary or text. Equal vertices are merged.
    ///
    /// # Errors
    ///
    /// [`GeometryError::MeshFile`] and those of [`new`](Self::new).
    #[cfg(feature = "meshes")]
    pub fn from_stl(bytes: &[u8]) -> Result<Self, GeometryError> {
        MeshFile::from_stl(bytes)?.close()
    }

    /// Reads a closed triangle mesh from the bytes of an OBJ file. All objects of the file form one mesh,
    /// polygons are divided into triangles, and equal vertices are merged.
    ///
    /// # Errors
    ///
    /// [`GeometryError::MeshFile`] and those of [`new`](Self::new).
    #[cfg(feature = "meshes")]
    pub fn from_obj(bytes: &[u8]) -> Result<Self, GeometryError> {
        MeshFile::from_obj(bytes)?.close()
    }

    /// Returns the vertices of the mesh (m).
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Returns the triangles of the mesh, each as three indices into [`vertices`](Self::vertices).
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }

    /// Iterates over the triangles of the mesh; each item holds the positions of the three corners (m).
    pub(crate) fn corners(&self) -> impl Iterator<Item = [Vector3<f64>; 3]> {
        self.triangles.iter().map(|t| t.map(|i| self.vertices[i]))
    }

    /// Returns the mean of the vertices (m). Coordinates relative to this point keep more digits.
    pub(crate) fn middle(&self) -> Vector3<f64> {
        self.vertices.iter().sum::<Vector3<f64>>() / self.vertices.len() as f64
    }

    /// Returns the volume of the solid that the mesh bounds (m³). The volume is positive, because the triangles are oriented
    /// outward.
    pub fn volume(&self) -> f64 {
        let o = self.middle();
        let parts = self
            .corners()
            .map(|[a, b, c]| (a - o).dot(&(b - o).cross(&(c - o))));
        parts.sum::<f64>() / 6.0
    }

    /// Returns the largest distance of a vertex from the mean of all vertices (m).
    fn extent(&self) -> f64 {
        let o = self.middle();
        self.vertices.iter().fold(0.0, |r, v| (v - o).norm().max(r))
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        Self {
            vertices: self.vertices.iter().map(|v| v + by).collect(),
            triangles: self.triangles.clone(),
        }
    }
}

/// Checks that a list of triangles (vertex indices) is a closed surface: every directed edge occurs once, and its
/// reverse once. Returns an error otherwise.
fn check_closed(triangles: &[[usize; 3]]) -> Result<(), GeometryError> {
    let sides = |[a, b, c]: &[usize; 3]| [(*a, *b), (*b, *c), (*c, *a)];
    let mut edges: Vec<(usize, usize)> = triangles.iter().flat_map(sides).collect();
    edges.sort_unstable();
    let uses = |edge: (usize, usize)| {
        let start = edges.partition_point(|other| *other < edge);
        let same = edges[start..].iter().take_while(|other| **other == edge);
        same.count()
    };
    for &(from, to) in &edges {
        let (forward, backward) = (uses((from, to)), uses((to, from)));
        if forward != 1 || backward != 1 || from == to {
            return Err(GeometryError::OpenMesh {
                from,
                to,
                forward,
                backward,
            });
        }
    }
    Ok(())
}
