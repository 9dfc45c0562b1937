//! `carom fit`: restitution, friction and inertia from measured impacts, and the law that predicts best.

use crate::data::Source;
use crate::interrupt::{self, whole};
use crate::progress::Meter;
use crate::unpack::read_whole;
use crate::{Failure, text, with_suggestion};
use carom::report::input::MAX_JSON_BYTES;
use carom::report::{Record, export};
use carom::scenarios::citations;
use carom_fit::{
    Analysis, Coefficient, FitError, FitOptions, Parameter, Parameters, Request, Rule,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Default number of bootstrap resamples of the groups.
const BOOTSTRAP: u32 = 400;

/// Arguments of `carom fit`.
#[derive(clap::Args)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    source: Source,
    /// Laws to fit, those of `carom laws` and stick, no-impact; or those of the record to evaluate.
    #[arg(
        long,
        value_name = "LAW",
        value_delimiter = ',',
        required_unless_present = "evaluate"
    )]
    law: Vec<String>,
    /// Parameters to fit: restitution, friction, inertia; of one surface restitution.heel, of each restitution.*. Default: the
    /// first two, as far as a law has them.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "evaluate"
    )]
    free: Vec<String>,
    /// Values of parameters that are not fitted. Default: restitution 0, friction 0, inertia 1.
    #[arg(
        long,
        value_name = "NAME=VALUE",
        value_delimiter = ',',
        conflicts_with = "evaluate"
    )]
    fixed: Vec<String>,
    /// Fit nothing: score the laws of an earlier record, with their parameters and scales, on this file.
    #[arg(long, value_name = "RECORD.json")]
    evaluate: Option<PathBuf>,
    /// Rank laws by their score on the half of the groups that they were not fitted to, or by Akaike's criterion.
    #[arg(long, value_name = "PART", value_parser = ["half", "none"], default_value = "half", conflicts_with = "evaluate")]
    hold_out: String,
    /// Resamples of the groups for the intervals [default: 400]; 0 for none.
    #[arg(long, value_name = "N", conflicts_with = "evaluate",
        value_parser = clap::value_parser!(u32).range(0..=100_000))]
    bootstrap: Option<u32>,
    /// Seed of the resamples and the halves [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write record.json, *.csv, every figure and index.html into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the record as JSON instead of the summary.
    #[arg(long)]
    json: bool,
}

pub(crate) fn fit(args: &FitArgs, is_quiet: bool) -> Result<(), Failure> {
    let requests = match &args.evaluate {
        Some(path) => recorded(path, &named_laws(&args.law)?)?,
        None => asked(args)?,
    };
    let source = &args.source;
    let measured = source.measured()?;
    let file = source.file.display();
    for note in measured.notes.iter().filter(|_| !is_quiet) {
        let _ = writeln!(std::io::stderr(), "carom: {file}: {note}");
    }
    let mut options = FitOptions::new(
        args.bootstrap.unwrap_or(BOOTSTRAP).into(),
        args.seed.unwrap_or(0),
    );
    options.hold_out = args.hold_out == "half" && args.evaluate.is_none();
    let meter = Meter::new("fit", is_quiet);
    let count = meter.counter("fit");
    let analysis = source.pool(|| measured.analyze_observed(&requests, &options, &count))?;
    let analysis = analysis.map_err(|e| match e {
        FitError::Parameter(why) => Failure::Usage(format!("{file}: {}", with_suggestion(&why))),
        e => Failure::Unsolved(format!("{file}: {e}")),
    })?;
    let mut record = source.pool(|| analysis.record(parameters(args, &requests, &options)))?;
    record.citations = citations("");
    drop(meter);
    for finding in analysis.findings.iter().filter(|_| !is_quiet) {
        let told = &finding.sentence;
        let _ = writeln!(
            std::io::stderr(),
            "carom: {file}: warning: inconsistent-data: {told}"
        );
    }
    print(args, &record, &analysis.sentences(), is_quiet)?;
    if analysis.has_enough_impacts() {
        return Ok(());
    }
    Err(Failure::Unsolved(format!(
        "{file}: too few impacts: {}; at least {} are needed",
        analysis.measured().too_few(),
        Analysis::FEWEST_IMPACTS,
    )))
}

fn print(
    args: &FitArgs,
    record: &Record,
    sentences: &[String],
    is_quiet: bool,
) -> Result<(), Failure> {
    let unwritable = |e: export::ExportError| Failure::Usage(e.to_string());
    let text = if args.json {
        export::json(record).map_err(unwritable)?
    } else {
        let table = export::summary(record);
        let told: String = sentences.iter().map(|s| text::entry("", 0, s)).collect();
        format!(
            "{}: {}\n\nstatus: {}\n\n{told}{}{table}",
            record.scenario,
            record.summary,
            record.status,
            if told.is_empty() { "" } else { "\n" },
        )
    };
    let out = match &args.out {
        Some(dir) => {
            let write = || export::write_all(record, dir, &[export::Format::Svg]);
            Some((dir.as_path(), whole(write).map_err(unwritable)?.len()))
        }
        None => None,
    };
    interrupt::print(&text, args.json, is_quiet, out)?;
    Ok(())
}

/// Returns the request of the command line as JSON, for the parameters of the result record: file, laws with free and fixed
/// parameters, bootstrap samples, seed and held-out part.
fn parameters(args: &FitArgs, requests: &[Request], options: &FitOptions) -> Value {
    let laws: Vec<Value> = requests
        .iter()
        .map(|request| {
            let free: Vec<String> = request.free.iter().map(Parameter::to_string).collect();
            json!({"law": request.rule.name(), "free": free, "fixed": request.fixed.to_value()})
        })
        .collect();
    let file = args.source.file.file_name();
    json!({
        "file": file.map(|name| name.to_string_lossy()),
        "laws": laws,
        "bootstrap": if args.evaluate.is_some() { 0 } else { options.bootstrap },
        "seed": options.seed,
        "hold_out": if options.hold_out { "half" } else { "none" },
    })
}

/// Reads from the command line the impact laws to fit, and which of their parameters are free or fixed. Returns one fit
/// request per law.
fn asked(args: &FitArgs) -> Result<Vec<Request>, Failure> {
    let laws = named_laws(&args.law)?;
    let mut fixed = Parameters::NONE;
    let mut held = Vec::new();
    for assignment in &args.fixed {
        let (name, value) = assignment
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("--fixed {assignment}: write NAME=VALUE")))?;
        let parameter = named_parameter("--fixed", name, &held)?;
        let value: f64 = value.trim().parse().map_err(|_| {
            Failure::Usage(format!("--fixed {assignment}: `{value}` is not a number"))
        })?;
        fixed = fixed.with(&parameter, value);
        held.push(parameter);
    }
    fixed
        .check()
        .map_err(|e| Failure::Usage(format!("--fixed {e}")))?;
    let mut free = Vec::new();
    for name in &args.free {
        let parameter = named_parameter("--free", name, &free)?;
        free.push(parameter);
    }
    if let Some(both) = free.iter().find(|p| held.contains(p)) {
        let message = format!("parameter `{both}` is both --free and --fixed");
        return Err(Failure::Usage(message));
    }
    for (option, given) in [("--free", &free), ("--fixed", &held)] {
        let is_unused = |p: &&Parameter| !laws.iter().any(|law| law.has(p));
        if let Some(unused) = given.iter().find(is_unused) {
            return Err(Failure::Usage(format!(
                "{option}: none of the laws has a parameter `{unused}`"
            )));
        }
    }
    if args.free.is_empty() {
        free = [Coefficient::Restitution, Coefficient::Friction]
            .map(Parameter::shared)
            .to_vec();
        free.retain(|p| !held.contains(p));
    }
    free.sort();
    let request = |law| Request::new(law, &free, fixed.clone());
    Ok(laws.into_iter().map(request).collect())
}

fn named_laws(names: &[String]) -> Result<Vec<Rule>, Failure> {
    let mut laws: Vec<Rule> = Vec::new();
    for name in names {
        let law = Rule::by_name(name.trim()).ok_or_else(|| {
            let all = Rule::names();
            let all = || all.iter().map(String::as_str);
            let hint = text::did_you_mean(name, all())
                .unwrap_or_else(|| format!("known are {}", all().collect::<Vec<_>>().join(", ")));
            Failure::Usage(format!("--law: unknown law `{name}`; {hint}"))
        })?;
        if laws.contains(&law) {
            return Err(Failure::Usage(format!("--law: `{name}` is given twice")));
        }
        laws.push(law);
    }
    Ok(laws)
}

/// Returns the parameter with a name, which `option` has not named before.
fn named_parameter(option: &str, name: &str, earlier: &[Parameter]) -> Result<Parameter, Failure> {
    let parameter = Parameter::by_name(name.trim()).ok_or_else(|| {
        let known = Coefficient::ALL.map(Coefficient::name);
        let head = name.trim().split('.').next().unwrap_or(name);
        let hint = text::did_you_mean(head, known.into_iter())
            .unwrap_or_else(|| format!("known are {}", known.join(", ")));
        Failure::Usage(format!("{option}: unknown parameter `{name}`; {hint}"))
    })?;
    if earlier.contains(&parameter) {
        let message = format!("{option}: `{parameter}` is given twice");
        return Err(Failure::Usage(message));
    }
    Ok(parameter)
}

/// Reads the fitted laws with their parameters and scales from the file of an earlier fit, for evaluation with new data. A
/// list `laws` that is not empty selects some of them.
fn recorded(path: &Path, laws: &[Rule]) -> Result<Vec<Request>, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let record: Value = serde_json::from_str(&read_whole(path, MAX_JSON_BYTES)?)
        .map_err(|e| wrong(format!("no record of `carom fit`: {e}")))?;
    let all = record.get("laws").and_then(Value::as_array);
    let mut requests = Vec::new();
    for (k, entry) in all.into_iter().flatten().enumerate() {
        let name = entry.get("law").and_then(Value::as_str);
        let rule = name
            .and_then(Rule::by_name)
            .ok_or_else(|| wrong(format!("laws[{k}].law: not the name of a law")))?;
        if entry.get("parameters").is_none() && entry.get("refused").is_some() {
            // The law had no answer for any impact.
            continue;
        }
        let values = entry.get("parameters").and_then(Value::as_object);
        let values = values.ok_or_else(|| wrong(format!("laws[{k}].parameters: not an object")))?;
        let fixed = Parameters::from_json(values)
            .map_err(|e| wrong(format!("laws[{k}].parameters.{e}")))?;
        let scale = entry
            .get("scale")
            .and_then(Value::as_f64)
            .filter(|scale| *scale > 0.0)
            .ok_or_else(|| wrong(format!("laws[{k}].scale: not a positive number")))?;
        if laws.is_empty() || laws.contains(&rule) {
            let mut request = Request::new(rule, &[], fixed);
            request.scale = Some(scale);
            requests.push(request);
        }
    }
    if let Some(missing) = laws.iter().find(|l| requests.iter().all(|r| r.rule != **l)) {
        return Err(wrong(format!("the record has no law `{}`", missing.name())));
    }
    if requests.is_empty() {
        return Err(wrong("laws: the record has no fitted law".to_owned()));
    }
    Ok(requests)
}
