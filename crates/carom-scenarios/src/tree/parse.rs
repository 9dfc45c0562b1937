//! Parser from TOML text to a tree.

use super::{Entry, Fault, Kind, Place, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses the text of a whole TOML file. `source` is a number for this text, which every [`Place`] in the result repeats.
///
/// # Errors
///
/// A [`Fault`] with its place for text that is not TOML, for dates, and for numbers that fit no type.
pub fn parse(text: &str, source: usize) -> Result<Value, Fault> {
    let table = DeTable::parse(text).map_err(|error| {
        let mut fault = Fault::new(error.message().replace('\n', " "));
        fault.place = error.span().map(|span| Place {
            source,
            byte: span.start,
        });
        fault
    })?;
    let place = Place {
        source,
        byte: table.span().start,
    };
    Ok(Value {
        kind: Kind::Table(entries(table.into_inner(), source)?),
        place,
    })
}

/// Parses one TOML value, such as the right side of an assignment. `source` is a number for this text, which every [`Place`] in
/// the result repeats.
///
/// # Errors
///
/// The errors of [`parse`]; returns `None` for text that is not a TOML value.
pub fn parse_value(text: &str, source: usize) -> Option<Result<Value, Fault>> {
    let parsed = DeValue::parse(text).ok()?;
    Some(value(parsed, source))
}

fn entries(table: DeTable<'_>, source: usize) -> Result<Vec<Entry>, Fault> {
    let entry = |(key, inner): (Spanned<std::borrow::Cow<'_, str>>, Spanned<DeValue<'_>>)| {
        let byte = key.span().start;
        let place = Place { source, byte };
        let key = key.into_inner().into_owned();
        match value(inner, source) {
            Ok(value) => Ok(Entry { key, place, value }),
            Err(fault) => Err(fault.within_key(&key, place)),
        }
    };
    // The parser sorts a table by its keys; the tree restores the order of the text.
    let mut table: Vec<_> = table.into_iter().collect();
    table.sort_by_key(|(key, _)| key.span().start);
    table.into_iter().map(entry).collect()
}

fn value(spanned: Spanned<DeValue<'_>>, source: usize) -> Result<Value, Fault> {
    let byte = spanned.span().start;
    let place = Place { source, byte };
    let fault = |message: String| Fault {
        place: Some(place),
        ..Fault::new(message)
    };
    let kind = match spanned.into_inner() {
        DeValue::Boolean(value) => Kind::Bool(value),
        DeValue::String(value) => Kind::Text(value.into_owned()),
        DeValue::Integer(digits) => {
            let value = i64::from_str_radix(digits.as_str(), digits.radix());
            Kind::Integer(value.map_err(|error| fault(format!("{digits}: {error}")))?)
        }
        DeValue::Float(digits) => {
            let value = digits.as_str().parse();
            Kind::Float(value.map_err(|error| fault(format!("{digits}: {error}")))?)
        }
        DeValue::Datetime(_) => return Err(fault("no key takes a date".to_owned())),
        DeValue::Array(items) => {
            let item = |(i, item)| value(item, source).map_err(|f| f.within_item(i, place));
            let items: Result<_, _> = items.into_iter().enumerate().map(item).collect();
            Kind::List(items?)
        }
        DeValue::Table(table) => Kind::Table(entries(table, source)?),
    };
    Ok(Value { kind, place })
}
