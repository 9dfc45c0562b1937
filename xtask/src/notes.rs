//! `cargo xtask notes VERSION`: the release notes of a version, which are its section of `CHANGELOG.md`.

use anyhow::{Context as _, ensure};
use std::fs;
use std::path::Path;

/// Flags of `cargo xtask notes`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Version as it is tagged (`v0.1.0` or `0.1.0`), or `Unreleased`.
    version: String,
}

/// The changelog, from the workspace's root.
const FILE: &str = "CHANGELOG.md";

/// Heading of changes that are in no release yet.
const UNRELEASED: &str = "Unreleased";

/// Largest number of characters of release notes. A code host refuses more than 125,000.
const LONGEST: usize = 60_000;

/// Largest number of words of a section: one page.
const MOST_WORDS: usize = 1500;

/// Prints the section of a version.
pub(crate) fn notes(root: &Path, args: &Args) -> anyhow::Result<()> {
    let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("reading {FILE}"))?;
    let version = args.version.trim_start_matches('v');
    // After a release there may be nothing new yet.
    let may_be_empty = version == UNRELEASED;
    let section = section(&text, version)
        .or(may_be_empty.then_some(""))
        .with_context(|| format!("{FILE} has no section `## {version}`"))?;
    let length = section.chars().count();
    ensure!(
        (length > 0 || may_be_empty) && length <= LONGEST,
        "release notes of {length} characters, not 1 to {LONGEST}"
    );
    println!("{section}");
    Ok(())
}

/// Checks the sections of the changelog. Returns one line for each that is longer than a page.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("reading {FILE}"))?;
    let titles = text.lines().filter_map(|line| line.strip_prefix("## "));
    let too_long = titles.filter_map(|title| {
        let words = section(&text, version(title))?.split_whitespace().count();
        (words > MOST_WORDS)
            .then(|| format!("{FILE}: {words} words below `{title}`, more than {MOST_WORDS}"))
    });
    Ok(too_long.collect())
}

/// Returns the text below the heading of a version, without the heading.
fn section<'t>(text: &'t str, wanted: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once('\n').filter(|_| text.starts_with("# "))?;
    let mut sections = rest.split("\n## ").skip(1);
    sections.find_map(|section| {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        (version(title) == wanted).then(|| body.trim())
    })
}

/// Reads the version of a heading such as `[0.1.0] - 2027-01-31`.
fn version(title: &str) -> &str {
    let word = title.split_whitespace().next().unwrap_or_default();
    word.trim_matches(['[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_cut_out() {
        let text = "# Changelog\n\nAll of it.\n\n## Unreleased\n\nnew\n\n## [0.1.0] - 2027-01-31\n\n### carom\n\nold\n";
        assert_eq!(section(text, "Unreleased"), Some("new"));
        assert_eq!(section(text, "0.1.0"), Some("### carom\n\nold"));
        assert_eq!(section(text, "0.2.0"), None);
    }

    #[test]
    fn every_section_of_the_changelog_is_a_page() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
