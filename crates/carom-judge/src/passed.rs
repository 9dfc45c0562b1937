//! Bounds of all outcomes that a velocity passes.

use super::membership::PROVABLE;
use super::parts::seen;
use super::tasks::map;
use super::{Judgement, Membership};
use crate::bounds::{BoundCertificate, OuterBounds};
use carom_contact::ImpactProblem;
use carom_metric::{Covector, Tangent};

/// Directions of contact rows that are tried at once.
const AT_ONCE: usize = 4;

/// Part of the budget of work of a judgement that proofs in all directions may take.
const PROOF_PART: u64 = 4;

/// A bound of all outcomes that a velocity passes: a proof, checked by
/// [`BoundCertificate::verify`], that it is no member.
#[derive(Clone, Debug, PartialEq)]
pub struct PassedBound {
    /// The direction $c$ (n).
    pub direction: Covector,
    /// $c\cdot v^+$.
    pub value: f64,
    /// Bound that $c\cdot v$ never passes in an outcome.
    pub bound: f64,
    /// The proofs, one for each contact that may close last.
    pub certificates: Vec<BoundCertificate>,
}

/// A bound of Theorem 1 that a judged velocity (n) passes by more than the tolerance, if it lies
/// outside the set of outcomes; see [`OuterBounds`].
///
/// Whatever passes one also leaves a contact approaching, has a momentum that no admissible
/// impulses make, gains energy, or opens every contact, for these are the only facts that the
/// theorem uses. So nothing is asked about a velocity that may be a member, and the directions that
/// belong to these facts come first: $Mv^+$, the momentum that admissible impulses cannot make, away
/// from the nearest member known; then the contact rows both ways.
pub fn passed_bound(
    problem: &ImpactProblem<'_>,
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
    let tolerance = judgement.options.tolerance.max(PROVABLE);
    // The motion that contacts see: what a tolerance is relative to.
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
        // The nearest member shows that the bound is not below the limit.
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
