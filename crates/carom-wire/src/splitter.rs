//! Splits input into the texts of single problems: lines, or the values of a JSON document.
//!
//! The first line that is not blank decides. If it holds exactly one object, every line is a problem. Otherwise the input is
//! a document: objects over several lines, several objects in one line, and arrays, which are split into their elements.
//! Only brackets and strings are looked at here; the text of a problem need not be valid JSON.

use crate::limits::MAX_LINE_BYTES;
use crate::line::{Place, answer_text, breaks_off, refuse_long_text};
use crate::{Command, Line, Progress};
use serde_json::Value;
use std::borrow::Cow;

/// Text of one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawText {
    /// Place of the text in the input.
    pub place: Place,
    /// Bytes of the text; only the first [`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES) of a longer one.
    pub start: Vec<u8>,
    /// Number of bytes in the whole text.
    pub length: usize,
}

impl RawText {
    /// Returns the bytes as text. A text that is not UTF-8 is not JSON either; its answer says so.
    pub fn text(&self) -> Cow<'_, str> {
        // The check alone is faster than the conversion.
        match std::str::from_utf8(&self.start) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(&self.start),
        }
    }

    /// Answers the problem, and reports progress to a callback during long computations.
    pub fn answer(&self, command: Command, progress: Progress<'_>) -> Line {
        let text = self.text();
        if self.length > self.start.len() {
            refuse_long_text(self.place, &text, self.length)
        } else {
            answer_text(command, self.place, text.trim(), progress)
        }
    }
}

/// Part of the input to which the next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A line of input that consists of lines.
    Lines,
    /// The space between two values of a document.
    Between,
    /// The space before the element with this number, from 1, of an array of problems.
    Before(usize),
    /// An object of a document, outside of arrays of problems.
    Object,
    /// The element with this number, from 1, of an array of problems.
    Element(usize),
    /// Text outside of brackets, up to the end of the line.
    Junk,
}

/// Splits a stream of bytes into the texts of problems.
///
/// # Examples
///
/// ```
/// use carom_wire::{Command, Splitter};
/// let mut splitter = Splitter::new(Command::Lcp);
/// let mut texts = splitter.split(br#"[{"id": 1, "matrix": [[1]], "vector": [-1]}, {"id": 2}]"#);
/// texts.extend(splitter.end());
/// let first = texts[0].answer(Command::Lcp, &|_, _| {});
/// assert!(texts.len() == 2 && first.text.starts_with(r#"{"id":1,"status":"solved","z":[1.0]"#));
/// ```
#[derive(Clone, Debug)]
pub struct Splitter {
    command: Command,
    state: State,
    /// Number of the current line, from 1.
    line: usize,
    /// Number of bytes of the current line so far.
    column: usize,
    /// Number of texts that were completed in the first line that is not blank, and true if all of them are objects; `None`
    /// after the end of this line.
    first: Option<(usize, bool)>,
    /// Place of the text in progress.
    place: Place,
    /// Bytes of the text in progress, up to the limit.
    start: Vec<u8>,
    /// Number of bytes of the text in progress.
    length: usize,
    /// Length of the object in progress before the current line; `None` if the object begins in this line or is too long.
    before_line: Option<usize>,
    /// Number of open brackets in the text in progress.
    depth: usize,
    is_string: bool,
    is_escaped: bool,
}

impl Splitter {
    /// Creates a splitter for the input of `command`.
    pub fn new(command: Command) -> Self {
        Self {
            command,
            state: State::Between,
            line: 1,
            column: 0,
            first: Some((0, true)),
            place: Place::new(1, 1, None),
            start: Vec::new(),
            length: 0,
            before_line: None,
            depth: 0,
            is_string: false,
            is_escaped: false,
        }
    }

    /// Appends bytes to the text in progress and returns the texts that they complete.
    pub fn split(&mut self, bytes: &[u8]) -> Vec<RawText> {
        let mut texts = Vec::new();
        let mut rest = bytes;
        while let Some((first, _)) = rest.split_first() {
            let used = match self.state {
                State::Lines | State::Junk => self.rest_of_line(rest, &mut texts),
                State::Between | State::Before(_) => self.begin(*first, &mut texts),
                State::Object | State::Element(_) => self.value(rest, &mut texts),
            };
            rest = rest.get(used..).unwrap_or_default();
        }
        texts
    }

    /// Ends the input and returns the text in progress, if there is any. An array that is cut off ends with an element that is
    /// cut off or empty.
    pub fn end(&mut self) -> Vec<RawText> {
        let mut texts = Vec::new();
        match self.state {
            State::Between => {}
            State::Before(number) => self.empty_element(number, &mut texts),
            State::Element(number) if self.depth == 0 && !self.is_string => {
                self.complete(&mut texts);
                self.empty_element(number + 1, &mut texts);
            }
            State::Object | State::Element(_) => {
                if !self.resume_at_line(&mut texts) {
                    self.complete(&mut texts);
                }
            }
            State::Lines | State::Junk => self.complete_line(&mut texts),
        }
        texts
    }

    /// Reads up to the end of the line, which ends the text in progress, and returns the number of bytes read.
    fn rest_of_line(&mut self, bytes: &[u8], texts: &mut Vec<RawText>) -> usize {
        let end = memchr::memchr(b'\n', bytes);
        let (line, _) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.append(line);
        if end.is_none() {
            return line.len();
        }
        self.complete_line(texts);
        line.len() + 1
    }

    /// Ends the text in progress at the end of its line, unless it is blank.
    fn complete_line(&mut self, texts: &mut Vec<RawText>) {
        if self.start.trim_ascii().is_empty() && self.length <= self.start.len() {
            self.start.clear();
            self.length = 0;
        } else {
            self.complete(texts);
        }
        if self.state == State::Junk {
            self.state = State::Between;
        }
        self.new_line();
    }

    /// Looks for the start of a value or element at the byte `first`, and returns the number of bytes read: 0 if the byte
    /// belongs to the text of a problem.
    fn begin(&mut self, first: u8, texts: &mut Vec<RawText>) -> usize {
        // Some editors begin a file with this mark.
        let is_mark = self.line == 1 && [0xef, 0xbb, 0xbf].get(self.column) == Some(&first);
        match (self.state, first) {
            (_, b'\n') => {
                self.new_line();
                return 1;
            }
            _ if first.is_ascii_whitespace() || is_mark => {}
            (State::Before(number), b',' | b']' | b'}') => {
                let is_empty_array = number == 1 && first != b',';
                if !is_empty_array {
                    self.empty_element(number, texts);
                }
                self.state = after_element(number, first);
            }
            (State::Before(number), _) => {
                self.place = self.here(Some(number));
                self.state = State::Element(number);
                return 0;
            }
            (_, b'[') => {
                self.first = self.first.map(|(texts, _)| (texts, false));
                self.state = State::Before(1);
            }
            (_, b',') => {
                self.place = self.here(None);
                self.append(b",");
                self.complete(texts);
            }
            _ => {
                self.place = self.here(None);
                self.before_line = None;
                self.state = match first {
                    b'{' => State::Object,
                    _ => State::Junk,
                };
                return 0;
            }
        }
        self.column += 1;
        1
    }

    /// Reads the object or element in progress up to its end or the end of the line, and returns the number of bytes read.
    fn value(&mut self, bytes: &[u8], texts: &mut Vec<RawText>) -> usize {
        let mut used = 0;
        for byte in bytes {
            used += 1;
            match byte {
                b'\n' => return self.line_of_value(bytes, used, texts),
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_string => self.is_escaped = true,
                b'"' => self.is_string = !self.is_string,
                _ if self.is_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' if self.depth == 0 => {
                    self.append(bytes.get(..used - 1).unwrap_or_default());
                    self.column += used;
                    if let State::Element(number) = self.state {
                        self.complete(texts);
                        self.state = after_element(number, *byte);
                    }
                    return used;
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 && self.state == State::Object {
                        self.append(bytes.get(..used).unwrap_or_default());
                        self.column += used;
                        self.complete(texts);
                        self.state = State::Between;
                        return used;
                    }
                }
                _ => {}
            }
        }
        self.append(bytes);
        self.column += used;
        used
    }

    /// Ends a line within the object or element in progress, after the first `used` of some bytes, and returns `used`. A
    /// string does not extend over the end of a line.
    fn line_of_value(&mut self, bytes: &[u8], used: usize, texts: &mut Vec<RawText>) -> usize {
        self.append(bytes.get(..used).unwrap_or_default());
        (self.is_string, self.is_escaped) = (false, false);
        if self.state == State::Object && !self.resume_at_line(texts) {
            self.before_line = (self.length == self.start.len()).then_some(self.length);
        }
        self.new_line();
        used
    }

    /// Gives up the object in progress if its last line alone is a complete problem. The two are then separate texts, and the
    /// rest of the input consists of lines. Returns true in this case.
    fn resume_at_line(&mut self, texts: &mut Vec<RawText>) -> bool {
        let Some(before) = self.before_line else {
            return false;
        };
        let Some((open, line)) = self.start.split_at_checked(before) else {
            return false;
        };
        if self.length > self.start.len() || !breaks_off(self.command, open, line) {
            return false;
        }
        let line = self.start.split_off(before);
        self.length = before;
        self.complete(texts);
        texts.push(RawText {
            place: Place::new(self.line, 1, None),
            length: line.len(),
            start: line,
        });
        self.state = State::Lines;
        true
    }

    /// Adds the element with the given number, which an array lacks, as an empty text.
    fn empty_element(&mut self, number: usize, texts: &mut Vec<RawText>) {
        self.place = self.here(Some(number));
        self.complete(texts);
    }

    fn append(&mut self, part: &[u8]) {
        let kept = part.len().min(MAX_LINE_BYTES - self.start.len());
        self.start
            .extend_from_slice(part.get(..kept).unwrap_or(part));
        self.length += part.len();
    }

    /// Ends the text in progress.
    fn complete(&mut self, texts: &mut Vec<RawText>) {
        let start = std::mem::take(&mut self.start);
        let length = std::mem::take(&mut self.length);
        if let Some((number, are_objects)) = &mut self.first {
            // Nothing is known about the rest of a text that is too long.
            let is_object = length > start.len()
                || serde_json::from_slice(&start).is_ok_and(|v: Value| v.is_object());
            *number += 1;
            *are_objects &= is_object;
        }
        texts.push(RawText {
            place: self.place,
            start,
            length,
        });
        (self.depth, self.is_string, self.is_escaped) = (0, false, false);
        self.before_line = None;
    }

    fn new_line(&mut self) {
        let is_blank = self.first == Some((0, true)) && self.state == State::Between;
        if let Some(found) = self.first.filter(|_| !is_blank) {
            if found == (1, true) && self.state == State::Between {
                self.state = State::Lines;
            }
            self.first = None;
        }
        self.line += 1;
        self.column = 0;
        if self.state == State::Lines {
            self.place = Place::new(self.line, 1, None);
        }
    }

    fn here(&self, element: Option<usize>) -> Place {
        Place::new(self.line, self.column + 1, element)
    }
}

/// Returns the state after the element with the given number, which the byte `end` ended.
fn after_element(number: usize, end: u8) -> State {
    match end {
        b',' => State::Before(number + 1),
        _ => State::Between,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = r#"{"id": "a", "matrix": [[1]], "vector": [-1]}"#;
    const B: &str = r#"{"id": "b", "matrix": [[2]], "vector": [-1]}"#;

    /// Splits the text, given in pieces of `size` bytes: texts without spaces at their ends, lines and elements.
    fn split(text: &str, size: usize) -> Vec<(String, usize, Option<usize>)> {
        let mut splitter = Splitter::new(Command::Lcp);
        let mut texts = Vec::new();
        for bytes in text.as_bytes().chunks(size) {
            texts.extend(splitter.split(bytes));
        }
        texts.extend(splitter.end());
        let told = |text: RawText| {
            assert_eq!(text.length, text.start.len());
            let trimmed = String::from_utf8(text.start.trim_ascii().to_vec()).unwrap();
            (trimmed, text.place.line, text.place.element)
        };
        texts.into_iter().map(told).collect()
    }

    /// Holds the texts of an input, with lines and elements, however its bytes arrive.
    #[track_caller]
    fn holds(text: &str, expected: &[(&str, usize, Option<usize>)]) {
        for size in 1..=text.len().max(1) {
            let found = split(text, size);
            let found: Vec<(&str, usize, Option<usize>)> = found
                .iter()
                .map(|(text, line, k)| (text.as_str(), *line, *k))
                .collect();
            assert_eq!(found, expected, "{size} bytes: {text}");
        }
    }

    #[test]
    fn an_object_in_the_first_line_makes_lines() {
        let text = format!("\n  \n{A}\r\n{{\n\n[{B}]\nno");
        let array = format!("[{B}]");
        holds(
            &text,
            &[
                (A, 3, None),
                ("{", 4, None),
                (&array, 6, None),
                ("no", 7, None),
            ],
        );
    }

    #[test]
    fn values_of_a_document_may_stand_anywhere() {
        let pretty = A.replace(", ", ",\r\n  ");
        let trimmed = pretty.as_str();
        holds(
            &format!("{pretty}\r\n{B}"),
            &[(trimmed, 1, None), (B, 4, None)],
        );
        holds(
            &format!("{A} {B}\n\n{A}{B}"),
            &[(A, 1, None), (B, 1, None), (A, 3, None), (B, 3, None)],
        );
        holds(
            &format!("\u{feff}\n{A}\n{B}"),
            &[(A, 2, None), (B, 3, None)],
        );
        holds(&format!("[{A},{B}]"), &[(A, 1, Some(1)), (B, 1, Some(2))]);
        holds(
            &format!("[\n{pretty},\n{B}\n]\n{A}"),
            &[(trimmed, 2, Some(1)), (B, 5, Some(2)), (A, 7, None)],
        );
        for empty in ["", "[]", " [ \n ] ", "\n\n", "[][]"] {
            holds(empty, &[]);
        }
    }

    #[test]
    fn a_broken_line_swallows_nothing() {
        let starts = [
            r#"{"id": "t", "matrix": [[1"#,
            r#"{"id": "t"#,
            r#"{"id": "t", "vector": ["#,
            "{",
        ];
        for start in starts {
            holds(
                &format!("{start}\n{A}\n{{\n{B}"),
                &[(start, 1, None), (A, 2, None), ("{", 3, None), (B, 4, None)],
            );
            let two = format!("{start}\n  \"more\": 1,");
            holds(
                &format!("{two}\n{A}\n{B}"),
                &[(&two, 1, None), (A, 3, None), (B, 4, None)],
            );
            holds(&format!("{start}\n{A}"), &[(start, 1, None), (A, 2, None)]);
        }
        holds(
            &format!("{{\"a\": nan}}\n{A}"),
            &[("{\"a\": nan}", 1, None), (A, 2, None)],
        );
        holds(
            &format!("a,b {A}\n{A}, {B}"),
            &[
                (&format!("a,b {A}"), 1, None),
                (A, 2, None),
                (",", 2, None),
                (B, 2, None),
            ],
        );
    }

    #[test]
    fn elements_are_counted_and_an_array_that_is_cut_off_says_so() {
        holds(
            "[1, [2, 3], \"x]\", ]",
            &[
                ("1", 1, Some(1)),
                ("[2, 3]", 1, Some(2)),
                ("\"x]\"", 1, Some(3)),
                ("", 1, Some(4)),
            ],
        );
        for end in ["", "\n"] {
            let line = 1 + end.len();
            holds(
                &format!("[{A}{end}"),
                &[(A, 1, Some(1)), ("", line, Some(2))],
            );
        }
        let cut = A.strip_suffix('}').unwrap();
        holds(
            &format!("[{B},{cut}"),
            &[(B, 1, Some(1)), (cut, 1, Some(2))],
        );
        holds(
            &format!("[{A},\n{B},"),
            &[(A, 1, Some(1)), (B, 2, Some(2)), ("", 2, Some(3))],
        );
        holds("[", &[("", 1, Some(1))]);
        holds("[,1]", &[("", 1, Some(1)), ("1", 1, Some(2))]);
    }

    #[test]
    fn of_a_text_that_is_too_long_only_the_start_is_kept() {
        let part = vec![b'x'; 1 << 20];
        for start in ["", "{\"a\": \""] {
            let mut splitter = Splitter::new(Command::Lcp);
            let mut texts = splitter.split(start.as_bytes());
            for _ in 0..66 {
                texts.extend(splitter.split(&part));
            }
            texts.extend(splitter.split(b"\"}\nnext\n"));
            assert_eq!(texts[0].start.len(), MAX_LINE_BYTES);
            assert_eq!(texts[0].length, (66 << 20) + start.len() + 2);
            assert_eq!(
                (texts[1].place.line, texts[1].start.as_slice()),
                (2, &b"next"[..])
            );
        }
    }
}
