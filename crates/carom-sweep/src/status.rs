//! State of the shards in a folder.

use crate::folder::{Condition, Manifest, inspect, shards};
use crate::{ShardSet, SweepError};
use std::path::{Path, PathBuf};

/// State of a sweep in a folder, as returned by [`status`]: the plan, and the shards (files of answers) that are valid, missing
/// or damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Name of the plan.
    pub name: String,
    /// Digest of the plan.
    pub digest: String,
    /// Number of cells of the plan.
    pub cells: u64,
    /// Number of shards of the plan.
    pub shards: u64,
    /// Number of shards with a valid file.
    pub done: u64,
    /// Shards without a file.
    pub missing: ShardSet,
    /// Shards with a file that is not what its name says, or with two files that differ.
    pub damaged: ShardSet,
}

impl Status {
    /// True if every shard of the sweep has a valid file and no shard is damaged.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty()
    }
}

/// Checks every shard file of a sweep in a folder, and returns which shards are valid, missing or damaged.
///
/// # Errors
///
/// [`SweepError::NoSweep`], [`SweepError::OtherSweep`] for a file of another sweep, [`SweepError::File`].
pub fn status(folder: &Path) -> Result<Status, SweepError> {
    let manifest = Manifest::read(folder)?;
    let (mut done, mut found, mut damaged) = (0, Vec::new(), Vec::new());
    for (shard, paths) in shards(folder)? {
        let mut whole: Vec<PathBuf> = Vec::new();
        let mut is_damaged = shard >= manifest.shards;
        for path in paths {
            match inspect(&path, shard, &manifest.digest)?.condition {
                Condition::Whole => whole.push(path),
                Condition::Damaged => is_damaged = true,
                Condition::Gone => {}
            }
        }
        if is_damaged || whole.len() > 1 {
            damaged.push(shard);
        } else if whole.len() == 1 {
            done += 1;
        }
        if is_damaged || !whole.is_empty() {
            found.push(shard);
        }
    }
    let mut found = found.into_iter().peekable();
    Ok(Status {
        missing: (0..manifest.shards)
            .filter(|shard| found.next_if_eq(shard).is_none())
            .collect(),
        name: manifest.name,
        digest: manifest.digest,
        cells: manifest.cells,
        shards: manifest.shards,
        done,
        damaged: damaged.into_iter().collect(),
    })
}
