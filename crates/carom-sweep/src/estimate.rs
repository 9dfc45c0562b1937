//! Duration of a sweep, estimated from a few of its cells.

use crate::SweepError;
use crate::answer::row;
use crate::evaluate::Evaluator;
use crate::plan::Plan;
use crate::run::stamp_of;
use crate::table::{Rows, encode};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

/// Cells that are tried.
const TRIED: u64 = 64;

/// Estimated duration and size of a sweep.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Cells that were tried, spread evenly.
    pub tried: u64,
    /// Cells among them with an error.
    pub errors: u64,
    /// Time on one core, in seconds.
    pub seconds_on_one_core: f64,
    /// Cores of this machine.
    pub cores: usize,
    /// Time on all of them, in seconds.
    pub seconds_on_all_cores: f64,
    /// Size of all shards, in bytes.
    pub bytes: u64,
}

/// Tries cells of a plan. Writes nothing.
///
/// # Errors
///
/// [`SweepError::File`] if the file of states has gone.
pub fn estimate(plan: &Plan) -> Result<Estimate, SweepError> {
    let n = plan.n_cells();
    let tried = n.min(TRIED);
    let mut evaluator = Evaluator::new(plan)?;
    let mut rows = Rows::new(&plan.schema);
    let mut errors = 0;
    let start = Instant::now();
    for i in 0..tried {
        // Below 2^40 cells, so the product has room.
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
