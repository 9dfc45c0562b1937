//! Active sets of laws' answers, by which rounding errors of the impulses are corrected.

use crate::ContactSet;
use crate::breach::Breach;
use crate::index::RowIndex;
use carom_metric::DEPENDENT_COLUMN;
use carom_numeric::svd::Svd;
use smallvec::SmallVec;

/// Largest violation, as a fraction of the terms of the sum, of a contact that approaches or pulls because of rounding. A
/// larger one is a property of the answer.
const SMALL_BREACH: f64 = 1e-6;

/// Contact rows and the velocities by which they miss the prescribed ones, scaled, for rows of unit kinetic length.
pub type Missed = SmallVec<[(RowIndex, f64); 8]>;

/// Active set of a law's answer: which contacts push, stick and slide, and the velocities that the law prescribes for them.
/// The gate, which checks every answer, uses the active set to correct rounding errors of the impulses without solving the
/// impact again. An implementor must provide [`correct`](Self::correct). The other methods return how far an answer misses
/// the conditions of the law; by default the law has no such conditions.
pub trait Basis {
    /// True if the law prescribes velocities after the impact, so that the difference from them can be measured as a
    /// residual.
    fn has_residual(&self) -> bool {
        false
    }

    /// True if an answer that fails the final checks by `breach` may be repaired by correcting the impulses. By default, an
    /// answer in which contacts approach or pull is repaired only if the violation is at most $10^{-6}$ of the scale of its
    /// rule. A larger violation is a property of the law's answer, not a rounding error.
    fn can_correct(&self, breach: &Breach) -> bool {
        !breach.is_feasibility || breach.measure <= SMALL_BREACH
    }

    /// Returns the rows whose velocity after the impact the law prescribes (those that push or stick), each with the
    /// difference of its velocity from the prescribed one. Empty if the law prescribes no velocities. `after` holds the
    /// velocities of all contact rows after the impact, multiplied by the scale of the problem, for rows of unit kinetic
    /// length.
    fn missed(&self, _contacts: &ContactSet, _after: &[f64]) -> Missed {
        Missed::new()
    }

    /// Corrects rounding errors of the scaled impulses on the contact rows of unit kinetic length (unit rows), given the
    /// scaled velocities of these rows before and after the impact. The velocities `after` belong to the uncorrected
    /// impulses.
    fn correct(
        &mut self,
        contacts: &ContactSet,
        before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    );
}

/// Active set of contacts ([`Basis`]) for laws that guarantee only that no contact approaches after the impact, and perhaps that
/// energy is conserved. A correction brings contacts that still approach to rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    is_elastic: bool,
}

impl Opening {
    /// Creates the active set of an elastic law: a correction first scales the impulses so that energy is conserved.
    pub fn elastic() -> Self {
        Self { is_elastic: true }
    }
}

impl Basis for Opening {
    fn correct(
        &mut self,
        contacts: &ContactSet,
        before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    ) {
        if self.is_elastic {
            // K(s) - K(0) = s Σλb⁻ + s²/2 Σλ(b⁺ - b⁻).
            let (mut linear, mut quadratic) = (0.0, 0.0);
            for ((l, minus), plus) in impulse.iter().zip(before).zip(after) {
                linear += l * minus;
                quadratic += l * (plus - minus);
            }
            if quadratic > 0.0 {
                let s = -2.0 * linear / quadratic;
                impulse.iter_mut().for_each(|l| *l *= s);
            }
        }
        let normals = contacts.indices().map(|i| contacts.row(i));
        let approaching = normals.filter(|row| after[row.index()] < 0.0);
        let missed: Missed = approaching.map(|row| (row, after[row.index()])).collect();
        reach(contacts, &missed, impulse);
    }
}

/// Active set ([`Basis`]) of laws that prescribe the velocity of some contact rows after the impact. A correction changes the
/// impulses until these rows have the prescribed velocities.
#[derive(Clone, Debug)]
pub struct Targets {
    rows: SmallVec<[(RowIndex, f64); 4]>,
    are_required: bool,
}

impl Targets {
    /// Creates the active set of a law that prescribes velocities of contact rows after the impact. `rows` holds row
    /// indices in the Jacobian with the prescribed scaled velocities of the unit rows. `are_required` is true if an answer
    /// that misses the prescribed velocities is rejected.
    pub fn new(rows: impl IntoIterator<Item = (RowIndex, f64)>, are_required: bool) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            are_required,
        }
    }

    /// Row indices in the Jacobian and prescribed scaled velocities of the unit rows.
    pub fn rows(&self) -> &[(RowIndex, f64)] {
        &self.rows
    }
}

impl Basis for Targets {
    fn has_residual(&self) -> bool {
        self.are_required
    }

    fn can_correct(&self, _breach: &Breach) -> bool {
        true
    }

    fn missed(&self, _contacts: &ContactSet, after: &[f64]) -> Missed {
        let rows = self.rows.iter();
        rows.map(|&(row, target)| (row, after[row.index()] - target))
            .collect()
    }

    fn correct(
        &mut self,
        contacts: &ContactSet,
        _before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    ) {
        reach(contacts, &self.missed(contacts, after), impulse);
    }
}

/// Adds impulses of least norm that change the velocities of some contact rows of unit kinetic length by minus the `missed` ones.
fn reach(contacts: &ContactSet, missed: &[(RowIndex, f64)], impulse: &mut [f64]) {
    if missed.is_empty() {
        return;
    }
    let rows = missed.iter();
    let columns: Vec<f64> = rows
        .flat_map(|&(row, _)| contacts.unit_row(row).iter().copied())
        .collect();
    let missing: Vec<f64> = missed.iter().map(|(_, missed)| -missed).collect();
    let rows = Svd::new(&columns, contacts.metric().dim());
    let correction = rows.least_norm_gram(&missing, DEPENDENT_COLUMN);
    for (&(row, _), l) in missed.iter().zip(&correction) {
        impulse[row.index()] += l;
    }
}
