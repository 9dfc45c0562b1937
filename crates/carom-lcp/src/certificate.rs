//! Residuals of an answer, from the problem as given and nothing else.

use crate::LcpRef;
use crate::backward::{SOLVED_ERROR, backward_error};
use crate::scalar::{exponent, larger, reduce, scale_by_power, smaller};
use crate::size::max_abs;

/// Outside this range of $\omega$ products may overflow or vanish, and all numbers are scaled.
const SAFE: std::ops::Range<f64> = 1e-270..1e270;

/// Residuals of a vector in a problem, free of units.
///
/// [`backward_error`](Self::backward_error) decides. The others use one scale for all rows,
/// $\omega = \max_{ij} |M_{ij}||z_j| + \lVert q\rVert_\infty$ with $w = Mz + q$, and overlook rows that
/// are small against it. Multiplying $M$, $q$ or $z$ by positive numbers changes nothing. Quotients
/// 0/0 are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// The natural residual $\max_i |\min(z_i/\lVert z\rVert_\infty, w_i/\omega)|$.
    pub residual: f64,
    /// $\max_i |z_i w_i| / (\lVert z\rVert_\infty \omega)$.
    pub complementarity: f64,
    /// The largest of $-z_i/\lVert z\rVert_\infty$ and $-w_i/\omega$, or 0.
    pub infeasibility: f64,
    /// The smallest relative change of the entries of $M$ and $q$, each of its own size, that makes
    /// the answer exact: with $t_i = |q_i| + \sum_j |M_{ij}| z_j$ the largest of $|w_i|/t_i$ where
    /// $z_i > 0$ and of $-w_i/t_i$ elsewhere (Oettli & Prager 1964).
    ///
    /// Positive scalings of rows of $(M, q)$ and of columns of $M$ change nothing. Evaluated in
    /// twice the precision; a method that accepts an answer at once may add a bound of the rounding
    /// of a plain evaluation, about $n 10^{-16}$, instead.
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

/// Residual and margins of an answer, for the methods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assessment {
    pub certificate: Certificate,
    /// True if the backward error is surely at most [`SOLVED_ERROR`], by a plain evaluation and a
    /// bound of its rounding.
    pub holds_by_rows: bool,
}

/// Rows with terms below this are looked at entry by entry: products may have vanished.
const VISIBLE: f64 = 1e-250;

/// A bound of the rounding of a plain sum of n products and a constant, over the sum of their sizes.
pub(crate) fn sum_rounding(n: usize) -> f64 {
    (2 * n + 4) as f64 * (f64::EPSILON / 2.0)
}

/// True if rows whose terms seem to vanish have none.
#[cold]
fn tiny_rows_are_empty(problem: LcpRef<'_>, z: &[f64], terms: &[f64]) -> bool {
    terms.iter().enumerate().all(|(i, t)| {
        let is_empty = || {
            let active = z.iter().enumerate().filter(|(_, z)| **z != 0.0);
            let mut entries = active.map(|(j, _)| problem.column(j).get(i));
            entries.all(|m| m == Some(&0.0)) && problem.vector().get(i) == Some(&0.0)
        };
        *t >= VISIBLE || is_empty()
    })
}

/// Certifies `z` (n); writes $w = Mz + q$ into `w` and the sizes of its terms,
/// $|q_i| + \sum_j |M_{ij}z_j|$, into `terms` (n each).
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

/// [`assess`] for a dimension that the compiler knows; `None` if the numbers would have to be scaled.
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

/// Adds $z m$ to `w` and $|z m|$ to `terms`; returns the largest $|z m_i|$.
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

/// Certifies `z` (n) and writes $w = Mz + q$ into `w` (n).
pub(crate) fn certify(problem: LcpRef<'_>, z: &[f64], w: &mut [f64]) -> Certificate {
    let mut terms = vec![0.0; z.len()];
    Certificate {
        // The larger of two zeros may have either sign, by processor.
        backward_error: backward_error(problem, z) + 0.0,
        ..assess(problem, z, w, &mut terms).certificate
    }
}

/// Residuals where the plain evaluation would overflow or vanish: every factor is brought to about
/// one by a power of two.
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
    // A quotient, not a product with the reciprocal, which overflows for a denormal norm.
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

/// The worst rows of every lane. NaN, which overflow brings to all rows at once, survives.
struct Worst<const N: usize> {
    residual: [f64; N],
    complementarity: [f64; N],
    infeasibility: [f64; N],
    /// Error of each row, over the terms of the row.
    backward: [f64; N],
    /// The smallest terms of a row.
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
            // Not `-natural`, which may be -0.
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
        let is_visible = || self.least[0] >= VISIBLE || tiny_rows_are_empty(problem, z, terms);
        Assessment {
            certificate,
            holds_by_rows: is_small && is_visible(),
        }
    }
}

/// The divisor that makes 0/0 = 0.
fn unit(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}
