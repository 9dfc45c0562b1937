//! The documentation of the crates, with formulas that need nothing from outside of its folder.

use anyhow::{Context as _, ensure};
use carom_report::export::html::{self, escape};
use std::collections::BTreeMap;
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

/// Makes the pages in the folder `out` a part of the site: they look for KaTeX in it alone; links to pages that only lead on,
/// from a private path of an item to its public one, lead there at once, and these pages go; scripts that the generator names
/// but writes only where there is something in them are there. Returns the number of pages with formulas.
fn adapt(out: &Path) -> anyhow::Result<usize> {
    let mut pages = Vec::new();
    collect(out, "", &mut pages)?;
    let mut aliases = BTreeMap::new();
    for page in &pages {
        let text = fs::read_to_string(out.join(page))?;
        let target = text.split_once("<meta http-equiv=\"refresh\" content=\"0;URL=");
        if let Some((target, _)) = target.and_then(|(_, rest)| rest.split_once('"'))
            && let Some((target, _)) = resolved(page, target)
        {
            aliases.insert(page.clone(), target);
            fs::remove_file(out.join(page))?;
        }
    }
    let mut found = 0;
    for page in pages.iter().filter(|page| !aliases.contains_key(*page)) {
        let text = fs::read_to_string(out.join(page))?;
        let [from, to] = FOLDERS;
        found += usize::from(text.contains(from));
        let changed = relinked(page, &text.replace(from, to), &aliases);
        for script in changed.split("<script src=\"").skip(1) {
            let script = script.split('"').next().unwrap_or_default();
            let script = resolved(page, script).map(|(path, _)| out.join(path));
            if let Some(script) = script.filter(|path| !path.exists()) {
                fs::create_dir_all(script.parent().unwrap_or(out))?;
                fs::write(&script, "")?;
            }
        }
        if changed != text {
            fs::write(out.join(page), changed)?;
        }
    }
    Ok(found)
}

/// Returns the path within the API and the place of a link on the page `page`; `None` if it leads elsewhere.
fn resolved(page: &str, target: &str) -> Option<(String, String)> {
    super::check::resolve(page, target).ok().flatten()
}

/// Returns the HTML text of the page `page` with the links to `aliases` replaced by links to what these lead to.
fn relinked(page: &str, text: &str, aliases: &BTreeMap<String, String>) -> String {
    let mut parts = text.split(" href=\"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once('"').unwrap_or((part, ""));
        let alias = resolved(page, target).and_then(|(path, _)| aliases.get(&path));
        let place = target.find('#').map_or("", |at| &target[at..]);
        let target = alias.map_or_else(
            || target.to_owned(),
            |to| format!("{}{to}{place}", "../".repeat(page.matches('/').count())),
        );
        out.push_str(&format!(" href=\"{target}\"{rest}"));
    }
    out
}

/// Appends to `pages` the paths of all pages below `folder`, whose path within the API begins with `path`.
fn collect(folder: &Path, path: &str, pages: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{path}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), pages)?;
        } else if name.ends_with(".html") {
            pages.push(name);
        }
    }
    Ok(())
}

/// Writes the links to all pages of source files in the API `out`.
fn sources(out: &Path) -> anyhow::Result<String> {
    let mut pages = Vec::new();
    collect(&out.join("src"), "src/", &mut pages)?;
    pages.sort();
    let lines = pages.iter().map(|page| {
        let shown = page.trim_start_matches("src/").trim_end_matches(".html");
        format!("<li><a href=\"{page}\">{shown}</a></li>\n")
    });
    Ok(lines.collect())
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
    body.push_str(&sources(out)?);
    body.push_str(
        "</ul>\n</details>\n<p><a href=\"help.html\">Help</a> \u{b7} <a href=\"settings.html\">Settings</a></p>\n",
    );
    Ok(html::page("API: carom", "", &body, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_followed_and_named_scripts_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let [from, _] = FOLDERS;
        let pages = [
            (
                "a/trait.T.html",
                format!(
                    "<script>{from}</script><script src=\"../trait.impl/a/T.js\"></script>\
                <a href=\"private/struct.S.html#x\">S</a>"
                ),
            ),
            (
                "a/private/struct.S.html",
                "<meta http-equiv=\"refresh\" content=\"0;URL=../../a/struct.S.html\">".to_owned(),
            ),
            (
                "a/struct.S.html",
                "<a href=\"#x\" id=\"x\">x</a>".to_owned(),
            ),
        ];
        for (name, text) in &pages {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(adapt(folder.path()).unwrap(), 1);
        let page = fs::read_to_string(folder.path().join("a/trait.T.html")).unwrap();
        assert!(page.contains("<a href=\"../a/struct.S.html#x\">"), "{page}");
        assert!(page.contains("[\"katex/\"]"), "{page}");
        assert!(folder.path().join("trait.impl/a/T.js").exists());
        assert!(!folder.path().join("a/private/struct.S.html").exists());
    }
}
