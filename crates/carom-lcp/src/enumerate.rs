//! All complementary bases of a small problem.

use crate::lemke::basic_solution;
use crate::{LcpError, LcpRef, LcpSolution, LcpStatus, LemkeWorkspace};
use nalgebra::{DMatrix, DVector};

/// Largest dimension: 65 536 bases.
pub const MAX_ENUMERATE_DIM: usize = 16;

/// Residual of a basic solution, whose equations are solved to the last digits.
const RESIDUAL: f64 = 1e-13;

/// A singular value below this fraction of the largest is zero.
const RANK: f64 = 1e-12;

/// Two solutions closer than this are the same.
const SAME: f64 = 1e-9;

/// Every basic solution of a problem, and how they hang together.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumeration {
    /// The distinct basic solutions, in the order of their bases (the basis of all $w$ first,
    /// $z_0$ toggled fastest).
    pub solutions: Vec<LcpSolution>,
    /// Pairs of solutions, each complementary to the other: every point between them is a
    /// solution too.
    pub segments: Vec<(usize, usize)>,
    /// Directions $u \ge 0$ of largest entry 1 with $Mu \ge 0$ and $u^TMu = 0$: basic solutions
    /// for $q = 0$.
    pub directions: Vec<DVector<f64>>,
    /// Solution and direction: every point of the ray from one along the other is a solution.
    pub rays: Vec<(usize, usize)>,
    /// Bases that are singular, out of $2^n$.
    pub n_singular: usize,
}

/// Tries all $2^n$ complementary bases.
///
/// A problem whose matrix is nondegenerate (no singular basis) has no other solutions than these.
///
/// # Errors
///
/// [`LcpError::TooLarge`] beyond [`MAX_ENUMERATE_DIM`].
///
/// # Examples
///
/// Two identical contacts share one impulse in any way: two basic solutions and all between.
///
/// ```
/// use carom_lcp::{Lcp, enumerate};
/// use nalgebra::{dmatrix, dvector};
/// let lcp = Lcp::new(dmatrix![1.0, 1.0; 1.0, 1.0], dvector![-1.0, -1.0])?;
/// let all = enumerate(lcp.view())?;
/// assert_eq!((all.solutions.len(), all.segments.len(), all.rays.len()), (2, 1, 0));
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
pub fn enumerate(problem: LcpRef<'_>) -> Result<Enumeration, LcpError> {
    let n = problem.dim();
    if n > MAX_ENUMERATE_DIM {
        return Err(LcpError::TooLarge {
            n,
            max: MAX_ENUMERATE_DIM,
        });
    }
    let mut all = Enumeration {
        solutions: Vec::new(),
        segments: Vec::new(),
        directions: Vec::new(),
        rays: Vec::new(),
        n_singular: 0,
    };
    let matrix = DMatrix::from_column_slice(n, n, problem.matrix());
    let mut workspace = LemkeWorkspace::new();
    for mask in 0..1usize << n {
        let support: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
        all.visit(problem, &matrix, &support, &mut workspace);
    }
    all.connect(&matrix);
    Ok(all)
}

impl Enumeration {
    fn visit(
        &mut self,
        problem: LcpRef<'_>,
        matrix: &DMatrix<f64>,
        support: &[usize],
        workspace: &mut LemkeWorkspace,
    ) {
        let k = support.len();
        let mut basis = vec![false; problem.dim()];
        support.iter().for_each(|i| basis[*i] = true);
        // Rows and columns at largest entry one, so that no unit decides what is singular.
        let mut block = DMatrix::from_fn(k, k, |i, j| matrix[(support[i], support[j])]);
        for i in 0..k {
            let largest = block.row(i).amax();
            if largest > 0.0 {
                block.row_mut(i).unscale_mut(largest);
            }
        }
        let column_max: Vec<f64> = block.column_iter().map(|column| column.amax()).collect();
        for (j, largest) in column_max.iter().enumerate() {
            if *largest > 0.0 {
                block.column_mut(j).unscale_mut(*largest);
            }
        }
        if k == 0 || smallest_pivot(&block) > RANK {
            match basic_solution(problem, &basis, workspace) {
                Some((z, residual)) if residual <= RESIDUAL => {
                    self.keep_solution(problem, DVector::from_column_slice(z));
                }
                _ => {}
            }
            return;
        }
        self.n_singular += 1;
        let Some(v_t) = block.svd(false, true).v_t else {
            return;
        };
        // The last right singular vector; with a larger null space smaller supports decide.
        let x = v_t.row(k - 1).transpose();
        let x = if x.sum() < 0.0 { -x } else { x };
        if x.iter().all(|x| *x >= -RANK.sqrt() * 1e-3) {
            let mut u = DVector::zeros(problem.dim());
            for ((i, x), largest) in support.iter().zip(x.iter()).zip(&column_max) {
                u[*i] = if *largest > 0.0 { x / largest } else { *x };
            }
            self.keep_direction(matrix, u);
        }
    }

    fn keep_solution(&mut self, problem: LcpRef<'_>, z: DVector<f64>) {
        let largest = z.amax();
        if !largest.is_finite() {
            return;
        }
        let is_known = |known: &LcpSolution| (&known.z - &z).amax() <= SAME * largest;
        if self.solutions.iter().any(is_known) {
            return;
        }
        let solution = LcpSolution::judged(problem, z, LcpStatus::Inaccurate, 0);
        if solution.certificate.residual <= RESIDUAL {
            self.solutions.push(solution);
        }
    }

    fn keep_direction(&mut self, matrix: &DMatrix<f64>, u: DVector<f64>) {
        let u = u.map(|u| u.max(0.0));
        let largest = u.amax();
        if largest <= 0.0 || !largest.is_finite() {
            return;
        }
        let u = u / largest;
        let w = matrix * &u;
        let size = term_size(matrix, &u);
        let is_solution =
            |(u, w): (&f64, &f64)| *w >= -SAME * size && (*u <= SAME || w.abs() <= SAME * size);
        let is_new = |known: &DVector<f64>| (known - &u).amax() > SAME;
        if u.iter().zip(w.iter()).all(is_solution) && self.directions.iter().all(is_new) {
            self.directions.push(u);
        }
    }

    fn connect(&mut self, matrix: &DMatrix<f64>) {
        for (i, a) in self.solutions.iter().enumerate() {
            for (j, b) in self.solutions.iter().enumerate().skip(i + 1) {
                if crosses(matrix, a, &b.z, &b.w) && crosses(matrix, b, &a.z, &a.w) {
                    self.segments.push((i, j));
                }
            }
            for (j, u) in self.directions.iter().enumerate() {
                let mu = matrix * u;
                if crosses(matrix, a, u, &mu) {
                    self.rays.push((i, j));
                }
            }
        }
    }
}

/// The smallest pivot of a square matrix under complete pivoting.
fn smallest_pivot(block: &DMatrix<f64>) -> f64 {
    let lu = block.clone().full_piv_lu();
    let pivots = lu.u().diagonal();
    pivots.iter().fold(f64::INFINITY, |m, u| m.min(u.abs()))
}

/// Whether $z^Tv = 0$ and $u^Tw = 0$ up to rounding, for a solution $(z, w)$ and another pair.
fn crosses(
    matrix: &DMatrix<f64>,
    solution: &LcpSolution,
    u: &DVector<f64>,
    v: &DVector<f64>,
) -> bool {
    let (z_max, u_max) = (solution.z.amax(), u.amax());
    let w_size = term_size(matrix, &solution.z).max(solution.w.amax());
    let v_size = term_size(matrix, u).max(v.amax());
    let is_zero = |x: f64, size: f64| x.abs() <= SAME * size;
    (0..u.len()).all(|i| {
        (is_zero(solution.z[i], z_max) || is_zero(v[i], v_size))
            && (is_zero(u[i], u_max) || is_zero(solution.w[i], w_size))
    })
}

/// The largest $|M_{ij}||z_j|$.
fn term_size(matrix: &DMatrix<f64>, z: &DVector<f64>) -> f64 {
    let columns = matrix.column_iter().zip(z.iter());
    columns.fold(0.0, |m, (column, z)| m.max(column.amax() * z.abs()))
}
