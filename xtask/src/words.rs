//! Words that comments do not use: openers that leave out the noun, and phrases that a reader stumbles over.

use anyhow::Context as _;
use std::fs;
use std::path::Path;

/// Words that no comment line opens with: the thing that the sentence is about comes first.
const OPENERS: [&str; 10] = [
    "What", "Whether", "How", "Where", "Of", "As", "That", "Those", "Which", "The same",
];

/// Phrases that no comment contains.
const PHRASES: [&str; 5] = [
    "is none",
    "are none",
    "of theirs",
    "by the same",
    "so many a",
];

/// Folders with Rust code, from the root.
const FOLDERS: [&str; 4] = ["benches", "crates", "python", "xtask"];

/// Checks the wording of the comments in the workspace. Returns one line for every comment line that begins with one of
/// [`OPENERS`] or contains one of [`PHRASES`].
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        crate::tidy::collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let text =
            fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let label = file.strip_prefix(root).unwrap_or(&file).display();
        lines.extend(riddles(&text).map(|line| format!("{label}:{line}")));
    }
    Ok(lines)
}

/// Checks the wording of all comment lines of a source text. Returns the line number and the fault of each rejected line.
fn riddles(text: &str) -> impl Iterator<Item = String> {
    text.lines().enumerate().filter_map(|(k, line)| {
        let fault = riddle(line)?;
        Some(format!("{}: {fault}", k + 1))
    })
}

fn riddle(line: &str) -> Option<String> {
    let comment = line.trim_start().strip_prefix("//")?;
    let words = comment.trim_start_matches(['/', '!']).trim_start();
    let opens = |opener: &&&str| {
        let rest = words.strip_prefix(**opener);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    if let Some(opener) = OPENERS.iter().find(opens) {
        return Some(format!("a comment opens with \"{opener}\": name the thing"));
    }
    let phrase = PHRASES.iter().find(|phrase| words.contains(**phrase))?;
    Some(format!("a comment says \"{phrase}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_and_phrases_are_found_in_comments_alone() {
        for line in [
            "/// What the impact is.",
            "    //! Of two bodies.",
            "// Whether it holds.",
            "/// The same for two.",
            "/// A gap of theirs.",
        ] {
            assert!(riddle(line).is_some(), "{line}");
        }
        for line in [
            "/// Whatever the order.",
            "/// Ofen",
            "let text = \"What\";",
            "/// The gap, whatever it is.",
            "/// Asymmetric rows.",
        ] {
            assert!(riddle(line).is_none(), "{line}");
        }
        let found: Vec<_> = riddles("/// A gap.\n/// How far.\n").collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("2: "));
    }
}
