//! Decides whether a problem has a solution, in rational arithmetic.
//!
//! Without complementarity the problem is a system of linear inequalities. The dual simplex method with a zero
//! objective decides it. If the point found has $z_i w_i > 0$, every solution still has $z_i = 0$ or $w_i = 0$:
//! two smaller systems. The tree of these systems covers all $2^n$ complementary cones, including those of
//! singular bases.

use super::dictionary::Dictionary;
use super::integers::Integers;
use super::sum::ratio;
use crate::LcpRef;
use crate::farkas::is_certificate;
use crate::work::Work;
use num_bigint::{BigInt, Sign};

/// Relative change of the entries that leaves room for the rounding errors of a certificate.
const ROOM: f64 = 1e-9;

/// Result of an exact decision about a problem.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    /// Variables of a solution (n entries), rounded to nearest.
    Solved(Vec<f64>),
    /// Certificate $u$ (n entries) that no $z \ge 0$ satisfies $Mz + q \ge 0$; exact in double precision.
    Farkas(Vec<f64>),
    /// No solution exists: no complementary cone contains the vector.
    Bases,
    /// Solutions exist, but none was found that is accurate after rounding to double precision.
    OutOfRange,
    /// The budget was exhausted.
    Undecided,
}

/// Decides in rational arithmetic if a linear complementarity problem has a solution. `integers` is the problem
/// converted to integers. `accept` returns true if a solution rounded to double precision is accurate enough.
/// `work` is the budget of multiply-adds.
pub(crate) fn decide(
    problem: LcpRef<'_>,
    integers: &Integers,
    accept: impl FnMut(&[f64]) -> bool,
    work: &mut Work,
) -> Decision {
    let mut root = Dictionary::of_slacks(integers);
    match restore(&mut root, work) {
        Restored::Infeasible(row) => proof(problem, &root, row, integers, work),
        Restored::Undecided => Decision::Undecided,
        Restored::Feasible => search(root, integers, accept, work),
    }
}

/// Decides in rational arithmetic if any $z \ge 0$ satisfies $Mz + q \ge 0$, without the condition of
/// complementarity. Returns [`Decision::Farkas`] or [`Decision::Bases`] if there is no such $z$. Returns `None` if
/// such a $z$ exists or the budget `work` is exhausted. `integers` is the problem converted to integers.
pub(crate) fn feasibility(
    problem: LcpRef<'_>,
    integers: &Integers,
    work: &mut Work,
) -> Option<Decision> {
    let mut root = Dictionary::of_slacks(integers);
    match restore(&mut root, work) {
        Restored::Infeasible(row) => Some(proof(problem, &root, row, integers, work)),
        Restored::Undecided | Restored::Feasible => None,
    }
}

fn search(
    root: Dictionary,
    integers: &Integers,
    mut accept: impl FnMut(&[f64]) -> bool,
    work: &mut Work,
) -> Decision {
    let n = integers.dim();
    let mut is_out_of_range = false;
    // Feasible dictionaries, each with a list of the pairs in which one variable is fixed at zero.
    let mut open = vec![(root, vec![false; n])];
    while let Some((dictionary, fixed)) = open.pop() {
        let is_positive = |variable: usize| dictionary.is_positive(variable);
        let violated = (0..n).find(|i| is_positive(*i) && is_positive(n + i));
        let pair = match violated {
            Some(pair) => pair,
            None => {
                let z = dictionary.variables(integers);
                if accept(&z) {
                    return Decision::Solved(z);
                }
                // This solution cannot be rounded to double precision accurately enough, but another one may.
                match fixed.iter().position(|is_fixed| !is_fixed) {
                    Some(pair) => pair,
                    None => {
                        is_out_of_range = true;
                        continue;
                    }
                }
            }
        };
        let mut fixed = fixed;
        fixed[pair] = true;
        for variable in [pair, n + pair] {
            let mut child = dictionary.clone();
            match fix(&mut child, variable, work) {
                Restored::Feasible => open.push((child, fixed.clone())),
                Restored::Infeasible(_) => {}
                Restored::Undecided => return Decision::Undecided,
            }
        }
    }
    if is_out_of_range {
        Decision::OutOfRange
    } else {
        Decision::Bases
    }
}

/// Outcome of the dual simplex method.
enum Restored {
    Feasible,
    /// Index of a row that is negative for all nonnegative values of the nonbasic variables.
    Infeasible(usize),
    Undecided,
}

/// Fixes a variable at zero, and then makes all basic variables nonnegative again by pivots of the dual simplex
/// method. Variables are numbered $w_0, \dots, w_{n-1}, z_0, \dots, z_{n-1}$. `work` is the budget of multiply-adds.
fn fix(dictionary: &mut Dictionary, variable: usize, work: &mut Work) -> Restored {
    if let Some(row) = dictionary.row_of(variable) {
        let Some(column) = dictionary.any_entry(row) else {
            // The row is a constant.
            return match dictionary.value(row).sign() {
                Sign::NoSign => Restored::Feasible,
                _ => Restored::Infeasible(row),
            };
        };
        if !dictionary.pivot(row, column, work) {
            return Restored::Undecided;
        }
    }
    if let Some(column) = dictionary.column_of(variable) {
        dictionary.drop_column(column);
    }
    restore(dictionary, work)
}

/// Makes all basic variables of a simplex dictionary nonnegative by pivots of the dual simplex method, or finds a
/// row that shows that this is impossible. `work` is the budget of multiply-adds.
///
/// At first the most negative basic variable leaves the basis, and the variable with the largest entry in its row
/// enters, which is fast. If this takes many pivots, the variables with the least indices are exchanged instead, a
/// rule that cannot cycle (Bland 1977).
fn restore(dictionary: &mut Dictionary, work: &mut Work) -> Restored {
    let n = dictionary.basic.len();
    for step in 0usize.. {
        let negative = (0..n).filter(|i| dictionary.value(*i).sign() == Sign::Minus);
        let is_quick = step < 4 * n + 16;
        let row = if is_quick {
            negative.min_by_key(|i| dictionary.value(*i))
        } else {
            negative.min_by_key(|i| dictionary.basic[*i])
        };
        let Some(row) = row else {
            return Restored::Feasible;
        };
        let columns = 0..dictionary.nonbasic.len();
        let positive = columns.filter(|c| dictionary.entry(row, *c).sign() == Sign::Plus);
        let column = if is_quick {
            positive.max_by_key(|c| dictionary.entry(row, *c))
        } else {
            positive.min_by_key(|c| dictionary.nonbasic[*c])
        };
        let Some(column) = column else {
            return Restored::Infeasible(row);
        };
        if !dictionary.pivot(row, column, work) {
            return Restored::Undecided;
        }
    }
    Restored::Undecided
}

/// Returns the proof that a problem has no solution, derived from the row of the simplex dictionary that cannot be made
/// nonnegative. The proof is [`Decision::Farkas`] with a certificate if the certificate is exact in double precision,
/// and otherwise [`Decision::Bases`]. `integers` is the problem converted to integers; `work` is the budget of
/// multiply-adds.
fn proof(
    problem: LcpRef<'_>,
    dictionary: &Dictionary,
    row: usize,
    integers: &Integers,
    work: &mut Work,
) -> Decision {
    let u = certificate(dictionary, row, integers);
    if is_certificate(problem, &u) {
        return Decision::Farkas(u);
    }
    // Rounding destroyed equations among the signs. A certificate for slightly larger entries leaves room for
    // rounding.
    let raised = |entries: &[f64]| -> Vec<f64> {
        let raise = |x: &f64| (x + ROOM * x.abs()).clamp(f64::MIN, f64::MAX);
        entries.iter().map(raise).collect()
    };
    let (matrix, vector) = (raised(problem.matrix()), raised(problem.vector()));
    let Ok(other) = LcpRef::new(&matrix, &vector) else {
        return Decision::Bases;
    };
    let integers = Integers::new(other);
    let mut root = Dictionary::of_slacks(&integers);
    if let Restored::Infeasible(row) = restore(&mut root, work) {
        let u = certificate(&root, row, &integers);
        if is_certificate(problem, &u) {
            return Decision::Farkas(u);
        }
    }
    Decision::Bases
}

/// Returns a certificate that a problem has no solution: a vector $u \ge 0$ (n entries, the largest about one). A given
/// row of the simplex dictionary is a linear combination of the rows of $w = Mz + q$; $u$ holds the coefficients.
/// `integers` is the problem converted to integers.
fn certificate(dictionary: &Dictionary, row: usize, integers: &Integers) -> Vec<f64> {
    let n = integers.dim();
    let mut u = vec![BigInt::ZERO; n];
    if let Some(u) = u.get_mut(dictionary.basic[row]) {
        *u = dictionary.denominator().clone();
    }
    for (column, variable) in dictionary.nonbasic.iter().enumerate() {
        if let Some(u) = u.get_mut(*variable) {
            *u = -dictionary.entry(row, column);
        }
    }
    let common = u.iter().fold(BigInt::ZERO, greatest_common_divisor);
    let nonzero = |u: &&BigInt| u.sign() != Sign::NoSign;
    let sizes = u.iter().zip(&integers.row);
    let sizes = sizes.filter(|(u, _)| nonzero(u));
    let most = sizes.map(|(u, r)| u.bits() as i64 + r).max();
    let shift = most.unwrap_or(0) - common.bits() as i64;
    let entries = u.iter().zip(&integers.row);
    entries
        .map(|(u, r)| match u.sign() {
            Sign::NoSign => 0.0,
            _ => ratio(u, &common, r - shift),
        })
        .collect()
}

fn greatest_common_divisor(a: BigInt, b: &BigInt) -> BigInt {
    let (mut a, mut b) = (a, b.clone());
    while b.sign() != Sign::NoSign {
        let rest = &a % &b;
        a = std::mem::replace(&mut b, rest);
    }
    if a.sign() == Sign::Minus { -a } else { a }
}
