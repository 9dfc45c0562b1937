//! Merges shards into one table.

use crate::folder::{
    Condition, Manifest, inspect, remove_stale, replace, shards, short, temporary_name,
};
use crate::run::stamp_of;
use crate::table::{CsvSink, ParquetSink, Rows, Schema, read_all, write_json_lines};
use crate::{ShardSet, SweepError};
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::SerializedFileReader;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Number of rows of a row group in the merged file.
const GROUP: usize = 1 << 16;

/// Options for [`merge`]: whether missing or damaged shards (files of consecutive cells of a sweep) are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeOptions {
    /// Skip shards that are missing or damaged, instead of returning an error.
    pub is_partial: bool,
}

impl MergeOptions {
    /// Sets if shards that are missing or damaged are skipped.
    #[must_use]
    pub fn with_is_partial(mut self, is_partial: bool) -> Self {
        self.is_partial = is_partial;
        self
    }
}

/// Description of the file into which [`merge`] wrote the table of a sweep: number of rows, SHA-256, and the skipped shards.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Merged {
    /// Number of rows.
    pub rows: u64,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Shards that were skipped.
    #[serde(skip)]
    pub left_out: ShardSet,
}

/// Merges the shards (files with consecutive cells) of one sweep, which may lie in several folders, into a single table in the
/// file `to`. The extension of `to` selects the format: `.parquet`, `.csv` or `.jsonl`. The shards are read one after the
/// other, so that memory does not grow with the table.
///
/// # Errors
///
/// [`SweepError::Gaps`] if shards are missing or damaged; [`SweepError::OtherSweep`] for folders of different
/// sweeps; [`SweepError::Conflict`] if a shard has two files with different bytes; [`SweepError::File`].
pub fn merge(
    folders: &[impl AsRef<Path>],
    to: &Path,
    options: &MergeOptions,
) -> Result<Merged, SweepError> {
    let format = Format::of(to)?;
    let (manifest, found) = unite(folders)?;
    let damaged: ShardSet = found.damaged.iter().copied().collect();
    let is_missing = |shard: &u64| {
        found
            .whole
            .binary_search_by_key(shard, |(shard, _)| *shard)
            .is_err()
            && found.damaged.binary_search(shard).is_err()
    };
    let missing: ShardSet = (0..manifest.shards).filter(is_missing).collect();
    let is_whole = missing.is_empty() && damaged.is_empty();
    if !is_whole && !options.is_partial {
        return Err(SweepError::Gaps { missing, damaged });
    }
    let all: ShardSet = found.whole.iter().map(|(shard, _)| *shard).collect();
    let (temporary, folder, name) = beside(to);
    remove_stale(&folder, |what| what == name)?;
    let written = write(&manifest, &found.whole, &all, &temporary, to, format);
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    let (rows, sha256) = written?;
    replace(&temporary, to)?;
    let is_left_out = |shard: &u64| {
        found
            .whole
            .binary_search_by_key(shard, |(shard, _)| *shard)
            .is_err()
    };
    Ok(Merged {
        rows,
        sha256,
        left_out: (0..manifest.shards).filter(is_left_out).collect(),
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Parquet,
    Csv,
    JsonLines,
}

impl Format {
    fn of(path: &Path) -> Result<Self, SweepError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::JsonLines),
            _ => Err(SweepError::Unsuitable(format!(
                "{}: the name must end in .parquet, .csv or .jsonl",
                path.display()
            ))),
        }
    }
}

/// Shards in ascending order: valid ones with their files, and those with a damaged file.
struct Found {
    whole: Vec<(u64, PathBuf)>,
    damaged: Vec<u64>,
}

fn unite(folders: &[impl AsRef<Path>]) -> Result<(Manifest, Found), SweepError> {
    let mut all: Vec<(u64, PathBuf)> = Vec::new();
    let mut manifest: Option<Manifest> = None;
    for folder in folders {
        let folder = folder.as_ref();
        let read = Manifest::read(folder)?;
        match &manifest {
            Some(first) if first.digest != read.digest => {
                return Err(SweepError::OtherSweep {
                    path: folder.to_path_buf(),
                    found: short(&read.digest).to_owned(),
                    expected: short(&first.digest).to_owned(),
                    differs: String::new(),
                });
            }
            Some(_) => {}
            None => manifest = Some(read),
        }
        for (shard, paths) in shards(folder)? {
            all.extend(paths.into_iter().map(|path| (shard, path)));
        }
    }
    let manifest =
        manifest.ok_or_else(|| SweepError::Unsuitable("no folder is given".to_owned()))?;
    all.sort();
    let mut found = Found {
        whole: Vec::new(),
        damaged: Vec::new(),
    };
    for (shard, path) in all {
        let condition = inspect(&path, shard, &manifest.digest)?.condition;
        match (condition, found.whole.last()) {
            (Condition::Whole, _) if shard >= manifest.shards => found.damaged.push(shard),
            (Condition::Whole, Some((last, other))) if *last == shard => {
                if path.file_name() != other.file_name() {
                    return Err(SweepError::Conflict {
                        shard,
                        paths: Box::new([other.clone(), path]),
                    });
                }
            }
            (Condition::Whole, _) => found.whole.push((shard, path)),
            (Condition::Damaged, _) => found.damaged.push(shard),
            (Condition::Gone, _) => {}
        }
    }
    found.damaged.dedup();
    Ok((manifest, found))
}

/// Returns the path of a temporary file in the folder of the file `to`, the path of this folder, and the file name of `to`.
fn beside(to: &Path) -> (PathBuf, PathBuf, String) {
    let name = to
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let folder = match to.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    (to.with_file_name(temporary_name(&name)), folder, name)
}

fn write(
    manifest: &Manifest,
    shards: &[(u64, PathBuf)],
    all: &ShardSet,
    temporary: &Path,
    to: &Path,
    format: Format,
) -> Result<(u64, String), SweepError> {
    let unwritable = |error| SweepError::file("write", to)(error);
    let is_all = all.len() == manifest.shards;
    let name = if is_all {
        "all".to_owned()
    } else {
        all.to_string()
    };
    let file = File::create(temporary).map_err(unwritable)?;
    let hashed = Hashed {
        to: BufWriter::with_capacity(1 << 18, file),
        hash: Sha256::new(),
    };
    let schema = &manifest.schema;
    let mut sink = Sink::new(hashed, schema, format, || {
        stamp_of(&manifest.digest, &name, manifest.numerics)
    })
    .map_err(unwritable)?;
    let mut group = Rows::new(schema);
    let mut n = 0;
    for (shard, path) in shards {
        let mut rows = rows(manifest, *shard, path)?;
        n += rows.len() as u64;
        while rows.len() > 0 {
            group.take_front(&mut rows, GROUP - group.len());
            if group.len() == GROUP {
                sink.write(schema, &group).map_err(unwritable)?;
                group = Rows::new(schema);
            }
        }
    }
    if group.len() > 0 {
        sink.write(schema, &group).map_err(unwritable)?;
    }
    let hashed = sink.finish().map_err(unwritable)?;
    let file = hashed
        .to
        .into_inner()
        .map_err(|error| unwritable(error.into_error()))?;
    file.sync_all().map_err(unwritable)?;
    Ok((n, crate::hex(&hashed.hash.finalize())))
}

/// Reads all table rows of the shard (part of a sweep's table) with index `shard` from a file. The file is checked again,
/// because another process may have changed it.
fn rows(manifest: &Manifest, shard: u64, path: &Path) -> Result<Rows, SweepError> {
    let inspected = inspect(path, shard, &manifest.digest)?;
    if inspected.condition != Condition::Whole {
        return Err(SweepError::content(path, "changed while it was read"));
    }
    let rows = decode(inspected.bytes, &manifest.schema);
    let rows = rows.map_err(|error| SweepError::content(path, error))?;
    if rows.len() as u64 != manifest.cells_of(shard) {
        return Err(SweepError::content(path, "other rows than the plan has"));
    }
    Ok(rows)
}

fn decode(bytes: Bytes, schema: &Schema) -> Result<Rows, ParquetError> {
    read_all(&SerializedFileReader::new(bytes)?, schema)
}

/// Writer that also hashes the bytes.
struct Hashed {
    to: BufWriter<File>,
    hash: Sha256,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.to.write(bytes)?;
        self.hash.update(bytes.get(..n).unwrap_or_default());
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

enum Sink {
    Parquet(Box<ParquetSink<Hashed>>),
    Csv(Box<CsvSink<Hashed>>),
    JsonLines(Hashed),
}

/// Converts an error of the Parquet library to an error of input and output. If the operating system caused the error,
/// the error of the operating system is returned.
fn system(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

impl Sink {
    fn new(
        to: Hashed,
        schema: &Schema,
        format: Format,
        stamp: impl FnOnce() -> Vec<(&'static str, String)>,
    ) -> io::Result<Self> {
        Ok(match format {
            Format::Parquet => Self::Parquet(Box::new(
                ParquetSink::new(to, schema, stamp()).map_err(system)?,
            )),
            Format::Csv => Self::Csv(Box::new(CsvSink::new(to, schema)?)),
            Format::JsonLines => Self::JsonLines(to),
        })
    }

    fn write(&mut self, schema: &Schema, rows: &Rows) -> io::Result<()> {
        match self {
            Self::Parquet(sink) => sink.write(rows).map_err(system),
            Self::Csv(sink) => sink.write(rows),
            Self::JsonLines(to) => write_json_lines(to, schema, rows),
        }
    }

    fn finish(self) -> io::Result<Hashed> {
        match self {
            Self::Parquet(sink) => sink.finish().map_err(system),
            Self::Csv(sink) => sink.finish(),
            Self::JsonLines(to) => Ok(to),
        }
    }
}
