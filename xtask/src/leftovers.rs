//! Files that a merge or an editor left behind.

use anyhow::Context;
use std::path::Path;
use std::process::Command;

/// Endings of files that no one names: what a merge, a patch and an editor leave.
const ENDINGS: [&str; 5] = [".orig", ".rej", ".bak", ".swp", "~"];

/// One line for every leftover among the files that Git tracks.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    if !root.join(".git").exists() {
        return Ok(Vec::new());
    }
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .context("running git ls-files")?;
    anyhow::ensure!(output.status.success(), "git ls-files failed");
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let left = names.split('\0').filter(|name| is_leftover(name));
    Ok(left
        .map(|name| format!("{name}: a leftover of a merge or an editor; remove it"))
        .collect())
}

fn is_leftover(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_told_from_sources() {
        for name in [
            "src/step.rs.orig",
            "a.rej",
            "b.toml.bak",
            "notes~",
            ".x.swp",
        ] {
            assert!(is_leftover(name), "{name}");
        }
        for name in ["src/origin.rs", "docs/orig", "data/x.csv"] {
            assert!(!is_leftover(name), "{name}");
        }
    }

    #[test]
    fn no_leftover_is_tracked() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
