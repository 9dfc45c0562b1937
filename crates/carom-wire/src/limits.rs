//! Limits of a problem's size, checked before anything of that size is made.

use crate::error::WireError;
use serde_json::{Map, Value};

/// Bytes of one line.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// Levels of brackets in one line.
pub const MAX_NESTING: usize = 128;

/// Generalized velocities, and unknowns of a complementarity problem.
pub const MAX_DIMENSION: usize = 10_000;

/// Contacts of one problem.
pub const MAX_CONTACTS: usize = 4096;

/// Samples of one set-valued impact.
pub const MAX_SAMPLES: u64 = 10_000_000;

/// Numbers written for all samples of one set-valued impact.
pub const MAX_WRITTEN: u64 = 100_000_000;

/// Steps of one sample.
pub const MAX_STEPS: u64 = 1_000_000;

/// The error for a value above its limit.
pub(crate) fn too_large(
    key: &str,
    value: impl std::fmt::Display,
    unit: &str,
    limit: impl std::fmt::Display,
) -> WireError {
    let message = format!("{key}: {value} {unit} exceed the limit of {limit}");
    WireError::new("too-large", message)
}

/// Refuses a list that is too long.
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

/// Refuses samples that would be written with more numbers than one line can bear.
pub(crate) fn check_written(samples: u64, dim: usize) -> Result<(), WireError> {
    let written = samples.saturating_mul(dim as u64);
    if written > MAX_WRITTEN {
        let key = "options.samples (times the dimension)";
        return Err(too_large(key, written, "numbers", MAX_WRITTEN));
    }
    Ok(())
}

/// Refuses options that ask for too many samples or steps, before anything sees them.
pub(crate) fn check_options(options: &Map<String, Value>) -> Result<(), WireError> {
    let count = |key: &str| options.get(key).and_then(Value::as_u64);
    for (key, limit) in [("samples", MAX_SAMPLES), ("max_steps", MAX_STEPS)] {
        if let Some(value) = count(key).filter(|value| *value > limit) {
            return Err(too_large(&format!("options.{key}"), value, key, limit));
        }
    }
    Ok(())
}
