//! Main results of a record, as sentences at the top of its page.

use super::{escape, minus};
use crate::export::{agreeing_first, shown_briefly};
use crate::record::Quantity;
use std::fmt::Write as _;

/// Largest number of results shown as sentences at the top of a page.
const MOST: usize = 4;

/// Unit suffixes of the names of quantities.
const ENDINGS: [&str; 16] = [
    "_m_per_s", "_m_s", "_rad_s", "_n_s", "_ns", "_ms", "_us", "_deg", "_rad", "_percent", "_kg",
    "_hz", "_j", "_s", "_m", "_w",
];

/// Lists the most important quantities of a record as HTML; returns an empty text for an empty list.
///
/// Quantities with a value printed in a paper come first (those that agree with it before the others), then those with
/// another reference value, then the first ones of the record.
#[must_use]
pub fn headlines(quantities: &[Quantity]) -> String {
    let rank = |q: &&Quantity| match (q.paper, &q.reference) {
        (Some(_), _) => 0,
        (None, Some(_)) => 1,
        (None, None) => 2,
    };
    let mut chosen = agreeing_first(quantities);
    chosen.sort_by_key(rank);
    chosen.truncate(MOST);
    if chosen.is_empty() {
        return String::new();
    }
    let items: String = chosen.into_iter().map(item).collect();
    format!("<ul class=\"headlines\">\n{items}</ul>\n")
}

fn item(quantity: &Quantity) -> String {
    let unit = match quantity.unit.as_str() {
        "" => String::new(),
        unit => format!("\u{a0}{}", escape(unit)),
    };
    let number = |value: f64| format!("{}{unit}", minus(&shown_briefly(value)));
    let mut line = format!(
        "<b>{}</b>: {}",
        escape(&in_words(&quantity.name)),
        number(quantity.value)
    );
    for (kind, value, source) in quantity.expected() {
        let who = match kind {
            "printed" => "the paper says".to_owned(),
            "at least" => "the paper says at least".to_owned(),
            "fitted" => "fitted to the paper's".to_owned(),
            kind => format!("{kind}:"),
        };
        // Writing to a string cannot fail.
        let _ = write!(line, "; {who} {}", number(value));
        if !source.is_empty() {
            let _ = write!(line, " ({})", escape(source));
        }
    }
    format!("<li>{line}.</li>\n")
}

/// Converts the name of a quantity to words without the unit: `energy_max_error_j` becomes "Energy max error".
#[must_use]
pub fn in_words(name: &str) -> String {
    let lower = name.to_lowercase();
    let cut = ENDINGS.iter().find(|ending| lower.ends_with(**ending));
    let stem = cut.map_or(name, |ending| &name[..name.len() - ending.len()]);
    super::sentence(&stem.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_units() {
        assert_eq!(in_words("energy_max_error_j"), "Energy max error");
        assert_eq!(in_words("wave_speed_m_per_s"), "Wave speed");
        assert_eq!(in_words("impacts"), "Impacts");
        assert_eq!(in_words("_s"), "");
    }

    /// Printed values come before values that nothing confirms.
    #[test]
    fn printed_values_come_first() {
        let mut list: Vec<Quantity> = (0..5)
            .map(|k| Quantity::new(format!("plain_{k}"), 1.0, ""))
            .collect();
        list.push(Quantity::new("impacts", 13.0, "").printed(13.0, 0.5, "Fig. 2"));
        let text = headlines(&list);
        assert!(text.contains("<li><b>Impacts</b>: 13; the paper says 13 (Fig. 2).</li>"));
        assert_eq!(text.matches("<li>").count(), MOST);
        assert!(text.find("Impacts") < text.find("Plain 0"));
    }
}
