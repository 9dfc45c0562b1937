//! Linear complementarity problems, solved with a final check of every answer.
//!
//! Given a square matrix $M$ and a vector $q$, find
//!
//! $$ z \ge 0, \qquad w = Mz + q \ge 0, \qquad z^T w = 0. $$
//!
//! In each pair $(w_i, z_i)$ one member is zero: a contact is open or closed, slides or sticks. A *complementary
//! basis* chooses, for every pair, the member that may be positive. There are $2^n$ such bases, and a solution
//! belongs to a basis whose linear system has a nonnegative solution.
//!
//! ```
//! use carom_lcp::{Lcp, LcpSolver, LcpStatus, Lemke};
//! use nalgebra::{dmatrix, dvector};
//! // Three equal balls in a row, the first one hits, plastically: the impulses at two contacts.
//! let lcp = Lcp::new(dmatrix![2.0, -1.0; -1.0, 2.0], dvector![-1.0, 0.0])?;
//! let solution = Lemke::default().solve(&lcp)?;
//! assert_eq!(solution.status, LcpStatus::Solved);
//! assert!((solution.z - dvector![2.0 / 3.0, 1.0 / 3.0]).amax() < 1e-15);
//! # Ok::<(), carom_lcp::LcpError>(())
//! ```
//!
//! # Lemke's path
//!
//! Lemke's method adds one artificial variable and a covering vector $d > 0$,
//!
//! $$ w - Mz - d z_0 = q. $$
//!
//! For large $z_0$ all $w$ are positive. At the smallest such $z_0$ one of them is zero and leaves the basis.
//! From then on the method moves along *almost complementary* bases, in which $z_0$ is basic and both members
//! of one pair are nonbasic: the variable that blocks leaves, and its partner enters. Every such basis has at
//! most two neighbors, so the path cannot return to an earlier basis unless there are ties. It ends at a
//! solution, where $z_0$ leaves, or on a ray, where no variable blocks. Ties are broken lexicographically, as
//! if $q$ had been perturbed by $(\epsilon, \epsilon^2, \dots)$, which rules out cycles (Cottle, Pang & Stone
//! 1992, Section 4.9).
//!
//! The full tableau is never updated. Pivots are kept as a list and applied to a column when it enters. These
//! are the operations of the condensed tableau, for the few columns that are used.
//!
//! # Check of an answer
//!
//! The path is computed in floating point, so its end is only a claim. After the method has finished, a check
//! on the original problem decides: the [`backward_error`](Certificate::backward_error)
//!
//! $$ \eta = \max_i \frac{|w_i| \text{ if } z_i > 0, \text{ else } \max(0, -w_i)}{|q_i| + \sum_j |M_{ij}| z_j} $$
//!
//! must be at most $10^{-12}$. This means that $z$ solves a problem whose entries differ by no more than that
//! fraction of their magnitude. An answer that is large compared with the data
//! ([`is_heavy`](LcpSolution::is_heavy)) can have a small error although no solution exists. It also needs a
//! proof that the basis has a solution with these signs, by verified bounds or in rational arithmetic. Only
//! then its status is [`Solved`](LcpStatus::Solved).
//!
//! Otherwise further steps follow. Basic variables within rounding error of zero are set to zero, and the
//! solution is corrected in twice the precision. Then come the further attempts ([`Attempt`]): equilibration,
//! the whole path in twice the precision, and rational arithmetic, which decides every problem of up to eight rows. The status [`Infeasible`](LcpStatus::Infeasible) always has a [`Proof`]: a
//! Farkas certificate whose signs are exact, or the exact examination of all complementary cones. A budget of
//! counted operations ([`LemkeOptions::max_work`]) covers all attempts.
//!
//! # Contents
//!
//! | item | description |
//! | --- | --- |
//! | [`Lcp`], [`LcpRef`] | validated problem, owned or borrowed |
//! | [`LcpSolver`] | the trait by which every solver is used |
//! | [`Lemke`] | Lemke's method, the usual choice; with a [`LemkeWorkspace`] it does not allocate |
//! | [`Enumerate`] | all basic solutions of a small problem |
//! | [`Auto`] | tries the methods in turn and reports the reason for the choice |
//! | [`ContactLcp`] | problems of frictional contact with polygonal cones |
//! | [`contact_problem`] | contacts with friction, rigid or on springs: rest first, one answer of many, refusals with proofs |
//! | [`MatrixClass`] | classes of matrices and the theorems on them |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod auto;
mod backward;
mod balance;
mod certificate;
mod class;
mod contact;
pub mod contact_problem;
mod enclosure;
mod enumerate;
mod error;
mod exact;
mod farkas;
mod gate;
mod lemke;
mod problem;
mod scalar;
mod size;
mod small_enclosure;
mod solver;
mod status;
mod tolerances;
mod work;

pub use auto::{Auto, AutoChoice};
pub use backward::SOLVED_ERROR;
pub use certificate::Certificate;
pub use class::{MAX_CLASS_DIM, MatrixClass, Verdict};
pub use contact::{ContactLcp, ContactRows, friction_directions};
pub use enumerate::{Enumerate, Enumeration, MAX_ENUMERATE_DIM};
pub use error::LcpError;
pub use lemke::{Attempt, Lemke, LemkeOptions, LemkeReport, LemkeWorkspace};
pub use problem::{Lcp, LcpRef, LcpSolution, MAX_DIM};
pub use solver::LcpSolver;
pub use status::{LcpStatus, Proof};
pub use work::{DEFAULT_MAX_WORK, Limit};

// Crates whose types appear in signatures here.
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
