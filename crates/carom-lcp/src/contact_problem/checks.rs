//! Checks of data.

use crate::LcpError;

/// Largest number of rows of a contact: its normal and two tangents.
pub(crate) const WIDTH: usize = 3;

/// Largest deviation of the length of a slip direction from one: rounding of a normalization, with room for
/// directions that are carried along.
pub(crate) const UNIT: f64 = 1e-12;

pub(crate) fn check_len(what: &'static str, expected: usize, found: usize) -> Result<(), LcpError> {
    if expected == found {
        return Ok(());
    }
    Err(LcpError::DimensionMismatch {
        what,
        expected,
        found,
    })
}

pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), LcpError> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(index) => Err(LcpError::NonFinite {
            what,
            index,
            value: values[index],
        }),
    }
}

pub(super) fn check_range(
    what: &'static str,
    value: f64,
    largest: f64,
    allowed: &'static str,
) -> Result<(), LcpError> {
    if (0.0..=largest).contains(&value) {
        return Ok(());
    }
    Err(LcpError::OutOfRange {
        what,
        value,
        allowed,
    })
}
