//! Errors of shapes, meshes and inertias.

/// Why a shape, a mesh or mass properties could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// A number is NaN or infinite.
    #[error("{what} has a non-finite entry")]
    NonFinite {
        /// The quantity, in the words of the caller.
        what: &'static str,
    },
    /// A mass must be positive.
    #[error("mass {mass} must be positive")]
    NonPositiveMass {
        /// The mass given.
        mass: f64,
    },
    /// An inertia matrix differs from its transpose by more than rounding.
    #[error(
        "inertia is not symmetric: entry ({row}, {column}) differs from its mirror by {difference:e}"
    )]
    InertiaNotSymmetric {
        /// Row of the worst entry.
        row: usize,
        /// Column of the worst entry.
        column: usize,
        /// Difference of the mirror entries.
        difference: f64,
    },
    /// An inertia matrix has an eigenvalue that is not positive.
    #[error("inertia is not positive definite: its smallest principal moment is {moment:e}")]
    InertiaNotPositiveDefinite {
        /// Smallest eigenvalue.
        moment: f64,
    },
    /// No distribution of mass has this inertia: one principal moment exceeds the sum of the others.
    #[error(
        "inertia is unphysical: the largest principal moment exceeds the sum of the others by {excess:e}"
    )]
    InertiaUnphysical {
        /// Violation of the triangle inequality.
        excess: f64,
    },
    /// A plane's normal has no direction.
    #[error("plane normal is zero")]
    ZeroNormal,
    /// An extent that must be positive is not.
    #[error("{what} {value} must be positive")]
    InvalidExtent {
        /// The quantity, in the words of the caller.
        what: &'static str,
        /// Value given.
        value: f64,
    },
    /// A rounding radius must be at least 0.
    #[error("rounding radius {value} must be at least 0")]
    InvalidRounding {
        /// Value given.
        value: f64,
    },
    /// A polyhedron needs at least four vertices.
    #[error("{found} vertices: a polyhedron needs at least 4")]
    TooFewVertices {
        /// Vertices given.
        found: usize,
    },
    /// A mesh that meets other bodies must be its own convex hull, or be given as a union of convex
    /// parts.
    #[error("the mesh is not convex: give a union of convex parts")]
    NotConvex,
    /// A cylinder has no contact with other bodies, only with planes.
    #[error(
        "a cylinder touches planes only: for `{other}` give a capsule or a polyhedron, or set collide = false for the pair"
    )]
    CylinderPair {
        /// Name of the other body.
        other: String,
    },
    /// All points of a body lie in one plane.
    #[error("all points lie in one plane: the body has no volume")]
    Flat,
    /// A mesh's triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are {n_vertices} vertices")]
    VertexOutOfRange {
        /// Position of the triangle.
        triangle: usize,
        /// Vertex it names.
        vertex: usize,
        /// Vertices there are.
        n_vertices: usize,
    },
    /// A mesh needs at least four triangles.
    #[error("{found} triangles: a closed mesh needs at least 4")]
    TooFewTriangles {
        /// Triangles given.
        found: usize,
    },
    /// A directed edge of a mesh has no partner in the opposite direction, or several.
    #[error(
        "mesh is not closed and consistently oriented: the edge from vertex {from} to {to} is used {forward} times and its reverse {backward} times"
    )]
    OpenMesh {
        /// Vertex where the edge begins.
        from: usize,
        /// Vertex where it ends.
        to: usize,
        /// Triangles with this edge.
        forward: usize,
        /// Triangles with the reversed edge.
        backward: usize,
    },
    /// A mesh's triangles face inwards, or enclose nothing.
    #[error("mesh encloses the volume {volume:e}: its triangles must face outwards")]
    InvertedMesh {
        /// Signed volume.
        volume: f64,
    },
    /// A union or intersection has no parts.
    #[error("a union or an intersection needs at least one part")]
    NoParts,
    /// The parts of an intersection have no common interior.
    #[error("the parts of the intersection have no common interior")]
    EmptyIntersection,
    /// No rule for the mass properties of this shape at uniform density.
    #[error("no formula for the inertia of {shape} at uniform density: give the inertia")]
    UnknownMassProperties {
        /// The shape, in words.
        shape: &'static str,
    },
    /// A mesh file could not be read.
    #[error("mesh file: {message}")]
    MeshFile {
        /// Message of the reader.
        message: String,
    },
}

impl GeometryError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NonFinite { .. } => "non-finite",
            Self::NonPositiveMass { .. } => "non-positive-mass",
            Self::InertiaNotSymmetric { .. } => "inertia-not-symmetric",
            Self::InertiaNotPositiveDefinite { .. } => "inertia-not-positive-definite",
            Self::InertiaUnphysical { .. } => "inertia-unphysical",
            Self::ZeroNormal => "zero-normal",
            Self::InvalidExtent { .. } => "invalid-extent",
            Self::InvalidRounding { .. } => "invalid-rounding",
            Self::TooFewVertices { .. } => "too-few-vertices",
            Self::NotConvex => "not-convex",
            Self::CylinderPair { .. } => "cylinder-pair",
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

    /// Refuses numbers that are NaN or infinite.
    pub(crate) fn check_finite<'a>(
        what: &'static str,
        values: impl IntoIterator<Item = &'a f64>,
    ) -> Result<(), Self> {
        match values.into_iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(Self::NonFinite { what }),
        }
    }

    /// Refuses extents that are not positive.
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
