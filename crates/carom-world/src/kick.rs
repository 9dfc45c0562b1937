//! Contact problem of one kick without restitution, and the options of its solution.

use nalgebra::Vector2;
use std::cell::Cell;

/// Accuracy of a contact velocity, as a fraction of the largest one.
pub(super) const ACCURACY: f64 = 1e-14;

/// Velocity error, as a fraction of the largest velocity, up to which impulses are accepted where rows nearly depend on each
/// other: in a step of 1 ms at 1 m/s that is a tenth of a nanometre.
pub(super) const SOFT: f64 = 1e-7;

/// Friction law at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Friction {
    /// No friction.
    Frictionless,
    /// Sliding friction against a prescribed slip direction, a unit vector in the tangent plane.
    Against(Vector2<f64>),
    /// Coulomb's law.
    Coulomb,
}

/// Contact problem of one kick. Rows are normal, first and second tangent of each contact in turn.
#[derive(Debug)]
pub(crate) struct Kick<'a> {
    /// Mobility matrix $W$ (inverse inertia of the rows), row-major.
    pub(crate) mobility: &'a [f64],
    /// Contact velocities without impulses, $q$ (m/s).
    pub(crate) velocity: &'a [f64],
    pub(crate) friction: &'a [(f64, Friction)],
    /// Rounding error of the velocities (m/s): dependent rows need not agree better than this.
    pub(crate) noise: f64,
    pub(crate) work: &'a Work,
}

/// Counter of the work of all kicks that share it. A unit is about one multiply-add; units are counted, not timed.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    done: Cell<u64>,
    /// Largest amount of work; kicks beyond it fail without a search for a solution.
    limit: u64,
}

impl Default for Work {
    fn default() -> Self {
        Self::up_to(u64::MAX)
    }
}

impl Work {
    /// Creates a work counter that starts at zero and has the given limit, in units of about one multiply-add.
    pub(crate) fn up_to(limit: u64) -> Self {
        Self {
            done: Cell::new(0),
            limit,
        }
    }

    pub(super) fn add(&self, work: usize) {
        self.done.set(self.done.get().saturating_add(work as u64));
    }

    /// Returns true if the counted work has reached the limit.
    pub(crate) fn is_spent(&self) -> bool {
        self.done.get() >= self.limit
    }
}
