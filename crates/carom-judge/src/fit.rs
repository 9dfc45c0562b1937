//! Fit of the coefficient that brings the answer of a law nearest to an outcome.

use crate::tolerances::CERTAIN;
use crate::tolerances::EQUAL;
use crate::tolerances::ROUNDED;
use nalgebra::DVector;

/// Largest numbers of steps of the search for the nearest answer of a family.
struct Steps {
    /// Number of steps between 0 and 1 at which a curved family of answers is evaluated.
    grid: u32,
    /// Number of steps between 0 and 1 at which every family of answers is evaluated.
    coarse: u32,
    /// Largest number of secant steps; near a match each step doubles the number of correct digits.
    secants: usize,
    /// Number of successive secant steps that come less near than an earlier one, after which the iteration is given up: it does
    /// not converge.
    strayed: usize,
    /// Number of successive reductions towards an end of the interval, itself the nearest coefficient, after which the golden
    /// section looks beside the end.
    towards_end: usize,
    /// Number of reductions of the golden section: $0.618^{64}$ is below the last digit.
    reductions: usize,
}

/// Values of [`Steps`].
const STEPS: Steps = Steps {
    grid: 16,
    coarse: 4,
    secants: 12,
    strayed: 3,
    towards_end: 6,
    reductions: 64,
};

/// Distance from an end at which the golden section looks if the velocity comes nearer there. The distance of two answers
/// that differ by so little changes by more than their rounding.
const BESIDE: f64 = 1e-8;

/// A point of a curve and its distance from the target.
#[derive(Clone)]
struct Point {
    x: f64,
    at: DVector<f64>,
    distance: f64,
}

/// Curve of the answers of a law over coefficients in \[0, 1\], with the nearest point evaluated so far.
struct Curve<'t, F> {
    target: &'t DVector<f64>,
    answer: F,
    best: Option<(f64, f64)>,
}

/// Coefficient of the nearest answer that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    pub(super) value: f64,
    /// True if the curve is straight, so that no other coefficient comes nearer. A curve with jumps, as of laws over
    /// sequences of impacts, may come nearer between the evaluated points.
    pub(super) is_proven: bool,
}

/// Finds the coefficient of restitution in \[0, 1\] at which the velocity of a law, `answer`, comes nearest to the
/// velocity `target`. `size` is the norm to which tolerances are relative, `guess` a first value. `answer` returns
/// `None` if the law has no answer at a coefficient; if the law has no answer at any of 0, 1 and `guess`, the result
/// is `None`. `is_continuous` is false if the answer may jump as the coefficient changes.
///
/// The answers form a curve in velocity space. If the curve is straight between five points, so that the answer is linear
/// in the coefficient, the nearest point of the chord is taken. Otherwise secant steps start from the best point. If the
/// steps do not reach the target, they start again on both sides of the best point of a finer grid. If the two sides do
/// not converge to one point of a curve that may jump, a golden-section search follows. The minimum is local: another one
/// may be deeper if the distance has several minima closer together than the grid points.
pub(super) fn nearest_coefficient(
    target: &DVector<f64>,
    size: f64,
    guess: f64,
    is_continuous: bool,
    answer: impl FnMut(f64) -> Option<DVector<f64>>,
) -> Option<Nearest> {
    let mut curve = Curve {
        target,
        answer,
        best: None,
    };
    let limit = EQUAL * size;
    let ends = [curve.point(0.0), curve.point(1.0)];
    let mut on_grid = curve.best;
    let guessed = curve.point(guess);
    if guessed.is_none() && ends.iter().all(Option::is_none) {
        return None;
    }
    let mut look = |curve: &mut Curve<'_, _>, x: f64| {
        let found = curve.point(x);
        if let Some(p) = &found
            && on_grid.is_none_or(|(_, least)| p.distance < least)
        {
            on_grid = Some((x, p.distance));
        }
        found
    };
    let inner = (1..STEPS.coarse).map(|k| look(&mut curve, f64::from(k) / f64::from(STEPS.coarse)));
    let inner: Vec<Option<Point>> = inner.collect();
    let [start, end] = ends;
    let points: Option<Vec<Point>> = [vec![start], inner, vec![end]]
        .into_iter()
        .flatten()
        .collect();
    let nearest = |value: f64, is_proven: bool| Nearest { value, is_proven };
    if let Some(points) = &points
        && is_straight(points, limit)
        && let [first, .., last] = points.as_slice()
    {
        let x = along(target, first, last).clamp(0.0, 1.0);
        let promised = &first.at + (&last.at - &first.at) * x;
        let found = curve.point(x);
        if found.is_some_and(|p| (p.at - promised).norm() <= limit) {
            let value = curve.refined(on_grid, limit);
            return value.map(|value| nearest(value, true));
        }
    }
    let around = |(center, _): (f64, f64), steps: u32| {
        let step = 1.0 / f64::from(steps);
        (center, ((center - step).max(0.0), (center + step).min(1.0)))
    };
    if points.is_some() {
        let (center, (low, high)) = around(curve.best?, STEPS.coarse);
        let far = if center < 0.5 { high } else { low };
        curve.secants((center, far), (low, high), limit);
        // The target may be reached at another coefficient.
        if curve.best.is_some_and(|(_, least)| least <= limit) {
            let value = curve.refined(on_grid, limit);
            return value.map(|value| nearest(value, false));
        }
    }
    for k in (0..=STEPS.grid).filter(|k| k % (STEPS.grid / STEPS.coarse) != 0) {
        look(&mut curve, f64::from(k) / f64::from(STEPS.grid));
    }
    let (center, (low, high)) = around(curve.best?, STEPS.grid);
    let sides = [low, high].into_iter().filter(|side| *side != center);
    let arrived: Vec<Option<f64>> = sides
        .map(|side| curve.secants((center, side), (low, high), limit))
        .collect();
    let is_one = match arrived.as_slice() {
        [Some(x)] => Some(*x),
        [Some(a), Some(b)] => ((a - b).abs() <= CERTAIN).then_some(*a),
        _ => None,
    };
    if is_one.is_none() && !is_continuous {
        curve.section((low, high));
    }
    let value = curve.refined(on_grid, limit);
    value.map(|value| nearest(value, false))
}

/// True if all points of a curve of answers lie within the distance `limit` of the chord between the first and the last
/// point, at positions proportional to the coefficient of restitution.
fn is_straight(points: &[Point], limit: f64) -> bool {
    let [first, .., last] = points else {
        return false;
    };
    points.iter().all(|p| {
        let chord = &first.at + (&last.at - &first.at) * p.x;
        (&p.at - chord).norm() <= limit
    })
}

/// Returns the position of the point nearest to the velocity `target` on the straight line through the points `a` and
/// `b` of a curve of answers. The position is 0 at `a` and 1 at `b`. The result is 0 if the two points are equal.
fn along(target: &DVector<f64>, a: &Point, b: &Point) -> f64 {
    let chord = &b.at - &a.at;
    let length = chord.norm_squared();
    if length > 0.0 {
        chord.dot(&(target - &a.at)) / length
    } else {
        0.0
    }
}

impl<F: FnMut(f64) -> Option<DVector<f64>>> Curve<'_, F> {
    fn point(&mut self, x: f64) -> Option<Point> {
        let at = (self.answer)(x)?;
        let distance = (&at - self.target).norm();
        if !distance.is_finite() {
            return None;
        }
        if self.best.is_none_or(|(_, least)| distance < least) {
            self.best = Some((x, distance));
        }
        Some(Point { x, at, distance })
    }

    /// Returns the coefficient of restitution of the nearest point found so far, provided that this point is nearer to
    /// the target than the nearest grid point by more than `limit`. Otherwise returns the coefficient of the grid point.
    /// `on_grid` holds the coefficient and the distance of the nearest grid point.
    fn refined(&self, on_grid: Option<(f64, f64)>, limit: f64) -> Option<f64> {
        let is_gained = |least: f64| on_grid.is_none_or(|(_, grid)| least < grid - limit);
        let gained = self.best.filter(|(_, least)| is_gained(*least));
        gained.or(on_grid).map(|(x, _)| x)
    }

    /// Minimizes the distance of the answers of a law to the target by secant steps, over coefficients of restitution
    /// between `low` and `high`. The steps start at the coefficient `start`; the first one goes towards `side`. Returns
    /// the coefficient to which they converge; `None` if they do not converge or the distance there is larger than at
    /// `start`. `gain` is the distance that counts as a gain.
    fn secants(
        &mut self,
        (start, side): (f64, f64),
        (low, high): (f64, f64),
        gain: f64,
    ) -> Option<f64> {
        // A short first step, so that the curve bends little.
        let next = start + 0.25 * (side - start);
        let (mut a, mut b) = (self.point(next)?, self.point(start)?);
        let limit = b.distance;
        let (mut least, mut strayed) = (limit.min(a.distance), 0);
        for _ in 0..STEPS.secants {
            let x = a.x + along(self.target, &a, &b) * (b.x - a.x);
            let x = x.clamp(low, high);
            let found = self.point(x)?;
            if (x - b.x).abs() <= ROUNDED {
                return (found.distance <= limit).then_some(x);
            }
            strayed = if found.distance > least + gain {
                strayed + 1
            } else {
                0
            };
            if strayed == STEPS.strayed {
                return None;
            }
            least = least.min(found.distance);
            (a, b) = (b, found);
        }
        None
    }

    /// Minimizes the distance of the answers of a law to the target by a golden-section search over coefficients of
    /// restitution between `low` and `high`. The search ends early if it closes in on an end that is nearer than its
    /// surroundings.
    fn section(&mut self, (low, high): (f64, f64)) {
        let ends = (low, high);
        let (mut low, mut high) = ends;
        let ratio = 0.5 * (5f64.sqrt() - 1.0);
        let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
        let (mut at_left, mut at_right) = (self.at(left), self.at(right));
        for turn in 0..STEPS.reductions {
            if at_left <= at_right {
                high = right;
                (right, at_right) = (left, at_left);
                left = high - ratio * (high - low);
                at_left = self.at(left);
            } else {
                low = left;
                (left, at_left) = (right, at_right);
                right = low + ratio * (high - low);
                at_right = self.at(right);
            }
            if turn + 1 == STEPS.towards_end && self.ends_at(ends, (low, high)) {
                break;
            }
        }
    }

    /// Returns the distance at the coefficient `x`; infinity if there is no answer.
    fn at(&mut self, x: f64) -> f64 {
        self.point(x).map_or(f64::INFINITY, |p| p.distance)
    }

    /// True if the nearest coefficient is an end of the interval `ends` that is also an end of the smaller interval `now`,
    /// and coefficients beside it are not nearer.
    fn ends_at(&mut self, ends: (f64, f64), now: (f64, f64)) -> bool {
        let Some((x, _)) = self.best else {
            return false;
        };
        let beside = if x == ends.0 && x == now.0 {
            x + BESIDE
        } else if x == ends.1 && x == now.1 {
            x - BESIDE
        } else {
            return false;
        };
        self.point(beside);
        self.best.is_some_and(|(best, _)| best == x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::dvector;
    use std::cell::Cell;

    fn value(nearest: Option<Nearest>) -> f64 {
        nearest.map_or(f64::NAN, |nearest| nearest.value)
    }

    /// The nearest coefficient; NaN if no coefficient has an answer.
    fn minimum(target: f64, mut curve: impl FnMut(f64) -> Option<f64>) -> f64 {
        let target = dvector![target];
        let answer = |x: f64| curve(x).map(|y| dvector![y]);
        value(nearest_coefficient(&target, 1.0, 0.5, false, answer))
    }

    #[test]
    fn straight_and_bent_curves_are_met_to_the_last_digits() {
        let x = minimum(0.123_456_789, Some);
        assert!((x - 0.123_456_789).abs() < 1e-15);
        let x = minimum(0.3, |x| Some(x.sqrt()));
        assert!((x - 0.09).abs() < 1e-15);
        // A kink between two points of the grid.
        let x = minimum(0.9, |x| Some(x.min(0.2 + 0.5 * x)));
        assert_eq!(x, 1.0);
        let x = minimum(0.45, |x| Some(x.min(0.2 + 0.5 * x)));
        assert!((x - 0.5).abs() < 1e-14);
    }

    /// A golden section that closes in on an end ends early, unless the curve comes nearer beside the end.
    #[test]
    fn a_nearest_end_is_told_from_a_minimum_beside_it() {
        let target = dvector![-0.1];
        let count = Cell::new(0);
        let section = |bend: f64| {
            let answer = |x: f64| {
                count.set(count.get() + 1);
                Some(dvector![(x - bend).abs()])
            };
            let mut curve = Curve {
                target: &target,
                answer,
                best: None,
            };
            curve.point(0.0);
            curve.section((0.0, 0.0625));
            (curve.best.unwrap().0, count.replace(0))
        };
        assert_eq!(section(0.0), (0.0, 10));
        let (beside, asked) = section(1e-4);
        assert!((beside - 1e-4).abs() < 1e-9 && asked > 60);
    }

    #[test]
    fn the_nearest_point_of_a_bend_that_is_not_met() {
        let target = dvector![0.3, 0.0];
        let parabola = |x: f64| Some(dvector![x, 1.0 + (x - 0.4) * (x - 0.4)]);
        let x = value(nearest_coefficient(&target, 1.0, 0.0, false, parabola));
        // (x - 0.3) + 2 (x - 0.4) (1 + (x - 0.4)^2) = 0
        let y = x - 0.4;
        assert!((x - 0.3 + 2.0 * y * (1.0 + y * y)).abs() < 1e-8);
        let corner = |x: f64| Some(dvector![x, (x - 0.37).abs()]);
        let x = value(nearest_coefficient(
            &dvector![0.37, -1.0],
            1.0,
            0.0,
            false,
            corner,
        ));
        assert!((x - 0.37).abs() < 1e-9);
    }

    #[test]
    fn a_law_that_is_linear_is_asked_a_few_times() {
        let count = Cell::new(0);
        let x = minimum(0.7, |x| {
            count.set(count.get() + 1);
            Some(2.0 * x - 1.0)
        });
        assert!((x - 0.85).abs() < 1e-15 && count.get() <= 7);
    }

    /// A sequence of impacts jumps where another contact is next: the match lies in a valley that no coarse point sees.
    #[test]
    fn a_valley_behind_a_jump_is_found() {
        let sawtooth = |x: f64| Some(dvector![(x / 0.15).fract() * 0.15 + 0.1 * (x - 0.15).abs()]);
        let target = dvector![0.04];
        let nearest = nearest_coefficient(&target, 1.0, 0.0, false, sawtooth).unwrap();
        let at = sawtooth(nearest.value).unwrap();
        assert!((at[0] - 0.04).abs() <= 1e-9 && !nearest.is_proven);
        // A straight curve has no other valley.
        let straight = |x: f64| Some(dvector![x, 2.0 * x]);
        let nearest = nearest_coefficient(&dvector![0.3, 0.0], 1.0, 0.0, false, straight).unwrap();
        assert!(nearest.is_proven);
    }

    #[test]
    fn the_ends_count_and_gaps_are_passed_over() {
        assert_eq!(minimum(2.0, Some), 1.0);
        assert_eq!(minimum(0.0, |x| Some(x * x)), 0.0);
        // Noise next to an end does not move it.
        assert_eq!(
            minimum(0.0, |x| Some(if x == 0.0 { 1e-12 } else { x })),
            0.0
        );
        let x = minimum(0.2, |x| (x > 0.4).then_some(x));
        assert!((0.4..0.4001).contains(&x));
        assert!(minimum(0.0, |_| None).is_nan());
        // A guess is believed where the grid meets no answer.
        let target = dvector![0.31];
        let narrow = |x: f64| (0.305..0.31).contains(&x).then(|| dvector![x]);
        let x = value(nearest_coefficient(&target, 1.0, 0.309, false, narrow));
        assert!((0.309..0.31).contains(&x));
    }
}
