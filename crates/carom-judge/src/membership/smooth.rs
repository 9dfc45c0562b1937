//! Sets that are known as a whole: contacts without friction, and one contact in the plane.

use crate::Case;
use carom_impact::frictional::{ContactSpace, planar_contact};
use carom_impact::{ContactSet, ImpactError, ImpactLaw, Plastic};
use carom_metric::{Tangent, kernel};
use nalgebra::{DMatrix, DVector};

/// The nearest member where the whole set is known: of one contact in the plane, of contacts without friction that
/// all share one normal, of two normals, or of any number of which none opens another.
pub(super) fn nearest_of_all(case: &Case<'_>) -> Result<Option<Tangent>, ImpactError> {
    let contacts = case.problem.contacts();
    if let Some(nearest) = one_in_the_plane(case) {
        return Ok(Some(nearest));
    }
    let is_smooth =
        |contact: &carom_impact::Contact| contact.friction == 0.0 || contact.tangents.is_empty();
    if !case.problem.is_approaching() || !contacts.contacts().iter().all(is_smooth) {
        return Ok(None);
    }
    if contacts.n_distinct() == 1 || none_opens_another(contacts) {
        return Ok(Some(
            Plastic::default().resolve(case.problem)?.velocity_plus,
        ));
    }
    Ok((contacts.n_distinct() == 2).then(|| smooth_pair(case)))
}

/// The nearest outcome of one contact in the plane.
fn one_in_the_plane(case: &Case<'_>) -> Option<Tangent> {
    let contacts = case.problem.contacts();
    if contacts.len() != 1 {
        return None;
    }
    let ends = planar_contact::outcomes(case.problem, &ContactSpace::new(contacts))?;
    let ends: Vec<DVector<f64>> = ends
        .iter()
        .map(|end| case.whitened(&Tangent::from_slice(end)))
        .collect();
    let nearest = if case.problem.is_approaching() {
        on_segment(&case.after, &ends)
    } else {
        let far = |end: &DVector<f64>| (end - &case.after).norm();
        let nearest = ends.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        nearest?
    };
    Some(case.velocity(&nearest))
}

/// Sensitivity of an end to an error in the velocities of the contacts: the inverse of the
/// least eigenvalue of the Gram matrix of the unit normals, infinite where they are dependent.
///
/// In a wedge that is nearly closed, velocities that differ by rounding belong to ends that are far
/// apart, and a distance from the exact set that is smaller than this allows proves nothing.
pub(super) fn sensitivity(contacts: &ContactSet<'_>) -> f64 {
    let n = contacts.n_distinct();
    if n == 0 {
        return 1.0;
    }
    let gram = DMatrix::from_fn(n, n, |i, j| kernel::dot(contacts.unit(i), contacts.unit(j)));
    let least = gram.symmetric_eigenvalues().min();
    if least > 0.0 {
        1.0 / least
    } else {
        f64::INFINITY
    }
}

/// True if pushing at a contact closes every other one, or leaves it alone.
///
/// Then a contact that has pushed ends closed: its own impulse stops at zero velocity, and others
/// only lower it. The end solves $0 \le \lambda \perp b + G\lambda \ge 0$, whose velocity is unique:
/// without friction the set has one member, the plastic outcome.
fn none_opens_another(contacts: &ContactSet<'_>) -> bool {
    let n = contacts.n_distinct();
    (0..n).all(|i| (0..i).all(|j| kernel::dot(contacts.unit(i), contacts.unit(j)) <= 0.0))
}

/// The nearest member of the set of two distinct normals without friction, each of which opens the
/// other (cosine $c > 0$).
///
/// Every end has a contact closed and the other not approaching, and the ends form a path: from one
/// contact first to the other first, over the plastic outcome where they leave different contacts
/// closed.
fn smooth_pair(case: &Case<'_>) -> Tangent {
    let contacts = case.problem.contacts();
    let [b0, b1] = case.problem.unit_velocity() else {
        return case.problem.velocity_minus().clone();
    };
    let wedge = contacts.wedge(0, 1);
    let c = kernel::dot(contacts.unit(0), contacts.unit(1));
    // 1 - c² = sin² 2γ, without cancellation.
    let determinant = carom_numeric::power(2.0 * wedge.sin * wedge.cos, 2);
    let end = |[x, y]: [f64; 2]| {
        let mut end = case.before();
        kernel::add_scaled(end.as_mut_slice(), x, contacts.unit(0));
        kernel::add_scaled(end.as_mut_slice(), y, contacts.unit(1));
        end
    };
    let first = |own: f64, other: f64| {
        let push = (-own).max(0.0);
        [push, (-(other + c * push)).max(0.0)]
    };
    let zero_first = first(*b0, *b1);
    let [one, zero] = first(*b1, *b0);
    let one_first = [zero, one];
    // True if the first contact ends open, the second closed.
    let opens_first = |[x, y]: [f64; 2]| b0 + x + c * y > b1 + c * x + y;
    let (start, finish) = (end(zero_first), end(one_first));
    let corners = if opens_first(zero_first) == opens_first(one_first) {
        vec![start, finish]
    } else {
        let both = [(c * b1 - b0) / determinant, (c * b0 - b1) / determinant];
        vec![start, end(both), finish]
    };
    let nearest = corners
        .windows(2)
        .map(|pair| on_segment(&case.after, pair))
        .min_by(|a, b| {
            let far = |end: &DVector<f64>| (end - &case.after).norm();
            far(a).total_cmp(&far(b))
        });
    case.velocity(&nearest.unwrap_or_else(|| case.before()))
}

/// The nearest point of a segment.
fn on_segment(target: &DVector<f64>, ends: &[DVector<f64>]) -> DVector<f64> {
    let [a, b] = ends else {
        return ends.first().unwrap_or(target).clone();
    };
    let d = b - a;
    let length = d.norm_squared();
    if length == 0.0 {
        return a.clone();
    }
    a + &d * (d.dot(&(target - a)) / length).clamp(0.0, 1.0)
}
