//! Times whose resolution does not degrade over long runs.

use std::cmp::Ordering;

/// A time as an unevaluated sum of two numbers (s), so that the rounding of late times does not accumulate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Time {
    pub(crate) high: f64,
    low: f64,
}

impl Time {
    pub(crate) fn new(seconds: f64) -> Self {
        Self {
            high: seconds,
            low: 0.0,
        }
    }

    /// Returns the time that is later by `seconds`.
    pub(crate) fn plus(self, seconds: f64) -> Self {
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
    pub(crate) fn since(self, earlier: Self) -> f64 {
        (self.high - earlier.high) + (self.low - earlier.low)
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let high = self.high.total_cmp(&other.high);
        high.then(self.low.total_cmp(&other.low))
    }

    pub(crate) fn min(self, other: Self) -> Self {
        match self.compare(&other) {
            Ordering::Greater => other,
            _ => self,
        }
    }

    pub(crate) fn max(self, other: Self) -> Self {
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
