//! Kinetic-energy metric: the inner product by which lengths and angles of momenta and velocities are measured.
//!
//! A mechanical system at a fixed configuration has a mass matrix $M$. It defines the length of velocities,
//! $\lVert v\rVert^2 = v^T M v$ (twice the kinetic energy), and, through its inverse, the inner product of momenta and
//! gradients of gap functions, $\langle a, b\rangle = a M^{-1} b^T$. In this metric a frictionless elastic impact is a
//! mirror reflection,
//!
//! $$ p^+ = p^- \Gamma(u), \qquad \Gamma(u) = I - 2\frac{M^{-1}u^T u}{\langle u,u\rangle}, $$
//!
//! a plastic impact is an orthogonal projection, and the angle between two contact normals decides
//! if their simultaneous impact has one outcome or two.
//!
//! | type | meaning | shape |
//! | --- | --- | --- |
//! | [`Tangent`] | a velocity | n entries |
//! | [`Covector`] | a momentum or a gap gradient | n entries |
//! | [`KineticMetric`] | the mass matrix, factored once | n × n |
//! | [`UnitNormals`] | normals of unit length, in whitened coordinates | n × contacts |
//! | [`Wedge`] | the feasible wedge of two contacts | half angle $\gamma$ |
//!
//! Internally all vectors are in *whitened* coordinates ($M = LL^T$, covectors $L^{-1}a$, velocities $L^Tv$), in which
//! the metric is Euclidean. Matrices are factored by a loop over columns; with the feature `faer`, large matrices
//! ([`FAER_MIN_DIM`]) are factored by faer.
//!
//! # Examples
//!
//! ```
//! use carom_metric::nalgebra::DMatrix;
//! use carom_metric::{Covector, KineticMetric, MetricError};
//!
//! fn main() -> Result<(), MetricError> {
//!     // Two masses on a line, 1 kg and 3 kg; the first one hits the second, elastically.
//!     let metric = KineticMetric::new(DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 3.0]))?;
//!     let normal = Covector::from_slice(&[-1.0, 1.0]);
//!     let before = Covector::from_slice(&[2.0, 0.0]); // momenta, N s
//!     let after = metric.reflect(&before, &normal)?;
//!     assert!((after.0[0] + 1.0).abs() < 1e-14 && (after.0[1] - 3.0).abs() < 1e-14);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod error;
mod metric;
mod nonnegative;
mod normals;
mod reflect;
mod vector;

pub use carom_numeric::kernel;
pub use error::MetricError;
pub use metric::{FAER_MIN_DIM, KineticMetric};
pub use nonnegative::{DEPENDENT_COLUMN, Unsettled, interior_direction, nonnegative_least_squares};
pub use normals::{UnitNormals, Wedge};
pub use reflect::orthonormal_span;
pub use vector::{Covector, Tangent};

// Crates whose types occur in signatures of this crate.
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
