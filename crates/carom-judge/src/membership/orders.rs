//! Chains of single impacts in orders that are tried if no other method led to the velocity.
//!
//! The answer of the sequential law depends on the order of contacts, which a judge does not know. All orders of up to
//! five contacts are solved before the search begins; for more contacts that costs more than most searches.

use super::{Known, Origin};
use crate::Case;
use crate::acting::sort;
use crate::inelastic::MAX_PERMUTED;
use crate::tasks::map;
use crate::tolerances::EQUAL;
use carom_contact::{
    ContactIndex, ContactSet, FrictionCone, ImpactError, ImpactLaw, ImpactProblem,
};
use carom_impact::frictional::{AnitescuPotra, Sequential};
use carom_impact::internal::SingleImpacts;
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;

/// Largest number of contacts all of whose orders are tried. Of seven contacts there are 5040 orders, which take longer than
/// the rest of the search.
const MAX_ALL: usize = 6;

/// Largest number of steps of a chain that is listed as a witness.
pub(super) const MAX_LISTED: usize = 256;

/// Largest number of impacts in one order.
const MAX_IMPACTS: u64 = 64;

/// Number of orders in one parallel task.
const TASK: u64 = 24;

/// Searches for an order of single inelastic impacts that ends at the judged velocity, and returns the first one found as
/// an answer of the sequential law. The number of multiply-adds is added to `work`, and the search stops when `work`
/// reaches `budget`. An order that is not finished by then is dropped.
pub(super) fn in_some_order(
    case: &Case<'_>,
    budget: u64,
    work: &mut u64,
) -> Result<Option<Known>, ImpactError> {
    let m = case.problem.contacts().len();
    if m <= MAX_PERMUTED || m > MAX_ALL {
        return Ok(None);
    }
    let singles = SingleImpacts::new(case.problem, case.options.friction_cone)?;
    let mut sorted: Vec<Vec<ContactIndex>> = ContactIndex::all(m).map(|i| vec![i]).collect();
    sort(case, &mut sorted);
    let sorted = sorted.concat();
    let n_orders: u64 = (1..=m as u64).product();
    let mut first = 0;
    while first < n_orders && *work < budget {
        let end = n_orders.min(first + 4 * TASK);
        let tasks = (end - first).div_ceil(TASK);
        let left = budget - *work;
        let found = map(tasks as usize, |task| {
            let start = first + task as u64 * TASK;
            let mut used = 0;
            let mut orders = start..end.min(start + TASK);
            let known =
                orders.find_map(|k| along(case, &singles, &order(&sorted, k), left, &mut used));
            (known, used)
        });
        let mut witness = None;
        for (known, used) in found {
            *work = work.saturating_add(used);
            witness = witness.or(known);
        }
        if witness.is_some() {
            return Ok(witness);
        }
        first = end;
    }
    Ok(None)
}

/// Solves the single inelastic impacts of the contacts in this order. Returns the answer if the last impact ends at
/// the judged velocity; otherwise `None`. Multiply-adds are added to `work`, and at most `budget` are used.
fn along(
    case: &Case<'_>,
    singles: &SingleImpacts<'_>,
    order: &[ContactIndex],
    budget: u64,
    work: &mut u64,
) -> Option<Known> {
    let mut left = budget.saturating_sub(*work);
    let before = left;
    let found = singles.run(order, MAX_IMPACTS, &mut left);
    *work += before - left;
    let found = found.ok()?;
    let mut end = case.before();
    let change = singles.space.change(&found.impulse);
    kernel::add_scaled(end.as_mut_slice(), 1.0, &change);
    let velocity = case.velocity(&end);
    let law = Sequential {
        order: order.iter().map(|i| i.index()).collect(),
        friction_cone: case.options.friction_cone,
        ..Sequential::default()
    };
    (case.distance(&velocity) <= EQUAL).then_some(Known {
        velocity,
        origin: Origin::Sequential(found.sequence, law),
    })
}

/// Returns the order of the contacts in `sorted` with the number `k`: every order has one.
fn order(sorted: &[ContactIndex], k: u64) -> Vec<ContactIndex> {
    let mut order = sorted.to_vec();
    let mut rest = k;
    for i in (1..order.len()).rev() {
        let places = i as u64 + 1;
        order.swap(i, (rest % places) as usize);
        rest /= places;
    }
    order
}

/// Impulses on all contact rows and velocity after an impact.
type Impact = (DVector<f64>, Tangent);

/// Solver of chains of single inelastic impacts. Chains that begin with the same contacts share these impacts.
pub(super) struct Chains<'p> {
    problem: &'p ImpactProblem<'p>,
    single: AnitescuPotra,
    /// Every contact alone.
    alone: Vec<ContactSet<'p>>,
    /// Chains solved so far: order of contacts, and impacts.
    solved: Vec<(Vec<usize>, Vec<Impact>)>,
}

impl<'p> Chains<'p> {
    pub(super) fn new(
        problem: &'p ImpactProblem<'p>,
        friction_cone: FrictionCone,
    ) -> Result<Self, ImpactError> {
        let all = problem.contacts();
        let alone = all.contacts().iter().map(|contact| {
            let forms = all.constraint_forms().to_vec();
            ContactSet::constrained(all.metric(), vec![contact.clone()], forms)
        });
        Ok(Self {
            problem,
            single: AnitescuPotra {
                friction_cone,
                ..AnitescuPotra::default()
            },
            alone: alone.collect::<Result<_, _>>()?,
            solved: Vec::new(),
        })
    }

    /// Solves one inelastic impact of a single contact after the other, in the given order of contacts. Returns the
    /// impulses on all contact rows and the velocity after each impact.
    pub(super) fn solve(&mut self, order: &[usize]) -> Result<Vec<Impact>, ImpactError> {
        let all = self.problem.contacts();
        let order = order.iter().take(MAX_LISTED);
        let order: Vec<usize> = order.copied().filter(|i| *i < self.alone.len()).collect();
        let shared = |solved: &[usize]| {
            let pairs = solved.iter().zip(&order);
            pairs.take_while(|(one, other)| one == other).count()
        };
        let begun = self.solved.iter().max_by_key(|(solved, _)| shared(solved));
        let mut impacts: Vec<Impact> = match begun {
            Some((solved, impacts)) => impacts.iter().take(shared(solved)).cloned().collect(),
            None => Vec::new(),
        };
        for contact in &order[impacts.len()..] {
            let before = impacts.last().map(|(_, velocity)| velocity);
            let before = before.unwrap_or(self.problem.velocity_minus()).clone();
            let posed = ImpactProblem::reposed(&self.alone[*contact], before)?;
            let outcome = self.single.resolve(&posed)?;
            let mut impulses = DVector::zeros(all.n_rows());
            let rows = all.row_range(ContactIndex::new(*contact));
            for (row, l) in rows.zip(outcome.impulses.iter()) {
                impulses[row] = *l;
            }
            impacts.push((impulses, outcome.velocity_plus));
        }
        self.solved.push((order, impacts.clone()));
        Ok(impacts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_of_six_contacts_are_tried() {
        let sorted: Vec<ContactIndex> = ContactIndex::all(MAX_ALL).collect();
        let mut all: Vec<Vec<ContactIndex>> = (0..720).map(|k| order(&sorted, k)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 720);
    }
}
