//! Answers a line of text; the answer has the line's `id` even if the line is not valid JSON.

use crate::error::WireError;
use crate::keys::required;
use crate::limits::{MAX_LINE_BYTES, MAX_NESTING, too_large};
use crate::{Command, Line, Progress, solve_with_progress};
use serde_json::{Value, json};
use std::fmt;

/// Place of a JSON text in its input, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Number of the line in which the text begins, from 1.
    pub line: usize,
    /// Column of the first byte of the text in this line, from 1.
    pub column: usize,
    /// Number of the element, from 1, if the text is an element of an array.
    pub element: Option<usize>,
}

impl Place {
    /// Creates the place of a text that is an element of an array if `element` is its number, from 1. `line` and `column`
    /// are those of its first byte, from 1.
    pub fn new(line: usize, column: usize, element: Option<usize>) -> Self {
        Self {
            line,
            column,
            element,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        match self.element {
            Some(element) => write!(f, " element {element}"),
            None => Ok(()),
        }
    }
}

/// Answers one line of JSON, which holds one problem. `line_number` is used in error messages.
pub fn answer_line(command: Command, line_number: usize, line: &str) -> Line {
    answer_text(command, Place::new(line_number, 1, None), line, &|_, _| {})
}

/// Answers one problem given as JSON text, which may extend over several lines, and reports progress to a callback during
/// long computations. `place` is used in error messages.
pub fn answer_text(command: Command, place: Place, text: &str, progress: Progress<'_>) -> Line {
    if text.len() > MAX_LINE_BYTES {
        return refuse_long_text(place, text, text.len());
    }
    let value = match object(place, text) {
        Ok(value) => value,
        Err(error) => return refuse(text, &error),
    };
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    match solve_with_progress(command, value, progress) {
        Ok(mut answer) => {
            answer.fields.shift_insert(0, "id".to_owned(), id);
            Line {
                is_solved: answer.is_solved,
                text: Value::Object(answer.fields).to_string(),
            }
        }
        Err(error) => refusal(id, &error),
    }
}

/// Reads the JSON object of a text. `place` is used in error messages.
pub(crate) fn object(place: Place, text: &str) -> Result<Value, WireError> {
    let value: Value = serde_json::from_str(text).map_err(|error| not_json(place, text, &error))?;
    if value.is_object() {
        return Ok(value);
    }
    let message = format!("{place}: {}; {ONE_A_LINE}", what(&value));
    Err(WireError::new("invalid-input", message))
}

/// Returns the error answer for a problem of more than [`MAX_LINE_BYTES`] bytes. `start` is the beginning of its text,
/// `length` its number of bytes.
pub fn refuse_long_text(place: Place, start: &str, length: usize) -> Line {
    let key = place.to_string();
    refuse(start, &too_large(&key, length, "bytes", MAX_LINE_BYTES))
}

/// True if an object that ends at the end of a line without being closed is broken, because the following line alone is a
/// complete problem: it has the keys that `command` requires. `open` is the text of the object so far, `line` the following
/// line. A line inside the list `steps` of a problem to judge may have these keys, too, and breaks nothing.
pub fn breaks_off(command: Command, open: &[u8], line: &[u8]) -> bool {
    let line = line.trim_ascii();
    if !line.starts_with(b"{") || !line.ends_with(b"}") {
        return false;
    }
    let Ok(Value::Object(found)) = serde_json::from_slice(line) else {
        return false;
    };
    let forms = required(command);
    let is_whole = forms
        .iter()
        .any(|form| form.iter().all(|key| found.contains_key(*key)));
    is_whole && !std::str::from_utf8(open).is_ok_and(expects_step)
}

/// True if a JSON object that is not closed ends where the list under its key `steps` expects an element.
fn expects_step(open: &str) -> bool {
    let (mut depth, mut key, mut last) = (0, "", Token::Colon);
    for (level, token) in Tokens::new(open) {
        if let Token::String(text) = token
            && level == 1
        {
            key = text;
        }
        (depth, last) = (level, token);
    }
    depth == 2 && key == "\"steps\"" && matches!(last, Token::Open | Token::Comma)
}

/// Returns the answer that reports `error` for a line of JSON, with the `id` of the line if it can be found.
pub fn refuse(line: &str, error: &WireError) -> Line {
    refusal(find_id(line), error)
}

fn refusal(id: Value, error: &WireError) -> Line {
    Line {
        is_solved: false,
        text: json!({ "id": id, "error": error.to_value() }).to_string(),
    }
}

const ONE_A_LINE: &str = "give one JSON object per line, or a document of whole objects";

fn what(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "found a list",
        Value::Object(_) => "found an object",
        Value::String(_) => "found a string",
        Value::Number(_) => "found a number",
        Value::Bool(_) => "found a boolean",
        Value::Null => "found null",
    }
}

/// Creates the error for a text of input that is not JSON. The JSON parser counts lines and columns from the begin of the
/// text; the message contains those of the input.
fn not_json(place: Place, text: &str, error: &serde_json::Error) -> WireError {
    let message = error.to_string();
    if message.starts_with("recursion limit") {
        let key = format!("{place}: nesting");
        return too_large(&key, depth(text), "levels", MAX_NESTING);
    }
    let within = format!(" at line {} column {}", error.line(), error.column());
    // The parser means the words true, false and null.
    let message = match message.strip_suffix(&within).unwrap_or(&message) {
        "expected ident" => "expected value",
        message => message,
    };
    let hint = if has_no_number_for(text) {
        "; JSON has no NaN and no infinity".to_owned()
    } else if error.is_eof()
        || message == "trailing characters"
        || !text.trim_start().starts_with('{')
    {
        format!("; {ONE_A_LINE}")
    } else {
        String::new()
    };
    let start = text.trim_start().chars().next().unwrap_or('{');
    let message = if start.is_alphabetic() && !error.is_eof() {
        format!("{place}: this is no JSON{hint}")
    } else {
        let (line, column) = match error.line() {
            0 | 1 => (place.line, place.column.saturating_sub(1) + error.column()),
            more => (place.line + more - 1, error.column()),
        };
        let place = Place { line, ..place };
        format!("{place} column {column}: {message}{hint}")
    };
    WireError::new("invalid-json", message)
}

/// True if the text contains NaN, inf or infinity outside quotation marks, words for numbers that JSON does not have.
fn has_no_number_for(line: &str) -> bool {
    let mut words = Tokens::new(line).filter_map(|(_, token)| match token {
        Token::Word(word) => Some(word.trim_start_matches(['-', '+'])),
        _ => None,
    });
    words.any(|word| ["nan", "inf", "infinity"].contains(&word.to_ascii_lowercase().as_str()))
}

/// Returns the largest depth of nested brackets in a text; brackets in quotation marks do not count.
fn depth(line: &str) -> usize {
    let depths = Tokens::new(line).map(|(depth, _)| depth);
    depths.max().unwrap_or(0)
}

/// Returns the value of the key `id` at the top level of the JSON object in a line, if it is a string or number; otherwise
/// null. The line need not be valid JSON.
fn find_id(line: &str) -> Value {
    let mut tokens = Tokens::new(line).peekable();
    if !line.trim_start().starts_with('{') {
        return Value::Null;
    }
    let mut found = Value::Null;
    let mut key = None;
    while let Some((depth, token)) = tokens.next() {
        if depth == 0 {
            break;
        }
        if depth == 1 && token == Token::Colon && key == Some("\"id\"") {
            let is_plain = |token: &Token<'_>| matches!(token, Token::String(_) | Token::Word(_));
            let value = tokens.next_if(|(_, token)| is_plain(token));
            if let Some((_, Token::String(text) | Token::Word(text))) = value
                && let Ok(value @ (Value::String(_) | Value::Number(_))) =
                    serde_json::from_str(text)
            {
                found = value;
            }
        }
        key = match token {
            Token::String(text) if depth == 1 => Some(text),
            _ => None,
        };
    }
    found
}

/// Token of a text that may be JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    Open,
    Close,
    Colon,
    Comma,
    /// A string with its quotation marks; the closing one is missing if the text ends first.
    String(&'t str),
    /// Any other text up to the next punctuation mark or space.
    Word(&'t str),
}

/// Tokens of a text, each with the number of brackets that are open after it.
struct Tokens<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            rest: text,
            depth: 0,
        }
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (token, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        token
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = (usize, Token<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.trim_start();
        let is_end = |c: char| c.is_whitespace() || "{}[]:,\"".contains(c);
        let (length, token): (usize, fn(&'t str) -> Token<'t>) = match self.rest.chars().next()? {
            '{' | '[' => {
                self.depth += 1;
                (1, |_| Token::Open)
            }
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                (1, |_| Token::Close)
            }
            ':' => (1, |_| Token::Colon),
            ',' => (1, |_| Token::Comma),
            '"' => (string_length(self.rest), Token::String),
            _ => (
                self.rest.find(is_end).unwrap_or(self.rest.len()),
                Token::Word,
            ),
        };
        Some((self.depth, token(self.take(length))))
    }
}

/// Returns the length (bytes) of the JSON string with which a text begins, with its quotation marks. A string without
/// closing mark extends to the end of the text.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (k, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return k + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_what_is_not_json() {
        for (line, id) in [
            (r#"{"id": "a", "velocity": [NaN]}"#, json!("a")),
            (r#"{"velocity": [1e999], "id": 7}"#, json!(7)),
            (r#"{"id": 2.5, "x": "#, json!(2.5)),
            (r#"{"options": {"id": 3}, "id": "b}\"", [[["#, json!("b}\"")),
            (r#"{"x": "\"id\": 4", "y": nan}"#, Value::Null),
            (r#"[{"id": 5}, nan]"#, Value::Null),
            (r#"{"id": {"id": 6}, nan"#, Value::Null),
            (r#"{"id": "a"} {"id": "b"}"#, json!("a")),
            (r#"{"id""#, Value::Null),
            ("", Value::Null),
        ] {
            assert_eq!(find_id(line), id, "{line}");
        }
    }

    #[test]
    fn two_objects_in_one_line_are_told() {
        let twice = answer_line(Command::Lcp, 1, r#"{"id": 1} {"id": 2}"#).text;
        assert!(
            twice.starts_with(r#"{"id":1,"#) && twice.contains(ONE_A_LINE),
            "{twice}"
        );
    }

    #[test]
    fn a_line_that_is_a_problem_breaks_an_open_object_but_for_a_step() {
        let step =
            r#"{"mass_matrix": [[1]], "velocity": [-1], "velocity_plus": [0], "contacts": []}"#;
        for (open, breaks) in [
            (r#"{"id": "a", "mass_matrix": [[1"#, true),
            (r#"{"id": "a", "steps": ["#, false),
            (r#"{"id": "a", "steps": [{"velocity": [0]},"#, false),
            (r#"{"id": "a", "steps": [{"velocity": [0]}"#, true),
            (r#"{"id": "a", "contacts": ["#, true),
        ] {
            assert_eq!(
                breaks_off(Command::Judge, open.as_bytes(), step.as_bytes()),
                breaks,
                "{open}"
            );
        }
        let open = br#"{"contacts": ["#;
        for line in [r#"{"normal": [1], "friction": 0.5}"#, &format!("{step},")] {
            assert!(!breaks_off(Command::Resolve, open, line.as_bytes()));
        }
    }

    #[test]
    fn a_fault_stands_at_its_line_and_column_of_the_input() {
        let text = "{\n \"law\": plastic}";
        let place = Place::new(7, 5, Some(2));
        let line = answer_text(Command::Resolve, place, text, &|_, _| {}).text;
        assert!(
            line.contains("line 8 element 2 column 9: expected value"),
            "{line}"
        );
        let line = answer_text(Command::Resolve, place, "{1", &|_, _| {}).text;
        assert!(
            line.contains("line 7 element 2 column 6: key must be"),
            "{line}"
        );
        for word in ["hello", "nope", "plastic: 1"] {
            let line = answer_line(Command::Lcp, 3, word).text;
            assert!(line.contains("line 3: this is no JSON; give one"), "{line}");
        }
    }

    #[test]
    fn depth_does_not_count_what_stands_in_strings() {
        assert_eq!(depth(r#"{"[[[": [[1], [2]]}"#), 3);
        assert_eq!(depth(&"[".repeat(100_000)), 100_000);
    }
}
