//! `cargo xtask gallery`: every figure of the papers, and what is beyond them, on one offline page.

mod catalog;
mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::playground;
use anyhow::{Context as _, ensure};
use carom_scenarios::published::published;
use carom_scenarios::{Overrides, Record, SCENARIOS, ScenarioError};

/// Flags of `cargo xtask gallery`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder for the page and its figures.
    #[arg(long, value_name = "DIR", default_value = "out/gallery")]
    out: PathBuf,
    /// Then open the page in a headless browser and try it (needs `npm ci` in xtask/browser).
    #[arg(long)]
    check: bool,
}

pub(crate) fn gallery(root: &Path, args: &Args) -> anyhow::Result<()> {
    let link = if playground::beside(root, &args.out, playground::PAGE, None)? {
        format!(
            "<p><a href=\"{}\"><b>Playground</b>: drag three balls, a box or a penny and see every outcome that mechanics \
             allows, computed by carom in this page.</a></p>\n",
            playground::PAGE
        )
    } else {
        println!("playground: {}", playground::SKIPPED);
        String::new()
    };
    write_to(&args.out, &link)?;
    if args.check {
        check(root, &args.out)?;
    }
    Ok(())
}

/// Runs all scenarios and writes the gallery into the folder `out`. The first page begins with the HTML text `links`.
pub(crate) fn write_to(out: &Path, links: &str) -> anyhow::Result<()> {
    let records = run_all()?;
    let catalog = published()?;
    let faults = catalog::faults(catalog, &records, &members);
    for fault in &faults {
        eprintln!("{fault}");
    }
    ensure!(
        faults.is_empty(),
        "gallery: faults of the catalog: {}",
        faults.len()
    );
    let files = page::files(catalog, &records, links)?;
    write(out, &files)?;
    let weight: usize = files.iter().map(|(_, text)| text.len()).sum();
    println!(
        "{}: {} scenarios, {:.1} MB",
        out.join("index.html").display(),
        records.len(),
        weight as f64 / 1e6
    );
    for line in catalog::not_yet(catalog, &records, &members) {
        println!("not yet: {line}");
    }
    Ok(())
}

/// Reads the stored records of all scenarios; missing ones are omitted, since `cargo xtask verify` reports them.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
fn golden() -> Vec<Record> {
    let folder = crate::workspace_root().join("golden");
    let paths = SCENARIOS
        .iter()
        .map(|s| folder.join(format!("{}.json", s.name)));
    paths
        .filter(|path| path.exists())
        .map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

/// Returns the names of the scenarios that reproduce the paper of these authors.
fn members(authors: &str) -> BTreeSet<String> {
    let of_paper = SCENARIOS.iter().filter(|s| s.paper == authors);
    of_paper.map(|s| s.name.to_owned()).collect()
}

/// Runs every scenario with its default configuration and returns the records, in the order of the list of scenarios.
fn run_all() -> anyhow::Result<Vec<Record>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(scenario) = SCENARIOS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = scenario.run(&Overrides::default());
                    if let Ok(mut done) = done.lock() {
                        done.push((scenario.name, result));
                    }
                }
            });
        }
    });
    // A thread that panicked has ended the scope with its panic.
    let mut done: Vec<(&str, Result<Record, ScenarioError>)> =
        done.into_inner().unwrap_or_default();
    let place = |name: &str| SCENARIOS.iter().position(|s| s.name == name);
    done.sort_by_key(|(name, _)| place(name));
    let records = done
        .into_iter()
        .map(|(name, result)| result.with_context(|| name.to_owned()));
    records.collect()
}

/// Replaces the folder `out` by one with the given files (names and contents), so that no file of an older gallery remains.
fn write(out: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    let figures = out.join(page::FIGURES);
    if figures.exists() {
        std::fs::remove_dir_all(&figures)
            .with_context(|| format!("cannot empty {}", figures.display()))?;
    }
    std::fs::create_dir_all(&figures)
        .with_context(|| format!("cannot create {}", figures.display()))?;
    for (name, text) in files {
        let path = out.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Runs the test script for the gallery in the folder `out`, which opens its pages in a browser.
fn check(root: &Path, out: &Path) -> anyhow::Result<()> {
    let browser = root.join("xtask/browser");
    ensure!(
        browser.join("node_modules").exists(),
        "run `npm ci` in {} first",
        browser.display()
    );
    let status = Command::new("node")
        .arg(browser.join("check.mjs"))
        .arg(out)
        .status()
        .context("cannot start node")?;
    ensure!(status.success(), "gallery: the browser found faults");
    Ok(())
}
