//! Roots inside a bracket, to full precision.

/// Largest number of steps of Newton's method in a bracket. Bisection alone needs about 64 between two numbers
/// of similar size.
const MAX_STEPS: usize = 100;

/// Finds by bisection the point between `low` and `high` at which a condition ceases to be true. `holds` evaluates the condition,
/// which must be true at `low` and false at `high`. The interval shrinks to two neighboring floating-point numbers; the upper one
/// is returned.
///
/// # Examples
///
/// ```
/// let root = carom_numeric::roots::bisect(0.0, 2.0, |x| x * x < 2.0);
/// assert!((root - 2f64.sqrt()).abs() < 1e-15);
/// ```
pub fn bisect(mut low: f64, mut high: f64, mut holds: impl FnMut(f64) -> bool) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        // The condition also holds if an end is NaN.
        if !(middle > low && middle < high) {
            return high;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Finds the root of a function that changes sign once on an interval, to rounding error, by Newton's method inside a shrinking
/// bracket. `ends` are the ends of the interval and `values` the function values there. `function` returns the value and the
/// derivative at a point.
#[inline]
pub fn newton(ends: [f64; 2], values: [f64; 2], function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let guess = ends[0] + (ends[1] - ends[0]) * (values[0] / (values[0] - values[1]));
    newton_from(guess, ends, values, function)
}

/// Finds the root of a function that changes sign once on an interval, as [`newton`] does, but starting from `guess` inside the
/// interval. The second argument contains the ends of the interval, and `values` the function values there. `function` returns
/// the value and the derivative at a point.
#[inline]
pub fn newton_from(
    guess: f64,
    [mut low, mut high]: [f64; 2],
    values: [f64; 2],
    function: impl Fn(f64) -> (f64, f64),
) -> f64 {
    if values[0] == 0.0 {
        return low;
    }
    if values[1] == 0.0 {
        return high;
    }
    let rising = values[1] > 0.0;
    let mut at = guess;
    for _ in 0..MAX_STEPS {
        let (value, slope) = function(at);
        if value == 0.0 {
            return at;
        }
        if (value > 0.0) == rising {
            high = at;
        } else {
            low = at;
        }
        let newton = at - value / slope;
        if (newton - at).abs() <= 2.0 * f64::EPSILON * at.abs() {
            return newton.clamp(low, high);
        }
        // This also covers a slope that is zero or NaN.
        at = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if !(low < at && at < high) {
            return at;
        }
    }
    at
}

/// Number of evaluations after which [`widening`] grows by the next factor of four.
const WIDENED_EVERY: usize = 512;

/// Returns a factor by which a long search multiplies its tolerance, so that a search that cannot decide becomes less strict and
/// ends. `beyond` is the number of evaluations since the search began to use a tolerance above zero; `None` means that it has not
/// begun. The factor is 0 for `None`, 1 for the first 512 evaluations, and grows fourfold after every further 512 evaluations.
///
/// # Examples
///
/// ```
/// # use carom_numeric::roots::widening;
/// assert_eq!([None, Some(0), Some(600), Some(1100)].map(widening), [0.0, 1.0, 4.0, 16.0]);
/// ```
#[must_use]
pub fn widening(beyond: Option<usize>) -> f64 {
    beyond.map_or(0.0, |evaluations| {
        crate::power(
            4.0,
            i32::try_from(evaluations / WIDENED_EVERY).unwrap_or(i32::MAX),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_at_an_end_or_without_a_slope_is_found() {
        let cube = |x: f64| (x.powi(3), 3.0 * x * x);
        assert_eq!(newton([0.0, 1.0], [0.0, 1.0], cube), 0.0);
        assert_eq!(newton([-1.0, 0.0], [-1.0, 0.0], cube), 0.0);
        let flat = newton([-1.0, 2.0], [-1.0, 8.0], cube);
        assert!(flat.abs() < 1e-8, "{flat}");
        let falling = newton([0.0, 3.0], [1.0, -2.0], |x| (1.0 - x, -1.0));
        assert_eq!(falling, 1.0);
    }

    #[test]
    fn bisection_ends_on_any_interval() {
        assert_eq!(bisect(1.0, 1.0, |_| true), 1.0);
        assert!(bisect(0.0, f64::NAN, |_| true).is_nan());
        assert_eq!(bisect(0.0, f64::MAX, |x| x < 1e-300), 1e-300);
    }
}
