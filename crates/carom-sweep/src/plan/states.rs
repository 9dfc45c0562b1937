//! File of states: one problem per line, read when it is needed.

use crate::SweepError;
use carom_report::input::read_line;
use carom_wire::MAX_LINE_BYTES;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Largest number of states in a file; the position of each takes 24 bytes in memory.
const MAX_STATES: usize = 1 << 25;

/// Positions of the lines in a file of states.
#[derive(Clone, Debug)]
pub(crate) struct States {
    path: PathBuf,
    /// Start, length and line number (counted from 1) of every line that is not blank.
    lines: Vec<(u64, usize, usize)>,
    pub(crate) sha256: String,
}

impl States {
    /// Reads a file of problems once, and stores the position of each line that is not blank. Fails if one of them is not a
    /// JSON object.
    pub(super) fn read(path: &Path) -> Result<Self, SweepError> {
        let fault = |line, message| SweepError::State {
            path: path.to_path_buf(),
            line,
            message,
        };
        let unreadable = |source| SweepError::file("read", path)(source);
        let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
        let mut hash = Sha256::new();
        let (mut lines, mut start, mut number) = (Vec::new(), 0u64, 0);
        let mut line = Vec::new();
        loop {
            number += 1;
            let read = read_line(&mut reader, MAX_LINE_BYTES as u64, &mut line);
            let read = read.map_err(|error| match error.kind() {
                ErrorKind::FileTooLarge => fault(number, error.to_string()),
                _ => unreadable(error),
            });
            if read? == 0 {
                break;
            }
            hash.update(&line);
            if !line.trim_ascii().is_empty() {
                if lines.len() >= MAX_STATES {
                    let message = format!("more than {MAX_STATES} states");
                    return Err(fault(number, message));
                }
                parse(path, number, &line)?;
                lines.push((start, line.len(), number));
            }
            start += line.len() as u64;
        }
        if lines.is_empty() {
            return Err(fault(1, "there are no states".to_owned()));
        }
        Ok(Self {
            path: path.to_path_buf(),
            lines,
            sha256: crate::hex(&hash.finalize()),
        })
    }

    pub(crate) fn len(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Opens the file of states (one impact problem per line), from which single lines are read later.
    pub(crate) fn open(&self) -> Result<File, SweepError> {
        File::open(&self.path).map_err(SweepError::file("read", &self.path))
    }

    /// Reads the impact problem on line number `index` of the file of states (blank lines not counted), and returns it
    /// unchanged as JSON.
    pub(crate) fn state(&self, file: &mut File, index: u64) -> Result<Value, SweepError> {
        let unreadable = |source| SweepError::file("read", &self.path)(source);
        let place = usize::try_from(index).ok().and_then(|i| self.lines.get(i));
        let Some(&(start, length, number)) = place else {
            return Err(SweepError::OutOfRange {
                what: "state",
                index,
                last: self.len().saturating_sub(1),
            });
        };
        let mut line = vec![0; length];
        file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        file.read_exact(&mut line).map_err(unreadable)?;
        parse(&self.path, number, &line)
    }
}

fn parse(path: &Path, number: usize, line: &[u8]) -> Result<Value, SweepError> {
    let fault = |message: String| SweepError::State {
        path: path.to_path_buf(),
        line: number,
        message,
    };
    match serde_json::from_slice(line) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(fault(
            "expected a problem, one JSON object a line".to_owned(),
        )),
        Err(error) => Err(fault(error.to_string())),
    }
}
