//! Reading of files: text as a whole, and decompression with a limit on the ratio of content to file size.

use crate::Failure;
use carom::report::input::{read_text, size};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest ratio of content to compressed bytes. Tables of measured poses have 2 to 20, a body at rest
/// with all its digits 40; the format itself allows 1032.
const MAX_RATIO: u64 = 200;

/// Bytes of content allowed for any file, however short.
const FREE_BYTES: u64 = 1 << 20;

/// Reads a text file of at most `limit` bytes.
pub(crate) fn read_whole(path: &Path, limit: u64) -> std::result::Result<String, Failure> {
    read_text(path, limit)
        .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))
}

/// Opens a file for reading; a file whose name ends in `.gz` is decompressed.
pub(crate) fn open(path: &Path) -> std::result::Result<Box<dyn Read + Send>, Failure> {
    let file = File::open(path)
        .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    let is_compressed = path
        .extension()
        .is_some_and(|name| name.eq_ignore_ascii_case("gz"));
    Ok(if is_compressed {
        Box::new(Unpacked::new(file))
    } else {
        Box::new(file)
    })
}

/// Reader of the content of a gzip file, with one member or several.
struct Unpacked<R> {
    content: MultiGzDecoder<Counted<R>>,
    packed: Arc<AtomicU64>,
    unpacked: u64,
}

impl<R: Read> Unpacked<R> {
    fn new(file: R) -> Self {
        let packed = Arc::new(AtomicU64::new(0));
        let file = Counted {
            inner: file,
            count: Arc::clone(&packed),
        };
        Self {
            content: MultiGzDecoder::new(file),
            packed,
            unpacked: 0,
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n = self.content.read(buffer)?;
        self.unpacked = self.unpacked.saturating_add(n as u64);
        let packed = self.packed.load(Ordering::Relaxed);
        if self.unpacked > packed.saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES) {
            let message = format!(
                "{packed} compressed bytes have more than {} of content: above {}, at most {MAX_RATIO} for each \
                 compressed byte are read; decompress the file first",
                self.unpacked,
                size(FREE_BYTES),
            );
            return Err(Error::new(ErrorKind::FileTooLarge, message));
        }
        Ok(n)
    }
}

/// Reader that counts the bytes read from another stream.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(parts: usize, part: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        for k in 0..parts {
            encoder.write_all(&part(k)).unwrap();
        }
        encoder.finish().unwrap()
    }

    fn content(packed: &[u8]) -> Result<u64> {
        std::io::copy(&mut Unpacked::new(packed), &mut std::io::sink())
    }

    #[test]
    fn content_that_is_a_thousand_times_its_file_is_refused() {
        let bomb = packed(64, |_| vec![0; 1 << 20]);
        let error = content(&bomb).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let message = error.to_string();
        assert!(message.contains("at most 200 for each"), "{message}");
        // The limit must also apply to a file of several members.
        let members = packed(1, |_| vec![0; 1 << 20]).repeat(64);
        assert!(content(&members).is_err());
    }

    #[test]
    fn a_body_at_rest_and_a_short_file_are_read() {
        let row = |k: usize| {
            let time = k as f64 / 148.0;
            format!("1,{time},0.123456789012345678,-0.23456789012345678,0.05,1,0,0,0\n")
                .into_bytes()
        };
        assert!(content(&packed(100_000, row)).unwrap() > 6_000_000);
        let short = packed(1, |_| vec![b'0'; 1 << 20]);
        assert_eq!(content(&short).unwrap(), 1 << 20);
    }
}
