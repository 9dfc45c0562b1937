//! Search for a solution among the solutions of fewer contacts.
//!
//! Contacts that press against each other can have solutions although no path from soft contacts leads to one: along the
//! path impulses grow without end. Often only some of the contacts push in a solution, and those alone do not press against
//! each other. Paths on which one contact is softer or harder than the others lead to other solutions.

use super::answer::{ConeAnswer, ConeSelection, ConeStart};
use super::newton::largest;
use super::problem::{ConeProblem, WIDTH};
use super::residual::own_residual_of;
use super::workspace::{ConeWorkspace, GOOD_RESIDUAL};
use crate::LcpError;

/// Largest number of contacts whose subsets are examined: there are 63 of six.
const MAX_CONTACTS: usize = 6;

/// Compliances of one contact, as multiples of those of the others: so different that another contact takes up the load.
const WEIGHTS: [f64; 2] = [0.01, 100.0];

/// Ratio of impulses to velocities up to which at least ten digits of the velocities after the impact are known.
const HEAVY: f64 = 1e6;

impl ConeWorkspace {
    /// Searches a solution in which some contacts do not push, if `selection` asks for the limit of compliant contacts and all
    /// contacts together have none: solves the problem of each subset of the contacts by following the solutions of
    /// compliant contacts to their limit. See [`try_subsets`](Self::try_subsets).
    pub(super) fn try_limits_of_some(
        &mut self,
        problem: &ConeProblem<'_>,
        selection: ConeSelection,
        answer: &mut ConeAnswer,
    ) -> Result<bool, LcpError> {
        // Impulses of bounded size are searched in more ways by `try_subsets`.
        let is_sought = selection == ConeSelection::Even && !problem.largest().is_finite();
        if !is_sought || !has_few_subsets(problem) {
            return Ok(false);
        }
        self.try_subsets_by(problem, [limits(problem)], answer)
    }

    /// Searches a solution with bounded impulses: solves the problem of each subset of the contacts by following the solutions of
    /// compliant contacts to their limit. If no subset has a solution, follows the solutions of all contacts with one that is
    /// softer or harder than the others. Of the solutions that leave no other contact
    /// approaching, the one with the least change of velocity, in the kinetic norm, replaces the answer. Another one with other
    /// velocities counts as another solution of the problem. Returns false if no
    /// such solution is found, if the size of the impulses is not bounded, or the problem has too many contacts, or floors, caps or slip
    /// directions.
    pub(super) fn try_subsets(
        &mut self,
        problem: &ConeProblem<'_>,
        answer: &mut ConeAnswer,
    ) -> Result<bool, LcpError> {
        if !problem.largest().is_finite() || !has_few_subsets(problem) {
            return Ok(false);
        }
        let n = problem.n_contacts();
        let weighted = (0..n).flat_map(|contact| {
            let search = |weight| Search::Weighted { contact, weight };
            WEIGHTS.map(|weight| (whole(n), search(weight)))
        });
        self.try_subsets_by(problem, [limits(problem), weighted.collect()], answer)
    }

    /// Searches solutions of subsets of the contacts, in rounds until one of them finds a solution of all contacts.
    fn try_subsets_by<const N: usize>(
        &mut self,
        problem: &ConeProblem<'_>,
        rounds: [Vec<(usize, Search)>; N],
        answer: &mut ConeAnswer,
    ) -> Result<bool, LcpError> {
        let n = problem.n_contacts();
        let mut part = ConeWorkspace::below(self.depth + 1);
        let mut least: Option<(f64, Vec<f64>)> = None;
        let mut others: Vec<Vec<f64>> = Vec::new();
        for round in rounds {
            for (members, way) in round {
                let contacts: Vec<usize> = (0..n).filter(|i| members >> i & 1 == 1).collect();
                let Some(impulse) = solve_part(problem, &contacts, way, &mut part)? else {
                    continue;
                };
                self.n_newton_steps += part.n_newton_steps;
                let Some((change, scaled)) = self.solves(problem, &impulse) else {
                    continue;
                };
                let is_least = least.as_ref().is_none_or(|(other, _)| change < *other);
                let other = if is_least {
                    least.replace((change, scaled)).map(|(_, scaled)| scaled)
                } else {
                    Some(scaled)
                };
                others.extend(other);
            }
            if least.is_some() {
                break;
            }
        }
        let Some((_, impulse)) = least else {
            return Ok(false);
        };
        self.start = impulse;
        let is_found = self.attempt(problem, ConeStart::Subset, answer);
        for other in others.iter().filter(|_| is_found) {
            if !self.another.differs(&self.after, &self.system) {
                self.another.replace(&self.system, other);
            }
        }
        Ok(is_found)
    }

    /// Returns the square of the change of velocity that impulses make, in the kinetic norm, and the impulses on scaled
    /// rows. `None` if the impulses do not solve the problem, or are so large that they hide the velocities.
    fn solves(&self, problem: &ConeProblem<'_>, impulse: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (mut after, mut terms) = (Vec::new(), Vec::new());
        problem.velocity_and_terms(impulse, &mut after, &mut terms);
        let residual = own_residual_of(problem, impulse, &after, &terms);
        let scaled = impulse.iter().zip(&self.system.factors);
        let scaled: Vec<f64> = scaled.map(|(l, factor)| l / factor).collect();
        let is_light = largest(&scaled) <= HEAVY * self.system.speed();
        let changes = after.iter().zip(problem.velocity()).zip(impulse);
        let change = changes
            .map(|((after, before), l)| (after - before) * l)
            .sum();
        (residual <= GOOD_RESIDUAL && is_light).then_some((change, scaled))
    }
}

/// True if subsets of the contacts are examined: of few contacts, without floors, caps and slip directions.
fn has_few_subsets(problem: &ConeProblem<'_>) -> bool {
    let n = problem.n_contacts();
    let is_plain = |i: usize| {
        problem.floor(i) == 0.0 && !problem.cap(i).is_finite() && problem.slip(i).is_none()
    };
    (2..=MAX_CONTACTS).contains(&n) && (0..n).all(is_plain)
}

/// Subset of all `n` contacts: one bit for each.
fn whole(n: usize) -> usize {
    (1 << n) - 1
}

/// Returns the searches among some of the contacts, of which one approaches.
fn limits(problem: &ConeProblem<'_>) -> Vec<(usize, Search)> {
    let n = problem.n_contacts();
    let approaching = (0..n).filter(|i| problem.velocity()[i * WIDTH] < 0.0);
    let approaching = approaching.fold(0, |sum, i| sum | 1 << i);
    let some = (1..whole(n)).filter(|members| members & approaching != 0);
    some.map(|members| (members, Search::Limit)).collect()
}

/// Way to search a solution of some of the contacts. All contacts together have been searched along the solutions for equally
/// compliant contacts before.
#[derive(Clone, Copy, PartialEq)]
enum Search {
    /// Limit of the solutions for equally compliant contacts.
    Limit,
    /// Limit of the solutions for compliant contacts of which one has `weight` times the compliance. Where impulses of equally
    /// compliant contacts grow without end, these often come to a solution.
    Weighted { contact: usize, weight: f64 },
}

/// Solves the problem of some contacts alone. Returns the impulses of all contacts, which are zero at the others; `None` if
/// no solution is found or no impulse acts.
fn solve_part(
    problem: &ConeProblem<'_>,
    contacts: &[usize],
    way: Search,
    workspace: &mut ConeWorkspace,
) -> Result<Option<Vec<f64>>, LcpError> {
    let of = |values: &[f64]| -> Vec<f64> {
        let rows = contacts.iter().map(|i| &values[i * WIDTH..][..WIDTH]);
        rows.flatten().copied().collect()
    };
    let velocity = of(problem.velocity());
    let columns = contacts.iter().flat_map(|i| i * WIDTH..(i + 1) * WIDTH);
    let delassus: Vec<f64> = columns.flat_map(|j| of(problem.column(j))).collect();
    let friction: Vec<f64> = contacts.iter().map(|i| problem.friction(*i)).collect();
    let restitution: Vec<f64> = contacts.iter().map(|i| problem.restitution(*i)).collect();
    let part = ConeProblem::new(&delassus, &velocity, &friction, &restitution)?;
    let is_found = match (contacts, way) {
        ([_], _) => workspace.closed_form(&part, ConeSelection::Even).is_some(),
        (_, Search::Limit) => {
            let mut answer = workspace.begin(&part, ConeStart::Compliant)?;
            workspace.try_branch(&part, &mut answer)
        }
        (_, Search::Weighted { contact, weight }) => {
            let mut answer = workspace.begin(&part, ConeStart::Compliant)?;
            let rows = workspace.system.compliance.chunks_exact_mut(WIDTH);
            let own = rows.skip(contact).take(1).flatten();
            own.for_each(|compliance| *compliance *= weight);
            workspace.try_branch(&part, &mut answer)
        }
    };
    if !is_found {
        return Ok(None);
    }
    let mut impulse = vec![0.0; problem.dim()];
    for (i, own) in contacts.iter().zip(workspace.impulse().chunks_exact(WIDTH)) {
        impulse[i * WIDTH..][..WIDTH].copy_from_slice(own);
    }
    Ok(Some(impulse))
}
