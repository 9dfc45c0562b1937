//! Impacts by every law, and outcomes to be judged.

use super::audit::{Excuses, Given};
use super::input::{impact, impact_of, numbers, with};
use super::target::Target;
use crate::corpus;
use carom_impact::{LAWS, LawInfo, OptionInfo};
use carom_wire::{Command, answer_line};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

pub(super) fn resolve() -> Target {
    Target {
        name: "resolve",
        input: || asked(impact(4)),
        check: Box::new(resolved),
    }
}

/// Creates the fuzz target for impacts of many bodies, with more velocities and contacts than the fast code for small sizes
/// supports.
pub(super) fn wide() -> Target {
    Target {
        name: "wide",
        input: || asked(impact_of(6..=20, 8)),
        check: Box::new(resolved),
    }
}

/// Creates the fuzz target for the tame problems of `cargo xtask corpus`.
pub(super) fn tame() -> Target {
    Target {
        name: "tame",
        input: corpus::tame,
        check: Box::new(resolved),
    }
}

/// Creates the fuzz target for tame problems with derivatives.
pub(super) fn tame_derivatives() -> Target {
    Target {
        name: "tame-derivative",
        input: || corpus::differentiated(corpus::tame()),
        check: Box::new(resolved),
    }
}

/// Creates the fuzz target for the hostile problems of `cargo xtask corpus`.
pub(super) fn hostile() -> Target {
    Target {
        name: "hostile",
        input: corpus::hostile,
        check: Box::new(resolved_with_digits),
    }
}

/// Creates the fuzz target for hostile problems with derivatives.
pub(super) fn hostile_derivatives() -> Target {
    Target {
        name: "hostile-derivative",
        input: || corpus::differentiated(corpus::hostile()),
        check: Box::new(resolved_with_digits),
    }
}

/// Creates the fuzz target for tame problems with cotangents of the velocity after the impact.
pub(super) fn tame_cotangents() -> Target {
    Target {
        name: "tame-cotangent",
        input: || corpus::with_cotangents(corpus::tame()),
        check: Box::new(corpus::check_cotangents),
    }
}

/// Creates the fuzz target for verdicts about members of the set of inelastic outcomes of tame problems.
pub(super) fn tame_members() -> Target {
    Target {
        name: "tame-member",
        input: || {
            let is_member = |line: &Value| {
                let law = LAWS.iter().find(|law| line["law"] == law.name);
                law.is_some_and(makes_members)
            };
            (corpus::tame(), any::<u32>())
                .prop_filter("the law has members of the set", move |(line, _)| {
                    is_member(line)
                })
                .prop_map(|(line, seed)| with(line, json!({"seed": seed})))
                .boxed()
        },
        check: Box::new(judged),
    }
}

/// Adds to random impacts a random law, some options of the law, and sometimes a request for derivatives.
fn asked(impacts: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    select(LAWS)
        .prop_flat_map(move |law| {
            (
                impacts.clone(),
                options(law, option_values),
                derivative(),
                Just(law.name),
            )
        })
        .prop_map(|(problem, options, derivative, law)| {
            let ask = json!({"law": law, "options": options, "derivative": derivative});
            with(problem, ask)
        })
        .boxed()
}

/// Generates the value of the key `derivative`; most values request no derivatives.
fn derivative() -> BoxedStrategy<Value> {
    let of = |values: Vec<Value>| select(values);
    let wrt = of(vec![
        json!(null),
        json!([]),
        json!(["velocity"]),
        json!(["friction", "restitution"]),
        json!(["mass"]),
    ]);
    let tolerance = of(vec![
        json!(null),
        json!(1e-12),
        json!(1e-9),
        json!(1e-3),
        json!(0),
    ]);
    let direction = of(vec![
        json!({}),
        json!({"restitution": 0.5}),
        json!({"velocity": [1, -0.5]}),
        json!({"velocity": [1, 0, 2]}),
        json!({"mass_matrix": [[1, 0.1], [0.1, -1]]}),
        json!({"contacts": [{"normal": [0.1, 0.2], "friction": 1, "restitution": -1}]}),
        json!({"contacts": [{"friction": 1}, {"restitution": 1}]}),
        json!({"constraints": []}),
    ]);
    let asked = (wrt, tolerance, proptest::collection::vec(direction, 0..3)).prop_map(
        |(wrt, tolerance, directions)| {
            json!({"wrt": wrt, "tolerance": tolerance, "directions": directions})
        },
    );
    prop_oneof![
        3 => Just(json!(false)),
        1 => Just(json!(true)),
        1 => asked,
    ]
    .boxed()
}

/// Generates values for some of the options of an impact law. `values` generates the value of an option from its key.
pub(crate) fn options(
    law: LawInfo,
    values: impl Fn(&str) -> BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    let start = Just(Map::new()).boxed();
    let add = |so_far: BoxedStrategy<Map<String, Value>>, option: &OptionInfo| {
        let key = option.key;
        (so_far, proptest::option::weighted(0.3, values(key)))
            .prop_map(move |(mut options, value)| {
                if let Some(value) = value {
                    options.insert(key.to_owned(), value);
                }
                options
            })
            .boxed()
    };
    let chosen = law.options.iter().fold(start, add);
    let is_sampled = law.options.iter().any(|option| option.key == "samples");
    chosen
        .prop_map(move |mut options| {
            if is_sampled {
                options.entry("samples").or_insert(json!(4));
            }
            // Two names of one thing.
            if options.contains_key("friction_cone") {
                options.remove("friction_directions");
            }
            Value::Object(options)
        })
        .boxed()
}

/// Generates values of the type of an option, from its key. Not every law accepts them all.
pub(crate) fn option_values(key: &str) -> BoxedStrategy<Value> {
    let of = |values: Vec<Value>| select(values).boxed();
    match key {
        "restitution" => (0.0..=1.0f64).prop_map(|e| json!(e)).boxed(),
        "alpha" => (0.0..=1.0f64).prop_map(|e| json!(e)).boxed(),
        "samples" => (1..9u32).prop_map(|n| json!(n)).boxed(),
        "seed" => any::<u64>().prop_map(|n| json!(n)).boxed(),
        "max_steps" | "max_impacts" | "max_nodes" => of(vec![json!(1), json!(100), json!(10_000)]),
        "friction_cone" => of(vec![json!("round"), json!({"polygon": 8})]),
        "friction_directions" => of(vec![json!(4), json!(6)]),
        "selection" => of(vec![json!("even"), json!("first")]),
        "outcomes" => of(vec![json!("one"), json!("all")]),
        "plastic" => of(vec![json!("cone"), json!("project-all")]),
        "restitution_law" => of(vec![json!("energetic"), json!("poisson"), json!("newton")]),
        "recompression" => of(vec![json!("each-compression"), json!("single")]),
        "branch" => of(vec![json!("fixed"), json!("random"), json!("auto")]),
        "caps" => of(vec![json!("uniform"), json!("mixed"), json!("auto")]),
        "tangential_impact" => of(vec![json!(true), json!(false)]),
        // Options that are not known here are left at their defaults or are plainly wrong.
        _ => of(vec![
            json!(1),
            json!(0.5),
            json!("one"),
            json!(null),
            json!([]),
        ]),
    }
}

pub(crate) fn excuses(problem: &Value) -> Excuses {
    let law = LAWS.iter().find(|law| problem["law"] == law.name);
    Excuses {
        gain: law.is_none_or(|law| law.may_gain_energy),
        pull: problem["options"]["plastic"] == "project-all",
        friction: law.is_none_or(|law| !law.uses.friction),
    }
}

/// Checks that a line is answered twice alike, and the rules of a success; a refusal is honest.
fn resolved(problem: &Value) -> Result<(), String> {
    match answer(problem)? {
        Some(answer) => fulfills_rules(problem, &answer),
        None => Ok(()),
    }
}

/// Checks a line as [`resolved`] does, but asks the rules of a success only of answers with at least six digits: others are
/// marked.
fn resolved_with_digits(problem: &Value) -> Result<(), String> {
    match answer(problem)? {
        Some(answer) if answer["audit"]["digits"].as_f64() >= Some(6.0) => {
            fulfills_rules(problem, &answer)
        }
        _ => Ok(()),
    }
}

/// Returns the answer to a line, or `None` for an honest refusal.
fn answer(problem: &Value) -> Result<Option<Value>, String> {
    let text = problem.to_string();
    let line = answer_line(Command::Resolve, 1, &text);
    if line != answer_line(Command::Resolve, 1, &text) {
        return Err("the second answer differs".to_owned());
    }
    let answer: Value = serde_json::from_str(&line.text).map_err(|e| e.to_string())?;
    match answer.get("error") {
        None => Ok(Some(answer)),
        Some(error) => match error["kind"].as_str() {
            None | Some("internal" | "invalid-json" | "unknown-law") => Err(error.to_string()),
            Some(_) => Ok(None),
        },
    }
}

fn fulfills_rules(problem: &Value, answer: &Value) -> Result<(), String> {
    if problem.get("mass_matrix").is_none() {
        // A form of bodies, which the library itself turns into rows.
        return Ok(());
    }
    let Some(given) = Given::new(problem) else {
        return Ok(());
    };
    let excuses = excuses(problem);
    match answer["status"].as_str() {
        Some("separating") if given.clearly_approaches() => {
            Err("separating while a contact approaches".to_owned())
        }
        Some("separating") => Ok(()),
        Some("resolved") => {
            given.broken_rule(answer, excuses)?;
            let outcomes = answer["outcomes"].as_array().map(Vec::as_slice);
            for outcome in outcomes.unwrap_or_default() {
                given
                    .broken_rule(outcome, excuses)
                    .map_err(|what| format!("an outcome: {what}"))?;
            }
            Ok(())
        }
        status => Err(format!("status {status:?}")),
    }
}

/// True if every answer of a law is a member of the set of inelastic outcomes: outcomes with restitution are not.
fn makes_members(law: &LawInfo) -> bool {
    law.uses.friction && !law.uses.restitution && !law.may_gain_energy
}

pub(super) fn judge() -> Target {
    Target {
        name: "judge",
        input: || {
            let laws: Vec<&str> = LAWS
                .iter()
                .filter(|law| makes_members(law))
                .map(|law| law.name)
                .collect();
            (impact(3), select(laws), any::<u32>())
                .prop_map(|(problem, law, seed)| with(problem, json!({"law": law, "seed": seed})))
                .boxed()
        },
        check: Box::new(judged),
    }
}

/// Checks verdicts about members of the set of inelastic outcomes. An outcome of the set must not be judged to lie outside, and
/// a velocity with more energy than before the impact must not be judged to lie inside.
fn judged(case: &Value) -> Result<(), String> {
    let mut problem = case.clone();
    let seed = case["seed"].clone();
    if let Some(problem) = problem.as_object_mut() {
        problem.remove("seed");
    }
    let is_sampled = LAWS.iter().any(|law| {
        case["law"] == law.name && law.options.iter().any(|option| option.key == "samples")
    });
    let options = if is_sampled {
        json!({"samples": 2, "seed": seed})
    } else {
        json!({})
    };
    let ask = with(problem.clone(), json!({"options": options}));
    let Ok(answer) = carom_wire::solve(Command::Resolve, ask) else {
        return Ok(());
    };
    let plus = numbers(&answer.fields["velocity_plus"]);
    let fast: Vec<f64> = plus.iter().map(|v| 3.0 * v).collect();
    let gained = |answer: &Map<String, Value>| {
        9.0 * answer["energy_plus_j"].as_f64().unwrap_or(0.0)
            > 1.01 * answer["energy_minus_j"].as_f64().unwrap_or(0.0)
    };
    if let Some(problem) = problem.as_object_mut() {
        problem.remove("law");
    }
    let membership = |v: &[f64]| {
        let options = json!({"samples": 16});
        let ask = with(
            problem.clone(),
            json!({"velocity_plus": v, "options": options}),
        );
        let answer = carom_wire::solve(Command::Judge, ask).map_err(|e| e.to_string())?;
        let set = answer.fields.get("outcome_set");
        Ok::<_, String>(set.map(|set| set["membership"].clone()))
    };
    if membership(&plus)?.is_some_and(|word| word == "outside") {
        return Err(format!("{plus:?} is called outside"));
    }
    if gained(&answer.fields) && membership(&fast)?.is_some_and(|word| word == "inside") {
        return Err(format!("{fast:?} is called inside"));
    }
    Ok(())
}
