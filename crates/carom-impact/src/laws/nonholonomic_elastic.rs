//! Reflection inside the velocities that the constraints admit.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, Outcomes};
use crate::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, Nonholonomic, Restitution};

/// Reflection inside the velocities that the constraints admit (`nonholonomic-elastic`), the law
/// [`Restitution::Elastic`].
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
