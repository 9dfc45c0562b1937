//! `carom fit`: restitution, friction and inertia from the poses of a tracked body.

use crate::interrupt::{self, whole};
use crate::progress::Meter;
use crate::unpack::open;
use crate::{Failure, text};
use carom::report::input::{MAX_JSON_BYTES, MAX_TOML_BYTES, read_text};
use carom::report::{Record, export};
use carom::scenarios::citations;
use carom_fit::{
    Analysis, FitLaw, FitOptions, Parameter, Parameters, Request, Setup, analyze_observed,
    read_poses, unit_warnings,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Default number of bootstrap resamples of the tosses.
const BOOTSTRAP: u32 = 400;

/// Arguments of `carom fit`.
#[derive(clap::Args)]
pub(crate) struct FitArgs {
    /// Poses: comma-separated text with the columns toss,t,x,y,z,qw,qx,qy,qz (s, m, unit quaternion from
    /// body to space), compressed if the name ends in .gz.
    file: PathBuf,
    /// The body, the plane and gravity.
    #[arg(long, value_name = "BODY.toml")]
    config: PathBuf,
    /// Laws to fit, or those of the record to evaluate.
    #[arg(
        long,
        value_name = "LAW",
        value_delimiter = ',',
        required_unless_present = "evaluate"
    )]
    law: Vec<String>,
    /// Parameters to fit: restitution, friction, inertia. Default: the first two, as far as a law has them.
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
    /// Resamples of the tosses for the intervals [default: 400]; 0 for none.
    #[arg(long, value_name = "N", conflicts_with = "evaluate",
        value_parser = clap::value_parser!(u32).range(0..=100_000))]
    bootstrap: Option<u32>,
    /// Seed of the resamples [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Threads; the record is the same for any number. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
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
    let config = read_whole(&args.config, MAX_TOML_BYTES)?;
    let in_file = |path: &Path, message: &dyn std::fmt::Display| {
        Failure::Usage(format!("{}: {message}", path.display()))
    };
    let setup = Setup::from_toml(&config).map_err(|e| in_file(&args.config, &e))?;
    let table = read_poses(open(&args.file)?).map_err(|e| in_file(&args.file, &e))?;
    if !table.ignored.is_empty() && !is_quiet {
        let names = table.ignored.join(", ");
        let _ = writeln!(
            std::io::stderr(),
            "carom: {}: ignored columns: {names}",
            args.file.display()
        );
    }
    if !is_quiet {
        for warning in unit_warnings(&table.tosses, &setup) {
            let _ = writeln!(
                std::io::stderr(),
                "carom: {}: {warning}",
                args.file.display()
            );
        }
    }
    let options = FitOptions::new(
        args.bootstrap.unwrap_or(BOOTSTRAP).into(),
        args.seed.unwrap_or(0),
    );
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.unwrap_or(0).into())
        .build()
        .map_err(|e| Failure::Usage(format!("cannot start threads: {e}")))?;
    let meter = Meter::new("fit", is_quiet);
    let count = meter.counter("fit");
    let analysis = pool
        .install(|| analyze_observed(&table.tosses, &setup, &requests, &options, &count))
        .map_err(|e| Failure::Unsolved(format!("{}: {e}", args.file.display())))?;
    let mut record = pool.install(|| analysis.record(parameters(args, &requests, &options)));
    record.citations = citations("");
    drop(meter);
    print(args, &record, &analysis.sentences(), is_quiet)?;
    too_few(&analysis, &args.file)
}

/// Returns an error if the file of tosses has fewer isolated impacts than a fit needs. The record with the findings has
/// been printed before.
fn too_few(analysis: &Analysis, file: &Path) -> Result<(), Failure> {
    if analysis.has_enough_impacts() {
        return Ok(());
    }
    let excluded = analysis.census.excluded;
    Err(Failure::Unsolved(format!(
        "{}: too few impacts: {} isolated ones in {} episodes (wide {}, short {}, noisy {}, far {}); at \
         least {} are needed",
        file.display(),
        analysis.census.impacts.len(),
        analysis.census.episodes,
        excluded.wide,
        excluded.short,
        excluded.noisy,
        excluded.far,
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
/// parameters, bootstrap samples and seed.
fn parameters(args: &FitArgs, requests: &[Request], options: &FitOptions) -> Value {
    let laws: Vec<Value> = requests
        .iter()
        .map(|request| {
            let free: Vec<&str> = request.free.iter().map(|p| p.name()).collect();
            json!({"law": request.law.name(), "free": free, "fixed": request.fixed})
        })
        .collect();
    let file = args.file.file_name().map(|name| name.to_string_lossy());
    json!({
        "file": file,
        "laws": laws,
        "bootstrap": if args.evaluate.is_some() { 0 } else { options.bootstrap },
        "seed": options.seed,
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
        let parameter = named_parameter("--fixed", name)?;
        let value: f64 = value.trim().parse().map_err(|_| {
            Failure::Usage(format!("--fixed {assignment}: `{value}` is not a number"))
        })?;
        once("--fixed", &held, parameter)?;
        held.push(parameter);
        fixed = fixed.with(parameter, value);
    }
    fixed
        .check()
        .map_err(|e| Failure::Usage(format!("--fixed {e}")))?;
    let mut free = Vec::new();
    for name in &args.free {
        let parameter = named_parameter("--free", name)?;
        once("--free", &free, parameter)?;
        free.push(parameter);
    }
    if let Some(both) = free.iter().find(|p| held.contains(p)) {
        return Err(Failure::Usage(format!(
            "parameter `{}` is both --free and --fixed",
            both.name()
        )));
    }
    for (option, given) in [("--free", &free), ("--fixed", &held)] {
        let is_unused = |p: &&Parameter| !laws.iter().any(|law| law.uses().contains(p));
        if let Some(unused) = given.iter().find(is_unused) {
            return Err(Failure::Usage(format!(
                "{option}: none of the laws has a parameter `{}`",
                unused.name()
            )));
        }
    }
    if args.free.is_empty() {
        free = vec![Parameter::Restitution, Parameter::Friction];
        free.retain(|p| !held.contains(p));
    }
    free.sort();
    let request = |law| Request::new(law, &free, fixed);
    Ok(laws.into_iter().map(request).collect())
}

fn named_laws(names: &[String]) -> Result<Vec<FitLaw>, Failure> {
    let mut laws: Vec<FitLaw> = Vec::new();
    for name in names {
        let law = FitLaw::by_name(name.trim()).ok_or_else(|| {
            let all = || FitLaw::ALL.into_iter().map(FitLaw::name);
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

fn named_parameter(option: &str, name: &str) -> Result<Parameter, Failure> {
    Parameter::by_name(name.trim()).ok_or_else(|| {
        Failure::Usage(format!(
            "{option}: unknown parameter `{name}`; known are restitution, friction, inertia"
        ))
    })
}

fn once(option: &str, earlier: &[Parameter], parameter: Parameter) -> Result<(), Failure> {
    if earlier.contains(&parameter) {
        let name = parameter.name();
        return Err(Failure::Usage(format!("{option}: `{name}` is given twice")));
    }
    Ok(())
}

/// Reads the fitted laws with their parameters and scales from the file of an earlier fit, for evaluation with new data. A
/// list `laws` that is not empty selects some of them.
fn recorded(path: &Path, laws: &[FitLaw]) -> Result<Vec<Request>, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let record: Value = serde_json::from_str(&read_whole(path, MAX_JSON_BYTES)?)
        .map_err(|e| wrong(format!("no record of `carom fit`: {e}")))?;
    let all = record.get("laws").and_then(Value::as_array);
    let mut requests = Vec::new();
    for (k, entry) in all.into_iter().flatten().enumerate() {
        let name = entry.get("law").and_then(Value::as_str);
        let law = name
            .and_then(FitLaw::by_name)
            .ok_or_else(|| wrong(format!("laws[{k}].law: not the name of a law")))?;
        let values = entry.get("parameters").cloned().unwrap_or(Value::Null);
        let fixed: Parameters = serde_json::from_value(values)
            .map_err(|e| wrong(format!("laws[{k}].parameters: {e}")))?;
        fixed
            .check()
            .map_err(|e| wrong(format!("laws[{k}].parameters.{e}")))?;
        let scale = entry
            .get("scale")
            .and_then(Value::as_f64)
            .filter(|scale| *scale > 0.0)
            .ok_or_else(|| wrong(format!("laws[{k}].scale: not a positive number")))?;
        if laws.is_empty() || laws.contains(&law) {
            requests.push(Request {
                law,
                free: Vec::new(),
                fixed,
                scale: Some(scale),
            });
        }
    }
    if let Some(missing) = laws.iter().find(|l| requests.iter().all(|r| r.law != **l)) {
        return Err(wrong(format!("the record has no law `{}`", missing.name())));
    }
    if requests.is_empty() {
        return Err(wrong("laws: the record has no fitted law".to_owned()));
    }
    Ok(requests)
}

pub(crate) fn read_whole(path: &Path, limit: u64) -> Result<String, Failure> {
    read_text(path, limit)
        .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))
}
