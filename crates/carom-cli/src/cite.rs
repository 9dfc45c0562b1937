//! `carom cite`: BibTeX of carom and of the papers behind a law or scenario.

use crate::{Failure, text};
use carom::impact::LAWS;
use carom::scenarios::SCENARIOS;
use std::io::Write;

/// Arguments of `carom cite`.
#[derive(clap::Args)]
pub(crate) struct CiteArgs {
    /// A law or a scenario; carom alone if left out.
    #[arg(value_name = "LAW|SCENARIO")]
    name: Option<String>,
}

/// All entries, carom's first, with an empty line between them.
const BIBLIOGRAPHY: &str = include_str!("citations.bib");

/// Keys of the entries by the names that laws and scenarios give their sources.
const SOURCES: [(&str, &str); 16] = [
    ("Seghete & Murphey", "seghete2014"),
    ("Jia & Wang", "jia2017"),
    ("Pfrommer, Halm & Posa", "pfrommer2020"),
    ("Halm & Posa", "halm2024"),
    ("Tran & Leok", "tran2024"),
    ("Clark & Bloch", "clark2019"),
    ("Anitescu & Potra", "anitescu1997"),
    ("Moreau", "moreau1988"),
    ("Glocker & Pfeiffer", "glocker1995"),
    ("Stewart & Trinkle", "stewart1996"),
    ("Routh", "routh1905"),
    ("Wang & Mason", "wang1992"),
    ("Ivanov", "ivanov1995"),
    ("Broomhead & Gutkin", "broomhead1993"),
    ("Cox & Feres", "cox2016"),
    ("Kong, Payne, Zhu & Johnson", "kong2024"),
];

pub(crate) fn cite(args: &CiteArgs) -> Result<(), Failure> {
    let source = match &args.name {
        None => "",
        Some(name) => source_of(name)?,
    };
    let entries = entries(source);
    write!(std::io::stdout().lock(), "{}", entries.join("\n"))?;
    Ok(())
}

/// Source of a law or a scenario, in its own words.
fn source_of(name: &str) -> Result<&'static str, Failure> {
    let laws = LAWS.iter().map(|law| (law.name, law.reference));
    let scenarios = SCENARIOS
        .iter()
        .map(|scenario| (scenario.name, scenario.paper));
    let mut all = laws.clone().chain(scenarios.clone());
    let found = all.find(|(known, _)| *known == name);
    found.map(|(_, source)| source).ok_or_else(|| {
        let names = laws.chain(scenarios).map(|(known, _)| known);
        let hint = text::did_you_mean(name, names)
            .unwrap_or_else(|| "see `carom laws` and `carom list`".to_owned());
        Failure::Usage(format!("no law or scenario `{name}`; {hint}"))
    })
}

/// Entries of carom and of the papers that a source names, in the order of [`SOURCES`].
fn entries(source: &str) -> Vec<String> {
    let mut rest = source.to_owned();
    let mut keys = vec!["carom"];
    for (name, key) in SOURCES {
        if rest.contains(name) {
            // A longer name comes before one that it contains.
            rest = rest.replace(name, "");
            keys.push(key);
        }
    }
    let entry = |key: &str| {
        let head = format!("{{{key},\n");
        let mut all = BIBLIOGRAPHY.split("\n\n");
        let entry = all.find(|entry| entry.contains(&head))?;
        let entry = entry.trim().replace("VERSION", env!("CARGO_PKG_VERSION"));
        Some(format!("{entry}\n"))
    };
    keys.into_iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_an_entry_and_every_law_a_paper() {
        for (name, _) in SOURCES {
            assert_eq!(entries(name).len(), 2, "{name}");
        }
        for law in LAWS {
            assert!(entries(law.reference).len() >= 2, "{}", law.name);
        }
        let own = ["carom", "rigid-body engines"];
        for scenario in SCENARIOS {
            let is_own = own.contains(&scenario.paper);
            assert_eq!(
                entries(scenario.paper).len(),
                if is_own { 1 } else { 2 },
                "{}",
                scenario.name
            );
        }
        assert_eq!(BIBLIOGRAPHY.split("\n\n").count(), SOURCES.len() + 1);
    }
}
