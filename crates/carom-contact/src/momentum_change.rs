//! Change of momentum made by impulses on the distinct unit normals.

use crate::basis::{Basis, Opening};
use crate::candidate::Candidate;
use crate::gate::Rules;
use crate::index::ContactIndex;
use crate::numbers::Numbers;
use crate::residual_scale::{GRAZING_TOLERANCE, dot_and_size};
use crate::{Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus};
use carom_metric::kernel;
use smallvec::smallvec;

/// Ratio of the squared norms of a change and of the momentum below which an elastic change is not rescaled.
const SMALL: f64 = 1e-2;

/// Impulses on the distinct unit normals of a problem, and the change of momentum that these impulses cause. The change is
/// in whitened coordinates, in which the kinetic metric is Euclidean.
///
/// The change is stored next to the impulses because for two nearly opposed normals the change is small and the impulses
/// are large: a sum of the impulses would lose its significant digits.
#[derive(Clone, Debug)]
pub struct MomentumChange {
    /// Impulses on the distinct unit normals, one per normal, in the scaled units of the problem.
    pub impulse: Numbers,
    /// Change of the scaled whitened momentum (n entries).
    pub change: Numbers,
}

impl MomentumChange {
    /// Computes the change of momentum caused by impulses on the distinct unit normals. `impulse` has one entry per distinct
    /// normal and is multiplied by [`ImpactProblem::scale`].
    pub fn from_impulse(problem: &ImpactProblem, impulse: Numbers) -> Self {
        let on_rows = problem.contacts().impulses_on_unit_rows(&impulse);
        let Candidate { change, .. } = Candidate::new(problem, on_rows);
        Self { impulse, change }
    }

    /// Creates an elastic change of the momentum $p$ from the impulses on the distinct unit normals (`impulse`) and their sum
    /// $w$ (`change`, n entries). Both are multiplied by a factor $s$ near 1 so that the energy is conserved to the last
    /// digit, $\lVert p\rVert = \lVert p + s w\rVert \Leftrightarrow s = -2\langle p,w\rangle/\lVert w\rVert^2$.
    ///
    /// Rounding of $\langle p,w\rangle$ causes an error of $2^{-52}\lVert p\rVert^2/\lVert w\rVert$ in the change. A small
    /// change, for example that of a grazing contact, conserves energy better without the factor. So the factor is left out
    /// ($s = 1$) if $\lVert w\rVert^2 \le 10^{-2}\lVert p\rVert^2$.
    pub fn elastic(problem: &ImpactProblem, mut impulse: Numbers, mut change: Numbers) -> Self {
        let size = kernel::dot(&change, &change);
        if size > SMALL * kernel::dot(problem.momentum(), problem.momentum()) {
            let s = -2.0 * kernel::dot(problem.momentum(), &change) / size;
            impulse.iter_mut().for_each(|x| *x *= s);
            change.iter_mut().for_each(|x| *x *= s);
        }
        Self { impulse, change }
    }

    /// Interpolates linearly between this change of momentum ($\alpha = 0$) and another ($\alpha = 1$); impulses are
    /// interpolated as well.
    pub fn towards(&self, other: &Self, alpha: f64) -> Self {
        let blend = |a: &[f64], b: &[f64]| -> Numbers {
            a.iter().zip(b).map(|(a, b)| a + alpha * (b - a)).collect()
        };
        Self {
            impulse: blend(&self.impulse, &other.impulse),
            change: blend(&self.change, &other.change),
        }
    }

    /// Kinetic norm of the difference between two changes of momentum, in the scaled units of their problem
    /// ([`ImpactProblem::scale`]).
    pub fn distance(&self, other: &Self) -> f64 {
        let squares = self.change.iter().zip(&other.change);
        let squares = squares.map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    }

    /// Returns the indices of the contacts that pull. An impulse on a unit normal is a change of the normal velocity of
    /// equal size, in the scaled units of the problem. A contact pulls if its impulse is negative by more than the rounding
    /// error of that velocity.
    pub fn adhesive(&self, problem: &ImpactProblem) -> Vec<usize> {
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
        let pulled = |i: &ContactIndex| {
            let j = contacts.place(*i);
            let (_, terms) = dot_and_size(contacts.unit(j), &made);
            self.impulse[j.index()] < -GRAZING_TOLERANCE * terms
        };
        let pulling = contacts.indices().filter(pulled);
        pulling.map(ContactIndex::index).collect()
    }

    /// Converts this change of momentum to an outcome if it passes the gate, which checks momentum, contacts and energy.
    /// `rules` selects the checks, and `basis` is the active set with which rounding errors are corrected.
    pub fn outcome(
        self,
        problem: &ImpactProblem,
        rules: &Rules<'_>,
        basis: &mut dyn Basis,
        status: ImpactStatus,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let impulse = problem.contacts().impulses_on_unit_rows(&self.impulse);
        let change = self.change;
        Candidate { impulse, change }.outcome(problem, rules, basis, status, diagnostics)
    }
}

/// Returns the outcome of a problem in which no contact approaches: zero impulses and an unchanged velocity.
pub fn separating(
    problem: &ImpactProblem,
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
