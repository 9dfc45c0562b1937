//! Contacts with circular friction cones: a complementarity problem over second-order cones.
//!
//! Every contact has three rows: its normal and two tangents. $b$ are the relative velocities of the rows
//! before the impulses $\lambda = (\lambda_n, \lambda_t)$, and $u = b + G\lambda$ those after, with the
//! Delassus matrix $G$. The impulses satisfy
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
//! (Alart & Curnier 1991). The steps have minimum norm, because $G$ is singular if contacts depend on each
//! other. Several starting points are tried (see [`ConeStart`]): zero impulses, compliant contacts that become
//! stiffer, the result of the method for many contacts (below), and solutions of linear complementarity problems with polygons in place of the cones. The
//! polygons get vertices opposite to the sliding velocities. A problem with a single contact is solved in closed form
//! ([`single_contact`]).
//!
//! An answer is accepted by its [`contact_residual`] alone, which is computed from the problem and the impulses
//! and measures every contact in its own scale.
//!
//! # Many contacts
//!
//! [`SparseConeProblem`] holds bodies and their contacts, or blocks of $G$. [`SparseConeWorkspace`] solves it
//! with regularized Newton steps from a warm start, interior-point steps and proximal-point steps. The sparse
//! block factors keep their symbolic phase from one problem to the next. Islands that share no body are best
//! solved separately.
//!
//! # Choice among several solutions
//!
//! A problem with friction cones can have several solutions. Dependent contacts that slide can even have a
//! continuum of solutions with different velocities after the impact: the friction depends on how the load is
//! shared among the contacts, and the rigid-body model does not determine that. [`ConeSelection::Even`] returns
//! the limit of equally compliant contacts, $G + \epsilon D$ with $\epsilon \to 0$ and $D$ the mean diagonal of
//! each contact's block. It is the end of the branch that begins with soft contacts, $\epsilon = 1$, whose
//! solution is unique. This limit does not depend on the order of the contacts; where the branch turns back, none is found. [`ConeAnswer::family`] is the
//! dimension of the continuum.

mod another;
mod answer;
mod gauss_seidel;
mod given;
mod least_norm;
mod near;
mod newton;
mod polygon;
mod problem;
mod residual;
mod scale;
pub(crate) mod single;
mod solution_branch;
mod sparse;
mod weak;
mod workspace;

pub use crate::contact_problem::ContactMode as ConeMode;
pub use answer::{ConeAnswer, ConeSelection, ConeStart};
pub use problem::ConeProblem;
pub use residual::{CONE_RESIDUAL, cone_residual, cone_velocity_error, contact_residual};
pub use single::{SingleContact, single_contact};
pub use sparse::{
    BodyRows, SparseConeAnswer, SparseConeOptions, SparseConeProblem, SparseConeStage,
    SparseConeWorkspace, SparseContact, sparse_cone_residual,
};
pub use workspace::ConeWorkspace;
