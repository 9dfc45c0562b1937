//! Text stream that returns an error if a row or the whole text exceeds a limit.

use carom_report::input::size;
use std::cell::Cell;
use std::io::{Error, ErrorKind, Read, Result};
use std::rc::Rc;

/// Largest number of bytes in one row of a table of poses, including line feeds. The nine columns take about
/// 200, which leaves room for thousands of ignored columns.
pub(crate) const MAX_ROW_BYTES: usize = 1 << 20;

/// Largest number of bytes in a table of poses, uncompressed: five million poses of a hundred bytes. In memory
/// poses take up to four times the size of their text.
pub(crate) const MAX_TABLE_BYTES: u64 = 512 << 20;

/// Counter of the bytes read since the end of the last row.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowBytes(Rc<Cell<usize>>);

impl RowBytes {
    /// Resets the counter of bytes in the present row of the table that is being read. The caller must call this
    /// function at the end of each row.
    pub(crate) fn restart(&self) {
        self.0.set(0);
    }
}

/// Reader that passes on the bytes of another reader. Limits: [`MAX_ROW_BYTES`] plus [`READ_AHEAD`] between two
/// calls of [`RowBytes::restart`], and [`MAX_TABLE_BYTES`] in total.
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
        if row > 2 * MAX_ROW_BYTES {
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
