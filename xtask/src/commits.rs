//! Subjects of the commits since a base: short, and finished work.

use anyhow::Context as _;
use serde::Deserialize;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The base, from the workspace's root.
const FILE: &str = "xtask/data/commits.toml";

/// Largest number of characters of a subject.
const LONGEST: usize = 72;

/// Commits that are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Last commit that is not checked.
    base: String,
}

/// Checks the subjects of the commits between the base and the present one. Returns one line for every subject that is too long
/// or says that the work is unfinished. Without a history, as in a shallow clone or a source archive, nothing is checked.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("reading {FILE}"))?;
    let rules: Rules = toml::from_str(&text).context(FILE)?;
    let range = format!("{}..HEAD", rules.base);
    let log = Command::new("git")
        .current_dir(root)
        .args(["log", "--no-merges", "--format=%h %s", &range])
        .output();
    let Some(log) = log.ok().filter(|log| log.status.success()) else {
        println!(
            "commits: skipped, the history does not reach back to {}",
            rules.base
        );
        return Ok(Vec::new());
    };
    let log = String::from_utf8(log.stdout).context("a subject is not text")?;
    Ok(log.lines().filter_map(fault).collect())
}

/// Returns the fault of a commit, given as its abbreviated hash and its subject.
fn fault(line: &str) -> Option<String> {
    let (hash, subject) = line.split_once(' ').unwrap_or((line, ""));
    let length = subject.chars().count();
    let is_word = |word: &str| word.eq_ignore_ascii_case("wip");
    if subject.split(|c: char| !c.is_alphanumeric()).any(is_word) {
        return Some(format!(
            "commit {hash}: \"{subject}\" says that it is unfinished"
        ));
    }
    (length > LONGEST || length == 0).then(|| {
        format!("commit {hash}: a subject of {length} characters, not 1 to {LONGEST}: {subject}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_unfinished_subjects_are_found() {
        assert!(fault("abc lcp: break ties lexicographically").is_none());
        assert!(fault("abc ").is_some_and(|fault| fault.contains("0 characters")));
        assert!(fault(&format!("abc {}", "x".repeat(LONGEST))).is_none());
        assert!(fault(&format!("abc {}", "x".repeat(LONGEST + 1))).is_some());
        assert!(fault("abc WIP: cones").is_some());
        assert!(fault("abc wipe the table").is_none());
    }
}
