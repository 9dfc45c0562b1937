//! A program that closes open types by literals and whole matches: the compiler must refuse it outside the workspace.

use std::collections::BTreeSet;

use anyhow::Context;

/// The program. A comment `//~ E0004` marks a line that must have this error.
pub(crate) const PROGRAM: &str = include_str!("../data/refused.rs");

/// Dependencies of the program.
pub(crate) const MANIFEST: &str =
    "[dependencies]\ncarom = { version = \"0.1\", default-features = false }";

/// Before the code of an error on a line that must have it.
const MARK: &str = "//~ ";

/// Compares the messages of `cargo check --message-format=json` about the program with its marks. Returns a line for each error
/// that is missing or not marked.
pub(crate) fn faults(messages: &str) -> anyhow::Result<Vec<String>> {
    let expected: BTreeSet<(u64, String)> = (1u64..)
        .zip(PROGRAM.lines())
        .filter_map(|(n, line)| Some((n, line.split_once(MARK)?.1.to_owned())))
        .collect();
    let mut found = BTreeSet::new();
    for line in messages.lines() {
        let value: serde_json::Value = serde_json::from_str(line).context("a message of Cargo")?;
        let message = &value["message"];
        if message["level"] != "error" {
            continue;
        }
        let spans = message["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let primary = spans.iter().find(|span| span["is_primary"] == true);
        if let Some(line) = primary.and_then(|span| span["line_start"].as_u64()) {
            let code = message["code"]["code"].as_str().unwrap_or("an error");
            found.insert((line, code.to_owned()));
        }
    }
    let compiled = expected.difference(&found);
    let compiled = compiled.map(|(n, code)| format!("refused.rs:{n}: compiles, without {code}"));
    let others = found.difference(&expected);
    let others = others.map(|(n, code)| format!("refused.rs:{n}: {code} is not expected"));
    Ok(compiled.chain(others).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_needs_its_error() {
        let all = faults("").unwrap();
        assert_eq!(all.len(), PROGRAM.matches(MARK).count());
        assert!(all.len() >= 20, "{all:?}");
        let stray = r#"{"message":{"level":"error","code":{"code":"E0425"},"spans":[{"is_primary":true,"line_start":1}]}}"#;
        let more = faults(stray).unwrap();
        assert_eq!(more.len(), all.len() + 1);
        assert_eq!(more.last().unwrap(), "refused.rs:1: E0425 is not expected");
    }
}
