//! Decides the signs of a complementary basis by componentwise error bounds in plain arithmetic, for small
//! problems.

use crate::LcpRef;
use crate::certificate::sum_rounding;
use crate::enclosure::{Enclosed, INFLATED};

/// Largest dimension; all numbers are in arrays of fixed size.
pub(crate) const MAX_SMALL_DIM: usize = 10;

/// Range of the entries of the vector and of the variables within which no product overflows.
const ORDINARY: std::ops::Range<f64> = 1e-100..1e100;

/// Smallest sum of terms of a row that can be scaled to one.
const SMALLEST_TERMS: f64 = 1e-200;

/// Bound of the error that underflow causes in the sums of a row.
const UNDERFLOW: f64 = 1e-300;

/// Bound of the relative rounding error of an entry scaled by a row and a column factor, and of a product with
/// it.
const SCALED_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Largest useful bound of the contraction and of the relative error.
const MOST: f64 = 0.5;

/// Square matrix with at most [`MAX_SMALL_DIM`] rows.
type Square = [[f64; MAX_SMALL_DIM]; MAX_SMALL_DIM];

/// Decides by proven error bounds if a complementary basis of a small problem has a nonnegative solution near `z`
/// (n entries). `basis` is `true` where $z_i$ is basic; these entries of `z` may be negative.
///
/// The system of the basis is divided by the terms $t_i = |q_i| + \sum_j |M_{ij}z_j|$ of its rows and multiplied by
/// $z_j$, so that its solution is near one in every variable. Let $R$ be an approximate inverse of the matrix $B$
/// of that system, $\rho = \lVert I - RB\rVert_\infty < 1$ and $r$ the relative residual. Then the relative error
/// of every variable is at most $\theta = \lVert |R||r| \rVert_\infty/(1-\rho)$ (Rump, *Verification methods*, Acta
/// Numerica 2010, Section 10), and the error of every other $w_i$ at most $\theta t_i$. The bounds do not depend on
/// the units of rows and variables.
///
/// Returns [`Enclosed::Unknown`] if a sign is zero to working precision, beyond [`MAX_SMALL_DIM`] rows, and for
/// numbers near the limits of their range.
#[inline]
pub(crate) fn enclose_small(problem: LcpRef<'_>, basis: &[bool], z: &[f64]) -> Enclosed {
    let n = problem.dim();
    if n > MAX_SMALL_DIM || basis.len() != n || z.len() != n {
        return Enclosed::Unknown;
    }
    let mut basic = [0; MAX_SMALL_DIM];
    let mut k = 0;
    for (j, _) in basis.iter().enumerate().filter(|(_, is_basic)| **is_basic) {
        basic[k] = j;
        k += 1;
    }
    let basic = &basic[..k];
    let is_ordinary = problem.matrix_max() < ORDINARY.end
        && problem.vector_max() < ORDINARY.end
        && basic.iter().all(|j| ORDINARY.contains(&z[*j].abs()));
    if !is_ordinary {
        return Enclosed::Unknown;
    }
    let Rows { w, terms } = Rows::new(problem, basic, z);
    let Some(error) = relative_error(problem, basic, z, (&w, &terms)) else {
        return Enclosed::Unknown;
    };
    if basic.iter().any(|j| z[*j] < 0.0) {
        return Enclosed::NoSolution;
    }
    let mut is_known = true;
    for (i, q) in problem.vector().iter().enumerate() {
        if basis[i] {
            continue;
        }
        if basic.iter().all(|j| problem.column(*j)[i] == 0.0) {
            // A row without other terms equals its constant.
            if *q < 0.0 {
                return Enclosed::NoSolution;
            }
            continue;
        }
        let radius = INFLATED * (sum_rounding(n) + error) * terms[i] + UNDERFLOW;
        // If the value is NaN, its sign is unknown.
        let is_sure = w[i].abs() > radius;
        if is_sure && w[i] < 0.0 {
            return Enclosed::NoSolution;
        }
        is_known &= is_sure;
    }
    if is_known {
        Enclosed::Solution
    } else {
        Enclosed::Unknown
    }
}

/// Values $w = q + Mz$ of the rows, with the basic variables only, and sums of the magnitudes of their terms.
struct Rows {
    w: [f64; MAX_SMALL_DIM],
    terms: [f64; MAX_SMALL_DIM],
}

impl Rows {
    #[inline]
    fn new(problem: LcpRef<'_>, basic: &[usize], z: &[f64]) -> Self {
        let n = problem.dim();
        let (mut w, mut terms) = ([0.0; MAX_SMALL_DIM], [0.0; MAX_SMALL_DIM]);
        for ((w, t), q) in w.iter_mut().zip(&mut terms).zip(problem.vector()) {
            (*w, *t) = (*q, q.abs());
        }
        for j in basic {
            let rows = w[..n].iter_mut().zip(&mut terms);
            for ((w, t), m) in rows.zip(problem.column(*j)) {
                let product = m * z[*j];
                *w += product;
                *t += product.abs();
            }
        }
        Self { w, terms }
    }
}

/// Returns a proven bound of the relative error of the basic variables of a small problem. `basic` lists their
/// indices and `z` holds approximate values. `w` is $Mz + q$, and `terms` holds the sums of the magnitudes of its
/// terms. Returns `None` if no bound below [`MOST`] is found.
#[inline]
fn relative_error(
    problem: LcpRef<'_>,
    basic: &[usize],
    z: &[f64],
    (w, terms): (&[f64; MAX_SMALL_DIM], &[f64; MAX_SMALL_DIM]),
) -> Option<f64> {
    let k = basic.len();
    let mut scaled: Square = [[0.0; MAX_SMALL_DIM]; MAX_SMALL_DIM];
    let mut residual = [0.0; MAX_SMALL_DIM];
    for (row, i) in basic.iter().enumerate() {
        let t = terms[*i];
        if t < SMALLEST_TERMS {
            return None;
        }
        let inverse = 1.0 / t;
        for (x, j) in scaled[row].iter_mut().zip(basic) {
            *x = problem.column(*j)[*i] * z[*j] * inverse;
        }
        residual[row] =
            INFLATED * (w[*i].abs() + UNDERFLOW) * inverse + sum_rounding(problem.dim());
    }
    let inverse = inverse(&scaled, k)?;
    let rounding = SCALED_ROUNDING + sum_rounding(k);
    let (mut contraction, mut error) = (0.0f64, 0.0f64);
    for (i, row) in inverse[..k].iter().enumerate() {
        let (mut off, mut first) = (0.0, 0.0);
        for j in 0..k {
            let (mut sum, mut size) = (if i == j { 1.0 } else { 0.0 }, 1.0);
            for (r, b) in row[..k].iter().zip(&scaled) {
                sum -= r * b[j];
                size += (r * b[j]).abs();
            }
            off += sum.abs() + rounding * size;
            off += UNDERFLOW / SMALLEST_TERMS * row[..k].iter().map(|r| r.abs()).sum::<f64>();
            first += row[j].abs() * residual[j];
        }
        let (off, first) = (INFLATED * off, INFLATED * first);
        // If a value is NaN, there is no bound.
        let is_bound = off < MOST && first < MOST;
        if !is_bound {
            return None;
        }
        (contraction, error) = (contraction.max(off), error.max(first));
    }
    let error = error / (1.0 - contraction);
    (error < MOST).then_some(error)
}

/// Computes an approximate inverse of the leading `k` × `k` part of a matrix by elimination with partial pivoting;
/// `None` if a pivot is zero.
#[inline]
fn inverse(matrix: &Square, k: usize) -> Option<Square> {
    let mut left = *matrix;
    let mut right: Square = [[0.0; MAX_SMALL_DIM]; MAX_SMALL_DIM];
    for (i, row) in right[..k].iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for c in 0..k {
        let mut pivot = c;
        for i in c + 1..k {
            if left[i][c].abs() > left[pivot][c].abs() {
                pivot = i;
            }
        }
        if left[pivot][c] == 0.0 {
            return None;
        }
        left.swap(c, pivot);
        right.swap(c, pivot);
        let scale = 1.0 / left[c][c];
        for x in left[c][..k].iter_mut().chain(&mut right[c][..k]) {
            *x *= scale;
        }
        let (lead, lead_right) = (left[c], right[c]);
        for i in (0..k).filter(|i| *i != c) {
            let factor = left[i][c];
            if factor != 0.0 {
                for j in 0..k {
                    left[i][j] -= factor * lead[j];
                    right[i][j] -= factor * lead_right[j];
                }
            }
        }
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enclosed(matrix: &[f64], vector: &[f64], basis: &[bool], z: &[f64]) -> Enclosed {
        enclose_small(LcpRef::new(matrix, vector).unwrap(), basis, z)
    }

    #[test]
    fn signs_that_are_not_zero_are_known_and_others_are_not() {
        let matrix = [2.0, 1.0, 1.0, 2.0];
        let both = [true, true];
        let is = |q: [f64; 2], z: [f64; 2]| enclosed(&matrix, &q, &both, &z);
        assert_eq!(is([-5.0, -6.0], [4.0 / 3.0, 7.0 / 3.0]), Enclosed::Solution);
        // Its solution is (-4, 5).
        assert_eq!(is([3.0, -6.0], [-4.0, 5.0]), Enclosed::NoSolution);
        assert_eq!(is([-5.0, -6.0], [1.0, 2.0]), Enclosed::Unknown);
        assert_eq!(is([-1.0, -2.0], [1e-17, 1.0]), Enclosed::Unknown);
        let one = [true, false];
        let is = |q: [f64; 2]| enclosed(&matrix, &q, &one, &[1.0, 0.0]);
        assert_eq!(is([-2.0, 1.0]), Enclosed::Solution);
        assert_eq!(is([-2.0, -2.0]), Enclosed::NoSolution);
        assert_eq!(is([-2.0, -1.0]), Enclosed::Unknown);
        assert_eq!(is([-2.0, -1.0 + 2f64.powi(-40)]), Enclosed::Solution);
        assert_eq!(is([-2.0, -1.0 - 2f64.powi(-40)]), Enclosed::NoSolution);
    }

    #[test]
    fn a_row_of_its_own_is_what_it_is_given_as() {
        let matrix = [1.0, 0.0, 3.0, 1.0];
        let basis = [true, false];
        for (q, expected) in [
            (0.0, Enclosed::Solution),
            (-5e-324, Enclosed::NoSolution),
            (1.0, Enclosed::Solution),
        ] {
            assert_eq!(enclosed(&matrix, &[-2.0, q], &basis, &[2.0, 0.0]), expected);
        }
        assert_eq!(
            enclosed(&[0.0], &[0.0], &[false], &[0.0]),
            Enclosed::Solution
        );
    }

    #[test]
    fn units_of_rows_and_variables_have_no_part() {
        let (m, q) = ([4.0, 1.0, 1.0, 3.0], [-6.0, -7.0]);
        let far = 2f64.powi(120);
        for rows in [[1.0, 1.0], [far, 1.0 / far], [1.0 / far, far]] {
            for columns in [[1.0, 1.0], [far, 1.0 / far], [1.0 / far, far]] {
                let matrix: Vec<f64> = (0..4)
                    .map(|k| m[k] * rows[k % 2] * columns[k / 2])
                    .collect();
                let vector = [q[0] * rows[0], q[1] * rows[1]];
                let z = [1.0 / columns[0], 2.0 / columns[1]];
                assert_eq!(
                    enclosed(&matrix, &vector, &[true, true], &z),
                    Enclosed::Solution
                );
            }
        }
        assert_eq!(
            enclosed(&[1e200], &[-1e200], &[true], &[1.0]),
            Enclosed::Unknown
        );
    }
}
