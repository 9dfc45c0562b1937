//! Checks and chores of the workspace: `cargo xtask --help`.

mod engines;
mod gallery;
mod golden;
mod layers;
mod links;
mod tidy;
mod verify;

use std::path::{Path, PathBuf};

use clap::Parser;

/// Checks and chores of the carom workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Command {
    /// Show every figure of the papers, and what is beyond them, on one offline page.
    Gallery(gallery::Args),
    /// Check that dependencies between the crates point down the levels.
    Layers,
    /// Check doc comments for markup that rustdoc eats, library code for panics, documents for
    /// links that lead nowhere.
    Tidy,
    /// Check every scenario against its golden record and the papers' printed numbers.
    Verify(verify::Args),
}

fn main() -> anyhow::Result<()> {
    let root = workspace_root();
    match Command::parse() {
        Command::Gallery(args) => gallery::gallery(&root, &args),
        Command::Layers => finish("layers", &layers::violations(&root)?),
        Command::Verify(args) => verify::verify(&root, &args),
        Command::Tidy => {
            let mut violations = tidy::violations(&root)?;
            violations.extend(links::violations(&root)?);
            finish("tidy", &violations)
        }
    }
}

/// Folder of the workspace manifest.
fn workspace_root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Prints one line per violation; any violation is an error.
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
