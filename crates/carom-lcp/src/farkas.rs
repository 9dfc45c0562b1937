//! Proofs of infeasibility: no $z \ge 0$ satisfies $Mz + q \ge 0$.
//!
//! By Farkas' lemma no such $z$ exists if and only if there is a $u \ge 0$ with $M^Tu \le 0$ and $q^Tu < 0$,
//! because then $u^T(Mz + q) < 0$ for every $z \ge 0$. A $u$ found in floating point is a proof only if the
//! signs are exact. The sums are therefore evaluated without rounding if rounding could change a sign.

use crate::LcpRef;
use crate::exact::ProductSum;
use crate::tolerances::{SMALLEST, VANISHING_WEIGHT};
use carom_numeric::sums::ExactSum;

/// True if `direction` (n entries), scaled to a largest entry of one, proves that no $z \ge 0$ satisfies
/// $Mz + q \ge 0$. If this vector is no proof, it is scaled so that its smallest positive entry is one, rounded to
/// integers, and tried again. Overwrites `direction` with the vector that was tried last.
pub(crate) fn proves_infeasible(problem: LcpRef<'_>, direction: &mut [f64]) -> bool {
    let largest = direction.iter().fold(0.0f64, |m, u| m.max(*u));
    if largest <= 0.0 || !largest.is_finite() {
        return false;
    }
    let unit = direction;
    unit.iter_mut().for_each(|u| *u = u.max(0.0) / largest);
    if is_certificate(problem, unit) {
        return true;
    }
    // Rank-deficient matrices have certificates with M^T u = 0, which rounding errors destroy.
    let smallest = unit
        .iter()
        .filter(|u| **u > VANISHING_WEIGHT)
        .fold(1.0f64, |m, u| m.min(*u));
    let integers = unit;
    integers
        .iter_mut()
        .for_each(|u| *u = (*u / smallest).round());
    is_certificate(problem, integers)
}

/// True if `u` proves that no $z \ge 0$ satisfies $Mz + q \ge 0$: $u \ge 0$, $M^Tu \le 0$ and $q^Tu < 0$ hold
/// exactly (n entries).
pub(crate) fn is_certificate(problem: LcpRef<'_>, u: &[f64]) -> bool {
    u.iter().all(|u| *u >= 0.0 && u.is_finite())
        && sign(problem.vector(), u) < 0
        && (0..problem.dim()).all(|j| sign(problem.column(j), u) <= 0)
}

/// Returns the sign of the inner product $a \cdot u$, computed without rounding: -1, 0 or 1.
fn sign(a: &[f64], u: &[f64]) -> i32 {
    sign_by_expansion(a, u).unwrap_or_else(|| {
        let products = a.iter().copied().zip(u.iter().copied());
        ProductSum::of(products).sign()
    })
}

/// Computes the exact sign of $a \cdot u$ (-1, 0 or 1) in double precision. If rounding errors leave the sign of a
/// plain sum undecided, an exact sum is computed. `None` if a product could overflow or underflow.
fn sign_by_expansion(a: &[f64], u: &[f64]) -> Option<i32> {
    let products = || a.iter().zip(u).filter(|(a, u)| **a != 0.0 && **u != 0.0);
    let (mut sum, mut size) = (0.0, 0.0);
    for (a, u) in products() {
        let p = a * u;
        if !(SMALLEST..SMALLEST.recip()).contains(&p.abs()) || a.abs() > SMALLEST.recip() {
            return None;
        }
        sum += p;
        size += p.abs();
    }
    let bound = 2.0 * (a.len() + 2) as f64 * f64::EPSILON * size;
    if sum.abs() > bound {
        return Some(if sum < 0.0 { -1 } else { 1 });
    }
    let mut exact = ExactSum::default();
    for (a, u) in products() {
        exact.add_product(*a, *u);
    }
    Some(exact.sign() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_exact_where_a_plain_sum_cancels() {
        let big = 2f64.powi(80);
        assert_eq!(sign(&[big, 1.0, -big], &[1.0; 3]), 1);
        // In binary 3 × 0.1 exceeds 0.3 by less than a unit in the last place.
        assert_eq!(sign(&[0.1, -0.3], &[3.0, 1.0]), 1);
        assert_eq!(sign(&[big, -big], &[1.0; 2]), 0);
        assert_eq!(sign_by_expansion(&[1e-200], &[1e-200]), None);
        assert_eq!(sign(&[1e-200, -1e-200], &[1e-200, 2e-200]), -1);
    }

    #[test]
    fn a_wrong_direction_proves_nothing() {
        let problem = LcpRef::new(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0]).unwrap();
        assert!(proves_infeasible(problem, &mut [1.0, 1.0]));
        assert!(proves_infeasible(problem, &mut [1.0, 1.0 + 1e-15]));
        assert!(!proves_infeasible(problem, &mut [1.0, 0.0]));
        assert!(!proves_infeasible(problem, &mut [0.0, 0.0]));
    }
}
