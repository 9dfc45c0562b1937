//! Input numbers of a problem, and proven inequalities about them.

use super::interval::{Interval, dot, exact, norm_high, up};
use carom_contact::{ImpactError, ImpactProblem};
use carom_metric::kernel;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Symmetric positive definite matrix with a bound on its inverse. Rows and columns are multiplied by powers of two, so
/// that the diagonal is about one.
pub(super) struct Definite {
    scales: Vec<f64>,
    matrix: DMatrix<f64>,
    factor: Cholesky<f64, Dyn>,
    /// Proven lower bound of the eigenvalues of the scaled matrix.
    floor: f64,
}

impl Definite {
    /// Stores a symmetric matrix $A$, scaled to a diagonal of about one, together with a proven lower bound of its
    /// eigenvalues. Returns `None` if the matrix cannot be proven positive definite. `error` bounds the norm of the error
    /// of the given entries.
    pub(super) fn new(matrix: &DMatrix<f64>, error: f64) -> Option<Self> {
        let scales: Vec<f64> = matrix
            .diagonal()
            .iter()
            .map(|d| kernel::power_of_two_scale(d.abs().sqrt()))
            .collect();
        let n = scales.len();
        let scaled = DMatrix::from_fn(n, n, |i, j| scales[i] * matrix[(i, j)] * scales[j]);
        let largest = scales.iter().fold(0.0, |a, s| f64::max(a, s * s));
        let factor = scaled.clone().cholesky()?;
        let floor = floor(&scaled)? - up(largest * error);
        (floor > 0.0).then_some(Self {
            scales,
            matrix: scaled,
            factor,
            floor,
        })
    }

    /// Solves $Ax = g$ approximately for this matrix $A$; $x$, $g$ and $A$ are in scaled coordinates. Returns $x$, a
    /// bound on the components of $A^{-1}g - x$ for every $g$ in the intervals, and the residual $g - Ax$.
    fn solve(&self, g: &[Interval]) -> (DVector<f64>, f64, Vec<Interval>) {
        let scaled: Vec<Interval> = g
            .iter()
            .zip(&self.scales)
            .map(|(g, s)| *g * Interval::from(*s))
            .collect();
        let middle = DVector::from_iterator(scaled.len(), scaled.iter().map(|g| g.middle()));
        let x = self.factor.solve(&middle);
        let rest: Vec<Interval> = self
            .matrix
            .column_iter()
            .zip(&scaled)
            .map(|(row, g)| *g - dot(&exact(row.as_slice()), &exact(x.as_slice())))
            .collect();
        let off = up(norm_high(&rest) / self.floor);
        (x, up(off), rest)
    }

    /// Computes a proven upper bound of $g^TA^{-1}g$ for this matrix $A$ and every vector $g$ in the intervals. The
    /// bound evaluates $2g\cdot x - x^TAx + r^TA^{-1}r$ with $r = g - Ax$ and an $x$ near $A^{-1}g$.
    pub(super) fn inverse_square(&self, g: &[Interval]) -> f64 {
        let (x, off, rest) = self.solve(g);
        let x = exact(x.as_slice());
        // 2g·x - x·Ax = x·(g + r).
        let sums: Vec<Interval> = g
            .iter()
            .zip(&self.scales)
            .zip(&rest)
            .map(|((g, s), r)| *g * Interval::from(*s) + *r)
            .collect();
        let correction = Interval::from(off) * Interval::from(norm_high(&rest));
        (dot(&x, &sums) + correction).high.max(0.0)
    }

    /// Computes intervals that enclose the entries of $A^{-1}g$ for this matrix $A$ and every vector $g$ in the given
    /// intervals.
    pub(super) fn inverse(&self, g: &[Interval]) -> Vec<Interval> {
        let (x, off, _) = self.solve(g);
        let entries = x.iter().zip(&self.scales);
        entries
            .map(|(x, s)| {
                let interval = Interval::from(*x)
                    + Interval {
                        low: -off,
                        high: off,
                    };
                interval * Interval::from(*s)
            })
            .collect()
    }
}

/// Computes a proven lower bound of the smallest eigenvalue of a symmetric matrix; `None` if no positive one is found.
/// The proof is that the Cholesky factorization of the matrix minus a multiple of the identity succeeds (Rump,
/// *Verification of positive definiteness*, BIT 46, 2006).
fn floor(matrix: &DMatrix<f64>) -> Option<f64> {
    let n = matrix.nrows() as f64;
    let mut shift = 0.9 * matrix.clone().symmetric_eigenvalues().min();
    let rounding = 4.0 * (n + 2.0) * f64::EPSILON * matrix.trace();
    for _ in 0..8 {
        let proven = shift - rounding;
        if !(proven > 0.0 && proven.is_finite()) {
            return None;
        }
        let shifted = matrix - DMatrix::identity(matrix.nrows(), matrix.nrows()) * shift;
        if shifted.cholesky().is_some() {
            return Some(proven);
        }
        shift *= 0.5;
    }
    None
}

/// One contact in the caller's numbers.
pub(super) struct GivenContact {
    pub(super) normal: Vec<f64>,
    /// Tangents; empty without friction.
    pub(super) tangents: Vec<Vec<f64>>,
    pub(super) friction: f64,
}

/// The problem in the caller's numbers.
pub(super) struct Given {
    pub(super) mass: DMatrix<f64>,
    pub(super) metric: Definite,
    pub(super) velocity: Vec<f64>,
    pub(super) contacts: Vec<GivenContact>,
    /// Upper bound of the speed before the impact, $V = \lVert v^-\rVert_M$.
    pub(super) speed: f64,
}

impl Given {
    /// Takes the mass matrix, the contacts and the velocity before the impact from a problem, and computes an upper bound
    /// of the norm of this velocity in the kinetic metric.
    ///
    /// # Errors
    ///
    /// Returns [`ImpactError::UnprovenBound`] if the mass matrix cannot be proven positive definite.
    pub(super) fn new(problem: &ImpactProblem) -> Result<Self, ImpactError> {
        let contacts = problem.contacts();
        let mass = contacts.metric().mass_matrix().clone();
        let metric = Definite::new(&mass, 0.0).ok_or(ImpactError::UnprovenBound)?;
        let velocity = problem.velocity_minus().0.as_slice().to_vec();
        let given = contacts.contacts().iter().map(|contact| GivenContact {
            normal: contact.normal.0.as_slice().to_vec(),
            tangents: if contact.friction > 0.0 {
                contact
                    .tangents
                    .iter()
                    .map(|t| t.0.as_slice().to_vec())
                    .collect()
            } else {
                Vec::new()
            },
            friction: contact.friction,
        });
        let mut given = Self {
            contacts: given.collect(),
            speed: 0.0,
            mass,
            metric,
            velocity,
        };
        let v = exact(&given.velocity);
        given.speed = dot(&v, &given.momentum(&v)).root_high();
        Ok(given)
    }

    /// Computes the momentum $Mw$ of a velocity $w$ with outward rounding; $M$ is the mass matrix.
    pub(super) fn momentum(&self, w: &[Interval]) -> Vec<Interval> {
        let columns = self.mass.column_iter();
        columns
            .map(|column| dot(&exact(column.as_slice()), w))
            .collect()
    }

    /// True if every admissible impulse is proven to do nonnegative work along the velocity $w$: at every contact $i$,
    /// $J_{n,i}w \ge \mu_i\lVert J_{t,i}w\rVert$ with its normal row $J_{n,i}$, tangent rows $J_{t,i}$ and friction
    /// coefficient $\mu_i$.
    pub(super) fn is_dual(&self, w: &[f64]) -> bool {
        if w.iter().all(|x| *x == 0.0) {
            return true;
        }
        let w = exact(w);
        self.contacts.iter().all(|contact| {
            let rates: Vec<Interval> = contact
                .tangents
                .iter()
                .map(|tangent| dot(&exact(tangent), &w))
                .collect();
            let slide = up(contact.friction * norm_high(&rates));
            dot(&exact(&contact.normal), &w).low >= slide
        })
    }

    /// Computes a proven upper bound of the norm $\lVert g\rVert_{M^{-1}} = \sqrt{g^TM^{-1}g}$ of a covector $g$; $M$
    /// is the mass matrix.
    pub(super) fn norm_high(&self, g: &[Interval]) -> f64 {
        up(self.metric.inverse_square(g).sqrt())
    }
}
