//! Results of laws before their conversion to JSON.

use crate::derivative::Wanted;
use crate::error::WireError;
use crate::outcome::outcome_fields;
use carom_contact::{ImpactOutcome, ImpactProblem};
use carom_impact::Law;
use serde_json::{Map, Value};

/// Result of resolving an impact by a law: one outcome, or a set of outcomes. There is no third.
#[derive(Clone, Debug)]
pub enum Solved {
    /// One outcome, not yet converted to JSON.
    One(Box<Single>),
    /// JSON fields of several outcomes, or of their bounds, without the name of the law.
    Set(Map<String, Value>),
}

/// One outcome of an impact, with its derivative and its indeterminacy if they were computed.
#[derive(Clone, Debug)]
pub struct Single {
    pub(crate) outcome: ImpactOutcome,
    pub(crate) jacobian: Option<Value>,
    /// Path of the impact, if it was requested.
    pub(crate) trace: Option<Value>,
    /// Indeterminacy of the propagative law, if it is cheap to compute.
    pub(crate) indeterminacy: Option<f64>,
}

impl Single {
    /// Returns the outcome of the impact: impulses and velocity.
    pub fn outcome(&self) -> &ImpactOutcome {
        &self.outcome
    }
}

/// Packs the outcome of an impact as a result with one outcome, and computes its derivative if `wanted` requests one.
pub(crate) fn one(
    problem: &ImpactProblem,
    law: &Law,
    outcome: ImpactOutcome,
    wanted: Option<&Wanted>,
) -> Result<Solved, WireError> {
    let jacobian = wanted.map(|wanted| wanted.jacobian(problem, law, &outcome, false));
    Ok(Solved::One(Box::new(Single {
        jacobian: jacobian.transpose()?,
        trace: None,
        outcome,
        indeterminacy: None,
    })))
}

/// Writes an outcome as JSON fields, with its derivative if `wanted` requests one. With `is_member` the outcome is one of a
/// set, and the derivative follows the order of impacts recorded in the outcome.
pub(crate) fn differentiated_fields(
    problem: &ImpactProblem,
    law: &Law,
    outcome: &ImpactOutcome,
    is_member: bool,
    wanted: Option<&Wanted>,
) -> Result<Map<String, Value>, WireError> {
    differentiated_within(problem, law, outcome, is_member, wanted, &mut { u64::MAX })
}

/// Writes an outcome as JSON fields. If `wanted` requests a derivative, the derivative is added, and the computational work is
/// subtracted from `budget`. With `is_member` the outcome belongs to a set of outcomes, and the derivative follows the order of
/// impacts recorded in the outcome.
pub(crate) fn differentiated_within(
    problem: &ImpactProblem,
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
