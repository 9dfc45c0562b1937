//! `cargo xtask recipe`: the law of `CONTRIBUTING.md`, added as the page says, compiles, answers, is judged and is listed.
//!
//! The recipe is followed on a copy of the crates that it touches and of those below them, in the target folder. The
//! code is taken from the page; each edit must find its place exactly once.

use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that are copied: those of the recipe and what they are built on.
const CRATES: [&str; 9] = [
    "carom-numeric",
    "carom-metric",
    "carom-lcp",
    "carom-two-body",
    "carom-contact",
    "carom-impact",
    "carom-derivative",
    "carom-judge",
    "carom-wire",
];

/// Program that uses the new law through the JSON forms.
const PROGRAM: &str = r#"//! Asks the new law, judges its answer, looks for it in the table.

use carom_wire::{Command, answer_line};

fn main() {
    let info = carom_impact::LAWS.iter().find(|law| law.name == "inert");
    let info = info.expect("the law is not listed");
    let answer = answer_line(Command::Resolve, 1, info.example);
    assert!(answer.is_solved, "{}", answer.text);
    assert!(answer.text.contains("\"law\":\"inert\""), "{}", answer.text);
    let approaching = info.example.replace("[1],\"contacts\"", "[-1],\"contacts\"");
    let refused = answer_line(Command::Resolve, 1, &approaching);
    assert!(refused.text.contains("infeasible-law"), "{}", refused.text);
    let outcome = info.example.replace("\"velocity\":[1]", "\"velocity\":[1],\"velocity_plus\":[1]");
    let outcome = outcome.replace("\"law\":\"inert\",", "");
    let verdict = answer_line(Command::Judge, 1, &outcome);
    assert!(verdict.text.contains("inert"), "{}", verdict.text);
    let derivative = info.example.replace("{\"law\"", "{\"derivative\":{},\"law\"");
    let derivative = answer_line(Command::Resolve, 1, &derivative);
    assert!(derivative.text.contains("dv_dv"), "{}", derivative.text);
}
"#;

/// Tests the documented recipe for adding an impact law: follows it in a copy of the crates, and runs the resulting program.
/// Returns the errors.
pub(crate) fn recipe(root: &Path) -> anyhow::Result<Vec<String>> {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target
        .map_or_else(|| root.join("target"), PathBuf::from)
        .join("recipe");
    let copy = target.join("workspace");
    followed(root, &copy)?;
    let output = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet", "--package", "recipe"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", target.join("target"))
        .output()
        .context("starting cargo")?;
    if output.status.success() {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(text.lines().take(60).map(str::to_owned).collect())
}

/// Copies the crates to the folder `copy` and makes the changes there that the recipe describes.
fn followed(root: &Path, copy: &Path) -> anyhow::Result<()> {
    let page = read(&root.join("CONTRIBUTING.md"))?;
    let start = page
        .find("\n## Add an impact law\n")
        .context("no recipe for a law")?;
    let recipe = &page[start..];
    let blocks = blocks(recipe);
    let [law, derivative, choice, ..] = blocks.as_slice() else {
        anyhow::bail!("the recipe has fewer than three blocks of code");
    };
    let arm = between(recipe, "`Law::Inert(law) => Some", "`")
        .context("no arm of carom-judge/src/compare.rs")?;
    let arm = format!("Law::Inert(law) => Some{arm}");

    for name in CRATES {
        copy_folder(
            &root.join("crates").join(name),
            &copy.join("crates").join(name),
        )?;
    }
    let impact = |file: &str| copy.join("crates/carom-impact/src").join(file);
    write(&impact("laws/inert.rs"), law)?;
    edit(
        &impact("laws/mod.rs"),
        &[
            ("\nmod info;\n", "\nmod inert;\nmod info;\n"),
            (
                "\npub use info::",
                "\npub use inert::Inert;\npub use info::",
            ),
            ("\nlaws! {\n", "\nlaws! {\n    Inert(Inert),\n"),
        ],
    )?;
    edit(
        &impact("lib.rs"),
        &[(
            "\npub use laws::{",
            "\npub use laws::Inert;\npub use laws::{",
        )],
    )?;
    let laws = copy.join("crates/carom-derivative/src/laws.rs");
    let text = read(&laws)?;
    write(
        &laws,
        &format!("{text}\nuse carom_impact::Inert;\n\n{derivative}"),
    )?;
    let variant =
        between(recipe, "`Law::Inert(law) => law", "`").context("no arm of of_variant")?;
    let first = "        Law::Propagative(law) => law,\n";
    edit(
        &laws,
        &[(
            first,
            &format!("        Law::Inert(law) => law{variant}\n{first}"),
        )],
    )?;
    let first = "        Law::Propagative(_) => Some(";
    edit(
        &copy.join("crates/carom-judge/src/compare.rs"),
        &[(first, &format!("        {arm}\n{first}"))],
    )?;
    let last = "        | Law::NonholonomicRough(_)) =>";
    let with_inert = "        | Law::NonholonomicRough(_)\n        | Law::Inert(_)) =>";
    edit(
        &copy.join("crates/carom-wire/src/resolve.rs"),
        &[(last, with_inert)],
    )?;

    let first = "        Law::TwoBody(_) => TWO_BODY,\n";
    edit(
        &copy.join("crates/carom-wire/src/choice.rs"),
        &[(first, &format!("{choice}{first}"))],
    )?;

    write(&copy.join("recipe/src/main.rs"), PROGRAM)?;
    let dependencies = "carom-impact.workspace = true\ncarom-wire.workspace = true\n";
    let manifest = format!(
        "[package]\nname = \"recipe\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
    );
    write(&copy.join("recipe/Cargo.toml"), &manifest)?;
    workspace(root, copy)
}

/// Writes the manifests of the copied workspace: only the copied crates are members, and dependencies of tests are removed.
fn workspace(root: &Path, copy: &Path) -> anyhow::Result<()> {
    let mut manifest: toml::Table = read(&root.join("Cargo.toml"))?.parse()?;
    let workspace = manifest
        .get_mut("workspace")
        .and_then(toml::Value::as_table_mut);
    let workspace = workspace.context("Cargo.toml has no [workspace]")?;
    let members = CRATES.map(|name| format!("crates/{name}"));
    let members: Vec<toml::Value> = members
        .into_iter()
        .chain(["recipe".to_owned()])
        .map(toml::Value::String)
        .collect();
    workspace.insert("members".to_owned(), toml::Value::Array(members));
    for key in ["exclude", "default-members"] {
        workspace.remove(key);
    }
    write(&copy.join("Cargo.toml"), &toml::to_string(&manifest)?)?;
    for name in CRATES {
        let path = copy.join("crates").join(name).join("Cargo.toml");
        let mut manifest: toml::Table = read(&path)?.parse()?;
        manifest.remove("dev-dependencies");
        write(&path, &toml::to_string(&manifest)?)?;
    }
    let lock = copy.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(root.join("Cargo.lock"), lock)?;
    }
    Ok(())
}

/// Returns the contents of the Rust code blocks in a Markdown text, without the indentation of a surrounding list.
fn blocks(text: &str) -> Vec<String> {
    let parts = text.split("```rust\n").skip(1);
    let body = |part: &str| {
        let body = part.split("```").next().unwrap_or_default();
        let lines = body
            .lines()
            .map(|line| line.strip_prefix("   ").unwrap_or(line));
        lines.map(|line| format!("{line}\n")).collect()
    };
    parts.map(body).collect()
}

/// Returns the text between the marks `start` and `end`; `None` if a mark is missing.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split(end).next()
}

/// Replaces pieces of text in a file. Each edit holds the old and the new piece. Fails unless the file contains the old piece
/// exactly once.
fn edit(path: &Path, edits: &[(&str, &str)]) -> anyhow::Result<()> {
    let mut text = read(path)?;
    for (old, new) in edits {
        let found = text.matches(old).count();
        ensure!(
            found == 1,
            "{}: {old:?} stands there {found} times",
            path.display()
        );
        text = text.replacen(old, new, 1);
    }
    write(path, &text)
}

/// Copies the manifest, the README, the sources and the examples of a crate to another folder.
fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    for name in ["Cargo.toml", "README.md"] {
        write(&to.join(name), &read(&from.join(name))?)?;
    }
    for name in ["src", "examples"] {
        let (sources, copy) = (from.join(name), to.join(name));
        // Sources that are gone must not stay in the copy.
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        if sources.exists() {
            copy_sources(&sources, &copy)?;
        }
    }
    Ok(())
}

fn copy_sources(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let path = entry?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        if path.is_dir() {
            copy_sources(&path, &to.join(name))?;
        } else {
            fs::create_dir_all(to)?;
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compiling it takes minutes from nothing and is left to `cargo xtask recipe`; that each edit has its place
    /// takes none.
    #[test]
    fn every_step_of_the_recipe_has_its_place() {
        let copy = tempfile::tempdir().unwrap();
        followed(&crate::workspace_root(), copy.path()).unwrap();
        let law = read(&copy.path().join("crates/carom-impact/src/laws/inert.rs")).unwrap();
        assert!(law.starts_with("//! The law that changes nothing."));
        assert!(law.contains("\nimpl ImpactLaw for Inert {\n"));
    }

    #[test]
    fn a_text_that_is_not_there_once_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, "one two one").unwrap();
        assert!(edit(&path, &[("two", "2")]).is_ok());
        assert!(edit(&path, &[("one", "1")]).is_err());
        assert!(edit(&path, &[("two", "2")]).is_err());
    }
}
