use super::*;
use crate::gallery::{golden, members as of_paper};
use carom_report::record::{Axis, Figure};
use carom_scenarios::published::published;

fn record(scenario: &str, figures: &[&str], value: f64) -> Record {
    let mut record = Record::new(scenario, "");
    let axis = || Axis::linear("", "");
    record.figures = figures
        .iter()
        .map(|name| Figure::new(*name, "", "", axis(), axis()))
        .collect();
    record.quantities = vec![Quantity::new("q", value, "")];
    record
}

fn catalog(item: &str) -> Catalog {
    let text = format!(
        "[[papers]]\nauthors = \"A & B\"\ntitle = \"T\"\naddress = \"https://example.org\"\n[[papers.items]]\nlabel = \"Fig. 1\"\n\
         states = \"S\"\n{item}\n"
    );
    toml::from_str(&text).unwrap()
}

/// Returns the record of a run with the quantity `q`, with the printed numbers of the catalog.
fn joined(catalog: &Catalog, value: f64) -> [Record; 1] {
    let mut record = record("ours", &[], value);
    catalog.join(&mut record, |_| true);
    [record]
}

fn members(_: &str) -> BTreeSet<String> {
    BTreeSet::from(["ours".to_owned()])
}

#[test]
fn a_prefix_does_not_swallow_a_longer_number() {
    let records = [
        record("ours", &["fig1a", "fig1_top", "fig12"], 0.0),
        record("theirs", &["fig1"], 0.0),
    ];
    let catalog = catalog("figures = [\"*/fig1\"]");
    let found = find(&catalog.papers[0].items[0], &records, &members(""));
    let names: Vec<&str> = found.figures.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["fig1a", "fig1_top"]);
}

#[test]
fn what_is_missing_is_not_yet_and_a_wrong_name_is_a_fault() {
    let records = [record("ours", &["fig1"], 0.0)];
    let later = catalog("figures = [\"*/fig2\"]");
    assert_eq!(faults(&later, &records, &members), [""; 0]);
    assert_eq!(
        not_yet(&later, &records, &members),
        ["A & B, Fig. 1: no */fig2"]
    );
    let wrong = catalog("figures = [\"ours/fig2\"]");
    assert_eq!(
        faults(&wrong, &records, &members),
        ["A & B, Fig. 1: ours/fig2 is not in its record"]
    );
    let there = catalog("figures = [\"ours/fig1\"]");
    assert!(faults(&there, &records, &members).is_empty());
    assert!(not_yet(&there, &records, &members).is_empty());
}

#[test]
fn a_number_that_misses_needs_a_reason() {
    let number = "numbers = [{ quantity = \"ours/q\", printed = 0.3157, within = 0.00005 }]";
    let faults = |value: f64, more: &str| {
        let catalog = catalog(&format!("{number}\n{more}"));
        faults(&catalog, &joined(&catalog, value), &members)
    };
    assert!(faults(0.31570031, "").is_empty());
    assert_eq!(faults(0.3158, "").len(), 1);
    assert_eq!(faults(f64::NAN, "").len(), 1);
    assert!(faults(0.3158, "differs = \"because\"").is_empty());
    assert_eq!(faults(0.31570031, "differs = \"because\"").len(), 1);
}

#[test]
fn a_bound_is_met_from_above() {
    let number = "numbers = [{ quantity = \"ours/q\", printed = 1e5, at_least = true }]";
    let faults = |value: f64| {
        let catalog = catalog(number);
        faults(&catalog, &joined(&catalog, value), &members).len()
    };
    assert_eq!(faults(3e5), 0);
    assert_eq!(faults(0.9e5), 1);
    assert_eq!(faults(f64::NAN), 1);
}

#[test]
fn an_item_has_data_or_says_why_not() {
    let records = [record("ours", &["fig1"], 0.0)];
    let faults = |item: &str| faults(&catalog(item), &records, &members).len();
    assert_eq!(faults(""), 1);
    assert_eq!(faults("no_data = \"a sketch\""), 0);
    assert_eq!(
        faults("no_data = \"a sketch\"\nfigures = [\"ours/fig1\"]"),
        1
    );
}

/// Checks that the catalog has no mistakes against the stored records.
#[test]
fn the_catalog_names_what_the_records_hold() {
    let records = golden();
    let catalog = published().unwrap();
    let faults = faults(catalog, &records, &of_paper);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(not_yet(catalog, &records, &of_paper), [""; 0]);
}

/// Checks the numbers of Table 3 that the book repeats against the stored records.
#[test]
fn the_book_has_the_records_numbers_of_table_3() {
    let book = crate::workspace_root().join("docs/src/scenarios.md");
    let book = std::fs::read_to_string(book).unwrap();
    let mut checked = 0;
    for record in golden() {
        let mut quantities = record.quantities.iter();
        let Some(quantity) = quantities.find(|q| q.name == "lcp_per_sample") else {
            continue;
        };
        let Some(paper) = quantity.paper else {
            continue;
        };
        let told = format!("{:.2} against {paper:.2}", quantity.value);
        assert!(book.contains(&told), "{}: {told}", record.scenario);
        checked += 1;
    }
    assert_eq!(checked, 5);
}
