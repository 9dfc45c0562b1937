//! Many contacts with round friction cones: sparse problems, warm starts.
//!
//! # Method
//!
//! Each contact is scaled so that the natural map at unit step is the residual. The stages, each from
//! the best point so far:
//!
//! 1. a warm start, which may be the answer;
//! 2. regularized Newton steps on the equations of Alart and Curnier, $G + \epsilon I$ in the matrix
//!    alone, full steps without a search: a contact at the edge of its cone slips by 1e-6 and must turn by
//!    a right angle, so that the residual rises a hundred times before it falls;
//! 3. interior points with Nesterov-Todd scaling;
//! 4. proximal points, $G + \epsilon I$ about the last impulses;
//! 5. interior and proximal points from zero; at last Gauss-Seidel sweeps, and proximal points with a
//!    line search.
//!
//! A linear system is factored over the impulses, $A + BG$, where there are few contacts a body, or
//! over the velocities of the bodies, $I + J^TCJ$ with $C = (A + \epsilon B)^{-1}B$, which is never
//! singular.

mod block;
mod factor;
mod interior;
mod linear;
mod natural;
mod newton;
mod ordering;
mod problem;
mod proximal;
mod soc;
mod sweeps;
mod system;
mod tolerances;
mod workspace;

pub use problem::{BodyRows, SparseConeProblem, SparseContact};
pub use workspace::{
    SparseConeAnswer, SparseConeOptions, SparseConeStage, SparseConeWorkspace, sparse_cone_residual,
};
