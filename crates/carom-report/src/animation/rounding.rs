//! Rounding of the numbers of an animation to what a picture shows.

/// Largest unit to which lengths are rounded, as a share of the extent of the motion.
pub(super) const LENGTH_SHARE: f64 = 1e-5;

/// Number of decimals of angles (rad) and of quaternions.
pub(super) const ANGLE_DECIMALS: i32 = 5;

pub(super) fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|v| v.is_finite())
}

/// Returns the largest minus the smallest of all numbers in `lists`; 0 if there are no numbers.
pub(super) fn extent(lists: &[&[f64]]) -> f64 {
    let values = || lists.iter().copied().flatten().copied();
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    (high - low).max(0.0)
}

/// Returns the smallest number of decimals for which one unit of the last decimal place is at most `share` times `size`; 5
/// if this product is not positive and finite. A negative number means rounding to tens, hundreds and so on.
pub(super) fn decimals(size: f64, share: f64) -> i32 {
    let place = size * share;
    if place.is_finite() && place > 0.0 {
        // The range of `f64` in powers of ten bounds the cast.
        (-place.log10()).ceil() as i32
    } else {
        ANGLE_DECIMALS
    }
}

/// Rounds `value` to `decimals` digits after the decimal point. A negative number of decimals rounds to tens, hundreds and
/// so on.
pub(super) fn rounded(value: f64, decimals: i32) -> f64 {
    // Powers of ten up to 22 are exact, and dividing by such a power gives the `f64` nearest to the decimal number.
    let rounded = if decimals >= 0 {
        let unit = 10f64.powi(decimals);
        (value * unit).round() / unit
    } else {
        let unit = 10f64.powi(-decimals);
        (value / unit).round() * unit
    };
    // Adding zero removes the sign of a negative zero; a product that overflows leaves the number as it was.
    if rounded.is_finite() {
        rounded + 0.0
    } else {
        value
    }
}

pub(super) fn round_all<'a>(lists: impl IntoIterator<Item = &'a mut Vec<f64>>, decimals: i32) {
    for value in lists.into_iter().flatten() {
        *value = rounded(*value, decimals);
    }
}
