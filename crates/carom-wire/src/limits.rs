//! Limits on the size of a problem, checked before memory of that size is allocated.

use crate::error::WireError;
use serde_json::{Map, Value};

/// Largest number of bytes in one line of input, which holds one problem as JSON.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// Largest number of generalized velocities of an impact problem: that of unknowns of a linear complementarity problem.
pub use carom_lcp::MAX_DIM as MAX_DIMENSION;

/// Largest depth of nested brackets in one line of JSON input.
pub const MAX_NESTING: usize = 128;

/// Largest number of contacts of one impact problem.
pub const MAX_CONTACTS: usize = 4096;

/// Largest number of outcomes that may be sampled for one set-valued impact.
pub const MAX_SAMPLES: u64 = 10_000_000;

/// Largest total count of numbers that the answer may hold for all samples of one set-valued impact.
pub const MAX_WRITTEN: u64 = 100_000_000;

/// Largest number of impulse steps in one sampled outcome of a set-valued impact.
pub const MAX_STEPS: u64 = 1_000_000;

/// Creates the error for a number that exceeds its limit, with the message `key: value unit exceed the limit of limit`.
/// `unit` is the noun for the things counted.
pub(crate) fn too_large(
    key: &str,
    value: impl std::fmt::Display,
    unit: &str,
    limit: impl std::fmt::Display,
) -> WireError {
    let message = format!("{key}: {value} {unit} exceed the limit of {limit}");
    WireError::new("too-large", message)
}

/// Returns an error if a list has more than `limit` entries. `key` is the JSON key of the list and `unit` the noun for its
/// entries.
pub(crate) fn check_length(
    key: &str,
    length: usize,
    unit: &str,
    limit: usize,
) -> Result<(), WireError> {
    if length > limit {
        return Err(too_large(key, length, unit, limit));
    }
    Ok(())
}

/// Returns an error if the sampled velocities would take more than [`MAX_WRITTEN`] numbers in the answer. `dim` is the
/// number of velocities per sample.
pub(crate) fn check_written(samples: u64, dim: usize) -> Result<(), WireError> {
    let written = samples.saturating_mul(dim as u64);
    if written > MAX_WRITTEN {
        let key = "options.samples (times the dimension)";
        return Err(too_large(key, written, "numbers", MAX_WRITTEN));
    }
    Ok(())
}

/// Returns an error if the options of a law request too many samples or too many steps per sample.
pub(crate) fn check_options(options: &Map<String, Value>) -> Result<(), WireError> {
    let count = |key: &str| options.get(key).and_then(Value::as_u64);
    for (key, limit) in [("samples", MAX_SAMPLES), ("max_steps", MAX_STEPS)] {
        if let Some(value) = count(key).filter(|value| *value > limit) {
            return Err(too_large(&format!("options.{key}"), value, key, limit));
        }
    }
    Ok(())
}
