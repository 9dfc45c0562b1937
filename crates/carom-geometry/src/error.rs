//! Errors of shapes, meshes and mass properties.

/// Reason why a shape, a mesh, its mass properties or its contact geometry could not be created.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// A number is NaN or infinite.
    #[error("{what} has a non-finite entry")]
    NonFinite {
        /// Name of the quantity.
        what: &'static str,
    },
    /// A mass is not positive.
    #[error("mass {mass} must be positive")]
    NonPositiveMass {
        /// Value of the mass (kg).
        mass: f64,
    },
    /// An inertia matrix differs from its transpose by more than rounding errors.
    #[error(
        "inertia is not symmetric: entry ({row}, {column}) differs from its mirror by {difference:e}"
    )]
    InertiaNotSymmetric {
        /// Row of the entry with the largest difference.
        row: usize,
        /// Column of the entry with the largest difference.
        column: usize,
        /// Difference between the entry and its mirror entry.
        difference: f64,
    },
    /// An inertia matrix has an eigenvalue that is not positive.
    #[error("inertia is not positive definite: its smallest principal moment is {moment:e}")]
    InertiaNotPositiveDefinite {
        /// Smallest principal moment (kg·m²).
        moment: f64,
    },
    /// No mass distribution has this inertia: one principal moment exceeds the sum of the others.
    #[error(
        "inertia is unphysical: the largest principal moment exceeds the sum of the others by {excess:e}"
    )]
    InertiaUnphysical {
        /// Amount by which the triangle inequality is violated.
        excess: f64,
    },
    /// A part of a stored shape does not fit the rest of it.
    #[error("the {what} does not fit the rest of the shape")]
    Inconsistent {
        /// Name of the part.
        what: &'static str,
    },
    /// The normal of a plane is the zero vector.
    #[error("plane normal is zero")]
    ZeroNormal,
    /// An extent is not positive.
    #[error("{what} {value} must be positive")]
    InvalidExtent {
        /// Name of the quantity.
        what: &'static str,
        /// Value of the extent.
        value: f64,
    },
    /// A rounding radius is negative or not finite.
    #[error("rounding radius {value} must be at least 0")]
    InvalidRounding {
        /// Value of the radius.
        value: f64,
    },
    /// A polyhedron has fewer than four vertices, so that it has no volume. Give more points.
    #[error("{found} vertices: a polyhedron needs at least 4")]
    TooFewVertices {
        /// Number of vertices given.
        found: usize,
    },
    /// A mesh that should collide with other bodies is not convex. Replace it by its convex hull, or by the hulls of its convex parts.
    #[error(
        "the mesh is not convex: hull = true takes its convex hull, parts = true the hulls of the objects of its file"
    )]
    NotConvex,
    /// All points of a body lie in one plane, so that the body has no volume.
    #[error("all points lie in one plane: the body has no volume")]
    Flat,
    /// A triangle of a mesh uses a vertex index that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are {n_vertices} vertices")]
    VertexOutOfRange {
        /// Index of the triangle.
        triangle: usize,
        /// Vertex index that the triangle uses.
        vertex: usize,
        /// Number of vertices.
        n_vertices: usize,
    },
    /// A mesh has fewer than four triangles, so that it cannot be closed.
    #[error("{found} triangles: a closed mesh needs at least 4")]
    TooFewTriangles {
        /// Number of triangles given.
        found: usize,
    },
    /// The triangles of a mesh do not form a closed, consistently oriented surface: a directed edge does not occur exactly once,
    /// or its reverse does not. Add missing triangles or correct the order of their vertices.
    #[error(
        "mesh is not closed and consistently oriented: the edge from vertex {from} to {to} is used {forward} times and its reverse {backward} times"
    )]
    OpenMesh {
        /// Vertex at which the edge begins.
        from: usize,
        /// Vertex at which the edge ends.
        to: usize,
        /// Number of triangles with this edge.
        forward: usize,
        /// Number of triangles with the reversed edge.
        backward: usize,
    },
    /// A mesh encloses no volume, or its triangles are oriented inward. In the second case, reverse the order of the vertices in
    /// every triangle.
    #[error("mesh encloses the volume {volume:e}: its triangles must face outwards")]
    InvertedMesh {
        /// Signed volume of the mesh.
        volume: f64,
    },
    /// A union or intersection has no parts.
    #[error("a union or an intersection needs at least one part")]
    NoParts,
    /// The parts of an intersection have no common interior.
    #[error("the parts of the intersection have no common interior")]
    EmptyIntersection,
    /// The mass properties of this shape at uniform density cannot be computed. Give mass and inertia explicitly.
    #[error("no formula for the inertia of {shape} at uniform density: give the inertia")]
    UnknownMassProperties {
        /// Description of the shape.
        shape: &'static str,
    },
    /// A mesh file could not be read.
    #[error("mesh file: {message}")]
    MeshFile {
        /// Error message of the file reader.
        message: String,
    },
}

impl GeometryError {
    /// Returns the identifier of the error variant in machine-readable reports, in kebab case, for example
    /// `open-mesh`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NonFinite { .. } => "non-finite",
            Self::NonPositiveMass { .. } => "non-positive-mass",
            Self::InertiaNotSymmetric { .. } => "inertia-not-symmetric",
            Self::InertiaNotPositiveDefinite { .. } => "inertia-not-positive-definite",
            Self::InertiaUnphysical { .. } => "inertia-unphysical",
            Self::Inconsistent { .. } => "inconsistent",
            Self::ZeroNormal => "zero-normal",
            Self::InvalidExtent { .. } => "invalid-extent",
            Self::InvalidRounding { .. } => "invalid-rounding",
            Self::TooFewVertices { .. } => "too-few-vertices",
            Self::NotConvex => "not-convex",
            Self::Flat => "flat",
            Self::VertexOutOfRange { .. } => "vertex-out-of-range",
            Self::TooFewTriangles { .. } => "too-few-triangles",
            Self::OpenMesh { .. } => "open-mesh",
            Self::InvertedMesh { .. } => "inverted-mesh",
            Self::NoParts => "no-parts",
            Self::EmptyIntersection => "empty-intersection",
            Self::UnknownMassProperties { .. } => "unknown-mass-properties",
            Self::MeshFile { .. } => "mesh-file",
        }
    }

    /// Returns an error if a number is NaN or infinite. `what` names the quantity in the error message.
    pub(crate) fn check_finite<'a>(
        what: &'static str,
        values: impl IntoIterator<Item = &'a f64>,
    ) -> Result<(), Self> {
        if values.into_iter().all(|x| x.is_finite()) {
            Ok(())
        } else {
            Err(Self::NonFinite { what })
        }
    }

    /// Returns an error if a value is not positive and finite. `what` names the quantity in the error message.
    pub(crate) fn check_positive<'a>(
        what: &'static str,
        values: impl IntoIterator<Item = &'a f64>,
    ) -> Result<(), Self> {
        for &value in values {
            if !value.is_finite() {
                return Err(Self::NonFinite { what });
            }
            if value <= 0.0 {
                return Err(Self::InvalidExtent { what, value });
            }
        }
        Ok(())
    }
}
