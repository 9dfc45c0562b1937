//! Lists the shard files of a folder.

use crate::SweepError;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Paths of shard files by shard index.
pub(crate) type Shards = BTreeMap<u64, Vec<PathBuf>>;

/// Lists the shard files in a folder, which hold parts of the sweep's table. Returns the paths for each shard index, sorted
/// by name.
pub(crate) fn shards(folder: &Path) -> Result<Shards, SweepError> {
    let unreadable = |error| SweepError::file("read the folder", folder)(error);
    let mut found = Shards::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if let Some(shard) = entry.file_name().to_str().and_then(shard_of) {
            found.entry(shard).or_default().push(entry.path());
        }
    }
    found.values_mut().for_each(|paths| paths.sort());
    Ok(found)
}

/// Returns the index of the shard (part of the sweep's table) in a file name such as
/// `shard-000012-0123456789abcdef.parquet`; `None` if the name has another form.
fn shard_of(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("shard-")?.strip_suffix(".parquet")?;
    let (digits, hash) = rest.split_once('-')?;
    let is_hash = hash.len() == super::DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
    let is_number = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_digit());
    (is_hash && is_number)
        .then(|| digits.parse().ok())
        .flatten()
}

/// List of shard files that is renewed from time to time, because other processes may write to the folder.
pub(crate) struct Listing<'f> {
    folder: &'f Path,
    last: Mutex<Last>,
}

struct Last {
    shards: Shards,
    made: Instant,
    took: Duration,
}

/// Renewing the list takes at most one part in this number of the total time.
const LOOKING: u32 = 10;

impl<'f> Listing<'f> {
    pub(crate) fn new(folder: &'f Path) -> Result<Self, SweepError> {
        let last = Mutex::new(make(folder)?);
        Ok(Self { folder, last })
    }

    /// Returns the paths of the files that are named as the shard (part of the sweep's table) with index `shard`. The
    /// folder is listed again if the last list is old.
    pub(crate) fn files(&self, shard: u64) -> Result<Vec<PathBuf>, SweepError> {
        let mut last = self
            .last
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if last.made.elapsed() >= last.took * LOOKING {
            *last = make(self.folder)?;
        }
        Ok(last.shards.get(&shard).cloned().unwrap_or_default())
    }
}

fn make(folder: &Path) -> Result<Last, SweepError> {
    let start = Instant::now();
    let shards = shards(folder)?;
    let made = Instant::now();
    Ok(Last {
        shards,
        made,
        took: made - start,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_shards_are_strict() {
        assert_eq!(shard_of("shard-000012-0123456789abcdef.parquet"), Some(12));
        for other in [
            "shard-12-0123456789abcdef.parquet",
            "shard-000012-0123456789abcde.parquet",
            "shard-000012-0123456789abcdeg.parquet",
            "shard-000012-0123456789abcdef.csv",
            ".shard-000012-0123456789abcdef.parquet",
            "plan.json",
        ] {
            assert_eq!(shard_of(other), None, "{other}");
        }
    }
}
