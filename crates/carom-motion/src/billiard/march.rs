//! Event location that cannot step over an event.
//!
//! If a function has $h < 0$ and $|h''| \le M$, it stays negative for the time $s$ in which
//! the parabola $h + \dot hs + Ms^2/2$ does. Steps of that length converge to the first zero,
//! quadratically where the function crosses it, and leave a wall by themselves.

use crate::tolerances::TIME_ROUNDING;

/// Steps after which a root is as good as found.
const MAX_STEPS: usize = 100_000;

/// A function of time at the start, and a bound on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct March {
    /// Value at the start, at most 0.
    pub value: f64,
    /// Its rate there.
    pub rate: f64,
    /// Bound of the second derivative up to the horizon.
    pub bound: f64,
    /// Length of the search, s.
    pub horizon: f64,
}

/// The first time in (0, horizon] at which a function crosses zero upwards; `at` gives its value
/// and rate.
///
/// The second derivative must not exceed the bound. The time is exact to a few units in the last
/// place of the time and of the function.
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
            // Rounding: a bound cannot be overstepped otherwise.
            break;
        }
    }
    Some(t)
}
