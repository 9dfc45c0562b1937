//! `cargo xtask layers`: dependencies between the crates point strictly down the levels.
//!
//! The check reads manifests, not code, so that an upward arrow is refused before anything uses
//! it. Development dependencies count too: a doc example that needs a higher crate belongs there.
//! Packages outside `crates/` (this one, the benchmarks) may depend on anything, and nothing in
//! `crates/` on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use toml::{Table, Value};

/// Every crate with its level.
const LEVELS: &[(&str, u8)] = &[
    ("carom-numeric", 0),
    ("carom-metric", 0),
    ("carom-lie", 0),
    ("carom-lcp", 0),
    ("carom-geometry", 1),
    ("carom-two-body", 1),
    ("carom-contact", 1),
    ("carom-impact", 1),
    ("carom-derivative", 2),
    ("carom-judge", 2),
    ("carom-mechanism", 1),
    ("carom-variational", 2),
    ("carom-joints", 2),
    ("carom-motion", 2),
    ("carom-world", 2),
    ("carom-analyse", 3),
    ("carom-fit", 3),
    ("carom-report", 3),
    ("carom-scenarios", 3),
    ("carom-wire", 3),
    ("carom", 4),
    ("carom-sweep", 4),
    ("carom-cli", 4),
    ("carom-fmi", 4),
    ("carom-capi", 4),
];

/// Arrows within one level: the binary may use the facade, scenarios the data
/// that they report, motion the flights, worlds the driver of runs, everything the numerical tools.
const SIDEWAYS: [(&str, &str); 21] = [
    ("carom-cli", "carom"),
    ("carom-cli", "carom-sweep"),
    ("carom-cli", "carom-fmi"),
    ("carom-capi", "carom-fmi"),
    ("carom-scenarios", "carom-report"),
    ("carom-scenarios", "carom-fit"),
    ("carom-scenarios", "carom-analyse"),
    ("carom-fit", "carom-report"),
    ("carom-fit", "carom-wire"),
    ("carom-metric", "carom-numeric"),
    ("carom-lie", "carom-numeric"),
    ("carom-lcp", "carom-numeric"),
    ("carom-contact", "carom-two-body"),
    ("carom-impact", "carom-two-body"),
    ("carom-impact", "carom-contact"),
    ("carom-motion", "carom-derivative"),
    ("carom-motion", "carom-variational"),
    ("carom-world", "carom-variational"),
    ("carom-world", "carom-joints"),
    ("carom-world", "carom-motion"),
    ("carom-joints", "carom-variational"),
];

/// Packages outside `crates/`, on which no crate may depend.
const TOOLS: [&str; 2] = ["xtask", "carom-benches"];

/// The lowest level whose `[dependencies]` may name a package of [`UPPER_PACKAGES`].
const UPPER_LEVEL: u8 = 3;

/// Files, random numbers, threads, arguments and plots stay out of the mechanics. The name covers
/// the family: `serde` also stands for `serde_json`.
const UPPER_PACKAGES: [&str; 5] = ["clap", "plotters", "rand", "rayon", "serde"];

/// Packages that a feature of any crate may add: derives, and the caller's threads for independent runs.
const FEATURES: [&str; 2] = ["serde", "rayon"];

/// Checks the dependencies between the crates in `root/crates`. Each crate has a level and may depend only on lower levels.
/// Returns one line for every forbidden dependency.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let workspace = read_manifest(&root.join("Cargo.toml"))?;
    let crates = root.join("crates");
    let mut manifests = BTreeMap::new();
    for entry in fs::read_dir(&crates).with_context(|| format!("reading {}", crates.display()))? {
        let path = entry?.path().join("Cargo.toml");
        if path.is_file() {
            let label = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .display()
                .to_string();
            manifests.insert(label.replace('\\', "/"), read_manifest(&path)?);
        }
    }
    ensure!(!manifests.is_empty(), "no manifest in {}", crates.display());
    Ok(manifests
        .iter()
        .flat_map(|(label, manifest)| check(label, manifest, &workspace))
        .collect())
}

fn read_manifest(path: &Path) -> anyhow::Result<Table> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    text.parse()
        .with_context(|| format!("parsing {}", path.display()))
}

/// Checks the dependencies in one crate's manifest. Returns one line for every forbidden one. `label` is the path of the
/// manifest for messages.
fn check(label: &str, manifest: &Table, workspace: &Table) -> Vec<String> {
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    let Some(name) = name.and_then(Value::as_str) else {
        return vec![format!("{label}: no package name")];
    };
    let Some(level) = level_of(name) else {
        return vec![format!(
            "{label}: {name} has no level; add it to xtask/src/layers.rs"
        )];
    };
    let mut lines = Vec::new();
    for (section, dependency, is_optional) in dependencies(manifest, workspace) {
        if is_optional && FEATURES.contains(&dependency.as_str()) {
            continue;
        }
        if let Some(problem) = problem(name, level, &section, &dependency) {
            lines.push(format!(
                "{label}: [{section}] {name} -> {dependency}: {problem}"
            ));
        }
    }
    lines
}

fn level_of(name: &str) -> Option<u8> {
    LEVELS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, level)| level)
}

/// Returns the reason why the crate `name` of level `level` may not depend on the package `dependency`; `None` if the
/// dependency is allowed. `section` is the section of the manifest.
fn problem(name: &str, level: u8, section: &str, dependency: &str) -> Option<String> {
    if let Some(below) = level_of(dependency) {
        let is_allowed = below < level || SIDEWAYS.contains(&(name, dependency));
        return (!is_allowed).then(|| {
            format!("level {level} may depend only on lower levels, and this is level {below}")
        });
    }
    if TOOLS.contains(&dependency) {
        return Some("no crate may depend on the workspace's own tools".to_owned());
    }
    if dependency == "carom" || dependency.starts_with("carom-") {
        return Some("this crate has no level".to_owned());
    }
    let is_upper = UPPER_PACKAGES.iter().any(|upper| {
        dependency
            .strip_prefix(upper)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-']))
    });
    let is_for_tests = section.ends_with("dev-dependencies");
    (is_upper && level < UPPER_LEVEL && !is_for_tests)
        .then(|| format!("allowed from level {UPPER_LEVEL} up, and {name} is level {level}"))
}

/// Returns all dependencies in a manifest, including those for single platforms. Each entry holds the section, the name of the
/// package, and true if only a feature adds the dependency.
fn dependencies(manifest: &Table, workspace: &Table) -> Vec<(String, String, bool)> {
    let mut tables = vec![(String::new(), manifest)];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        for (target, table) in targets {
            tables.extend(
                table
                    .as_table()
                    .map(|table| (format!("target.{target}."), table)),
            );
        }
    }
    let mut found = Vec::new();
    for (prefix, table) in tables {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (key, value) in table
                .get(section)
                .and_then(Value::as_table)
                .into_iter()
                .flatten()
            {
                found.push((
                    format!("{prefix}{section}"),
                    package_name(key, value, workspace),
                    value.get("optional").and_then(Value::as_bool) == Some(true),
                ));
            }
        }
    }
    found
}

/// Returns the published name of a dependency, even if the manifest renames the package. `key` and `value` are the dependency's
/// entry in the manifest.
fn package_name(key: &str, value: &Value, workspace: &Table) -> String {
    let is_inherited = value.get("workspace").and_then(Value::as_bool) == Some(true);
    let inherited = || workspace.get("workspace")?.get("dependencies")?.get(key);
    let source = if is_inherited {
        inherited().unwrap_or(value)
    } else {
        value
    };
    source
        .get("package")
        .and_then(Value::as_str)
        .unwrap_or(key)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Violations of one manifest, under a workspace that renames `random` and `top`.
    fn lines(manifest: &str) -> Vec<String> {
        let workspace = r#"
            [workspace.dependencies]
            carom-lie = { path = "crates/carom-lie" }
            random = { package = "rand", version = "0.9" }
            top = { package = "carom", path = "crates/carom" }
        "#;
        check(
            "Cargo.toml",
            &manifest.parse().unwrap(),
            &workspace.parse().unwrap(),
        )
    }

    #[test]
    fn a_downward_arrow_passes() {
        let manifest = r#"
            package.name = "carom-geometry"
            dependencies.carom-lie.workspace = true
            dependencies.nalgebra = "0.34"
        "#;
        assert_eq!(lines(manifest), [""; 0]);
    }

    #[test]
    fn an_upward_arrow_is_refused() {
        let manifest = r#"
            package.name = "carom-lie"
            dependencies.carom-geometry.path = "../carom-geometry"
        "#;
        let expected = "Cargo.toml: [dependencies] carom-lie -> carom-geometry: \
                        level 0 may depend only on lower levels, and this is level 1";
        assert_eq!(lines(manifest), [expected]);
    }

    #[test]
    fn an_arrow_within_a_level_is_refused() {
        let manifest = r#"
            package.name = "carom-impact"
            dependencies.carom-geometry.path = "../carom-geometry"
        "#;
        assert_eq!(lines(manifest).len(), 1);
    }

    #[test]
    fn the_binary_may_use_the_facade_but_not_the_other_way_round() {
        let down = r#"
            package.name = "carom-cli"
            dependencies.carom.path = "../carom"
            dependencies.carom-scenarios.path = "../carom-scenarios"
            dependencies.clap = "4"
        "#;
        let up = r#"
            package.name = "carom"
            dependencies.carom-cli.path = "../carom-cli"
        "#;
        assert_eq!(lines(down), [""; 0]);
        assert_eq!(lines(up).len(), 1);
    }

    #[test]
    fn tests_builds_and_platforms_are_no_way_around() {
        let manifest = r#"
            package.name = "carom-metric"
            dev-dependencies.carom.path = "../carom"
            build-dependencies.carom.path = "../carom"
            target."cfg(unix)".dependencies.carom.path = "../carom"
        "#;
        assert_eq!(lines(manifest).len(), 3);
    }

    #[test]
    fn a_renamed_package_keeps_its_level() {
        let manifest = r#"
            package.name = "carom-lcp"
            dependencies.top.workspace = true
            dependencies.random.workspace = true
            dependencies.facade = { package = "carom", path = "../carom" }
        "#;
        assert_eq!(lines(manifest).len(), 3);
    }

    #[test]
    fn files_random_numbers_and_threads_stay_above_the_mechanics() {
        let manifest = |name: &str| {
            format!(
                r#"
                package.name = "{name}"
                dependencies.serde = "1"
                dependencies.serde_json = "1"
                dependencies.rand = "0.9"
                dependencies.rand_chacha = "0.9"
                dependencies.rayon = "1"
                dev-dependencies.rand = "0.9"
                "#
            )
        };
        assert_eq!(lines(&manifest("carom-variational")).len(), 5);
        assert_eq!(lines(&manifest("carom-impact")).len(), 5);
        assert_eq!(lines(&manifest("carom-scenarios")), [""; 0]);
    }

    #[test]
    fn a_feature_may_add_derives_and_threads_but_no_files() {
        let manifest = r#"
            package.name = "carom-impact"
            dependencies.serde = { version = "1", optional = true }
            dependencies.rayon = { workspace = true, optional = true }
            dependencies.serde_json = { version = "1", optional = true }
        "#;
        assert_eq!(lines(manifest).len(), 1);
    }

    #[test]
    fn a_crate_without_a_level_is_refused() {
        assert_eq!(lines(r#"package.name = "carom-extra""#).len(), 1);
        let manifest = r#"
            package.name = "carom-cli"
            dependencies.carom-extra.path = "../carom-extra"
            dependencies.xtask.path = "../../xtask"
        "#;
        assert_eq!(lines(manifest).len(), 2);
    }

    #[test]
    fn the_workspace_points_down() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
