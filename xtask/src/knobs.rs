//! `cargo xtask knobs`: how many named numbers the library has, with ceilings that may only fall.
//!
//! A constant of a library crate is a scalar with a doc comment, whose first paragraph says what it bounds, in which unit
//! or scale, and why. Comparisons with numbers that have no name are counted, too. Crates that draw or talk to a user keep the
//! sizes of their pictures and texts to themselves.

use crate::sources::sources;
use std::path::Path;

/// Flags of `cargo xtask knobs`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print every constant, and every comparison with a number that has no name.
    #[arg(long)]
    list: bool,
}

/// Crates whose constants are sizes of pictures and texts, defaults of examples, or the facade's.
const ASIDE: [&str; 4] = ["carom", "carom-cli", "carom-report", "carom-scenarios"];

/// Constants of the library. The number may fall, and never rises. Until the laws have moved to the contact problem, the constants of the
/// old cone solvers (113) stand beside the 42 that replace them.
const CONSTANTS_CEILING: usize = 690;

/// Comparisons with bare numbers in the library. The number may fall, and never rises.
const BARE_CEILING: usize = 8;

/// Numbers that mean themselves: nothing, all, twice, half.
const PLAIN: [f64; 4] = [0.0, 1.0, 2.0, 0.5];

/// Types of scalar constants.
const TYPES: [&str; 8] = ["f64", "usize", "u64", "u32", "u16", "u8", "i32", "i64"];

/// Prints the numbers of constants and of comparisons with bare numbers. Returns one line for every fault.
pub(crate) fn knobs(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let scan = Scan::new(root)?;
    if args.list {
        for c in &scan.constants {
            println!(
                "{}:{}: {} = {}: {}",
                c.file, c.line, c.name, c.value, c.reason
            );
        }
        scan.bare.iter().for_each(|line| println!("{line}"));
    }
    println!(
        "{} constants of at most {CONSTANTS_CEILING}; {} comparisons with bare numbers of at most {BARE_CEILING}",
        scan.constants.len(),
        scan.bare.len()
    );
    Ok(scan.violations())
}

/// Checks the named constants of the source. Returns one line for every constant without a reason in its comment, and one if
/// there are too many constants or comparisons with unnamed numbers.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    Ok(Scan::new(root)?.violations())
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

/// Constants of the library, and its comparisons with bare numbers.
struct Scan {
    constants: Vec<Constant>,
    bare: Vec<String>,
}

impl Scan {
    fn new(root: &Path) -> anyhow::Result<Self> {
        let mut scan = Self {
            constants: Vec::new(),
            bare: Vec::new(),
        };
        for source in sources(root)? {
            if ASIDE.contains(&source.package.as_str()) {
                continue;
            }
            let code = source.code.text();
            let label = &source.label;
            scan.constants.extend(constants(label, &source.text, &code));
            let lines = bare_numbers(&code);
            scan.bare
                .extend(lines.into_iter().map(|line| format!("{label}:{line}")));
        }
        Ok(scan)
    }

    fn violations(&self) -> Vec<String> {
        let unreasoned = self.constants.iter().filter(|c| c.reason.is_empty());
        let mut lines: Vec<String> = unreasoned
            .map(|c| {
                format!(
                    "{}:{}: `{}` has no doc comment: say what it bounds, and why",
                    c.file, c.line, c.name
                )
            })
            .collect();
        if self.constants.len() > CONSTANTS_CEILING {
            lines.push(format!(
                "{} constants, more than {CONSTANTS_CEILING}: a new one replaces an old one \
                 (`cargo xtask knobs --list`)",
                self.constants.len()
            ));
        }
        if self.bare.len() > BARE_CEILING {
            lines.push(format!(
                "{} comparisons with bare numbers, more than {BARE_CEILING}: give the new one a name \
                 (`cargo xtask knobs --list`)",
                self.bare.len()
            ));
        }
        lines
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
        let code = crate::tidy::Code::new(text).text();
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
    fn every_constant_has_a_reason_and_none_is_too_many() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }
}
