//! TOML as a tree whose parts record their place in the text: for configurations of scenarios, worlds and mechanisms, and
//! plans of sweeps.
//!
//! A [`Place`] is a byte offset in a text. Line and column are counted only for the place in an error message, so that a
//! file is read in time linear in its size.
//!
//! # Examples
//!
//! ```
//! use carom_scenarios::tree::parse;
//!
//! let text = "[body]\nmass = 1.5\n";
//! let tree = parse(text, 0)?;
//! let body = &tree.entries().unwrap()[0];
//! let mass = &body.value.entries().unwrap()[0];
//! assert_eq!((mass.key.as_str(), mass.value.number()), ("mass", Ok(1.5)));
//! assert_eq!(mass.value.place.line_and_column(text), (2, 8));
//! # Ok::<(), carom_scenarios::tree::Fault>(())
//! ```

mod deserialize;
pub(crate) use deserialize::EXTENDED;
mod fault;
mod parse;

pub use fault::Fault;
pub use parse::{parse, parse_value};

/// Position of a value in one of several TOML texts, as a byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the text, chosen by the caller of the parser.
    pub source: usize,
    /// Byte offset in that text.
    pub byte: usize,
}

impl Place {
    /// Returns the line and the column of this place in its text, both counted from 1.
    #[must_use]
    pub fn line_and_column(self, text: &str) -> (usize, usize) {
        let before = text.get(..self.byte).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before.get(start..).map_or(0, |line| line.chars().count());
        (before.matches('\n').count() + 1, column + 1)
    }
}

/// Value in a TOML text, with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The value itself.
    pub kind: Kind,
    /// Place of the first character of the value.
    pub place: Place,
}

/// Content of a TOML value, by its type; dates are not supported. The types are complete: a caller that writes or compares values
/// handles each.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number, possibly infinite or NaN.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A table, with entries in the order of the text.
    Table(Table),
}

/// Entries (keys with values) of a TOML table, in the order of the text.
pub type Table = Vec<Entry>;

/// Key of a TOML table with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, without quotation marks.
    pub key: String,
    /// Place of the key's first character.
    pub place: Place,
    /// Value of the key.
    pub value: Value,
}

impl Value {
    /// Returns the string that this TOML value holds.
    ///
    /// # Errors
    ///
    /// The error message for a value of another type.
    pub fn text(&self) -> Result<&str, String> {
        match &self.kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    /// Returns the number that this TOML value holds, an integer or a floating-point number, as a floating-point number.
    ///
    /// # Errors
    ///
    /// The error message for a value of another type.
    pub fn number(&self) -> Result<f64, String> {
        match self.kind {
            Kind::Integer(value) => Ok(value as f64),
            Kind::Float(value) => Ok(value),
            _ => Err(self.expected("a number")),
        }
    }

    /// Returns the integer that this TOML value holds.
    ///
    /// # Errors
    ///
    /// The error message for a value of another type.
    pub fn integer(&self) -> Result<i64, String> {
        match self.kind {
            Kind::Integer(value) => Ok(value),
            _ => Err(self.expected("an integer")),
        }
    }

    /// Returns the boolean that this TOML value holds.
    ///
    /// # Errors
    ///
    /// The error message for a value of another type.
    pub fn boolean(&self) -> Result<bool, String> {
        match self.kind {
            Kind::Bool(value) => Ok(value),
            _ => Err(self.expected("a boolean")),
        }
    }

    /// Returns the items of the list that this TOML value holds.
    ///
    /// # Errors
    ///
    /// The error message for a value of another type.
    pub fn items(&self) -> Result<&[Self], String> {
        match &self.kind {
            Kind::List(items) => Ok(items),
            _ => Err(self.expected("a list")),
        }
    }

    /// Returns the entries of the table that this TOML value holds.
    ///
    /// # Errors
    ///
    /// The error message for a value of another type.
    pub fn entries(&self) -> Result<&[Entry], String> {
        match &self.kind {
            Kind::Table(entries) => Ok(entries),
            _ => Err(self.expected("a table")),
        }
    }

    fn expected(&self, wanted: &str) -> String {
        let found = match &self.kind {
            Kind::Bool(_) => "a boolean",
            Kind::Integer(_) | Kind::Float(_) => "a number",
            Kind::Text(_) => "a string",
            Kind::List(_) => "a list",
            Kind::Table(_) => "a table",
        };
        format!("expected {wanted}, found {found}")
    }

    /// Converts the TOML value to JSON; infinity and NaN become `null`.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        match &self.kind {
            Kind::Bool(value) => (*value).into(),
            Kind::Integer(value) => (*value).into(),
            Kind::Float(value) => (*value).into(),
            Kind::Text(value) => value.clone().into(),
            Kind::List(items) => items.iter().map(Self::json).collect(),
            Kind::Table(table) => table
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.json()))
                .collect(),
        }
    }

    /// Converts the value to one of the crate `toml`, which writes it as text.
    #[must_use]
    pub(crate) fn toml(&self) -> toml::Value {
        match &self.kind {
            Kind::Bool(value) => (*value).into(),
            Kind::Integer(value) => (*value).into(),
            Kind::Float(value) => (*value).into(),
            Kind::Text(value) => value.clone().into(),
            Kind::List(items) => toml::Value::Array(items.iter().map(Self::toml).collect()),
            Kind::Table(table) => {
                let entries = table.iter();
                let entries = entries.map(|entry| (entry.key.clone(), entry.value.toml()));
                toml::Value::Table(entries.collect())
            }
        }
    }
}

/// Writes a key as TOML text: with quotation marks unless it consists of letters, digits, `_` and `-` only.
#[must_use]
pub fn spelled(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) {
        key.to_owned()
    } else {
        format!("{key:?}")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::time::{Duration, Instant};

    fn place(text: &str, byte: usize) -> (usize, usize) {
        Place { source: 0, byte }.line_and_column(text)
    }

    #[test]
    fn columns_count_letters_from_the_last_line_feed() {
        let text = "a = 1\n\"é\" = 2\n";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, 5), (1, 6));
        assert_eq!(place(text, 6), (2, 1));
        assert_eq!(place(text, text.find('2').unwrap()), (2, 7));
        assert_eq!(place(text, text.len()), (3, 1));
        // An offset beyond the text or within a character counts as the end of the text.
        assert_eq!(place(text, 99), (3, 1));
        assert_eq!(place(text, 8), (3, 1));
    }

    /// Checks that the time to parse a text is proportional to its length. A parser that counted the position of every value
    /// from the start took 36 s for 20,000 vertices, and would take an hour for 200,000 numbers.
    #[test]
    fn a_long_text_is_read_in_linear_time() {
        let mut text = "vertices = [\n".to_owned();
        for k in 0..200_000 {
            writeln!(text, "  {k}.5,").unwrap();
        }
        text.push_str("]\n");
        let start = Instant::now();
        let tree = parse(&text, 0).unwrap();
        let items = tree.entries().unwrap()[0].value.items().unwrap();
        let last = items.last().unwrap();
        assert_eq!(last.place.line_and_column(&text), (200_001, 3));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_fault_has_the_key_and_the_place_of_the_value() {
        let fault = |text| {
            let fault = parse(text, 0).unwrap_err();
            let place = fault.place.map(|place| place.line_and_column(text));
            (fault.key(), place)
        };
        let number = "[a]\n\"b c\" = [1, 99999999999999999999]";
        assert_eq!(fault(number), ("a.\"b c\"[1]".to_owned(), Some((2, 13))));
        assert_eq!(fault("x = 2000-01-01"), ("x".to_owned(), Some((1, 5))));
    }
}
