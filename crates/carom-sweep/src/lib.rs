//! A million impacts, on one machine or many, with the same bytes.
//!
//! A [`Plan`] says what every cell of a table is: a line of `carom resolve` with expressions in it, or a
//! run of a scenario, for all values of some axes. [`run`] computes its shards into a folder, which is
//! the only state: a killed run loses the shards in hand, any number of processes may share the folder,
//! and the bytes of a shard depend on the plan alone. [`merge`] makes one table of them.
//!
//! | from | by | to |
//! | --- | --- | --- |
//! | TOML | [`Plan::from_toml`] | a [`Plan`], with its [digest](Plan::digest) |
//! | a number | [`Plan::cell`] | the [line](Cell::line) that is answered for a cell |
//! | a plan and a folder | [`run`] | shards, files of Parquet |
//! | the same, by a runner that schedules shards itself | [`prepare`], [`run_shard`] | the same |
//! | a folder | [`status`] | which shards are there, and whole |
//! | folders | [`merge`] | one file of Parquet, CSV or JSON Lines |
//! | a merged file | [`map`] | a figure |
//! | points of an optimizer | [`Asked`] | answers, and a journal that replays |
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

/// Bytes in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
