//! Answers a line of text; the answer has the line's `id` even if the line is not valid JSON.

use crate::error::WireError;
use crate::limits::{MAX_LINE_BYTES, MAX_NESTING, too_large};
use crate::{Command, Line, Progress, solve_with_progress};
use serde_json::{Value, json};

/// Answers one line of JSON, which holds one problem. `line_number` is used in error messages.
pub fn answer_line(command: Command, line_number: usize, line: &str) -> Line {
    answer_line_with_progress(command, line_number, line, &|_, _| {})
}

/// Answers one line of JSON, which holds one problem, and reports progress to a callback during long computations.
/// `line_number` is used in error messages.
pub fn answer_line_with_progress(
    command: Command,
    line_number: usize,
    line: &str,
    progress: Progress<'_>,
) -> Line {
    if line.len() > MAX_LINE_BYTES {
        return refuse_long_line(line_number, line, line.len());
    }
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => return refuse(line, &not_json(line_number, line, &error)),
    };
    if !value.is_object() {
        let message = format!("line {line_number}: {}; {ONE_A_LINE}", what(&value));
        return refuse(line, &WireError::new("invalid-input", message));
    }
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

/// Returns the error answer for a line of more than [`MAX_LINE_BYTES`] bytes. `start` is the beginning of the line, `length`
/// its number of bytes.
pub fn refuse_long_line(line_number: usize, start: &str, length: usize) -> Line {
    let key = format!("line {line_number}");
    refuse(start, &too_large(&key, length, "bytes", MAX_LINE_BYTES))
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

const ONE_A_LINE: &str = "give one JSON object per line";

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

/// Creates the error for a line of input that is not JSON. The JSON parser always reports line 1; the message contains the true
/// number `number` of the line instead.
fn not_json(number: usize, line: &str, error: &serde_json::Error) -> WireError {
    let message = error.to_string();
    if message.starts_with("recursion limit") {
        let key = format!("line {number}: nesting");
        return too_large(&key, depth(line), "levels", MAX_NESTING);
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let hint = if has_no_number_for(line) {
        "; JSON has no NaN and no infinity".to_owned()
    } else if error.is_eof()
        || message == "trailing characters"
        || !line.trim_start().starts_with('{')
    {
        format!("; {ONE_A_LINE}")
    } else {
        String::new()
    };
    let message = format!("line {number} column {}: {message}{hint}", error.column());
    WireError::new("invalid-json", message)
}

/// True if the text contains NaN, inf or infinity outside quotation marks, words for numbers that JSON does not have.
fn has_no_number_for(line: &str) -> bool {
    let mut words = Tokens::new(line).filter_map(|token| match token {
        Token::Word(word) => Some(word.trim_start_matches(['-', '+'])),
        _ => None,
    });
    words.any(|word| ["nan", "inf", "infinity"].contains(&word.to_ascii_lowercase().as_str()))
}

/// Returns the largest depth of nested brackets in a text; brackets in quotation marks do not count.
fn depth(line: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for token in Tokens::new(line) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns the value of the key `id` at the top level of the JSON object in a line, if it is a string or number; otherwise
/// null. The line need not be valid JSON.
fn find_id(line: &str) -> Value {
    let mut tokens = Tokens::new(line);
    if !line.trim_start().starts_with('{') {
        return Value::Null;
    }
    let mut depth = 0usize;
    let mut found = Value::Null;
    let mut key = None;
    while let Some(token) = tokens.next() {
        match token {
            Token::Open => depth += 1,
            Token::Close if depth <= 1 => break,
            Token::Close => depth -= 1,
            Token::Colon if depth == 1 && key == Some("\"id\"") => {
                if let Some(Token::String(text) | Token::Word(text)) = tokens.next_if_plain()
                    && let Ok(value @ (Value::String(_) | Value::Number(_))) =
                        serde_json::from_str(text)
                {
                    found = value;
                }
            }
            Token::String(_) | Token::Word(_) | Token::Colon | Token::Comma => {}
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

struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// Returns the next token and moves past it if the token is a string or a word; otherwise returns `None` and stays.
    fn next_if_plain(&mut self) -> Option<Token<'t>> {
        let rest = self.rest;
        let token = self.next()?;
        if matches!(token, Token::String(_) | Token::Word(_)) {
            return Some(token);
        }
        self.rest = rest;
        None
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
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        self.rest = self.rest.trim_start();
        let token = match self.rest.chars().next()? {
            '{' | '[' => Token::Open,
            '}' | ']' => Token::Close,
            ':' => Token::Colon,
            ',' => Token::Comma,
            '"' => return Some(Token::String(self.take(string_length(self.rest)))),
            _ => {
                let is_end = |c: char| c.is_whitespace() || "{}[]:,\"".contains(c);
                let length = self.rest.find(is_end).unwrap_or(self.rest.len());
                return Some(Token::Word(self.take(length)));
            }
        };
        self.take(1);
        Some(token)
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
    fn depth_does_not_count_what_stands_in_strings() {
        assert_eq!(depth(r#"{"[[[": [[1], [2]]}"#), 3);
        assert_eq!(depth(&"[".repeat(100_000)), 100_000);
    }
}
