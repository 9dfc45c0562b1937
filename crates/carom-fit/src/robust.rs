//! Robust statistics: medians, quantiles, centers and spreads that outliers hardly change.

use crate::tolerances::SETTLED_CENTER;
use nalgebra::{Matrix3, Vector3};

/// Returns the median of the values, which are sorted in place; `None` without values.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns a quantile of the values by linear interpolation between the sorted values. `share` is the fraction of
/// values below it, from 0 to 1. The values are sorted in place; `None` without values.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let place = share * (values.len().checked_sub(1)?) as f64;
    let low = place.floor();
    let (below, above) = (
        values.get(low as usize)?,
        values.get(place.ceil() as usize)?,
    );
    Some(below + (above - below) * (place - low))
}

/// Returns a robust estimate of the standard deviation, from the median absolute deviation:
/// $1.4826\ \mathrm{median}\lvert x - \mathrm{median}(x)\rvert$. The factor is that of the normal distribution.
/// `None` without values.
pub(crate) fn mad_sigma(values: &[f64]) -> Option<f64> {
    let mut copy = values.to_vec();
    let center = median(&mut copy)?;
    for value in &mut copy {
        *value = (*value - center).abs();
    }
    Some(1.4826 * median(&mut copy)?)
}

/// Median length of a vector of three independent standard normal components.
pub(crate) const MEDIAN_LENGTH: f64 = 1.538_172_254;

/// Largest number of iterations for a center.
pub(crate) const MAX_STEPS: usize = 500;

/// Robust center of vectors and their spreads about it (standard deviations of a component). A rotation of the
/// vectors rotates the center and leaves the spreads unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cloud {
    pub center: Vector3<f64>,
    /// Spread of a component, independent of direction.
    pub spread: f64,
    /// Spread of the component with the largest spread.
    pub widest: f64,
}

impl Cloud {
    /// Computes a robust center of vectors and their spreads (standard deviations of a component); `None` without
    /// vectors.
    ///
    /// The center is Huber's mean: deviations from the mean that are longer than $1.5\sqrt3$ spreads have a reduced
    /// weight. Their influence is that of a deviation of this length. The spread is the median distance from the
    /// spatial median (the point with the least sum of distances), divided by the median length of a standard normal
    /// vector. The widest spread is the largest [`mad_sigma`] along the principal axes of the directions of the
    /// deviations.
    pub(crate) fn new(vectors: &[Vector3<f64>]) -> Option<Self> {
        let mut start = Vector3::zeros();
        for axis in 0..3 {
            let mut values: Vec<f64> = vectors.iter().map(|v| v[axis]).collect();
            start[axis] = median(&mut values)?;
        }
        let floor = f64::EPSILON * start.norm().max(f64::MIN_POSITIVE);
        let middle = reweighted(vectors, start, |length| 1.0 / length.max(floor));
        let mut lengths: Vec<f64> = vectors.iter().map(|v| (v - middle).norm()).collect();
        let spread = median(&mut lengths)? / MEDIAN_LENGTH;
        let longest = (1.5 * 3.0_f64.sqrt() * spread).max(floor);
        let center = reweighted(vectors, middle, |length| (longest / length).min(1.0));
        let mut directions = Matrix3::zeros();
        for vector in vectors {
            let unit = (vector - middle) / (vector - middle).norm().max(floor);
            directions += unit * unit.transpose();
        }
        let mut widest = 0.0_f64;
        for axis in directions.symmetric_eigen().eigenvectors.column_iter() {
            let along: Vec<f64> = vectors.iter().map(|v| axis.dot(v)).collect();
            widest = widest.max(mad_sigma(&along)?);
        }
        Some(Self {
            center,
            spread,
            widest,
        })
    }
}

/// Computes a weighted mean of vectors whose weights depend on the distance from the mean, by iteration from `start`.
/// `weight` gives the weight for a distance.
fn reweighted(
    vectors: &[Vector3<f64>],
    start: Vector3<f64>,
    weight: impl Fn(f64) -> f64,
) -> Vector3<f64> {
    center_of(vectors.len(), start, |i, center| {
        let deviation = vectors[i] - center;
        (deviation, weight(deviation.norm()))
    })
}

/// Computes a weighted mean of `n` vectors by iteration from `start`. The closure `deviation` returns the difference
/// of vector i from the present mean, and its weight.
pub(crate) fn center_of(
    n: usize,
    start: Vector3<f64>,
    deviation: impl Fn(usize, &Vector3<f64>) -> (Vector3<f64>, f64),
) -> Vector3<f64> {
    let mut center = start;
    for _ in 0..MAX_STEPS {
        let (mut sum, mut weights) = (Vector3::zeros(), 0.0);
        for i in 0..n {
            let (deviation, w) = deviation(i, &center);
            sum += deviation * w;
            weights += w;
        }
        if !(weights > 0.0 && weights.is_finite()) {
            break;
        }
        let step = sum / weights;
        center += step;
        if step.norm() <= SETTLED_CENTER * center.norm() {
            break;
        }
    }
    center
}

/// Returns the quantiles 10, 50 and 90 % of the values; zeros without values.
pub(crate) fn three(mut values: Vec<f64>) -> [f64; 3] {
    [0.1, 0.5, 0.9].map(|share| quantile(&mut values, share).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_in_nine_does_not_move_the_spread() {
        let calm: Vec<f64> = (0..9).map(f64::from).collect();
        let mut wild = calm.clone();
        wild[8] = 1e9;
        assert_eq!(mad_sigma(&calm), Some(1.4826 * 2.0));
        assert_eq!(mad_sigma(&wild), Some(1.4826 * 2.0));
        assert_eq!(median(&mut []), None);
    }

    /// Points on a sphere and far away: the center turns with them.
    #[test]
    fn a_cloud_turns_with_its_points() {
        let near = (0..40).map(|k| {
            let t = f64::from(k);
            Vector3::new(
                1.0 + (3.0 * t).sin(),
                2.0 + (5.0 * t).cos(),
                (7.0 * t).sin(),
            )
        });
        let far = (0..3).map(|k| Vector3::new(1e3 * f64::from(k + 1), 0.0, 50.0));
        let points: Vec<Vector3<f64>> = near.chain(far).collect();
        let turn = nalgebra::Rotation3::new(Vector3::new(0.3, -1.1, 0.4));
        let turned: Vec<Vector3<f64>> = points.iter().map(|p| turn * p).collect();
        let [cloud, other] = [&points, &turned].map(|p| Cloud::new(p));
        let (Some(cloud), Some(other)) = (cloud, other) else {
            panic!("no cloud");
        };
        assert!((turn * cloud.center - other.center).norm() <= 1e-9);
        assert!((cloud.spread - other.spread).abs() <= 1e-9);
        assert!((cloud.widest - other.widest).abs() <= 1e-9 && cloud.widest >= cloud.spread);
        assert!((cloud.center - Vector3::new(1.0, 2.0, 0.0)).norm() <= 0.3);
    }
}
