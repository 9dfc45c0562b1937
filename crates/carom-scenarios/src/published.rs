//! Results that the five papers print: figures, tables and numbers, with the scenarios that reproduce them.
//!
//! The file `published.toml` is the only place of this list. [`Scenario::run`](crate::Scenario::run) writes the printed numbers
//! beside those of a record, and the gallery shows every item.

use crate::ScenarioError;
use carom_report::Record;
use carom_report::record::Quantity;
use serde::Deserialize;
use std::sync::OnceLock;

/// The list of every figure and table.
const PUBLISHED: &str = include_str!("published.toml");

/// Results of all papers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Catalog {
    /// Papers, in the order of the book.
    pub papers: Vec<Paper>,
}

/// Results of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Paper {
    /// Authors, as the scenarios of the paper name them.
    pub authors: String,
    /// Title of the paper.
    pub title: String,
    /// Web page of the paper.
    pub address: String,
    /// Figures and tables of the paper.
    pub items: Vec<Item>,
}

/// Figure or table of a paper, or several that show the same.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Item {
    /// Label in the paper: `Fig. 3`.
    pub label: String,
    /// Statement of the paper about the item.
    pub states: String,
    /// Figures of records that reproduce the item: `SCENARIO/PREFIX`.
    #[serde(default)]
    pub figures: Vec<String>,
    /// Tables of records that reproduce the item: `SCENARIO/PREFIX`.
    #[serde(default)]
    pub tables: Vec<String>,
    /// Animations of records that reproduce the item: `SCENARIO/PREFIX`.
    #[serde(default)]
    pub animations: Vec<String>,
    /// Numbers that the paper prints.
    #[serde(default)]
    pub numbers: Vec<Number>,
    /// Reason why numbers of the item differ from the printed ones, for numbers without a reason of their own.
    pub differs: Option<String>,
    /// Reason why there is nothing to reproduce.
    pub no_data: Option<String>,
}

/// Number that a paper prints, and the quantity of a record to compare with it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Number {
    /// Name of the quantity: `SCENARIO/QUANTITY`.
    pub quantity: String,
    /// Printed value, in the unit of the quantity.
    pub printed: f64,
    /// Largest difference that the printed digits allow.
    #[serde(default)]
    pub within: f64,
    /// True if the printed value is a lower bound.
    #[serde(default)]
    pub at_least: bool,
    /// Place in the paper, if not the label of the item.
    pub source: Option<String>,
    /// Reason why the quantity differs from the printed value.
    pub differs: Option<String>,
    /// Input of the run that was fitted to the printed value, which is then no evidence.
    pub fitted: Option<String>,
    /// Keys of the configuration on which the number depends; it is compared if they have their default values. Empty: all keys.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// Returns the results that the papers print.
///
/// # Errors
///
/// [`ScenarioError::Config`] with the place of a mistake in the list.
pub fn published() -> Result<&'static Catalog, ScenarioError> {
    static CATALOG: OnceLock<Result<Catalog, String>> = OnceLock::new();
    let catalog =
        CATALOG.get_or_init(|| toml::from_str(PUBLISHED).map_err(|error| error.to_string()));
    catalog.as_ref().map_err(|error| ScenarioError::Config {
        message: format!("published.toml: {error}"),
    })
}

/// Returns the printed value of the quantity `name` of a scenario.
///
/// # Errors
///
/// [`ScenarioError::Config`] if the list has no such number.
pub(crate) fn printed(scenario: &str, name: &str) -> Result<f64, ScenarioError> {
    let mut numbers = published()?.numbers();
    let found = numbers.find(|(_, number)| number.name_in(scenario) == Some(name));
    match found {
        Some((_, number)) => Ok(number.printed),
        None => Err(ScenarioError::Config {
            message: format!("published.toml has no number {scenario}/{name}"),
        }),
    }
}

impl Catalog {
    fn numbers(&self) -> impl Iterator<Item = (&Item, &Number)> {
        let items = self.papers.iter().flat_map(|paper| &paper.items);
        items.flat_map(|item| item.numbers.iter().map(move |number| (item, number)))
    }

    /// Writes the printed numbers beside the quantities of a record. `is_default` returns true if the given keys of the
    /// configuration, or all keys for an empty list, have their default values.
    pub fn join(&self, record: &mut Record, is_default: impl Fn(&[String]) -> bool) {
        for (item, number) in self.numbers() {
            let Some(name) = number.name_in(&record.scenario) else {
                continue;
            };
            let quantity = record.quantities.iter_mut().find(|q| q.name == name);
            if let Some(quantity) = quantity.filter(|_| is_default(&number.keys)) {
                number.annotate(item, quantity);
            }
        }
    }
}

impl Number {
    /// Returns the name of the quantity if it belongs to this scenario.
    fn name_in(&self, scenario: &str) -> Option<&str> {
        let (of, name) = self.quantity.split_once('/')?;
        (of == scenario).then_some(name)
    }

    fn annotate(&self, item: &Item, quantity: &mut Quantity) {
        quantity.paper = Some(self.printed);
        quantity.within = Some(self.within);
        quantity.at_least = self.at_least;
        quantity.source = Some(self.source.as_ref().unwrap_or(&item.label).clone());
        quantity.differs = self.differs.clone();
        if quantity.differs.is_none() && !quantity.agrees_with_print() {
            quantity.differs = item.differs.clone();
        }
        if let Some(fitted) = &self.fitted {
            quantity.is_fitted = true;
            let note = quantity.note.take().map(|note| format!("{note}; "));
            quantity.note = Some(format!("{}fitted: {fitted}", note.unwrap_or_default()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_number_is_listed_once_and_says_where_it_stands() {
        let mut seen = BTreeSet::new();
        for (_, number) in published().unwrap().numbers() {
            assert!(seen.insert(&number.quantity), "{} twice", number.quantity);
            let (scenario, _) = number.quantity.split_once('/').unwrap();
            let scenario = crate::scenario(scenario).unwrap();
            let defaults = crate::tree::parse(scenario.default_toml, 0).unwrap().json();
            for key in &number.keys {
                let path = format!("/{}", key.replace('.', "/"));
                assert!(
                    defaults.pointer(&path).is_some(),
                    "{}: {key}",
                    scenario.name
                );
            }
        }
    }

    #[test]
    fn a_number_is_joined_at_the_defaults_of_its_keys_alone() {
        let catalog: Catalog = toml::from_str(
            "papers = [{ authors = 'A', title = 'T', address = 'a', items = [{ label = 'Fig. 1', states = 'S', differs = 'why', \
             numbers = [{ quantity = 'ours/q', printed = 1.0, within = 0.5, keys = ['k'], fitted = 'v' }, \
             { quantity = 'theirs/q', printed = 3.0 }] }] }]",
        )
        .unwrap();
        let joined = |value: f64, is_default: bool| {
            let mut record = Record::new("ours", "");
            record
                .quantities
                .push(Quantity::new("q", value, "").note("n"));
            catalog.join(&mut record, |keys| keys == ["k"] && is_default);
            record.quantities.remove(0)
        };
        let near = joined(1.25, true);
        assert_eq!(
            (near.paper, near.source.as_deref()),
            (Some(1.0), Some("Fig. 1"))
        );
        assert_eq!(
            (near.differs, near.note.as_deref()),
            (None, Some("n; fitted: v"))
        );
        assert!(near.is_fitted);
        assert_eq!(joined(2.0, true).differs.as_deref(), Some("why"));
        assert_eq!(joined(2.0, false), Quantity::new("q", 2.0, "").note("n"));
    }
}
