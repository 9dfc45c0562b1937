//! Residuals of an answer, from the problem as given and nothing else.

use crate::scalar::{exponent, scale_by_power};
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

/// Certifies `z` (n) and writes $w = Mz + q$ into `w` (n).
pub(crate) fn certify(problem: LcpRef<'_>, z: &[f64], w: &mut [f64]) -> Certificate {
    let mut z_max = 0.0;
    let mut omega = 0.0;
    w.copy_from_slice(problem.vector());
    for (j, &z) in z.iter().enumerate() {
        if z != 0.0 {
            z_max = larger(z_max, z.abs());
            let column = problem.column(j);
            omega = larger(omega, z.abs() * max_abs(column));
            for (w, m) in w.iter_mut().zip(column) {
                *w += z * m;
            }
        }
    }
    omega += max_abs(problem.vector());
    if SAFE.contains(&omega) {
        compare(z, w, z_max, omega)
    } else if omega == 0.0 && z_max == 0.0 {
        compare(z, w, 0.0, 0.0)
    } else {
        certify_scaled(problem, z, w)
    }
}

/// The same where the plain evaluation would overflow or vanish: every factor is brought to about
/// one by a power of two.
fn certify_scaled(problem: LcpRef<'_>, z: &[f64], w: &mut [f64]) -> Certificate {
    let z_max = max_abs(z);
    if !z_max.is_finite() {
        w.copy_from_slice(problem.vector());
        return Certificate::HOPELESS;
    }
    let active = |&(_, &z): &(usize, &f64)| z != 0.0;
    let m_max = z.iter().enumerate().filter(active).fold(0.0, |m, (j, _)| {
        larger(m, max_abs(problem.column(j)))
    });
    let q_max = max_abs(problem.vector());
    let (em, ez, eq) = (exponent(m_max), exponent(z_max), exponent(q_max));
    let has_product = m_max > 0.0;
    let common = match (has_product, q_max > 0.0) {
        (true, true) => eq.max(em + ez),
        (true, false) => em + ez,
        _ => eq,
    };
    for (w, q) in w.iter_mut().zip(problem.vector()) {
        *w = scale_by_power(*q, -common);
    }
    let mut omega = 0.0;
    for (j, &z) in z.iter().enumerate().filter(active) {
        let z = scale_by_power(z, -ez);
        for (w, m) in w.iter_mut().zip(problem.column(j)) {
            let term = scale_by_power(scale_by_power(*m, -em) * z, em + ez - common);
            omega = larger(omega, term.abs());
            *w += term;
        }
    }
    omega += scale_by_power(q_max, -common);
    let certificate = compare(z, w, z_max, omega);
    for w in w.iter_mut() {
        *w = scale_by_power(*w, common).clamp(f64::MIN, f64::MAX);
    }
    certificate
}

fn compare(z: &[f64], w: &[f64], z_max: f64, omega: f64) -> Certificate {
    let mut certificate = Certificate {
        residual: 0.0,
        complementarity: 0.0,
        infeasibility: 0.0,
    };
    // A quotient, not a product with the reciprocal, which overflows for a denormal norm.
    let ratio = |x: f64, scale: f64| if x == 0.0 { 0.0 } else { x / scale };
    for (z, w) in z.iter().zip(w) {
        let (z, w) = (ratio(*z, z_max), ratio(*w, omega));
        let smaller = if z < w { z } else { w };
        certificate.residual = larger(certificate.residual, smaller.abs());
        certificate.complementarity = larger(certificate.complementarity, (z * w).abs());
        certificate.infeasibility = larger(certificate.infeasibility, -smaller);
    }
    certificate
}

/// The larger of two numbers; NaN if the second is NaN, unlike `f64::max`.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a >= b { a } else { b }
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
