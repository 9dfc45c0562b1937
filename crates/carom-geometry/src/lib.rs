//! Shapes of rigid bodies: contact points, gaps, and mass properties.
//!
//! A body is a set $B$ of points $\rho$ in its own frame; their positions in space are $x + R\rho$, with the
//! position $x$ and the rotation $R$ of the body. A half space $\lbrace z : n\cdot z + D \le 0\rbrace$ is
//! solid, and the unit normal $n$ points out of it. Contact needs only the *support map* of a body: the lowest
//! point along a direction,
//!
//! $$ \sigma(d) = \min_{\rho\in B} d\cdot\rho, \qquad \rho_C(d) = \arg\min_{\rho\in B} d\cdot\rho. $$
//!
//! Then the gap is $\Phi(x,R) = n\cdot x + D + \sigma(R^Tn)$. The motion of the minimizer does not contribute
//! to the derivative of a minimum (envelope theorem), so that
//!
//! $$ \dot\Phi = n\cdot\dot x + \chi\cdot\Omega, \qquad \chi = \rho_C\times d, \quad d = R^Tn, $$
//!
//! with the angular velocity $\Omega$ in the body frame. $(n, \chi)$ is the wrench of the contact: the
//! direction of every frictionless impulse.
//!
//! | to find | go to |
//! | --- | --- |
//! | the support map and its implementations | [`SupportMap`], [`Ellipsoid`], [`TurnedEllipsoid`], [`Cuboid`], [`Cylinder`], [`Segment`] (a capsule when rounded), [`Polyhedron`], [`Rounded`], [`Union`], [`EllipsoidIntersection`], any of them: [`Shape`] |
//! | gap, contact point, wrench | [`HalfSpace::gap`], [`Gap`] |
//! | edges and faces that touch | [`HalfSpace::contact_patch`], [`ContactPatch`] |
//! | mass, center and inertia | [`MassProperties`] |
//! | closed triangle meshes; STL and OBJ files | [`TriangleMesh`]; `MeshFile` |
//! | gap, normal and touching points of two convex bodies | [`pair`] |
//! | convex hulls | [`TriangleMesh::hull`] |
//! | signed distances | [`sdf`] |
//! | intersecting boxes among many | [`cells`] |
//!
//! A union need not be convex. Its lowest point is the lowest point of one of its parts, so that a plane
//! contact sees the convex hull of the union. The lowest point of an intersection is in general *not* a lowest
//! point of one of the parts; [`EllipsoidIntersection`] finds it on the curve or point where surfaces meet.
//!
//! # Rounding
//!
//! Tran & Leok round a polyhedron by $\varepsilon$ to make its boundary smooth. The lowest point becomes
//! $\rho_C - \varepsilon d/\lvert d\rvert$: the gap is reduced by $\varepsilon$, and $\chi = \rho_C\times d$
//! does not change. Rounding therefore never changes the direction of an impulse, and an edge or a face on the
//! plane remains one: see [`ContactPatch`].
//!
//! # Examples
//!
//! ```
//! use carom_geometry::nalgebra::Vector3;
//! use carom_geometry::{Ellipsoid, GeometryError, MassProperties};
//!
//! fn main() -> Result<(), GeometryError> {
//!     // An ellipsoid of 1 kg with semi-axes of 2 m, 3 m and 4 m.
//!     let shape = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros())?;
//!     let mass = MassProperties::ellipsoid(&shape, 1.0)?;
//!     assert!((mass.inertia()[(0, 0)] - (9.0 + 16.0) / 5.0).abs() < 1e-14);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod cells;
mod convex;
mod error;
mod half_space;
mod hull;
mod mass_properties;
mod mesh;
#[cfg(feature = "meshes")]
mod mesh_file;
pub mod pair;
mod patch;
pub mod sdf;
mod shape;
#[cfg(feature = "serde")]
mod stored;
mod tolerances;
mod uniform;

pub use error::GeometryError;
pub use half_space::{Gap, HalfSpace};
pub use mass_properties::MassProperties;
pub use mesh::TriangleMesh;
#[cfg(feature = "meshes")]
pub use mesh_file::MeshFile;
pub use patch::{ContactPatch, PatchKind};
pub use shape::{
    Cuboid, Cylinder, Ellipsoid, EllipsoidIntersection, PointVisitor, Polyhedron, Rounded, Segment,
    Shape, Support, SupportMap, TurnedEllipsoid, Union,
};

// Crates whose types appear in signatures here.
pub use carom_lie as lie;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
