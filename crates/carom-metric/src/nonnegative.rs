//! Projection onto a cone: nonnegative least squares by an active-set method.

use carom_numeric::kernel;
use nalgebra::{DMatrix, DVector};

/// Ratio of a diagonal entry of a QR factor to the largest entry of the matrix, and of a singular value of unit rows to the
/// largest, below which columns are linearly dependent.
pub const DEPENDENT_COLUMN: f64 = 1e-11;

/// An active-set projection that ends in exact arithmetic did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the active-set projection did not settle within {iterations} iterations; other units may help"
)]
#[non_exhaustive]
pub struct Unsettled {
    /// Iterations made.
    pub iterations: usize,
}

/// Returns an $x$ that minimizes $\lVert z + Yx\rVert$ over $x \ge 0$, with the matrix $Y$ (`y`) and the vector $z$ (`z`): impulses
/// along unit normals, for example, that minimize the norm of a whitened momentum.
///
/// Uses Lawson and Hanson's method. The passive columns stay linearly independent, so $Y$ may have dependent columns. Each
/// inner solve is a QR factorization of the columns themselves, never of their Gram matrix. The residual $z + Yx$ is unique;
/// $x$ is one minimizer. A gradient $y_j\cdot(z + Yx)$ counts as zero if its magnitude is less than `tolerance` times the
/// sum of the magnitudes of its terms, $\sum_k|y_{jk}|(|z_k| + \sum_i|y_{ik}x_i|)$.
///
/// # Errors
///
/// [`Unsettled`]; not seen in practice, since the objective decreases strictly.
pub fn nonnegative_least_squares(
    y: &DMatrix<f64>,
    z: &DVector<f64>,
    tolerance: f64,
) -> Result<DVector<f64>, Unsettled> {
    let m = y.ncols();
    let mut x = DVector::zeros(m);
    let mut passive: Vec<usize> = Vec::with_capacity(m);
    let mut refused = vec![false; m];
    let limit = 10 * m + 10;
    for iteration in 0..limit {
        let mut residual = z.clone();
        let mut terms = z.abs();
        for (column, &x) in y.column_iter().zip(x.iter()) {
            if x != 0.0 {
                residual.axpy(x, &column, 1.0);
                terms.zip_apply(&column, |terms, y| *terms += (x * y).abs());
            }
        }
        // The free column with the most negative gradient.
        let (mut steepest, mut entering) = (0.0, None);
        for (j, column) in y.column_iter().enumerate() {
            let gradient = column.dot(&residual);
            if refused[j] || passive.contains(&j) || !(gradient < steepest) {
                continue;
            }
            let size = column.iter().zip(terms.iter());
            let size: f64 = size.map(|(y, terms)| (y * terms).abs()).sum();
            if -gradient > tolerance * size {
                (steepest, entering) = (gradient, Some(j));
            }
        }
        let Some(entering) = entering else {
            return Ok(x);
        };
        let before = (x.clone(), passive.clone());
        passive.push(entering);
        let accepted = settle(y, z, &mut x, &mut passive);
        // After this many iterations a step without progress is rounding: it would be undone and repeated for ever.
        let is_late = iteration > 5 * m + 5;
        if accepted && !(is_late && (z + y * &x).norm() >= residual.norm()) {
            refused.fill(false);
        } else {
            (x, passive) = before;
            refused[entering] = true;
        }
    }
    Err(Unsettled { iterations: limit })
}

/// Returns a unit vector inside a cone, which has a positive product with each of the unit vectors `rows`. The vector
/// points from the origin to the nearest point of the convex hull of `rows`; by Gordan's theorem, this point is the origin
/// exactly if no such vector exists. `None` if there are no rows, or if the point is no farther from the origin than `least`, so
/// that the cone is too thin.
///
/// # Errors
///
/// Errors of [`nonnegative_least_squares`].
pub fn interior_direction(
    rows: &[DVector<f64>],
    least: f64,
) -> Result<Option<DVector<f64>>, Unsettled> {
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

/// Solves the least-squares problem on the columns in `passive` (those with positive unknowns), and removes columns whose
/// unknowns would become negative. `y`, `z` and `x` are matrix, right-hand side and solution. Returns false if the last column,
/// which enters, depends on the others, or if its unknown is not positive: the gradient that made it enter was rounding.
fn settle(
    y: &DMatrix<f64>,
    z: &DVector<f64>,
    x: &mut DVector<f64>,
    passive: &mut Vec<usize>,
) -> bool {
    let mut is_first = true;
    while !passive.is_empty() {
        let Some(target) = least_squares(&y.select_columns(passive.iter()), z) else {
            return false;
        };
        if is_first && !(target[passive.len() - 1] > 0.0) {
            return false;
        }
        is_first = false;
        // The longest step that keeps every unknown from becoming negative.
        let ratio = |(k, j): (usize, &usize)| {
            if target[k] <= 0.0 {
                x[*j] / (x[*j] - target[k])
            } else {
                f64::INFINITY
            }
        };
        let ratios: Vec<f64> = passive.iter().enumerate().map(ratio).collect();
        let step = ratios.iter().copied().fold(1.0, f64::min);
        for (k, &j) in passive.iter().enumerate() {
            let is_blocked = step < 1.0 && ratios[k] <= step * (1.0 + 1e-15);
            x[j] = if is_blocked {
                0.0
            } else {
                x[j] + step * (target[k] - x[j])
            };
        }
        if step >= 1.0 {
            break;
        }
        passive.retain(|&j| x[j] > 0.0);
    }
    true
}

/// Computes the least-squares solution of $Yx = -z$; `None` if the columns of $Y$ are linearly dependent.
fn least_squares(y: &DMatrix<f64>, z: &DVector<f64>) -> Option<DVector<f64>> {
    if y.ncols() > y.nrows() {
        return None;
    }
    let scale = kernel::max_abs(y.as_slice());
    let qr = y.clone().qr();
    let r = qr.r();
    if (0..r.ncols()).any(|i| r[(i, i)].abs() <= DEPENDENT_COLUMN * scale) {
        return None;
    }
    let mut rhs = -z.clone();
    qr.q_tr_mul(&mut rhs);
    let mut x = rhs.rows(0, y.ncols()).into_owned();
    r.solve_upper_triangular_mut(&mut x).then_some(x)
}
