//! Coefficients of restitution with which Moreau's law comes nearest to an outcome.

use super::Case;
use super::candidate::{Answer, Candidate, RestitutionFit};
use super::explain;
use crate::tolerances::EQUAL;
use carom_contact::{ContactIndex, FrictionCone, ImpactError, ImpactOutcome, ImpactProblem, Limit};
use carom_impact::frictional::MoreauNewton;
use carom_metric::Tangent;
use nalgebra::DVector;
use std::cell::Cell;

/// Finds the answer of Moreau's law that comes nearest to the judged velocity. The coefficients of restitution of the
/// problem are used if their answer matches. Otherwise one coefficient per contact is fitted and, if that does not match
/// either, one for all contacts.
pub(super) fn moreau_newton(case: &Case<'_>) -> Answer {
    let law = MoreauNewton::default().with_friction_cone(case.options.friction_cone);
    let max_work = case.options.max_work;
    let work = Cell::new(0u64);
    // Without an external impulse the result is bitwise that of the law itself.
    let approach = case.is_step().then_some(case.approach);
    let resolve = |problem: &ImpactProblem| law.resolve_counted(problem, approach, &work);
    let resolve_within = |problem: &ImpactProblem| {
        if work.get() < max_work {
            resolve(problem)
        } else {
            Err(ImpactError::Limit {
                limit: Limit::Fit,
                at: max_work,
                raise: Some("max_work"),
            })
        }
    };
    let is_same = |answer: &Answer| {
        let found = answer.as_ref();
        found.is_ok_and(|found| case.is_same(found.distance))
    };
    let common = case.common_restitution();
    let given = resolve(case.problem).map(|outcome| Candidate {
        restitution: common.map(|value| RestitutionFit {
            value,
            is_fitted: false,
        }),
        ..case.candidate(
            outcome.velocity_plus,
            match common {
                Some(_) => String::new(),
                None => "restitution of each contact as given".to_owned(),
            },
        )
    });
    if is_same(&given) {
        return given;
    }
    let own = by_contact(case, resolve);
    if is_same(&own) {
        return own;
    }
    // The law finds only one of several answers.
    if let Some(member) = by_member(case).filter(|_| given.is_ok()) {
        return Ok(member);
    }
    let asked = given.as_ref().ok();
    let asked = common.zip(asked.map(|given| given.velocity_plus.clone()));
    let fitted = case.fitted_from(asked, String::new(), true, |e| {
        case.with_restitution(|_| e, resolve_within)
    });
    let is_limited = work.get() >= max_work;
    let best = match common {
        Some(_) => fitted,
        None => case.better(Some(given), fitted),
    };
    let best = case.better(Some(best), own);
    best.map(|candidate| Candidate {
        is_all: candidate.is_all && !is_limited,
        is_limited,
        ..candidate
    })
}

/// Returns the normal velocity of contact `i` at a velocity `v` (n entries). The normal has unit length, and the result
/// is multiplied by the scale of the problem.
fn rate(case: &Case<'_>, i: ContactIndex, v: &Tangent) -> f64 {
    let set = case.problem.contacts();
    let velocity = v.0.as_slice();
    set.normal_velocity(i, velocity, case.problem.scale()).rate
}

/// Returns the coefficient of restitution of contact `i` in the judged impact: minus its normal velocity after the
/// impact divided by that before it, clamped to \[0, 1\]. `None` if the contact did not approach.
fn ratio(case: &Case<'_>, i: ContactIndex) -> Option<f64> {
    let before = rate(case, i, case.approach);
    let normal = &case.problem.contacts().contact(i).normal;
    if before >= -case.rounding_of(normal) {
        return None;
    }
    let ratio = -rate(case, i, case.velocity_plus) / before;
    ratio.is_finite().then(|| ratio.clamp(0.0, 1.0))
}

/// Solves the judged problem by `resolve` with one coefficient of restitution per contact, computed from the judged
/// velocity. The coefficient is $e_i = -b_i^+/b_i^-$ if contact $i$ approached, and 0 otherwise; $b_i^\pm$ are the
/// normal velocities after and before the impact.
fn by_contact(
    case: &Case<'_>,
    resolve: impl Fn(&ImpactProblem) -> Result<ImpactOutcome, ImpactError>,
) -> Answer {
    let contacts = case.problem.contacts().indices();
    let ratios: Vec<Option<f64>> = contacts.map(|i| ratio(case, i)).collect();
    let outcome = case.with_restitution(|i| ratios[i.index()].unwrap_or(0.0), resolve)?;
    Ok(with_ratios(
        case,
        ratios,
        &outcome.impulses,
        outcome.velocity_plus,
    ))
}

/// Finds a velocity near the judged one that satisfies the conditions of Moreau's law, although the law itself may
/// compute another of its answers. A contact that approached may push if it separates with at most its speed of approach;
/// any other contact may push only if it stays closed. Each friction impulse opposes the sliding or lies within the
/// friction cone. `None` if no such velocity matches, and for polygonal cones of contacts with two tangents.
fn by_member(case: &Case<'_>) -> Option<Candidate> {
    let set = case.problem.contacts();
    let is_spatial = set.contacts().iter().any(|c| c.tangents.len() == 2);
    if is_spatial && case.options.friction_cone != FrictionCone::Round {
        return None;
    }
    set.require_tangents().ok()?;
    let rebound = |i: ContactIndex| f64::max(-rate(case, i, case.approach), 0.0);
    let (impulses, velocity) = explain::in_one_step(case, rebound).ok()??;
    let ratios = set.indices().map(|i| ratio(case, i)).collect();
    let member = with_ratios(case, ratios, &impulses, velocity);
    case.is_same(member.distance).then_some(member)
}

/// Builds an answer of Moreau's law with one coefficient of restitution per contact, `ratios`. A coefficient becomes
/// `None` if the normal impulse of its contact is within the tolerance. A smaller coefficient then makes no relevant
/// difference, because a contact that separates faster than its restitution requires has no impulse. `impulses` are for
/// the given rows, `velocity` is the velocity after the impact.
fn with_ratios(
    case: &Case<'_>,
    mut ratios: Vec<Option<f64>>,
    impulses: &DVector<f64>,
    velocity: Tangent,
) -> Candidate {
    let set = case.problem.contacts();
    let scale = case.problem.scale();
    for (ratio, (i, contact)) in ratios.iter_mut().zip(set.indexed()) {
        let momentum = impulses[set.row(i).index()] * set.normal_norm(i) * scale;
        if !(momentum.abs() > case.limit_of(&contact.normal)) {
            *ratio = None;
        }
    }
    let acting: Vec<f64> = ratios.iter().copied().flatten().collect();
    let one = acting.first().copied().filter(|first| {
        let mut others = acting.iter();
        others.all(|e| (e - first).abs() <= EQUAL)
    });
    let detail = "restitution of each contact fitted".to_owned();
    Candidate {
        restitution: one.map(|value| RestitutionFit {
            value,
            is_fitted: true,
        }),
        restitutions: Some(ratios),
        ..case.candidate(velocity, detail)
    }
}
