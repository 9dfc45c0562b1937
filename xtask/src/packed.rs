//! `cargo xtask packed`: what someone gets who depends on a published crate.
//!
//! Packs every crate, unpacks it, and checks that the first example of its README compiles as a package that knows
//! nothing but the `[dependencies]` printed there; documentation tests run the examples. Checks that the compiler refuses what closes open types. Documents the unpacked crates with the header that a
//! documentation host uses and looks at the pages in a headless browser, where one is installed.

use crate::refused;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// Flags of `cargo xtask packed`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave out the documentation and the browser.
    #[arg(long)]
    no_doc: bool,
}

/// Browsers that print a page as it stands after its scripts.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Pages of each crate that are looked at: its first page and those after it in the alphabet.
const PAGES: usize = 4;

/// An unpacked crate.
struct Unpacked {
    name: String,
    folder: PathBuf,
    readme: String,
}

pub(crate) fn packed(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let work = root.join("target/packed");
    let crates = unpack(root, &work)?;
    let scratch = work.join("scratch");
    let mut lines = Vec::new();
    let mut names = Vec::new();
    for one in &crates {
        match (block(&one.readme, "toml"), block(&one.readme, "rust")) {
            (Some(manifest), Some(program)) => {
                let name = format!("{}-readme", one.name);
                write_package(&scratch.join(&name), &name, &manifest, &program)?;
                names.push(name);
            }
            // A binary has commands in its README, not a program.
            _ if one.folder.join("src/lib.rs").is_file() => lines.push(format!(
                "{}: README.md lacks a `toml` or a `rust` block",
                one.name
            )),
            _ => {}
        }
    }
    let refused = scratch.join("refused");
    write_package(&refused, "refused", refused::MANIFEST, refused::PROGRAM)?;
    let members: Vec<String> = names
        .iter()
        .cloned()
        .chain(["refused".to_owned()])
        .collect();
    fs::write(scratch.join("Cargo.toml"), workspace(&members, &crates))?;
    fs::copy(root.join("Cargo.lock"), scratch.join("Cargo.lock"))?;
    for name in &names {
        let run = cargo(&scratch, &work, &["check", "--quiet", "--package", name]).status()?;
        println!("{name}: {}", if run.success() { "ok" } else { "FAILS" });
        if !run.success() {
            lines.push(format!("{name}: the README's example does not compile"));
        }
    }
    let arguments = [
        "check",
        "--quiet",
        "--message-format=json",
        "--package",
        "refused",
    ];
    let output = cargo(&scratch, &work, &arguments).output()?;
    let faults = refused::faults(&String::from_utf8_lossy(&output.stdout))?;
    println!(
        "refused: {}",
        if faults.is_empty() { "ok" } else { "FAILS" }
    );
    lines.extend(faults);
    if !args.no_doc {
        lines.extend(documents(&scratch, &work, &crates)?);
    }
    Ok(lines)
}

/// Packs all crates as for publication, and unpacks the archives into the folder `work`.
fn unpack(root: &Path, work: &Path) -> anyhow::Result<Vec<Unpacked>> {
    let folder = work.join("unpacked");
    for old in [&folder, &work.join("package"), &work.join("scratch")] {
        if old.exists() {
            fs::remove_dir_all(old).with_context(|| format!("removing {}", old.display()))?;
        }
    }
    fs::create_dir_all(&folder)?;
    fs::create_dir_all(work.join("scratch"))?;
    let arguments = [
        "package",
        "--quiet",
        "--workspace",
        "--exclude=xtask",
        "--exclude=carom-benches",
        "--no-verify",
        "--allow-dirty",
    ];
    let status = cargo(root, work, &arguments).status()?;
    ensure!(status.success(), "`cargo package` fails");
    let mut crates = Vec::new();
    for entry in fs::read_dir(work.join("package"))? {
        let path = entry?.path();
        if path
            .extension()
            .is_none_or(|extension| extension != "crate")
        {
            continue;
        }
        let status = Command::new("tar")
            .args([
                "-xzf".as_ref(),
                path.as_os_str(),
                "-C".as_ref(),
                folder.as_os_str(),
            ])
            .status()
            .context("tar cannot be run")?;
        ensure!(status.success(), "cannot unpack {}", path.display());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = folder.join(stem.as_ref());
        let (name, _) = stem.rsplit_once('-').unwrap_or((stem.as_ref(), ""));
        let readme = fs::read_to_string(folder.join("README.md"))
            .with_context(|| format!("{name} is packed without its README.md"))?;
        crates.push(Unpacked {
            name: name.to_owned(),
            folder,
            readme,
        });
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(crates)
}

/// Prepares a call of Cargo in the folder `folder`. All calls share a target folder inside `work`.
fn cargo(folder: &Path, work: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command
        .current_dir(folder)
        .args(arguments)
        .env("CARGO_TARGET_DIR", work)
        .env_remove("RUSTDOCFLAGS");
    command
}

/// Returns the content of the first fenced code block in this language; `None` if there is no such block.
fn block(text: &str, language: &str) -> Option<String> {
    let fence = format!("```{language}\n");
    let (_, rest) = text.split_once(&fence)?;
    let (inside, _) = rest.split_once("\n```")?;
    Some(inside.to_owned())
}

fn write_package(folder: &Path, name: &str, manifest: &str, program: &str) -> anyhow::Result<()> {
    fs::create_dir_all(folder.join("src"))?;
    let head = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\npublish = false\n\n");
    fs::write(folder.join("Cargo.toml"), head + manifest + "\n")?;
    fs::write(folder.join("src/main.rs"), program)?;
    Ok(())
}

/// Returns the text of a workspace manifest with the members `names`, in which the unpacked crates replace the published ones.
fn workspace(names: &[String], crates: &[Unpacked]) -> String {
    let mut text =
        format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n\n[patch.crates-io]\n");
    for one in crates {
        text.push_str(&format!("{} = {{ path = {:?} }}\n", one.name, one.folder));
    }
    text
}

/// Builds the documentation of the unpacked crates as a documentation host does. Returns one line for every fault.
fn documents(scratch: &Path, work: &Path, crates: &[Unpacked]) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut documented = Vec::new();
    for one in crates {
        if !one.folder.join("src/lib.rs").is_file() {
            continue;
        }
        let header = one.folder.join("katex-header.html");
        if !header.is_file() {
            lines.push(format!("{} is packed without katex-header.html", one.name));
            continue;
        }
        let status = cargo(
            scratch,
            work,
            &["doc", "--quiet", "--no-deps", "--package", &one.name],
        )
        .env(
            "RUSTDOCFLAGS",
            format!("--html-in-header {}", header.display()),
        )
        .status()?;
        if status.success() {
            documented.push(one);
        } else {
            lines.push(format!(
                "{}: the packed crate cannot be documented",
                one.name
            ));
        }
    }
    let Some(browser) = browser() else {
        println!("skipped: formulas in a browser ({} not found)", BROWSERS[0]);
        return Ok(lines);
    };
    for one in documented {
        let folder = work.join("doc").join(one.name.replace('-', "_"));
        for page in pages(&folder)? {
            if let Some(text) = raw_formula(&browser, &page)? {
                lines.push(format!("{}: raw formula `{text}`", page.display()));
            }
        }
        println!("{}: formulas ok", one.name);
    }
    Ok(lines)
}

fn browser() -> Option<String> {
    let given = std::env::var("CHROMIUM").ok();
    given
        .into_iter()
        .chain(BROWSERS.map(str::to_owned))
        .find(|name| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        })
}

/// Returns the paths of at most [`PAGES`] HTML pages in a documentation folder, beginning with `index.html`.
fn pages(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "html")
        {
            pages.push(path);
        }
    }
    pages.sort_by_key(|path| {
        (
            path.file_name() != Some("index.html".as_ref()),
            path.clone(),
        )
    });
    pages.truncate(PAGES);
    Ok(pages)
}

/// Opens a page in a browser and searches for a formula that was not typeset. Returns the visible text after the first dollar
/// sign, or the formula that KaTeX rejected. Returns `None` if all formulas of the page are typeset.
fn raw_formula(browser: &str, page: &Path) -> anyhow::Result<Option<String>> {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=10000",
            "--dump-dom",
        ])
        .arg(format!("file://{}", page.display()))
        .output()
        .with_context(|| format!("{browser} cannot be run"))?;
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(page.contains("</html>"), "{browser} printed no page");
    if let Some((_, fault)) = page.split_once("class=\"katex-error\"") {
        return Ok(Some(fault.chars().take(80).collect()));
    }
    let text = visible(&page);
    Ok(text
        .split_once('$')
        .map(|(_, after)| after.chars().take(40).collect()))
}

/// Removes scripts, styles, code and tags from the HTML text of a page.
fn visible(page: &str) -> String {
    let mut text = page.to_owned();
    for tag in ["script", "style", "pre", "code", "annotation", "head"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        let mut kept = String::new();
        let mut rest = text.as_str();
        while let Some((before, inside)) = rest.split_once(&open) {
            // `<head` also begins `<header>`.
            let is_tag = inside.starts_with(['>', ' ', '\n']);
            kept.push_str(before);
            rest = match inside.split_once(&close) {
                Some((_, after)) if is_tag => after,
                _ => {
                    kept.push_str(&open);
                    inside
                }
            };
        }
        kept.push_str(rest);
        text = kept;
    }
    let mut is_tag = false;
    text.retain(|c| {
        is_tag = (is_tag || c == '<') && c != '>';
        !is_tag && c != '>'
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_of_a_language_is_found() {
        let text =
            "a\n```toml\n[dependencies]\n```\n```rust\nfn main() {}\n```\n```rust\nno\n```\n";
        assert_eq!(block(text, "toml").as_deref(), Some("[dependencies]"));
        assert_eq!(block(text, "rust").as_deref(), Some("fn main() {}"));
        assert_eq!(block(text, "json"), None);
    }

    /// The macros of nalgebra need a feature that the published crates leave out.
    #[test]
    fn no_readme_uses_a_macro_that_its_crate_lacks() {
        let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates");
        let readmes = fs::read_dir(crates).unwrap().filter_map(|entry| {
            let path = entry.unwrap().path().join("README.md");
            fs::read_to_string(&path).ok().map(|text| (path, text))
        });
        let programs: Vec<(PathBuf, String)> = readmes
            .filter_map(|(path, text)| Some((path, block(&text, "rust")?)))
            .collect();
        assert!(programs.len() > 10);
        for (path, program) in programs {
            for name in ["dmatrix", "dvector", "matrix!", "vector!"] {
                assert!(!program.contains(name), "{}: {name}", path.display());
            }
        }
    }

    #[test]
    fn a_reader_sees_text_and_no_code() {
        let page = "<head><title>$</title></head><header>a</header><p title=\"$\">b <code>$c$</code>\
                    <annotation encoding=\"x\">$</annotation></p><script>$</script>";
        assert_eq!(visible(page), "ab ");
        assert!(visible("<p>energy $T$</p>").contains("$T$"));
    }
}
