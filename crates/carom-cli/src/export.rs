//! `carom export`: a world for other programs.

use crate::Failure;
use carom_fmi::{ExportOptions, Version, export, platform};
use std::path::{Path, PathBuf};

/// Arguments of `carom export`.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Export a world as a functional mock-up unit (FMI) for co-simulation.
    Fmu(FmuArgs),
}

/// Arguments of `carom export fmu`.
#[derive(clap::Args)]
struct FmuArgs {
    /// Configuration of the world.
    file: PathBuf,
    /// File of the unit.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Version of FMI.
    #[arg(long, value_name = "VERSION", default_value = "3", value_parser = ["2", "3"])]
    fmi: String,
    /// Set a key of the configuration (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Shared library, also of another platform as `win64=PATH` (repeatable). Default: that beside this program.
    #[arg(long, value_name = "[PLATFORM=]PATH")]
    library: Vec<String>,
}

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let What::Fmu(args) = &args.what;
    let version = match args.fmi.as_str() {
        "2" => Version::Two,
        _ => Version::Three,
    };
    let mut libraries: Vec<(String, PathBuf)> = args.library.iter().map(|l| library(l)).collect();
    if libraries.is_empty() {
        libraries.push((platform(), beside()));
    }
    let options = ExportOptions::default()
        .with_version(version)
        .with_set(args.set.clone())
        .with_libraries(libraries);
    export(&args.file, &args.output, &options).map_err(|error| {
        let text = crate::text::with_suggestion(&error.to_string());
        Failure::Usage(format!("{}: {text}", error.kind()))
    })
}

/// Returns platform and path of a library.
fn library(given: &str) -> (String, PathBuf) {
    match given.split_once('=') {
        Some((name, path)) if !name.contains(['/', '\\', '.']) => (name.to_owned(), path.into()),
        _ => (platform(), given.into()),
    }
}

/// Returns the path of the library beside this program.
fn beside() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new(""));
    let (before, after) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(format!("{before}carom_capi{after}"))
}
