//! Answers of laws before they are written.

use crate::derivative::Wanted;
use crate::error::WireError;
use crate::outcome::outcome_fields;
use carom_contact::{ImpactOutcome, ImpactProblem};
use carom_impact::Law;
use serde_json::{Map, Value};

/// Answer of a law.
#[derive(Clone, Debug)]
pub enum Solved {
    /// One outcome, not written yet.
    One(Box<Single>),
    /// The fields of several outcomes, or of their bounds, but the law's name.
    Set(Map<String, Value>),
}

/// One outcome, and what stands beside it in the answer.
#[derive(Clone, Debug)]
pub struct Single {
    pub(crate) outcome: ImpactOutcome,
    pub(crate) jacobian: Option<Value>,
    /// Indeterminacy of the propagative law, where it is cheap.
    pub(crate) indeterminacy: Option<f64>,
}

impl Single {
    /// The outcome.
    pub fn outcome(&self) -> &ImpactOutcome {
        &self.outcome
    }
}

/// One outcome, with its derivative if that is wanted.
pub(crate) fn one(
    problem: &ImpactProblem<'_>,
    law: &Law,
    outcome: ImpactOutcome,
    wanted: Option<&Wanted>,
) -> Result<Solved, WireError> {
    let jacobian = wanted.map(|wanted| wanted.jacobian(problem, law, &outcome, false));
    Ok(Solved::One(Box::new(Single {
        jacobian: jacobian.transpose()?,
        outcome,
        indeterminacy: None,
    })))
}

/// The fields of an outcome, and of its derivative if that is wanted.
pub(crate) fn differentiated_fields(
    problem: &ImpactProblem<'_>,
    law: &Law,
    outcome: &ImpactOutcome,
    is_member: bool,
    wanted: Option<&Wanted>,
) -> Result<Map<String, Value>, WireError> {
    differentiated_within(problem, law, outcome, is_member, wanted, &mut { u64::MAX })
}

/// Differentiates within a budget of work, of which it takes its part.
pub(crate) fn differentiated_within(
    problem: &ImpactProblem<'_>,
    law: &Law,
    outcome: &ImpactOutcome,
    is_member: bool,
    wanted: Option<&Wanted>,
    budget: &mut u64,
) -> Result<Map<String, Value>, WireError> {
    let mut fields = outcome_fields(problem.contacts(), outcome);
    if let Some(wanted) = wanted {
        let jacobian = wanted.jacobian_within(problem, law, outcome, is_member, budget)?;
        fields.insert("jacobian".to_owned(), jacobian);
    }
    Ok(fields)
}
