//! Accumulation of a pair's impacts, extrapolated from those before.

use crate::world::time::Time;

/// Time from the accumulation, as a fraction of the time step, within which intervals may be rounding: gaps of 1e-14 m, which are
/// the rounding of a meter, are fallen through in 1e-7 s.
const NEAR: f64 = 1e-3;

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
    pub(crate) fn end(&mut self, time: Time, time_step: f64) {
        let near = |point: Time| point.since(time).abs() <= NEAR * time_step;
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
