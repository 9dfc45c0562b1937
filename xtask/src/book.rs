//! `cargo xtask book`: the words of the book that `carom list` knows, made from its chapters.

use anyhow::Context;
use carom_scenarios::book_words;
use std::fs;
use std::path::Path;

/// Flags of `cargo xtask book`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the words instead of comparing with them.
    #[arg(long)]
    bless: bool,
}

/// The words, from the workspace's root.
const WORDS: &str = "crates/carom-scenarios/src/search/book.txt";

/// Compares the words of the book with the stored ones. With the option `bless` they are stored first. Returns a line if they differ.
pub(crate) fn book(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let mut chapters = Vec::new();
    let folder = root.join("docs/src");
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|end| end == "md") && name != "SUMMARY" {
            chapters.push((name.into_owned(), fs::read_to_string(&path)?));
        }
    }
    chapters.sort();
    let fresh = book_words(&chapters);
    let path = root.join(WORDS);
    if args.bless {
        fs::write(&path, &fresh).with_context(|| format!("writing {}", path.display()))?;
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let is_same = stored.replace("\r\n", "\n") == fresh;
    let line = format!("{WORDS} has not the words of the book; run `cargo xtask book --bless`");
    Ok(if is_same { Vec::new() } else { vec![line] })
}
