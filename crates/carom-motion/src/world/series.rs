//! Accumulation of a pair's impacts, extrapolated from those before.

use crate::world::time::Time;

/// Time from the accumulation, in units of the time in which the rounding of the gap is fallen through, within which
/// intervals may be rounding: they go on for some more than one such time, at random.
const NEAR: f64 = 20.0;

/// An interval between two impacts of a pair, as rounding sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    /// Length (s).
    pub(crate) length: f64,
    /// Velocity of the gap at its end (m/s).
    pub(crate) velocity: f64,
    /// Rounding of the gap (m).
    pub(crate) rounding: f64,
}

impl Interval {
    /// Time in which the rounding of the gap is fallen through from rest, $\sqrt{2\delta/a}$ with the acceleration
    /// $a = 2|v|/T$ of a bounce (s).
    fn resolution(&self) -> f64 {
        (self.rounding * self.length / self.velocity.abs()).sqrt()
    }
}

/// Extrapolations of the time at which the impacts of a pair accumulate.
///
/// Early ones suffer from a motion that is not yet that of a series, late ones from the rounding of the gap. The one
/// that differs least from the two before is the best.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Series {
    latest: Option<Time>,
    /// Difference of the latest extrapolation from the one before (s).
    moved: Option<f64>,
    /// The best one, with the larger of its two differences (s).
    best: Option<(Time, f64)>,
}

impl Series {
    /// Adds an impact at the end of an interval after another interval: what is left is a geometric series.
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

    /// Notes an impact whose interval has not shrunk: it begins another series, unless the accumulation is so near that
    /// rounding makes the intervals.
    pub(crate) fn end(&mut self, time: Time, interval: &Interval) {
        let near = |point: Time| point.since(time).abs() <= NEAR * interval.resolution();
        if !self.point().is_some_and(near) {
            *self = Self::default();
        }
    }

    /// Time of the accumulation, if it is known.
    pub(crate) fn point(&self) -> Option<Time> {
        self.best.map(|(point, _)| point).or(self.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bounce that grows in a world a billion times as small and as fast ends a series no other way: lengths and times do not
    /// decide.
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
