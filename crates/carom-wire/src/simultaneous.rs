//! The laws of simultaneous frictional impact.

use crate::Progress;
use crate::error::{WireError, typed};
use crate::resolve::{at, outcome_fields};
use carom_impact::frictional::{
    AnitescuPotra, BranchPolicy, CapDistribution, EndMode, ModeSolution, MoreauNewton,
    SampleSummary, Sampler, Sequential, SetValued, all_simultaneous, sampled_outcomes, summarize,
};
use carom_impact::{ImpactError, ImpactLaw, ImpactProblem};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum OutcomesInput {
    One,
    All,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct MoreauNewtonInput {
    friction_directions: Option<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct AnitescuPotraInput {
    friction_directions: Option<usize>,
    outcomes: Option<OutcomesInput>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct SequentialInput {
    order: Vec<usize>,
    friction_directions: Option<usize>,
    max_impacts: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
enum BranchInput {
    #[default]
    Fixed,
    Random,
    Enumerate,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
enum CapsInput {
    #[default]
    Uniform,
    Mixed,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct SetValuedInput {
    impulse_step: Option<f64>,
    samples: Option<u64>,
    seed: u64,
    max_steps: Option<usize>,
    epsilon: Option<f64>,
    friction_directions: Option<usize>,
    branch: BranchInput,
    caps: CapsInput,
    outcomes: Option<OutcomesInput>,
}

/// Spread of the exponents of random covering vectors.
const SPREAD: f64 = 6.0;

/// Probability that a mixed cap switches its contact off.
const OFF: f64 = 0.25;

pub(crate) fn resolve(
    law: &str,
    problem: &ImpactProblem<'_>,
    options: Value,
    progress: Progress<'_>,
) -> Result<Map<String, Value>, WireError> {
    match law {
        "moreau-newton" => {
            let input: MoreauNewtonInput = typed(options, "options")?;
            let law = MoreauNewton {
                friction_directions: input.friction_directions,
            };
            one(problem, &law)
        }
        "anitescu-potra" => anitescu_potra(problem, typed(options, "options")?),
        "sequential" => {
            let input: SequentialInput = typed(options, "options")?;
            let defaults = Sequential::default();
            let law = Sequential {
                order: input.order,
                friction_directions: input.friction_directions,
                max_impacts: input.max_impacts.unwrap_or(defaults.max_impacts),
            };
            one(problem, &law)
        }
        _ => set_valued(problem, typed(options, "options")?, progress),
    }
}

/// Names the option that a law refuses.
fn refused(error: ImpactError) -> WireError {
    match error {
        ImpactError::InvalidOption { .. } | ImpactError::InvalidContact { .. } => {
            at("options", &error)
        }
        other => other.into(),
    }
}

fn one(problem: &ImpactProblem<'_>, law: &dyn ImpactLaw) -> Result<Map<String, Value>, WireError> {
    let outcome = law.resolve(problem).map_err(refused)?;
    Ok(outcome_fields(problem, &outcome))
}

fn anitescu_potra(
    problem: &ImpactProblem<'_>,
    input: AnitescuPotraInput,
) -> Result<Map<String, Value>, WireError> {
    let law = AnitescuPotra {
        friction_directions: input.friction_directions,
    };
    let mut fields = one(problem, &law)?;
    if input.outcomes == Some(OutcomesInput::All) {
        let all = all_simultaneous(problem).map_err(refused)?;
        let solution = |solution: &ModeSolution| {
            let mut fields = outcome_fields(problem, &solution.outcome);
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
    }
    Ok(fields)
}

fn mode_name(mode: EndMode) -> &'static str {
    match mode {
        EndMode::Open => "open",
        EndMode::Stick => "stick",
        EndMode::SlidePlus => "slide-plus",
        EndMode::SlideMinus => "slide-minus",
        EndMode::SaturatedStick => "saturated-stick",
        EndMode::SaturatedPlus => "saturated-plus",
        EndMode::SaturatedMinus => "saturated-minus",
    }
}

fn set_valued(
    problem: &ImpactProblem<'_>,
    input: SetValuedInput,
    progress: Progress<'_>,
) -> Result<Map<String, Value>, WireError> {
    let defaults = SetValued::default();
    let law = SetValued {
        impulse_step: input.impulse_step,
        samples: input.samples.unwrap_or(defaults.samples),
        seed: input.seed,
        max_steps: input.max_steps.unwrap_or(defaults.max_steps),
        epsilon: input.epsilon,
        friction_directions: input.friction_directions,
        branch: match input.branch {
            BranchInput::Fixed => BranchPolicy::Fixed,
            BranchInput::Enumerate => BranchPolicy::Enumerate,
            BranchInput::Random => BranchPolicy::RandomCovering { spread: SPREAD },
        },
        caps: match input.caps {
            CapsInput::Uniform => CapDistribution::Uniform,
            CapsInput::Mixed => CapDistribution::Mixed { off: OFF },
        },
    };
    let sampler = Sampler::new(problem, &law).map_err(refused)?;
    // Outcomes of millions of samples fill the memory; their summary does not.
    let (summary, all) = if input.outcomes == Some(OutcomesInput::One) {
        let outcome = law.resolve(problem).map_err(refused)?;
        (summarize(&sampler, progress)?, vec![outcome])
    } else {
        sampled_outcomes(&sampler)?
    };
    let Some(first) = all.first() else {
        return Err(law.none_ended().into());
    };
    let mut fields = outcome_fields(problem, first);
    fields.insert("diagnostics".to_owned(), diagnostics(&sampler, &summary));
    if input.outcomes != Some(OutcomesInput::One) {
        let all = all
            .iter()
            .map(|outcome| Value::Object(outcome_fields(problem, outcome)));
        fields.insert("outcomes".to_owned(), Value::Array(all.collect()));
    }
    Ok(fields)
}

fn diagnostics(sampler: &Sampler<'_>, summary: &SampleSummary) -> Value {
    let contacts = sampler.problem().contacts();
    // One list of extents for each contact: its normal, then its tangents.
    let hull: Vec<&[[f64; 2]]> = (0..contacts.len())
        .filter_map(|i| summary.hull.get(contacts.row(i)..contacts.row(i + 1)))
        .collect();
    let coverage = summary.coverage.map(|coverage| {
        json!({
            "cells": coverage.cells,
            "new_cell_rate": coverage.new_cell_rate,
            "split_half_distance": coverage.split_half_distance,
        })
    });
    json!({
        "lcp_per_sample": summary.lcp_per_sample,
        "terminated": summary.terminated,
        "samples": summary.samples,
        "hull": hull,
        "coverage": coverage,
        "at_rest": summary.at_rest,
        "steps": summary.histogram,
        "impulse_step": sampler.impulse_step(),
    })
}
