//! Linear complementarity problems, solved with a certificate.
//!
//! Given a square matrix $M$ and a vector $q$, find
//!
//! $$ z \ge 0, \qquad w = Mz + q \ge 0, \qquad z^T w = 0. $$
//!
//! Each pair $(w_i, z_i)$ has one member that is zero: a contact is open or pushes, slides or
//! sticks. A choice of the member that may be positive, for every pair, is a *complementary basis*; there
//! are $2^n$, and a solution is a basis whose linear system has a nonnegative solution.
//!
//! ```
//! use carom_lcp::{Lcp, LcpStatus, Lemke};
//! use nalgebra::{dmatrix, dvector};
//! // Three equal balls in a row, the first one hits, plastically: the impulses at two contacts.
//! let lcp = Lcp::new(dmatrix![2.0, -1.0; -1.0, 2.0], dvector![-1.0, 0.0])?;
//! let solution = Lemke::default().solve(&lcp)?;
//! assert_eq!(solution.status, LcpStatus::Solved);
//! assert!((solution.z - dvector![2.0 / 3.0, 1.0 / 3.0]).amax() < 1e-15);
//! # Ok::<(), carom_lcp::LcpError>(())
//! ```
//!
//! # The path
//!
//! Lemke's method adds one artificial variable and a covering vector $d > 0$,
//!
//! $$ w - Mz - d z_0 = q. $$
//!
//! For large $z_0$ all $w$ are positive; at the smallest such $z_0$ one of them is zero, and its
//! partner enters. From then on the method moves along *almost complementary* bases, in which one
//! pair is out and $z_0$ is in: whatever variable blocks leaves, and its partner enters. Every such basis
//! has at most two neighbors, so the path cannot come back, unless ties let it: it ends where
//! $z_0$ leaves, at a solution, or on a ray where nothing blocks. Ties are broken
//! lexicographically, as if $q$ had been perturbed by $(\epsilon, \epsilon^2, \dots)$, which
//! rules out cycles (Cottle, Pang & Stone 1992, Section 4.9).
//!
//! Nothing of the tableau is updated but what is needed: pivots are kept as a list and
//! applied to a column when it enters. These are the operations of the condensed tableau, on the
//! few columns that are ever used.
//!
//! # What an answer is worth
//!
//! The path is computed in floating point, so its end is a claim. A gate decides, on the problem as
//! given, after the method has finished: the [`backward_error`](Certificate::backward_error)
//!
//! $$ \eta = \max_i \frac{|w_i| \text{ if } z_i > 0, \text{ else } \max(0, -w_i)}{|q_i| + \sum_j |M_{ij}| z_j} $$
//!
//! is at most $10^{-12}$, which means that $z$ solves a problem whose entries differ by no more than
//! that fraction of themselves. An answer that is large against the data
//! ([`is_heavy`](LcpSolution::is_heavy)) can have a small error where there is no solution; it also
//! needs a proof that the basis has a solution with these signs, by verified bounds or
//! in rational arithmetic. Only then it is called [`Solved`](LcpStatus::Solved).
//!
//! Otherwise more is tried: basic variables within rounding of zero are set to zero, the solution is
//! corrected in twice the precision, and further attempts follow ([`Attempt`]): equilibration, other
//! covering vectors, the whole path in twice the precision, and rational arithmetic, which decides
//! every problem of up to eight rows. [`Infeasible`](LcpStatus::Infeasible) is said with a
//! [`Proof`] only: a Farkas certificate whose signs are exact, or all complementary cones. A budget of
//! counted operations ([`LemkeOptions::max_work`]) covers all attempts.
//!
//! # What is here
//!
//! | item | is |
//! | --- | --- |
//! | [`Lcp`], [`LcpRef`] | a validated problem, owned or borrowed |
//! | [`Lemke`] | the method of choice; [`LemkeWorkspace`] makes it free of allocations |
//! | [`Lemke::solve_symmetric`] | symmetric positive semidefinite matrices (contacts without friction) by sweeps |
//! | [`principal_pivoting`] | Cottle-Dantzig and Keller, for P and positive semidefinite matrices |
//! | [`GaussSeidel`] | cheap sweeps of low accuracy |
//! | [`enumerate`](fn@enumerate), [`Enumerate`] | every basic solution of a small problem |
//! | [`auto`] | tries them in turn and says why |
//! | [`BoxedLcp`] | variables between bounds, or without |
//! | [`ContactLcp`] | the problems of contact with friction |
//! | [`cone`] | contacts with round friction cones: few of them, or heaps of thousands |
//! | [`MatrixClass`] | what theorems promise about a matrix |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod auto;
mod backward;
mod balance;
mod boxed;
mod certificate;
mod class;
pub mod cone;
mod contact;
mod enclosure;
mod enumerate;
mod error;
mod exact;
mod farkas;
mod gate;
mod gauss_seidel;
mod lemke;
mod pivoting;
mod problem;
mod scalar;
mod size;
mod small_enclosure;
mod status;
mod tolerances;
mod work;

pub use auto::{AutoChoice, auto};
pub use backward::SOLVED_ERROR;
pub use boxed::{BoxedLcp, BoxedSolution};
pub use certificate::Certificate;
pub use class::{MAX_CLASS_DIM, MatrixClass, Verdict};
pub use contact::{ContactLcp, ContactRows, friction_directions};
pub use enumerate::{Enumerate, Enumeration, MAX_ENUMERATE_DIM, enumerate};
pub use error::LcpError;
pub use gauss_seidel::GaussSeidel;
pub use lemke::{Attempt, Lemke, LemkeOptions, LemkeReport, LemkeWorkspace};
pub use pivoting::principal_pivoting;
pub use problem::{Lcp, LcpRef, LcpSolution, MAX_DIM};
pub use status::{LcpStatus, Proof};
pub use work::{DEFAULT_MAX_WORK, Limit};

// Crates whose types stand in signatures here.
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
