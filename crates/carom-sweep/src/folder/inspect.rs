//! Checks whether a file is the valid shard that its name says.

use super::{shard_name, short};
use crate::SweepError;
use crate::table::stamp;
use bytes::Bytes;
use parquet::file::reader::SerializedFileReader;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// Marker at the end of a Parquet file.
const MARK: &[u8; 4] = b"PAR1";

/// Condition of a file whose name is that of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The file is the valid shard that its name says.
    Whole,
    /// The file has other content.
    Damaged,
    /// The file no longer exists.
    Gone,
}

/// File that was checked, with its content.
#[derive(Clone, Debug)]
pub(crate) struct Inspected {
    pub(crate) condition: Condition,
    pub(crate) bytes: Bytes,
}

/// Reads a result file of a sweep and checks it: the hash in the file name, and the sweep and shard named in its
/// metadata. `shard` is the index in the file name of the part of the sweep, and `digest` is the hash of the sweep's
/// plan.
///
/// # Errors
///
/// [`SweepError::OtherSweep`] for a valid file of another sweep, [`SweepError::File`].
pub(crate) fn inspect(path: &Path, shard: u64, digest: &str) -> Result<Inspected, SweepError> {
    let bytes = match read_marked(path) {
        Ok(Some(bytes)) => Bytes::from(bytes),
        Ok(None) => {
            return Ok(Inspected {
                condition: Condition::Damaged,
                bytes: Bytes::new(),
            });
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Inspected {
                condition: Condition::Gone,
                bytes: Bytes::new(),
            });
        }
        Err(error) => return Err(SweepError::file("read", path)(error)),
    };
    let name = shard_name(shard, &crate::hex(&Sha256::digest(&bytes)));
    let is_proven = path.file_name().is_some_and(|found| *found == *name);
    let stamp = is_proven
        .then(|| SerializedFileReader::new(bytes.clone()).ok())
        .flatten()
        .map(|reader| stamp(&reader));
    let condition = match stamp {
        Some(stamp) if stamp.plan != digest => {
            return Err(SweepError::OtherSweep {
                path: path.to_path_buf(),
                found: short(&stamp.plan).to_owned(),
                expected: short(digest).to_owned(),
                differs: String::new(),
            });
        }
        Some(stamp) if stamp.shard == shard.to_string() => Condition::Whole,
        _ => Condition::Damaged,
    };
    Ok(Inspected { condition, bytes })
}

/// Reads a whole file if its last bytes are the end mark of Parquet files; otherwise returns `None`. The end is read first:
/// a file that a crash truncated or filled with zeros is not read into memory.
fn read_marked(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    let mut end = [0; MARK.len()];
    if length < end.len() as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-(end.len() as i64)))?;
    file.read_exact(&mut end)?;
    if end != *MARK {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
