//! `carom judge`: judges logged impacts, for a reader or for a build server.

use crate::Failure;
use crate::junit::{Case, Outcome, Suite};
use crate::lines::{self, answer_all, solved};
use carom_wire::{Command, Line};
use serde_json::Value;
use std::path::PathBuf;

/// Default limit of the residuals: a thousandth of the velocities at the contacts.
const MAX_RESIDUAL: f64 = 1e-3;

/// Default limit of the energy ratio: a gain of a thousandth cannot be rounding error.
const MAX_ENERGY_RATIO: f64 = 1.001;

/// Residuals of an answer; the first one in this order above the limit is named.
const RESIDUALS: [&str; 5] = [
    "penetration_residual",
    "constraint_residual",
    "momentum_residual",
    "pull_residual",
    "friction_residual",
];

/// Arguments of `carom judge`.
#[derive(clap::Args)]
pub(crate) struct JudgeArgs {
    #[command(flatten)]
    lines: lines::Args,
    /// Write a JUnit report, one test case a line, and exit with 1 if one fails.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Findings that make a line fail and the exit status 1; with --junit `residual,energy` by default.
    #[arg(long, value_name = "FINDINGS", value_delimiter = ',')]
    fail_on: Option<Vec<Finding>>,
    /// Largest residual of penetration, constraints, momentum, pull and friction.
    #[arg(long, value_name = "R", default_value_t = MAX_RESIDUAL, value_parser = positive)]
    max_residual: f64,
    /// Largest energy after over before.
    #[arg(long, value_name = "R", default_value_t = MAX_ENERGY_RATIO, value_parser = positive)]
    max_energy_ratio: f64,
}

/// Fault of a judged impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Finding {
    /// A residual above --max-residual.
    Residual,
    /// More energy than --max-energy-ratio allows.
    Energy,
    /// Outside the set of inelastic frictional outcomes.
    Outside,
    /// No law gives the outcome.
    NoMatch,
}

/// Parses a positive finite number from an argument of the command line.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("not a positive number".to_owned()),
    }
}

/// Judges the claimed outcome in every line of the input and prints the verdicts. If requested, faults make the command
/// fail or are written as a JUnit report. `is_quiet` suppresses the progress display.
pub(crate) fn judge(args: &JudgeArgs, is_quiet: bool) -> Result<(), Failure> {
    let asked = match (&args.fail_on, &args.junit) {
        (Some(findings), _) => findings.clone(),
        (None, Some(_)) => vec![Finding::Residual, Finding::Energy],
        (None, None) => {
            let nobody = &mut |_: &Line| {};
            return solved(answer_all(&args.lines, Command::Judge, is_quiet, nobody)?);
        }
    };
    let mut suite = Suite::new("carom judge");
    let mut has_failed = false;
    let mut observe = |line: &Line| {
        let case = case_of(line, suite.cases.len() + 1, &asked, args);
        has_failed |= !matches!(case.outcome, Outcome::Passed);
        suite.cases.push(case);
    };
    let all_solved = answer_all(&args.lines, Command::Judge, is_quiet, &mut observe)?;
    if let Some(path) = &args.junit {
        crate::interrupt::whole(|| suite.write(path))?;
    }
    solved(all_solved && !has_failed)
}

/// Builds the JUnit test case for one judged line of input. `number` is the position of the line in the input, `asked`
/// lists the kinds of faults that make a case fail, and `args` holds the limits of these faults.
fn case_of(line: &Line, number: usize, asked: &[Finding], args: &JudgeArgs) -> Case {
    let answer: Value = serde_json::from_str(&line.text).unwrap_or_default();
    let name = match answer.get("id") {
        Some(Value::String(id)) => id.clone(),
        None | Some(Value::Null) => format!("impact {number}"),
        Some(other) => other.to_string(),
    };
    let outcome = if line.is_solved {
        let mut faults = asked
            .iter()
            .filter_map(|finding| fault(*finding, &answer, args));
        match faults.next() {
            None => Outcome::Passed,
            Some(fault) => {
                let all: Vec<String> = std::iter::once(fault).chain(faults).collect();
                let verdict = answer.get("verdict").and_then(Value::as_str);
                Outcome::Failed(format!(
                    "{}. {}",
                    all.join("; "),
                    verdict.unwrap_or_default()
                ))
            }
        }
    } else {
        let message = answer.pointer("/error/message").and_then(Value::as_str);
        Outcome::Error(message.unwrap_or("no answer").to_owned())
    };
    Case { name, outcome }
}

/// Describes in words a fault that a verdict reports, such as too large a residual; `None` if the verdict does not have
/// this kind of fault. `finding` is the kind of fault, `answer` the verdict in JSON, and `args` holds the limits.
fn fault(finding: Finding, answer: &Value, args: &JudgeArgs) -> Option<String> {
    let number = |key: &str| answer.get(key).and_then(Value::as_f64);
    match finding {
        Finding::Residual => {
            let limit = args.max_residual;
            // A missing residual counts as above every limit.
            let is_above = |key: &str| !(number(key).unwrap_or(f64::INFINITY) <= limit);
            let key = RESIDUALS.into_iter().find(|key| is_above(key))?;
            let found = number(key).map_or_else(|| "no number".to_owned(), |x| format!("{x:.3e}"));
            Some(format!("{key} {found} is above {limit:e}"))
        }
        Finding::Energy => match number("energy_ratio") {
            Some(ratio) if ratio <= args.max_energy_ratio => None,
            Some(ratio) => Some(format!(
                "energy_ratio {ratio:.6} is above {}",
                args.max_energy_ratio
            )),
            // A system at rest before the impact has no energy ratio: a gain of any size is a fault.
            None => (answer.get("energy").and_then(Value::as_str) == Some("gained"))
                .then(|| "energy is gained from rest".to_owned()),
        },
        Finding::Outside => {
            let membership = answer.pointer("/outcome_set/membership");
            (membership.and_then(Value::as_str) == Some("outside"))
                .then(|| "the outcome lies outside the set of inelastic outcomes".to_owned())
        }
        Finding::NoMatch => {
            let matches = answer.get("matches").and_then(Value::as_array);
            matches
                .is_none_or(Vec::is_empty)
                .then(|| "no law gives the outcome".to_owned())
        }
    }
}
