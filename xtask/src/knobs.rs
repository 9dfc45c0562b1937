//! `cargo xtask knobs`: the page of the book that lists every tolerance and limit, made from the constants of the
//! source; and a ceiling on comparisons with numbers that have no name.
//!
//! A constant of a library crate is a scalar with a doc comment, whose first paragraph says what it bounds, in which unit
//! or scale, and why. Crates that draw or talk to a user keep the sizes of their pictures and texts to themselves.

use crate::tidy::{Code, collect, is_test_module};
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Flags of `cargo xtask knobs`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the page instead of comparing with it.
    #[arg(long)]
    bless: bool,
    /// Print every comparison with a number that has no name.
    #[arg(long)]
    list: bool,
}

/// The page, from the workspace's root.
const PAGE: &str = "docs/src/tolerances.md";

/// Crates whose constants are sizes of pictures and texts, defaults of examples, or the facade's.
const ASIDE: [&str; 4] = ["carom", "carom-cli", "carom-report", "carom-scenarios"];

/// Comparisons with bare numbers in the library. The number may fall, and never rises.
const CEILING: usize = 24;

/// Numbers that mean themselves: nothing, all, twice, half.
const PLAIN: [f64; 4] = [0.0, 1.0, 2.0, 0.5];

/// Types of scalar constants.
const TYPES: [&str; 8] = ["f64", "usize", "u64", "u32", "u16", "u8", "i32", "i64"];

/// Checks the page on tolerances and limits, which is generated from the named constants in the source. With the option `bless`
/// the page is rewritten first. Returns one line for every fault.
pub(crate) fn knobs(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let scan = Scan::new(root)?;
    if args.bless {
        let path = root.join(PAGE);
        fs::write(&path, scan.page()).with_context(|| format!("writing {}", path.display()))?;
    }
    if args.list {
        scan.bare.iter().for_each(|line| println!("{line}"));
    }
    println!(
        "{} constants; {} comparisons with bare numbers of at most {CEILING}",
        scan.constants.values().map(Vec::len).sum::<usize>(),
        scan.bare.len()
    );
    scan.violations(root)
}

/// Checks the named constants of the source. Returns one line for every constant without a reason in its comment, one if the
/// page of constants differs from the source, and one if too many comparisons contain unnamed numbers.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    Scan::new(root)?.violations(root)
}

/// A named number of the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Constant {
    file: String,
    line: usize,
    name: String,
    value: String,
    reason: String,
}

/// Constants of the library by crate, and its comparisons with bare numbers.
struct Scan {
    constants: BTreeMap<String, Vec<Constant>>,
    bare: Vec<String>,
}

impl Scan {
    fn new(root: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        collect(&root.join("crates"), &mut files)?;
        files.sort();
        let mut sources = Vec::new();
        let mut test_modules = BTreeSet::new();
        for file in &files {
            let label = file.strip_prefix(root).unwrap_or(file).display();
            let label = label.to_string().replace('\\', "/");
            let mut parts = label.split('/').skip(1);
            let (Some(package), Some("src")) = (parts.next(), parts.next()) else {
                continue;
            };
            if ASIDE.contains(&package) {
                continue;
            }
            let text =
                fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
            let code = Code::new(&text);
            test_modules.extend(code.test_modules(file));
            sources.push((file.clone(), label.clone(), package.to_owned(), text, code));
        }
        let mut scan = Self {
            constants: BTreeMap::new(),
            bare: Vec::new(),
        };
        for (file, label, package, text, code) in sources {
            if is_test_module(&file, &test_modules) {
                continue;
            }
            let code = code.text();
            let found = constants(&label, &text, &code);
            scan.constants.entry(package).or_default().extend(found);
            let lines = bare_numbers(&code);
            scan.bare
                .extend(lines.into_iter().map(|line| format!("{label}:{line}")));
        }
        Ok(scan)
    }

    fn violations(&self, root: &Path) -> anyhow::Result<Vec<String>> {
        let all = self.constants.values().flatten();
        let unreasoned = all.filter(|constant| constant.reason.is_empty());
        let mut lines: Vec<String> = unreasoned
            .map(|c| {
                format!(
                    "{}:{}: `{}` has no doc comment: say what it bounds, and why",
                    c.file, c.line, c.name
                )
            })
            .collect();
        if self.bare.len() > CEILING {
            lines.push(format!(
                "{} comparisons with bare numbers, more than {CEILING}: give the new one a name \
                 (`cargo xtask knobs --list`)",
                self.bare.len()
            ));
        }
        let path = root.join(PAGE);
        let found = fs::read_to_string(&path).unwrap_or_default();
        if found.replace("\r\n", "\n") != self.page() {
            lines.push(format!(
                "{PAGE} is not what the source says; run `cargo xtask knobs --bless`"
            ));
        }
        Ok(lines)
    }

    fn page(&self) -> String {
        let mut text = PREFACE.to_owned();
        for (package, constants) in &self.constants {
            if constants.is_empty() {
                continue;
            }
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "\n## {package}\n\n| constant | value | file | bounds |"
            );
            text.push_str("| --- | --- | --- | --- |\n");
            for constant in constants {
                let prefix = format!("crates/{package}/src/");
                let file = constant.file.strip_prefix(&prefix);
                let file = file.unwrap_or(&constant.file);
                let _ = writeln!(
                    text,
                    "| `{}` | `{}` | `{file}` | {} |",
                    constant.name,
                    constant.value,
                    cell(&constant.reason)
                );
            }
        }
        text
    }
}

/// Returns the scalar constants that a source file defines. `text` is the source, and `code` the source without comments,
/// strings and tests.
fn constants(file: &str, text: &str, code: &str) -> Vec<Constant> {
    let lines: Vec<&str> = text.lines().collect();
    let codes: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (k, line) in codes.iter().enumerate() {
        let Some((_, rest)) = line.split_once("const ") else {
            continue;
        };
        let Some((name, rest)) = rest.split_once(": ") else {
            continue;
        };
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let Some((kind, value)) = rest.split_once(" =") else {
            continue;
        };
        if !name.chars().all(is_name) || !TYPES.contains(&kind) {
            continue;
        }
        let mut value = value.trim().to_owned();
        for next in codes.iter().skip(k + 1) {
            if value.contains(';') {
                break;
            }
            value.push_str(next.trim());
        }
        found.push(Constant {
            file: file.to_owned(),
            line: k + 1,
            name: name.to_owned(),
            value: value.trim_end_matches(';').to_owned(),
            reason: doc(&lines[..k]),
        });
    }
    found
}

/// Returns the first paragraph of the doc comment above an item. `above` holds the lines above the item; attributes are
/// skipped.
fn doc(above: &[&str]) -> String {
    let is_attribute = |line: &&&str| line.trim_start().starts_with("#[");
    let comment = above.iter().rev().skip_while(is_attribute);
    let doc = comment.map_while(|line| line.trim_start().strip_prefix("///"));
    let mut lines: Vec<&str> = doc.map(str::trim).collect();
    lines.reverse();
    let first = lines.iter().take_while(|line| !line.is_empty());
    first.copied().collect::<Vec<_>>().join(" ")
}

/// Converts a doc comment to the cell of a Markdown table: links are replaced by their words, and vertical bars are escaped.
fn cell(doc: &str) -> String {
    let mut out = String::new();
    let mut is_math = false;
    let mut rest = doc;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '$' => is_math = !is_math,
            '|' => {
                out.push_str(if is_math { "\\vert " } else { "&#124;" });
                continue;
            }
            '[' if !is_math => {
                if let Some((words, after)) = rest.split_once(']') {
                    out.push_str(words);
                    rest = match after.strip_prefix('(').and_then(|a| a.split_once(')')) {
                        Some((_, after)) => after,
                        None => after,
                    };
                    continue;
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// Finds comparisons of a value with an unnamed floating-point literal that is not one of [`PLAIN`]. Returns `line: comparison`
/// for each.
fn bare_numbers(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (k, line) in code.lines().enumerate() {
        let is_constant = line.contains("const ") && line.contains(" = ");
        if !is_constant && compares_with_bare_number(line) {
            found.push(format!("{}: {}", k + 1, line.trim()));
        }
    }
    found
}

fn compares_with_bare_number(line: &str) -> bool {
    let bytes = line.as_bytes();
    let at = |k: usize| bytes.get(k).copied().unwrap_or(b' ');
    (0..bytes.len()).any(|k| {
        let (before, after) = (at(k.wrapping_sub(1)), at(k + 1));
        let is_operator = match bytes[k] {
            // Neither shifts, generics and arrows, nor the second half of `=>`.
            b'<' => before == b' ' && matches!(after, b' ' | b'='),
            b'>' => before == b' ' && matches!(after, b' ' | b'='),
            _ => false,
        };
        let end = k + 1 + usize::from(after == b'=');
        is_operator && (starts_with_bare(&line[end..]) || ends_with_bare(&line[..k]))
    })
}

fn starts_with_bare(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches('-');
    is_bare(
        text.split(|c: char| !is_literal(c))
            .next()
            .unwrap_or_default(),
    )
}

fn ends_with_bare(text: &str) -> bool {
    is_bare(
        text.trim_end()
            .rsplit(|c: char| !is_literal(c))
            .next()
            .unwrap_or_default(),
    )
}

/// True if a character may belong to a number literal. The sign of an exponent is not included; [`is_bare`] treats it.
fn is_literal(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_')
}

/// True if a word is a floating-point literal that is not one of [`PLAIN`]. The word may end before the sign of the exponent.
fn is_bare(word: &str) -> bool {
    let digits = word.replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.contains(['.', 'e']) {
        return false;
    }
    // `1e` is what is left of `1e-9`.
    let number = digits.strip_suffix('e');
    number.is_some() || digits.parse().is_ok_and(|x: f64| !PLAIN.contains(&x))
}

const PREFACE: &str = "\
# Tolerances and limits

Every named number that decides something in the library, made from the source by `cargo xtask knobs --bless`. A
relative tolerance is a share of the terms that it is compared with, so that units and sizes decide nothing; values that carry a
unit say so. Options that a user may turn stand in the tables of [the laws](laws.md) with these defaults.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_with_bare_numbers_are_found() {
        for line in [
            "if x <= 1e-9 * scale {",
            "while 3.0 < y {",
            "a.abs() > 0.7 && b",
            "!(x >= -10.0 * size)",
            "if x <= 1_000.5 {",
        ] {
            assert!(compares_with_bare_number(line), "{line}");
        }
        for line in [
            "if x <= 0.0 || y > 1.0 || z < 0.5 || w >= 2.0 {",
            "s => 120.0,",
            "fn f(x: Vec<f64>) -> f64 {",
            "if n < 12 {",
            "if x <= TOLERANCE * 3.0 {",
            "let y = x << 3;",
        ] {
            assert!(!compares_with_bare_number(line), "{line}");
        }
    }

    #[test]
    fn constants_come_with_value_and_reason() {
        let text = "/// Shortest normal (m).\n///\n/// More.\n#[rustfmt::skip]\npub const A: f64 =\n    1e-9;\nconst B: &str = \"\";\n";
        let code: String = Code::new(text).text();
        let found = constants("a.rs", text, &code);
        let [a] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (&*a.name, &*a.value, &*a.reason),
            ("A", "1e-9", "Shortest normal (m).")
        );
    }

    #[test]
    fn cells_have_no_links_and_no_bars() {
        assert_eq!(cell("a [`B`](c) | d, see [`E`]"), "a `B` &#124; d, see `E`");
        assert_eq!(cell("$|x|$"), "$\\vert x\\vert $");
    }

    #[test]
    fn the_page_is_what_the_source_says() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert_eq!(violations(root).unwrap(), [""; 0]);
    }
}
