//! Parameter sweeps with up to millions of impacts, on one machine or many, with reproducible bytes.
//!
//! A [`Plan`] defines every cell of a table: an input line of `carom resolve` with expressions in it, or a run
//! of a scenario, for all values of some axes. [`run`] computes the shards of the table into a folder, which
//! holds the whole state of the sweep. A run that is killed loses only the shards in progress, any number of
//! processes may share the folder, and the bytes of a shard depend only on the plan. [`merge`] joins the shards
//! into one table.
//!
//! | input | function | output |
//! | --- | --- | --- |
//! | TOML | [`Plan::from_toml`] | a [`Plan`], with its [digest](Plan::digest) |
//! | a cell index | [`Plan::cell`] | the [input line](Cell::line) of the cell |
//! | a plan and a folder | [`run`] | shards, which are Parquet files |
//! | the same, for a runner that schedules shards itself | [`prepare`], [`run_shard`] | the same |
//! | a folder | [`status`] | the shards that are done, missing and damaged |
//! | folders | [`merge`] | one Parquet, CSV or JSON Lines file |
//! | a merged file | [`map`] | a figure |
//! | points of an optimizer | [`Asked`] | answers, and a journal that can be replayed |
//!
//! # Examples
//!
//! ```
//! use carom_sweep::Plan;
//! use std::path::Path;
//!
//! let plan = Plan::from_toml(
//!     r#"
//!     name = "drop"
//!     [problem]
//!     law = "moreau-newton"
//!     mass_matrix = [[2]]
//!     velocity = ["=-speed"]
//!     contacts = [{ normal = [1], restitution = "=bounce" }]
//!     [axes]
//!     speed = { linspace = [1, 2, 3] }
//!     bounce = { values = [0.0, 0.5] }
//!     [columns]
//!     energy_j = "/energy_plus_j"
//!     "#,
//!     Path::new("."),
//! )?;
//! assert_eq!(plan.n_cells(), 6);
//! assert!(plan.cell(3)?.line().contains(r#""velocity":[-1.5]"#));
//! # Ok::<(), carom_sweep::SweepError>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod answer;
mod ask;
mod cell;
mod derived;
mod error;
mod estimate;
mod evaluate;
mod figure;
mod folder;
mod merge;
mod plan;
mod preview;
mod random;
mod run;
mod shards;
mod source;
mod status;
mod table;

pub use ask::{Asked, Told};
pub use carom_wire::WireError;
pub use cell::Cell;
pub use error::SweepError;
pub use estimate::{Estimate, estimate};
pub use figure::map;
pub use merge::{MergeOptions, Merged, merge};
pub use plan::Plan;
pub use run::{Monitor, RunOptions, Shard, Summary, prepare, run, run_shard, run_shard_until};
pub use shards::ShardSet;
pub use status::{Status, status};
pub use table::{ColumnType, Field};

/// Formats bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
