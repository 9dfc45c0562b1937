//! Commands that the documents show: every one names programs, targets, features and keys that exist.
//!
//! A command stands in a code span or on a line of a shell block, and begins with `cargo` or `carom`. Words in
//! capitals stand for something of the reader's; brackets mark what may be left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::links::documents;
use anyhow::Context;
use carom_scenarios::scenario;
use clap::CommandFactory;

/// Cargo's own commands, and tools that the documents use.
const CARGO: [&str; 13] = [
    "add", "bench", "build", "check", "clippy", "deny", "doc", "fmt", "hack", "install", "publish",
    "run", "test",
];

/// Checks the commands in the documentation. Returns one line for every command with an unknown subcommand, flag, package or
/// configuration key.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let packages = Packages::read(root)?;
    let mut lines = Vec::new();
    for (document, text) in documents(root)? {
        for (line, command) in commands(&text) {
            if let Err(fault) = check(&packages, &command) {
                let document = document.display();
                lines.push(format!("{document}:{line}: `{command}`: {fault}"));
            }
        }
    }
    Ok(lines)
}

/// Returns the commands of `carom` and `cargo` in a document, each with its line number.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<String> = None;
    let mut continued: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                Some(_) => None,
                None => Some(language.trim().to_owned()),
            };
            continue;
        }
        match fence.as_deref() {
            Some("" | "sh" | "text" | "console" | "bash") => {
                let (start, mut whole) = continued.take().unwrap_or((number, String::new()));
                whole.push_str(line.trim());
                if let Some(half) = whole.strip_suffix('\\') {
                    continued = Some((start, format!("{half} ")));
                    continue;
                }
                let parts = whole.split(" | ").filter_map(command);
                found.extend(parts.map(|part| (start, part)));
            }
            Some(_) => {}
            None => {
                let spans = line.split('`').skip(1).step_by(2);
                found.extend(spans.filter_map(command).map(|span| (number, span)));
            }
        }
    }
    found
}

/// Extracts the command from a line of a document, without prompt, comment and redirection. Returns `None` if the line is not a
/// command of `cargo` or `carom`.
fn command(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("$ ");
    let text = text.split(" #").next().unwrap_or(text);
    let text = text.split(" > ").next().unwrap_or(text).trim();
    let (program, rest) = text.split_once(' ')?;
    let is_command = match program {
        "cargo" => true,
        // Sentences in blocks of text begin with the name as well.
        "carom" => carom_cli::command()
            .get_subcommands()
            .any(|known| rest.split(' ').next() == Some(known.get_name())),
        _ => false,
    };
    is_command.then(|| text.to_owned())
}

fn check(packages: &Packages, command: &str) -> Result<(), String> {
    let words: Vec<&str> = command
        .split([' ', '[', ']', '|'])
        .filter(|word| !word.is_empty() && *word != "...")
        .collect();
    match words.as_slice() {
        ["carom", rest @ ..] => check_carom(rest),
        ["cargo", "xtask", rest @ ..] => check_flags(&crate::Command::command(), rest).map(drop),
        ["cargo", name, rest @ ..] => {
            if !CARGO.contains(name) {
                return Err(format!("unknown command `{name}`"));
            }
            let split = rest.iter().position(|word| *word == "--");
            let (own, passed) = rest.split_at(split.unwrap_or(rest.len()));
            packages.check(own)?;
            let is_carom = *name == "run" && !own.contains(&"--example");
            match passed {
                [_, passed @ ..] if is_carom && !passed.is_empty() => check_carom(passed),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Checks that all flags among the words of a command exist. Returns the name of the innermost subcommand and its arguments;
/// the error names an unknown flag.
fn check_flags<'w>(
    program: &clap::Command,
    words: &[&'w str],
) -> Result<(String, Vec<&'w str>), String> {
    if words.is_empty() {
        return Ok((String::new(), Vec::new()));
    }
    let mut command = program.clone();
    let globals: Vec<String> = long_flags(program);
    let mut name = String::new();
    let mut rest = words;
    while let [word, after @ ..] = rest {
        let found = command
            .get_subcommands()
            .find(|known| known.get_name() == *word);
        let Some(found) = found.cloned() else { break };
        name = if name.is_empty() {
            (*word).to_owned()
        } else {
            format!("{name} {word}")
        };
        (command, rest) = (found, after);
    }
    if name.is_empty() || command.get_subcommands().next().is_some() && !rest.is_empty() {
        return Err(format!("unknown command in `{}`", words.join(" ")));
    }
    let known = long_flags(&command);
    for word in rest {
        let Some(flag) = word.strip_prefix("--") else {
            continue;
        };
        let flag = flag.split('=').next().unwrap_or(flag).trim_end_matches(',');
        let is_known = |names: &[String]| names.iter().any(|name| name == flag);
        if !is_known(&known) && !is_known(&globals) && !["help", "version"].contains(&flag) {
            return Err(format!("`{name}` has no flag `--{flag}`"));
        }
    }
    Ok((name, rest.to_vec()))
}

fn long_flags(command: &clap::Command) -> Vec<String> {
    let flags = command.get_arguments().filter_map(clap::Arg::get_long);
    flags.map(str::to_owned).collect()
}

fn is_placeholder(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_uppercase()) || word.starts_with('<')
}

fn check_carom(words: &[&str]) -> Result<(), String> {
    let (name, rest) = check_flags(&carom_cli::command(), words)?;
    let first = rest.first().filter(|word| !word.starts_with('-'));
    let Some(first) = first.filter(|word| !is_placeholder(word)) else {
        return Ok(());
    };
    match name.as_str() {
        "run" if first.ends_with(".toml") => Ok(()),
        "run" | "show" => {
            let scenario = scenario(first).ok_or_else(|| format!("no scenario `{first}`"))?;
            let sets = rest.windows(2).filter(|pair| pair[0] == "--set");
            for key in sets.filter_map(|pair| pair[1].split('=').next()) {
                check_key(scenario.default_toml, key)?;
            }
            Ok(())
        }
        "laws" if carom_impact::Law::named(first).is_none() => Err(format!("no law `{first}`")),
        _ => Ok(()),
    }
}

/// Checks the key of an assignment in a command: every part of the key must occur as a word in the scenario's TOML text, if
/// only in a comment.
fn check_key(toml: &str, key: &str) -> Result<(), String> {
    if key == "key.path" {
        return Ok(());
    }
    for part in key.split('.').filter(|part| part.parse::<usize>().is_err()) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if !toml.split(|c| !is_word(c)).any(|word| word == part) {
            return Err(format!("the scenario has no key `{key}`"));
        }
    }
    Ok(())
}

/// Packages of the workspace.
struct Packages {
    by_name: BTreeMap<String, Package>,
}

/// Names that a command may give of a package.
struct Package {
    features: Vec<String>,
    tests: Vec<String>,
    benches: Vec<String>,
    examples: Vec<String>,
    /// Text of all its integration tests.
    sources: String,
}

impl Packages {
    fn read(root: &Path) -> anyhow::Result<Self> {
        let mut by_name = BTreeMap::new();
        let crates = fs::read_dir(root.join("crates")).context("reading crates/")?;
        let mut folders: Vec<_> = crates
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_, std::io::Error>>()?;
        folders.extend([root.join("benches"), root.join("xtask")]);
        for folder in folders {
            let manifest = folder.join("Cargo.toml");
            let text = fs::read_to_string(&manifest)
                .with_context(|| format!("reading {}", manifest.display()))?;
            let manifest: toml::Table = text.parse()?;
            let name = manifest
                .get("package")
                .and_then(|package| package.get("name"));
            let name = name.and_then(toml::Value::as_str).unwrap_or_default();
            let features = manifest.get("features").and_then(toml::Value::as_table);
            let mut sources = String::new();
            read_sources(&folder.join("tests"), &mut sources)?;
            let package = Package {
                features: features.map_or_else(Vec::new, |all| all.keys().cloned().collect()),
                tests: targets(&folder, &manifest, "tests", "test")?,
                benches: targets(&folder, &manifest, "benches", "bench")?,
                examples: targets(&folder, &manifest, "examples", "example")?,
                sources,
            };
            by_name.insert(name.to_owned(), package);
        }
        Ok(Self { by_name })
    }

    /// Checks that the packages, targets and features exist that a command of Cargo names. `words` are the words of the command
    /// after its name.
    fn check(&self, words: &[&str]) -> Result<(), String> {
        let values = |flags: [&str; 2]| {
            let pairs = words
                .windows(2)
                .filter(move |pair| flags.contains(&pair[0]));
            pairs.map(|pair| pair[1]).collect::<Vec<_>>()
        };
        let named = values(["-p", "--package"]);
        let mut packages = Vec::new();
        for name in &named {
            let package = self.by_name.get(*name);
            packages.push(package.ok_or_else(|| format!("no package `{name}`"))?);
        }
        if packages.is_empty() {
            packages = self.by_name.values().collect();
        }
        type Names = fn(&Package) -> &Vec<String>;
        let kinds: [([&str; 2], Names); 4] = [
            (["--test", "--test"], |package| &package.tests),
            (["--bench", "--bench"], |package| &package.benches),
            (["--example", "--example"], |package| &package.examples),
            (["--features", "-F"], |package| &package.features),
        ];
        for (flags, names) in kinds {
            for value in values(flags).iter().flat_map(|value| value.split(',')) {
                let is_known = packages
                    .iter()
                    .any(|p| names(p).iter().any(|name| name == value));
                if !is_known && !is_placeholder(value) {
                    return Err(format!("{} names no `{value}`", flags[0]));
                }
            }
        }
        // A word behind the target filters tests by their path.
        let after = words.windows(3).find(|three| three[0] == "--test");
        if let Some(filter) = after
            .map(|three| three[2])
            .filter(|word| !word.starts_with('-'))
        {
            let last = filter.rsplit("::").next().unwrap_or(filter);
            let is_there = |p: &&Package| {
                p.sources.contains(&format!("mod {last};"))
                    || p.sources
                        .lines()
                        .any(|line| line.trim_start().starts_with("fn ") && line.contains(last))
            };
            if !is_placeholder(filter) && !packages.iter().any(is_there) {
                return Err(format!("no test matches `{filter}`"));
            }
        }
        Ok(())
    }
}

/// Returns the names of a package's targets of one kind, such as examples: those in the manifest, and the files and folders
/// from which Cargo derives targets.
fn targets(
    folder: &Path,
    manifest: &toml::Table,
    place: &str,
    key: &str,
) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    let place = folder.join(place);
    if place.is_dir() {
        for entry in fs::read_dir(&place)? {
            let path = entry?.path();
            let is_target = path.join("main.rs").is_file()
                || path.extension().is_some_and(|extension| extension == "rs");
            if let Some(stem) = path.file_stem().filter(|_| is_target) {
                names.push(stem.to_string_lossy().into_owned());
            }
        }
    }
    let given = manifest.get(key).and_then(toml::Value::as_array);
    let given = given.into_iter().flatten();
    let given = given.filter_map(|target| target.get("name")?.as_str());
    names.extend(given.map(str::to_owned));
    Ok(names)
}

fn read_sources(folder: &Path, text: &mut String) -> anyhow::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_sources(&path, text)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_spans_and_shell_blocks() {
        let text = "Say `carom list` or `cargo test`.\n```sh\n$ carom run penny \\\n  --json > a.json   # why\n\
                    cat x | carom judge\n```\n```rust\n// cargo nothing\n```\ncarom answers `carom questions`.\n";
        let found: Vec<(usize, String)> = commands(text);
        let expected = [
            (1, "carom list"),
            (1, "cargo test"),
            (3, "carom run penny    --json"),
            (5, "carom judge"),
        ];
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((line, command), (at, wanted)) in found.iter().zip(expected) {
            assert_eq!((*line, squeezed(command)), (at, squeezed(wanted)));
        }
    }

    #[test]
    fn what_would_not_run_is_told() {
        let packages = Packages::read(&crate::workspace_root()).unwrap();
        let fault = |command: &str| check(&packages, command).err().unwrap_or_default();
        for (command, part) in [
            (
                "cargo test -p carom-two-body --test stress",
                "--test names no `stress`",
            ),
            ("cargo test -p carom-impct", "no package"),
            (
                "cargo test -p carom-impact --test it no_such_test",
                "no test matches",
            ),
            (
                "cargo bench -p carom-benches --features bench --bench laws-of-nature",
                "--bench names no",
            ),
            (
                "cargo build -p carom-cli --features everything",
                "--features names no",
            ),
            ("cargo run --example nothing", "--example names no"),
            ("cargo run --release -- rum", "unknown command"),
            ("cargo xtask verfy", "unknown command"),
            ("cargo xtask verify --all", "no flag `--all`"),
            ("carom sweep draw", "unknown command"),
            ("carom run peny", "no scenario"),
            ("carom run penny --set wings=2", "no key `wings`"),
            ("carom run penny --figure 3", "no flag"),
            ("carom laws gravity", "no law"),
        ] {
            assert!(
                fault(command).contains(part),
                "{command}: {}",
                fault(command)
            );
        }
        for command in [
            "cargo test --release -p carom-two-body --test it stress -- --ignored --nocapture",
            "carom fit FILE.csv[.gz] --config BODY.toml --law LAW[,LAW...] [--free NAME[,NAME...]]",
            "carom run newtons-cradle --set masses.1=3 --json --quiet",
            "carom sweep run PLAN --out DIR [--shard i/N | --shards 3,5-9]",
            "cargo xtask",
            "carom run my-world.toml",
            "cargo xtask laws --bless",
        ] {
            assert_eq!(fault(command), "", "{command}");
        }
    }

    #[test]
    fn every_command_of_the_documents_parses() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
