//! `cargo xtask laws`: the page of the book that lists every law, made from the table of
//! `carom-impact`, so that it cannot fall behind.

use anyhow::Context;
use carom_impact::{ContactCount, LAWS, LawInfo, Outcomes};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Flags of `cargo xtask laws`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the page instead of comparing with it.
    #[arg(long)]
    bless: bool,
}

/// The page, from the workspace's root.
const PAGE: &str = "docs/src/laws.md";

/// Compares the book's page on impact laws with the library's table of laws. With the option `bless` the page is rewritten
/// first. Returns one line if they differ.
pub(crate) fn laws(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let path = root.join(PAGE);
    if args.bless {
        fs::write(&path, page()).with_context(|| format!("writing {}", path.display()))?;
    }
    violations(root)
}

/// Compares the book's page on impact laws with the library's table of laws. Returns one line if they differ.
pub(crate) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let path = root.join(PAGE);
    let found = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let is_same = found.replace("\r\n", "\n") == page();
    let line = format!("{PAGE} is not what the laws say; run `cargo xtask laws --bless`");
    Ok(if is_same { Vec::new() } else { vec![line] })
}

fn page() -> String {
    let mut text = PREFACE.to_owned();
    choices(&mut text);
    text.push_str("| law | answers | uses | contacts | outcomes | source |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for law in LAWS {
        let mut uses = vec!["normal"];
        uses.extend(law.uses.names());
        let uses: Vec<String> = uses.iter().map(|key| format!("`{key}`")).collect();
        let contacts = match law.contacts {
            ContactCount::One => "one",
            _ => "any",
        };
        let outcomes = match law.outcomes {
            Outcomes::Single => "one",
            _ => "several",
        };
        let cells = [
            law.summary,
            &uses.join(", "),
            contacts,
            outcomes,
            law.reference,
        ];
        row(&mut text, law, &cells);
    }
    text.push_str("\n## Energy\n\n| law | kinetic energy | may grow |\n| --- | --- | --- |\n");
    for law in LAWS {
        let may = if law.may_gain_energy { "yes" } else { "no" };
        row(&mut text, law, &[law.energy, may]);
    }
    text.push_str("\n## Options\n\n| law | option | default | |\n| --- | --- | --- | --- |\n");
    for law in LAWS {
        if law.options.is_empty() {
            row(&mut text, law, &["none", "", ""]);
        }
        for option in law.options {
            let is_json = serde_json::from_str::<serde_json::Value>(option.default).is_ok();
            let default = if is_json {
                format!("`{}`", option.default)
            } else {
                option.default.to_owned()
            };
            let meaning = match option.unit {
                "" => option.meaning.to_owned(),
                unit => format!("{}, {unit}", option.meaning),
            };
            row(
                &mut text,
                law,
                &[&format!("`{}`", option.key), &default, &meaning],
            );
        }
    }
    text
}

/// Appends to `text` the table from which a reader chooses the impact law for a situation, and an example input line for each
/// law.
fn choices(text: &mut String) {
    text.push_str("## Which law shall I take?\n\n");
    text.push_str("| my impact | law | friction | restitution | answers | energy | cost |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    let rows = carom_wire::choices();
    for (law, choice) in &rows {
        let cells = [
            choice.friction,
            choice.restitution,
            choice.answers,
            choice.energy,
            choice.cost,
        ];
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | `{}` | {} |",
            choice.situation,
            law.name,
            cells.join(" | ")
        );
    }
    text.push_str(CONSTRAINTS);
    for (law, _) in &rows {
        let _ = writeln!(text, "{}", law.example);
    }
    text.push_str(WORLDS);
}

fn row(text: &mut String, law: &LawInfo, cells: &[&str]) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "| `{}` | {} |", law.name, cells.join(" | "));
}

const CONSTRAINTS: &str = "
Cost is the time of one impact over that of `plastic` at the same contacts: a box on two feet in the plane (`routh`: on one
foot, and one contact of a body in space; laws of constraints: a wheel at a wall), after the semicolon a box on four corners in
space. `cargo bench -p carom-benches --features bench --bench laws` prints it: the least of 50 passes over 200 posed problems
with random velocities. `plastic` took 3.2 µs on two feet and 5.2 µs on four corners.

Bodies at rest or flying make no difference: a law sees one instant. Constraints (`constraints`: rows that the velocity
obeys) go with `routh` and with every law of several contacts; wheels that never slip are an example. A line for each law, in
the same order, for `carom resolve`:

```json
";

const WORLDS: &str = "\
```

## Worlds and robots

Worlds and robots of `carom run world` take `two-body` for one contact and `auto` for several, unless `[law]` names others in
`single` and `several`; mechanisms take `moreau-newton`. `auto` is `propagative` where all contacts of an impact have restitution 1 and no
friction, and the theorems of Seghete & Murphey and their extension (`uniqueness`) prove that all orders have one outcome; else it is `poisson`. `impacts` in the
record names the law of each. `two-body`, which is `routh` for contacts in space, is exact for one
contact with friction, also in the velocities that joints allow. `poisson` has an answer wherever contacts oppose each other, heeds friction and restitution of each contact, and
never gains energy. But it shares a blow among all contacts at once. A row of balls hands it on, one contact after another:
`propagative`, without friction. A run warns where `poisson` answered and the two differ.

## What the laws compute

";

const PREFACE: &str = "\
# The laws

<!-- Written by `cargo xtask laws --bless` from `carom-impact/src/laws/`. -->

`carom laws` prints this table, `carom laws NAME` the options of one law and a line that it answers. Keys of a
contact that a law does not use are listed in `ignored` of its answer.

";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_lists_the_laws_as_they_are() {
        assert_eq!(violations(&crate::workspace_root()).unwrap(), [""; 0]);
    }

    #[test]
    fn no_law_is_dispatched_by_its_name() {
        let root = crate::workspace_root();
        for law in LAWS {
            let quoted = format!("\"{}\"", law.name);
            let mut files = Vec::new();
            sources(&root.join("crates"), &mut |path, text| {
                let is_source = path.components().any(|part| part.as_os_str() == "src");
                // Tests at the end of a file may name a law.
                let code = text.split("#[cfg(test)]").next().unwrap_or(text);
                let lines = code.lines().filter(|line| line.contains(&quoted));
                // Comments, lines of JSON, and an option whose key is the name of a law.
                let says = |line: &&str| {
                    let line = line.trim_start();
                    let is_key = line.starts_with("key:") || line.contains("rename = ");
                    !line.starts_with("//") && !line.contains("r#\"") && !is_key
                };
                let said = lines.filter(says);
                if is_source && said.count() > 0 {
                    files.push(path.to_path_buf());
                }
            });
            // A word that is also something else: tables of scenarios, the name of a law of restitution; and tests.
            files.retain(|path| {
                let mut parts = path.components();
                !parts.any(|p| p.as_os_str() == "carom-scenarios")
                    && !path.ends_with("carom-two-body/src/options.rs")
                    && !path.ends_with("tests.rs")
            });
            assert_eq!(files.len(), 1, "{quoted}: {files:?}");
        }
    }

    fn sources(folder: &Path, visit: &mut impl FnMut(&Path, &str)) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, visit);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                visit(&path, &fs::read_to_string(&path).unwrap());
            }
        }
    }
}
