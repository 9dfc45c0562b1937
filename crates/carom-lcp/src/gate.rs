//! Final check of an answer, applied to the results of every method.

use crate::backward::{SOLVED_ERROR, backward_error};
use crate::balance::Balance;
use crate::certificate::{Certificate, assess, certify};
use crate::enclosure::{Enclosed, enclose, refutes};
use crate::exact::{DECISIVE_DIM, Integers, Support, solve_support};
use crate::small_enclosure::enclose_small;
use crate::work::Work;
use crate::{LcpRef, LcpSolution, LcpStatus, Limit, Proof};
use nalgebra::DVector;

/// Largest dimension at which rational arithmetic is tried.
const MAX_PROVEN_DIM: usize = 300;

/// A $w_i$ below this fraction of the terms of its row may be negative in exact arithmetic. The check applies
/// to answers that are not heavy.
const DOUBTFUL: f64 = 1e-9;

/// Proves that a complementary basis has a nonnegative solution near `z` (n entries). `basis` is `true` where $z_i$
/// is basic and $w_i = (Mz + q)_i = 0$; elsewhere $z_i = 0$. Returns false if no proof is found.
///
/// Proven error bounds are tried first. If a sign is zero to working precision, rational arithmetic decides, for at
/// most [`MAX_PROVEN_DIM`] rows and with at most a quarter of the remaining budget `work`; `z` is then replaced by
/// the rounded exact solution.
pub(crate) fn prove(problem: LcpRef<'_>, basis: &[bool], z: &mut [f64], work: &mut Work) -> bool {
    match enclose_small(problem, basis, z) {
        Enclosed::Solution => return true,
        Enclosed::NoSolution => return false,
        Enclosed::Unknown => {}
    }
    // A basic variable that is zero can also be nonbasic; then rows may have no terms except the constant.
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
    // The pivots of the exact solution are not counted as pivots of the search.
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

/// Returns the number of multiply-adds needed to compute proven error bounds for a basis: one matrix inverse and two
/// matrix products. `basis` is `true` where $z_i$ is basic.
fn bounds_cost(basis: &[bool]) -> u64 {
    let k = basis.iter().filter(|is_basic| **is_basic).count() as u64;
    3 * k * k * k
}

/// True if proven error bounds show that the answer `z` of a basis violates a row by more than the rounding error
/// of the data. `basis` is `true` where $z_i$ is basic. The cost is charged to the budget `work`.
pub(crate) fn is_refuted(problem: LcpRef<'_>, basis: &[bool], z: &[f64], work: &mut Work) -> bool {
    work.spend(bounds_cost(basis)) && refutes(problem, basis, z)
}

/// True if at least one $w_i = (Mz + q)_i$ with nonbasic $z_i$ may be negative in exact arithmetic: its computed value
/// is negative, or not large compared with the terms of its row. `basis` is `true` where $z_i$ is basic; `terms` holds
/// for each row the sum of the magnitudes of the terms of $w_i$.
pub(crate) fn is_doubtful(basis: &[bool], w: &[f64], terms: &[f64]) -> bool {
    let rows = w.iter().zip(terms);
    let mut slacks = basis.iter().zip(rows).filter(|(is_basic, _)| !**is_basic);
    slacks.any(|(_, (w, terms))| *terms > 0.0 && *w <= DOUBTFUL * terms)
}

/// Checks the answer `z` of a method and determines its status. `claimed` is the status reported by the method;
/// `basis` is `true` where $z_i$ is basic.
///
/// With at most eight rows, and for heavy answers (very large compared with the vector $q$), an answer is accepted
/// only if it is proven. Other answers are rejected if proven error bounds show a violation larger than the
/// rounding error of the data.
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

/// Computes the residuals of the answer `z` and returns it as a solution with the given status. The other
/// properties of the solution keep their defaults.
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

/// Returns an exact solution, rounded to double precision, with its residuals and the status of a proven solution.
/// `n_pivots` is the number of pivots made so far.
pub(crate) fn proven(problem: LcpRef<'_>, z: Vec<f64>, n_pivots: u64) -> LcpSolution {
    LcpSolution {
        is_heavy: Balance::new().is_heavy(problem, &z),
        proof: Some(Proof::Exact),
        n_pivots,
        ..certified(problem, DVector::from_vec(z), LcpStatus::Solved)
    }
}

/// Sets `z` to zero and returns the residuals of this answer, for problems for which no method has an answer. Writes
/// $w = q$ into `w`.
pub(crate) fn certify_nothing(problem: LcpRef<'_>, z: &mut [f64], w: &mut [f64]) -> Certificate {
    z.fill(0.0);
    certify(problem, z, w)
}
