//! Rough impact: no slip at the contact.

use crate::jump::separating;
use crate::laws::BuiltIn;
use crate::problem::Numbers;
use crate::{
    Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus, audit,
};
use carom_metric::kernel;
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
        let approaching = |&i: &usize| {
            let b = problem.unit_velocity()[contacts.place(i)];
            b < -problem.tolerance()
        };
        let rows: Vec<usize> = (0..contacts.len())
            .filter(approaching)
            .flat_map(|i| contacts.row(i)..contacts.row(i + 1))
            .collect();
        if rows.is_empty() {
            return separating(problem, Diagnostics::Rough);
        }
        let n = problem.momentum().len();
        let columns = DMatrix::from_fn(n, rows.len(), |i, k| contacts.unit_row(rows[k])[i]);
        let svd = columns.svd(true, true);
        let cutoff = RANK_TOLERANCE * svd.singular_values.max();
        let target = -(1.0 + self.restitution) * DVector::from_column_slice(problem.momentum());
        let unit_impulse = svd
            .solve(&target, cutoff)
            .unwrap_or_else(|_| DVector::zeros(rows.len()));
        let unscale = 1.0 / problem.scale();
        let mut change: Numbers = smallvec![0.0; n];
        let mut impulses = DVector::zeros(contacts.row(contacts.len()));
        for (&row, &impulse) in rows.iter().zip(unit_impulse.iter()) {
            kernel::add_scaled(&mut change, impulse, contacts.unit_row(row));
            impulses[row] = impulse * unscale / contacts.row_norm(row);
        }
        contacts.metric().unwhiten_velocity_in_place(&mut change);
        let mut velocity_plus = problem.velocity_minus().clone();
        kernel::add_scaled(velocity_plus.0.as_mut_slice(), unscale, &change);
        let constraint_impulses = contacts.constraint_impulses(&impulses);
        let audit = audit::audit(problem, &velocity_plus, &impulses, &constraint_impulses)?;
        Ok(ImpactOutcome {
            velocity_plus,
            impulses,
            constraint_impulses,
            status: ImpactStatus::Resolved,
            audit,
            diagnostics: Diagnostics::Rough,
        })
    }
}
