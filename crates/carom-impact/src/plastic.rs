//! Perfectly inelastic impact.

use crate::jump::{Jump, separating};
use crate::laws::BuiltIn;
use crate::nnls::nonnegative_least_squares;
use crate::problem::Numbers;
use crate::{Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus};
use nalgebra::{DMatrix, DVector};
use smallvec::smallvec;

/// Which contacts close in a perfectly inelastic impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PlasticRule {
    /// $0 \le \lambda \perp b + G\lambda \ge 0$: the metric projection of the momentum onto the
    /// feasible cone (Moreau). Contacts may open; none pulls. Unique also for dependent normals.
    #[default]
    Cone,
    /// Every contact velocity becomes zero, $p^+ = p^- - U^T G^{+} b$, Seghete & Murphey, Eq. (10).
    ///
    /// # Departure from the source
    ///
    /// The paper asks for $\lambda_i \ge 0$ at the same time, which is impossible in general: the
    /// projection can pull on a contact.
    ProjectAll {
        /// Accept pulling impulses instead of returning [`ImpactError::AdhesiveImpulse`].
        allow_adhesion: bool,
    },
}

/// The plastic law (`plastic`): the outcome that keeps the least energy, by its
/// [`PlasticRule`]. It never gains energy, and applying it twice changes nothing.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, Plastic};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let outcome = Plastic::default().resolve(&problem)?;
/// assert_eq!(outcome.velocity_plus, Tangent::from_slice(&[3.0, 0.0]));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Plastic {
    /// Which contacts close.
    #[cfg_attr(feature = "serde", serde(rename = "plastic"))]
    pub rule: PlasticRule,
}

impl ImpactLaw for Plastic {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        if !problem.is_approaching() {
            return separating(
                problem,
                Diagnostics::Plastic {
                    adhesive: Vec::new(),
                },
            );
        }
        let jump = plastic_jump(problem, self.rule)?;
        let adhesive = jump.adhesive(problem);
        jump.outcome(
            problem,
            ImpactStatus::Resolved,
            Diagnostics::Plastic { adhesive },
        )
    }
}

/// The jump to the plastic outcome.
pub(crate) fn plastic_jump(
    problem: &ImpactProblem<'_>,
    rule: PlasticRule,
) -> Result<Jump, ImpactError> {
    match rule {
        PlasticRule::Cone => cone(problem),
        PlasticRule::ProjectAll { allow_adhesion } => {
            let jump = project_all(problem);
            let contacts = jump.adhesive(problem);
            if allow_adhesion || contacts.is_empty() {
                Ok(jump)
            } else {
                Err(ImpactError::AdhesiveImpulse { contacts })
            }
        }
    }
}

fn normals(problem: &ImpactProblem<'_>) -> DMatrix<f64> {
    let contacts = problem.contacts();
    let n = problem.momentum().len();
    DMatrix::from_fn(n, contacts.n_distinct(), |i, j| contacts.unit(j)[i])
}

fn cone(problem: &ImpactProblem<'_>) -> Result<Jump, ImpactError> {
    if let [b] = problem.unit_velocity() {
        return Ok(Jump::from_impulse(problem, smallvec![f64::max(0.0, -b)]));
    }
    let z = DVector::from_column_slice(problem.momentum());
    let impulse = nonnegative_least_squares(&normals(problem), &z, problem.tolerance())?;
    Ok(Jump::from_impulse(problem, impulse.as_slice().into()))
}

/// Minimum-norm impulses that stop every contact, by the pseudo-inverse of the whitened normals.
fn project_all(problem: &ImpactProblem<'_>) -> Jump {
    let z = DVector::from_column_slice(problem.momentum());
    let svd = normals(problem).svd(true, true);
    let cutoff = 1e-12 * svd.singular_values.max();
    let impulse = svd.solve(&-z, cutoff).unwrap_or_else(|_| DVector::zeros(0));
    let mut impulse = Numbers::from_slice(impulse.as_slice());
    impulse.resize(problem.contacts().n_distinct(), 0.0);
    Jump::from_impulse(problem, impulse)
}
