//! The restitutions with which Moreau's law comes nearest to an outcome.

use super::Case;
use super::compare::{Answer, Candidate, RestitutionFit};
use carom_impact::frictional::MoreauNewton;
use carom_impact::{Contact, ContactSet, ImpactError, ImpactOutcome, ImpactProblem};
use carom_metric::Tangent;
use std::cell::Cell;

/// Restitutions of contacts that differ by less are one.
const EQUAL_RESTITUTIONS: f64 = 1e-9;

/// Impulses below this fraction of the motion are rounding: the restitution of such a contact makes no difference.
const NO_IMPULSE: f64 = 1e-12;

/// With the restitution of every contact as given; else with one fitted to each contact; else with one fitted to all.
pub(super) fn moreau_newton(case: &Case<'_>) -> Answer {
    let law = MoreauNewton {
        friction_cone: case.options.friction_cone,
        ..MoreauNewton::default()
    };
    let max_work = case.options.max_work;
    let work = Cell::new(0u64);
    // The bits of the law itself where a step adds nothing.
    let approach = case.is_step().then_some(case.approach);
    let resolve = |problem: &ImpactProblem<'_>| law.resolve_counted(problem, approach, &work);
    let resolve_within = |problem: &ImpactProblem<'_>| match work.get() < max_work {
        true => resolve(problem),
        false => Err(ImpactError::FitLimit { max_work }),
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
    let asked = common.filter(|_| given.is_ok());
    let fitted = case.fitted(asked, String::new(), |e| {
        case.with_restitution(e, resolve_within)
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

/// With a restitution of every contact of its own, read off the outcome: $e_i = -b_i^+/b_i^-$ where it approached.
fn by_contact(
    case: &Case<'_>,
    resolve: impl Fn(&ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError>,
) -> Answer {
    let set = case.problem.contacts();
    let scale = case.problem.scale();
    let rate = |i: usize, v: &Tangent| set.normal_velocity(i, v.0.as_slice(), scale).rate;
    let ratio = |i: usize, contact: &Contact| {
        let before = rate(i, case.approach);
        // A contact that did not approach has no restitution.
        if before >= -case.rounding_of(&contact.normal) {
            return None;
        }
        let ratio = -rate(i, case.velocity_plus) / before;
        ratio.is_finite().then(|| ratio.clamp(0.0, 1.0))
    };
    let contacts = set.contacts().iter().enumerate();
    let mut ratios: Vec<Option<f64>> = contacts.map(|(i, contact)| ratio(i, contact)).collect();
    let given = set.contacts().iter().zip(&ratios);
    let changed = given.map(|(contact, ratio)| Contact {
        restitution: ratio.unwrap_or(0.0),
        ..contact.clone()
    });
    let forms = set.constraint_forms().to_vec();
    let contacts = ContactSet::constrained(set.metric(), changed.collect(), forms)?;
    let problem = ImpactProblem::new(&contacts, case.problem.velocity_minus().clone())?;
    let outcome = resolve(&problem)?;
    for (i, (ratio, contact)) in ratios.iter_mut().zip(set.contacts()).enumerate() {
        let momentum = outcome.impulses[set.row(i)] * set.row_norm(set.row(i)) * scale;
        if !(momentum.abs() > NO_IMPULSE * case.reference_of(&contact.normal)) {
            *ratio = None;
        }
    }
    let acting: Vec<f64> = ratios.iter().copied().flatten().collect();
    let one = acting.first().copied().filter(|first| {
        let mut others = acting.iter();
        others.all(|e| (e - first).abs() <= EQUAL_RESTITUTIONS)
    });
    let detail = "restitution of each contact fitted".to_owned();
    Ok(Candidate {
        restitution: one.map(|value| RestitutionFit {
            value,
            is_fitted: true,
        }),
        restitutions: Some(ratios),
        ..case.candidate(outcome.velocity_plus, detail)
    })
}
