//! TOML text to values with places.

use super::fault::Fault;
use super::value::{Entry, Kind, Place, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A whole file.
pub(super) fn file(text: &str, place: impl Fn(usize) -> Place) -> Result<Value, Fault> {
    let table = DeTable::parse(text).map_err(|error| fault(&error, &place))?;
    let start = place(table.span().start);
    Ok(Value {
        kind: Kind::Table(entries(table.into_inner(), &place)?),
        place: start,
    })
}

/// The right side of an assignment: a TOML value, or a bare word that is a string, so that quotes
/// need not survive a shell.
pub(super) fn assigned(text: &str, place: Place) -> Result<Value, Fault> {
    match DeValue::parse(text) {
        Ok(parsed) => value(parsed, &|_| place),
        Err(_) => Ok(Value {
            kind: Kind::Text(text.to_owned()),
            place,
        }),
    }
}

/// The place of a byte of the user's file.
pub(super) fn in_file(text: &str, byte: usize) -> Place {
    let before = text.get(..byte).unwrap_or_default();
    Place::File {
        line: before.matches('\n').count() + 1,
        column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
    }
}

fn fault(error: &toml::de::Error, place: &impl Fn(usize) -> Place) -> Fault {
    let message = error.message().lines().next().unwrap_or_default();
    let mut fault = Fault::new(message);
    fault.place = error.span().map(|span| place(span.start));
    fault
}

fn entries(table: DeTable<'_>, place: &impl Fn(usize) -> Place) -> Result<Vec<Entry>, Fault> {
    let entry = |(key, inner): (Spanned<_>, Spanned<DeValue<'_>>)| {
        let at = place(key.span().start);
        let key: String = std::borrow::Cow::into_owned(key.into_inner());
        match value(inner, place) {
            Ok(value) => Ok(Entry {
                key,
                place: at,
                value,
            }),
            Err(fault) => Err(fault.within(key, at)),
        }
    };
    // A parsed table is sorted by its keys; a record shows them in the order of the text.
    let mut table: Vec<_> = table.into_iter().collect();
    table.sort_by_key(|(key, _)| key.span().start);
    table.into_iter().map(entry).collect()
}

fn value(spanned: Spanned<DeValue<'_>>, place: &impl Fn(usize) -> Place) -> Result<Value, Fault> {
    let place_here = place(spanned.span().start);
    let kind = match spanned.into_inner() {
        DeValue::Boolean(value) => Kind::Bool(value),
        DeValue::String(value) => Kind::Text(value.into_owned()),
        DeValue::Integer(digits) => {
            let value = i64::from_str_radix(digits.as_str(), digits.radix());
            Kind::Integer(value.map_err(|error| Fault::new(format!("{digits}: {error}")))?)
        }
        DeValue::Float(digits) => {
            let value = digits.as_str().parse();
            Kind::Float(value.map_err(|error| Fault::new(format!("{digits}: {error}")))?)
        }
        DeValue::Datetime(_) => return Err(Fault::new("no key takes a date")),
        DeValue::Array(items) => {
            let item =
                |(i, item)| value(item, place).map_err(|f| f.within(format!("[{i}]"), place_here));
            Kind::List(
                items
                    .into_iter()
                    .enumerate()
                    .map(item)
                    .collect::<Result<_, _>>()?,
            )
        }
        DeValue::Table(table) => Kind::Table(entries(table, place)?),
    };
    Ok(Value {
        kind,
        place: place_here,
    })
}
