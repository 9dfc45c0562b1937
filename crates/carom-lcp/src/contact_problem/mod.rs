//! Contacts with friction: rest first, then Newton's method, then proximal points.

mod bodies;
mod enumerate;
mod even;
mod law;
mod linear;
mod newton;
mod no_answer;
mod problem;
mod proximal;
mod rank;
mod rest;
mod solution;
mod system;
mod workspace;

pub use bodies::{Bodies, BodyRows};
pub use problem::{Block, ContactProblem, Kind, Operator};
pub use solution::{Member, Mode, Rank, Refusal, Solution};
pub use workspace::{Workspace, solve};
