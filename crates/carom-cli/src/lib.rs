//! The command line of carom as a library, for programs that include it under another name.
//!
//! # Examples
//!
//! ```
//! use carom_cli::{answer_lines, carom_wire::Command};
//!
//! fn main() -> std::io::Result<()> {
//!     let lines = r#"{"law": "plastic", "mass_matrix": [[2]], "velocity": [-1], "contacts": [{"normal": [1]}]}"#;
//!     let mut answers = Vec::new();
//!     let all_solved = answer_lines(Box::new(lines.as_bytes()), Command::Resolve, 1, &mut answers)?;
//!     assert!(all_solved && answers.ends_with(b"}\n"));
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod analyse;
mod cite;
mod data;
mod export;
mod fit;
mod help;
mod interrupt;
mod judge;
mod junit;
mod laws;
mod lines;
mod list;
mod progress;
mod run;
#[cfg(feature = "sweep")]
mod sweep;
mod text;
mod unpack;
mod usage;
mod writing;

pub use list::scenario_json;
pub use progress::Meter;
pub use text::with_suggestion;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;

/// Answers what happens when rigid bodies hit: the papers' scenarios, and impacts as JSON Lines.
///
/// Exit status: 0 all solved; 1 something could not be solved; 2 bad usage or unreadable input; 130 ended by Ctrl-C (a sweep: 1).
#[derive(Parser)]
#[command(name = "carom", version, propagate_version = true)]
struct Cli {
    /// Say nothing that was not asked for: no progress, and with --out no summary.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List scenarios by question: all, or those with some words or figure of a paper.
    List(list::ListArgs),
    /// Print a scenario's default configuration as commented TOML.
    Show(run::ShowArgs),
    /// Run a scenario: a table of results, and records and figures with --out.
    Run(run::RunArgs),
    /// Resolve impact problems in JSON, one answer a line.
    Resolve(lines::Args),
    /// Judge outcomes that an engine computed, in JSON, one verdict a line.
    Judge(judge::JudgeArgs),
    /// Solve linear complementarity problems in JSON, one answer a line.
    Lcp(lines::Args),
    /// Check measured impacts before any law is asked, or write them as lines.
    Data(data::DataArgs),
    /// Fit impact laws to the poses of a tracked body: restitution, friction, inertia.
    Fit(fit::FitArgs),
    /// Compute many impacts as one table: plans, shards, resumable folders.
    #[cfg(feature = "sweep")]
    Sweep(sweep::Args),
    /// Find periodic orbits of a world or a mechanism, and whether they are stable.
    Analyse(analyse::AnalyseArgs),
    /// Export a world for other programs.
    Export(export::ExportArgs),
    /// List the impact laws, or the options of one and an example.
    Laws(laws::LawsArgs),
    /// Print BibTeX of carom, and of the papers behind a law or scenario.
    Cite(cite::CiteArgs),
    /// Print completions for a shell.
    Completions(help::CompletionsArgs),
    /// Print a page of the manual, or write all of them into a folder.
    Man(help::ManArgs),
}

impl Command {
    /// True if Ctrl-C ends this command at once. False for sweeps, which first finish the current part of the table, and for
    /// commands that take only an instant.
    fn ends_on_signals(&self) -> bool {
        matches!(
            self,
            Self::Run(_)
                | Self::Resolve(_)
                | Self::Judge(_)
                | Self::Lcp(_)
                | Self::Fit(_)
                | Self::Analyse(_)
                | Self::Data(_)
        )
    }
}

/// Reason why the program ends without success.
enum Failure {
    /// Bad usage or unreadable input: exit status 2.
    Usage(String),
    /// Something could not be solved: exit status 1. The text is empty if the fault is already reported.
    Unsolved(String),
    /// The reader of the output has closed the pipe: nothing to report.
    Closed,
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Usage(format!("cannot write the output: {error}")),
        }
    }
}

/// Runs the `carom` command line and returns its exit status: 0 if all was solved, 1 if something could not be solved, 2 for
/// bad usage or unreadable input. The first of `args` is the name of the program.
///
/// Reads standard input, writes standard output and standard error. During commands that compute, SIGINT and SIGTERM
/// end the process within half a second, with status 130 and 143: an answer or a folder is written whole or not at all.
pub fn main_from(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    main_within(&[], args)
}

/// Returns the definition of the `carom` command line for help texts and completions: commands and flags with their
/// descriptions.
pub fn command() -> clap::Command {
    help::with_keys(Cli::command())
}

/// Runs the `carom` command line inside a host program and returns the exit status, as [`main_from`] does. The first of
/// `args` is the name of the program. `program` lists the words of a command, such as `python -m carom`, that runs this
/// command line again. The scripts of `carom sweep launch` contain it; if the list is empty, they contain the executable of
/// this process.
pub fn main_within(
    program: &[OsString],
    args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let parsed = command().try_get_matches_from(&args);
    let cli = match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            // The request was for help or the version.
            let _ = error.print();
            return 0;
        }
        Err(error) => return report(&Failure::Usage(usage::message(&error, &command(), &args))),
    };
    // Only sweeps start processes, so `program` is not needed.
    #[cfg(not(feature = "sweep"))]
    let _ = program;
    if cli.command.ends_on_signals()
        && let Err(error) = interrupt::end_on_signals()
    {
        return report(&Failure::Usage(format!("cannot wait for signals: {error}")));
    }
    let answer = |args: &lines::Args, command| {
        let _meter = progress::Meter::new("lines", cli.quiet);
        let nobody = &mut |_: &carom_wire::Line| {};
        lines::solved(lines::answer_all(args, command, cli.quiet, nobody)?)
    };
    let done = match cli.command {
        Command::List(args) => list::list(&args),
        Command::Show(args) => run::show(&args),
        Command::Run(args) => run::run(&args, cli.quiet),
        Command::Resolve(args) => answer(&args, carom_wire::Command::Resolve),
        Command::Judge(args) => {
            let _meter = progress::Meter::new("lines", cli.quiet);
            judge::judge(&args, cli.quiet)
        }
        Command::Lcp(args) => answer(&args, carom_wire::Command::Lcp),
        Command::Data(args) => data::data(&args, cli.quiet),
        Command::Fit(args) => fit::fit(&args, cli.quiet),
        Command::Analyse(args) => analyse::run(&args, cli.quiet),
        #[cfg(feature = "sweep")]
        Command::Sweep(args) => sweep::sweep(&args, program, cli.quiet),
        Command::Export(args) => export::run(&args),
        Command::Laws(args) => laws::laws(&args),
        Command::Cite(args) => cite::cite(&args),
        Command::Completions(args) => help::completions(&args, command()).map_err(Failure::from),
        Command::Man(args) => help::manual(&args, command()),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => report(&failure),
    }
}

/// Answers problems in JSON, one per line of `input` or in a document, on a pool of `threads` threads (0: one per core). The
/// output has exactly the bytes of `carom resolve`, `carom judge` or `carom lcp`, as `command` says. Returns true if every
/// problem was solved.
///
/// # Errors
///
/// Errors of the input and the output; an error of the output ends the work.
pub fn answer_lines(
    input: Box<dyn std::io::Read + Send>,
    command: carom_wire::Command,
    threads: usize,
    output: &mut impl Write,
) -> std::io::Result<bool> {
    let nobody = &mut |_: &carom_wire::Line| {};
    let asked = lines::Asked {
        command,
        is_quiet: true,
        is_for_people: false,
    };
    lines::answer_lines(input, asked, threads, output, nobody).map_err(|failure| match failure {
        Failure::Usage(message) | Failure::Unsolved(message) => std::io::Error::other(message),
        Failure::Closed => std::io::ErrorKind::BrokenPipe.into(),
    })
}

/// Prints a failure as one line on stderr and returns the exit status of the program. Errors in printing are ignored.
fn report(failure: &Failure) -> u8 {
    let (code, message) = match failure {
        Failure::Usage(message) => (2, message.as_str()),
        Failure::Unsolved(message) => (1, message.as_str()),
        Failure::Closed => return 0,
    };
    if !message.is_empty() {
        let line = message.replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "carom: {line}");
    }
    code
}

// Re-exported because its types appear in signatures here.
pub use carom_wire;
pub use clap;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
