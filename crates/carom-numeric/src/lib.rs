//! Small numerical tools that several crates of carom share.
//!
//! | module | contents |
//! | --- | --- |
//! | [`kernel`] | norms and inner products of slices that neither overflow nor underflow |
//! | [`dense`] | Cholesky and LU factorizations in place |
//! | [`decisions`] | zero sums, linear dependence, budgets of work |
//! | [`roots`] | roots inside a bracket: bisection, safeguarded Newton's method |
//! | [`polynomial`] | all simple roots of a polynomial on the unit interval |
//! | [`quadrature`] | Gauss-Legendre rules: fixed, on panels, adaptive |
//! | [`power()`] | integer powers with a fixed order of products |
//! | [`block_lu`] | LU factors of sparse block matrices |
//! | [`svd`] | singular values of small matrices, minimum-norm solutions |
//! | [`sums`] | sums and products with their rounding errors |
//! | [`expression`] | arithmetic expressions in text form |
//! | [`time`] | times that do not lose digits late in a run |
//! | `bytes` (feature `serde`) | values as bytes, for snapshots |
//! | `stored` (feature `serde`) | numbers, vectors and matrices as they are written and read |
//! | [`setters!`] | setters of options, one line each |
//! | [`random`] | random numbers that depend only on a seed and a position |
//!
//! # Examples
//!
//! ```
//! use carom_numeric::{quadrature, roots};
//!
//! fn main() {
//!     let root = roots::bisect(0.0, 2.0, |x| x * x < 2.0);
//!     assert!((root - 2f64.sqrt()).abs() < 1e-15);
//!     let [area] = quadrature::panels(1.0, 1.0, |x| [x * x]);
//!     assert!((area - 1.0 / 3.0).abs() < 1e-15);
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod block_lu;
#[cfg(feature = "serde")]
pub mod bytes;
pub mod decisions;
pub mod dense;
pub mod expression;
pub mod kernel;
mod nearest;
pub mod polynomial;
mod power;
pub mod quadrature;
pub mod random;
pub mod roots;
pub mod setters;
#[cfg(feature = "serde")]
pub mod stored;
pub mod sums;
pub mod svd;
pub mod time;
mod version;

pub use nearest::nearest_name;
pub use power::power;
pub use version::NUMERICS_VERSION;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
