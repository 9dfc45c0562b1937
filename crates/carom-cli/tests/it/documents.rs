//! Commands that the documents show work.

use crate::common::{answers, carom};
use carom::impact::ImpactError;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// Fenced blocks in a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let body = |part: &str| part.split("```").next().unwrap().to_owned();
    text.split(&fence).skip(1).map(body).collect()
}

/// A block of JSON, which may hold several problems, with one problem a line.
fn lines(block: &str) -> Vec<String> {
    let values = serde_json::Deserializer::from_str(block).into_iter::<Value>();
    let line = |value: Result<Value, _>| value.unwrap_or_else(|e| panic!("{e}: {block}"));
    values.map(|value| line(value).to_string()).collect()
}

/// The command that a line of input belongs to.
fn command(line: &str) -> &'static str {
    if line.contains("_plus\"") {
        "judge"
    } else if line.contains("\"vector\"") {
        "lcp"
    } else {
        "resolve"
    }
}

/// Every block of JSON in the book, pasted as it stands, gives the answers of its problems in compact lines.
#[test]
fn every_json_block_is_answered() {
    let mut commands = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        for block in blocks(&std::fs::read_to_string(&path).unwrap(), "json") {
            let lines = lines(&block);
            let name = command(&lines[0]);
            let output = carom(&[name], &block);
            assert_eq!(answers(&output).len(), lines.len(), "{path:?}: {block}");
            assert_eq!(output.stdout, carom(&[name], &lines.join("\n")).stdout);
            // The page on verdicts shows errors, too.
            if !path.ends_with("verdicts.md") {
                assert_eq!(output.status.code(), Some(0), "{path:?}: {output:?}");
            }
            commands.push(name);
        }
    }
    for name in ["judge", "lcp", "resolve"] {
        assert!(commands.contains(&name), "no example of {name}");
    }
}

/// Under every block of the page on verdicts stands the command and the status that it gives.
#[test]
fn every_verdict_is_the_one_that_the_page_states() {
    let text = document("docs/src/verdicts.md");
    let mut seen = Vec::new();
    for part in text.split("```json\n").skip(1) {
        let (block, rest) = part.split_once("```").unwrap();
        let stated = rest.trim_start().lines().next().unwrap();
        let (name, status) = stated.split_once(": ").unwrap();
        let output = carom(&[name.trim_matches('`')], block);
        let found = answers(&output).remove(0);
        let kind = found["error"]["kind"].as_str();
        let membership = found["outcome_set"]["membership"].as_str();
        let found = kind.or(found["status"].as_str()).or(membership);
        assert_eq!(found, Some(status.trim_matches('`')), "{block}{output:?}");
        seen.push(status.to_owned());
    }
    assert!(seen.len() >= 12, "{seen:?}");
}

/// The table of errors on the page on verdicts has the kinds that are not faults of the input, at most fourteen.
#[test]
fn the_table_of_errors_has_every_kind_that_is_not_a_fault_of_the_input() {
    let text = document("docs/src/verdicts.md");
    let section = text.split("\n## Errors\n").nth(1).unwrap();
    let rows = section.split("\n## ").next().unwrap().lines();
    let mut told: Vec<&str> = rows
        .filter_map(|row| row.strip_prefix("| `")?.split('`').next())
        .collect();
    let mut kinds = [&ImpactError::UNANSWERED[..], &["internal"]].concat();
    assert!(kinds.len() <= 14, "{kinds:?}");
    told.sort_unstable();
    kinds.sort_unstable();
    assert_eq!(told, kinds);
}

/// The how-tos, in their order, in a folder with the files that they name.
#[test]
fn every_how_to_runs() {
    let text = document("docs/src/command-line.md");
    let json: Vec<String> = blocks(&text, "json")
        .iter()
        .flat_map(|b| lines(b))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    for (file, name) in [
        ("problems.jsonl", "resolve"),
        ("engine.jsonl", "judge"),
        ("complementarity.jsonl", "lcp"),
    ] {
        let lines: Vec<&str> = json
            .iter()
            .map(String::as_str)
            .filter(|line| command(line) == name)
            .collect();
        std::fs::write(folder.path().join(file), lines.join("\n")).unwrap();
    }
    let mut seen = Vec::new();
    for shell in blocks(&text, "sh") {
        for line in shell.lines().filter(|line| line.starts_with("carom ")) {
            let (command, file) = match line.split_once(" > ") {
                Some((command, file)) => (command, Some(PathBuf::from(file))),
                None => (line, None),
            };
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            let output = Command::new(env!("CARGO_BIN_EXE_carom"))
                .args(&words)
                .current_dir(folder.path())
                .output()
                .unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
            if let Some(file) = file {
                std::fs::write(folder.path().join(file), output.stdout).unwrap();
            }
            seen.push(words[0].to_owned());
        }
    }
    for name in ["list", "show", "run", "resolve", "judge", "lcp"] {
        assert!(seen.iter().any(|s| s == name), "no how-to for {name}");
    }
}

/// Every block with `carom` in the README, pasted into a shell, prints the lines of its comments. Three dots end a line that
/// goes on.
#[cfg(unix)]
#[test]
fn the_readme_prints_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_carom")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples")).unwrap();
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut seen = 0;
    for block in blocks(&document("README.md"), "sh") {
        if !block.contains("carom ") {
            continue;
        }
        let output = Command::new("sh")
            .args(["-e", "-c", &block])
            .env("PATH", &path)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{block}{output:?}");
        let printed = squeezed(&String::from_utf8(output.stdout).unwrap());
        for told in block.lines().filter_map(|line| line.strip_prefix("# ")) {
            let told = squeezed(told.trim_end_matches("..."));
            assert!(printed.contains(&told), "`{told}` is not in `{printed}`");
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen}");
}

/// The chapter that describes the keys of a command.
fn section<'t>(text: &'t str, title: &str) -> &'t str {
    let (_, rest) = text.split_once(&format!("\n## {title}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

#[test]
fn the_keys_of_the_book_are_those_that_are_read() {
    let text = document("docs/src/command-line.md");
    for (title, command) in [
        ("Resolving impacts", carom_wire::Command::Resolve),
        ("Judging outcomes", carom_wire::Command::Judge),
        ("Linear complementarity problems", carom_wire::Command::Lcp),
    ] {
        let section = section(&text, title);
        let known: Vec<&str> = carom_wire::keys(command).iter().map(|k| k.key).collect();
        for key in &known {
            // In a table, a sentence or the example.
            let is_said = [format!("`{key}`"), format!("\"{key}\"")];
            assert!(
                is_said.iter().any(|said| section.contains(said)),
                "{title}: {key}"
            );
        }
        let mut is_table = false;
        for line in section.lines() {
            is_table = line.starts_with("| key |") || is_table && line.starts_with('|');
            let first = line.split('|').nth(1).unwrap_or_default();
            for key in first.split('`').skip(1).step_by(2).filter(|_| is_table) {
                assert!(known.contains(&key), "{title}: {key} is not read");
            }
        }
    }
}
