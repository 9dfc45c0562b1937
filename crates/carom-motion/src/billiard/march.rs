//! Location of zero crossings by steps that cannot skip one.
//!
//! If a function has $h < 0$ and $|h''| \le M$, it stays negative as long as the parabola $h + \dot hs + Ms^2/2$ does, where $s$
//! is the time since the evaluation. Steps of that length converge to the first zero, quadratically if the function crosses zero
//! there. A start at $h = 0$ with falling $h$ needs no special case.

use crate::tolerances::TIME_ROUNDING;

/// Number of steps after which the present time is returned as the root.
const MAX_STEPS: usize = 100_000;

/// Input of [`march`], the search for a zero of a function of time: value and derivative at the start, a bound of the second
/// derivative, and the duration of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct March {
    /// Value of the function at the start, at most 0.
    pub value: f64,
    /// Time derivative of the function at the start, per second.
    pub rate: f64,
    /// Upper bound of the absolute second time derivative during the search.
    pub bound: f64,
    /// Duration of the search, s.
    pub horizon: f64,
}

/// Finds the first time (s) after the start, up to the horizon of the search, at which a function of time crosses zero
/// upwards. Returns `None` if the function does not.
///
/// `at` returns value and time derivative of the function at a time. Its absolute second derivative must not exceed the bound
/// in `start`. The time is exact to a few units in the last place of the time and of the function.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::{March, march};
/// let start = March { value: -1.0, rate: 0.0, bound: 1.0, horizon: 10.0 };
/// let zero = march(start, |t| (-t.cos(), t.sin()));
/// assert!((zero.unwrap() - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
/// ```
pub fn march(start: March, mut at: impl FnMut(f64) -> (f64, f64)) -> Option<f64> {
    let (mut value, mut rate, mut t) = (start.value.min(0.0), start.rate, 0.0);
    for _ in 0..MAX_STEPS {
        let root = (rate * rate - 2.0 * start.bound * value).sqrt();
        let step = if rate > 0.0 {
            -2.0 * value / (rate + root)
        } else if start.bound > 0.0 {
            (root - rate) / start.bound
        } else {
            return None;
        };
        if step.is_nan() {
            return None;
        }
        t += step;
        if t > start.horizon {
            return None;
        }
        if step <= TIME_ROUNDING * t {
            break;
        }
        (value, rate) = at(t);
        if value >= 0.0 {
            // Only rounding can carry a step beyond the zero.
            break;
        }
    }
    Some(t)
}
