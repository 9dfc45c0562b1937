//! Conversion of rounded numbers to integers.

/// Converts to an integer and saturates, so that no value can wrap around.
pub(super) fn whole(value: f64) -> i32 {
    value as i32
}

/// Converts as [`whole`] does, with more digits.
pub(super) fn whole_long(value: f64) -> i64 {
    value as i64
}
