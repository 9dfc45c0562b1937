//! The coefficient that brings a law nearest to an outcome.

/// Steps between 0 and 1 at which the distance is sampled before the search narrows.
const GRID: u32 = 16;

/// Distances that differ by less are the same: a point of the grid is kept then, so that fitted
/// coefficients are not ends of the interval with an error.
const NO_GAIN: f64 = 1e-9;

/// Reductions of the golden section: $0.618^{64}$ is beyond the last digit.
const REDUCTIONS: usize = 64;

/// Minimizes a distance over a coefficient in \[0, 1\]: the best point of a grid, then golden
/// section around it. `distance` is `None` where the law has no answer.
///
/// A distance falls to a match like $|x|$, so the section finds it to the last digits. Where it has
/// several valleys narrower than the grid another one may be deeper; laws have none.
pub(super) fn nearest_coefficient(
    mut distance: impl FnMut(f64) -> Option<f64>,
) -> Option<(f64, f64)> {
    let mut best: Option<(f64, f64)> = None;
    let mut value = |x: f64, best: &mut Option<(f64, f64)>| {
        let found = distance(x).unwrap_or(f64::INFINITY);
        if found.is_finite() && best.is_none_or(|(_, least)| found < least) {
            *best = Some((x, found));
        }
        found
    };
    let step = 1.0 / f64::from(GRID);
    for k in 0..=GRID {
        value(f64::from(k) * step, &mut best);
    }
    let on_grid = best?;
    let center = on_grid.0;
    let (mut low, mut high) = ((center - step).max(0.0), (center + step).min(1.0));
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (value(left, &mut best), value(right, &mut best));
    for _ in 0..REDUCTIONS {
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - ratio * (high - low);
            at_left = value(left, &mut best);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + ratio * (high - low);
            at_right = value(right, &mut best);
        }
    }
    best.filter(|(_, least)| *least < on_grid.1 - NO_GAIN)
        .or(Some(on_grid))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest coefficient, NaN if there is none.
    fn minimum(distance: impl FnMut(f64) -> Option<f64>) -> f64 {
        nearest_coefficient(distance).map_or(f64::NAN, |(x, _)| x)
    }

    #[test]
    fn a_kink_is_found_to_the_last_digits() {
        let x = minimum(|x| Some((x - 0.123_456_789).abs()));
        assert!((x - 0.123_456_789).abs() < 1e-14);
    }

    #[test]
    fn the_ends_count_and_gaps_are_passed_over() {
        assert_eq!(minimum(|x| Some(1.0 - x)), 1.0);
        assert_eq!(minimum(|x| Some(x * x)), 0.0);
        // Noise next to an end does not move it.
        assert_eq!(minimum(|x| Some(if x == 0.0 { 1e-12 } else { x })), 0.0);
        let x = minimum(|x| (x > 0.4).then_some((x - 0.2).abs()));
        assert!((0.4..0.4001).contains(&x));
        assert!(nearest_coefficient(|_| None).is_none());
    }
}
