//! Sparse contact problems with many circular friction cones, and warm starts.
//!
//! # Method
//!
//! Each contact is scaled so that the residual is the natural map with unit step. Each stage starts from the
//! best point so far:
//!
//! 1. the warm start, which may already be the answer;
//! 2. regularized Newton steps on the equations of Alart and Curnier, with $G + \epsilon I$ in the matrix only.
//!    Full steps are taken, without a line search: if a contact at the edge of its cone slips by 1e-6 and its
//!    friction must turn by a right angle, the residual rises a hundred times before it falls;
//! 3. interior-point steps with Nesterov-Todd scaling;
//! 4. proximal-point steps, with $G + \epsilon I$ around the last impulses;
//! 5. interior-point and proximal-point steps from zero impulses and from other depths inside the cones;
//! 6. continuation from perturbed problems: small random velocities are added to those before the impulses and
//!    reduced in steps to zero;
//! 7. at last repeated interior-point and proximal-point steps, then Gauss-Seidel sweeps and proximal-point steps
//!    with a line search.
//!
//! A linear system is factored over the impulses, $A + BG$, if there are few contacts per body. Otherwise it is
//! factored over the velocities of the bodies, $I + J^TCJ$ with $C = (A + \epsilon B)^{-1}B$, which is never
//! singular.

mod interior;
mod linear;
mod natural;
mod newton;
mod perturbed;
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
