//! Items that the five papers show, and the places that reproduce them.

use std::collections::BTreeSet;

use anyhow::Context as _;
use carom_report::Record;
use serde::Deserialize;

/// The list of every figure and table.
const PUBLISHED: &str = include_str!("../../data/published.toml");

/// All papers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Catalog {
    pub(crate) papers: Vec<Paper>,
}

/// A paper; `authors` is what its scenarios say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paper {
    pub(crate) authors: String,
    pub(crate) title: String,
    /// Web page of the paper, to which the gallery links.
    pub(crate) address: String,
    pub(crate) items: Vec<Item>,
}

/// A figure or table of a paper, or several that show the same.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    pub(crate) label: String,
    pub(crate) states: String,
    #[serde(default)]
    figures: Vec<String>,
    #[serde(default)]
    tables: Vec<String>,
    #[serde(default)]
    animations: Vec<String>,
    #[serde(default)]
    numbers: Vec<Number>,
    pub(crate) differs: Option<String>,
    pub(crate) no_data: Option<String>,
}

/// A printed number and how close its digits ask ours to be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    quantity: String,
    printed: f64,
    #[serde(default)]
    within: f64,
    /// True if the printed number is a lower bound.
    #[serde(default)]
    at_least: bool,
}

/// Places of an item in the records.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) figures: Vec<Place>,
    pub(crate) tables: Vec<Place>,
    pub(crate) animations: Vec<Place>,
    pub(crate) numbers: Vec<Compared>,
    /// References that no record answers yet.
    pub(crate) missing: Vec<String>,
}

/// A named part of a scenario's record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) scenario: String,
    pub(crate) name: String,
}

/// Our number beside the printed one.
pub(crate) struct Compared {
    pub(crate) place: Place,
    pub(crate) unit: String,
    pub(crate) ours: f64,
    pub(crate) printed: f64,
    within: f64,
    pub(crate) at_least: bool,
}

impl Compared {
    /// True if the computed number rounds to the number printed in the paper, or satisfies a printed bound. NaN never agrees.
    pub(crate) fn agrees(&self) -> bool {
        if self.at_least {
            return self.ours >= self.printed;
        }
        // Printed decimals are not binary ones: a rounding of each side is allowed.
        let rounding = 4.0 * f64::EPSILON * self.printed.abs();
        (self.ours - self.printed).abs() <= self.within + rounding
    }
}

/// State of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing to reproduce.
    NoData,
    /// Everything is there, and every number agrees.
    Reproduced,
    /// Everything is there, and the catalog says why a number differs.
    Differs,
    /// Something is not there.
    NotYet,
}

impl Catalog {
    pub(crate) fn load() -> anyhow::Result<Self> {
        toml::from_str(PUBLISHED).context("xtask/data/published.toml")
    }

    /// Returns one line for each mistake in the catalog of the papers' results: a name that the record lacks, a number that
    /// differs from the printed one without a reason, or a reason without a difference. `of_paper` returns the scenarios of a
    /// paper.
    pub(crate) fn faults(&self, records: &[Record], of_paper: &Members) -> Vec<String> {
        let mut faults = Vec::new();
        for (paper, item) in self.items() {
            let at = format!("{}, {}", paper.authors, item.label);
            let found = item.find(records, &of_paper(&paper.authors));
            for reference in &found.missing {
                let scenario = reference.split('/').next().unwrap_or_default();
                if records.iter().any(|r| r.scenario == scenario) {
                    faults.push(format!("{at}: {reference} is not in its record"));
                }
            }
            let off: Vec<_> = found.numbers.iter().filter(|n| !n.agrees()).collect();
            if item.differs.is_none() {
                for number in &off {
                    let (name, ours, printed) = (&number.place.name, number.ours, number.printed);
                    faults.push(format!(
                        "{at}: {name} is {ours}, printed {printed}; no reason given"
                    ));
                }
            } else if off.is_empty() {
                faults.push(format!("{at}: a reason for a difference that is not there"));
            }
            if item.no_data.is_some() != item.references().is_empty() {
                faults.push(format!("{at}: either data or a reason for none"));
            }
        }
        faults
    }

    /// Returns one line for each result of a paper that no scenario reproduces yet. `of_paper` returns the scenarios of a
    /// paper.
    pub(crate) fn not_yet(&self, records: &[Record], of_paper: &Members) -> Vec<String> {
        let open = self.items().filter_map(|(paper, item)| {
            let found = item.find(records, &of_paper(&paper.authors));
            let missing = found.missing.join(", ");
            (item.standing(&found) == Standing::NotYet)
                .then(|| format!("{}, {}: no {missing}", paper.authors, item.label))
        });
        open.collect()
    }

    fn items(&self) -> impl Iterator<Item = (&Paper, &Item)> {
        self.papers
            .iter()
            .flat_map(|paper| paper.items.iter().map(move |item| (paper, item)))
    }
}

/// Names of the scenarios of a paper.
pub(crate) type Members<'a> = dyn Fn(&str) -> BTreeSet<String> + 'a;

impl Item {
    fn references(&self) -> Vec<&str> {
        let lists = [&self.figures, &self.tables, &self.animations];
        let names = lists.into_iter().flatten().map(String::as_str);
        let numbers = self.numbers.iter().map(|n| n.quantity.as_str());
        names.chain(numbers).collect()
    }

    /// Finds the figures, tables and numbers in the records that reproduce this result of a paper. `members` are the scenarios
    /// of the paper.
    pub(crate) fn find(&self, records: &[Record], members: &BTreeSet<String>) -> Found {
        let mut found = Found::default();
        let mut places = |references: &[String], names: &dyn Fn(&Record) -> Vec<String>| {
            let mut all = Vec::new();
            for reference in references {
                let places = matches(reference, records, members, names);
                if places.is_empty() {
                    found.missing.push(reference.clone());
                }
                all.extend(places);
            }
            all
        };
        let figures = places(&self.figures, &|r| {
            r.figures.iter().map(|f| f.name.clone()).collect()
        });
        let tables = places(&self.tables, &|r| {
            r.tables.iter().map(|t| t.name.clone()).collect()
        });
        let animations = places(&self.animations, &|r| {
            r.animations.iter().map(|a| a.name.clone()).collect()
        });
        for number in &self.numbers {
            match number.compare(records) {
                Some(compared) => found.numbers.push(compared),
                None => found.missing.push(number.quantity.clone()),
            }
        }
        Found {
            figures,
            tables,
            animations,
            ..found
        }
    }

    pub(crate) fn standing(&self, found: &Found) -> Standing {
        if self.no_data.is_some() {
            Standing::NoData
        } else if !found.missing.is_empty() {
            Standing::NotYet
        } else if found.numbers.iter().all(Compared::agrees) {
            Standing::Reproduced
        } else {
            Standing::Differs
        }
    }
}

impl Number {
    fn compare(&self, records: &[Record]) -> Option<Compared> {
        let (scenario, name) = self.quantity.split_once('/')?;
        let record = records.iter().find(|r| r.scenario == scenario)?;
        let quantity = record.quantities.iter().find(|q| q.name == name)?;
        Some(Compared {
            place: Place {
                scenario: scenario.to_owned(),
                name: name.to_owned(),
            },
            unit: quantity.unit.clone(),
            ours: quantity.value,
            printed: self.printed,
            within: self.within,
            at_least: self.at_least,
        })
    }
}

/// Returns all places in the records to which a reference `SCENARIO/PREFIX` refers: items whose name begins with the prefix.
/// The scenario `*` stands for all scenarios in `members`. `names` returns the names of the items of a record.
fn matches(
    reference: &str,
    records: &[Record],
    members: &BTreeSet<String>,
    names: &dyn Fn(&Record) -> Vec<String>,
) -> Vec<Place> {
    let (scenario, prefix) = reference.split_once('/').unwrap_or((reference, ""));
    let meant = |record: &&Record| {
        record.scenario == scenario || (scenario == "*" && members.contains(&record.scenario))
    };
    let mut places = Vec::new();
    for record in records.iter().filter(meant) {
        for name in names(record) {
            let rest = name.strip_prefix(prefix);
            // "fig1" is not "fig12".
            if rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit())) {
                places.push(Place {
                    scenario: record.scenario.clone(),
                    name,
                });
            }
        }
    }
    places
}

#[cfg(test)]
mod tests;
