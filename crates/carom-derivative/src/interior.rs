//! Directions in the interior of an intersection of half spaces.

use carom_contact::ImpactError;
use carom_metric::{kernel, nonnegative_least_squares};
use nalgebra::{DMatrix, DVector};

/// Returns a unit vector inside a cone, which has a positive product with each of the unit vectors `rows`. The vector
/// points from the origin to the nearest point of the convex hull of `rows`. `None` if there are no rows, or if this point is no
/// farther from the origin than `least`, so that the cone is too thin.
pub(super) fn interior(
    rows: &[DVector<f64>],
    least: f64,
) -> Result<Option<DVector<f64>>, ImpactError> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let (n, m) = (first.len(), rows.len());
    let hull = DMatrix::from_fn(n + 1, m, |i, j| if i < n { rows[j][i] } else { 1.0 });
    let mut target = DVector::zeros(n + 1);
    target[n] = -1.0;
    let weights = nonnegative_least_squares(&hull, &target, 1e-14)?;
    let nearest: DVector<f64> = hull.rows(0, n) * &weights / weights.sum();
    let distance = kernel::norm(nearest.as_slice());
    Ok((distance > least).then(|| nearest / distance))
}
