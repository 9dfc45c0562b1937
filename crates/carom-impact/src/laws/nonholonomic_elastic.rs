//! Elastic reflection inside the velocities that the constraints admit.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, Outcomes};
use crate::{Nonholonomic, Restitution};
use carom_contact::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};

/// Impact law for a frictionless contact of a system with nonholonomic velocity constraints (`nonholonomic-elastic`): elastic
/// reflection within the velocities that the constraints admit, [`Restitution::Elastic`].
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, NonholonomicElastic};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
/// // A blade that moves along (2, 1) only.
/// let blade = vec![Covector::from_slice(&[1.0, -2.0])];
/// let contacts = ContactSet::constrained(&metric, vec![wall], blade)?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-2.0, -1.0]))?;
/// let outcome = NonholonomicElastic::default().resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![2.0, 1.0]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct NonholonomicElastic {}

impl ImpactLaw for NonholonomicElastic {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        Nonholonomic::new(Restitution::Elastic)?.resolve(problem)
    }
}

impl BuiltIn for NonholonomicElastic {
    const INFO: LawInfo = LawInfo {
        name: "nonholonomic-elastic",
        summary: "one contact under constraints, energy kept",
        reference: "Clark & Bloch, Eqs. (15)-(17)",
        uses: ContactKeys::NORMAL,
        contacts: ContactCount::Any,
        outcomes: Outcomes::Single,
        energy: "kept",
        may_gain_energy: false,
        options: &[],
        example: r#"{"law":"nonholonomic-elastic","mass_matrix":[[1,0],[0,1]],"velocity":[-1,-1],"contacts":[{"normal":[1,0]}],"constraints":[[1,-1]]}"#,
    };
}
