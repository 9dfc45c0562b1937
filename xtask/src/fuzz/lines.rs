//! Lines of any text, by the library and by the program.

use super::input::impact;
use super::target::Target;
use anyhow::Context;
use carom_wire::{Command, answer_line, example};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

const COMMANDS: [(&str, Command); 3] = [
    ("resolve", Command::Resolve),
    ("judge", Command::Judge),
    ("lcp", Command::Lcp),
];

/// Name of the target that starts the program.
pub(super) const PROGRAM: &str = "program";

/// Generates lines of text: valid input lines of the commands, and such lines with a random edit.
fn text() -> BoxedStrategy<String> {
    let valid = select(COMMANDS.to_vec()).prop_map(|(_, command)| example(command).to_owned());
    let edited = (
        valid.clone(),
        any::<prop::sample::Index>(),
        "\\PC{0,4}",
        0..4usize,
    )
        .prop_map(|(line, at, insert, remove)| {
            let letters: Vec<char> = line.chars().collect();
            let at = at.index(letters.len());
            let end = (at + remove).min(letters.len());
            let (head, tail) = (&letters[..at], &letters[end..]);
            head.iter()
                .copied()
                .chain(insert.chars())
                .chain(tail.iter().copied())
                .collect()
        });
    prop_oneof![
        1 => valid,
        4 => edited,
        1 => "\\PC{0,40}",
        1 => "[\\[\\]{}\",:0-9eE+.-]{0,60}",
        1 => (0..300usize).prop_map(|depth| "[".repeat(depth)),
        1 => impact(2).prop_map(|problem| problem.to_string()),
    ]
    .boxed()
}

fn is_an_answer(text: &str) -> Result<Value, String> {
    let answer: Value =
        serde_json::from_str(text).map_err(|error| format!("{text} is no JSON: {error}"))?;
    let has_id = answer.get("id").is_some();
    if !has_id || text.contains('\n') {
        return Err(format!("{text} is no line with an id"));
    }
    if answer["error"]["kind"] == "internal" {
        return Err(text.to_owned());
    }
    Ok(answer)
}

pub(super) fn texts() -> Target {
    Target {
        name: "texts",
        input: || text().prop_map(|text| json!(text)).boxed(),
        check: Box::new(|line| {
            let line = line.as_str().unwrap_or_default();
            for (_, command) in COMMANDS {
                is_an_answer(&answer_line(command, 1, line).text)?;
            }
            Ok(())
        }),
    }
}

/// Generates any JSON value.
fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
    .boxed()
}

/// Creates the fuzz target for valid input lines in which one value, at any depth, is replaced by another value.
pub(super) fn mutations() -> Target {
    Target {
        name: "mutations",
        input: || {
            (
                select(COMMANDS.to_vec()),
                any::<prop::sample::Index>(),
                anything(),
            )
                .prop_map(|((name, command), at, value)| {
                    let mut line: Value =
                        serde_json::from_str(example(command)).unwrap_or(Value::Null);
                    let at = at.index(count(&line));
                    replace(&mut line, &mut at.clone(), &value);
                    json!({"command": name, "line": line})
                })
                .boxed()
        },
        check: Box::new(|input| {
            let command = COMMANDS.iter().find(|(name, _)| input["command"] == *name);
            let (_, command) = command.ok_or("no command")?;
            let line = &input["line"];
            let answer = is_an_answer(&answer_line(*command, 1, &line.to_string()).text)?;
            match line.get("id") {
                Some(id) if answer["id"] != *id => Err(format!("id {} for {id}", answer["id"])),
                _ => Ok(()),
            }
        }),
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the value with the number `at` inside a JSON value by `with`. Values are numbered as [`count`] counts them. Returns
/// true if the value was found. `at` decreases by one for each value passed.
fn replace(value: &mut Value, at: &mut usize, with: &Value) -> bool {
    if *at == 0 {
        *value = with.clone();
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|item| replace(item, at, with)),
        Value::Object(map) => map.values_mut().any(|item| replace(item, at, with)),
        _ => false,
    }
}

fn program_path(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root.join("target"), PathBuf::from);
    target
        .join("debug")
        .join(format!("carom{}", std::env::consts::EXE_SUFFIX))
}

/// Builds the executable that the fuzz target `program` runs.
pub(super) fn build_program(root: &Path) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Process::new(cargo)
        .current_dir(root)
        .args(["build", "--quiet", "--workspace", "--bin", "carom"])
        .status()
        .context("cargo does not start")?;
    anyhow::ensure!(status.success(), "the program does not build");
    Ok(())
}

/// Creates the fuzz target that sends several lines at once to the executable of `carom`. After a first line that is an object there
/// must be one answer per line, in the order of the lines, even if some lines are invalid; without it they are a document, of any
/// number of values.
pub(super) fn program(root: &Path) -> Target {
    let program = program_path(root);
    Target {
        name: PROGRAM,
        input: || {
            (
                select(COMMANDS.to_vec()),
                prop::collection::vec(text(), 0..12),
            )
                .prop_map(|((command, _), lines)| json!({"command": command, "lines": lines}))
                .boxed()
        },
        check: Box::new(move |input| {
            let command = input["command"].as_str().unwrap_or_default();
            let lines: Vec<&str> = input["lines"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let after_object: Vec<&str> = ["{}"].into_iter().chain(lines.iter().copied()).collect();
            answers(&program, command, &lines)?;
            let found = answers(&program, command, &after_object)?;
            let asked = { after_object.iter() }.filter(|line| !line.trim().is_empty());
            match asked.count() {
                asked if asked == found => Ok(()),
                asked => Err(format!("{found} answers to {asked} lines")),
            }
        }),
    }
}

/// Returns the number of answers to `lines`, each of which must be one.
fn answers(program: &Path, command: &str, lines: &[&str]) -> Result<usize, String> {
    let mut child = Process::new(program)
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{} does not start: {error}", program.display()))?;
    let mut stdin = child.stdin.take().ok_or("no pipe")?;
    let text = lines
        .iter()
        .fold(String::new(), |text, line| text + line + "\n");
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let _ = writer.join();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if !matches!(output.status.code(), Some(0 | 1)) || err.contains("panicked") {
        return Err(format!("{}: {err}", output.status));
    }
    let answers: Vec<&str> = out.lines().collect();
    answers
        .iter()
        .try_for_each(|answer| is_an_answer(answer).map(drop))?;
    Ok(answers.len())
}
