//! Folder of a sweep: `plan.json`, and shards whose names contain the hash of their content.

mod inspect;
mod list;
mod store;
mod temporary;

pub(crate) use inspect::{Condition, inspect};
pub(crate) use list::{Listing, shards};
pub(crate) use store::{Existing, replace, store, sync_folder};
pub(crate) use temporary::{remove, remove_stale, temporary_name};

use crate::SweepError;
use crate::plan::{FORMAT, Plan, digest_of, parts_that_differ};
use crate::table::Schema;
use carom_report::input::{MAX_JSON_BYTES, read_file};
use serde_json::{Map, Value};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const PLAN: &str = "plan.json";

/// Number of digits of a digest in messages and names.
pub(crate) const DIGITS: usize = 16;

/// Content of the file `plan.json` in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) cells: u64,
    pub(crate) cells_per_shard: u64,
    pub(crate) shards: u64,
    pub(crate) numerics: u64,
    pub(crate) schema: Schema,
}

impl Manifest {
    /// Reads the plan of a sweep from `plan.json` in `folder`, and checks that its content matches the hash stored in it.
    pub(crate) fn read(folder: &Path) -> Result<Self, SweepError> {
        let no_sweep = |message: &str| SweepError::NoSweep {
            path: folder.to_path_buf(),
            message: message.to_owned(),
        };
        let path = folder.join(PLAN);
        let text = match read_file(&path, MAX_JSON_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(no_sweep("there is no plan.json"));
            }
            Err(error) => return Err(SweepError::file("read", &path)(error)),
        };
        let plan: Option<Map<String, Value>> = serde_json::from_slice(&text).ok();
        let plan = plan.filter(|plan| plan.get("format").and_then(Value::as_str) == Some(FORMAT));
        let plan = plan.ok_or_else(|| no_sweep("its plan.json is no plan of this format"))?;
        Self::of_plan(&plan)
            .ok_or_else(|| no_sweep("its plan.json was changed: `carom sweep run` writes it again"))
    }

    fn of_plan(plan: &Map<String, Value>) -> Option<Self> {
        let digest = plan.get("digest")?.as_str()?.to_owned();
        if digest != digest_of(plan) {
            return None;
        }
        let count = |key: &str| plan.get(key)?.as_u64();
        Some(Self {
            name: plan.get("name")?.as_str()?.to_owned(),
            digest,
            cells: count("cells")?,
            cells_per_shard: count("cells_per_shard").filter(|n| *n > 0)?,
            shards: count("shards")?,
            numerics: count("numerics")?,
            schema: Schema::of_plan(plan)?,
        })
    }

    /// Returns the number of cells (points of the sweep) in the shard (part of the sweep) with index `shard`; the last
    /// shard may have fewer than the others.
    pub(crate) fn cells_of(&self, shard: u64) -> u64 {
        let start = shard.saturating_mul(self.cells_per_shard);
        self.cells.saturating_sub(start).min(self.cells_per_shard)
    }
}

/// Creates the folder of a sweep and writes the plan into it. If the folder exists, checks that it has no valid plan of
/// another sweep.
pub(crate) fn claim(plan: &Plan, folder: &Path) -> Result<(), SweepError> {
    fs::create_dir_all(folder).map_err(SweepError::file("make the folder", folder))?;
    let path = folder.join(PLAN);
    let mut text = serde_json::to_vec(plan.manifest())
        .map_err(|error| SweepError::file("write", &path)(std::io::Error::other(error)))?;
    text.push(b'\n');
    let found = match read_file(&path, MAX_JSON_BYTES) {
        Ok(found) if found == text => return Ok(()),
        Ok(found) => Some(found),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(SweepError::file("read", &path)(error)),
    };
    let temporary = folder.join(temporary_name("plan"));
    let existing = match found {
        Some(found) => {
            refuse_other(plan, folder, &found)?;
            Existing::Replace
        }
        None => Existing::Keep,
    };
    store(&temporary, &path, &text, existing)
}

/// Returns an error if `found`, the bytes of `plan.json` in the folder, is the valid plan of another sweep. A damaged plan
/// is no error.
fn refuse_other(plan: &Plan, folder: &Path, found: &[u8]) -> Result<(), SweepError> {
    let Ok(other) = serde_json::from_slice::<Map<String, Value>>(found) else {
        return Ok(());
    };
    let digest = digest_of(&other);
    let is_whole = other.get("digest").and_then(Value::as_str) == Some(&digest);
    if !is_whole || digest == plan.digest() {
        return Ok(());
    }
    let differs = parts_that_differ(plan.manifest(), &other);
    Err(SweepError::OtherSweep {
        path: folder.to_path_buf(),
        found: short(&digest).to_owned(),
        expected: short(plan.digest()).to_owned(),
        differs: format!(": {} differ", differs.join(", ")),
    })
}

pub(crate) fn short(digest: &str) -> &str {
    digest.get(..DIGITS).unwrap_or(digest)
}

/// Returns the file name of a shard, a part of the sweep's table. The name contains the shard's index and the first digits of
/// the hash `sha256` of the file's content.
pub(crate) fn shard_name(shard: u64, sha256: &str) -> String {
    format!("shard-{shard:06}-{}.parquet", short(sha256))
}

/// Returns the path of the temporary file to which this process writes a shard (part of the sweep's table) before renaming
/// the file. `shard` is the index of the shard.
pub(crate) fn shard_temporary(folder: &Path, shard: u64) -> PathBuf {
    folder.join(temporary_name(&format!("shard-{shard:06}")))
}
