//! Rough impact: no slip at the contact.

use crate::draft::{Draft, Targets};
use crate::gate::Rules;
use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::own_terms::{groups, row_velocity};
use crate::problem::Numbers;
use crate::{Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus};
use carom_numeric::svd::Svd;
use nalgebra::{DMatrix, DVector};
use smallvec::smallvec;

/// Directions of the impulse below this fraction of the largest are none.
const RANK_TOLERANCE: f64 = 1e-12;

/// The law of rough contacts (`nonholonomic-rough`): impulses on the normal and every tangent
/// row, which together reverse the contact's velocity,
///
/// $$ v^+ = v^- - (1 + e)\Pi v^-, $$
///
/// with $\Pi$ the metric projection onto the span of all rows of the approaching contacts,
/// restricted to the constraints. At $e = 1$ energy is kept and every slip component changes sign:
/// the no-slip collision of Broomhead & Gutkin (1993) and Cox & Feres (2016). Rows that depend on
/// each other under the constraints share their impulse in the least-norm way.
///
/// The default is plastic, $e = 0$. It needs as many tangents as the physical contact has directions of slip. Friction coefficients
/// are ignored: the contact sticks.
///
/// # Examples
///
/// A thin ring ($J = mr^2$) that slides into a wall without spin comes back spinning:
///
/// ```
/// use carom_impact::nonholonomic::Rough;
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
/// let mut floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0, 0.0]));
/// floor.tangents = vec![Covector::from_slice(&[1.0, 0.0, 1.0])];
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, -1.0, 0.0]))?;
/// let outcome = Rough::new(1.0)?.resolve(&problem)?;
/// assert!((outcome.velocity_plus.0[2] + 1.0).abs() < 1e-15);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Rough {
    restitution: f64,
}

impl Rough {
    /// The law with a coefficient of restitution for all rows.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidRestitution`] unless it lies in \[0, 1\].
    pub fn new(restitution: f64) -> Result<Self, ImpactError> {
        let law = Self { restitution };
        law.check()?;
        Ok(law)
    }

    /// The coefficient of restitution.
    pub fn restitution(&self) -> f64 {
        self.restitution
    }

    fn check(&self) -> Result<(), ImpactError> {
        if !(0.0..=1.0).contains(&self.restitution) {
            let value = self.restitution;
            return Err(ImpactError::InvalidRestitution { value });
        }
        Ok(())
    }
}

impl ImpactLaw for Rough {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        self.check()?;
        let contacts = problem.contacts();
        let approaching = |&i: &usize| problem.approaches(i);
        let rows: Vec<usize> = (0..contacts.len())
            .filter(approaching)
            .flat_map(|i| contacts.row(i)..contacts.row(i + 1))
            .collect();
        if rows.is_empty() {
            return separating(problem, Diagnostics::Rough);
        }
        let entries = problem.velocity_minus().0.as_slice();
        let targets = contacts
            .jacobian_rows()
            .enumerate()
            .filter(|(row, _)| rows.contains(row))
            .map(|(row, covector)| {
                let norm = contacts.row_norm(row);
                let given = covector.0.as_slice();
                let velocity = row_velocity(given, entries, norm, problem.scale());
                (row, -self.restitution * velocity.rate)
            });
        let mut targets = Targets {
            rows: targets.collect(),
            are_required: true,
        };
        let n = problem.momentum().len();
        let (of, of_row) = groups(n, rows.iter().map(|row| contacts.unit_row(*row)));
        let mut impulse: Numbers = smallvec![0.0; contacts.row(contacts.len())];
        // Rows that share no coordinate do not see each other.
        for group in 0..n {
            let members = rows.iter().zip(&of_row).filter(|(_, of)| **of == group);
            let members: Vec<usize> = members.map(|(row, _)| *row).collect();
            if members.is_empty() {
                continue;
            }
            let coordinates: Vec<usize> = (0..n).filter(|k| of[*k] == group).collect();
            let columns = DMatrix::from_fn(coordinates.len(), members.len(), |i, k| {
                contacts.unit_row(members[k])[coordinates[i]]
            });
            let momentum = coordinates.iter().map(|k| problem.momentum()[*k]);
            let momentum = DVector::from_iterator(coordinates.len(), momentum);
            let target = -(1.0 + self.restitution) * momentum;
            let svd = Svd::new(columns.as_slice(), columns.nrows());
            let found = svd.least_norm(target.as_slice(), RANK_TOLERANCE);
            for (row, l) in members.into_iter().zip(found) {
                impulse[row] = l;
            }
        }
        let rules = Rules {
            may_be_infeasible: true,
            ..Rules::FRICTIONLESS
        };
        Draft::new(problem, impulse).outcome(
            problem,
            &rules,
            &mut targets,
            ImpactStatus::Resolved,
            Diagnostics::Rough,
        )
    }
}
