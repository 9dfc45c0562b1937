//! Crates without unit tests are not built a second time for tests, and no unit test stands where it does not run.

use std::fs;
use std::path::Path;

use anyhow::Context;

/// Compares the tests in the sources of each library with `test` in the `[lib]` section of its manifest. Returns one line for
/// every library whose unit tests do not run, and for every one that is built for unit tests that it does not have.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut folders = Vec::new();
    for entry in fs::read_dir(root.join("crates")).context("reading crates/")? {
        folders.push(entry?.path());
    }
    folders.sort();
    for folder in folders.iter().filter(|f| f.join("src/lib.rs").exists()) {
        let path = folder.join("Cargo.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let mut files = Vec::new();
        crate::tidy::collect(&folder.join("src"), &mut files)?;
        let mut has_tests = false;
        for file in files {
            has_tests |= fs::read_to_string(file)?.contains("#[test]");
        }
        let manifest: toml::Table = text.parse()?;
        if let Some(fault) = fault(&manifest, has_tests) {
            lines.push(format!("{}: {fault}", path.display()));
        }
    }
    Ok(lines)
}

fn fault(manifest: &toml::Table, has_tests: bool) -> Option<&'static str> {
    let lib = manifest.get("lib").and_then(|lib| lib.get("test"));
    let runs = lib.and_then(toml::Value::as_bool).unwrap_or(true);
    match (runs, has_tests) {
        (false, true) => {
            Some("unit tests in src do not run: remove `test = false`, or move them to tests/")
        }
        (true, false) => Some("no unit tests in src: set `test = false` under [lib]"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_agrees_with_the_sources() {
        let [with, without] =
            ["[lib]\ntest = false", "[package]\nname = \"a\""].map(|text| text.parse().unwrap());
        assert!(fault(&with, true).is_some());
        assert!(fault(&with, false).is_none());
        assert!(fault(&without, true).is_none());
        assert!(fault(&without, false).is_some());
    }
}
