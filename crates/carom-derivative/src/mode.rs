//! Modes of a stage: unknown impulses, and the equations that determine them.

use super::frame::{Frame, Variation};
use carom_contact::{ContactIndex, RowIndex};
use smallvec::{SmallVec, smallvec};

/// Linear form on rows: pairs of row index and coefficient. The rows of contacts come first, then those of constraints.
pub(super) type Terms = SmallVec<[(RowIndex, f64); 2]>;

/// Returns the linear form of the row velocities (or impulses) that consists of one row with coefficient one.
pub(super) fn of_row(row: RowIndex) -> Terms {
    smallvec![(row, 1.0)]
}

/// Coefficient of restitution, and the quantity to which it belongs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rebound {
    /// A constant.
    Fixed(f64),
    /// Restitution of a contact: index and value.
    Contact(ContactIndex, f64),
    /// Restitution of the whole event.
    Event(f64),
}

impl Rebound {
    pub(super) fn value(self) -> f64 {
        match self {
            Self::Fixed(e) | Self::Contact(_, e) | Self::Event(e) => e,
        }
    }

    pub(super) fn change(self, variation: &Variation) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Contact(contact, _) => variation.restitution(contact),
            Self::Event(_) => variation.event,
        }
    }
}

/// Equation of a stage: $t\cdot(Jv' + eJv) + q\cdot L = 0$ with the velocities $v$ before and $v'$ after it, the
/// restitution $e$ and the impulses $L$.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    /// Coefficients $t$ of the row velocities.
    pub(super) velocities: Terms,
    pub(super) rebound: Rebound,
    /// Coefficients $q$ of the impulses; they act on changes of impulses.
    pub(super) impulses: Terms,
    /// Derivative of the equation with respect to a friction coefficient: contact and factor.
    pub(super) by_friction: Option<(ContactIndex, f64)>,
}

/// Impulse on a row that grows with a friction coefficient: its derivative is `factor`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) contact: ContactIndex,
    pub(super) row: RowIndex,
    pub(super) factor: f64,
}

/// Changes that an unknown impulse may have if contacts share their impulses in another way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Range {
    /// The impulse is not negative.
    Push,
    /// Friction within the cone of a contact: the unknown normal impulse and the friction coefficient.
    Friction(usize, f64),
    /// Any value, or one that the equations of the mode determine from the other unknowns.
    Any,
}

/// Modes of all rows in a stage: the columns of S and T (see [`Stage`](super::stage::Stage)), and their dependence on
/// friction.
#[derive(Clone, Debug, Default)]
pub(super) struct Mode {
    pub(super) unknowns: SmallVec<[Terms; 1]>,
    pub(super) equations: SmallVec<[Equation; 1]>,
    pub(super) loads: Vec<Load>,
    /// Range of each unknown.
    pub(super) ranges: SmallVec<[Range; 1]>,
    /// True if any row other than the constraints acts.
    pub(super) acts: bool,
    /// Number of unknowns at the end of the list that belong to constraints which follow from the others.
    pub(super) n_redundant: usize,
}

impl Mode {
    /// Adds an unknown impulse on a row, and the equation that the final velocity along the row is minus `rebound` (the
    /// restitution) times the initial velocity along it.
    pub(super) fn stop(&mut self, row: RowIndex, rebound: Rebound) {
        self.push(of_row(row), of_row(row), rebound);
    }

    /// Adds an unknown impulse along the linear form `impulse` of rows. Adds the equation that the velocity along the
    /// form `velocities` ends at minus `rebound` (the restitution) times its initial value.
    pub(super) fn push(&mut self, impulse: Terms, velocities: Terms, rebound: Rebound) {
        self.acts = true;
        self.ranges.push(Range::Push);
        self.unknowns.push(impulse);
        self.equations.push(Equation {
            velocities,
            rebound,
            impulses: Terms::new(),
            by_friction: None,
        });
    }

    /// Adds the unknowns and equations of the contacts in `other`, without those of the constraints at its end.
    pub(super) fn append(&mut self, other: &Self, frame: &Frame<'_>) {
        let first = self.unknowns.len();
        let count = other.unknowns.len() - frame.constraint_rows().len();
        self.acts |= other.acts;
        self.unknowns
            .extend(other.unknowns.iter().take(count).cloned());
        self.equations
            .extend(other.equations.iter().take(count).cloned());
        let ranges = other.ranges.iter().take(count);
        self.ranges.extend(ranges.map(|range| match *range {
            Range::Friction(normal, friction) => Range::Friction(first + normal, friction),
            range => range,
        }));
    }

    /// Adds the constraints to the linear system: one unknown impulse per row, and the equation that the velocity along the
    /// row stays zero. Constraints that follow from others come last: they have no part in the solution, only in changes of
    /// the rows. Constraints do not count as contacts that act.
    pub(super) fn hold(&mut self, frame: &Frame<'_>) {
        let (independent, redundant) = frame.constraints_by_rank();
        self.hold_rows(independent);
        self.hold_rows(redundant);
        self.n_redundant = redundant.len();
    }

    /// Adds an unknown impulse and an equation for each of the given constraint rows, as [`hold`](Self::hold) does.
    pub(super) fn hold_rows(&mut self, rows: &[RowIndex]) {
        let (acts, first) = (self.acts, self.ranges.len());
        for row in rows {
            self.stop(*row, Rebound::Fixed(0.0));
        }
        self.ranges
            .iter_mut()
            .skip(first)
            .for_each(|range| *range = Range::Any);
        self.acts = acts;
    }
}
