//! Contacts with round friction cones: a complementarity problem over second-order cones.
//!
//! Every contact has three rows, its normal and two tangents, with relative velocities $b$ before
//! and $u = b + G\lambda$ after the impulses $\lambda = (\lambda_n, \lambda_t)$. Wanted is
//!
//! $$ 0 \le u_n + e b_n \perp \lambda_n \ge 0, \qquad \lVert\lambda_t\rVert \le \mu\lambda_n, \qquad
//! \lambda_t = -\mu\lambda_n \frac{u_t}{\lVert u_t\rVert} \text{ where } u_t \ne 0, $$
//!
//! the law of Signorini and Coulomb with Newton's restitution $e$. With
//! $\hat u = (u_n + e b_n + \mu\lVert u_t\rVert, u_t)$ it reads $K^\ast \ni \hat u \perp \lambda \in K$
//! (De Saxcé & Feng 1991).
//!
//! # Method
//!
//! A semismooth Newton method on the equations of the projections,
//!
//! $$ \lambda_n = \max(0, \lambda_n - (u_n + e b_n)), \qquad
//! \lambda_t = P_{\lVert x\rVert \le \mu\lambda_n}(\lambda_t - u_t), $$
//!
//! (Alart & Curnier 1991) with steps of least norm, because $G$ is singular where contacts
//! depend on each other. It starts from zero, from compliant contacts that become stiffer, from a
//! few Gauss-Seidel sweeps of exact one-contact solutions, from what the method for many contacts (below) finds, and from
//! the solution of the linear complementarity problem with polygons in place of the cones, which are turned until a vertex
//! opposes the sliding (see [`ConeStart`]). One contact is solved in closed form
//! ([`single_contact`]).
//!
//! An answer counts only by its [`contact_residual`], which knows the problem and the impulses alone and looks
//! at every contact on its own terms.
//!
//! # Many contacts
//!
//! [`SparseConeProblem`] holds bodies and their contacts, or blocks of $G$, and [`SparseConeWorkspace`]
//! solves it: regularized Newton steps from a warm start, interior points, proximal points, with sparse
//! block factors whose symbolic phase is kept from one problem to the next. Islands that share no body
//! are best solved one by one.
//!
//! # Which solution
//!
//! Friction cones can have several solutions. Dependent contacts that slide even have a continuum
//! of them, with different velocities after the impact: how the load is shared decides how the
//! friction acts, and rigid bodies do not say how it is shared. [`ConeSelection::Even`] answers with the limit
//! of equally compliant contacts, $G + \epsilon D$ with $\epsilon \to 0$ and $D$ the mean diagonal
//! of each contact's block: the end of the branch that begins with soft contacts, $\epsilon = 1$, which have one
//! solution. Nothing of that depends on the order of the contacts. [`ConeAnswer::family`] is the dimension of
//! the continuum.

mod answer;
mod even;
mod gauss_seidel;
mod given;
mod least_norm;
mod newton;
mod polygon;
mod problem;
mod residual;
mod single;
mod sparse;
mod weak;
mod workspace;

pub use answer::{ConeAnswer, ConeMode, ConeSelection, ConeStart};
pub use problem::ConeProblem;
pub use residual::{CONE_RESIDUAL, cone_residual, contact_residual};
pub use single::{SingleContact, single_contact};
pub use sparse::{
    BodyRows, SparseConeAnswer, SparseConeOptions, SparseConeProblem, SparseConeStage,
    SparseConeWorkspace, SparseContact, sparse_cone_residual,
};
pub use workspace::ConeWorkspace;
