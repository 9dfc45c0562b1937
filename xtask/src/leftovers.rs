//! Files that a merge or an editor left behind, and links out of the repository.

use anyhow::Context;
use std::path::Path;
use std::process::Command;

/// Endings of files that no one names: what a merge, a patch and an editor leave.
const ENDINGS: [&str; 5] = [".orig", ".rej", ".bak", ".swp", "~"];

/// Checks the files that Git tracks. Returns one line for every leftover of a merge or an editor, and for every symbolic link
/// with an absolute or missing target.
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
    let fault = |name: &str| {
        if is_leftover(name) {
            return Some("a leftover of a merge or an editor; remove it");
        }
        let path = root.join(name);
        let target = std::fs::read_link(&path).ok()?;
        let leads_out = target.is_absolute() || !path.exists();
        leads_out.then_some("a link that leads out of the repository, or nowhere")
    };
    let faults = names.split('\0').filter(|name| !name.is_empty());
    Ok(faults
        .filter_map(|name| Some(format!("{name}: {}", fault(name)?)))
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
