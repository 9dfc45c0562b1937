//! Is a file the shard that its name says?

use super::{shard_name, short};
use crate::SweepError;
use crate::table::stamp;
use bytes::Bytes;
use parquet::file::reader::SerializedFileReader;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What a file that claims to be a shard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// What its name says.
    Whole,
    /// Something else.
    Damaged,
    /// There is no such file any more.
    Gone,
}

/// A file that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Inspected {
    pub(crate) condition: Condition,
    pub(crate) bytes: Bytes,
}

/// Reads a file that claims to be a shard of the sweep with this digest.
///
/// # Errors
///
/// [`SweepError::OtherSweep`] for a whole file of another sweep, [`SweepError::File`].
pub(crate) fn inspect(path: &Path, shard: u64, digest: &str) -> Result<Inspected, SweepError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => Bytes::from(bytes),
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
