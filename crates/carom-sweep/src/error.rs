//! Errors of planning, running and merging a sweep.

use crate::ShardSet;
use std::path::{Path, PathBuf};

/// Reason why a sweep could not be planned, run or merged. A cell (one combination of axis values) without an answer is not
/// such an error; it is a row of the table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The plan is invalid.
    #[error("line {line}, column {column}: {}{message}", shown(key))]
    Plan {
        /// Line in the plan, counted from 1.
        line: usize,
        /// Column in the line, counted from 1.
        column: usize,
        /// Key, for example `axes.angle`; empty if the text is not TOML.
        key: String,
        /// Description of the error.
        message: String,
    },
    /// A line of the file of states is not a problem.
    #[error("{}: line {line}: {message}", path.display())]
    State {
        /// File of states.
        path: PathBuf,
        /// Line in the file, counted from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
    /// The plan does not have this cell or shard.
    #[error("there is no {what} {index}: they count from 0 to {last}")]
    OutOfRange {
        /// Kind of index: `"cell"` or `"shard"`.
        what: &'static str,
        /// Requested index.
        index: u64,
        /// Largest valid index.
        last: u64,
    },
    /// A list of shards cannot be parsed.
    #[error("shards `{text}`: {message}")]
    Shards {
        /// Text of the list.
        text: String,
        /// Description of the error.
        message: String,
    },
    /// The operating system reports an error for a file or folder.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// Action that failed: `"read"`, `"write"` or similar.
        doing: &'static str,
        /// File or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The content of a file is not the expected plan or table.
    #[error("{}: {message}", path.display())]
    Content {
        /// File.
        path: PathBuf,
        /// Description of the error.
        message: String,
    },
    /// The folder does not contain a sweep.
    #[error("no sweep in {}: {message}", path.display())]
    NoSweep {
        /// Folder.
        path: PathBuf,
        /// Description of what is missing.
        message: String,
    },
    /// A folder, or a file in it, belongs to another sweep.
    #[error("{} belongs to another sweep ({found}) than this one ({expected}){differs}", path.display())]
    OtherSweep {
        /// Folder or file.
        path: PathBuf,
        /// First digits of the digest found there.
        found: String,
        /// First digits of the expected digest.
        expected: String,
        /// Parts in which the plans differ, if they are known.
        differs: String,
    },
    /// Two valid files of one shard have different bytes.
    #[error("two different files for shard {shard}: {} and {}", paths[0].display(), paths[1].display())]
    Conflict {
        /// Index of the shard.
        shard: u64,
        /// Paths of the two files.
        paths: Box<[PathBuf; 2]>,
    },
    /// Shards are missing or damaged.
    #[error("not complete: {}", gaps(missing, damaged))]
    Gaps {
        /// Shards without a file.
        missing: ShardSet,
        /// Shards with a damaged file only.
        damaged: ShardSet,
    },
    /// The journal contains another point at this position.
    #[error("line {line}: asked before with other values")]
    AskedOtherwise {
        /// Line of the input, counted from 1.
        line: usize,
    },
    /// The request does not apply to this plan or file.
    #[error("{0}")]
    Unsuitable(String),
}

impl SweepError {
    /// Returns the stable kebab-case identifier of the error variant for machine-readable reports, for example `other-sweep`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Plan { .. } => "plan",
            Self::State { .. } => "state",
            Self::OutOfRange { .. } => "out-of-range",
            Self::Shards { .. } => "shards",
            Self::File { .. } => "file",
            Self::Content { .. } => "content",
            Self::NoSweep { .. } => "no-sweep",
            Self::OtherSweep { .. } => "other-sweep",
            Self::Conflict { .. } => "conflict",
            Self::Gaps { .. } => "gaps",
            Self::AskedOtherwise { .. } => "asked-otherwise",
            Self::Unsuitable(_) => "unsuitable",
        }
    }

    /// True if the request is valid but shards (files of answers) of the sweep are still missing or damaged.
    pub fn is_incomplete(&self) -> bool {
        matches!(self, Self::Gaps { .. })
    }

    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }

    /// Adds the name of the file to an error in a plan; other errors are returned unchanged.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Plan { .. } => Self::content(path, self),
            other => other,
        }
    }

    pub(crate) fn content(path: &Path, message: impl ToString) -> Self {
        Self::Content {
            path: path.to_path_buf(),
            message: message.to_string(),
        }
    }
}

fn shown(key: &str) -> String {
    if key.is_empty() {
        String::new()
    } else {
        format!("key `{key}`: ")
    }
}

fn gaps(missing: &ShardSet, damaged: &ShardSet) -> String {
    let part = |what: &str, shards: &ShardSet| {
        (!shards.is_empty()).then(|| format!("shards {shards} are {what}"))
    };
    let parts = [part("missing", missing), part("damaged", damaged)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
