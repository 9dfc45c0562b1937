//! A stream of text that ends in an error where a row or the whole of it grows beyond a limit.

use carom_report::input::size;
use std::cell::Cell;
use std::io::{Error, ErrorKind, Read, Result};
use std::rc::Rc;

/// Bytes of one row of a table of poses, its line feeds included: the nine columns take 200, which leaves room for
/// thousands of columns that are ignored.
pub(crate) const MAX_ROW_BYTES: usize = 1 << 20;

/// Bytes that the table reader may have asked for beyond the row that it reads: more than its buffer holds.
const READ_AHEAD: usize = 64 << 10;

/// Bytes of a whole table of poses, uncompressed: five million poses of a hundred bytes. Kept poses take up to
/// four times the bytes of their text.
pub(crate) const MAX_TABLE_BYTES: u64 = 512 << 20;

/// Bytes that have been handed on since the last row ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowBytes(Rc<Cell<usize>>);

impl RowBytes {
    /// Counts from zero again: a row has ended.
    pub(crate) fn restart(&self) {
        self.0.set(0);
    }
}

/// Bytes of another stream, up to [`MAX_ROW_BYTES`] and [`READ_AHEAD`] between two calls of [`RowBytes::restart`] and
/// [`MAX_TABLE_BYTES`] in all.
#[derive(Debug)]
pub(crate) struct Limited<R> {
    inner: R,
    row: RowBytes,
    total: u64,
}

impl<R: Read> Limited<R> {
    pub(crate) fn new(inner: R, row: &RowBytes) -> Self {
        Self {
            inner,
            row: row.clone(),
            total: 0,
        }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n = self.inner.read(buffer)?;
        let row = self.row.0.get().saturating_add(n);
        self.row.0.set(row);
        self.total = self.total.saturating_add(n as u64);
        if row > MAX_ROW_BYTES + READ_AHEAD {
            return Err(too_large("row", MAX_ROW_BYTES as u64));
        }
        if self.total > MAX_TABLE_BYTES {
            return Err(too_large("table", MAX_TABLE_BYTES));
        }
        Ok(n)
    }
}

fn too_large(part: &str, limit: u64) -> Error {
    let message = format!("the {part} has more than {}", size(limit));
    Error::new(ErrorKind::FileTooLarge, message)
}
