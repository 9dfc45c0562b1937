//! Times whose resolution does not degrade over long runs.

use std::cmp::Ordering;

/// Time as an unevaluated sum of two numbers (s), so that the rounding of late times does not accumulate.
///
/// # Examples
///
/// ```
/// # use carom_numeric::time::Time;
/// let late = Time::new(1e9);
/// assert_eq!(late.plus(1e-9).since(late), 1e-9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Time {
    /// Time rounded to one number (s).
    pub high: f64,
    low: f64,
}

impl Time {
    /// Creates a time from its value in seconds.
    #[must_use]
    pub fn new(seconds: f64) -> Self {
        Self {
            high: seconds,
            low: 0.0,
        }
    }

    /// Returns the time that is later by `seconds`.
    #[must_use]
    pub fn plus(self, seconds: f64) -> Self {
        // Knuth's error-free sum.
        let sum = self.high + seconds;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (seconds - part);
        let low = self.low + error;
        let high = sum + low;
        Self {
            high,
            low: low - (high - sum),
        }
    }

    /// Returns the seconds that have passed since an earlier time.
    #[must_use]
    pub fn since(self, earlier: Self) -> f64 {
        (self.high - earlier.high) + (self.low - earlier.low)
    }

    /// Compares two times; NaN is ordered as by [`f64::total_cmp`].
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        let high = self.high.total_cmp(&other.high);
        high.then(self.low.total_cmp(&other.low))
    }

    /// Returns the earlier of two times.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        match self.compare(&other) {
            Ordering::Greater => other,
            _ => self,
        }
    }

    /// Returns the later of two times.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        match self.compare(&other) {
            Ordering::Less => other,
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_small_steps_add_up() {
        let mut time = Time::new(1e5);
        for _ in 0..1_000_000 {
            time = time.plus(0.1);
        }
        let exact = 1e6 * 0.1;
        assert!((time.since(Time::new(1e5)) - exact).abs() <= 1e-9);
    }
}
