//! Outcomes of the propagative law: for one order of impacts, for all orders, or for sampled orders.

use crate::derivative::Wanted;
use crate::error::{WireError, typed};
use crate::matrix::rows;
use crate::options::refused;
use crate::outcome::set_fields;
use crate::solved::{Solved, differentiated_within, one};
use carom_contact::{
    ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, OutcomeSet, SetValuedLaw,
};
use carom_impact::internal::DEFAULT_SAMPLING_WORK;
use carom_impact::{Law, Propagative};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Outcomes of a set that are asked for.
#[derive(Deserialize, Clone, Copy)]
#[serde(
    untagged,
    expecting = "expected \"one\", \"all\" or {\"sample\": N, \"seed\": s}"
)]
enum OutcomesInput {
    Named(OutcomesName),
    Sample(SampleInput),
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum OutcomesName {
    One,
    All,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct SampleInput {
    sample: u64,
    #[serde(default)]
    seed: u64,
}

pub(crate) fn propagative(
    problem: &ImpactProblem,
    law: &Propagative,
    outcomes_asked: Option<Value>,
    wanted: Option<&Wanted>,
) -> Result<Solved, WireError> {
    let asked: Option<OutcomesInput> = outcomes_asked
        .map(|value| typed(value, "options.outcomes"))
        .transpose()?;
    let as_law = Law::from(law.clone());
    let refused = |error| refused(&as_law, problem.contacts(), error);
    let set = match asked {
        None | Some(OutcomesInput::Named(OutcomesName::One)) => {
            let (outcome, indeterminacy) = one_order(problem, law).map_err(refused)?;
            let mut solved = one(problem, &as_law, outcome, wanted)?;
            if let Solved::One(single) = &mut solved {
                single.indeterminacy = indeterminacy;
            }
            return Ok(solved);
        }
        Some(OutcomesInput::Named(OutcomesName::All)) => {
            law.resolve_all(problem).map_err(refused)?
        }
        Some(OutcomesInput::Sample(SampleInput { sample, seed })) => {
            let law = law.clone().with_samples(sample).with_seed(seed);
            law.sample(problem).map_err(refused)?
        }
    };
    let all = outcomes(problem, &as_law, &set, wanted)?;
    let preferred = set.preferred.and_then(|i| all.get(i));
    let mut fields = preferred.cloned().unwrap_or_default();
    let all = all.into_iter().map(Value::Object).collect();
    fields.insert("outcomes".to_owned(), Value::Array(all));
    if set.omitted > 0 {
        fields.insert("omitted".to_owned(), set.omitted.into());
    }
    tell_of_set(&mut fields, problem.contacts(), set_fields(&set));
    Ok(Solved::Set(fields))
}

/// Adds entries to the JSON `diagnostics` of an outcome of the propagative law that do not depend on the order of
/// impacts. These are the cosines of the angles between the contact normals, and the entries of `of_set` (such as the
/// completeness of the set of outcomes).
pub(crate) fn tell_of_set(
    fields: &mut Map<String, Value>,
    contacts: &ContactSet,
    mut of_set: Map<String, Value>,
) {
    if let Some(Value::Object(diagnostics)) = fields.get_mut("diagnostics") {
        diagnostics.insert("cosines".to_owned(), json!(rows(&contacts.cosines())));
        diagnostics.append(&mut of_set);
    }
}

/// Writes every outcome of a set as JSON fields, with its derivative if `wanted` requests one.
fn outcomes(
    problem: &ImpactProblem,
    law: &Law,
    set: &OutcomeSet,
    wanted: Option<&Wanted>,
) -> Result<Vec<Map<String, Value>>, WireError> {
    let mut budget = DEFAULT_SAMPLING_WORK;
    set.outcomes
        .iter()
        .map(|outcome| differentiated_within(problem, law, outcome, true, wanted, &mut budget))
        .collect()
}

/// Resolves an impact in the one order of elementary impacts that the propagative law selects. For up to two contacts the
/// second result is the indeterminacy: the largest distance between the momenta after the impact for different orders, divided
/// by the norm of the momentum before the impact. For more contacts the indeterminacy is costly, and the second result is
/// `None`.
fn one_order(
    problem: &ImpactProblem,
    law: &Propagative,
) -> Result<(ImpactOutcome, Option<f64>), ImpactError> {
    let outcome = law.resolve(problem)?;
    let indeterminacy = if problem.contacts().n_distinct() <= 2 {
        Some(law.resolve_all(problem)?.indeterminacy)
    } else {
        None
    };
    Ok((outcome, indeterminacy))
}
