//! Estimates the duration of a sweep from a few cells.

use crate::SweepError;
use crate::answer::row;
use crate::evaluate::Evaluator;
use crate::plan::Plan;
use crate::run::stamp_of;
use crate::table::{Rows, encode};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

/// Largest number of cells that are tried.
const TRIED: u64 = 64;

/// Estimated computing time and size of a sweep, extrapolated from a few of its cells.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Number of cells that were tried, evenly spaced in the plan.
    pub tried: u64,
    /// Number of tried cells with an error.
    pub errors: u64,
    /// Estimated time on one core (s).
    pub seconds_on_one_core: f64,
    /// Number of cores of this machine.
    pub cores: usize,
    /// Estimated time on all cores (s).
    pub seconds_on_all_cores: f64,
    /// Estimated size of all shards (bytes).
    pub bytes: u64,
}

/// Evaluates a few cells (combinations of axis values) of a plan and estimates time and size of the whole sweep. Writes no
/// files.
///
/// # Errors
///
/// [`SweepError::File`] if the file of states cannot be opened any more.
pub fn estimate(plan: &Plan) -> Result<Estimate, SweepError> {
    let n = plan.n_cells();
    let tried = n.min(TRIED);
    let mut evaluator = Evaluator::new(plan)?;
    let mut rows = Rows::new(&plan.schema);
    let mut errors = 0;
    let start = Instant::now();
    for i in 0..tried {
        // There are at most 2^40 cells, so that the product does not overflow.
        evaluator.move_to(i * n / tried)?;
        let row = row(&mut evaluator)?;
        errors += u64::from(row.is_error);
        rows.push(row.data);
    }
    let seconds = start.elapsed().as_secs_f64() / tried as f64 * n as f64;
    let size = |rows: &Rows| {
        let stamp = stamp_of(plan.digest(), "0", 0);
        let bytes = encode(&plan.schema, stamp, rows);
        bytes
            .map(|bytes| bytes.len() as f64)
            .map_err(|error| SweepError::content(Path::new("estimate"), error))
    };
    let empty = size(&Rows::new(&plan.schema))?;
    let a_row = (size(&rows)? - empty) / tried as f64;
    let cores = std::thread::available_parallelism()
        .unwrap_or(NonZeroUsize::MIN)
        .get();
    Ok(Estimate {
        tried,
        errors,
        seconds_on_one_core: seconds,
        cores,
        seconds_on_all_cores: seconds / (cores as f64).min(plan.n_shards() as f64),
        bytes: (empty * plan.n_shards() as f64 + a_row * n as f64) as u64,
    })
}
