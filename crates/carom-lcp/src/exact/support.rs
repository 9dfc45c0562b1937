//! Solution of a complementary basis in rational arithmetic.

use super::dictionary::Dictionary;
use super::integers::Integers;
use super::sum::ratio;
use crate::work::Work;
use num_bigint::{BigInt, Sign};

/// Solution rounded to double precision, with the exact signs of its variables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rounded {
    /// Variables $z$ (n entries), rounded to nearest.
    pub z: Vec<f64>,
    /// Signs (2n entries): `true` where $w_i$ is positive, then where $z_i$ is positive.
    pub is_positive: Vec<bool>,
}

/// Exact decision about a complementary basis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Support {
    /// The system of the basis has one solution, and it is nonnegative.
    Solution(Rounded),
    /// The system of the basis has one solution, and it has a negative entry.
    NoSolution,
    /// The matrix of the basis is singular. If its null space has dimension one and contains a direction
    /// $u \ge 0$ with $Mu \ge 0$, the variant holds that direction, with largest entry about one.
    Singular(Option<Rounded>),
    /// The budget was exhausted.
    Undecided,
}

/// Solves the equations $w = Mz + q$ of a complementary basis in rational arithmetic, and decides if the solution is
/// nonnegative. `basis` is `true` where $z_i$ is basic and $w_i = 0$; elsewhere $z_i = 0$. `integers` is the problem
/// converted to integers; `work` is the budget of multiply-adds.
pub(crate) fn solve_support(integers: &Integers, basis: &[bool], work: &mut Work) -> Support {
    let n = integers.dim();
    let mut dictionary = Dictionary::of_slacks(integers);
    let support: Vec<usize> = (0..n).filter(|i| basis.get(*i) == Some(&true)).collect();
    dictionary.retain_columns(|variable| variable >= n && basis.get(variable - n) == Some(&true));
    for row in support {
        // A row that depends on earlier rows has no nonzero entry left.
        if let Some(column) = dictionary.any_entry(row) {
            if !dictionary.pivot(row, column, work) {
                return Support::Undecided;
            }
            // The leaving variables are zero, so that their columns are not needed.
            dictionary.drop_column(column);
        }
    }
    match dictionary.nonbasic.len() {
        0 if dictionary.is_feasible() => Support::Solution(Rounded {
            z: dictionary.variables(integers),
            is_positive: (0..2 * n).map(|v| dictionary.is_positive(v)).collect(),
        }),
        0 => Support::NoSolution,
        1 => Support::Singular(direction(&dictionary, integers)),
        _ => Support::Singular(None),
    }
}

/// Returns the direction in which all variables change if the only nonbasic variable of the simplex dictionary grows.
/// `integers` holds the scaling of the variables. `None` if a basic variable decreases along this direction.
fn direction(dictionary: &Dictionary, integers: &Integers) -> Option<Rounded> {
    let n = integers.dim();
    let one = dictionary.denominator();
    let mut entries = vec![BigInt::ZERO; 2 * n];
    *entries.get_mut(*dictionary.nonbasic.first()?)? = one.clone();
    for (row, variable) in dictionary.basic.iter().enumerate() {
        let entry = dictionary.entry(row, 0);
        if entry.sign() == Sign::Minus {
            return None;
        }
        *entries.get_mut(*variable)? = entry.clone();
    }
    let is_positive: Vec<bool> = entries.iter().map(|x| x.sign() == Sign::Plus).collect();
    let variables = entries.split_off(n);
    let exponents = variables.iter().zip(&integers.column);
    let sizes = exponents.filter(|(x, _)| x.sign() == Sign::Plus);
    let most = sizes.map(|(x, c)| x.bits() as i64 + c).max()?;
    let shift = most - one.bits() as i64;
    let z = variables.iter().zip(&integers.column);
    Some(Rounded {
        z: z.map(|(x, c)| ratio(x, one, c - shift)).collect(),
        is_positive,
    })
}
