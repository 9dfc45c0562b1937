//! Ask and tell: an optimizer asks for points one after the other; a journal of the answers can be replayed.

use crate::SweepError;
use crate::answer::row;
use crate::evaluate::Evaluator;
use crate::folder::{claim, sync_folder};
use crate::plan::Plan;
use crate::table::json_row;
use carom_numeric::expression::{Scalar, Type};
use carom_report::input::read_line;
use carom_wire::{MAX_LINE_BYTES, WireError, nearest_name};
use serde_json::{Map, Value, json};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const JOURNAL: &str = "asked.jsonl";

/// Evaluator of a sweep's plan for an optimizer, which asks for one point at a time: a value for each axis of the plan. All
/// answers are also written to a journal in a folder.
///
/// If the same points are asked again from the start, equal bit for bit, they are answered from the journal. A
/// deterministic optimizer that was interrupted therefore returns quickly to the point where it stopped.
#[derive(Debug)]
pub struct Asked {
    plan: Plan,
    path: PathBuf,
    /// Reader of the journal, at the next answer to replay.
    replayed: BufReader<File>,
    journal: File,
    length: u64,
    next: u64,
}

/// Answer to one point of a sweep (one value for each axis), returned by [`Asked::answer_line`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Answer as one JSON object, without a line feed.
    pub text: String,
    /// True if the point is valid and its cell has no error.
    pub is_solved: bool,
}

impl Asked {
    /// Opens the journal of answers to single points of the plan in a folder, and creates it if necessary.
    ///
    /// # Errors
    ///
    /// [`SweepError::Unsuitable`] for a plan with states or random columns, or if another process uses the
    /// journal; [`SweepError::OtherSweep`], [`SweepError::File`].
    pub fn open(plan: Plan, folder: &Path) -> Result<Self, SweepError> {
        if plan.has_states() || plan.random.is_some() {
            let message = "points are asked of axes alone: [states] and [random] have no place";
            return Err(SweepError::Unsuitable(message.to_owned()));
        }
        claim(&plan, folder)?;
        let path = folder.join(JOURNAL);
        let unusable = |error| SweepError::file("write", &path)(error);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut journal = options.open(&path).map_err(unusable)?;
        match journal.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process asks in {}", folder.display());
                return Err(SweepError::Unsuitable(message));
            }
            // If the file system has no locks, the caller must prevent concurrent use.
            Err(TryLockError::Error(_)) => {}
        }
        let length = whole_lines(&mut journal).map_err(unusable)?;
        journal.set_len(length).map_err(unusable)?;
        sync_folder(&path)?;
        let replayed = BufReader::new(File::open(&path).map_err(unusable)?);
        Ok(Self {
            plan,
            path,
            replayed,
            journal,
            length,
            next: 0,
        })
    }

    /// Evaluates one point of the sweep and returns the answer. `text` is a JSON object with a value for every axis; `line` is
    /// the line number for messages, counted from 1. Text that is not a point gets an answer with the error.
    ///
    /// # Errors
    ///
    /// [`SweepError::AskedOtherwise`] if the journal has another point at this position; [`SweepError::File`]
    /// if the journal cannot be written.
    pub fn answer_line(&mut self, line: usize, text: &str) -> Result<Told, SweepError> {
        let point = serde_json::from_str::<Value>(text)
            .map_err(|error| WireError::new("invalid-json", format!("line {line}: {error}")));
        match point.and_then(|point| self.point(&point)) {
            Ok(point) => self.tell(line, point),
            Err(error) => Ok(Told {
                text: json!({ "cell": null, "error": error.to_value() }).to_string(),
                is_solved: false,
            }),
        }
    }

    /// Converts a JSON object with one value per axis of the sweep to the list of these values, in the order of the axes.
    /// Fails for missing or unknown axes and for values of a wrong type.
    fn point(&self, point: &Value) -> Result<Vec<Scalar>, WireError> {
        let invalid = |message: String| WireError::new("invalid-input", message);
        let axes = &self.plan.axes;
        let names = || axes.iter().map(|axis| axis.name.as_str());
        let Some(point) = point.as_object() else {
            return Err(invalid("expected one JSON object a line".to_owned()));
        };
        if let Some(key) = point
            .keys()
            .find(|key| names().all(|name| name != key.as_str()))
        {
            let hint = nearest_name(key, names());
            let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(invalid(format!("{key}: there is no such axis{hint}")));
        }
        let value = |axis: &crate::plan::Axis| {
            let name = &axis.name;
            let value = point.get(name);
            let value = value.ok_or_else(|| invalid(format!("the axis `{name}` has no value")))?;
            let (found, expected) = match axis.kind() {
                Type::Float => (value.as_f64().map(Scalar::Float), "a number"),
                Type::Integer => (value.as_i64().map(Scalar::Integer), "an integer"),
                Type::Text => (
                    value.as_str().map(|text| Scalar::Text(text.into())),
                    "a string",
                ),
                Type::Bool => (value.as_bool().map(Scalar::Bool), "a boolean"),
            };
            found.ok_or_else(|| invalid(format!("{name}: expected {expected}, found {value}")))
        };
        axes.iter().map(value).collect()
    }

    fn tell(&mut self, line: usize, point: Vec<Scalar>) -> Result<Told, SweepError> {
        if let Some(told) = self.replay(line, &point)? {
            return Ok(told);
        }
        let mut evaluator = Evaluator::new(&self.plan)?;
        evaluator.place(self.next, point, 0);
        let row = row(&mut evaluator)?;
        let mut text = json_row(&self.plan.schema, row.data).to_string();
        text.push('\n');
        self.keep(&text)?;
        text.pop();
        self.next += 1;
        Ok(Told {
            text,
            is_solved: !row.is_error,
        })
    }

    /// Returns the next stored answer from the journal file, which holds the answers of an earlier run; `None` at its end.
    /// Fails if the stored answer belongs to another point than `point`. `line` is the number of the input line for
    /// messages.
    fn replay(&mut self, line: usize, point: &[Scalar]) -> Result<Option<Told>, SweepError> {
        let mut bytes = Vec::new();
        let read = read_line(&mut self.replayed, MAX_LINE_BYTES as u64, &mut bytes);
        if read.map_err(SweepError::file("read", &self.path))? == 0 {
            return Ok(None);
        }
        let changed =
            || SweepError::content(&self.path, format!("answer {} was changed", self.next));
        let mut text = String::from_utf8(bytes).map_err(|_| changed())?;
        text.truncate(text.trim_end_matches('\n').len());
        let answer: Map<String, Value> = serde_json::from_str(&text).map_err(|_| changed())?;
        let asked = self.point(&self.asked(&answer));
        if answer.get("cell").and_then(Value::as_u64) != Some(self.next)
            || !asked.is_ok_and(|asked| is_same(&asked, point))
        {
            return Err(SweepError::AskedOtherwise { line });
        }
        self.next += 1;
        let is_solved = answer.get("error_kind") == Some(&Value::Null);
        Ok(Some(Told { text, is_solved }))
    }

    /// Returns the point of the sweep to which a stored answer belongs: an object with the value of each axis in the
    /// answer.
    fn asked(&self, answer: &Map<String, Value>) -> Value {
        let axes = self.plan.axes.iter();
        let pairs =
            axes.filter_map(|axis| Some((axis.name.clone(), answer.get(&axis.name)?.clone())));
        Value::Object(pairs.collect())
    }

    /// Appends one line of text to the journal of answers. If writing fails, the journal is cut to its former length.
    fn keep(&mut self, text: &str) -> Result<(), SweepError> {
        let length = self.length;
        let journal = &mut self.journal;
        let kept = journal
            .seek(SeekFrom::Start(length))
            .and_then(|_| journal.write_all(text.as_bytes()))
            .and_then(|()| journal.sync_data());
        if kept.is_err() {
            // The next process that opens the journal also cuts off an incomplete line.
            let _ = journal.set_len(length);
        }
        kept.map_err(SweepError::file("write", &self.path))?;
        self.length += text.len() as u64;
        // Skips the answer that was just written: it needs no replay.
        let skipped = self.replayed.seek(SeekFrom::Start(self.length));
        skipped.map_err(SweepError::file("read", &self.path))?;
        Ok(())
    }
}

/// True if two points of a sweep have equal values on all axes; floating-point numbers must be equal bit for bit.
fn is_same(one: &[Scalar], other: &[Scalar]) -> bool {
    let same = |(a, b): (&Scalar, &Scalar)| match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// Returns the number of bytes in the complete lines of a journal file. The last line is incomplete if it has no line feed
/// or is not JSON.
fn whole_lines(journal: &mut File) -> std::io::Result<u64> {
    let mut reader = BufReader::new(&mut *journal);
    let (mut whole, mut line) = (0u64, Vec::new());
    loop {
        let n = read_line(&mut reader, MAX_LINE_BYTES as u64, &mut line)? as u64;
        if n == 0 || line.last() != Some(&b'\n') {
            return Ok(whole);
        }
        let is_last = reader.fill_buf()?.is_empty();
        if is_last && serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_err() {
            return Ok(whole);
        }
        whole += n;
    }
}
