//! Velocities of all rows and the balance of momentum of an answer, summed once for the gate, the audit and the estimate of digits.

use crate::numbers::Numbers;
use crate::tolerances::{GATE_TOLERANCE, ROUNDING};
use crate::{ContactSet, ImpactProblem};
use carom_metric::kernel;
use smallvec::{SmallVec, smallvec};

/// Velocity after the impact and impulses on the caller's rows, without the internal scaling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) velocity_plus: &'a [f64],
    pub(crate) impulses: &'a [f64],
    pub(crate) constraint_impulses: &'a [f64],
}

/// Impulse on a row that a power of two has brought to about unit length, and velocities of this row; both are multiplied by the
/// scale of the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSums {
    /// The power of two.
    pub(crate) scale: f64,
    pub(crate) impulse: f64,
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// Sum of the magnitudes of the terms of both velocities.
    pub(crate) size: f64,
    /// Number of roundings in each sum.
    pub(crate) count: f64,
}

impl RowSums {
    /// Returns the work of the impulse, and the largest work that passes as rounding: [`GATE_TOLERANCE`] of its terms plus the
    /// rounding of the velocities. `counted` is the velocity before the impact that the work counts.
    pub(crate) fn work(&self, counted: f64) -> [f64; 2] {
        // The row's own velocity before is included in the terms: the counted velocity may be zero up to rounding.
        let terms = f64::max(counted.abs(), self.before.abs()) + self.after.abs();
        [
            0.5 * self.impulse * (counted + self.after),
            self.impulse.abs() * (0.5 * GATE_TOLERANCE * terms + ROUNDING * self.size),
        ]
    }
}

/// Velocities of the rows before and after an answer, and the momentum of its impulses. All numbers are scaled.
pub(crate) struct Ledger {
    /// The rows of the contacts, then the constraints.
    pub(crate) rows: SmallVec<[RowSums; 8]>,
    /// Velocities before and after the impact (n entries).
    pub(crate) before: Numbers,
    pub(crate) after: Numbers,
    /// Whitened momentum after the impact (n entries).
    pub(crate) momentum: Numbers,
    /// Negative sum of the impulses on all rows (n entries): with the momentum change added, the residual of the balance.
    pub(crate) left: Numbers,
    /// Sum of the magnitudes of the terms of `left`, and their number (n entries each).
    pub(crate) size: Numbers,
    pub(crate) count: Numbers,
}

impl Ledger {
    /// Sums the rows of an answer. The answer has one impulse for each row and each constraint.
    pub(crate) fn new(problem: &ImpactProblem, answer: &Answer<'_>) -> Self {
        let contacts = problem.contacts();
        let (n, scale) = (contacts.metric().dim(), problem.scale());
        let scaled = |v: &[f64]| -> Numbers { v.iter().map(|x| x * scale).collect() };
        let mut ledger = Self {
            rows: SmallVec::new(),
            before: scaled(problem.velocity_minus().0.as_slice()),
            after: scaled(answer.velocity_plus),
            momentum: smallvec![0.0; n],
            left: smallvec![0.0; n],
            size: smallvec![0.0; n],
            count: smallvec![2.0; n],
        };
        let metric = contacts.metric();
        metric.whiten_velocity_into(&ledger.after, &mut ledger.momentum);
        let rows = contacts.all_rows().zip(contacts.jacobian_rows());
        for ((row, covector), impulse) in rows.zip(answer.impulses) {
            let row_scale = contacts.row_scale(row);
            let sums = ledger.add(
                covector.0.as_slice(),
                row_scale,
                impulse * (scale / row_scale),
            );
            ledger.rows.push(sums);
        }
        let forms = contacts.constraint_forms().iter();
        for (form, impulse) in forms.zip(answer.constraint_impulses) {
            let row_scale = kernel::power_of_two_scale(kernel::max_abs(form.0.as_slice()));
            let sums = ledger.add(form.0.as_slice(), row_scale, impulse * (scale / row_scale));
            ledger.rows.push(sums);
        }
        ledger
    }

    /// Returns a velocity or a size of each contact row, for rows of unit kinetic length.
    pub(crate) fn on_units(&self, contacts: &ContactSet, of: fn(&RowSums) -> f64) -> Numbers {
        let rows = contacts.all_rows().zip(&self.rows);
        rows.map(|(row, sums)| of(sums) / (contacts.row_norm(row) * sums.scale))
            .collect()
    }

    /// Adds the impulse on a row to the balance of momentum, and returns the sums of the row.
    fn add(&mut self, row: &[f64], scale: f64, impulse: f64) -> RowSums {
        let [mut before, mut after, mut size] = [0.0; 3];
        let mut count = 2.0;
        for (k, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            let a = a * scale;
            let (minus, plus) = (a * self.before[k], a * self.after[k]);
            before += minus;
            after += plus;
            size += minus.abs() + plus.abs();
            count += 1.0;
            if impulse != 0.0 {
                self.left[k] -= a * impulse;
                self.size[k] += (a * impulse).abs();
                self.count[k] += 1.0;
            }
        }
        RowSums {
            scale,
            impulse,
            before,
            after,
            size,
            count,
        }
    }
}
