//! Accumulation of impacts.

use crate::tolerances::ZENO_REST;

/// A gap between impacts that shrinks by less than this does not accumulate.
const SHRINKING: f64 = 0.999;

/// A rebound this many times higher than one that is lost has times to a thousandth of their gap.
const CLEAR: f64 = 1e3;

/// Times of the latest impacts, as long as the gaps between them shrink.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accumulation {
    latest: Option<f64>,
    gap: f64,
    /// Gaps in a row that shrank.
    shrunk: usize,
    /// Impacts in a row whose rebound is lost in rounding.
    lost: usize,
    /// Accumulation point by the latest impacts that rounding did not touch.
    point: Option<f64>,
}

impl Accumulation {
    /// Adds an impact that loses energy, with the height of its rebound over one that is lost in
    /// rounding. Returns the time that is left to the accumulation point, extrapolated as a geometric
    /// series, once three gaps between four impacts have shrunk and the rest is less than $10^{-9}$ of
    /// the step, or the rebounds are lost. Three rebounds in a row that are lost are a contact that
    /// lasts: nothing is left.
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
