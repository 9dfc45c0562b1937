//! `cargo xtask packages`: how many packages one gets who depends on the core.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

/// A crate without default features, and the most packages it may bring, itself included.
const LIMITS: [(&str, usize); 2] = [("carom", 30), ("carom-impact", 25)];

/// Counts the packages that each crate with a limit needs. Returns one line for every crate that exceeds its limit.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for (name, most) in LIMITS {
        let found = packages(root, name)?;
        println!("{name}: {} packages of at most {most}", found.len());
        if found.len() > most {
            let names: Vec<String> = found.into_iter().collect();
            lines.push(format!(
                "{name} needs more than {most}: {}",
                names.join(", ")
            ));
        }
    }
    Ok(lines)
}

/// Returns names and versions of all packages that the crate `name` needs at run time, including indirect dependencies.
fn packages(root: &Path, name: &str) -> anyhow::Result<BTreeSet<String>> {
    let output = Command::new("cargo")
        .current_dir(root)
        .args(["tree", "--edges", "normal", "--prefix", "none"])
        .args(["--no-default-features", "--package", name])
        .output()
        .context("cargo cannot be run")?;
    ensure!(
        output.status.success(),
        "cargo tree: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(package).collect())
}

/// Returns the name and the version in a line of the output of `cargo tree`, without the remarks after them: a path,
/// `(proc-macro)` or `(*)`.
fn package(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_counts_once() {
        let name = Some("syn v3.0.9".to_owned());
        assert_eq!(package("syn v3.0.9"), name);
        assert_eq!(package("syn v3.0.9 (*)"), name);
        assert_eq!(package(""), None);
    }

    #[test]
    fn the_core_stays_small() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
