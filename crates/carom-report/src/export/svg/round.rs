//! Conversion of rounded numbers to integers.

/// Converts a number to an integer by omitting its fraction. Numbers beyond the range of `i32` become its limits; NaN
/// becomes 0.
pub(super) fn whole(value: f64) -> i32 {
    value as i32
}

/// Converts a number to an integer by omitting its fraction. Numbers beyond the range of `i64` become its limits; NaN
/// becomes 0.
pub(super) fn whole_long(value: f64) -> i64 {
    value as i64
}
