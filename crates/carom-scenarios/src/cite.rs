//! BibTeX of carom and of the papers behind a law or scenario.

/// All BibTeX entries, carom's first, separated by empty lines.
const BIBLIOGRAPHY: &str = include_str!("citations.bib");

/// Source names that laws and scenarios use, with the keys of their BibTeX entries.
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

/// Returns the BibTeX entries for a citation: carom's first, then those of the papers named in `source`, which is the
/// `reference` of an impact law or the `paper` of a scenario.
#[must_use]
pub fn citations(source: &str) -> Vec<String> {
    let mut rest = source.to_owned();
    let mut keys = vec!["carom"];
    for (name, key) in SOURCES {
        if rest.contains(name) {
            // A longer name comes before a shorter one that it contains.
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
    use crate::SCENARIOS;
    use carom_impact::LAWS;

    #[test]
    fn every_source_has_an_entry_and_every_law_a_paper() {
        for (name, _) in SOURCES {
            assert_eq!(citations(name).len(), 2, "{name}");
        }
        for law in LAWS {
            assert!(citations(law.reference).len() >= 2, "{}", law.name);
        }
        let own = ["carom", "rigid-body engines"];
        for scenario in SCENARIOS {
            let is_own = own.contains(&scenario.paper);
            assert_eq!(
                citations(scenario.paper).len(),
                if is_own { 1 } else { 2 },
                "{}",
                scenario.name
            );
        }
        assert_eq!(BIBLIOGRAPHY.split("\n\n").count(), SOURCES.len() + 1);
    }
}
