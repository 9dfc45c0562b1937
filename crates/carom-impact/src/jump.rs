//! A change of momentum made of impulses on the distinct unit normals.

use crate::problem::Numbers;
use crate::{Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus, audit};
use carom_metric::{Tangent, kernel};
use smallvec::smallvec;

/// Impulses on the distinct unit normals and the whitened momentum change that they make.
///
/// The change is kept beside the impulses because for a nearly flat wedge it is small while they
/// are large: summing it anew would lose the digits that matter.
#[derive(Clone, Debug)]
pub(crate) struct Jump {
    pub(crate) impulse: Numbers,
    pub(crate) change: Numbers,
}

impl Jump {
    /// Sums the impulses.
    pub(crate) fn from_impulse(problem: &ImpactProblem<'_>, impulse: Numbers) -> Self {
        let mut change: Numbers = smallvec![0.0; problem.momentum().len()];
        for (j, &lambda) in impulse.iter().enumerate() {
            if lambda != 0.0 {
                kernel::add_scaled(&mut change, lambda, problem.contacts().unit(j));
            }
        }
        Self { impulse, change }
    }

    /// An elastic jump, scaled so that it keeps the energy to the last digit,
    /// $\lVert p\rVert = \lVert p + s w\rVert \Leftrightarrow s = -2\langle p,w\rangle/\lVert w\rVert^2$.
    pub(crate) fn elastic(
        problem: &ImpactProblem<'_>,
        mut impulse: Numbers,
        mut change: Numbers,
    ) -> Self {
        let size = kernel::dot(&change, &change);
        if size > 0.0 {
            let s = -2.0 * kernel::dot(problem.momentum(), &change) / size;
            impulse.iter_mut().for_each(|x| *x *= s);
            change.iter_mut().for_each(|x| *x *= s);
        }
        Self { impulse, change }
    }

    /// Point on the segment from this jump to another, $\alpha$ of the way.
    pub(crate) fn towards(&self, other: &Self, alpha: f64) -> Self {
        let blend = |a: &[f64], b: &[f64]| -> Numbers {
            a.iter().zip(b).map(|(a, b)| a + alpha * (b - a)).collect()
        };
        Self {
            impulse: blend(&self.impulse, &other.impulse),
            change: blend(&self.change, &other.change),
        }
    }

    /// Metric distance of two outcomes.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        let squares = self
            .change
            .iter()
            .zip(&other.change)
            .map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    }

    /// Contacts that the jump pulls on.
    pub(crate) fn adhesive(&self, problem: &ImpactProblem<'_>) -> Vec<usize> {
        let contacts = problem.contacts();
        let pulled = |&i: &usize| self.impulse[contacts.place(i)] < -problem.tolerance();
        (0..contacts.len()).filter(pulled).collect()
    }

    /// Outcome of the jump, audited.
    pub(crate) fn outcome(
        mut self,
        problem: &ImpactProblem<'_>,
        status: ImpactStatus,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let contacts = problem.contacts();
        let unscale = 1.0 / problem.scale();
        self.impulse.iter_mut().for_each(|x| *x *= unscale);
        contacts
            .metric()
            .unwhiten_velocity_in_place(&mut self.change);
        let mut velocity_plus = problem.velocity_minus().0.clone();
        kernel::add_scaled(velocity_plus.as_mut_slice(), unscale, &self.change);
        let impulses = contacts.impulses_on_rows(&self.impulse);
        let constraint_impulses = contacts.constraint_impulses(&impulses);
        let velocity_plus = Tangent(velocity_plus);
        let audit = audit::audit(problem, &velocity_plus, &impulses, &constraint_impulses)?;
        Ok(ImpactOutcome {
            velocity_plus,
            impulses,
            constraint_impulses,
            status,
            audit,
            diagnostics,
        })
    }
}

/// The outcome of a problem in which nothing approaches: nothing happens.
pub(crate) fn separating(
    problem: &ImpactProblem<'_>,
    diagnostics: Diagnostics,
) -> Result<ImpactOutcome, ImpactError> {
    let impulse = smallvec![0.0; problem.contacts().n_distinct()];
    Jump::from_impulse(problem, impulse).outcome(problem, ImpactStatus::Separating, diagnostics)
}
