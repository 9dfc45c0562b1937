//! Final complementary basis of a frictional problem, by which its impulses are corrected.

use super::own::own_residual;
use super::space::ContactSpace;
use super::stepper::{StepProblem, StepWorkspace};
use carom_contact::ContactSet;
use carom_contact::internal::{Basis, Breach, Missed, worst};
use nalgebra::{DMatrix, DVector};

/// Contact modes, in the form of the solution and basis of the complementarity problem.
pub(super) struct LcpBasis<'a> {
    pub(super) problem: &'a StepProblem,
    pub(super) space: &'a ContactSpace,
    pub(super) z: Vec<f64>,
    pub(super) is_basic: Vec<bool>,
}

impl StepProblem {
    /// Returns the active set of contacts that belongs to the solution in `workspace`. The active set consists of the
    /// variables that are basic in the solution of the complementarity problem. The problem must have no upper bounds
    /// (caps) of the impulses.
    pub(super) fn basis<'a>(
        &'a self,
        space: &'a ContactSpace,
        workspace: &StepWorkspace,
    ) -> LcpBasis<'a> {
        LcpBasis {
            problem: self,
            space,
            z: workspace.memory.z().to_vec(),
            is_basic: workspace.memory.basis().to_vec(),
        }
    }
}

impl Basis for LcpBasis<'_> {
    fn has_residual(&self) -> bool {
        true
    }

    fn can_correct(&self, _breach: &Breach) -> bool {
        true
    }

    fn missed(&self, contacts: &ContactSet, after: &[f64]) -> Missed {
        let width = self.space.width();
        let m = self.space.n_contacts;
        let rows = self.space.rows_of_slots(contacts);
        let asked = rows.filter(|(slot, ..)| {
            let contact = slot.contact(width).index();
            let gamma = self.z.get(m * (1 + self.problem.n_directions) + contact);
            let slides = !slot.is_normal(width) && gamma.is_some_and(|gamma| *gamma > 0.0);
            self.z[contact] > 0.0 && !slides
        });
        asked.map(|(_, row, _)| (row, after[row.index()])).collect()
    }

    fn slip_residual(
        &self,
        contacts: &ContactSet,
        after: &[f64],
        _impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        let n_slots = self.space.n_slots();
        let (mut slips, mut sizes) = (vec![0.0; n_slots], vec![0.0; n_slots]);
        for (slot, row, factor) in self.space.rows_of_slots(contacts) {
            slips[slot.index()] = after[row.index()] * factor;
            sizes[slot.index()] = terms[row.index()] * factor.abs();
        }
        worst(
            (0..self.space.n_contacts)
                .map(|i| self.problem.slip_residual(i, &slips, &sizes, &self.z)),
        )
    }

    fn own_residual(
        &self,
        contacts: &ContactSet,
        after: &[f64],
        impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        // With a polygon, friction acts along the polygon's directions, not against the slip.
        match self.space.n_tangents {
            0 | 1 => own_residual(self.space, contacts, after, impulse, terms),
            _ => 0.0,
        }
    }

    fn correct(
        &mut self,
        contacts: &ContactSet,
        _before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    ) {
        let mut slots = vec![0.0; self.space.n_slots()];
        for (slot, row, factor) in self.space.rows_of_slots(contacts) {
            slots[slot.index()] = after[row.index()] * factor;
        }
        let w = self.problem.rows(&slots, &self.z);
        let (m, k) = (self.space.n_contacts, self.problem.n_directions);
        // The cone of a contact without impulses gives no equation for its multiplier.
        let has_equation = |i: &usize| {
            let contact = i.checked_sub(m * (1 + k));
            contact.is_none_or(|contact| {
                let mut directions = m + contact * k..m + (contact + 1) * k;
                self.is_basic[contact] || directions.any(|j| self.is_basic[j])
            })
        };
        let basic = (0..self.z.len()).filter(|i| self.is_basic[*i]);
        let basic: Vec<usize> = basic.filter(has_equation).collect();
        if basic.is_empty() {
            return;
        }
        let matrix = self.problem.scaled_matrix();
        let block = DMatrix::from_fn(basic.len(), basic.len(), |i, j| {
            matrix[(basic[i], basic[j])]
        });
        let missing = DVector::from_iterator(basic.len(), basic.iter().map(|i| -w[*i]));
        let Some(correction) = block.lu().solve(&missing) else {
            return;
        };
        if !correction.iter().all(|x| x.is_finite()) {
            return;
        }
        let mut change = vec![0.0; self.z.len()];
        for (i, x) in basic.into_iter().zip(correction.iter()) {
            self.z[i] += x;
            change[i] = *x;
        }
        let on_slots = self.problem.impulse(&change, self.space.n_slots());
        for (slot, row, factor) in self.space.rows_of_slots(contacts) {
            impulse[row.index()] += on_slots[slot.index()] * factor;
        }
    }
}
