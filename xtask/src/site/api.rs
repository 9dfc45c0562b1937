//! The documentation of the crates, with formulas that need nothing from outside of its folder.

use anyhow::{Context as _, ensure};
use carom_report::export::html::{self, escape};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Folders in which the header of the documentation looks for KaTeX, and the one that the site has.
const FOLDERS: [&str; 2] = [
    "[\"../../docs/src/katex/\", \"../../../docs/src/katex/\", \"katex/\"]",
    "[\"katex/\"]",
];

/// Documents the library crates into the folder `out`.
pub(super) fn write(root: &Path, out: &Path) -> anyhow::Result<()> {
    let target = root.join("target");
    // Pages of crates that are gone would be copied.
    let pages = target.join("doc");
    if pages.exists() {
        fs::remove_dir_all(&pages).with_context(|| format!("cannot empty {}", pages.display()))?;
    }
    let status = Command::new(crate::playground::cargo())
        .current_dir(root)
        .args(["doc", "--workspace", "--no-deps", "--quiet"])
        .args([
            "--exclude",
            "xtask",
            "--exclude",
            "carom-benches",
            "--target-dir",
        ])
        .arg(&target)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "site: the documentation does not build");
    super::copy(&pages, out)?;
    super::copy(&root.join("docs/src/katex"), &out.join("katex"))?;
    let found = adapt(out)?;
    ensure!(
        found > 0,
        "site: no page of the API has the header with the formulas"
    );
    fs::write(out.join("index.html"), index(root, out)?)
        .context("cannot write the index of the API")
}

/// Lets all pages below `folder` look for KaTeX in the site alone, and removes those that only lead on from a private path of an
/// item to its public one, to which nothing links. Returns the number of changed pages.
fn adapt(folder: &Path) -> anyhow::Result<usize> {
    let mut found = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found += adapt(&path)?;
        } else if is_page(&path) {
            let text = fs::read_to_string(&path)?;
            let [from, to] = FOLDERS;
            if text.contains("<meta http-equiv=\"refresh\"") {
                fs::remove_file(&path)?;
            } else if text.contains(from) {
                fs::write(&path, text.replace(from, to))?;
                found += 1;
            }
        }
    }
    Ok(found)
}

fn is_page(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "html")
}

/// Appends to the HTML text `body` links to all pages of source files below `folder`, whose path in the API is `path`.
fn sources(folder: &Path, path: &str, body: &mut String) -> anyhow::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            sources(&entry.path(), &name, body)?;
        } else if is_page(&entry.path()) {
            let shown = name.trim_start_matches("src/").trim_end_matches(".html");
            // Writing to a string cannot fail.
            let _ = writeln!(body, "<li><a href=\"{name}\">{shown}</a></li>");
        }
    }
    Ok(())
}

/// Writes the page that lists the documented crates.
fn index(root: &Path, out: &Path) -> anyhow::Result<String> {
    let mut body = "<p><a href=\"../index.html\">carom</a></p>\n<h1>API</h1>\n<ul>\n".to_owned();
    let mut crates: Vec<_> = fs::read_dir(root.join("crates"))?
        .filter_map(|entry| Some(entry.ok()?.path().join("Cargo.toml")))
        .collect();
    crates.sort();
    for path in crates {
        let manifest: toml::Table = fs::read_to_string(&path)?.parse()?;
        let of = |key: &str| {
            let value = manifest.get("package").and_then(|p| p.get(key));
            value
                .and_then(toml::Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let folder = of("name").replace('-', "_");
        if out.join(&folder).join("index.html").exists() {
            let (name, about) = (escape(&of("name")), escape(&of("description")));
            // Writing to a string cannot fail.
            let _ = writeln!(
                body,
                "<li><a href=\"{folder}/index.html\">{name}</a>: {about}</li>"
            );
        }
    }
    body.push_str("</ul>\n<details>\n<summary>Source files</summary>\n<ul>\n");
    sources(&out.join("src"), "src", &mut body)?;
    body.push_str(
        "</ul>\n</details>\n<p><a href=\"help.html\">Help</a> \u{b7} <a href=\"settings.html\">Settings</a></p>\n",
    );
    Ok(html::page("API: carom", "", &body, false))
}
