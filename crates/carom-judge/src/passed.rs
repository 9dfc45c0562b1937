//! Bounds of all outcomes that a judged velocity violates.

use super::parts::seen;
use super::tasks::map;
use super::{Judgement, Membership};
use crate::bounds::{BoundCertificate, OuterBounds};
use crate::tolerances::CERTAIN;
use carom_contact::ImpactProblem;
use carom_metric::{Covector, Tangent};

/// Number of directions along contact rows that are tried in parallel.
const AT_ONCE: usize = 4;

/// Divisor of the work budget of a judgement: the proofs in all directions together may take this part.
const PROOF_PART: u64 = 4;

/// Bound on a velocity component that all outcomes of an impact satisfy but a judged velocity violates. The bound proves
/// that the velocity is not a member of the set of outcomes; [`BoundCertificate::verify`] checks the proof.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassedBound {
    /// Direction $c$ (n entries).
    pub direction: Covector,
    /// Value $c\cdot v^+$ of the judged velocity.
    pub value: f64,
    /// Bound that $c\cdot v$ does not exceed in any outcome $v$.
    pub bound: f64,
    /// Proofs of the bound: one for each contact that may push in the last step.
    pub certificates: Vec<BoundCertificate>,
}

/// Searches for a bound on a velocity component that all outcomes of an impact satisfy but the judged velocity $v^+$ (n
/// entries) violates by more than the tolerance. Such a bound follows from Theorem 1, see [`OuterBounds`]. Returns `None`
/// if no such bound is found, or if $v^+$ may be a member of the set of outcomes according to `judgement`.
///
/// A velocity violates such a bound only for one of four reasons, because the theorem uses no other facts: a contact still
/// approaches, no admissible impulses make the momentum, the energy grows, or every contact opens. The directions that
/// belong to these reasons are tried first: $Mv^+$, the part of the momentum that admissible impulses cannot make, and the
/// direction away from the nearest known member. The contact rows with both signs follow.
pub fn passed_bound(
    problem: &ImpactProblem,
    velocity_plus: &Tangent,
    judgement: &Judgement,
) -> Option<PassedBound> {
    let set = judgement.outcome_set.as_ref()?;
    if !matches!(set.membership, Membership::Outside { .. }) {
        return None;
    }
    let contacts = problem.contacts().contacts();
    let metric = problem.contacts().metric();
    let bounds = OuterBounds::new(problem).ok()?;
    let after = metric.flat(velocity_plus).ok()?;
    let mut unmade = &after.0 - metric.flat(problem.velocity_minus()).ok()?.0;
    let rows = || {
        let rows = contacts.iter();
        rows.flat_map(|contact| std::iter::once(&contact.normal).chain(&contact.tangents))
    };
    for (row, impulse) in rows().zip(judgement.explanation.admissible_impulses.iter()) {
        unmade.axpy(-impulse, &row.0, 1.0);
    }
    let away = &after.0 - metric.flat(&set.nearest).ok()?.0;
    let tolerance = judgement.options.tolerance.max(CERTAIN);
    // Size of the motion that contacts can change: tolerances are relative to it.
    let momentum = seen(problem.contacts(), problem.momentum());
    let speed = momentum.norm() / problem.scale();
    let facts = [after, Covector(unmade), Covector(away)];
    let both_ways: Vec<Covector> = rows()
        .flat_map(|row| [row.clone(), Covector(-&row.0)])
        .collect();
    let directions = (facts.len() + both_ways.len()) as u64;
    let max_work = judgement.options.max_work / PROOF_PART / directions;
    let passed = |direction: &Covector| {
        let value = direction.0.dot(&velocity_plus.0);
        let limit = value - tolerance * metric.norm(direction).ok()? * speed;
        // The nearest member shows that the bound cannot be below the limit.
        if direction.0.dot(&set.nearest.0) >= limit {
            return None;
        }
        let (bound, certificates) = bounds
            .below_within(direction.0.as_slice(), limit, max_work)
            .ok()??;
        Some(PassedBound {
            direction: direction.clone(),
            value,
            bound,
            certificates,
        })
    };
    facts.iter().find_map(passed).or_else(|| {
        both_ways.chunks(AT_ONCE).find_map(|some| {
            let found = map(some.len(), |i| some.get(i).and_then(passed));
            found.into_iter().flatten().next()
        })
    })
}
