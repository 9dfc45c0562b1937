//! Detection of accumulating impacts (Zeno behavior).

use crate::tolerances::ZENO_REST;

/// Ratio of consecutive intervals between impacts above which the impacts do not accumulate.
const SHRINKING: f64 = 0.999;

/// Rebound height, in multiples of the height that rounding hides, above which the times of impact are exact to a thousandth of
/// their interval.
const CLEAR: f64 = 1e3;

/// Times of the latest impacts, as long as the intervals between them shrink.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accumulation {
    latest: Option<f64>,
    gap: f64,
    /// Number of consecutive intervals that shrank.
    shrunk: usize,
    /// Number of consecutive impacts whose rebound is hidden by rounding.
    lost: usize,
    /// Accumulation point (s), extrapolated from the latest impacts that rounding does not affect.
    point: Option<f64>,
}

impl Accumulation {
    /// Records an impact at `time` (s) that loses energy, to detect the accumulation of impacts. `rebound` is the height of the
    /// rebound divided by the height that rounding hides; `time_step` is the length of the steps (s).
    ///
    /// Returns the remaining time to the accumulation point (s) if one is found, extrapolated as a geometric series. Each of the
    /// last three intervals must have been shorter than the one before. In addition, the remaining time must be less than
    /// $10^{-9}$ of the step, or the rebound must be hidden by rounding. Three consecutive hidden rebounds are a lasting contact:
    /// the remaining time is then zero.
    pub(crate) fn add(&mut self, time: f64, time_step: f64, rebound: f64) -> Option<f64> {
        let is_lost = rebound <= 1.0;
        self.lost = if is_lost { self.lost + 1 } else { 0 };
        let latest = self.latest.replace(time)?;
        let gap = time - latest;
        let ratio = gap / self.gap;
        self.gap = gap;
        if ratio < SHRINKING {
            self.shrunk += 1;
        } else {
            self.shrunk = 0;
            self.point = None;
        }
        if self.shrunk < 3 {
            return (self.lost >= 3).then_some(0.0);
        }
        let mut rest = gap * ratio / (1.0 - ratio);
        if rebound > CLEAR {
            self.point = Some(time + rest);
        } else if let Some(point) = self.point {
            rest = (point - time).max(0.0);
        }
        (is_lost || rest < ZENO_REST * time_step).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_series_is_summed() {
        let mut accumulation = Accumulation::default();
        let (mut time, mut gap, mut left) = (0.0, 1.0, None);
        while left.is_none() {
            left = accumulation.add(time, 0.01, 1e9);
            time += gap;
            gap *= 0.5;
        }
        let end = time - 2.0 * gap + left.unwrap_or_default();
        assert!((end - 2.0).abs() <= 1e-12, "{end}");
    }

    #[test]
    fn equal_gaps_never_accumulate() {
        let mut accumulation = Accumulation::default();
        assert!((0..100).all(|k| accumulation.add(f64::from(k), 1e20, 1e9).is_none()));
    }

    #[test]
    fn rebounds_that_are_lost_are_a_lasting_contact() {
        let mut accumulation = Accumulation::default();
        let left: Vec<_> = (0..3)
            .map(|k| accumulation.add(f64::from(k), 1.0, 0.5))
            .collect();
        assert_eq!(left, [None, None, Some(0.0)]);
    }
}
