//! The contact problem: rest, answers, refusals.

mod answers;
mod heaps;
mod laws;
mod refusals;
mod statics;
