//! The lint that keeps the platform's elementary functions out of answers: every crate asks for it.

use anyhow::Context;
use std::path::Path;

/// The line of `lib.rs`; `clippy.toml` names the functions.
const LINE: &str = "#![cfg_attr(not(test), warn(clippy::disallowed_methods))]";

/// Crates whose digits are read by nobody: they draw.
const EXEMPT: [&str; 1] = ["carom-report"];

/// One line for every crate without the lint.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut out = Vec::new();
    let folder = root.join("crates");
    let mut crates: Vec<_> = std::fs::read_dir(&folder)
        .with_context(|| format!("reading {}", folder.display()))?
        .collect::<Result<_, _>>()?;
    crates.sort_by_key(std::fs::DirEntry::file_name);
    for entry in crates {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path().join("src/lib.rs");
        if EXEMPT.contains(&name.as_str()) || !path.exists() {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}", path.display()))?;
        out.extend(
            missing(&text).map(|fault| format!("crates/{name}/src/lib.rs: {fault} `{LINE}`")),
        );
    }
    let rules = root.join("clippy.toml");
    let rules = std::fs::read_to_string(&rules).context("reading clippy.toml")?;
    for method in ["sin", "hypot", "powi"] {
        if !rules.contains(&format!("\"f64::{method}\"")) {
            out.push(format!("clippy.toml: `f64::{method}` is allowed"));
        }
    }
    Ok(out)
}

/// The fault of a crate's root.
fn missing(text: &str) -> Option<&'static str> {
    (!text.lines().any(|line| line == LINE)).then_some("answers may depend on the platform without")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_without_the_lint_is_named() {
        assert!(missing("//! A crate.\n\nmod a;\n").is_some());
        assert!(missing(&format!("//! A crate.\n\n{LINE}\nmod a;\n")).is_none());
    }

    #[test]
    fn every_crate_asks_for_the_lint() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(violations(&root).unwrap(), Vec::<String>::new());
    }
}
