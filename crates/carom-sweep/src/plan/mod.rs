//! Plan of a sweep: cells, columns and shards, read from TOML and checked completely.

mod axis;
mod column;
mod manifest;
mod own;
mod read;
mod states;
mod template;

pub(crate) use axis::{Axis, Random};
pub(crate) use column::{Column, Derived, Source};
pub(crate) use manifest::{FORMAT, digest_of, parts_that_differ};
pub(crate) use own::{ScenarioCells, Setting, refused};
pub(crate) use states::States;
pub(crate) use template::{Template, json, lay_over, non_finite};

use crate::SweepError;
use crate::table::{Field, Schema};
use carom_numeric::expression::Expression;
use carom_report::input::{MAX_TOML_BYTES, read_file};
use carom_wire::Command;
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Largest number of cells of a plan.
pub(crate) const MAX_CELLS: u64 = 1 << 40;

/// Largest number of shards of a plan.
pub(crate) const MAX_SHARDS: u64 = 1_000_000;

/// Plan of a sweep, that is, of one computation for many parameter values. The plan defines every cell (one combination of axis
/// values), and the columns of the table with the answers.
///
/// # Examples
///
/// ```
/// use carom_sweep::Plan;
/// let plan = Plan::from_toml(
///     r#"
///     name = "drop"
///     [problem]
///     law = "plastic"
///     mass_matrix = [["=mass"]]
///     velocity = [-1]
///     contacts = [{ normal = [1] }]
///     [axes]
///     mass = { linspace = [1, 2, 11] }
///     [columns]
///     energy_j = "/energy_minus_j"
///     "#,
///     std::path::Path::new("."),
/// )?;
/// assert_eq!(plan.n_cells(), 11);
/// // Each cell is a line of `carom resolve`.
/// assert!(plan.cell(5)?.line().contains(r#""mass_matrix":[[1.5]]"#));
/// # Ok::<(), carom_sweep::SweepError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) kind: CellKind,
    pub(crate) axes: Vec<Axis>,
    pub(crate) random: Option<Random>,
    pub(crate) lets: Vec<(String, Expression)>,
    pub(crate) columns: Vec<Column>,
    pub(crate) schema: Schema,
    /// True if an expression uses the seed of its cell.
    pub(crate) uses_seed: bool,
    n_cells: u64,
    cells_per_shard: u64,
    manifest: Map<String, Value>,
    digest: String,
    /// TOML text from which the plan was read.
    pub(crate) text: String,
    /// File from which the plan was read.
    pub(crate) file: Option<PathBuf>,
}

/// Kind of the cells of a plan.
#[derive(Clone, Debug)]
pub(crate) enum CellKind {
    /// Input line of a command.
    Problem {
        command: Command,
        template: Template,
        states: Option<States>,
    },
    /// Run of a scenario.
    Scenario(ScenarioCells),
}

impl Plan {
    /// Reads the plan of a sweep from TOML text. Paths in the plan are relative to the folder `base`.
    ///
    /// # Errors
    ///
    /// [`SweepError::Plan`] with line and key; [`SweepError::State`] and [`SweepError::File`] for the file of
    /// states.
    pub fn from_toml(text: &str, base: &Path) -> Result<Self, SweepError> {
        let plan = read::plan(text, base)?;
        plan.refuse_unknown()?;
        Ok(plan)
    }

    /// Reads the plan of a sweep from a TOML file. Paths in the plan are relative to the folder of the file.
    ///
    /// # Errors
    ///
    /// The errors of [`from_toml`](Self::from_toml), with the name of the file.
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        let text = read_file(path, MAX_TOML_BYTES).map_err(SweepError::file("read", path))?;
        let text = String::from_utf8(text)
            .map_err(|_| SweepError::content(path, "the plan is not UTF-8"))?;
        let base = path.parent().unwrap_or(Path::new(""));
        let mut plan = Self::from_toml(&text, base).map_err(|error| error.in_file(path))?;
        plan.file = Some(path.to_path_buf());
        Ok(plan)
    }

    /// Returns the name of the sweep that the plan describes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the SHA-256 of the complete plan, in lower-case hexadecimal digits. Two plans with equal digests describe one
    /// sweep.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the complete plan as JSON, as in the file `plan.json`.
    pub fn manifest(&self) -> &Map<String, Value> {
        &self.manifest
    }

    /// Returns the number of cells of the sweep. Each cell is one combination of axis values.
    pub fn n_cells(&self) -> u64 {
        self.n_cells
    }

    /// Returns the number of shards of the sweep. A shard is a file with the answers of consecutive cells.
    pub fn n_shards(&self) -> u64 {
        self.n_cells.div_ceil(self.cells_per_shard)
    }

    pub(crate) fn has_states(&self) -> bool {
        matches!(
            &self.kind,
            CellKind::Problem {
                states: Some(_),
                ..
            }
        )
    }

    /// Returns the columns of the table of answers that the sweep produces.
    pub fn columns(&self) -> &[Field] {
        &self.schema.fields
    }

    /// Returns the range of cell indices whose answers one shard file holds. `shard` is the index of the shard, counted from 0.
    ///
    /// # Errors
    ///
    /// [`SweepError::OutOfRange`].
    pub fn shard(&self, shard: u64) -> Result<Range<u64>, SweepError> {
        if shard >= self.n_shards() {
            return Err(SweepError::OutOfRange {
                what: "shard",
                index: shard,
                last: self.n_shards().saturating_sub(1),
            });
        }
        let start = shard * self.cells_per_shard;
        Ok(start..(start + self.cells_per_shard).min(self.n_cells))
    }
}
