//! Reading of the text of a change.

use super::{Change, KINDS};
use crate::states::DataError;
use crate::system::System;

/// Reads the text of a change for a system with n coordinates.
///
/// # Errors
///
/// [`DataError::Change`] that names the part at fault, with the nearest known name.
pub(crate) fn read(text: &str, system: &System, n: usize) -> Result<Change, DataError> {
    let wrong = |why: String| DataError::Change(format!("change `{text}`: {why}"));
    let (head, numbers) = text.split_once('=').unwrap_or((text, ""));
    let (name, names) = head.split_once(':').unwrap_or((head, ""));
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name.trim()) else {
        return Err(wrong(unknown(
            "kind",
            name.trim(),
            KINDS.iter().map(|kind| kind.name),
        )));
    };
    let choices = (kind.choices)(system, n);
    if choices.is_empty() {
        let why = "the system does not know this change";
        return Err(wrong(format!(
            "{why}, or a key is missing that it needs, such as system.gravity"
        )));
    }
    let names = words(names).map(|name| coordinate(name, system, n));
    let mut names: Vec<String> = names.collect();
    let is_named = |choice: &&Change| choice.names == names;
    let found = choices.iter().find(is_named).cloned().or_else(|| {
        names.reverse();
        choices.iter().find(|choice| choice.names == names).cloned()
    });
    let Some(found) = found else {
        let known: Vec<String> = choices
            .iter()
            .map(|choice| choice.names.join(","))
            .collect();
        names.reverse();
        return Err(wrong(unknown(
            "name",
            &names.join(","),
            known.iter().map(String::as_str),
        )));
    };
    let number = |text: &str| {
        let found = text.parse().ok().filter(|x: &f64| x.is_finite());
        found.ok_or_else(|| wrong(format!("`{text}` is not a finite number")))
    };
    let values = words(numbers)
        .map(number)
        .collect::<Result<Vec<f64>, _>>()?;
    if values.len() != found.values.len() {
        let wanted = found.values.len();
        return Err(wrong(format!(
            "{} numbers where {wanted} are needed",
            values.len()
        )));
    }
    let is_tried = choices.iter().any(|choice| choice.values == values);
    let is_free = kind.name == super::scale::KIND.name && values.iter().all(|x| *x > 0.0);
    let mut ranges = found.ranges.iter().zip(&values);
    let is_within = !found.ranges.is_empty() && ranges.all(|(r, x)| (r[0]..=r[1]).contains(x));
    if is_tried || is_free || is_within {
        return Ok(found.with_values(&values));
    }
    let mut known: Vec<String> = choices.iter().map(Change::text).collect();
    if !found.ranges.is_empty() {
        let ranges = found.ranges.iter();
        known = ranges
            .map(|[low, high]| format!("{low} to {high}"))
            .collect();
    }
    let known = known.join(", ");
    Err(wrong(format!(
        "`{numbers}` is out of range; known: {known}"
    )))
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

/// Returns the name of a coordinate that is given by its number from 0; other names stay.
fn coordinate(name: &str, system: &System, n: usize) -> String {
    let place = name
        .parse::<usize>()
        .ok()
        .filter(|_| system.planar().is_none());
    let found = place.and_then(|place| system.coordinates(n).get(place).cloned());
    found.unwrap_or_else(|| name.to_owned())
}

fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let hint = carom_numeric::nearest_name(name, known.clone())
        .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let mut known: Vec<&str> = known.filter(|name| !name.is_empty()).collect();
    known.dedup();
    let list = if known.is_empty() {
        "no name is needed".to_owned()
    } else {
        format!("{hint}known: {}", known.join(", "))
    };
    format!("unknown {what} `{name}`; {list}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_text_is_read_as_it_is_written() {
        let system = System::Matrices(Arc::default());
        for text in [
            "velocity-sign:1",
            "tangent-entry:0",
            "swapped:0,2",
            "degrees:1",
            "reversed",
            "rows-shifted=-1",
        ] {
            assert_eq!(read(text, &system, 3).unwrap().text(), text);
        }
        assert_eq!(
            read("swapped: 2, 0", &system, 3).unwrap().text(),
            "swapped:0,2"
        );
        for (text, words) in [
            ("reversd", "did you mean `reversed`?"),
            ("velocity-sign:3", "unknown name `3`"),
            (
                "rows-shifted=2",
                "out of range; known: rows-shifted=1, rows-shifted=-1",
            ),
            ("rows-shifted=up", "`up` is not a finite number"),
            ("reversed:x", "no name is needed"),
            ("angle-sense", "does not know this change"),
        ] {
            let error = read(text, &system, 3).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
