//! Eigenvalues of the derivative of a return map, with their errors.

use crate::{AnalyseError, Settings};
use nalgebra::{Complex, DMatrix, DVector};

/// Multiplier of a periodic orbit: an eigenvalue of the derivative of its return map.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Multiplier {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
    /// Estimated error of both parts.
    pub error: f64,
}

impl Multiplier {
    /// Returns the absolute value.
    pub fn modulus(&self) -> f64 {
        libm::hypot(self.re, self.im)
    }

    /// Returns the distance from 1.
    pub(crate) fn off_one(&self) -> f64 {
        libm::hypot(self.re - 1.0, self.im)
    }
}

/// Returns the eigenvalues of a matrix, sorted by falling modulus; of a pair that with the positive imaginary part first. Zeros by
/// the loss of rank are exact: the settings have the relative singular value below which a direction is lost. `change` is an estimate of the
/// error of the matrix.
pub(crate) fn multipliers(
    matrix: &DMatrix<f64>,
    change: &DMatrix<f64>,
    settings: &Settings,
) -> Result<Vec<Multiplier>, AnalyseError> {
    let (n, rank) = (matrix.nrows(), settings.rank);
    let fails = || AnalyseError::NoOrbit {
        reason: "the eigenvalues of the return map are not found".to_owned(),
    };
    let svd = matrix.clone().svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Err(fails());
    };
    let largest = svd.singular_values.max();
    let kept: Vec<usize> = (0..n)
        .filter(|k| svd.singular_values[*k] > rank * largest.max(f64::MIN_POSITIVE))
        .collect();
    let r = kept.len();
    let zero = Multiplier {
        re: 0.0,
        im: 0.0,
        error: rank * largest,
    };
    let mut out = vec![zero; n - r];
    if r > 0 {
        // With A = U S V^T of rank r, the eigenvalues of A other than zero are those of S V^T U.
        let left = DMatrix::from_fn(n, r, |i, k| u[(i, kept[k])]);
        let right = DMatrix::from_fn(r, n, |k, j| {
            svd.singular_values[kept[k]] * v_t[(kept[k], j)]
        });
        let core = &right * &left;
        let moved = left.transpose() * change * &left;
        let moved = moved.norm() + n as f64 * f64::EPSILON * matrix.norm();
        let schur = nalgebra::Schur::try_new(core.clone(), f64::EPSILON, settings.steps)
            .ok_or_else(fails)?;
        for value in schur.complex_eigenvalues().iter() {
            let condition = condition(&core, *value);
            out.push(Multiplier {
                re: value.re,
                im: value.im,
                error: moved * condition,
            });
        }
    }
    out.sort_by(|a, b| {
        let by_modulus = b.modulus().total_cmp(&a.modulus());
        // Members of a pair have the same modulus but for rounding.
        let is_pair = a.re == b.re && a.im == -b.im;
        if is_pair {
            b.im.total_cmp(&a.im)
        } else {
            by_modulus
        }
    });
    Ok(out)
}

/// Returns the condition of an eigenvalue, $\lVert x\rVert\lVert y\rVert/\lvert y^Hx\rvert$ with its right and left eigenvectors.
fn condition(matrix: &DMatrix<f64>, value: Complex<f64>) -> f64 {
    let n = matrix.nrows();
    let complex = matrix.map(|x| Complex::new(x, 0.0));
    let shift = matrix.norm() * f64::EPSILON;
    let shifted = &complex - DMatrix::identity(n, n) * (value + Complex::new(shift, shift));
    let vector = |m: DMatrix<Complex<f64>>| {
        let lu = m.lu();
        let mut x = DVector::from_fn(n, |i, _| Complex::new(1.0, 0.1 * i as f64));
        for _ in 0..3 {
            x = lu.solve(&x)?;
            let size = x.norm();
            x /= Complex::new(size, 0.0);
        }
        Some(x)
    };
    match (vector(shifted.clone()), vector(shifted.adjoint())) {
        (Some(x), Some(y)) => {
            let product = y.dotc(&x);
            let product = libm::hypot(product.re, product.im);
            if product > 0.0 {
                1.0 / product
            } else {
                f64::INFINITY
            }
        }
        _ => f64::INFINITY,
    }
}
