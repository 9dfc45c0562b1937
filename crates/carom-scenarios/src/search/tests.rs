//! Tests of the search: its files, the words and figure numbers of the papers.

use super::*;
use std::collections::BTreeSet;

fn names(query: &str) -> Vec<&'static str> {
    let words: Vec<String> = query.split(' ').map(str::to_owned).collect();
    search(&words).scenarios.iter().map(|s| s.name).collect()
}

#[test]
fn every_scenario_has_one_card_and_the_files_name_what_exists() {
    let cards: Cards = toml::from_str(CARDS).unwrap();
    let mut named: Vec<&str> = cards
        .groups
        .iter()
        .flat_map(|group| &group.cards)
        .map(|card| card.name.as_str())
        .collect();
    let mut scenarios: Vec<&str> = SCENARIOS.iter().map(|s| s.name).collect();
    named.sort_unstable();
    scenarios.sort_unstable();
    assert_eq!(named, scenarios);
    let first: Vec<&str> = cards.groups[0]
        .cards
        .iter()
        .map(|card| card.name.as_str())
        .collect();
    assert_eq!(first, ["world", "mechanism"]);

    let glossary: Glossary = toml::from_str(WORDS).unwrap();
    let is_scenario = |name: &String| scenarios.contains(&name.as_str());
    assert!(
        glossary.places.keys().all(is_scenario),
        "{:?}",
        glossary.places.keys()
    );
    for entry in &glossary.words {
        assert!(
            entry.scenarios.iter().all(is_scenario),
            "{:?}",
            entry.scenarios
        );
        assert!(
            entry
                .laws
                .iter()
                .all(|law| LAWS.iter().any(|info| info.name == law)),
            "{:?}",
            entry.laws
        );
        assert!(
            glossary.chapters.contains_key(&entry.chapter),
            "{}",
            entry.chapter
        );
    }
    let recorded: BTreeSet<&str> = RECORDS
        .lines()
        .filter_map(|line| line.split(": ").next())
        .collect();
    assert_eq!(recorded, scenarios.into_iter().collect::<BTreeSet<_>>());
}

/// Figures of the five papers: the authors, and the number of the last one.
#[test]
fn every_figure_of_every_paper_finds_scenarios_of_its_paper() {
    for (authors, last) in [
        ("Seghete & Murphey", 8),
        ("Halm & Posa", 14),
        ("Tran & Leok", 8),
        ("Jia & Wang", 17),
        ("Clark & Bloch", 5),
    ] {
        for number in 1..=last {
            for kind in ["Fig.", "Figure", "fig"] {
                let found = names(&format!("{authors} {kind} {number}"));
                let of_paper = |name: &&str| crate::scenario(name).unwrap().paper == authors;
                assert!(
                    !found.is_empty() && found.iter().all(of_paper),
                    "{authors} {number}: {found:?}"
                );
                let every = names(&format!("{kind} {number}"));
                assert!(
                    found.iter().all(|name| every.contains(name)),
                    "{authors} {number}"
                );
            }
        }
    }
}

#[test]
fn ranges_hold_every_number_and_no_other() {
    let five = names("Fig. 5");
    assert!(five.contains(&"billiard-break") && five.contains(&"penny-cloud"));
    assert_eq!(five, names("Figure 5"));
    assert_eq!(names("Seghete Fig. 5")[0], "billiard-break");
    assert_eq!(
        names("fig. 3 Clark"),
        ["penny", "penny-figures", "penny-superellipse"]
    );
    for (query, name) in [
        ("Theorem 8", "box-and-wall"),
        ("Theorem 8", "hodograph-bundles"),
        ("Algorithm 2", "rocking-block"),
        ("Eq. (16)", "newtons-cradle"),
        ("Fig. 8", "tail-runner"),
        ("Fig. 8", "cube"),
        ("Table 6", "box-and-wall"),
        ("Table I", "tail-runner"),
    ] {
        assert!(names(query).contains(&name), "{query}");
    }
    assert!(names("Fig. 50").is_empty());
}

#[test]
fn words_of_the_papers_find_scenarios() {
    for word in [
        "plastic",
        "set-valued",
        "Routh",
        "variational",
        "symplectic",
        "Lie group",
        "SE(3)",
        "LCP",
        "Lemke",
        "Painlevé",
        "Painleve",
        "centrifugal",
        "invariant",
        "minimal",
        "intersection",
        "sensitivity",
        "stiffness",
        "energy drift",
        "indeterminacy",
        "Stronge",
        "hodograph",
        "Zeno",
        "nonholonomic",
        "billiard",
        "Coulomb",
        "hybrid",
        "momentum",
        "mujoco",
        "CRADLE",
        "Murphey",
        "propagative",
        "friction cone",
        "Kane",
    ] {
        assert!(!names(word).is_empty(), "{word}");
    }
    assert_eq!(names("perturbations"), names("perturbation"));
    assert_eq!(names("cradle")[0], "newtons-cradle");
    assert_eq!(names("PAINLEVÉ"), names("painleve"));
    assert!(names("pointedness").contains(&"box-and-wall"));
    assert!(names("inclusion_impulse_bound_n_s").contains(&"box-and-wall"));
    for law in LAWS {
        assert!(!names(law.name).is_empty(), "{}", law.name);
    }
    // Words begin where the word that is looked for begins.
    assert!(names("radle").is_empty());
}

#[test]
fn what_no_scenario_has_leads_to_laws_and_chapters() {
    let found = search(&["Slurm".to_owned()]);
    assert!(found.scenarios.is_empty() && found.laws.is_empty());
    assert_eq!(found.chapters, [("sweeps", "Sweeps")]);
    // Words that stand in the text of the book alone.
    for (word, chapter) in [("lexicographic", "lcp"), ("Veselov", "variational")] {
        let found = search(&[word.to_owned()]);
        assert!(
            found.chapters.iter().any(|(slug, _)| *slug == chapter),
            "{word}"
        );
    }
    assert!(
        search(&["lexicographic Veselov".to_owned()])
            .chapters
            .is_empty()
    );
    for line in BOOK.lines() {
        let slug = line.split(' ').nth(1).unwrap();
        assert!(GLOSSARY.chapters.contains_key(slug), "{line}");
    }
    let nothing = search(&["xyzzy".to_owned()]);
    assert!(nothing.scenarios.is_empty() && nothing.laws.is_empty() && nothing.chapters.is_empty());
}
