//! Answers to a judged impact of the laws without restitution.

use super::Case;
use super::acting::{acting, sort};
use super::candidate::{Answer, Candidate, reposed};
use super::explain;
use super::membership::{Known, Origin};
use crate::tolerances::EQUAL;
use carom_contact::{
    ContactIndex, FrictionCone, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
};
use carom_impact::frictional::{AnitescuPotra, Sequential, all_simultaneous};
use carom_impact::internal::SingleImpacts;
use carom_impact::{Plastic, PlasticRule};
use carom_metric::kernel;
use nalgebra::DVector;

/// Largest number of contacts for which the sequential law is solved in every order: 120 orders.
pub(crate) const MAX_PERMUTED: usize = 5;

/// Divisor of the work budget of the judgement: all orders of the sequential law together may use this part of it. Orders
/// that converge need a fortieth of the budget at most; contacts that jam never end.
const ORDERS_PART: u64 = 16;

/// Largest number of planar contacts for which all simultaneous outcomes are found: 64 modes.
const MAX_MODE_CONTACTS: usize = 3;

/// Answers of the laws without restitution.
pub(super) struct Inelastic {
    pub(super) simultaneous: Option<Answer>,
    pub(super) sequential: Option<Answer>,
    /// Answers of the plastic law, one for each rule. They need not be members of the set of outcomes.
    pub(super) plastic: [Answer; 2],
    /// Members of the set of outcomes that were found.
    pub(super) known: Vec<Known>,
}

impl Inelastic {
    pub(super) fn of(case: &Case<'_>) -> Self {
        let mut known = Vec::new();
        let all = PlasticRule::ProjectAll {
            allow_adhesion: true,
        };
        let rules = [(PlasticRule::Cone, "cone"), (all, "project-all")];
        Self {
            plastic: rules.map(|(rule, name)| {
                case.fixed(&Plastic::default().with_rule(rule), name.to_owned())
            }),
            simultaneous: case
                .asks(AnitescuPotra::NAME)
                .then(|| anitescu_potra(case, &mut known)),
            sequential: case
                .asks(Sequential::NAME)
                .then(|| sequential(case, &mut known)),
            known,
        }
    }

    /// True if the judged velocity is an answer of the plastic law.
    pub(super) fn is_plastic(&self) -> bool {
        { self.plastic.iter().flatten() }.any(|answer| answer.distance <= EQUAL)
    }
}

/// Finds the answer of the simultaneous inelastic law that comes nearest to the judged velocity. For a few planar
/// contacts all outcomes of the law are compared. Otherwise the outcome that the law finds is taken or, with round cones,
/// another member of its continuum. Adds the outcomes that were found to `known`.
fn anitescu_potra(case: &Case<'_>, known: &mut Vec<Known>) -> Answer {
    let own = found_by_anitescu_potra(case, known)?;
    let contacts = case.problem.contacts().contacts();
    let is_spatial = contacts.iter().any(|c| c.tangents.len() == 2);
    if !is_spatial || case.options.friction_cone != FrictionCone::Round || own.distance <= EQUAL {
        return Ok(own);
    }
    let Some((impulses, velocity)) = explain::in_one_step(case, |_| 0.0)? else {
        return Ok(own);
    };
    let member = case.candidate(velocity.clone(), "member of a family".to_owned());
    if member.distance < own.distance && case.is_same(member.distance) {
        known.push(Known {
            velocity,
            origin: Origin::Simultaneous(impulses),
        });
        if !case.is_same(own.distance) {
            return Ok(member);
        }
    }
    Ok(own)
}

fn found_by_anitescu_potra(case: &Case<'_>, known: &mut Vec<Known>) -> Answer {
    let contacts = case.problem.contacts();
    let is_planar = contacts.contacts().iter().all(|c| c.tangents.len() < 2);
    let law = AnitescuPotra::default().with_friction_cone(case.options.friction_cone);
    let acting: Vec<ContactIndex> = firsts(&acting(case.problem)).collect();
    let is_enumerable = is_planar && acting.len() <= MAX_MODE_CONTACTS;
    let mut candidate = |outcome: ImpactOutcome| {
        known.push(Known {
            velocity: outcome.velocity_plus.clone(),
            origin: Origin::Simultaneous(outcome.impulses),
        });
        Candidate {
            is_all: is_enumerable,
            ..case.candidate(outcome.velocity_plus, String::new())
        }
    };
    let own = candidate(law.resolve(case.problem)?);
    // One outcome is enough if it equals the judged one.
    if !is_enumerable || own.distance <= EQUAL {
        return Ok(own);
    }
    let mut best = Ok(own);
    for outcome in simultaneous_outcomes(case.problem, &acting)? {
        let next = candidate(outcome);
        best = case.better(Some(best), Ok(next));
    }
    best
}

/// Computes every outcome of the simultaneous inelastic law for the contacts with the indices `acting`. All other
/// contacts get zero impulses.
fn simultaneous_outcomes(
    problem: &ImpactProblem,
    acting: &[ContactIndex],
) -> Result<Vec<ImpactOutcome>, ImpactError> {
    let all = problem.contacts();
    if acting.len() == all.len() {
        let found = all_simultaneous(problem)?.into_iter();
        return Ok(found.map(|solution| solution.outcome).collect());
    }
    let kept = acting.iter().map(|i| all.contact(*i).clone());
    let part = reposed(problem, kept.collect())?;
    let whole = |mut outcome: ImpactOutcome| {
        let mut impulses = DVector::zeros(all.n_rows());
        for (place, contact) in part.contacts().indices().zip(acting) {
            for (row, from) in all
                .row_range(*contact)
                .zip(part.contacts().row_range(place))
            {
                impulses[row] = outcome.impulses[from];
            }
        }
        outcome.impulses = impulses;
        outcome
    };
    let found = all_simultaneous(&part)?.into_iter();
    Ok(found.map(|solution| whole(solution.outcome)).collect())
}

/// Iterates over the first contact of each group in `told`. A group lists a contact and its exact repetitions.
fn firsts(told: &[Vec<ContactIndex>]) -> impl Iterator<Item = ContactIndex> + '_ {
    told.iter().filter_map(|copies| copies.first().copied())
}

/// Finds the order of single inelastic impacts whose outcome comes nearest to the judged velocity. All orders of a few
/// contacts are tried; for more contacts only the order of their closing speeds, its reverse, and the cyclic rotations of
/// both, so that the answer does not depend on the order in which contacts are listed. Contacts that the impact does not
/// reach come last, and exact repetitions of a contact follow it directly. Adds the outcomes to
/// `known`.
fn sequential(case: &Case<'_>, known: &mut Vec<Known>) -> Answer {
    let mut told = acting(case.problem);
    let given: Vec<usize> = (0..told.len()).collect();
    let orders = if given.len() <= MAX_PERMUTED {
        permutations(given.len())
    } else {
        sort(case, &mut told);
        let reverse: Vec<usize> = given.iter().rev().copied().collect();
        let rotated = |order: &Vec<usize>, k: usize| [&order[k..], &order[..k]].concat();
        let starts = given.iter();
        starts
            .flat_map(|k| [rotated(&given, *k), rotated(&reverse, *k)])
            .collect()
    };
    let whole = |order: Vec<usize>| -> Vec<ContactIndex> {
        let mut all: Vec<ContactIndex> = order.iter().flat_map(|k| told[*k].clone()).collect();
        let others = case.problem.contacts().indices();
        all.extend(others.filter(|i| !told.iter().any(|copies| copies.contains(i))));
        all
    };
    let friction_cone = case.options.friction_cone;
    let singles = SingleImpacts::new(case.problem, friction_cone)?;
    let mut best: Option<(f64, Sequential)> = None;
    let mut failed = None;
    let mut left = case.options.max_work / ORDERS_PART;
    for order in orders {
        if left == 0 {
            break;
        }
        let cycle = whole(order);
        let law = Sequential::default()
            .with_order(cycle.iter().map(|i| i.index()).collect())
            .with_friction_cone(friction_cone);
        let found = match singles.run(&cycle, law.max_impacts, &mut left) {
            Ok(found) => found,
            Err(error) => {
                failed = failed.or(Some(error));
                continue;
            }
        };
        let mut end = case.before();
        kernel::add_scaled(
            end.as_mut_slice(),
            1.0,
            &singles.space.change(&found.impulse),
        );
        let velocity = case.velocity(&end);
        let distance = case.distance(&velocity);
        let is_nearer = |least: f64| distance < least - EQUAL || distance <= EQUAL;
        if best.as_ref().is_none_or(|(least, _)| is_nearer(*least)) {
            best = Some((distance, law.clone()));
        }
        known.push(Known {
            velocity,
            origin: Origin::Sequential(found.sequence, law),
        });
        if distance <= EQUAL {
            break;
        }
    }
    let law = match (best, failed) {
        (Some((_, law)), _) => law,
        (None, Some(error)) => return Err(error),
        (None, None) => Sequential::default(),
    };
    let detail = match case.problem.contacts().len() {
        0 | 1 => String::new(),
        _ => format!("order {:?}", law.order),
    };
    Ok(Candidate {
        is_all: given.len() <= MAX_PERMUTED && left > 0,
        is_limited: left == 0,
        ..case.fixed(&law, detail)?
    })
}

/// Lists the orders of n items, in lexicographic order.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let longer = |orders: Vec<Vec<usize>>, _| {
        let others = |order: &Vec<usize>| (0..n).filter(|k| !order.contains(k)).collect::<Vec<_>>();
        let next = |order| {
            others(order)
                .into_iter()
                .map(|k| [&order[..], &[k]].concat())
        };
        orders.iter().flat_map(next).collect()
    };
    (0..n).fold(vec![Vec::new()], longer)
}
