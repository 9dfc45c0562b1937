//! Accumulation point of a pair's impacts, extrapolated from earlier ones.

use carom_numeric::time::Time;

/// Time around the accumulation point within which the intervals between impacts may be rounding, in units of the time in which a
/// body falls from rest through the rounding of the gap. Intervals of rounding, at random, last for more than one such unit.
const NEAR: f64 = 20.0;

/// An interval between two impacts of a pair, with the data for its rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    /// Length (s).
    pub(crate) length: f64,
    /// Normal velocity at the end of the interval (m/s).
    pub(crate) velocity: f64,
    /// Rounding error of the gap (m).
    pub(crate) rounding: f64,
}

impl Interval {
    /// Returns the time $\sqrt{2\delta/a}$ (s) in which a body falls from rest through the rounding error $\delta$ of the gap.
    /// The acceleration $a = 2|v|/T$ is that of a rebound with the velocity $v$ and the duration $T$ of this interval.
    fn resolution(&self) -> f64 {
        (self.rounding * self.length / self.velocity.abs()).sqrt()
    }
}

/// Extrapolations of the time at which the impacts of a pair accumulate.
///
/// Early extrapolations suffer from a motion that is not yet a geometric series, late ones from the rounding of the gap. The best
/// one is that with the smallest difference from the two before.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Series {
    latest: Option<Time>,
    /// Difference between the latest extrapolation and the one before (s).
    moved: Option<f64>,
    /// The best extrapolation, with the larger of its two differences (s).
    best: Option<(Time, f64)>,
}

impl Series {
    /// Adds an impact at `time` and estimates the time at which the impacts accumulate. `interval` is the time (s) since the
    /// previous impact, `before` the interval before that. The remaining intervals are extrapolated as a geometric series.
    pub(crate) fn add(&mut self, time: Time, interval: f64, before: f64) {
        let ratio = interval / before;
        let point = time.plus(interval * ratio / (1.0 - ratio));
        let moved = self.latest.map(|latest| point.since(latest).abs());
        if let (Some(moved), Some(earlier)) = (moved, self.moved) {
            let error = moved.max(earlier);
            if self.best.is_none_or(|(_, least)| error <= least) {
                self.best = Some((point, error));
            }
        }
        (self.latest, self.moved) = (Some(point), moved);
    }

    /// Handles an impact whose interval is not shorter than the one before. The series of shrinking intervals ends
    /// there, and its data are discarded. The data are kept if the accumulation point is so near that the intervals
    /// consist of rounding.
    pub(crate) fn end(&mut self, time: Time, interval: &Interval) {
        let near = |point: Time| point.since(time).abs() <= NEAR * interval.resolution();
        if !self.point().is_some_and(near) {
            *self = Self::default();
        }
    }

    /// Returns the best estimate so far of the time at which the impacts accumulate; `None` before the first estimate.
    pub(crate) fn point(&self) -> Option<Time> {
        self.best.map(|(point, _)| point).or(self.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rebound that grows ends a series in a world a billion times as small and as fast, too: the rule does not depend on the
    /// scales of length and time.
    #[test]
    fn a_series_ends_in_any_units() {
        for (length, second) in [(1.0, 1.0), (1e-9, 1e-4), (1e6, 1e3)] {
            for (late, is_kept) in [(1e-9, true), (1e-2, false)] {
                let mut series = Series::default();
                let (mut time, mut interval) = (0.0, second);
                for _ in 0..30 {
                    time += 0.5 * interval;
                    series.add(Time::new(time), 0.5 * interval, interval);
                    interval *= 0.5;
                }
                let last = Interval {
                    length: interval,
                    velocity: length * interval / (second * second),
                    rounding: 1e-16 * length,
                };
                series.end(Time::new(second * (1.0 + late)), &last);
                assert_eq!(series.point().is_some(), is_kept, "{length:e} {late:e}");
            }
        }
    }

    /// Intervals of a half each, the late ones off by the rounding of a gap.
    #[test]
    fn rounding_of_late_impacts_does_not_count() {
        let mut series = Series::default();
        let (mut time, mut before) = (Time::default(), 1.0);
        for k in 1..40 {
            let exact = libm::exp2(-f64::from(k));
            let noise = 1e-14 / exact * if k % 3 == 0 { 1.0 } else { -0.7 };
            let interval = exact + noise;
            time = time.plus(exact);
            series.add(time, interval, before);
            before = interval;
        }
        let point = series.point().unwrap();
        assert!(point.since(Time::new(1.0)).abs() <= 1e-12);
    }
}
