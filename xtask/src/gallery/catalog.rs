//! Places of the records that reproduce the items of the five papers.

use std::collections::BTreeSet;

use carom_report::Record;
use carom_report::record::Quantity;
use carom_scenarios::published::{Catalog, Item, Number, Paper};

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

/// Quantity of a record, compared with a printed number.
pub(crate) struct Compared {
    pub(crate) place: Place,
    pub(crate) quantity: Quantity,
}

impl Compared {
    /// True if the computed number rounds to the number printed in the paper, or satisfies a printed bound. NaN never agrees.
    pub(crate) fn agrees(&self) -> bool {
        self.quantity.paper.is_some() && self.quantity.agrees_with_print()
    }
}

/// State of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing to reproduce.
    NoData,
    /// Everything is there, and every number agrees.
    Reproduced,
    /// Everything is there, and every number agrees, but inputs were fitted to some.
    Fitted,
    /// Everything is there, and the record says why a number differs.
    Differs,
    /// Something is not there.
    NotYet,
}

/// Returns one line for each mistake in the list of the papers' results: a name that the record lacks, a number that
/// differs from the printed one without a reason, or a reason without a difference. `of_paper` returns the scenarios of a
/// paper.
pub(crate) fn faults(catalog: &Catalog, records: &[Record], of_paper: &Members) -> Vec<String> {
    let mut faults = Vec::new();
    for (paper, item) in items(catalog) {
        let at = format!("{}, {}", paper.authors, item.label);
        let found = find(item, records, &of_paper(&paper.authors));
        for reference in &found.missing {
            let scenario = reference.split('/').next().unwrap_or_default();
            if records.iter().any(|r| r.scenario == scenario) {
                faults.push(format!("{at}: {reference} is not in its record"));
            }
        }
        let mut uses_reason = false;
        for number in &found.numbers {
            let (name, quantity) = (&number.place.name, &number.quantity);
            uses_reason |= quantity.differs.is_some() && quantity.differs == item.differs;
            if number.agrees() == quantity.differs.is_some() {
                let (ours, printed) = (quantity.value, quantity.paper);
                let reason = quantity.differs.as_deref().unwrap_or("no reason given");
                faults.push(format!(
                    "{at}: {name} is {ours}, printed {printed:?}: {reason}"
                ));
            }
        }
        if item.differs.is_some() && !uses_reason {
            faults.push(format!("{at}: a reason for a difference that is not there"));
        }
        if item.no_data.is_some() != references(item).is_empty() {
            faults.push(format!("{at}: either data or a reason for none"));
        }
    }
    faults
}

/// Returns one line for each result of a paper that no scenario reproduces yet. `of_paper` returns the scenarios of a
/// paper.
pub(crate) fn not_yet(catalog: &Catalog, records: &[Record], of_paper: &Members) -> Vec<String> {
    let open = items(catalog).filter_map(|(paper, item)| {
        let found = find(item, records, &of_paper(&paper.authors));
        let missing = found.missing.join(", ");
        (standing(item, &found) == Standing::NotYet)
            .then(|| format!("{}, {}: no {missing}", paper.authors, item.label))
    });
    open.collect()
}

fn items(catalog: &Catalog) -> impl Iterator<Item = (&Paper, &Item)> {
    catalog
        .papers
        .iter()
        .flat_map(|paper| paper.items.iter().map(move |item| (paper, item)))
}

/// Names of the scenarios of a paper.
pub(crate) type Members<'a> = dyn Fn(&str) -> BTreeSet<String> + 'a;

fn references(item: &Item) -> Vec<&str> {
    let lists = [&item.figures, &item.tables, &item.animations];
    let names = lists.into_iter().flatten().map(String::as_str);
    let numbers = item.numbers.iter().map(|n| n.quantity.as_str());
    names.chain(numbers).collect()
}

/// Finds the figures, tables and numbers in the records that reproduce this result of a paper. `members` are the scenarios
/// of the paper.
pub(crate) fn find(item: &Item, records: &[Record], members: &BTreeSet<String>) -> Found {
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
    let figures = places(&item.figures, &|r| {
        r.figures.iter().map(|f| f.name.clone()).collect()
    });
    let tables = places(&item.tables, &|r| {
        r.tables.iter().map(|t| t.name.clone()).collect()
    });
    let animations = places(&item.animations, &|r| {
        r.animations.iter().map(|a| a.name.clone()).collect()
    });
    for number in &item.numbers {
        match compare(number, records) {
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

pub(crate) fn standing(item: &Item, found: &Found) -> Standing {
    if item.no_data.is_some() {
        Standing::NoData
    } else if !found.missing.is_empty() {
        Standing::NotYet
    } else if !found.numbers.iter().all(Compared::agrees) {
        Standing::Differs
    } else if found.numbers.iter().any(|n| n.quantity.is_fitted) {
        Standing::Fitted
    } else {
        Standing::Reproduced
    }
}

fn compare(number: &Number, records: &[Record]) -> Option<Compared> {
    let (scenario, name) = number.quantity.split_once('/')?;
    let record = records.iter().find(|r| r.scenario == scenario)?;
    let quantity = record.quantities.iter().find(|q| q.name == name)?;
    let place = Place {
        scenario: scenario.to_owned(),
        name: name.to_owned(),
    };
    Some(Compared {
        place,
        quantity: quantity.clone(),
    })
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
