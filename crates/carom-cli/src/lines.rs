//! JSON Lines: one problem a line in, one answer a line out, in the same order.

use crate::Failure;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

/// Lines answered together; the order of answers does not depend on it.
const BATCH: usize = 1024;

/// Arguments of every command that answers lines.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// File of JSON Lines; standard input if left out or `-`.
    file: Option<PathBuf>,
    /// Threads; the answers are the same for any number. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// The fields of an answer but its `id`.
pub(crate) struct Answer {
    pub fields: Map<String, Value>,
    /// False if the exit status should be 1.
    pub is_solved: bool,
}

/// One answer that could not be given.
pub(crate) struct Unanswered {
    kind: String,
    message: String,
}

impl Unanswered {
    pub(crate) fn new(kind: &str, message: impl ToString) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.to_string(),
        }
    }
}

/// Reads a value into a type; the message names the key.
pub(crate) fn typed<T: DeserializeOwned>(value: Value, prefix: &str) -> Result<T, Unanswered> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = match error.path().to_string().as_str() {
            "." => prefix.to_owned(),
            path if prefix.is_empty() => path.to_owned(),
            path => format!("{prefix}.{path}"),
        };
        let message = error.into_inner().to_string();
        let message = if path.is_empty() {
            message
        } else {
            format!("{path}: {message}")
        };
        Unanswered::new("invalid-input", message)
    })
}

/// Answers every line with `solve`.
pub(crate) fn answer_all(
    args: &Args,
    solve: fn(Value) -> Result<Answer, Unanswered>,
) -> Result<(), Failure> {
    let mut input: Box<dyn BufRead> = match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            let unreadable = |e| Failure::Usage(format!("cannot read {}: {e}", path.display()));
            let file = File::open(path).map_err(unreadable)?;
            if file.metadata().map_err(unreadable)?.is_dir() {
                return Err(Failure::Usage(format!(
                    "cannot read {}: it is a folder",
                    path.display()
                )));
            }
            Box::new(BufReader::new(file))
        }
        _ => Box::new(BufReader::new(std::io::stdin())),
    };
    let threads = usize::from(args.threads.unwrap_or(0));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Failure::Usage(format!("cannot start threads: {e}")))?;
    let mut output = BufWriter::new(std::io::stdout().lock());
    let mut all_solved = true;
    let mut more = true;
    let mut number = 0;
    while more {
        let mut lines = Vec::with_capacity(BATCH);
        while more && lines.len() < BATCH {
            let mut line = Vec::new();
            let read = input
                .read_until(b'\n', &mut line)
                .map_err(|e| Failure::Usage(format!("cannot read the input: {e}")))?;
            more = read > 0;
            number += 1;
            // A line that is not UTF-8 is not JSON either, and is answered as such.
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if !line.is_empty() {
                lines.push((number, line));
            }
        }
        let answer = |(number, line): &(usize, String)| answer(*number, line, solve);
        let answers: Vec<(bool, String)> = pool.install(|| lines.par_iter().map(answer).collect());
        for (is_solved, answer) in answers {
            all_solved &= is_solved;
            writeln!(output, "{answer}")?;
        }
        output.flush()?;
    }
    if all_solved {
        Ok(())
    } else {
        Err(Failure::Unsolved(String::new()))
    }
}

/// Whether one line is solved, and its answer or error: a complete JSON object.
fn answer(
    number: usize,
    line: &str,
    solve: fn(Value) -> Result<Answer, Unanswered>,
) -> (bool, String) {
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => {
            return refusal(Value::Null, &not_json(number, &error));
        }
    };
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    match solve(value) {
        Ok(mut answer) => {
            answer.fields.shift_insert(0, "id".to_owned(), id);
            (answer.is_solved, Value::Object(answer.fields).to_string())
        }
        Err(error) => refusal(id, &error),
    }
}

/// The parser sees one line and calls it the first.
fn not_json(number: usize, error: &serde_json::Error) -> Unanswered {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let message = format!("line {number} column {}: {message}", error.column());
    Unanswered::new("invalid-json", message)
}

fn refusal(id: Value, error: &Unanswered) -> (bool, String) {
    let error = json!({ "kind": error.kind, "message": error.message });
    (false, json!({ "id": id, "error": error }).to_string())
}
