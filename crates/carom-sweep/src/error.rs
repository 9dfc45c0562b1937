//! Why a sweep could not be planned, run or merged.

use crate::ShardSet;
use std::path::{Path, PathBuf};

/// Why a sweep could not be planned, run or merged. A cell without an answer is no such error: it is a row
/// of the table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The plan is not what a sweep takes.
    #[error("line {line}, column {column}: {}{message}", shown(key))]
    Plan {
        /// Line of the plan, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The key, as in `axes.angle`; empty if the text is not TOML.
        key: String,
        /// The fault.
        message: String,
    },
    /// A line of the file of states is no problem.
    #[error("{}: line {line}: {message}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault.
        message: String,
    },
    /// A cell or shard that the plan does not have.
    #[error("there is no {what} {index}: they count from 0 to {last}")]
    OutOfRange {
        /// `"cell"` or `"shard"`.
        what: &'static str,
        /// The number asked for.
        index: u64,
        /// The last one there is.
        last: u64,
    },
    /// A choice of shards that cannot be read.
    #[error("shards `{text}`: {message}")]
    Shards {
        /// The text.
        text: String,
        /// The fault.
        message: String,
    },
    /// The system refuses a file or folder.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// `"read"`, `"write"` or the like.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// A file is not the plan, or the table, that it should be.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The fault.
        message: String,
    },
    /// A folder without a sweep.
    #[error("no sweep in {}: {message}", path.display())]
    NoSweep {
        /// The folder.
        path: PathBuf,
        /// The missing part.
        message: String,
    },
    /// A folder, or a file in it, of another sweep.
    #[error("{} belongs to another sweep ({found}) than this one ({expected}){differs}", path.display())]
    OtherSweep {
        /// The folder or file.
        path: PathBuf,
        /// Digest found there, its first letters.
        found: String,
        /// Digest expected, its first letters.
        expected: String,
        /// Parts of the plans that differ, if they are known.
        differs: String,
    },
    /// Two files that both prove to be one shard, with different bytes.
    #[error("two different files for shard {shard}: {} and {}", paths[0].display(), paths[1].display())]
    Conflict {
        /// The shard.
        shard: u64,
        /// The two files.
        paths: Box<[PathBuf; 2]>,
    },
    /// Shards are not there, or not whole.
    #[error("not complete: {}", gaps(missing, damaged))]
    Gaps {
        /// Shards without a file.
        missing: ShardSet,
        /// Shards with a file that is not whole.
        damaged: ShardSet,
    },
    /// A point was asked before with other values.
    #[error("line {line}: asked before with other values")]
    AskedOtherwise {
        /// The line of the input, from 1.
        line: usize,
    },
    /// The request makes no sense for this plan or file.
    #[error("{0}")]
    Unsuitable(String),
}

impl SweepError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
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

    /// True if the answer is out of reach, rather than the question at fault.
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
