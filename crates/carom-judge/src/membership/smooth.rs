//! Sets of outcomes that are known in closed form: contacts without friction, and one contact in the plane.

use crate::acting::{is_smooth, with_copies};
use crate::candidate::reposed;
use crate::{Case, parts};
use carom_contact::{ContactSet, ImpactError, ImpactLaw, ImpactProblem, UnitRow};
use carom_impact::Plastic;
use carom_impact::internal::{ContactSpace, planar_outcomes};
use carom_metric::{Tangent, kernel};
use nalgebra::{DMatrix, DVector};

/// Set of outcomes as far as it is known in closed form. Groups of contacts that change no velocities of others have
/// separate sets.
pub(super) struct Exact {
    /// Nearest member, if the sets of all groups of contacts are known.
    pub(super) nearest: Option<Tangent>,
    /// Distance of the outcome from the known sets; zero if it may be rounding.
    pub(super) margin: f64,
}

/// Computes the member of the outcome set that is nearest to the judged velocity, for those groups of interacting
/// contacts whose set of outcomes is known in closed form. The known cases are: one contact in the plane; and contacts
/// without friction that share one normal, have two normals, or do not open each other. Repetitions of a contact count
/// once. Distances within `tolerance` count as zero.
pub(super) fn known(case: &Case<'_>, tolerance: f64) -> Result<Exact, ImpactError> {
    let contacts = case.problem.contacts();
    let groups = parts::met(contacts);
    let (mut nearest, mut margin) = (Some(case.before()), 0.0f64);
    for members in &groups {
        let kept = with_copies(contacts, members);
        let kept = kept.iter().filter_map(|copies| copies.first());
        let kept = kept.map(|i| contacts.contact(*i).clone());
        let problem = reposed(case.problem, kept.collect())?;
        let group = Group {
            target: &case.after * (problem.scale() / case.problem.scale()),
            problem: &problem,
        };
        let is_event = case.problem.is_approaching();
        let Some(whitened) = group.nearest(is_event)? else {
            nearest = None;
            continue;
        };
        let whitened = whitened * (case.problem.scale() / problem.scale());
        let distance = match (groups.len(), members.first()) {
            (2.., Some(first)) => {
                let part = case
                    .parts
                    .of_row(contacts.contact(*first).normal.0.as_slice());
                case.relative_of(part, &(&whitened - &case.after))
            }
            _ => case.relative(&(&whitened - &case.after)),
        };
        if distance > tolerance && distance > tolerance * sensitivity(problem.contacts()) {
            margin = margin.max(distance);
        }
        if let Some(nearest) = &mut nearest {
            *nearest += whitened - case.before();
        }
    }
    Ok(Exact {
        nearest: nearest.map(|whitened| case.velocity(&whitened)),
        margin,
    })
}

/// Group of contacts that do not interact with other contacts, and the whitened velocity whose nearest member is
/// searched.
struct Group<'p> {
    problem: &'p ImpactProblem,
    target: DVector<f64>,
}

impl Group<'_> {
    /// Returns the outcome of this group of contacts that is nearest to the judged velocity if the set of outcomes is known in
    /// closed form; otherwise `None`. `is_event` is true if any contact of the problem approaches.
    fn nearest(&self, is_event: bool) -> Result<Option<DVector<f64>>, ImpactError> {
        let contacts = self.problem.contacts();
        let far = |end: &DVector<f64>| (end - &self.target).norm();
        let nearest = |ends: &mut dyn Iterator<Item = DVector<f64>>| {
            ends.min_by(|a, b| far(a).total_cmp(&far(b)))
        };
        if let Some(ends) = planar_outcomes(self.problem, &ContactSpace::new(contacts)) {
            let mut ends = ends.iter().map(|end| whitened(self.problem, end));
            return Ok(if self.problem.is_approaching() {
                Some(on_segment(&self.target, &ends.collect::<Vec<_>>()))
            } else {
                nearest(&mut ends)
            });
        }
        if !is_event {
            return Ok(None);
        }
        let Some(corners) = smooth_outcomes(self.problem)? else {
            return Ok(None);
        };
        if let [_] = corners.as_slice() {
            return Ok(corners.into_iter().next());
        }
        let pairs = corners.windows(2);
        Ok(nearest(
            &mut pairs.map(|pair| on_segment(&self.target, pair)),
        ))
    }
}

/// Converts a velocity (n entries) to whitened coordinates, multiplied by the scale of the problem.
fn whitened(problem: &ImpactProblem, velocity: &[f64]) -> DVector<f64> {
    let mut whitened = DVector::zeros(velocity.len());
    let metric = problem.contacts().metric();
    metric.whiten_velocity_into(velocity, whitened.as_mut_slice());
    whitened * problem.scale()
}

/// Returns the corners of the path of all outcomes of contacts without friction that share one normal, have two normals, or
/// do not open each other: whitened velocities, multiplied by the scale of the problem. `None` for other contacts.
pub(crate) fn smooth_outcomes(
    problem: &ImpactProblem,
) -> Result<Option<Vec<DVector<f64>>>, ImpactError> {
    let contacts = problem.contacts();
    if !contacts.contacts().iter().all(is_smooth) {
        return Ok(None);
    }
    if !problem.is_approaching() {
        return Ok(Some(vec![DVector::from_column_slice(problem.momentum())]));
    }
    if contacts.n_distinct() == 1 || none_opens_another(contacts) {
        let end = Plastic::default().resolve(problem)?.velocity_plus;
        return Ok(Some(vec![whitened(problem, end.0.as_slice())]));
    }
    Ok(match problem.unit_velocity() {
        [b0, b1] => Some(smooth_pair(problem, [*b0, *b1])),
        _ => None,
    })
}

/// Computes the corners of the path of outcomes for frictionless contacts with two distinct normals, each of which opens
/// the other (the cosine $c$ of the normals is positive). `b0` and `b1` are the velocities along the unit normals before
/// the impact.
///
/// In every outcome one contact is closed and the other does not approach. The outcomes form a path between the
/// results of the two orders of impacts. The path leads through the plastic outcome if the two orders leave different
/// contacts closed.
fn smooth_pair(problem: &ImpactProblem, [b0, b1]: [f64; 2]) -> Vec<DVector<f64>> {
    let contacts = problem.contacts();
    let before = DVector::from_column_slice(problem.momentum());
    let [first, second] = [0, 1].map(UnitRow::new);
    let wedge = contacts.wedge(first, second);
    let normals = [first, second].map(|j| contacts.unit(j));
    let c = kernel::dot(normals[0], normals[1]);
    // 1 - c² = sin² 2γ, without cancellation.
    let determinant = carom_numeric::power(2.0 * wedge.sin * wedge.cos, 2);
    let end = |[x, y]: [f64; 2]| {
        let mut end = before.clone();
        kernel::add_scaled(end.as_mut_slice(), x, normals[0]);
        kernel::add_scaled(end.as_mut_slice(), y, normals[1]);
        end
    };
    let in_turn = |own: f64, other: f64| {
        let push = (-own).max(0.0);
        [push, (-(other + c * push)).max(0.0)]
    };
    let zero_first = in_turn(b0, b1);
    let [one, zero] = in_turn(b1, b0);
    let one_first = [zero, one];
    // True if the first contact ends open and the second closed.
    let opens_first = |[x, y]: [f64; 2]| b0 + x + c * y > b1 + c * x + y;
    let (start, finish) = (end(zero_first), end(one_first));
    if opens_first(zero_first) == opens_first(one_first) {
        vec![start, finish]
    } else {
        let both = [(c * b1 - b0) / determinant, (c * b0 - b1) / determinant];
        vec![start, end(both), finish]
    }
}

/// Returns the factor by which errors of the contact velocities may be amplified in an outcome: the inverse of the
/// smallest eigenvalue of the Gram matrix of the unit normals. The factor is infinite if the normals are linearly
/// dependent.
///
/// If the normals are nearly dependent, velocities that differ by rounding may have outcomes that are far apart. A
/// distance from the exact set of outcomes that is smaller than this error proves nothing.
fn sensitivity(contacts: &ContactSet) -> f64 {
    let n = contacts.n_distinct();
    if n == 0 {
        return 1.0;
    }
    let normals: Vec<&[f64]> = contacts.unit_rows().map(|j| contacts.unit(j)).collect();
    let gram = DMatrix::from_fn(n, n, |i, j| kernel::dot(normals[i], normals[j]));
    let least = gram.symmetric_eigenvalues().min();
    if least > 0.0 {
        1.0 / least
    } else {
        f64::INFINITY
    }
}

/// True if a push at any contact lowers the normal velocity of every other contact, or leaves it unchanged except for
/// rounding.
///
/// Then a contact that has pushed ends closed: its own impulse stops at zero velocity, and other impulses only lower
/// the velocity. The outcome solves $0 \le \lambda \perp b + G\lambda \ge 0$ with the normal velocities $b$, the
/// impulses $\lambda$ and the Gram matrix $G$; its velocity is unique. So without friction the set has one member, the
/// plastic outcome.
fn none_opens_another(contacts: &ContactSet) -> bool {
    contacts.unit_rows().all(|i| {
        let mut before = UnitRow::all(i.index());
        before.all(|j| kernel::dot(contacts.unit(i), contacts.unit(j)) <= parts::ORTHOGONAL)
    })
}

/// Returns the point nearest to `target` on the segment between the two points `ends`. If `ends` holds one point,
/// returns this point.
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
