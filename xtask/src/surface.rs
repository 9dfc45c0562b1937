//! `cargo xtask surface`: how much of the crates is public, and which public types are closed.
//!
//! Public enums and structs of options, specifications, laws and results are `#[non_exhaustive]`, so that a variant or a field may
//! be added without breaking a caller. Types that stay closed are listed in `xtask/data/exhaustive.toml` with a reason each.

use crate::sources::{Source, sources};
use crate::tidy::submodule;
use anyhow::Context as _;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Flags of `cargo xtask surface`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print every public item that counts, and every closed type.
    #[arg(long)]
    list: bool,
}

/// The ceilings and the closed types, from the workspace's root.
const FILE: &str = "xtask/data/exhaustive.toml";

/// Crates whose public items are counted.
const COUNTED: [&str; 2] = ["carom-contact", "carom-impact"];

/// Module whose items do not count: the other crates of the workspace use them, and its documentation promises nothing.
const INTERNAL: &str = "internal";

/// Ends of the names of structs of options.
const OPTIONS: [&str; 3] = ["Options", "Spec", "Limits"];

/// Traits of structs that are laws or solvers.
const LAWS: [&str; 3] = ["ImpactLaw", "SetValuedLaw", "LcpSolver"];

/// Attribute of what can be stored: results, specifications and poses.
const STORED: &str = "derive(serde::Serialize";

/// Largest number of types that may stay closed.
const MAX_CLOSED: usize = 30;

/// Fewest characters of a reason.
const SHORTEST_REASON: usize = 20;

/// Ceilings, and the types that stay closed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Public items of the crates [`COUNTED`].
    public_items: usize,
    /// Closed types that `types` does not list.
    undecided: usize,
    /// Reason of each type that stays closed, by `crate::Type`.
    types: BTreeMap<String, String>,
}

/// Checks the public surface. Returns one line for every ceiling that is exceeded and every listed type that does not exist, is
/// open or lacks a reason.
pub(crate) fn surface(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("reading {FILE}"))?;
    let rules: Rules = toml::from_str(&text).context(FILE)?;
    let sources = sources(root)?;
    let mut items = BTreeSet::new();
    for package in COUNTED {
        let of_crate: Vec<&Source> = sources.iter().filter(|s| s.package == package).collect();
        let found = public_items(&of_crate);
        println!("{package}: {} public items", found.len());
        items.extend(found.into_iter().map(|item| format!("{package}::{item}")));
    }
    let mut types = BTreeMap::new();
    for source in &sources {
        for (name, is_open) in open_or_closed(&source.code.text(), &source.package) {
            // Two modules of a crate may have types of one name.
            *types.entry(name).or_insert(true) &= is_open;
        }
    }
    let closed: Vec<&String> = types
        .iter()
        .filter(|(_, open)| !**open)
        .map(|t| t.0)
        .collect();
    let undecided: Vec<&String> = closed
        .iter()
        .copied()
        .filter(|name| !rules.types.contains_key(*name))
        .collect();
    println!(
        "{} public items of at most {}; of {} enums and structs of options, laws and results {} are closed, {} of them without a reason \
         of at most {}",
        items.len(),
        rules.public_items,
        types.len(),
        closed.len(),
        undecided.len(),
        rules.undecided
    );
    if args.list {
        items.iter().for_each(|item| println!("public: {item}"));
        undecided.iter().for_each(|name| println!("closed: {name}"));
    }
    Ok(faults(&rules, items.len(), &undecided, &types))
}

fn faults(
    rules: &Rules,
    n_items: usize,
    undecided: &[&String],
    types: &BTreeMap<String, bool>,
) -> Vec<String> {
    let mut lines = Vec::new();
    if n_items > rules.public_items {
        lines.push(format!(
            "{n_items} public items, more than {}: `cargo xtask surface --list`",
            rules.public_items
        ));
    }
    if undecided.len() > rules.undecided {
        lines.push(format!(
            "{} public types lack `#[non_exhaustive]`, more than {}: `cargo xtask surface --list`",
            undecided.len(),
            rules.undecided
        ));
    }
    if rules.types.len() > MAX_CLOSED {
        lines.push(format!(
            "{FILE} lists {} types, more than {MAX_CLOSED}",
            rules.types.len()
        ));
    }
    for (name, reason) in &rules.types {
        match types.get(name) {
            None => lines.push(format!("{FILE}: no public type `{name}`")),
            Some(true) => lines.push(format!("{FILE}: `{name}` is open")),
            Some(false) if reason.len() < SHORTEST_REASON => {
                lines.push(format!("{FILE}: `{name}` has no reason"));
            }
            Some(false) => {}
        }
    }
    lines
}

/// Returns the items of a crate that can be named from outside: modules, types, traits, functions, constants. Methods,
/// fields, re-exports of other crates and what is public only below [`INTERNAL`] do not count.
fn public_items(sources: &[&Source]) -> BTreeSet<String> {
    let (open, exported) = reachable(sources);
    let mut items = BTreeSet::new();
    let mut missing = exported.clone();
    for source in sources {
        let is_open = open.contains(&source.label);
        for line in source.code.text().lines() {
            let Some((kind, name)) = item(line) else {
                continue;
            };
            let is_exported = exported.contains(name);
            if is_exported {
                missing.remove(name);
            }
            let is_internal = kind == "mod" && name == INTERNAL;
            if is_open && !is_internal || is_exported && kind != "mod" {
                items.insert(format!("{kind} {name} ({})", source.label));
            }
        }
    }
    // Items that a macro defines.
    items.extend(missing.into_iter().map(|name| format!("macro {name}")));
    items
}

/// Follows `pub mod` from the root of a crate, except into [`INTERNAL`]. Returns the labels of the files of public modules, and
/// the names that they re-export from private ones.
fn reachable(sources: &[&Source]) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut open = BTreeSet::new();
    let mut exported = BTreeSet::new();
    let is_root = |source: &&&Source| source.label.ends_with("/src/lib.rs");
    let mut queue: Vec<&Source> = sources.iter().filter(is_root).copied().collect();
    while let Some(source) = queue.pop() {
        if !open.insert(source.label.clone()) {
            continue;
        }
        let code = source.code.text();
        for line in code.lines() {
            if let Some(("mod", name)) = item(line)
                && name != INTERNAL
            {
                let module = submodule(&source.file, name);
                let files = [module.with_extension("rs"), module.join("mod.rs")];
                queue.extend(sources.iter().filter(|s| files.contains(&s.file)));
            }
        }
        for part in code.split("\npub use ").skip(1) {
            let path = part.split(';').next().unwrap_or_default();
            let is_foreign = ["carom_", "nalgebra"].iter().any(|c| path.starts_with(c));
            if !is_foreign {
                exported.extend(last_names(path));
            }
        }
    }
    (open, exported)
}

/// Returns the names that a `use` path brings in: `a::{b::C, D as E}` gives `C` and `D`.
fn last_names(path: &str) -> impl Iterator<Item = String> {
    let words = path.split(['{', '}', ',']).map(str::trim);
    let names = words.filter(|word| !word.is_empty() && !word.ends_with("::"));
    names.map(|word| {
        let word = word.split(" as ").next().unwrap_or(word);
        word.rsplit("::").next().unwrap_or(word).to_owned()
    })
}

/// Reads the kind and the name of the public item that begins on a line without indentation.
fn item(line: &str) -> Option<(&'static str, &str)> {
    const KINDS: [&str; 8] = [
        "struct", "enum", "trait", "fn", "const", "type", "static", "mod",
    ];
    let mut words = line.strip_prefix("pub ")?.split_whitespace().peekable();
    loop {
        let word = words.next()?;
        let is_qualifier = matches!(word, "const" | "unsafe" | "async")
            && words
                .peek()
                .is_some_and(|next| matches!(*next, "fn" | "unsafe" | "async"));
        if is_qualifier {
            continue;
        }
        let kind = KINDS.into_iter().find(|kind| *kind == word)?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let name = words.next()?.split(|c| !is_name(c)).next()?;
        return Some((kind, name));
    }
}

/// True if `line` says that the type `name` implements a trait of [`LAWS`].
fn is_law(line: &str, name: &str) -> bool {
    LAWS.iter().any(|law| {
        let rest = line.strip_prefix("impl ").and_then(|l| l.strip_prefix(law));
        let implementor = rest.and_then(|l| l.strip_prefix(" for "));
        implementor.is_some_and(|l| l.trim_end_matches([' ', '{']) == name)
    })
}

/// Finds public enums and structs of options, specifications, laws and results that have public fields. Returns each as `crate::Type`, with `true` if it is `#[non_exhaustive]`.
fn open_or_closed(code: &str, package: &str) -> Vec<(String, bool)> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        let Some((kind, name)) = item(line) else {
            continue;
        };
        let is_end = |line: &&&str| [';', '}', '{'].iter().any(|end| line.ends_with(*end));
        let above = || lines[..k].iter().rev().take_while(|line| !is_end(line));
        let mut inside = lines[k + 1..]
            .iter()
            .take_while(|line| !line.starts_with('}'));
        let has_fields = line.contains("(pub ")
            || line.ends_with('{') && inside.any(|line| line.starts_with("pub "));
        let is_data = has_fields
            && (above().any(|line| line.contains(STORED)) || lines.iter().any(|l| is_law(l, name)));
        let is_options = OPTIONS.iter().any(|end| name.ends_with(end));
        if name.is_empty() || !(kind == "enum" || kind == "struct" && (is_options || is_data)) {
            continue;
        }
        let is_open = above().any(|line| line.contains("non_exhaustive"));
        found.push((format!("{package}::{name}"), is_open));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read() {
        assert_eq!(item("pub const fn f() {"), Some(("fn", "f")));
        assert_eq!(item("pub const N: usize = 3;"), Some(("const", "N")));
        assert_eq!(item("pub struct A<T>(T);"), Some(("struct", "A")));
        assert_eq!(item("pub(crate) fn f() {}"), None);
        assert_eq!(item("    pub fn f() {}"), None);
        let names: Vec<String> = last_names("a::{b::C, D as E,\n F}").collect();
        assert_eq!(names, ["C", "D", "F"]);
    }

    #[test]
    fn items_below_the_internal_module_do_not_count() {
        let source = |name: &str, text: &str| Source {
            package: "p".to_owned(),
            label: format!("crates/p/src/{name}.rs"),
            file: Path::new("crates/p/src").join(name).with_extension("rs"),
            text: text.to_owned(),
            code: crate::tidy::Code::new(text),
        };
        let files = [
            source("lib", "pub mod internal;\nmod a;\npub use a::A;\n"),
            source("a", "pub struct A;\npub struct B;\n"),
            source("internal", "pub use crate::a::B;\npub trait Inside {\n}\n"),
        ];
        let found = public_items(&files.iter().collect::<Vec<_>>());
        assert_eq!(Vec::from_iter(found), ["struct A (crates/p/src/a.rs)"]);
    }

    #[test]
    fn closed_types_are_found() {
        let code = "\
            #[derive(Clone)]\n#[non_exhaustive]\npub enum A {\n    B,\n}\n\n\
            #[derive(\n    Clone,\n)]\npub enum C {\n}\npub struct COptions {\n}\npub struct D;\n\n\
            #[cfg_attr(a, derive(serde::Serialize))]\npub struct E {\n    pub f: f64,\n}\n\
            #[cfg_attr(a, derive(serde::Serialize))]\npub struct F {\n    f: f64,\n}\n\
            pub struct G {\n    pub f: f64,\n}\nimpl ImpactLaw for G {\n}\n";
        let found = open_or_closed(code, "p");
        let expected = [
            ("p::A", true),
            ("p::C", false),
            ("p::COptions", false),
            ("p::E", false),
            ("p::G", false),
        ];
        assert_eq!(found, expected.map(|(name, open)| (name.to_owned(), open)));
    }

    #[test]
    fn the_surface_keeps_its_ceilings() {
        let args = Args { list: false };
        assert_eq!(surface(&crate::workspace_root(), &args).unwrap(), [""; 0]);
    }
}
