//! Modes of a stage: unknown impulses, and the equations that they hold.

use super::frame::Variation;
use smallvec::{SmallVec, smallvec};

/// Rows and coefficients of a linear form.
pub(super) type Terms = SmallVec<[(usize, f64); 2]>;

/// The form of one row.
pub(super) fn of_row(row: usize) -> Terms {
    smallvec![(row, 1.0)]
}

/// A coefficient of restitution, and what it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rebound {
    /// A number that no derivative changes.
    Fixed(f64),
    /// Quantity of a contact.
    Contact(usize, f64),
    /// Quantity of the whole event.
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

/// An equation $t\cdot(Jv' + eJv) + q\cdot L = 0$ of a stage.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    /// Coefficients of the velocities.
    pub(super) velocities: Terms,
    pub(super) rebound: Rebound,
    /// Coefficients of the changes of impulses.
    pub(super) impulses: Terms,
    /// Change of the equation with a friction coefficient: contact and factor.
    pub(super) by_friction: Option<(usize, f64)>,
}

/// An impulse that grows with a friction coefficient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) contact: usize,
    pub(super) row: usize,
    pub(super) factor: f64,
}

/// Modes of all rows in a stage: the columns of S and T, and their dependence on friction.
#[derive(Clone, Debug, Default)]
pub(super) struct Mode {
    pub(super) unknowns: SmallVec<[Terms; 1]>,
    pub(super) equations: SmallVec<[Equation; 1]>,
    pub(super) loads: Vec<Load>,
    /// For an unknown that friction limits: the unknown that pushes, and the friction coefficient.
    pub(super) limits: SmallVec<[Option<(usize, f64)>; 1]>,
    /// True if anything but rows that are held acts.
    pub(super) acts: bool,
}

impl Mode {
    /// A row ends with minus `rebound` times the velocity that it began with.
    pub(super) fn stop(&mut self, row: usize, rebound: Rebound) {
        self.push(of_row(row), of_row(row), rebound);
    }

    /// An impulse that acts on a form of rows until another form has been stopped.
    pub(super) fn push(&mut self, impulse: Terms, velocities: Terms, rebound: Rebound) {
        self.acts = true;
        self.limits.push(None);
        self.unknowns.push(impulse);
        self.equations.push(Equation {
            velocities,
            rebound,
            impulses: Terms::new(),
            by_friction: None,
        });
    }

    /// Rows that stay at rest whatever acts.
    pub(super) fn hold(&mut self, rows: std::ops::Range<usize>) {
        let acts = self.acts;
        for row in rows {
            self.stop(row, Rebound::Fixed(0.0));
        }
        self.acts = acts;
    }
}
