//! Accumulation of impacts.

/// A gap between impacts that shrinks by less than this does not accumulate.
const SHRINKING: f64 = 0.999;

/// Times of the latest impacts, as long as the gaps between them shrink.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accumulation {
    latest: Option<f64>,
    gap: f64,
    /// Ratio of the latest two gaps.
    ratio: f64,
    /// Gaps in a row that shrank.
    shrunk: usize,
    /// Impacts in a row whose rebound is lost in rounding.
    lost: usize,
}

impl Accumulation {
    /// Adds an impact. Returns the time that is left to the accumulation point, extrapolated as a
    /// geometric series, once three gaps in a row have shrunk and the rest is less than $10^{-9}$ of
    /// the step, or the rebounds are lost in rounding. Three rebounds in a row that are lost are a
    /// contact that lasts: nothing is left.
    pub(crate) fn add(&mut self, time: f64, time_step: f64, lost: bool) -> Option<f64> {
        self.lost = if lost { self.lost + 1 } else { 0 };
        let latest = self.latest.replace(time)?;
        let gap = time - latest;
        self.ratio = gap / self.gap;
        self.shrunk = if self.ratio < SHRINKING {
            self.shrunk + 1
        } else {
            0
        };
        self.gap = gap;
        if self.shrunk < 3 {
            return (self.lost >= 3).then_some(0.0);
        }
        let rest = gap * self.ratio / (1.0 - self.ratio);
        (lost || rest < 1e-9 * time_step).then_some(rest)
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
            left = accumulation.add(time, 0.01, false);
            time += gap;
            gap *= 0.5;
        }
        let end = time - 2.0 * gap + left.unwrap_or_default();
        assert!((end - 2.0).abs() <= 1e-12, "{end}");
    }

    #[test]
    fn equal_gaps_never_accumulate() {
        let mut accumulation = Accumulation::default();
        assert!((0..100).all(|k| accumulation.add(f64::from(k), 1e20, false).is_none()));
    }

    #[test]
    fn rebounds_that_are_lost_are_a_lasting_contact() {
        let mut accumulation = Accumulation::default();
        let left: Vec<_> = (0..3)
            .map(|k| accumulation.add(f64::from(k), 1.0, true))
            .collect();
        assert_eq!(left, [None, None, Some(0.0)]);
    }
}
