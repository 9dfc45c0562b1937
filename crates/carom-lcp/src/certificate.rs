//! Residuals of an answer, computed from the original problem alone.

use crate::LcpRef;
use crate::backward::{SOLVED_ERROR, backward_error};
use crate::scalar::{exponent, larger, reduce, scale_by_power, smaller};
use crate::size::max_abs;
use carom_numeric::kernel::SAFE_SQUARE;

/// Range of $\omega$ within which products neither overflow nor vanish. Outside it all numbers are scaled.
const SAFE: std::ops::Range<f64> = 1e-270..1e270;

/// Dimensionless residuals that measure how well an answer $z$ solves a linear complementarity problem with
/// matrix $M$ and vector $q$.
///
/// [`backward_error`](Self::backward_error) decides if the answer counts as a solution. All other residuals are
/// relative to one scale for all rows, $\omega = \max_{ij} |M_{ij}||z_j| + \lVert q\rVert_\infty$, so that they do not
/// show errors of rows with small entries. In their definitions $w = Mz + q$. No residual changes if $M$, $q$ or $z$
/// is multiplied by a positive number. Quotients 0/0 are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Certificate {
    /// Natural residual $\max_i |\min(z_i/\lVert z\rVert_\infty, w_i/\omega)|$.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub residual: f64,
    /// Complementarity residual $\max_i |z_i w_i| / (\lVert z\rVert_\infty \omega)$.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub complementarity: f64,
    /// Largest violation of a sign: the largest of $-z_i/\lVert z\rVert_\infty$ and $-w_i/\omega$, or 0.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub infeasibility: f64,
    /// Componentwise backward error: the smallest relative change of the entries of $M$ and $q$ that makes the
    /// answer exact. With $t_i = |q_i| + \sum_j |M_{ij}| z_j$ it is the largest of $|w_i|/t_i$ where $z_i > 0$
    /// and of $-w_i/t_i$ elsewhere (Oettli & Prager 1964).
    ///
    /// Positive scalings of rows of $(M, q)$ and of columns of $M$ do not change it. It is evaluated in twice
    /// the precision. If a plain evaluation suffices to accept an answer, the value is instead that evaluation
    /// plus a bound of its rounding errors, about $n 10^{-16}$.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub backward_error: f64,
}

impl Certificate {
    pub(crate) const HOPELESS: Self = Self {
        residual: f64::INFINITY,
        complementarity: f64::INFINITY,
        infeasibility: f64::INFINITY,
        backward_error: f64::INFINITY,
    };
}

/// Certificate of an answer, and the outcome of the plain check of its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assessment {
    pub certificate: Certificate,
    /// True if the backward error is proven to be at most [`SOLVED_ERROR`]: by a plain evaluation plus a bound
    /// of its rounding errors.
    pub holds_by_rows: bool,
}

/// Returns a bound of the relative rounding error of a plain sum of `n` products and a constant. The bound is
/// relative to the sum of the magnitudes of the terms.
pub(crate) fn sum_rounding(n: usize) -> f64 {
    (2 * n + 4) as f64 * (f64::EPSILON / 2.0)
}

/// True if products cannot have underflowed: every row whose sum of magnitudes (`terms`) is below [`SAFE_SQUARE`] has
/// only terms that are exactly zero.
#[cold]
fn tiny_rows_are_empty(problem: LcpRef<'_>, z: &[f64], terms: &[f64]) -> bool {
    terms.iter().enumerate().all(|(i, t)| {
        let is_empty = || {
            let active = z.iter().enumerate().filter(|(_, z)| **z != 0.0);
            let mut entries = active.map(|(j, _)| problem.column(j).get(i));
            entries.all(|m| m == Some(&0.0)) && problem.vector().get(i) == Some(&0.0)
        };
        *t >= SAFE_SQUARE || is_empty()
    })
}

/// Computes the residuals of the answer `z` (n entries). Writes $w = Mz + q$ into `w` and the sums of the
/// magnitudes of the terms, $|q_i| + \sum_j |M_{ij}z_j|$, into `terms` (n entries each).
pub(crate) fn assess(
    problem: LcpRef<'_>,
    z: &[f64],
    w: &mut [f64],
    terms: &mut [f64],
) -> Assessment {
    let mut z_max = 0.0;
    let mut omega = 0.0;
    for ((w, term), q) in w.iter_mut().zip(terms.iter_mut()).zip(problem.vector()) {
        *w = *q;
        *term = q.abs();
    }
    for (j, &z) in z.iter().enumerate() {
        if z != 0.0 {
            z_max = larger(z_max, z.abs());
            omega = larger(omega, add_column(z, problem.column(j), w, terms));
        }
    }
    omega += problem.vector_max();
    if SAFE.contains(&omega) || (omega == 0.0 && z_max == 0.0) {
        compare(z, w, terms, z_max, omega).assessment(problem, z, terms)
    } else {
        assess_scaled(problem, z, w, terms)
    }
}

/// Computes the residuals of an answer as [`assess`] does, for a number of rows known at compile time. `columns`
/// and `vector` are the matrix $M$, column by column, and the vector $q$ of `problem`. Returns `None` if products
/// could overflow or underflow.
#[inline]
pub(crate) fn assess_fixed<const N: usize>(
    problem: LcpRef<'_>,
    columns: &[[f64; N]],
    vector: &[f64; N],
    z: &[f64; N],
    w: &mut [f64; N],
    terms: &mut [f64; N],
) -> Option<Assessment> {
    *w = *vector;
    *terms = vector.map(f64::abs);
    let mut most = [0.0; N];
    for (z, column) in z.iter().zip(columns) {
        if *z != 0.0 {
            add_products(*z, column, w, terms, &mut most);
        }
    }
    let z_max = reduce(z.map(f64::abs), larger);
    let omega = reduce(most, larger) + problem.vector_max();
    if !SAFE.contains(&omega) {
        return None;
    }
    let mut worst = Worst::<N>::new();
    worst.include(z, w, terms, (unit(z_max), omega));
    Some(worst.reduce().assessment(problem, z, terms))
}

/// Adds the column $m$ = `column` times $z$ to `w`, and the magnitudes $|z m_i|$ to `terms`. Returns the largest of
/// these magnitudes.
#[inline]
fn add_column(z: f64, column: &[f64], w: &mut [f64], terms: &mut [f64]) -> f64 {
    let (w_chunks, w_rest) = w.as_chunks_mut::<4>();
    let (term_chunks, term_rest) = terms.as_chunks_mut::<4>();
    let (chunks, rest) = column.as_chunks::<4>();
    let mut most = [0.0; 4];
    for ((w, terms), m) in w_chunks.iter_mut().zip(term_chunks).zip(chunks) {
        add_products(z, m, w, terms, &mut most);
    }
    let mut largest = [reduce(most, larger)];
    for ((w, term), m) in w_rest.iter_mut().zip(term_rest).zip(rest) {
        let (w, term) = (std::array::from_mut(w), std::array::from_mut(term));
        add_products(z, &[*m], w, term, &mut largest);
    }
    largest[0]
}

#[inline]
fn add_products<const N: usize>(
    z: f64,
    m: &[f64; N],
    w: &mut [f64; N],
    terms: &mut [f64; N],
    most: &mut [f64; N],
) {
    for k in 0..N {
        let product = z * m[k];
        w[k] += product;
        terms[k] += product.abs();
        most[k] = larger(product.abs(), most[k]);
    }
}

/// Computes the residuals of the answer `z` (n entries) and writes $w = Mz + q$ into `w` (n entries).
pub(crate) fn certify(problem: LcpRef<'_>, z: &[f64], w: &mut [f64]) -> Certificate {
    let mut terms = vec![0.0; z.len()];
    Certificate {
        // `+ 0.0` removes the sign of a zero: the larger of two zeros may have either sign, depending on the
        // processor.
        backward_error: backward_error(problem, z) + 0.0,
        ..assess(problem, z, w, &mut terms).certificate
    }
}

/// Computes the residuals of the answer `z` as [`assess`] does, where a plain evaluation would overflow or
/// underflow: every factor is first scaled to about one by a power of two.
fn assess_scaled(problem: LcpRef<'_>, z: &[f64], w: &mut [f64], terms: &mut [f64]) -> Assessment {
    let z_max = max_abs(z);
    if !z_max.is_finite() {
        w.copy_from_slice(problem.vector());
        return Assessment {
            certificate: Certificate::HOPELESS,
            holds_by_rows: false,
        };
    }
    let active = |&(_, &z): &(usize, &f64)| z != 0.0;
    let m_max = z
        .iter()
        .enumerate()
        .filter(active)
        .fold(0.0, |m, (j, _)| larger(m, max_abs(problem.column(j))));
    let q_max = problem.vector_max();
    let (em, ez, eq) = (exponent(m_max), exponent(z_max), exponent(q_max));
    let has_product = m_max > 0.0;
    let common = match (has_product, q_max > 0.0) {
        (true, true) => eq.max(em + ez),
        (true, false) => em + ez,
        _ => eq,
    };
    for ((w, s), q) in w.iter_mut().zip(terms.iter_mut()).zip(problem.vector()) {
        *w = scale_by_power(*q, -common);
        *s = w.abs();
    }
    let mut omega = 0.0;
    for (j, &z) in z.iter().enumerate().filter(active) {
        let z = scale_by_power(z, -ez);
        for ((w, s), m) in w.iter_mut().zip(terms.iter_mut()).zip(problem.column(j)) {
            let term = scale_by_power(scale_by_power(*m, -em) * z, em + ez - common);
            omega = larger(omega, term.abs());
            *w += term;
            *s += term.abs();
        }
    }
    omega += scale_by_power(q_max, -common);
    let certificate = compare(z, w, terms, z_max, omega).certificate();
    for x in w.iter_mut().chain(terms) {
        *x = scale_by_power(*x, common).clamp(f64::MIN, f64::MAX);
    }
    Assessment {
        certificate,
        holds_by_rows: false,
    }
}

fn compare(z: &[f64], w: &[f64], terms: &[f64], z_max: f64, omega: f64) -> Worst<1> {
    // Quotients are used because the reciprocal of a denormal norm would overflow.
    let units = (unit(z_max), unit(omega));
    let (z_chunks, z_rest) = z.as_chunks::<4>();
    let (w_chunks, w_rest) = w.as_chunks::<4>();
    let (term_chunks, term_rest) = terms.as_chunks::<4>();
    let mut lanes = Worst::<4>::new();
    for ((z, w), terms) in z_chunks.iter().zip(w_chunks).zip(term_chunks) {
        lanes.include(z, w, terms, units);
    }
    let mut worst = lanes.reduce();
    for ((z, w), term) in z_rest.iter().zip(w_rest).zip(term_rest) {
        worst.include(&[*z], &[*w], &[*term], units);
    }
    worst
}

/// Largest residuals found by every lane. A NaN, which overflow brings to all rows at once, is kept.
struct Worst<const N: usize> {
    residual: [f64; N],
    complementarity: [f64; N],
    infeasibility: [f64; N],
    /// Error of each row, divided by the sum of the magnitudes of its terms.
    backward: [f64; N],
    /// Smallest sum of terms of a row.
    least: [f64; N],
}

impl<const N: usize> Worst<N> {
    fn new() -> Self {
        Self {
            residual: [0.0; N],
            complementarity: [0.0; N],
            infeasibility: [0.0; N],
            backward: [0.0; N],
            least: [f64::INFINITY; N],
        }
    }

    #[inline]
    fn include(&mut self, z: &[f64; N], w: &[f64; N], terms: &[f64; N], units: (f64, f64)) {
        for k in 0..N {
            let excess = if z[k] > 0.0 { w[k].abs() } else { -w[k] };
            self.backward[k] = larger(self.backward[k], excess / unit(terms[k]));
            self.least[k] = smaller(self.least[k], terms[k]);
            let (z, w) = (z[k] / units.0, w[k] / units.1);
            let natural = smaller(z, w);
            self.residual[k] = larger(self.residual[k], natural.abs());
            self.complementarity[k] = larger(self.complementarity[k], (z * w).abs());
            // Subtraction from 0.0 instead of `-natural`, which may be -0.
            self.infeasibility[k] = larger(self.infeasibility[k], 0.0 - natural);
        }
    }

    #[inline]
    fn reduce(&self) -> Worst<1> {
        let most = |lanes: &[f64; N]| [reduce(*lanes, larger)];
        Worst {
            residual: most(&self.residual),
            complementarity: most(&self.complementarity),
            infeasibility: most(&self.infeasibility),
            backward: most(&self.backward),
            least: [reduce(self.least, smaller)],
        }
    }
}

impl Worst<1> {
    fn certificate(&self) -> Certificate {
        Certificate {
            residual: self.residual[0],
            complementarity: self.complementarity[0],
            infeasibility: self.infeasibility[0],
            backward_error: larger(self.backward[0], 0.0),
        }
    }

    #[inline]
    fn assessment(&self, problem: LcpRef<'_>, z: &[f64], terms: &[f64]) -> Assessment {
        let mut certificate = self.certificate();
        certificate.backward_error += sum_rounding(z.len());
        let is_small = certificate.backward_error <= SOLVED_ERROR;
        let is_visible = || self.least[0] >= SAFE_SQUARE || tiny_rows_are_empty(problem, z, terms);
        Assessment {
            certificate,
            holds_by_rows: is_small && is_visible(),
        }
    }
}

/// Returns `size`, or 1 if `size` is zero. The result serves as a divisor, so that 0/0 gives 0.
fn unit(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}
