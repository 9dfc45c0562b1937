//! Contacts with friction, rigid or on springs: one problem, one solver.
//!
//! A [`ContactProblem`] holds the laws of its contacts ([`Block`]) and the Delassus matrix ([`Operator`]). [`solve`] treats
//! islands, contacts that are coupled by bodies, one by one. An island with one rigid contact is solved in closed form.
//!
//! # Stages
//!
//! 1. **Rest**, if the even member is asked for: the convex problem $\lambda = P_K(\lambda - u)$, with the Euclidean projection
//!    onto the friction cones, leaves the least kinetic energy. It ends with impulses in the cones that balance the momentum,
//!    or with a proof that no such impulses exist. A balance is an answer of the law of friction, too.
//! 2. **Newton's method** with full steps on the equations of the projections (Alart & Curnier 1991), without a line search.
//!    The steps of few contacts are hardly regularized at first; others, and those of a second attempt, by the residual. They are
//!    solved for the impulses, or for the velocities of the bodies if there are many contacts per body.
//! 3. **Proximal points** (Rockafellar 1976): contacts that yield a little around the last impulses, ever less.
//!
//! Every stage hands its best impulses to one measure of error, [`Solution::residual`].
//!
//! # Choice among several answers
//!
//! [`Solution::rank`] says whether impulses and velocities are locally unique. If they are not, [`Member::Even`] is the limit of
//! equally compliant contacts, $R_i = \epsilon\operatorname{tr}(G_{ii})/3$ with $\epsilon \to 0$. At rest it is the
//! balance of the least $\sum\operatorname{tr}(G_{ii})\lVert\lambda_i\rVert^2$ in the cones.
//!
//! # Examples
//!
//! A mass point keeps sliding; with a steeper approach it would stop:
//!
//! ```
//! use carom_lcp::contact_problem::*;
//! let delassus = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
//! let blocks = [Block::new(Kind::Round, 0.5)];
//! let problem = ContactProblem::new(Operator::Dense(&delassus), &blocks, &[-1.0, 0.6, 0.8])?;
//! let mut workspace = Workspace::default();
//! let solution = solve(&problem, Member::Even, &mut workspace)?;
//! assert!((solution.impulse[0] - 1.0).abs() < 1e-15);
//! assert!((solution.impulse[1] + 0.3).abs() < 1e-15);
//! assert_eq!(solution.modes, [ContactMode::Slide]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
pub(crate) mod checks;
mod enumerate;
mod even;
mod few;
mod law;
mod linear;
mod newton;
mod no_answer;
mod problem;
mod proximal;
mod rank;
mod rest;
mod single;
mod solution;
mod system;
mod workspace;

pub use bodies::{Bodies, BodyRows};
pub use linear::Pattern;
pub use problem::{Block, ContactProblem, Kind, Operator};
pub use solution::{ContactMode, Member, NO_IMPULSE, Rank, Refusal, Solution};
pub use workspace::{Workspace, residual, solve};
