//! Features and dependencies stand in the documents as they stand in the manifests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;

/// Names of dependencies that the workspace's own crates have.
const OWN: &str = "carom";

/// Compares the features and dependencies of all crates with the documentation. Returns one line for every feature that a table
/// of `CONTRIBUTING.md` or of the crate `carom` lacks or has in excess, and for every dependency that `ARCHITECTURE.md` does
/// not name.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
    };
    let mut features = BTreeSet::new();
    let mut dependencies = BTreeSet::new();
    let crates = fs::read_dir(root.join("crates")).context("reading crates/")?;
    let mut folders = vec![root.join("benches")];
    for entry in crates {
        folders.push(entry?.path());
    }
    for folder in folders {
        let manifest: toml::Table = read(&folder.join("Cargo.toml"))?.parse()?;
        let name = manifest.get("package").and_then(|p| p.get("name"));
        let name = name.and_then(toml::Value::as_str).unwrap_or_default();
        let keys = |table: &str| {
            let table = manifest.get(table).and_then(toml::Value::as_table);
            table.map_or_else(Vec::new, |table| table.keys().cloned().collect())
        };
        let named = keys("features").into_iter().filter(|f| f != "default");
        features.extend(named.map(|feature| (feature, name.to_owned())));
        dependencies.extend(keys("dependencies"));
    }
    dependencies.retain(|name| !name.starts_with(OWN));

    let contributing = read(&root.join("CONTRIBUTING.md"))?;
    let table = rows(section(&contributing, "Features"));
    let stated: BTreeSet<_> = table
        .iter()
        .flat_map(|[names, places]| {
            let places = spans(places);
            let pairs = |name: String| places.clone().into_iter().map(move |p| (name.clone(), p));
            spans(names).into_iter().flat_map(pairs).collect::<Vec<_>>()
        })
        .collect();
    let mut lines = differences("CONTRIBUTING.md", &features, &stated);

    let facade = read(&root.join("crates/carom/src/lib.rs"))?.replace("//! ", "");
    let stated = rows(
        facade
            .split("| feature | adds |")
            .nth(1)
            .unwrap_or_default(),
    );
    let stated: BTreeSet<_> = stated
        .iter()
        .flat_map(|[names, _]| spans(names))
        .map(|name| (name, OWN.to_owned()))
        .collect();
    let of_facade = features.into_iter().filter(|(_, place)| place == OWN);
    lines.extend(differences(
        "crates/carom/src/lib.rs",
        &of_facade.collect(),
        &stated,
    ));

    let architecture = read(&root.join("ARCHITECTURE.md"))?;
    let known: BTreeSet<&str> = section(&architecture, "Dependencies")
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
        .collect();
    let missing = dependencies
        .iter()
        .filter(|name| !known.contains(name.as_str()));
    lines.extend(
        missing.map(|name| format!("ARCHITECTURE.md: the dependency `{name}` is not named")),
    );
    Ok(lines)
}

type Pairs = BTreeSet<(String, String)>;

fn differences(document: &str, found: &Pairs, stated: &Pairs) -> Vec<String> {
    let missing = found.difference(stated);
    let missing = missing.map(|(f, place)| format!("{document}: no feature `{f}` of {place}"));
    let invented = stated.difference(found);
    let invented = invented.map(|(f, place)| format!("{document}: {place} has no feature `{f}`"));
    missing.chain(invented).collect()
}

/// Returns the text of the chapter with this title in a Markdown document; empty if the chapter does not exist.
fn section<'t>(text: &'t str, title: &str) -> &'t str {
    let start = format!("\n## {title}\n");
    let rest = text.split_once(&start).map_or("", |(_, rest)| rest);
    rest.split("\n## ").next().unwrap_or_default()
}

/// Returns the first two cells of each row of a Markdown table, without the header row.
fn rows(text: &str) -> Vec<[&str; 2]> {
    let lines = text.lines().skip_while(|line| !line.starts_with("| `"));
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let mut cells = row.split('|').skip(1);
        Some([cells.next()?, cells.next()?])
    })
    .collect()
}

/// Returns the contents of all code spans (text between backticks) in a Markdown text.
fn spans(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_and_dependencies_stand_in_the_documents() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }

    #[test]
    fn a_feature_that_is_missing_and_one_that_is_invented_are_told() {
        let pair = |feature: &str| (feature.to_owned(), "carom".to_owned());
        let found = [pair("serde"), pair("bounds")].into();
        let stated = [pair("serde"), pair("faer")].into();
        let lines = differences("T", &found, &stated);
        assert_eq!(
            lines,
            [
                "T: no feature `bounds` of carom",
                "T: carom has no feature `faer`"
            ]
        );
    }
}
