//! A success means what it says: every answer is judged again here, from its definition.

mod cancellation;
mod fuzz;
mod gate;
mod invariance;
mod orders;
mod rough;

use crate::support::random::{Case, Random};
