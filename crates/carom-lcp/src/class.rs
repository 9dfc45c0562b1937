//! Classes of matrices, and the theorems on the problems that they pose.

use crate::LcpError;
use crate::problem::check_finite;
use carom_numeric::decisions::RANK;
use nalgebra::DMatrix;

/// Largest dimension of a matrix for which the class tests examine all principal submatrices, for example to decide if
/// the matrix is a P matrix. Larger matrices get the answer [`Verdict::TooLarge`].
pub const MAX_CLASS_DIM: usize = 14;

/// Answer of a floating-point test if a matrix has a property, such as positive definiteness. Each entry of
/// [`MatrixClass`] is such an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// The property holds, with a margin over rounding errors.
    Yes,
    /// The property does not hold, with a margin over rounding errors.
    No,
    /// The property is undecided: the value is within rounding errors of the boundary of the class.
    Borderline,
    /// The matrix is too large for this test.
    TooLarge,
}

impl Verdict {
    fn of_positive(value: f64, size: f64) -> Self {
        if value > RANK * size {
            Self::Yes
        } else if value < -RANK * size {
            Self::No
        } else {
            Self::Borderline
        }
    }
}

/// Classes to which the matrix $M$ of a linear complementarity problem belongs, such as P or copositive matrices. The
/// classes tell if a solution exists and if Lemke's method finds it.
///
/// | class | definition | theorem (Cottle, Pang & Stone 1992) |
/// | --- | --- | --- |
/// | positive definite | $x^TMx > 0$ | one solution for every $q$ (3.1.6) |
/// | positive semidefinite | $x^TMx \ge 0$ | a solution if feasible; solutions are convex (3.1.2, 3.1.7); a ray means infeasible (4.4.12) |
/// | P | all principal minors positive | one solution for every $q$, exactly this class (3.3.7); no ray (4.4.10) |
/// | Z | off-diagonal entries $\le 0$ | a least solution if feasible (3.11.6) |
/// | strictly copositive | $x^TMx > 0$ for $x \ge 0$ | a solution for every $q$ (3.8.5); no ray (4.4.10) |
/// | copositive | $x^TMx \ge 0$ for $x \ge 0$ | a solution if $q^Tv \ge 0$ for all solutions $v$ of the problem with $q = 0$ (3.8.6); then no ray |
///
/// Borderline verdicts matter: contact matrices with redundant contacts are singular by
/// construction, so semidefiniteness and copositivity can be refuted but not proven in floating
/// point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixClass {
    /// True if the matrix equals its transpose to the last bit.
    pub is_symmetric: bool,
    /// Verdict on positive definiteness, for symmetric and other matrices; [`Verdict::Borderline`] if the matrix is
    /// only semidefinite.
    pub positive_definite: Verdict,
    /// Verdict on the class of P matrices (n up to [`MAX_CLASS_DIM`]).
    pub p: Verdict,
    /// True if the matrix is a Z matrix.
    pub is_z: bool,
    /// Verdict on strict copositivity (n up to [`MAX_CLASS_DIM`]); [`Verdict::Borderline`] if only
    /// copositive.
    pub strictly_copositive: Verdict,
}

impl MatrixClass {
    /// Determines the classes of a square matrix, such as positive definite, P or copositive.
    ///
    /// # Errors
    ///
    /// [`LcpError::NotSquare`], [`LcpError::NonFinite`].
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_lcp::{MatrixClass, Verdict};
    /// use nalgebra::dmatrix;
    /// // Copositive, but neither positive semidefinite nor P.
    /// let class = MatrixClass::of(&dmatrix![1.0, 2.0; 2.0, 1.0])?;
    /// assert_eq!(class.strictly_copositive, Verdict::Yes);
    /// assert_eq!((class.positive_definite, class.p), (Verdict::No, Verdict::No));
    /// # Ok::<(), carom_lcp::LcpError>(())
    /// ```
    pub fn of(matrix: &DMatrix<f64>) -> Result<Self, LcpError> {
        let (rows, columns) = matrix.shape();
        if rows != columns {
            return Err(LcpError::NotSquare { rows, columns });
        }
        check_finite("matrix", matrix.as_slice())?;
        let n = rows;
        // Scaling by a power of two keeps the signs and avoids overflow.
        let unit = crate::scalar::power_of_two(-crate::scalar::exponent(matrix.amax()));
        let matrix = matrix * unit;
        let symmetric = 0.5 * (&matrix + matrix.transpose());
        let off_diagonal = |i: usize, j: usize| i == j || matrix[(i, j)] <= 0.0;
        let is_small = n <= MAX_CLASS_DIM;
        Ok(Self {
            is_symmetric: matrix == matrix.transpose(),
            positive_definite: positive_definite(&symmetric),
            p: if is_small {
                principal_minors(matrix.clone())
            } else {
                Verdict::TooLarge
            },
            is_z: (0..n).all(|i| (0..n).all(|j| off_diagonal(i, j))),
            strictly_copositive: if is_small {
                let least = least_value_on_simplex(&symmetric);
                Verdict::of_positive(least, symmetric.amax())
            } else {
                Verdict::TooLarge
            },
        })
    }

    /// Returns a sentence that explains what it means for a matrix of this class if Lemke's method fails because it
    /// ends on a secondary ray.
    pub fn explain_ray(&self) -> &'static str {
        match self {
            Self {
                positive_definite: Verdict::Yes,
                ..
            }
            | Self {
                p: Verdict::Yes, ..
            }
            | Self {
                strictly_copositive: Verdict::Yes,
                ..
            } => "a ray is impossible for this class: the path was lost to rounding",
            Self {
                positive_definite: Verdict::Borderline,
                ..
            } => "for a positive semidefinite matrix a ray means that the problem is infeasible",
            Self {
                strictly_copositive: Verdict::Borderline,
                ..
            } => {
                "for a copositive matrix a ray means that some solution v for q = 0 has q.v < 0; \
                 a solution may exist all the same"
            }
            _ => "the matrix is in no class that the method processes: a ray decides nothing",
        }
    }
}

fn positive_definite(symmetric: &DMatrix<f64>) -> Verdict {
    if symmetric.is_empty() {
        return Verdict::Yes;
    }
    let eigenvalues = symmetric.clone().symmetric_eigenvalues();
    Verdict::of_positive(eigenvalues.min(), eigenvalues.amax())
}

/// Decides if all principal minors of a matrix are positive (P-matrix). Recursive test: each index is either
/// eliminated or dropped, and the leading entry of every Schur complement reached must be positive.
///
/// Tsatsomeros & Li, *A recursive test for P-matrices*, 2000.
fn principal_minors(matrix: DMatrix<f64>) -> Verdict {
    let n = matrix.nrows();
    if n == 0 {
        return Verdict::Yes;
    }
    let pivot = Verdict::of_positive(matrix[(0, 0)], matrix.amax());
    if pivot != Verdict::Yes || n == 1 {
        return pivot;
    }
    let rest = matrix.view((1, 1), (n - 1, n - 1)).into_owned();
    let column = matrix.view((1, 0), (n - 1, 1));
    let row = matrix.view((0, 1), (1, n - 1));
    let complement = &rest - column * row / matrix[(0, 0)];
    match principal_minors(rest) {
        Verdict::Yes => principal_minors(complement),
        Verdict::Borderline => match principal_minors(complement) {
            Verdict::Yes => Verdict::Borderline,
            other => other,
        },
        other => other,
    }
}

/// Computes the least value of $x^TAx$ over $x \ge 0$, $\sum_i x_i = 1$, for the symmetric matrix $A$ (n × n, n ≥
/// 1).
///
/// A minimizer $x$ has some set $S$ of nonzero entries, so that every subset of the indices is tried as $S$. The
/// stationary point for $S$ satisfies $A_{SS}x = \lambda e$ and $e^Tx = 1$, with $e$ the vector of ones; $\lambda$ is
/// the value of $x^TAx$. A subset with a singular system may be skipped: its minimizers form a line, along which
/// another minimizer with fewer nonzero entries is reached.
fn least_value_on_simplex(symmetric: &DMatrix<f64>) -> f64 {
    let n = symmetric.nrows();
    let mut least = if n == 0 { 1.0 } else { f64::INFINITY };
    for mask in 1..1usize << n {
        let support: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
        let k = support.len();
        let bordered = DMatrix::from_fn(k + 1, k + 1, |i, j| match (i == k, j == k) {
            (false, false) => symmetric[(support[i], support[j])],
            (true, true) => 0.0,
            _ => 1.0,
        });
        let mut right = nalgebra::DVector::zeros(k + 1);
        right[k] = 1.0;
        let Some(x) = bordered.full_piv_lu().solve(&right) else {
            continue;
        };
        if x.rows(0, k).iter().all(|x| *x >= 0.0 && *x <= 2.0) {
            least = least.min(-x[k]);
        }
    }
    least
}
