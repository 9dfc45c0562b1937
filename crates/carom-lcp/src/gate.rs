//! The gate that every answer has to pass, whichever method found it.

use crate::backward::{SOLVED_ERROR, backward_error};
use crate::balance::Balance;
use crate::certificate::{Certificate, assess, certify};
use crate::enclosure::{Enclosed, enclose, refutes};
use crate::exact::{DECISIVE_DIM, Decision, Integers, Support, decide, solve_support};
use crate::small_enclosure::enclose_small;
use crate::work::Work;
use crate::{LcpRef, LcpSolution, LcpStatus, Limit, Proof};
use nalgebra::DVector;

/// The largest dimension at which rational arithmetic is tried.
const MAX_PROVEN_DIM: usize = 300;

/// A $w_i$ of a light answer below this fraction of the terms of its row may be negative in exact arithmetic.
const DOUBTFUL: f64 = 1e-9;

/// Proves that a complementary basis, `true` where $z_i$ is basic, has a solution near `z` (n). Where verified bounds
/// leave it open, `z` becomes that solution, rounded.
///
/// By verified bounds; where signs are exactly zero, in rational arithmetic, up to
/// [`MAX_PROVEN_DIM`] and a quarter of the budget.
pub(crate) fn prove(problem: LcpRef<'_>, basis: &[bool], z: &mut [f64], work: &mut Work) -> bool {
    match enclose_small(problem, basis, z) {
        Enclosed::Solution => return true,
        Enclosed::NoSolution => return false,
        Enclosed::Unknown => {}
    }
    // Basic variables that are zero may as well be nonbasic, and then rows may have no term at all.
    let support: Vec<bool> = z.iter().map(|z| *z > 0.0).collect();
    if support != basis && enclose_small(problem, &support, z) == Enclosed::Solution {
        return true;
    }
    match bounds(problem, basis, z, work) {
        Enclosed::Solution => return true,
        Enclosed::NoSolution => return false,
        Enclosed::Unknown if problem.dim() > MAX_PROVEN_DIM => return false,
        Enclosed::Unknown => {}
    }
    let given = work.left() / 4;
    let mut part = work.part(given);
    let support = solve_support(&Integers::new(problem), basis, &mut part);
    // Its pivots are no search.
    work.take_back(&part, given);
    match support {
        Support::Solution(exact) if backward_error(problem, &exact.z) <= SOLVED_ERROR => {
            z.copy_from_slice(&exact.z);
            true
        }
        _ => false,
    }
}

fn bounds(problem: LcpRef<'_>, basis: &[bool], z: &[f64], work: &mut Work) -> Enclosed {
    if work.spend(bounds_cost(basis)) {
        enclose(problem, basis, z)
    } else {
        Enclosed::Unknown
    }
}

/// Multiply-adds of verified bounds: an inverse and two products.
fn bounds_cost(basis: &[bool]) -> u64 {
    let k = basis.iter().filter(|is_basic| **is_basic).count() as u64;
    3 * k * k * k
}

/// True if verified bounds show that the answer of a basis misses a row by more than rounding of the data.
pub(crate) fn is_refuted(problem: LcpRef<'_>, basis: &[bool], z: &[f64], work: &mut Work) -> bool {
    work.spend(bounds_cost(basis)) && refutes(problem, basis, z)
}

/// True if some nonbasic $w_i$ is so small beside the terms of its row that bounds may show it to be negative.
pub(crate) fn is_doubtful(basis: &[bool], w: &[f64], terms: &[f64]) -> bool {
    let rows = w.iter().zip(terms);
    let mut slacks = basis.iter().zip(rows).filter(|(is_basic, _)| !**is_basic);
    slacks.any(|(_, (w, terms))| *terms > 0.0 && *w <= DOUBTFUL * terms)
}

/// Judges the answer of a method that claims `claimed`, with its basis, `true` where $z_i$ is basic.
///
/// Up to eight rows, and wherever an answer is heavy, it counts only if it is proven; beyond, it does not count if
/// verified bounds refute it by more than rounding of the data.
pub(crate) fn judged(
    problem: LcpRef<'_>,
    mut z: DVector<f64>,
    basis: &[bool],
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
        let n = problem.dim();
        if is_heavy || n <= DECISIVE_DIM {
            proof = prove(problem, basis, z.as_mut_slice(), work).then_some(Proof::Exact);
        } else {
            let (mut w, mut terms) = (vec![0.0; n], vec![0.0; n]);
            assess(problem, z.as_slice(), &mut w, &mut terms);
            let is_refuted =
                is_doubtful(basis, &w, &terms) && is_refuted(problem, basis, z.as_slice(), work);
            proof = (!is_refuted).then_some(Proof::Residual);
        }
    }
    let status = match claimed {
        _ if proof.is_some() => LcpStatus::Solved,
        LcpStatus::Solved => LcpStatus::Inaccurate,
        other => other,
    };
    let is_limited = status == LcpStatus::IterationLimit;
    LcpSolution {
        is_heavy,
        proof,
        limit: is_limited.then(|| work.limit().unwrap_or(Limit::Pivots)),
        n_pivots: work.n_pivots,
        ..certified(problem, z, status)
    }
}

/// An answer with its certificate, and nothing that is said of it beside the status.
pub(crate) fn certified(problem: LcpRef<'_>, z: DVector<f64>, status: LcpStatus) -> LcpSolution {
    let mut w = DVector::zeros(problem.dim());
    let certificate = certify(problem, z.as_slice(), w.as_mut_slice());
    LcpSolution {
        status,
        z,
        w,
        certificate,
        is_heavy: false,
        proof: None,
        farkas: Vec::new(),
        limit: None,
        attempt: None,
        n_pivots: 0,
    }
}

/// An exact solution, rounded.
pub(crate) fn proven(problem: LcpRef<'_>, z: Vec<f64>, n_pivots: u64) -> LcpSolution {
    LcpSolution {
        is_heavy: Balance::new().is_heavy(problem, &z),
        proof: Some(Proof::Exact),
        n_pivots,
        ..certified(problem, DVector::from_vec(z), LcpStatus::Solved)
    }
}

/// Decides a problem of up to eight rows of which a method found no solution; `found` is its best answer.
///
/// A budget that is used up stays the answer.
pub(crate) fn decided(problem: LcpRef<'_>, mut found: LcpSolution, work: &mut Work) -> LcpSolution {
    let is_solved = found.status == LcpStatus::Solved;
    if is_solved || problem.dim() > DECISIVE_DIM || work.limit().is_some() {
        return found;
    }
    let accept = |z: &[f64]| backward_error(problem, z) <= SOLVED_ERROR;
    let decision = decide(problem, &Integers::new(problem), accept, work);
    found.n_pivots = work.n_pivots;
    found.limit = None;
    (found.status, found.proof) = match decision {
        Decision::Solved(z) => return proven(problem, z, work.n_pivots),
        Decision::Farkas(u) => {
            found.farkas = u;
            (LcpStatus::Infeasible, Some(Proof::Farkas))
        }
        Decision::Bases => (LcpStatus::Infeasible, Some(Proof::Bases)),
        Decision::OutOfRange => (LcpStatus::Inaccurate, None),
        Decision::Undecided => {
            found.limit = Some(work.limit().unwrap_or(Limit::Work));
            (LcpStatus::IterationLimit, None)
        }
    };
    found
}

/// A certificate for no answer at all: that of $z = 0$.
pub(crate) fn certify_nothing(problem: LcpRef<'_>, z: &mut [f64], w: &mut [f64]) -> Certificate {
    z.fill(0.0);
    certify(problem, z, w)
}
