//! Time stepping: steps of constant length, with one contact problem for every island of bodies in each step.
//!
//! A step of length $h$ from $(x, v)$:
//!
//! 1. half a flight without gravity, to the middle configuration $x_m$;
//! 2. Jacobian rows $J$ at $x_m$ for every pair that can close within the step, and impulses
//!    $0 \le \lambda_n \perp u_n^+ + \max(g, 0)/h \ge 0$ with Coulomb friction in the circular cone, where $g$ is the gap, $a$
//!    the acceleration of gravity, $v^+ = v + ha + M^{-1}J^T\lambda$ and $u^+ = Jv^+$;
//! 3. if contacts close faster than the threshold of impacts, both phases of the law `poisson`;
//! 4. half a flight with $v^+$.
//!
//! The flight with $v^+$ is searched for pairs that close without having rows. These pairs get rows, and their island is solved
//! again. The energy changes by exactly $\lambda\cdot(u^- + u^+)/2$. Overlaps that the rotation of bodies causes within a step
//! are not removed through velocities, because that problem can be infeasible in a jam. A share of each overlap is removed by
//! moving the bodies instead.
//!
//! | file | concern |
//! | --- | --- |
//! | `broad.rs` | broad phase: pairs whose enlarged boxes overlap |
//! | `contact.rs` | pairs that can close, and their contact points |
//! | `island.rs` | groups of bodies connected by contacts |
//! | `solver.rs` | the impulses of one island |
//! | `impact.rs` | impacts of an island: the law `poisson` |
//! | `spring.rs` | springs of contact points |
//! | `phases.rs` | durations of the parts of a step |
//! | `step.rs` | one step and its rounds |
//! | `project.rs` | removal of overlaps |
//! | `lasting.rs` | contacts that persist over several steps |
//! | `run.rs` | the run: steps, impacts, energy balance |
//!
//! Stewart & Trinkle, Int. J. Numer. Methods Eng. 39 (1996) 2673; Moreau 1988.

mod broad;
mod contact;
mod executor;
mod impact;
mod island;
mod lasting;
mod options;
mod phases;
mod project;
mod run;
mod solver;
mod spring;
mod standing;
mod step;
mod tolerances;

pub use executor::{Executor, Serial};
pub use options::{Scheme, StepCounts, Stepping};
#[cfg(feature = "serde")]
pub(crate) use run::saved::{SavedSteps, is_at_line};
pub(crate) use run::{STILL_STEPS, StepRun, StepRunOf};
pub(crate) use tolerances::{GAIN, PROJECTED, SCALE_STEPS, SOFTER, USABLE};
