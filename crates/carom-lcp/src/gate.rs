//! What every answer has to pass, whichever method found it.

use crate::backward::{SOLVED_ERROR, backward_error};
use crate::balance::Balance;
use crate::certificate::{Certificate, certify};
use crate::enclosure::{Enclosed, enclose};
use crate::exact::{DECISIVE_DIM, Decision, Integers, Support, decide, solve_support};
use crate::work::Work;
use crate::{LcpRef, LcpSolution, LcpStatus, Limit, Proof};
use nalgebra::DVector;

/// The largest dimension at which rational arithmetic is tried.
const MAX_PROVEN_DIM: usize = 300;

/// Proves that a complementary basis, `true` where $z_i$ is basic, has a solution; writes it into
/// `z` (n), to the last digits.
///
/// By verified bounds; where signs are exactly zero, in rational arithmetic, up to
/// [`MAX_PROVEN_DIM`] and a quarter of the budget.
pub(crate) fn prove(problem: LcpRef<'_>, basis: &[bool], z: &mut [f64], work: &mut Work) -> bool {
    let n = problem.dim();
    let k = basis.iter().filter(|is_basic| **is_basic).count() as u64;
    if !work.spend(3 * k * k * k) {
        return false;
    }
    match enclose(problem, basis, z) {
        Enclosed::Solution => return true,
        Enclosed::NoSolution => return false,
        Enclosed::Unknown if n > MAX_PROVEN_DIM => return false,
        Enclosed::Unknown => {}
    }
    let given = work.left() / 4;
    let mut part = work.part(given);
    let support = solve_support(&Integers::new(problem), basis, &mut part);
    // Its pivots are no search.
    work.take_back(&part, given);
    match support {
        Support::Solution(exact) if backward_error(problem, &exact) <= SOLVED_ERROR => {
            z.copy_from_slice(&exact);
            true
        }
        _ => false,
    }
}

/// Judges an answer of a method that claims `claimed`.
pub(crate) fn judged(
    problem: LcpRef<'_>,
    mut z: DVector<f64>,
    claimed: LcpStatus,
    work: &mut Work,
) -> LcpSolution {
    let is_number = z.iter().all(|z| z.is_finite());
    if !is_number {
        z.fill(0.0);
    }
    let is_heavy = Balance::new().is_heavy(problem, z.as_slice());
    let mut proof = None;
    if backward_error(problem, z.as_slice()) <= SOLVED_ERROR {
        let basis: Vec<bool> = z.iter().map(|z| *z > 0.0).collect();
        if !is_heavy {
            proof = Some(Proof::Residual);
        } else if prove(problem, &basis, z.as_mut_slice(), work) {
            proof = Some(Proof::Exact);
        }
    }
    let mut w = DVector::zeros(problem.dim());
    let certificate = certify(problem, z.as_slice(), w.as_mut_slice());
    let status = match claimed {
        _ if proof.is_some() => LcpStatus::Solved,
        LcpStatus::Solved => LcpStatus::Inaccurate,
        other => other,
    };
    let is_limited = status == LcpStatus::IterationLimit;
    LcpSolution {
        status,
        z,
        w,
        certificate,
        is_heavy,
        proof,
        farkas: Vec::new(),
        limit: is_limited.then(|| work.limit().unwrap_or(Limit::Pivots)),
        attempt: None,
        n_pivots: work.n_pivots,
    }
}

/// A certificate for no answer at all: that of $z = 0$.
pub(crate) fn certify_nothing(problem: LcpRef<'_>, z: &mut [f64], w: &mut [f64]) -> Certificate {
    z.fill(0.0);
    certify(problem, z, w)
}

/// An answer of a method that decides: up to eight rows it is [`Solved`](LcpStatus::Solved) exactly if the problem has
/// a solution.
///
/// A basis is taken unseen only if verified bounds prove its signs; else rational arithmetic decides the basis, and if
/// that fails the problem. Beyond eight rows an answer whose basis is refuted by verified bounds is none. A budget that is
/// used up stays the answer.
pub(crate) fn settled(
    problem: LcpRef<'_>,
    mut solution: LcpSolution,
    work: &mut Work,
) -> LcpSolution {
    let is_solved = solution.status == LcpStatus::Solved;
    let basis: Vec<bool> = solution.z.iter().map(|z| *z > 0.0).collect();
    let is_proven = matches!(
        solution.proof,
        Some(Proof::Exact | Proof::Farkas | Proof::Bases)
    );
    if is_proven || (!is_solved && work.limit().is_some()) {
        return solution;
    }
    if problem.dim() > DECISIVE_DIM {
        return solution;
    }
    if is_solved && prove(problem, &basis, solution.z.as_mut_slice(), work) {
        return judged_again(problem, solution);
    }
    let accept = |z: &[f64]| backward_error(problem, z) <= SOLVED_ERROR;
    match decide(problem, &Integers::new(problem), accept, work) {
        Decision::Solved(z) => {
            solution.z = DVector::from_vec(z);
            (solution.status, solution.proof) = (LcpStatus::Solved, Some(Proof::Exact));
            solution.limit = None;
            return judged_again(problem, solution);
        }
        Decision::Farkas(u) => {
            (solution.status, solution.proof) = (LcpStatus::Infeasible, Some(Proof::Farkas));
            solution.farkas = u;
        }
        Decision::Bases => {
            (solution.status, solution.proof) = (LcpStatus::Infeasible, Some(Proof::Bases));
        }
        Decision::OutOfRange => {
            (solution.status, solution.proof) = (LcpStatus::Inaccurate, None);
        }
        Decision::Undecided => {
            (solution.status, solution.proof) = (LcpStatus::IterationLimit, None);
            solution.limit = Some(work.limit().unwrap_or(Limit::Work));
            return solution;
        }
    }
    solution.limit = None;
    solution
}

/// The solution with the certificate of its variables.
pub(crate) fn judged_again(problem: LcpRef<'_>, mut solution: LcpSolution) -> LcpSolution {
    let mut w = DVector::zeros(problem.dim());
    solution.certificate = certify(problem, solution.z.as_slice(), w.as_mut_slice());
    solution.w = w;
    solution
}
