//! A change of momentum made of impulses on the distinct unit normals.

use crate::draft::{Basis, Draft, Opening};
use crate::gate::Rules;
use crate::numbers::Numbers;
use crate::own_terms::{GRAZING_TOLERANCE, dot_and_size};
use crate::{Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus};
use carom_metric::kernel;
use smallvec::smallvec;

/// The square of a change over that of the momentum below which the change is not scaled.
const SMALL: f64 = 1e-2;

/// Impulses on the distinct unit normals and the whitened momentum change that they make.
///
/// The change is kept beside the impulses because for a nearly flat wedge it is small while they
/// are large: summing it anew would lose the digits that matter.
#[derive(Clone, Debug)]
pub struct MomentumChange {
    /// Impulses on the distinct unit normals, scaled as the momentum.
    pub impulse: Numbers,
    /// Change of the whitened momentum.
    pub change: Numbers,
}

impl MomentumChange {
    /// Sums the impulses.
    pub fn from_impulse(problem: &ImpactProblem<'_>, impulse: Numbers) -> Self {
        let mut change: Numbers = smallvec![0.0; problem.momentum().len()];
        for (j, &lambda) in problem.contacts().unit_rows().zip(&impulse) {
            if lambda != 0.0 {
                kernel::add_scaled(&mut change, lambda, problem.contacts().unit(j));
            }
        }
        Self { impulse, change }
    }

    /// An elastic change, scaled so that it keeps the energy to the last digit,
    /// $\lVert p\rVert = \lVert p + s w\rVert \Leftrightarrow s = -2\langle p,w\rangle/\lVert w\rVert^2$.
    ///
    /// Rounding of $\langle p,w\rangle$ is worth $2^{-52}\lVert p\rVert^2/\lVert w\rVert$ in the change: a small
    /// one, of a contact that is grazed, keeps the energy better as it is.
    pub fn elastic(problem: &ImpactProblem<'_>, mut impulse: Numbers, mut change: Numbers) -> Self {
        let size = kernel::dot(&change, &change);
        if size > SMALL * kernel::dot(problem.momentum(), problem.momentum()) {
            let s = -2.0 * kernel::dot(problem.momentum(), &change) / size;
            impulse.iter_mut().for_each(|x| *x *= s);
            change.iter_mut().for_each(|x| *x *= s);
        }
        Self { impulse, change }
    }

    /// Point on the segment from this change to another, $\alpha$ of the way.
    pub fn towards(&self, other: &Self, alpha: f64) -> Self {
        let blend = |a: &[f64], b: &[f64]| -> Numbers {
            a.iter().zip(b).map(|(a, b)| a + alpha * (b - a)).collect()
        };
        Self {
            impulse: blend(&self.impulse, &other.impulse),
            change: blend(&self.change, &other.change),
        }
    }

    /// Metric distance of two outcomes.
    pub fn distance(&self, other: &Self) -> f64 {
        let squares = self
            .change
            .iter()
            .zip(&other.change)
            .map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    }

    /// Contacts that the change pulls on, by more than rounding of what makes their velocity.
    pub fn adhesive(&self, problem: &ImpactProblem<'_>) -> Vec<usize> {
        if !self.impulse.iter().any(|l| *l < 0.0) {
            return Vec::new();
        }
        let contacts = problem.contacts();
        let mut made: Numbers = problem
            .momentum()
            .iter()
            .zip(&self.change)
            .map(|(p, w)| p.abs() + (p + w).abs())
            .collect();
        for (j, l) in contacts.unit_rows().zip(&self.impulse) {
            for (made, u) in made.iter_mut().zip(contacts.unit(j)) {
                *made += (l * u).abs();
            }
        }
        let pulled = |&i: &usize| {
            let j = contacts.place(i);
            let (_, terms) = dot_and_size(contacts.unit(j), &made);
            self.impulse[j.index()] < -GRAZING_TOLERANCE * terms
        };
        (0..contacts.len()).filter(pulled).collect()
    }

    /// Outcome of the change, if it passes the gate.
    pub fn outcome(
        self,
        problem: &ImpactProblem<'_>,
        rules: &Rules<'_>,
        basis: &mut dyn Basis,
        status: ImpactStatus,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let impulse = problem.contacts().impulses_on_unit_rows(&self.impulse);
        let change = self.change;
        Draft { impulse, change }.outcome(problem, rules, basis, status, diagnostics)
    }
}

/// The outcome of a problem in which nothing approaches: nothing happens.
pub fn separating(
    problem: &ImpactProblem<'_>,
    diagnostics: Diagnostics,
) -> Result<ImpactOutcome, ImpactError> {
    let impulse = smallvec![0.0; problem.contacts().n_distinct()];
    let change = MomentumChange::from_impulse(problem, impulse);
    let rules = Rules::FRICTIONLESS;
    change.outcome(
        problem,
        &rules,
        &mut Opening::default(),
        ImpactStatus::Separating,
        diagnostics,
    )
}
