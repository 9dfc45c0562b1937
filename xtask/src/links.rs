//! Links of the book and the root documents: every file and every anchor that they name is there.
//!
//! Only what lies in the repository is checked; nothing is fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;

/// Documents beside the book.
const ROOT_DOCUMENTS: [&str; 4] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
];

/// Folder of the book's chapters.
const BOOK: &str = "docs/src";

/// Reads the chapters of the book. Returns their texts by the paths relative to `root`.
pub(crate) fn chapters(root: &Path) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let book = root.join(BOOK);
    let mut chapters = BTreeMap::new();
    for entry in fs::read_dir(&book).with_context(|| format!("reading {}", book.display()))? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".md") {
            let chapter = Path::new(BOOK).join(&*name);
            chapters.insert(chapter.clone(), text(root, &chapter)?);
        }
    }
    Ok(chapters)
}

fn text(root: &Path, document: &Path) -> anyhow::Result<String> {
    let path = root.join(document);
    fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
}

/// Reads the chapters of the book and the other documents of the repository. Returns their texts by the paths relative to
/// `root`.
pub(crate) fn documents(root: &Path) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let mut texts = chapters(root)?;
    for document in ROOT_DOCUMENTS {
        let document = PathBuf::from(document);
        texts.insert(document.clone(), text(root, &document)?);
    }
    Ok(texts)
}

/// Checks the links in the documents. Returns one line for every link to a missing file or heading, and for every chapter that
/// the book's summary lacks.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let chapters = chapters(root)?;
    let texts = documents(root)?;
    let mut lines = Vec::new();
    let mut summarized = BTreeSet::new();
    for (document, text) in &texts {
        let folder = document.parent().unwrap_or(Path::new(""));
        for (line, target) in links(text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if path.is_empty() {
                document.clone()
            } else {
                normalized(&folder.join(path))
            };
            if document.ends_with("SUMMARY.md") {
                summarized.insert(path.clone());
            }
            let label = document.display().to_string().replace('\\', "/");
            if !root.join(&path).exists() {
                lines.push(format!("{label}:{line}: no file `{target}`"));
            } else if let (Some(text), false) = (texts.get(&path), anchor.is_empty())
                && !anchors(text).contains(anchor)
            {
                lines.push(format!("{label}:{line}: no heading `{target}`"));
            }
        }
    }
    let left_out = chapters
        .keys()
        .filter(|chapter| !chapter.ends_with("SUMMARY.md") && !summarized.contains(*chapter));
    lines.extend(left_out.map(|chapter| format!("{}: not in the summary", chapter.display())));
    Ok(lines)
}

/// Simplifies a path by resolving the components `.` and `..`, without access to the file system.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}

/// Returns the lines of a Markdown text outside fenced code, each with its line number. Code spans and formulas are removed.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let spans = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            let formulas = spans.split('$').step_by(2).collect::<Vec<_>>().join("$$");
            lines.push((number, formulas));
        }
    }
    lines
}

/// Returns the targets of the inline links and images in a Markdown text, each with its line number.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for part in line.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                let target = target.split_whitespace().next().unwrap_or_default();
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// Returns the anchors of all headings of a Markdown text, as code forges generate them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if fenced || !line.starts_with('#') || !title.starts_with(' ') {
            continue;
        }
        anchors.insert(crate::site::slug(title));
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_outside_code() {
        let text = "A [b](c.md#d \"e\") and ![f](g.svg), `[h](i)`.\n```\n[j](k)\n```\n$x[l](m)$\n";
        let found: Vec<String> = links(text).into_iter().map(|(_, target)| target).collect();
        assert_eq!(found, ["c.md#d", "g.svg"]);
    }

    #[test]
    fn anchors_are_those_of_the_headings() {
        let found = anchors("# Loops or faer\n## What `carom` is, in short\n```\n# no\n```\n#no\n");
        let expected = ["loops-or-faer", "what-carom-is-in-short"].map(str::to_owned);
        assert_eq!(found, BTreeSet::from(expected));
    }

    #[test]
    fn paths_go_up_and_down() {
        let path = normalized(Path::new("docs/src/../../README.md"));
        assert_eq!(path, Path::new("README.md"));
    }

    #[test]
    fn every_link_of_the_documents_leads_somewhere() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
