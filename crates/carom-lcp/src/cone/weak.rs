//! Weak contacts: those that a strong impact hardly reaches.
//!
//! If another contact of the problem takes 1 N·s, the answer at a contact whose velocities are at rounding
//! level is lost in the last digits of the larger numbers. The strong impact does not act there, so the block
//! of the weak contacts is solved separately, in its own scale.

use super::answer::{ConeAnswer, ConeSelection, ConeStart};
use super::problem::{ConeProblem, WIDTH};
use super::sparse::{SparseConeOptions, SparseConeProblem};
use super::workspace::{ConeWorkspace, GOOD_RESIDUAL};
use crate::{LcpError, LcpStatus};

/// Residual at which the method for many contacts ends: rounding level, so that its result is as good as that
/// of Newton's method.
const SPARSE_TOLERANCE: f64 = 1e-14;

/// A contact is weak if the terms of its velocities are below this fraction of the largest ones. Half of the
/// digits then separate the two scales.
const WEAK: f64 = 1e-8;

/// Largest number of nested scales: three times eight digits are more than double precision has.
const MAX_DEPTH: usize = 3;

impl ConeWorkspace {
    /// Solves the problem by the method for many contacts, and then by Newton's method from its result. Stores the
    /// best impulses in the workspace, and their residual in `answer`. Returns true if the impulses are accurate
    /// enough. Returns false for problems with caps (largest normal impulses), which the method for many contacts does
    /// not support.
    pub(super) fn try_sparse(
        &mut self,
        problem: &ConeProblem<'_>,
        answer: &mut ConeAnswer,
    ) -> Result<bool, LcpError> {
        if (0..problem.n_contacts()).any(|i| problem.cap(i).is_finite()) {
            return Ok(false);
        }
        let sparse = SparseConeProblem::of_dense(problem)?;
        let options = SparseConeOptions::new(SPARSE_TOLERANCE, GOOD_RESIDUAL)?;
        let found = self.sparse.solve_from(&sparse, &[], &options)?;
        self.n_newton_steps += found.n_newton_steps;
        let mut impulse = self.sparse.impulse().to_vec();
        let is_reached = found.status == LcpStatus::Solved;
        for _ in 0..2 {
            self.start.clear();
            let scaled = impulse.iter().zip(&self.system.factors);
            self.start.extend(scaled.map(|(l, factor)| l / factor));
            if self.attempt(problem, ConeStart::Sparse, answer) {
                return Ok(true);
            }
            if !is_reached || !solve_weak(problem, &mut impulse, self.depth)? {
                break;
            }
        }
        Ok(false)
    }
}

/// Computes the impulses of the weak contacts again, with all other impulses fixed, and overwrites them in `impulse`.
/// Weak contacts have much smaller impulses than the others. Weak contacts can have still weaker ones among them:
/// `depth` counts the enclosing calls of this function. Returns false if there are no weak contacts or no solution was
/// found.
///
/// # Errors
///
/// The errors of [`ConeWorkspace::solve`].
pub(super) fn solve_weak(
    problem: &ConeProblem<'_>,
    impulse: &mut [f64],
    depth: usize,
) -> Result<bool, LcpError> {
    let (mut after, mut terms) = (Vec::new(), Vec::new());
    problem.velocity_and_terms(impulse, &mut after, &mut terms);
    let size = |i: usize| {
        let row = |k: usize| terms[i * WIDTH + k] / problem.diagonal(i)[0].sqrt();
        row(0).max(row(1)).max(row(2))
    };
    let n = problem.n_contacts();
    let largest = (0..n).map(size).fold(0.0, f64::max);
    let weak: Vec<usize> = (0..n).filter(|i| size(*i) < WEAK * largest).collect();
    let is_plain = |i: &usize| problem.floor(*i) == 0.0 && !problem.cap(*i).is_finite();
    if weak.is_empty() || depth >= MAX_DEPTH || !weak.iter().all(is_plain) {
        return Ok(false);
    }
    let rows: Vec<usize> = weak
        .iter()
        .flat_map(|i| i * WIDTH..(i + 1) * WIDTH)
        .collect();
    let mut kept = impulse.to_vec();
    for row in &rows {
        kept[*row] = 0.0;
    }
    problem.velocity_and_terms(&kept, &mut after, &mut terms);
    // Newton's restitution applies to the velocity before the impact, without the changes by the other
    // contacts.
    let velocity: Vec<f64> = rows
        .iter()
        .map(|r| after[*r] + bounce(problem, *r))
        .collect();
    let friction: Vec<f64> = weak.iter().map(|i| problem.friction(*i)).collect();
    let columns = rows.iter().map(|j| problem.column(*j));
    let delassus: Vec<f64> = columns
        .flat_map(|column| rows.iter().map(|i| column[*i]))
        .collect();
    let part = ConeProblem::new(&delassus, &velocity, &friction, &[])?;
    let mut workspace = ConeWorkspace::below(depth + 1);
    let answer = workspace.solve(&part, ConeSelection::Even)?;
    if answer.status != LcpStatus::Solved {
        return Ok(false);
    }
    for (row, l) in rows.iter().zip(workspace.impulse()) {
        impulse[*row] = *l;
    }
    Ok(true)
}

/// Returns the velocity that Newton's restitution adds to a row: $e b_n$ for a normal row, and 0 for a tangent row.
/// Here $e$ is the coefficient of restitution and $b_n$ the normal velocity before the impact.
fn bounce(problem: &ConeProblem<'_>, row: usize) -> f64 {
    match row % WIDTH {
        0 => problem.restitution(row / WIDTH) * problem.velocity()[row],
        _ => 0.0,
    }
}
