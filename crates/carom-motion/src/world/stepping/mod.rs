//! Time stepping: steps of one length, each with one problem for every island of contacts.
//!
//! A step of length $h$ from $(x, v)$:
//!
//! 1. half a flight without gravity, to the middle $x_m$;
//! 2. rows $J$ at $x_m$ for every pair that can close within the step, and impulses
//!    $0 \le \lambda_n \perp u_n^+ + \max(g, 0)/h \ge 0$ with Coulomb friction in the round cone, where
//!    $v^+ = v + ha + M^{-1}J^T\lambda$ and $u^+ = Jv^+$;
//! 3. where contacts close faster than the threshold of impacts, both phases of `poisson`;
//! 4. half a flight with $v^+$.
//!
//! Flights with $v^+$ are searched for pairs that close and have no rows: these get rows, and their island is
//! solved again. The energy changes by exactly $\lambda\cdot(u^- + u^+)/2$. Overlaps that turning bodies make
//! within a step are never pushed out by velocity, which can have no answer in a jam: a share of them is taken out
//! of positions.
//!
//! | file | concern |
//! | --- | --- |
//! | `broad.rs` | pairs whose swept boxes meet |
//! | `contact.rs` | which of them can close, and their points |
//! | `island.rs` | bodies that contacts connect |
//! | `solver.rs` | the impulses of one island |
//! | `step.rs` | one step with its rounds |
//! | `project.rs` | overlaps |
//! | `lasting.rs` | contacts that last |
//! | `run.rs` | the motion: samples, impacts, balance |
//!
//! Stewart & Trinkle, Int. J. Numer. Methods Eng. 39 (1996) 2673; Moreau 1988.

mod broad;
mod contact;
mod executor;
mod island;
mod lasting;
mod options;
mod project;
mod run;
mod solver;
mod step;
mod tolerances;

pub use executor::{Executor, Serial};
pub use options::{Scheme, StepCounts, Stepping};
