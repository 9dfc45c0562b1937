//! `carom show` and `carom run`: the scenarios.

mod side_by_side;

use crate::interrupt::{print, whole};
use crate::progress::Meter;
use crate::{Failure, text};
use carom::report::input::{MAX_TOML_BYTES, read_text};
use carom::report::{Account, Record, export};
use carom::scenarios::{Overrides, SCENARIOS, Scenario, scenario};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Arguments of `carom show`.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Scenario, as `carom list` names it.
    name: String,
}

/// Arguments of `carom run`.
#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// Scenario, as `carom list` names it; or a configuration that says `scenario = "NAME"`, or has `[[bodies]]`
    /// or `[urdf]` (a world) or `[[links]]` (a mechanism).
    #[arg(value_name = "NAME|FILE.toml")]
    name: String,
    /// Configuration; keys left out keep their defaults (see `carom show`).
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Robot of a world, whose links and joints are added to those of the configuration; `[urdf]` has its keys.
    #[arg(long, value_name = "FILE.urdf")]
    urdf: Option<PathBuf>,
    /// Change one key, after the file; may be repeated.
    #[arg(long = "set", value_name = "key.path=value")]
    set: Vec<String>,
    /// Seed of the random numbers, for scenarios that draw any.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write record.json, *.csv, every figure and index.html into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Formats of the figures: svg, and png and pdf where they are built in. mp4 and gif: a film of each motion, by the
    /// system's Chromium and ffmpeg.
    #[arg(
        long,
        value_name = "FORMATS",
        value_delimiter = ',',
        default_value = "svg",
        requires = "out"
    )]
    format: Vec<Wanted>,
    /// Threads of a world in time stepping; the record is the same for any number. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print the record as JSON instead of the summary; of several runs their comparison.
    #[arg(long)]
    json: bool,
    /// Run once with each of these laws and show the runs side by side: of a world its law for several contacts, of a
    /// mechanism or a billiard its law.
    #[arg(long, value_name = "LAW,LAW")]
    law: Option<String>,
    /// Run once with each value of a key and show the runs side by side: 2 to 6 values, as --set takes them.
    #[arg(long, value_name = "key.path=A,B", conflicts_with = "law")]
    compare: Option<String>,
}

/// Format of figures or of films.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Figures(export::Format),
    Films(export::Film),
}

impl std::str::FromStr for Wanted {
    type Err = export::ExportError;

    fn from_str(text: &str) -> Result<Self, export::ExportError> {
        let film = text.parse().map(Self::Films);
        film.or_else(|_| text.parse().map(Self::Figures))
    }
}

impl RunArgs {
    /// Returns the file formats of figures that the command line requests; SVG if it requests none.
    fn figures(&self) -> Vec<export::Format> {
        let wanted = self.format.iter().filter_map(|format| match format {
            Wanted::Figures(format) => Some(*format),
            Wanted::Films(_) => None,
        });
        let formats: Vec<export::Format> = wanted.collect();
        if formats.is_empty() {
            vec![export::Format::Svg]
        } else {
            formats
        }
    }

    /// Returns the file formats of films that the command line requests.
    fn films(&self) -> Vec<export::Film> {
        let wanted = self.format.iter().filter_map(|format| match format {
            Wanted::Films(format) => Some(*format),
            Wanted::Figures(_) => None,
        });
        wanted.collect()
    }

    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }
}

pub(crate) fn show(args: &ShowArgs) -> Result<(), Failure> {
    write!(
        std::io::stdout().lock(),
        "{}",
        find(&args.name)?.default_toml
    )?;
    Ok(())
}

pub(crate) fn run(args: &RunArgs, is_quiet: bool) -> Result<(), Failure> {
    let chosen = choose(args)?;
    if let Some(several) = side_by_side::Several::new(args, chosen.scenario)? {
        return side_by_side::run(&several, args, &chosen, is_quiet);
    }
    let scenario = chosen.scenario;
    let unwritable = |e: export::ExportError| Failure::Usage(e.to_string());
    let films = args.films();
    // Checked before the run, which may take long.
    let studio = if films.is_empty() {
        None
    } else {
        Some(export::Studio::of_system().map_err(unwritable)?)
    };
    let meter = Meter::new(scenario.name, is_quiet);
    let record = record(args, &chosen, None, &meter)?;
    drop(meter);
    if !is_quiet {
        tell(&record, args.json, &named(&record, chosen.file.as_deref()));
    }
    let is_demo = chosen.file.is_none() && DEMOS.contains(&scenario.name);
    let text = if args.json {
        export::json(&record).map_err(unwritable)?
    } else {
        in_words(&record, is_demo)
    };
    let out = match &args.out {
        Some(dir) => {
            let _meter = Meter::new("files", is_quiet);
            let films = studio.map(|studio| studio.films(&record, &films));
            let films = films.transpose().map_err(unwritable)?.unwrap_or_default();
            let write = || export::write_with(&record, dir, &args.figures(), films);
            let written = whole(write).map_err(unwritable)?;
            Some((dir.as_path(), written.len()))
        }
        None => None,
    };
    print(&text, args.json, is_quiet, out)?;
    stopped(&record).map_or(Ok(()), Err)
}

/// Runs the chosen scenario with the assignments of the command line, and one more if it is given.
fn record(
    args: &RunArgs,
    chosen: &Chosen,
    more: Option<&str>,
    meter: &Meter,
) -> Result<Record, Failure> {
    let Chosen {
        scenario,
        toml,
        file,
    } = chosen;
    let mut assignments = Vec::new();
    if let Some(seed) = args.seed
        && scenario
            .default_toml
            .lines()
            .any(|line| line.starts_with("seed "))
    {
        assignments.push(format!("seed={seed}"));
    }
    if let Some(urdf) = &args.urdf {
        if scenario.name != "world" {
            let message = format!("--urdf is for `world`, `{}` has no robots", scenario.name);
            return Err(Failure::Usage(message));
        }
        // A JSON string is also a TOML string.
        assignments.push(format!("urdf.file={}", json!(urdf.display().to_string())));
    }
    assignments.extend(args.set.iter().cloned());
    assignments.extend(more.map(str::to_owned));
    let overrides = Overrides {
        toml: toml.clone(),
        file: file.clone(),
        assignments,
        progress: meter.observer(|| ()),
        threads: args.threads(),
        ..Overrides::default()
    };
    scenario.run(&overrides).map_err(|error| {
        // The message already begins with the name of the file.
        let text = text::with_suggestion(&error.to_string());
        let file = file.as_ref().map(|path| path.display().to_string());
        let message = match file {
            Some(file) if text.starts_with(&file) => text,
            _ => format!("{}: {text}", scenario.name),
        };
        if error.is_configuration() {
            Failure::Usage(message)
        } else {
            Failure::Unsolved(message)
        }
    })
}

/// Returns the message of the error that stopped a run, which has a record but counts as failed.
fn stopped(record: &Record) -> Option<Failure> {
    let message = record.results.get("error")?.get("message")?;
    let message = message.as_str().unwrap_or("stopped");
    let scenario = &record.scenario;
    Some(Failure::Unsolved(format!("{scenario}: {message}")))
}

/// Prints the warnings of a run on stderr, and with `--json` (`is_json`) the numbers of ignored inputs. Nothing is printed if
/// the summary of the run appears on the same terminal. `name` is the name of the user's file or of the scenario.
fn tell(record: &Record, is_json: bool, name: &str) {
    if !is_json && std::io::stdout().is_terminal() {
        return;
    }
    let account = Account::of(record);
    let mut lines = Vec::new();
    if is_json && let Some(left_out) = account.left_out_in_brief() {
        lines.push(format!(
            "{name}: left out: {left_out}; see \"ignored\" in the record"
        ));
    }
    let warnings = if is_json {
        account.brief_warnings()
    } else {
        account.warnings
    };
    lines.extend(warnings.iter().map(|warning| format!("warning: {warning}")));
    for line in lines {
        // A closed stderr is no reason to stop.
        let _ = writeln!(std::io::stderr(), "carom: {line}");
    }
}

/// Returns the name of the file of a run for messages: the robot, otherwise the configuration, otherwise the scenario.
fn named(record: &Record, file: Option<&Path>) -> String {
    let robot = record
        .parameters
        .get("urdf")
        .and_then(|urdf| urdf.get("file"));
    let robot = robot.and_then(Value::as_str).map(Path::new);
    let name = robot.or(file).and_then(Path::file_name);
    name.map_or_else(
        || record.scenario.clone(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Scenarios that run a world or mechanism of the user; without a configuration they run a demo.
const DEMOS: [&str; 2] = ["world", "mechanism"];

/// Returns the summary of a scenario's results for a terminal. `is_demo` adds a hint on how to run a configuration of one's own.
fn in_words(record: &Record, is_demo: bool) -> String {
    let mut text = format!("{}: {}\n\n", record.scenario, record.summary);
    if is_demo {
        let name = &record.scenario;
        text.push_str(&format!(
            "this is the demo; for your own: `carom show {name} > my.toml`, `carom run my.toml`\n\n"
        ));
    }
    text.push_str(&export::summary(record));
    text
}

/// A scenario and the configuration that overrides its defaults.
struct Chosen {
    scenario: &'static Scenario,
    toml: String,
    file: Option<PathBuf>,
}

fn choose(args: &RunArgs) -> Result<Chosen, Failure> {
    let read = |path: &PathBuf| {
        read_text(path, MAX_TOML_BYTES)
            .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))
    };
    let path = PathBuf::from(&args.name);
    if scenario(&args.name).is_some() || path.extension().is_none_or(|end| end != "toml") {
        return Ok(Chosen {
            scenario: find(&args.name)?,
            toml: args
                .config
                .as_ref()
                .map(read)
                .transpose()?
                .unwrap_or_default(),
            file: args.config.clone(),
        });
    }
    if let Some(config) = &args.config {
        return Err(Failure::Usage(format!(
            "{} and --config {} are both configurations; give one, or the name of a scenario with --config",
            path.display(),
            config.display()
        )));
    }
    let toml = read(&path)?;
    let name = carom::scenarios::scenario_of(&toml)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    Ok(Chosen {
        scenario: find(&name)?,
        toml,
        file: Some(path),
    })
}

fn find(name: &str) -> Result<&'static Scenario, Failure> {
    scenario(name).ok_or_else(|| {
        let names = SCENARIOS.iter().map(|s| s.name);
        let hint = text::did_you_mean(name, names).unwrap_or_else(|| "see `carom list`".to_owned());
        Failure::Usage(format!("unknown scenario `{name}`; {hint}"))
    })
}
