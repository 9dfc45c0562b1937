//! Time steppers that are stored and read.

use super::{Carry, Solver, StepperOf};
use crate::pair_table::Pair;
use carom_lcp::contact_problem::Pattern;
use std::sync::{Mutex, PoisonError};

impl<W, X> StepperOf<W, X> {
    /// Returns what later steps depend on: contacts, but those without any data, and the patterns of the solvers.
    pub(in super::super) fn saved(&self) -> (Carry, Vec<Option<Pattern>>) {
        let pairs = self.carry.pairs.iter();
        let told = pairs.filter(|(_, memory, kept)| !(memory.is_empty() && kept.is_empty()));
        let pattern = |solver: &Mutex<Solver>| {
            let solver = solver.lock().unwrap_or_else(PoisonError::into_inner);
            solver.pattern()
        };
        let mut patterns: Vec<Option<Pattern>> = self.solvers[0].iter().map(pattern).collect();
        while patterns.pop_if(|pattern| pattern.is_none()).is_some() {}
        let pairs = told.cloned().collect();
        (Carry { pairs }, patterns)
    }

    /// Goes on with stored contacts and patterns.
    pub(in super::super) fn recall(&mut self, carry: Carry, patterns: Vec<Option<Pattern>>) {
        self.carry = carry;
        let solvers = patterns.into_iter().map(Solver::recalling).map(Mutex::new);
        self.solvers = [solvers.collect(), Vec::new()];
    }
}

impl Carry {
    /// Returns the pairs, in ascending order.
    pub(in super::super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.pairs.iter().map(|(pair, ..)| *pair)
    }
}
