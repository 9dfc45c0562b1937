//! Answers of the laws of simultaneous frictional impact.

use crate::Progress;
use crate::bounds::{BoundsInput, bounds};
use crate::derivative::Wanted;
use crate::error::{WireError, typed};
use crate::limits::check_written;
use crate::options::refused;
use crate::outcome::{by_contact, outcome_fields};
use crate::refusal::mode_name;
use crate::solved::{Solved, differentiated_fields, differentiated_within, one};
use carom_contact::{Diagnostics, ImpactLaw, ImpactProblem, Warning};
use carom_impact::Law;
use carom_impact::frictional::{
    AnitescuPotra, ModeSolution, SampleSummary, Sampler, SamplingProbe, SetValued,
    all_simultaneous, sampled_outcomes, summarize,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum OutcomesInput {
    One,
    All,
}

fn read(outcomes: Option<Value>) -> Result<Option<OutcomesInput>, WireError> {
    outcomes
        .map(|value| typed(value, "options.outcomes"))
        .transpose()
}

pub(crate) fn anitescu_potra(
    problem: &ImpactProblem,
    law: &AnitescuPotra,
    outcomes: Option<Value>,
    wanted: Option<&Wanted>,
) -> Result<Solved, WireError> {
    let outcomes = read(outcomes)?;
    let as_law = Law::from(*law);
    let refused = |error| refused(&as_law, problem.contacts(), error);
    let outcome = law.resolve(problem).map_err(refused)?;
    if outcomes != Some(OutcomesInput::All) {
        return one(problem, &as_law, outcome, wanted);
    }
    let mut fields = differentiated_fields(problem, &as_law, &outcome, false, wanted)?;
    let all = all_simultaneous(problem).map_err(refused)?;
    let solution = |solution: &ModeSolution| {
        let mut fields = outcome_fields(problem.contacts(), &solution.outcome);
        let names: Vec<Vec<&str>> = solution
            .modes
            .iter()
            .map(|modes| modes.iter().map(|mode| mode_name(*mode)).collect())
            .collect();
        fields.insert("diagnostics".to_owned(), json!({ "modes": names }));
        Value::Object(fields)
    };
    let all: Vec<Value> = all.iter().map(solution).collect();
    fields.insert("outcomes".to_owned(), Value::Array(all));
    Ok(Solved::Set(fields))
}

/// Request for a set of outcomes: its outcomes, bounds and derivatives.
pub(crate) struct SetAsked<'w> {
    pub(crate) outcomes: Option<Value>,
    pub(crate) bounds: Option<Value>,
    pub(crate) wanted: Option<&'w Wanted>,
}

pub(crate) fn set_valued(
    problem: &ImpactProblem,
    law: &SetValued,
    asked: SetAsked<'_>,
    progress: Progress<'_>,
) -> Result<Map<String, Value>, WireError> {
    let SetAsked {
        outcomes,
        bounds: bounded,
        wanted,
    } = asked;
    let outcomes = read(outcomes)?;
    if outcomes != Some(OutcomesInput::One) {
        let n = problem.velocity_minus().0.len();
        check_written(law.samples, if wanted.is_some() { n * n } else { n })?;
    }
    let bounded: Option<BoundsInput> = bounded
        .map(|value| typed(value, "options.bounds"))
        .transpose()?;
    let as_law = Law::from(law.clone());
    let refused = |error| refused(&as_law, problem.contacts(), error);
    let sampler = Sampler::new(problem, law).map_err(refused)?;
    // Millions of outcomes would fill the memory, so only the summary of the samples is kept.
    let (summary, all) = if outcomes == Some(OutcomesInput::One) {
        let outcome = law.resolve(problem).map_err(refused)?;
        (summarize(&sampler, progress)?, vec![outcome])
    } else {
        sampled_outcomes(&sampler, progress)?
    };
    let Some(first) = all.first() else {
        return Err(law.none_of(&summary).into());
    };
    let mut budget = law.max_work;
    let mut fields =
        differentiated_within(problem, &as_law, first, true, wanted, &mut { u64::MAX })?;
    let probe = SamplingProbe::new(&sampler, &summary)?;
    let mut of_all = diagnostics(&sampler, &summary, &probe);
    if let Diagnostics::SetValued {
        velocity_residual, ..
    } = first.diagnostics
    {
        of_all["velocity_residual"] = velocity_residual.into();
    }
    fields.insert("diagnostics".to_owned(), of_all);
    // More than one cell: samples that differ.
    let differ = summary.coverage.is_some_and(|coverage| coverage.cells > 1);
    if differ || probe.ambiguous_steps > 0.0 {
        let warnings = fields.entry("warnings").or_insert_with(|| json!([]));
        if let Some(warnings) = warnings.as_array_mut() {
            warnings.push(Warning::NotUnique.name().into());
        }
    }
    if let Some(asked) = &bounded {
        let known = (outcomes != Some(OutcomesInput::One)).then_some(all.as_slice());
        let left = law.max_work.saturating_sub(summary.work);
        let left = left.max(law.max_work / 2);
        let bounds = bounds(&sampler, asked, known, summary.samples, left)?;
        fields.insert("bounds".to_owned(), bounds);
    }
    if outcomes != Some(OutcomesInput::One) {
        let all = all.iter().map(|outcome| {
            differentiated_within(problem, &as_law, outcome, true, wanted, &mut budget)
                .map(Value::Object)
        });
        let all = all.collect::<Result<_, _>>()?;
        fields.insert("outcomes".to_owned(), Value::Array(all));
    }
    Ok(fields)
}

fn diagnostics(sampler: &Sampler<'_>, summary: &SampleSummary, probe: &SamplingProbe) -> Value {
    let contacts = sampler.problem().contacts();
    // One list per contact: the normal first, then the tangents.
    let hull: Vec<&[[f64; 2]]> = contacts
        .indices()
        .filter_map(|i| summary.hull.get(contacts.row_range(i)))
        .collect();
    let gaps = by_contact(contacts, &probe.gap_to_extremes);
    let coverage = summary.coverage.map(|coverage| {
        json!({
            "cells": coverage.cells,
            // A sampler that never takes alternative solutions gives no estimate of the rate of new ones.
            "new_cell_rate": (!probe.branch_blind).then_some(coverage.new_cell_rate),
            "split_half_distance": coverage.split_half_distance,
            "ambiguous_steps": probe.ambiguous_steps,
            "gap_to_extremes": gaps,
            "branch_blind": probe.branch_blind,
        })
    });
    let mut fields = json!({
        "lcp_per_sample": summary.lcp_per_sample,
        "terminated": summary.terminated,
        "unsolved": summary.unsolved,
        "samples": summary.samples,
        "hull": hull,
        "coverage": coverage,
        "at_rest": summary.at_rest,
        "steps": summary.histogram,
        "impulse_step": sampler.impulse_step(),
    });
    if summary.is_limited {
        fields["limit"] = "work".into();
    }
    fields
}
