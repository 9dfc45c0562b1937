//! `cargo xtask sizes`: how large the workspace is, with ceilings that fall with the code.
//!
//! A code line is a line of `crates/*/src` that is not blank, not a comment, not part of a `use` declaration and not
//! test code. The ceilings stand in `xtask/data/sizes.toml`. The limit for functions (100 lines) is Clippy's.

use crate::sources::sources;
use crate::tidy::{Code, collect};
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Flags of `cargo xtask sizes`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Lower every ceiling that is above the present size; none is raised.
    #[arg(long)]
    lower: bool,
}

/// The ceilings, from the workspace's root.
const FILE: &str = "xtask/data/sizes.toml";

/// First lines of the file of ceilings.
const PREFACE: &str = "\
# Ceilings of `cargo xtask sizes`; `cargo xtask sizes --lower` lowers them to the present sizes.
# A ceiling is raised by hand, in a commit that names the feature that needs it.
";

/// Folders with Rust files, from the root.
const FOLDERS: [&str; 5] = ["benches", "crates", "examples", "python", "xtask"];

/// Ceilings of code lines are multiples of this number of lines.
const STEP: u64 = 50;

/// Ceilings of all Rust lines and of the bytes of records are multiples of this number.
const LARGE_STEP: u64 = 1000;

/// Sizes of the workspace, or their ceilings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    /// Lines of a Rust file; longer ones stand in `files`.
    file_lines: u64,
    /// Bytes of the folder `golden`.
    golden_bytes: u64,
    /// Lines of all Rust files, with tests, comments and tools.
    rust_lines: u64,
    /// Code lines of all crates.
    code_lines: u64,
    /// Code lines by crate.
    crates: BTreeMap<String, u64>,
    /// Lines of the files that have more than `file_lines`.
    #[serde(default)]
    files: BTreeMap<String, u64>,
}

/// Prints the sizes of the workspace and compares them with their ceilings. Returns one line for every size above its
/// ceiling, and for every crate without one.
pub(crate) fn sizes(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let ceilings = Sizes::ceilings(root)?;
    let found = Sizes::measured(root, ceilings.file_lines)?;
    for (name, lines) in &found.crates {
        let ceiling = ceilings.crates.get(name).copied().unwrap_or_default();
        println!("{name:20} {lines:7} code lines of at most {ceiling}");
    }
    println!(
        "{:20} {:7} code lines of at most {}",
        "all crates", found.code_lines, ceilings.code_lines
    );
    println!(
        "{:20} {:7} lines of Rust of at most {}",
        "the repository", found.rust_lines, ceilings.rust_lines
    );
    println!(
        "{:20} {:7} kB of at most {}",
        "golden",
        found.golden_bytes / 1000,
        ceilings.golden_bytes / 1000
    );
    if args.lower {
        let text = format!(
            "{PREFACE}{}",
            toml::to_string(&ceilings.lowered(&found)).context(FILE)?
        );
        fs::write(root.join(FILE), text).with_context(|| format!("writing {FILE}"))?;
    }
    Ok(found.above(&ceilings))
}

impl Sizes {
    fn ceilings(root: &Path) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(root.join(FILE)).with_context(|| format!("reading {FILE}"))?;
        toml::from_str(&text).context(FILE)
    }

    /// Measures the workspace; files of more than `file_lines` lines are listed.
    fn measured(root: &Path, file_lines: u64) -> anyhow::Result<Self> {
        let mut crates = BTreeMap::new();
        for source in sources(root)? {
            *crates.entry(source.package).or_default() += code_lines(&source.text);
        }
        let mut rust_lines = 0;
        let mut files = BTreeMap::new();
        for file in rust_files(root)? {
            let text =
                fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
            let lines = text.lines().count() as u64;
            rust_lines += lines;
            if lines > file_lines {
                let label = file.strip_prefix(root).unwrap_or(&file).display();
                files.insert(label.to_string().replace('\\', "/"), lines);
            }
        }
        let mut golden_bytes = 0;
        for entry in fs::read_dir(root.join("golden")).context("reading golden/")? {
            golden_bytes += entry?.metadata()?.len();
        }
        Ok(Self {
            file_lines,
            golden_bytes,
            rust_lines,
            code_lines: crates.values().sum(),
            crates,
            files,
        })
    }

    /// Returns one line for every size above its ceiling, and for every crate and long file without one.
    fn above(&self, ceilings: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut compare = |name: &str, unit: &str, found: u64, ceiling: Option<u64>| {
            if ceiling.is_none_or(|ceiling| found > ceiling) {
                let ceiling = ceiling.map_or_else(|| "none".to_owned(), |c| c.to_string());
                lines.push(format!(
                    "{name}: {found} {unit}, ceiling {ceiling} ({FILE})"
                ));
            }
        };
        compare(
            "golden",
            "bytes",
            self.golden_bytes,
            Some(ceilings.golden_bytes),
        );
        compare(
            "the repository",
            "lines of Rust",
            self.rust_lines,
            Some(ceilings.rust_lines),
        );
        compare(
            "all crates",
            "code lines",
            self.code_lines,
            Some(ceilings.code_lines),
        );
        for (name, found) in &self.crates {
            compare(
                name,
                "code lines",
                *found,
                ceilings.crates.get(name).copied(),
            );
        }
        for (name, found) in &self.files {
            let ceiling = ceilings.files.get(name).copied();
            compare(name, "lines", *found, ceiling.or(Some(ceilings.file_lines)));
        }
        lines
    }

    /// Returns the ceilings, none above the size that was found, rounded up. Those of crates and long files that are no
    /// more are left out.
    fn lowered(&self, found: &Self) -> Self {
        let lower = |ceiling: u64, found: u64, step: u64| ceiling.min(found.div_ceil(step) * step);
        let lower_all = |ceilings: &BTreeMap<String, u64>, found: &BTreeMap<String, u64>, step| {
            let kept = ceilings
                .iter()
                .filter_map(|(name, ceiling)| Some((name, ceiling, found.get(name)?)));
            kept.map(|(name, ceiling, found)| (name.clone(), lower(*ceiling, *found, step)))
                .collect()
        };
        Self {
            file_lines: self.file_lines,
            // A ceiling of its own, which new scenarios may fill.
            golden_bytes: self.golden_bytes,
            rust_lines: lower(self.rust_lines, found.rust_lines, LARGE_STEP),
            code_lines: lower(self.code_lines, found.code_lines, STEP),
            crates: lower_all(&self.crates, &found.crates, STEP),
            files: lower_all(&self.files, &found.files, 1),
        }
    }
}

/// Counts the code lines of a source text.
fn code_lines(text: &str) -> u64 {
    let code = Code::with_marks(text).text();
    let mut count = 0;
    let mut is_use = false;
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        is_use = is_use || starts_use(line);
        if is_use {
            is_use = !line.contains(';');
        } else {
            count += 1;
        }
    }
    count
}

/// True if a line of code begins a `use` declaration.
fn starts_use(line: &str) -> bool {
    let rest = match line.strip_prefix("pub") {
        Some(rest) => match rest.strip_prefix('(') {
            Some(scope) => scope.split_once(')').map_or("", |(_, rest)| rest),
            None => rest,
        },
        None => line,
    };
    rest.trim_start().starts_with("use ")
}

fn rust_files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in FOLDERS.map(|folder| root.join(folder)) {
        if folder.is_dir() {
            collect(&folder, &mut files)?;
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_uses_and_tests_are_no_code() {
        let text = r#"//! A file.
use std::{
    fs,
    path,
};
pub(crate) use a::b;

/// A function.
pub fn f() -> &'static str { // one
    /* not
       these */
    "two
     three" // four is the brace
}

#[cfg(test)]
mod tests {
    fn g() {}
}
"#;
        assert_eq!(code_lines(text), 4);
    }

    #[test]
    fn ceilings_fall_and_never_rise() {
        let sizes = |lines: u64| Sizes {
            file_lines: 700,
            golden_bytes: lines,
            rust_lines: lines,
            code_lines: lines,
            crates: BTreeMap::from([("a".to_owned(), lines)]),
            files: BTreeMap::new(),
        };
        let ceilings = sizes(2000);
        assert_eq!(ceilings.lowered(&sizes(3000)), ceilings);
        let lowered = ceilings.lowered(&sizes(1201));
        assert_eq!((lowered.crates["a"], lowered.code_lines), (1250, 1250));
        assert_eq!((lowered.rust_lines, lowered.golden_bytes), (2000, 2000));
        assert!(sizes(1201).above(&lowered).is_empty());
        assert_eq!(sizes(2001).above(&ceilings).len(), 4);
    }

    #[test]
    fn the_workspace_is_below_its_ceilings() {
        let root = crate::workspace_root();
        let ceilings = Sizes::ceilings(&root).unwrap();
        let found = Sizes::measured(&root, ceilings.file_lines).unwrap();
        assert_eq!(found.above(&ceilings), [""; 0]);
    }
}
