//! The address of the repository is what `Cargo.toml` says, wherever else it stands.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Checks the addresses of the repository in the READMEs and manifests. Returns one line for every address that differs from
/// the key `repository` of the workspace's `Cargo.toml`.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let address = repository(root)?;
    let mut lines = Vec::new();
    for document in documents(root)? {
        let Ok(text) = fs::read_to_string(root.join(&document)) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            if others(line, &address) {
                let document = document.display();
                lines.push(format!(
                    "{document}:{number}: not the `repository` of Cargo.toml, {address}"
                ));
            }
        }
    }
    Ok(lines)
}

/// Returns the address of the repository: the key `repository` of the workspace's `Cargo.toml`.
pub(crate) fn repository(root: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(root.join("Cargo.toml")).context("reading Cargo.toml")?;
    let manifest: toml::Table = text.parse()?;
    let package = manifest.get("workspace").and_then(|all| all.get("package"));
    let address = package.and_then(|package| package.get("repository"));
    Ok(address
        .and_then(toml::Value::as_str)
        .unwrap_or_default()
        .to_owned())
}

/// Returns the paths of the READMEs of all packages and of the Python package's manifests, relative to `root`.
fn documents(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut documents: Vec<PathBuf> = [
        "README.md",
        "python/README.md",
        "python/Cargo.toml",
        "python/pyproject.toml",
    ]
    .map(PathBuf::from)
    .into();
    for entry in fs::read_dir(root.join("crates")).context("reading crates/")? {
        documents.push(
            Path::new("crates")
                .join(entry?.file_name())
                .join("README.md"),
        );
    }
    documents.sort();
    Ok(documents)
}

/// True if a line contains the address of a repository called carom that does not begin with `address`.
fn others(line: &str, address: &str) -> bool {
    line.match_indices("https://").any(|(at, _)| {
        let rest = &line[at..];
        let end = rest.find(|c: char| c.is_whitespace() || ")\"<>".contains(c));
        let found = &rest[..end.unwrap_or(rest.len())];
        let mut parts = found.split('/').skip(2);
        let is_host = parts.next().is_some_and(|host| host.starts_with("git"));
        is_host && parts.nth(1) == Some("carom") && !found.starts_with(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_address_is_told_from_links_elsewhere() {
        let address = "https://github.com/a/carom";
        assert!(others("[carom](https://github.com/b/carom) x", address));
        assert!(others(
            "Repository = \"https://gitlab.com/a/carom\"",
            address
        ));
        assert!(!others(
            "[doc](https://github.com/a/carom/blob/main/x.md)",
            address
        ));
        assert!(!others("[faer](https://github.com/b/faer-rs)", address));
    }

    #[test]
    fn the_address_of_the_repository_is_one() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
