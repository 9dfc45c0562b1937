//! Nonnegative least squares by an active-set method, used for plastic impacts and for the detection of jams.

use crate::event_scale::ROUNDING;
use crate::tolerances::DEPENDENT_COLUMN;
use crate::{ImpactError, Unsolved};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Returns an $x$ that minimizes $\lVert z + Yx\rVert$ over $x \ge 0$, with the matrix $Y$ (`y`) and the vector $z$ (`z`).
///
/// Uses Lawson and Hanson's method. The passive columns stay linearly independent, so $Y$ may have dependent columns. Each
/// inner solve is a QR factorization of the columns themselves, never of their Gram matrix. The residual $z + Yx$ is unique;
/// $x$ is one minimizer. A gradient $y_j\cdot(z + Yx)$ counts as zero if its magnitude is less than `tolerance` times the
/// sum of the magnitudes of its terms, $\sum_k|y_{jk}|(|z_k| + \sum_i|y_{ik}x_i|)$.
///
/// # Errors
///
/// [`ImpactError::NotSolved`]; not seen in practice, since the objective decreases strictly.
pub fn nonnegative_least_squares(
    y: &DMatrix<f64>,
    z: &DVector<f64>,
    tolerance: f64,
) -> Result<DVector<f64>, ImpactError> {
    minimize(y, z, tolerance, 0.0)
}

/// Returns impulses $x \ge 0$ along unit normals, the columns of $Y$, that minimize the norm of the momentum $z + Yx$. Normals
/// and momentum are whitened, that is, in coordinates in which the kinetic metric is Euclidean.
///
/// The method is that of [`nonnegative_least_squares`]. A gradient, which is a normal velocity here, also counts as zero if the rounding of
/// the momentum explains it: up to $2^{-50}\lVert z\rVert$.
///
/// # Errors
///
/// The errors of [`nonnegative_least_squares`].
pub fn plastic_impulses(
    y: &DMatrix<f64>,
    z: &DVector<f64>,
    tolerance: f64,
) -> Result<DVector<f64>, ImpactError> {
    minimize(y, z, tolerance, ROUNDING * z.norm())
}

/// Minimizes $\lVert z + Yx\rVert$ over $x \ge 0$. A gradient counts as zero if its magnitude is at most `rounding`, or less than
/// `tolerance` times the sum of the magnitudes of its terms.
fn minimize(
    y: &DMatrix<f64>,
    z: &DVector<f64>,
    tolerance: f64,
    rounding: f64,
) -> Result<DVector<f64>, ImpactError> {
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
        let is_free = |j: usize| !refused[j] && !passive.contains(&j);
        let is_rounding =
            |gradient: f64, size: f64| gradient.abs() <= f64::max(tolerance * size, rounding);
        let Some(entering) = most_violated(y, &residual, &terms, is_free, is_rounding) else {
            return Ok(x);
        };
        let before = (x.clone(), passive.clone());
        passive.push(entering);
        let accepted = settle(y, z, &mut x, &mut passive, entering);
        // After this many iterations a step without progress is rounding: it would be undone and repeated for ever.
        let is_late = iteration > 5 * m + 5;
        if accepted && !(is_late && (z + y * &x).norm() >= residual.norm()) {
            refused.fill(false);
        } else {
            (x, passive) = before;
            refused[entering] = true;
        }
    }
    let reason = Unsolved::Projection { iterations: limit };
    Err(ImpactError::NotSolved(reason))
}

/// Returns the free column with the most negative gradient. `is_rounding` decides from the gradient and the sum of the
/// magnitudes of its terms if the gradient counts as zero.
fn most_violated(
    y: &DMatrix<f64>,
    residual: &DVector<f64>,
    terms: &DVector<f64>,
    is_free: impl Fn(usize) -> bool,
    is_rounding: impl Fn(f64, f64) -> bool,
) -> Option<usize> {
    let mut worst = 0.0;
    let mut entering = None;
    for j in (0..y.ncols()).filter(|j| is_free(*j)) {
        let b = y.column(j).dot(residual);
        let size: f64 = y
            .column(j)
            .iter()
            .zip(terms)
            .map(|(y, t)| y.abs() * t)
            .sum();
        if b < worst && !is_rounding(b, size) {
            worst = b;
            entering = Some(j);
        }
    }
    entering
}

/// Solves the least-squares problem on the columns in `passive` (those with positive unknowns), and removes columns whose
/// unknowns would become negative. `y`, `z` and `x` are matrix, right-hand side and solution. Returns true if the column
/// `entering` stays; otherwise the gradient that made it enter was rounding.
fn settle(
    y: &DMatrix<f64>,
    z: &DVector<f64>,
    x: &mut DVector<f64>,
    passive: &mut Vec<usize>,
    entering: usize,
) -> bool {
    let mut first = true;
    while !passive.is_empty() {
        let Some(target) = least_squares(&y.select_columns(passive.iter()), z) else {
            passive.retain(|&j| j != entering);
            return false;
        };
        if first {
            let place = passive.iter().position(|&j| j == entering);
            if place.is_none_or(|place| target[place] <= 0.0) {
                passive.retain(|&j| j != entering);
                return false;
            }
            first = false;
        }
        let mut step = 1.0;
        for (k, &j) in passive.iter().enumerate() {
            if target[k] <= 0.0 {
                step = f64::min(step, x[j] / (x[j] - target[k]));
            }
        }
        for (k, &j) in passive.iter().enumerate() {
            let moved = x[j] + step * (target[k] - x[j]);
            let blocked = target[k] <= 0.0 && x[j] <= step * (x[j] - target[k]) * (1.0 + 1e-15);
            x[j] = if step < 1.0 && blocked { 0.0 } else { moved };
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
