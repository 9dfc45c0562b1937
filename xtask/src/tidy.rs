//! `cargo xtask tidy`: formulas that Markdown would garble, and panics in library code.
//!
//! Markdown comes before TeX, so inside `$...$` a backslash before punctuation disappears, two
//! underscores next to braces become emphasis, `<b` opens a tag, and a sign at the start of a line a list. Library code returns errors:
//! outside tests and doc examples it neither unwraps nor panics.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::links::chapters;
use anyhow::Context;

/// Calls that library code must not contain.
const PANICS: [&str; 6] = [
    ".unwrap()",
    ".expect(",
    "panic!",
    "todo!",
    "unimplemented!",
    "dbg!",
];

/// Checks the style of all Rust files in `root/crates` and the formulas in the book. Returns one line for every violation.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    collect(&root.join("crates"), &mut files)?;
    files.sort();

    let mut lines = Vec::new();
    let mut sources = Vec::new();
    let mut test_files = BTreeSet::new();
    for file in &files {
        let text =
            fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let label = file
            .strip_prefix(root)
            .unwrap_or(file)
            .display()
            .to_string();
        let label = label.replace('\\', "/");
        lines.extend(
            garbled_formulas(&text)
                .iter()
                .map(|line| format!("{label}:{line}")),
        );
        // crates/<name>/src/...
        if label.split('/').nth(2) == Some("src") {
            let code = Code::new(&text);
            test_files.extend(code.test_modules(file));
            sources.push((file, label, code));
        }
    }
    for (chapter, text) in chapters(root)? {
        let comment: String = text.lines().map(|line| format!("/// {line}\n")).collect();
        let problems = garbled_formulas(&comment);
        lines.extend(
            problems
                .iter()
                .map(|line| format!("{}:{line}", chapter.display())),
        );
    }
    for (file, label, code) in sources {
        if !is_test_module(file, &test_files) {
            lines.extend(code.panics().iter().map(|line| format!("{label}:{line}")));
        }
    }
    Ok(lines)
}

pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// True if a source file belongs to one of the test modules, whose paths are given without `.rs`.
pub(crate) fn is_test_module(file: &Path, modules: &BTreeSet<PathBuf>) -> bool {
    let module = file.with_extension("");
    module.ancestors().any(|part| modules.contains(part))
}

/// Returns the path, without `.rs`, of the module `name` that is declared by `mod name;` in the file `file`.
pub(crate) fn submodule(file: &Path, name: &str) -> PathBuf {
    let owns_folder = ["lib", "main", "mod"]
        .iter()
        .any(|stem| file.ends_with(format!("{stem}.rs")));
    if owns_folder {
        file.with_file_name(name)
    } else {
        file.with_extension("").join(name)
    }
}

// ---- Formulas ----

/// A character of a doc comment, with what the markup around it says.
struct Glyph {
    char: char,
    line: usize,
    is_code: bool,
    is_math: bool,
}

/// Finds formulas in doc comments that Markdown would change, for example by reading `_` as emphasis. Returns `line: problem`
/// for each.
fn garbled_formulas(source: &str) -> Vec<String> {
    let mut problems = BTreeSet::new();
    for paragraph in paragraphs(source) {
        let (glyphs, unpaired) = glyphs(&paragraph);
        if let Some(line) = unpaired {
            problems.insert((line, "unpaired dollar sign in a doc comment".to_owned()));
        }
        problems.extend(eaten_characters(&glyphs));
        problems.extend(emphasis(&glyphs));
        problems.extend(list_items(&glyphs));
    }
    problems
        .into_iter()
        .map(|(line, problem)| format!("{line}: {problem}"))
        .collect()
}

/// Splits all doc comments of a source file into paragraphs. Each line has its line number; code blocks are omitted.
fn paragraphs(source: &str) -> Vec<Vec<(usize, &str)>> {
    let mut paragraphs = vec![Vec::new()];
    let mut fence: Option<&str> = None;
    for (line, text) in (1..).zip(source.lines()) {
        let text = text.trim_start();
        let is_doc =
            (text.starts_with("///") && !text.starts_with("////")) || text.starts_with("//!");
        if !is_doc {
            fence = None;
            paragraphs.push(Vec::new());
            continue;
        }
        let text = text[3..].trim_start();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| text.starts_with(marker));
        if fence.is_some() || marker.is_some() {
            fence = if fence.is_none() {
                marker
            } else {
                fence.filter(|open| Some(*open) != marker)
            };
            paragraphs.push(Vec::new());
        } else if text.trim().is_empty() {
            paragraphs.push(Vec::new());
        } else if let Some(paragraph) = paragraphs.last_mut() {
            paragraph.push((line, text));
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Splits a paragraph into characters, marked as code span, formula or text. Also returns the line of a dollar sign without a
/// closing one.
fn glyphs(paragraph: &[(usize, &str)]) -> (Vec<Glyph>, Option<usize>) {
    let mut glyphs = Vec::new();
    for &(line, text) in paragraph {
        for char in text.chars().chain(['\n']) {
            glyphs.push(Glyph {
                char,
                line,
                is_code: false,
                is_math: false,
            });
        }
    }
    let mut at = 0;
    while at < glyphs.len() {
        let ticks = run(&glyphs, at, '`');
        let mut next = at + ticks.max(1);
        if ticks > 0 {
            let mut end = next;
            while end < glyphs.len() && run(&glyphs, end, '`') != ticks {
                end += run(&glyphs, end, '`').max(1);
            }
            if end < glyphs.len() {
                next = end + ticks;
                glyphs[at..next]
                    .iter_mut()
                    .for_each(|glyph| glyph.is_code = true);
            }
        } else if glyphs[at].char == '\\' {
            next += 1;
        }
        at = next;
    }

    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    while at < glyphs.len() {
        let dollars = if glyphs[at].is_code {
            0
        } else {
            run(&glyphs, at, '$').min(2)
        };
        let is_escaped = open.is_none() && at > 0 && glyphs[at - 1].char == '\\';
        match open {
            _ if dollars == 0 || is_escaped => {}
            None => open = Some((dollars, at)),
            Some((opened, start)) if dollars == opened => {
                glyphs[start..at + dollars]
                    .iter_mut()
                    .for_each(|glyph| glyph.is_math = true);
                open = None;
            }
            Some(_) => {}
        }
        at += dollars.max(1);
    }
    let unpaired = open.map(|(_, at)| glyphs[at].line);
    (glyphs, unpaired)
}

/// Returns the number of equal characters `char` in a row from the index `at` on.
fn run(glyphs: &[Glyph], at: usize, char: char) -> usize {
    glyphs[at..]
        .iter()
        .take_while(|glyph| glyph.char == char)
        .count()
}

/// Finds backslashes before punctuation, and opening tags, in formulas: Markdown would remove them. Returns the line and a
/// message for each.
fn eaten_characters(glyphs: &[Glyph]) -> Vec<(usize, String)> {
    let mut problems = Vec::new();
    let mut at = 0;
    while at < glyphs.len() {
        let Glyph {
            char,
            line,
            is_math,
            ..
        } = glyphs[at];
        let n_backslashes = run(glyphs, at, '\\');
        let end = at + n_backslashes.max(1);
        let next = glyphs.get(end).map_or('\n', |glyph| glyph.char);
        // Four backslashes leave the two that end a row of an array.
        let is_row_end = n_backslashes == 4 && !next.is_ascii_punctuation();
        let is_eaten = n_backslashes > 1 || next.is_ascii_punctuation() || next == '\n';
        if is_math && n_backslashes > 0 && is_eaten && !is_row_end {
            let eaten = format!(
                "{}{}",
                "\\".repeat(n_backslashes),
                next.to_string().trim_end()
            );
            problems.push((
                line,
                format!("Markdown eats a backslash of `{eaten}` in a formula"),
            ));
        }
        if is_math && char == '<' && (next.is_ascii_alphabetic() || "/!?".contains(next)) {
            problems.push((
                line,
                format!("Markdown reads `<{next}` in a formula as a tag; add a space"),
            ));
        }
        at = end;
    }
    problems
}

/// Finds lines within a formula that Markdown reads as the start of a list or a quotation. Returns the line and a message for
/// each.
fn list_items(glyphs: &[Glyph]) -> Vec<(usize, String)> {
    let starts = glyphs.windows(3).filter(|three| {
        let is_inside = three[0].is_math && three[1].is_math;
        let is_mark = matches!(three[1].char, '+' | '-' | '*' | '>');
        is_inside && three[0].char == '\n' && is_mark && three[2].char.is_whitespace()
    });
    starts
        .map(|three| {
            let mark = three[1].char;
            let problem = format!("a line of a formula that starts with `{mark}` ends it; ");
            (three[1].line, problem + "put the sign on the line before")
        })
        .collect()
}

/// Finds a pair of `_` or `*` that Markdown reads as emphasis although one of them is in a formula. Returns the line and a
/// message for the first pair.
fn emphasis(glyphs: &[Glyph]) -> Option<(usize, String)> {
    let char_at = |at: Option<usize>| {
        at.and_then(|at| glyphs.get(at))
            .map_or(' ', |glyph| glyph.char)
    };
    let mut openers: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < glyphs.len() {
        let Glyph { char, is_code, .. } = glyphs[at];
        let length = run(glyphs, at, char);
        if is_code || !matches!(char, '_' | '*') {
            at += 1;
            continue;
        }
        let (before, after) = (char_at(at.checked_sub(1)), char_at(Some(at + length)));
        if before == '\\' {
            at += length;
            continue;
        }
        let (space_before, space_after) = (before.is_whitespace(), after.is_whitespace());
        let (mark_before, mark_after) =
            (before.is_ascii_punctuation(), after.is_ascii_punctuation());
        let is_left = !space_after && (!mark_after || space_before || mark_before);
        let is_right = !space_before && (!mark_before || space_after || mark_after);
        let (can_open, can_close) = match char {
            '_' => (
                is_left && (!is_right || mark_before),
                is_right && (!is_left || mark_after),
            ),
            _ => (is_left, is_right),
        };
        let opener = openers
            .iter()
            .rposition(|&opener| glyphs[opener].char == char);
        if can_close && let Some(found) = opener {
            let opener = &glyphs[openers[found]];
            if opener.is_math || glyphs[at].is_math {
                let problem = format!("Markdown reads two `{char}` around a formula as emphasis; ");
                return Some((opener.line, problem + "put a space before the first"));
            }
            openers.truncate(found);
        } else if can_open {
            openers.push(at);
        }
        at += length;
    }
    None
}

// ---- Panics ----

/// Source text with comments, strings and test items blanked out.
pub(crate) struct Code {
    text: Vec<char>,
    /// Names in `#[cfg(test)] mod name;`.
    test_modules: Vec<String>,
}

impl Code {
    pub(crate) fn new(source: &str) -> Self {
        Self::with_literals_as(source, ' ')
    }

    /// Marks the characters of literals by quotation marks, so that a line within a string does not look blank.
    pub(crate) fn with_marks(source: &str) -> Self {
        Self::with_literals_as(source, '"')
    }

    fn with_literals_as(source: &str, mark: char) -> Self {
        let mut text = without_comments_and_literals(source, mark);
        let mut test_modules = Vec::new();
        for (attribute, is_inner) in [
            ("#![cfg(test)]", true),
            ("#[cfg(test)]", false),
            ("#[test]", false),
        ] {
            while let Some(start) = find(&text, attribute) {
                let end = if is_inner {
                    text.len()
                } else {
                    end_of_item(&text, start + attribute.len())
                };
                let item: String = text[start + attribute.len()..end].iter().collect();
                if let Some(declaration) = item.trim_end().strip_suffix(';') {
                    let words: Vec<_> = declaration.split_whitespace().collect();
                    if let [.., "mod", name] = words[..] {
                        test_modules.push(name.to_owned());
                    }
                }
                fill(&mut text[start..end], ' ');
            }
        }
        Self { text, test_modules }
    }

    /// Returns the remaining text, in which each line has the number of the line in the source.
    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Returns the paths, without `.rs`, of the test modules that the file declares.
    pub(crate) fn test_modules(&self, file: &Path) -> impl Iterator<Item = PathBuf> {
        let modules = self.test_modules.iter();
        modules.map(|module| submodule(file, module))
    }

    /// Finds calls in the code that can panic. Returns `line: problem` for each.
    fn panics(&self) -> Vec<String> {
        let text: String = self.text.iter().collect();
        let mut problems = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            for panic in PANICS {
                let is_word = |at: usize| {
                    let before = text[..at].chars().next_back();
                    panic.starts_with('.')
                        || !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                };
                if text.match_indices(panic).any(|(at, _)| is_word(at)) {
                    problems.push(format!(
                        "{line}: `{panic}` in library code; return an error"
                    ));
                }
            }
        }
        problems
    }
}

fn find(text: &[char], needle: &str) -> Option<usize> {
    let needle: Vec<char> = needle.chars().collect();
    text.windows(needle.len())
        .position(|window| window == needle)
}

/// Overwrites a text with the character `mark`. Line breaks stay.
fn fill(text: &mut [char], mark: char) {
    text.iter_mut()
        .filter(|char| **char != '\n')
        .for_each(|char| *char = mark);
}

/// Returns the index after the end of the item that starts at `start`: after its semicolon or its closing brace.
fn end_of_item(text: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, char) in text.iter().enumerate().skip(start) {
        match char {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *char == '}' {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Replaces comments by spaces and the characters of string and character literals by `mark`. Line breaks stay.
fn without_comments_and_literals(source: &str, mark: char) -> Vec<char> {
    let mut text: Vec<char> = source.chars().collect();
    let mut at = 0;
    while at < text.len() {
        let end = literal_end(&text, at);
        match end {
            Some(end) => {
                let mark = if text[at] == '/' { ' ' } else { mark };
                fill(&mut text[at..end], mark);
                at = end;
            }
            None => at += 1,
        }
    }
    text
}

/// Returns the index after the comment or literal that starts at `at`; `None` if no comment or literal starts there.
fn literal_end(text: &[char], at: usize) -> Option<usize> {
    let char = |offset: usize| text.get(at + offset).copied().unwrap_or('\n');
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    match char(0) {
        '/' if char(1) == '/' => Some(
            text[at..]
                .iter()
                .position(|c| *c == '\n')
                .map_or(text.len(), |n| at + n),
        ),
        '/' if char(1) == '*' => {
            let (mut depth, mut end) = (1, at + 2);
            while end < text.len() && depth > 0 {
                match (text[end], text.get(end + 1)) {
                    ('/', Some('*')) => (depth, end) = (depth + 1, end + 2),
                    ('*', Some('/')) => (depth, end) = (depth - 1, end + 2),
                    _ => end += 1,
                }
            }
            Some(end)
        }
        'r' if matches!(char(1), '"' | '#')
            && (at == 0 || !is_word(text[at - 1]) || matches!(text[at - 1], 'b' | 'c')) =>
        {
            let hashes = text[at + 1..].iter().take_while(|c| **c == '#').count();
            if char(1 + hashes) != '"' {
                return None;
            }
            let close: String = format!("\"{}", "#".repeat(hashes));
            let body = at + hashes + 2;
            Some(find(&text[body..], &close).map_or(text.len(), |n| body + n + close.len()))
        }
        '"' => Some(quoted_end(text, at)),
        // A character, not a lifetime.
        '\'' if char(1) == '\\' || char(2) == '\'' => Some(quoted_end(text, at)),
        _ => None,
    }
}

/// Returns the index after the string or character literal that starts at `at`. Escaped quotation marks do not end the literal.
fn quoted_end(text: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text[end] != text[at] {
        end += if text[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Problems of a doc comment with these lines.
    fn garbled(doc: &str) -> Vec<String> {
        let comment: String = doc.lines().map(|line| format!("/// {line}\n")).collect();
        garbled_formulas(&comment)
    }

    #[test]
    fn formulas_in_the_house_style_pass() {
        let doc = r"The map $\Gamma(u)$, `u` $= \mathrm{D}\phi(q)$, and $x_i^\ast$; `\|` and `$` in code.
            $$ p^+ = p^- - 2 \frac{\langle p^-, u\rangle_g}{\lVert u\rVert_g^2} u $$
            $$ \begin{aligned} a &= b \\\\ c &= d \end{aligned} $$ A *word*, a \* and a < b.
            ```
            let price = '$'; // \| \{
            ```";
        assert_eq!(garbled(doc), [""; 0]);
    }

    #[test]
    fn an_eaten_backslash_is_reported() {
        for formula in [
            r"$\|u\|$",
            r"$\{u\}$",
            r"$a\,b$",
            r"$a\!b$",
            r"$$ a\;b $$",
            r"$a \\ b$",
        ] {
            assert!(!garbled(formula).is_empty(), "{formula}");
        }
        assert_eq!(
            garbled("one\ntwo $a\\,b$"),
            ["2: Markdown eats a backslash of `\\,` in a formula"]
        );
        assert_eq!(garbled(r"Not a \[link\] and not `$\|u\|$`."), [""; 0]);
    }

    #[test]
    fn accidental_emphasis_is_reported() {
        assert_eq!(garbled(r"$\hat{x}_a + y_{b}$").len(), 1);
        assert_eq!(garbled(r"$a*b$ and $c*d$").len(), 1);
        assert_eq!(garbled(r"$x_{i} + y_{j}$ and $\hat x_i$"), [""; 0]);
    }

    #[test]
    fn a_sign_at_the_start_of_a_line_is_reported() {
        assert_eq!(garbled("$$ a\n  + b $$").len(), 1);
        assert_eq!(garbled("$$ a +\n  b, \\quad -c $$\n"), [""; 0]);
    }

    #[test]
    fn an_accidental_tag_and_an_unpaired_dollar_are_reported() {
        assert_eq!(garbled("$a <b$").len(), 1);
        assert_eq!(garbled("the map $x").len(), 1);
    }

    #[test]
    fn a_panic_in_library_code_is_reported() {
        let source =
            "fn f() {\n    g().unwrap();\n    h().expect(\"h\");\n    panic!();\n    todo!()\n}\n";
        assert_eq!(Code::new(source).panics().len(), 4);
    }

    #[test]
    fn tests_comments_and_strings_may_panic() {
        let source = r##"
            //! g().unwrap()
            /// ```
            /// g().unwrap();
            /// ```
            fn f<'a>(x: &'a str) -> char {
                /* panic!() /* todo!() */ */
                let _ = (r#"" panic!()"#, "\" todo!()", b'"', '\'', "{");
                let _ = x.unwrap_or_default();
                '"'
            }
            #[cfg(test)]
            pub(crate) mod testing;
            #[cfg(test)]
            mod tests {
                #[test]
                fn g() { h().unwrap(); }
            }
            fn last() { i().unwrap() }
        "##;
        let code = Code::new(source);
        assert_eq!(
            code.panics(),
            ["19: `.unwrap()` in library code; return an error"]
        );
        assert_eq!(code.test_modules, ["testing"]);
    }

    #[test]
    fn the_workspace_is_tidy() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
