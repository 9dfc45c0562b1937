//! Reads lines as they arrive, in a separate thread.

use carom_wire::MAX_LINE_BYTES;
use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Number of bytes requested in one read.
const BUFFER: usize = 1 << 18;

/// Largest number of reads whose lines wait to be answered.
const WAITING: usize = 4;

/// One line of input.
pub(super) struct RawLine {
    /// Number of the line in the input, from 1.
    pub(super) number: usize,
    /// Bytes of the line; only the first ones if the line is too long.
    pub(super) start: Vec<u8>,
    /// Number of bytes in the whole line.
    pub(super) length: usize,
}

/// Starts a thread that reads lines of input and sends them to the returned receiver. Each message holds the lines
/// completed by one read; blank lines are left out.
pub(super) fn start(
    input: Box<dyn Read + Send>,
) -> std::io::Result<Receiver<std::io::Result<Vec<RawLine>>>> {
    let (send, receive) = sync_channel(WAITING);
    std::thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || read(input, &send))?;
    Ok(receive)
}

fn read(mut input: impl Read, send: &SyncSender<std::io::Result<Vec<RawLine>>>) {
    let mut buffer = vec![0; BUFFER];
    let mut splitter = Splitter::default();
    loop {
        let lines = match input.read(&mut buffer) {
            Ok(0) => {
                let mut last = Vec::new();
                splitter.end_line(&mut last);
                let _ = send.send(Ok(last));
                return;
            }
            Ok(n) => splitter.split(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = send.send(Err(error));
                return;
            }
        };
        // Without a receiver no more lines are needed.
        if !lines.is_empty() && send.send(Ok(lines)).is_err() {
            return;
        }
    }
}

/// Splits a stream of bytes into lines.
#[derive(Default)]
struct Splitter {
    /// Number of completed lines so far.
    number: usize,
    /// Bytes of the line in progress, up to the limit.
    start: Vec<u8>,
    /// Number of bytes of the line in progress.
    length: usize,
}

impl Splitter {
    /// Appends bytes to the line in progress and returns the lines that they complete.
    fn split(&mut self, bytes: &[u8]) -> Vec<RawLine> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (part, next) = rest.split_at(end);
            self.append(part);
            self.end_line(&mut lines);
            rest = next.get(1..).unwrap_or_default();
        }
        self.append(rest);
        lines
    }

    fn append(&mut self, part: &[u8]) {
        let kept = part.len().min(MAX_LINE_BYTES - self.start.len());
        self.start
            .extend_from_slice(part.get(..kept).unwrap_or(part));
        self.length += part.len();
    }

    fn end_line(&mut self, lines: &mut Vec<RawLine>) {
        self.number += 1;
        let start = std::mem::take(&mut self.start);
        let length = std::mem::take(&mut self.length);
        if !start.trim_ascii().is_empty() || length > start.len() {
            lines.push(RawLine {
                number: self.number,
                start,
                length,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_depend_on_how_the_bytes_arrive() {
        let text = b"one\n\n  \ntwo\r\nthree";
        for size in 1..text.len() {
            let mut splitter = Splitter::default();
            let mut lines = Vec::new();
            for bytes in text.chunks(size) {
                lines.extend(splitter.split(bytes));
            }
            splitter.end_line(&mut lines);
            let found: Vec<(usize, &[u8])> = lines
                .iter()
                .map(|line| (line.number, line.start.trim_ascii()))
                .collect();
            let expected: [(usize, &[u8]); 3] = [(1, b"one"), (4, b"two"), (5, b"three")];
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn of_a_line_that_is_too_long_only_the_start_is_kept() {
        let mut splitter = Splitter::default();
        let part = vec![b'x'; 1 << 20];
        let mut lines = Vec::new();
        for _ in 0..66 {
            lines.extend(splitter.split(&part));
        }
        lines.extend(splitter.split(b"\nnext\n"));
        assert_eq!(lines[0].start.len(), MAX_LINE_BYTES);
        assert_eq!(lines[0].length, 66 << 20);
        assert_eq!(
            (lines[1].number, lines[1].start.as_slice()),
            (2, &b"next"[..])
        );
    }
}
