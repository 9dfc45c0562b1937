//! Reads files and lines of a user up to a limit, which the error message states.
//!
//! A device, a pipe or a sparse file may have no end that fits in memory. Every reader of the workspace
//! that keeps a whole file or a whole line in memory uses this module.
//!
//! # Examples
//!
//! ```
//! use carom_report::input;
//!
//! let mut line = Vec::new();
//! let mut endless = std::io::BufReader::new(std::io::repeat(b'x'));
//! let error = input::read_line(&mut endless, 1 << 20, &mut line).unwrap_err();
//! assert_eq!(error.to_string(), "longer than 1 MiB without a line feed");
//! ```

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

thread_local! {
    /// Files that this thread opened since a list of them was asked for.
    static OPENED: RefCell<Option<Vec<PathBuf>>> = const { RefCell::new(None) };
}

/// Calls a function, and returns its result with the files that it opened by this module in this thread, in order.
///
/// # Examples
///
/// ```
/// use carom_report::input::{files_read, read_file};
/// use std::path::Path;
/// let (_, files) = files_read(|| read_file(Path::new("Cargo.toml"), 1 << 20));
/// assert_eq!(files, [Path::new("Cargo.toml")]);
/// ```
pub fn files_read<T>(function: impl FnOnce() -> T) -> (T, Vec<PathBuf>) {
    let outer = OPENED.replace(Some(Vec::new()));
    let result = function();
    let files = OPENED.replace(outer).unwrap_or_default();
    (result, files)
}

/// Opens a file for reading.
///
/// # Errors
///
/// The errors of the file system.
pub fn open(path: &Path) -> Result<File> {
    OPENED.with_borrow_mut(|files| {
        if let Some(files) = files {
            files.push(path.to_path_buf());
        }
    });
    File::open(path)
}

/// Largest configuration of a scenario, or plan of a sweep, as TOML (bytes); enough for a convex hull with 400,000 vertices.
/// The shortest value has two bytes in the text and a hundred in memory. The limit therefore keeps the parsed text below a
/// gigabyte.
pub const MAX_TOML_BYTES: u64 = 16 << 20;

/// Largest record of a run, or complete plan of a sweep, as JSON (bytes): a hundred times the largest record of the papers'
/// examples.
pub const MAX_JSON_BYTES: u64 = 256 << 20;

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
///
/// [`ErrorKind::FileTooLarge`] for a longer file, and the errors of the file system.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    // A regular file is rejected by its length before anything is read.
    if file
        .metadata()
        .is_ok_and(|about| about.is_file() && about.len() > limit)
    {
        return Err(too_large(&format!("more than {}", size(limit))));
    }
    read_all(file, limit)
}

/// Reads a whole file of at most `limit` bytes as text.
///
/// # Errors
///
/// The errors of [`read_file`], and [`ErrorKind::InvalidData`] for bytes that are not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String> {
    String::from_utf8(read_file(path, limit)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "the text is not UTF-8"))
}

/// Reads a stream of at most `limit` bytes to its end.
///
/// # Errors
///
/// [`ErrorKind::FileTooLarge`] for a longer stream, and the errors of the stream.
pub fn read_all(reader: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(&format!("more than {}", size(limit))));
    }
    Ok(bytes)
}

/// Reads the next line of at most `limit` bytes into `line`, which is cleared first; a line feed at its end is kept.
/// Returns the number of bytes read, 0 at the end of the stream.
///
/// # Errors
///
/// [`ErrorKind::FileTooLarge`] for a longer line, and the errors of the stream.
pub fn read_line(reader: &mut impl BufRead, limit: u64, line: &mut Vec<u8>) -> Result<usize> {
    line.clear();
    let mut limited = reader.take(limit.saturating_add(1));
    let read = limited.read_until(b'\n', line)?;
    if read as u64 > limit && line.last() != Some(&b'\n') {
        return Err(too_large(&format!(
            "longer than {} without a line feed",
            size(limit)
        )));
    }
    Ok(read)
}

/// Formats a number of bytes in the largest binary unit (such as MiB) of which the number is a multiple.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = |(unit, _): &(u64, &str)| bytes >= *unit && bytes.is_multiple_of(*unit);
    units.into_iter().find(whole).map_or_else(
        || format!("{bytes} bytes"),
        |(unit, name)| format!("{} {name}", bytes / unit),
    )
}

fn too_large(message: &str) -> Error {
    Error::new(ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::{BufReader, Seek, SeekFrom, Write};

    #[test]
    fn an_endless_stream_is_refused_at_its_limit() {
        let error = read_all(std::io::repeat(0), 1000).unwrap_err();
        assert_eq!(error.to_string(), "more than 1000 bytes");
        assert_eq!(read_all(&[7; 1000][..], 1000).unwrap().len(), 1000);
    }

    #[test]
    fn a_sparse_file_is_refused_by_its_length() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.seek(SeekFrom::Start(10 << 30)).unwrap();
        file.write_all(b"x").unwrap();
        let error = read_file(file.path(), MAX_TOML_BYTES).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "more than 16 MiB");
    }

    #[test]
    fn a_line_of_the_limit_is_read_with_its_end_and_a_longer_one_is_not() {
        let mut line = Vec::new();
        let mut next = |text: &[u8]| {
            let mut reader = BufReader::with_capacity(3, text);
            let mut lengths = Vec::new();
            loop {
                match read_line(&mut reader, 4, &mut line) {
                    Ok(0) => return Ok(lengths),
                    Ok(n) => lengths.push(n),
                    Err(error) => return Err(error.to_string()),
                }
            }
        };
        assert_eq!(next(b"\nabcd\nabcd"), Ok(vec![1, 5, 4]));
        let refused = Err("longer than 4 bytes without a line feed".to_owned());
        assert_eq!(next(b"ab\nabcde"), refused);
        assert_eq!(next(b"abcdefghij"), refused);
    }
}
