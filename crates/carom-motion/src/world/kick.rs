//! The velocities of contacts that do not restitute, and what their impulses are looked for with.

use nalgebra::Vector2;
use std::cell::Cell;

/// A contact velocity is found to this fraction of the largest one.
pub(super) const ACCURACY: f64 = 1e-14;

/// Impulses whose velocities are off by this fraction of the largest one are an answer where rows nearly depend on each
/// other: in a step of 1 ms at 1 m/s that is a tenth of a nanometre.
pub(super) const SOFT: f64 = 1e-7;

/// Mode of friction at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Friction {
    /// None.
    Frictionless,
    /// Against a slip that is given, a unit vector of the tangents.
    Against(Vector2<f64>),
    /// Coulomb's law.
    Coulomb,
}

/// The contacts of one kick; rows are normal, first and second tangent of each contact in turn.
#[derive(Debug)]
pub(crate) struct Kick<'a> {
    /// $W$, row by row.
    pub(crate) mobility: &'a [f64],
    /// Velocities without impulses, $q$.
    pub(crate) velocity: &'a [f64],
    pub(crate) friction: &'a [(f64, Friction)],
    /// Rounding of the velocities: rows that depend on each other need not agree better.
    pub(crate) noise: f64,
    pub(crate) work: &'a Work,
}

/// Units of work of all kicks that share it, about a multiply-add each: counted, not timed.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    done: Cell<u64>,
    /// Kicks beyond it have no answer, which is looked for no longer.
    limit: u64,
}

impl Default for Work {
    fn default() -> Self {
        Self::up_to(u64::MAX)
    }
}

impl Work {
    /// No work, of so much at most.
    pub(crate) fn up_to(limit: u64) -> Self {
        Self {
            done: Cell::new(0),
            limit,
        }
    }

    pub(super) fn add(&self, work: usize) {
        self.done.set(self.done.get().saturating_add(work as u64));
    }

    /// True if there is as much as there may be.
    pub(crate) fn is_spent(&self) -> bool {
        self.done.get() >= self.limit
    }
}
