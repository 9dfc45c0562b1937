//! The contact problem: rest, answers, refusals.

mod answers;
mod statics;
