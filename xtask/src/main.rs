//! Checks and chores of the workspace: `cargo xtask --help`.

mod address;
mod bits;
mod book;
mod capi;
mod circles;
mod commands;
mod commits;
mod corpus;
mod elementary;
mod engines;
mod features;
mod fuzz;
mod gallery;
mod golden;
mod header;
mod knobs;
mod laws;
mod layers;
mod leftovers;
mod links;
mod notes;
mod numerics;
mod packages;
mod packed;
mod playground;
mod portable;
mod recipe;
mod refused;
mod runners;
mod siconos;
mod site;
mod sizes;
mod sources;
mod surface;
mod tidy;
mod told;
mod unit_tests;
mod verify;
mod words;

use std::path::{Path, PathBuf};

use clap::Parser;

/// Checks and chores of the carom workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Command {
    /// Check that fixed random input is answered with the same bits as before.
    Bits(bits::Args),
    /// Check, or write, the C header of `carom-capi`.
    Capi(capi::Args),
    /// Check the answers of every law to tame and hostile random problems, or print the problems.
    Corpus(corpus::Args),
    /// Give random input to the commands and the crates below them for some time.
    Fuzz(fuzz::Args),
    /// Show every figure of the papers, and what is beyond them, on one offline page.
    Gallery(gallery::Args),
    /// Write the header with which a documentation host shows formulas.
    Header,
    /// Count the constants of the library and its comparisons with bare numbers; neither may grow.
    Knobs(knobs::Args),
    /// Check, or write, the words of the book that `carom list` knows.
    Book(book::Args),
    /// Check, or write, the page of the book that lists the laws.
    Laws(laws::Args),
    /// Check that dependencies between the crates point down the levels, and count circles of files.
    Layers,
    /// Print the release notes of a version: its section of the changelog.
    Notes(notes::Args),
    /// Check that the version of the numbers moves exactly when golden numbers move.
    Numerics(numerics::Args),
    /// Check how many packages the core brings along.
    Packages,
    /// Check what is published: every README's example and the formulas of the documentation.
    Packed(packed::Args),
    /// Check that the law of `CONTRIBUTING.md` compiles, answers, is judged and is listed.
    Recipe,
    /// Write the page on which every outcome of an impact is computed in the browser (needs the target
    /// wasm32-unknown-unknown).
    Playground(playground::Args),
    /// Compare answers of this machine with those of WebAssembly and of an older processor, byte for byte.
    Portable(portable::Args),
    /// Run a sweep on threads, and on Slurm and Ray where they are installed: the bytes are the same.
    Runners(runners::Args),
    /// Solve the friction problems of a folder in Siconos' text format.
    Siconos(siconos::Args),
    /// Write the book, the gallery, the playground and the API into one folder, and check its links.
    Site(site::Args),
    /// Count code lines, long files and the bytes of golden records; each has a ceiling.
    Sizes(sizes::Args),
    /// Count public items and closed public types; each number has a ceiling.
    Surface(surface::Args),
    /// Check doc comments for markup that rustdoc eats, library code for panics, documents for
    /// links that lead nowhere, commands that do not exist, features and dependencies that stand in no
    /// table, comments for openers without a noun, the repository for leftovers of merges, subjects of
    /// commits for their length.
    Tidy,
    /// Check every scenario against its golden record and the papers' printed numbers.
    Verify(verify::Args),
}

fn main() -> anyhow::Result<()> {
    let root = workspace_root();
    match Command::parse() {
        Command::Bits(args) => finish("bits", &bits::bits(&root, &args)?),
        Command::Capi(args) => finish("capi", &capi::capi(&root, &args)?),
        Command::Corpus(args) => finish_corpus(&args),
        Command::Fuzz(args) => fuzz::fuzz(&root, &args),
        Command::Gallery(args) => gallery::gallery(&root, &args),
        Command::Knobs(args) => finish("knobs", &knobs::knobs(&root, &args)?),
        Command::Book(args) => finish("book", &book::book(&root, &args)?),
        Command::Laws(args) => finish("laws", &laws::laws(&root, &args)?),
        Command::Layers => {
            let mut violations = layers::violations(&root)?;
            violations.extend(circles::violations(&root)?);
            finish("layers", &violations)
        }
        Command::Header => header::write(&root),
        Command::Notes(args) => notes::notes(&root, &args),
        Command::Numerics(args) => finish("numerics", &numerics::numerics(&root, &args)?),
        Command::Packages => finish("packages", &packages::violations(&root)?),
        Command::Packed(args) => finish("packed", &packed::packed(&root, &args)?),
        Command::Playground(args) => playground::playground(&root, &args),
        Command::Portable(args) => finish("portable", &portable::portable(&root, &args)?),
        Command::Recipe => finish("recipe", &recipe::recipe(&root)?),
        Command::Runners(args) => runners::runners(&root, &args),
        Command::Siconos(args) => siconos::siconos(&args),
        Command::Site(args) => site::site(&root, &args),
        Command::Sizes(args) => finish("sizes", &sizes::sizes(&root, &args)?),
        Command::Surface(args) => finish("surface", &surface::surface(&root, &args)?),
        Command::Verify(args) => verify::verify(&root, &args),
        Command::Tidy => {
            let mut violations = tidy::violations(&root)?;
            violations.extend(links::violations(&root)?);
            violations.extend(commands::violations(&root)?);
            violations.extend(header::violations(&root)?);
            violations.extend(leftovers::violations(&root)?);
            violations.extend(unit_tests::violations(&root)?);
            violations.extend(elementary::violations(&root)?);
            violations.extend(features::violations(&root)?);
            violations.extend(address::violations(&root)?);
            violations.extend(words::violations(&root)?);
            violations.extend(knobs::violations(&root)?);
            violations.extend(commits::violations(&root)?);
            violations.extend(notes::violations(&root)?);
            finish("tidy", &violations)
        }
    }
}

/// Runs `cargo xtask corpus`; lines that are only printed get no verdict.
fn finish_corpus(args: &corpus::Args) -> anyhow::Result<()> {
    let violations = corpus::corpus(args)?;
    if args.is_check() {
        finish("corpus", &violations)
    } else {
        Ok(())
    }
}

/// Returns the folder of the workspace's manifest.
fn workspace_root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Prints one line for each violation that the check `check` found. Returns an error if there is any.
fn finish(check: &str, violations: &[String]) -> anyhow::Result<()> {
    for violation in violations {
        eprintln!("{violation}");
    }
    anyhow::ensure!(
        violations.is_empty(),
        "{check}: violations found: {}",
        violations.len()
    );
    println!("{check}: ok");
    Ok(())
}
