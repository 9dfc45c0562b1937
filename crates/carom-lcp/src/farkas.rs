//! Proofs that no $z \ge 0$ has $Mz + q \ge 0$.
//!
//! Farkas: there is none exactly if some $u \ge 0$ has $M^Tu \le 0$ and $q^Tu < 0$, since then
//! $u^T(Mz + q) < 0$ for every $z \ge 0$. A $u$ found in floating point is a proof only if the
//! signs are exact, so the sums are evaluated without rounding where rounding could decide.

use crate::LcpRef;
use carom_numeric::sums::ExactSum;
use std::cmp::Ordering;

/// Products below this may lose the low half of their exact value.
const SMALLEST_PRODUCT: f64 = 1e-280;

/// Whether a direction, or the ratios of small integers next to it, proves infeasibility. Overwrites
/// the direction.
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
    // Rank-deficient matrices have certificates with M^T u = 0, which rounding spoils.
    let smallest = unit
        .iter()
        .filter(|u| **u > 1e-6)
        .fold(1.0f64, |m, u| m.min(*u));
    let integers = unit;
    integers
        .iter_mut()
        .for_each(|u| *u = (*u / smallest).round());
    is_certificate(problem, integers)
}

fn is_certificate(problem: LcpRef<'_>, u: &[f64]) -> bool {
    let n = problem.dim();
    exact_sign(problem.vector(), u) == Some(Sign::Negative)
        && (0..n).all(|j| {
            matches!(
                exact_sign(problem.column(j), u),
                Some(Sign::Negative | Sign::Zero)
            )
        })
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
    Negative,
    Zero,
    Positive,
}

/// The sign of $a \cdot u$; `None` where products overflow or vanish.
fn exact_sign(a: &[f64], u: &[f64]) -> Option<Sign> {
    let products = || a.iter().zip(u).filter(|(a, u)| **a != 0.0 && **u != 0.0);
    let (mut sum, mut size) = (0.0, 0.0);
    for (a, u) in products() {
        let p = a * u;
        if !(SMALLEST_PRODUCT..1e280).contains(&p.abs()) || a.abs() > 1e280 {
            return None;
        }
        sum += p;
        size += p.abs();
    }
    let bound = 2.0 * (a.len() + 2) as f64 * f64::EPSILON * size;
    if sum.abs() > bound {
        return Some(if sum < 0.0 {
            Sign::Negative
        } else {
            Sign::Positive
        });
    }
    let mut exact = ExactSum::default();
    for (a, u) in products() {
        exact.add_product(*a, *u);
    }
    Some(match exact.sign() {
        Ordering::Equal => Sign::Zero,
        Ordering::Less => Sign::Negative,
        Ordering::Greater => Sign::Positive,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_exact_where_a_plain_sum_cancels() {
        let big = 2f64.powi(80);
        assert_eq!(
            exact_sign(&[big, 1.0, -big], &[1.0; 3]),
            Some(Sign::Positive)
        );
        assert_eq!(exact_sign(&[0.1, -0.3], &[3.0, 1.0]), {
            // In binary 3 × 0.1 exceeds 0.3 by less than a unit in the last place.
            Some(Sign::Positive)
        });
        assert_eq!(exact_sign(&[big, -big], &[1.0; 2]), Some(Sign::Zero));
        assert_eq!(exact_sign(&[1e-200], &[1e-200]), None);
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
