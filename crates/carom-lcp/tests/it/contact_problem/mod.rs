//! The contact problem: rest, answers, refusals.

mod answers;
mod bodies;
mod heaps;
mod laws;
mod refusals;
mod statics;
