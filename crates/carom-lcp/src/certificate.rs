//! Residuals of an answer, from the problem as given and nothing else.

use crate::scalar::{exponent, larger, reduce, scale_by_power, smaller};
use crate::{LcpRef, LcpStatus};

/// An answer counts as a solution up to this residual.
pub const SOLVED_RESIDUAL: f64 = 1e-9;

/// Outside this range of $\omega$ products may overflow or vanish, and all numbers are scaled.
const SAFE: std::ops::Range<f64> = 1e-270..1e270;

/// How well a vector solves a problem, free of units.
///
/// With $w = Mz + q$ and $\omega = \max_{ij} |M_{ij}||z_j| + \lVert q\rVert_\infty$, the scale of
/// the terms that make up $w$. Multiplying $M$, $q$ or $z$ by positive numbers changes nothing.
/// Quotients 0/0 are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// The natural residual $\max_i |\min(z_i/\lVert z\rVert_\infty, w_i/\omega)|$.
    pub residual: f64,
    /// $\max_i |z_i w_i| / (\lVert z\rVert_\infty \omega)$.
    pub complementarity: f64,
    /// The largest of $-z_i/\lVert z\rVert_\infty$ and $-w_i/\omega$, or 0.
    pub infeasibility: f64,
}

impl Certificate {
    /// The status that an answer deserves for which a method claims `claimed`.
    pub(crate) fn judge(&self, claimed: LcpStatus) -> LcpStatus {
        match claimed {
            _ if self.residual <= SOLVED_RESIDUAL => LcpStatus::Solved,
            LcpStatus::Solved => LcpStatus::Inaccurate,
            other => other,
        }
    }

    pub(crate) const HOPELESS: Self = Self {
        residual: f64::INFINITY,
        complementarity: f64::INFINITY,
        infeasibility: f64::INFINITY,
    };
}

/// What an answer looks like from inside a method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assessment {
    pub certificate: Certificate,
    /// Whether every row holds up to [`ROW_RESIDUAL`] of its own terms: then the answer is exact for
    /// a problem whose entries differ by as much, in whatever units its rows and columns are.
    pub holds_by_rows: bool,
}

/// Fraction of the terms of its own row, $|q_i| + \sum_j |M_{ij} z_j|$, that a residual may be.
const ROW_RESIDUAL: f64 = 1e-12;

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
        compare(z, w, terms, z_max, omega)
    } else {
        assess_scaled(problem, z, w, terms)
    }
}

/// [`assess`] for a dimension that the compiler knows; `None` if the numbers would have to be scaled.
#[inline]
pub(crate) fn assess_fixed<const N: usize>(
    columns: &[[f64; N]],
    vector: &[f64; N],
    vector_max: f64,
    z: &[f64; N],
    w: &mut [f64; N],
) -> Option<Assessment> {
    *w = *vector;
    let mut terms = vector.map(f64::abs);
    let mut most = [0.0; N];
    for (z, column) in z.iter().zip(columns) {
        if *z != 0.0 {
            add_products(*z, column, w, &mut terms, &mut most);
        }
    }
    let z_max = reduce(z.map(f64::abs), larger);
    let omega = reduce(most, larger) + vector_max;
    if !SAFE.contains(&omega) {
        return None;
    }
    let mut worst = Worst::<N>::new();
    worst.include(z, w, &terms, (unit(z_max), omega));
    Some(worst.assessment())
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
    assess(problem, z, w, &mut terms).certificate
}

/// The same where the plain evaluation would overflow or vanish: every factor is brought to about
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
    let assessment = compare(z, w, terms, z_max, omega);
    for x in w.iter_mut().chain(terms) {
        *x = scale_by_power(*x, common).clamp(f64::MIN, f64::MAX);
    }
    assessment
}

fn compare(z: &[f64], w: &[f64], terms: &[f64], z_max: f64, omega: f64) -> Assessment {
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
    worst.assessment()
}

/// The worst rows of every lane. NaN, which overflow brings to all rows at once, survives.
struct Worst<const N: usize> {
    residual: [f64; N],
    complementarity: [f64; N],
    infeasibility: [f64; N],
    /// The smallest of what a row may be off minus what it is off.
    margin: [f64; N],
}

impl<const N: usize> Worst<N> {
    fn new() -> Self {
        Self {
            residual: [0.0; N],
            complementarity: [0.0; N],
            infeasibility: [0.0; N],
            margin: [f64::INFINITY; N],
        }
    }

    #[inline]
    fn include(&mut self, z: &[f64; N], w: &[f64; N], terms: &[f64; N], units: (f64, f64)) {
        for k in 0..N {
            let excess = if z[k] > 0.0 { w[k].abs() } else { -w[k] };
            self.margin[k] = smaller(self.margin[k], ROW_RESIDUAL * terms[k] - excess);
            let (z, w) = (z[k] / units.0, w[k] / units.1);
            let natural = smaller(z, w);
            self.residual[k] = larger(self.residual[k], natural.abs());
            self.complementarity[k] = larger(self.complementarity[k], (z * w).abs());
            // Not `-natural`, which may be -0.
            self.infeasibility[k] = larger(self.infeasibility[k], 0.0 - natural);
        }
    }

    #[inline]
    fn assessment(&self) -> Assessment {
        let worst = self.reduce();
        Assessment {
            certificate: Certificate {
                residual: worst.residual[0],
                complementarity: worst.complementarity[0],
                infeasibility: worst.infeasibility[0],
            },
            holds_by_rows: worst.margin[0] >= 0.0,
        }
    }

    #[inline]
    fn reduce(&self) -> Worst<1> {
        let most = |lanes: &[f64; N]| [reduce(*lanes, larger)];
        Worst {
            residual: most(&self.residual),
            complementarity: most(&self.complementarity),
            infeasibility: most(&self.infeasibility),
            margin: [reduce(self.margin, smaller)],
        }
    }
}

/// The divisor that makes 0/0 = 0.
fn unit(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}

/// Largest absolute entry, in independent lanes.
#[inline]
pub(crate) fn max_abs(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<4>();
    let mut lanes = [0.0f64; 4];
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = if x.abs() > *lane { x.abs() } else { *lane };
        }
    }
    let most = |m: f64, x: &f64| if x.abs() > m { x.abs() } else { m };
    rest.iter().fold(lanes.iter().fold(0.0, most), most)
}
