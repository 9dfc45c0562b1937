//! Motion in the span of the contact rows, which alone matters for an impact, as the scale of tolerances.
//!
//! The result of an impact must not depend on a uniform velocity orthogonal to all rows, on a far body, or on coordinates and
//! units. So a tolerance is relative to $\rho$, the norm of the part of the momentum in the span of the whitened rows, and
//! never to the momentum of the whole system.
//!
//! A velocity orthogonal to all contact and constraint rows, like that of the train in which an impact happens, does not change
//! the impact. If it is most of the given velocity, laws solve the problem of the remaining velocity
//! (`seen_velocity`). The rounding error of the given velocity is then added to the grazing thresholds.

use crate::index::ContactIndex;
use crate::numbers::Numbers;
use crate::{ContactSet, ImpactProblem};
use carom_metric::{Tangent, kernel};
use carom_numeric::svd::Svd;
use nalgebra::DVector;
use smallvec::{SmallVec, smallvec};

/// Largest norm of the part of a unit row orthogonal to the rows before it that counts as rounding: the row is then linearly
/// dependent. The smallest singular value with this row is not larger.
const REPEATED: f64 = 32.0 * f64::EPSILON;

/// Largest Frobenius norm of the inverse of the triangular factor of unit rows at which the rows are certainly linearly
/// independent: the smallest singular value is at least the reciprocal.
const INDEPENDENT: f64 = 1e10;

/// Fraction of the kinetic norm of a velocity that counts as rounding error of the input: four units in the last place.
pub const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Rounding error of a row's velocity, as a fraction of the terms of the sum: a few units in the last place of each number.
const ROW_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Ratio of the momentum to the largest velocity of a unit normal above which the part in the span of the rows is
/// computed. Below it, tolerances of laws (at most 1e-9 of the momentum) are less than 1e-6 of the motion in the span
/// of the contact rows.
const FAST: f64 = 256.0;

/// Fraction of the momentum in the span of the rows above which the problem keeps its given velocity.
const SEEN: f64 = 1.0 / 64.0;

/// Projects a momentum (n entries) orthogonally onto the span of rows of unit length (n entries each). Momentum and rows are
/// whitened, that is, in coordinates in which the kinetic metric is Euclidean.
///
/// Uses Gram–Schmidt with a second pass as long as the rank is certain, else singular values. The result depends
/// neither on the order nor on the repetition of rows.
pub fn part_in_span<'r>(
    rows: impl Iterator<Item = &'r [f64]> + Clone,
    momentum: &[f64],
) -> Numbers {
    let n = momentum.len();
    let mut basis: SmallVec<[f64; 32]> = SmallVec::new();
    // Each basis direction as a linear combination of the rows that added a direction.
    let mut combinations: Vec<Numbers> = Vec::new();
    let mut squares = 0.0;
    let mut rest: Numbers = smallvec![0.0; n];
    for row in rows.clone() {
        rest.copy_from_slice(row);
        let mut combination: Numbers = smallvec![0.0; combinations.len()];
        for _ in 0..2 {
            for (direction, own) in basis.chunks_exact(n).zip(&combinations) {
                let length = kernel::dot(direction, &rest);
                kernel::add_scaled(&mut rest, -length, direction);
                kernel::add_scaled(&mut combination, -length, own);
            }
        }
        let size = kernel::norm(&rest);
        if !(size > REPEATED) {
            continue;
        }
        combination.push(1.0);
        combination.iter_mut().for_each(|x| *x /= size);
        squares += kernel::dot(&combination, &combination);
        if !(squares <= INDEPENDENT * INDEPENDENT) {
            let columns: Vec<f64> = rows.flatten().copied().collect();
            let svd = Svd::new(&columns, n);
            return along(spanning(&svd).map(|(index, _)| svd.left(index)), momentum);
        }
        rest.iter_mut().for_each(|x| *x /= size);
        basis.extend_from_slice(&rest);
        combinations.push(combination);
    }
    along(basis.chunks_exact(n.max(1)), momentum)
}

/// Projects a momentum (n entries) onto the span of orthonormal directions (n entries each).
fn along<'d>(directions: impl Iterator<Item = &'d [f64]>, momentum: &[f64]) -> Numbers {
    let mut part: Numbers = smallvec![0.0; momentum.len()];
    for direction in directions {
        let length = kernel::dot(direction, momentum);
        kernel::add_scaled(&mut part, length, direction);
    }
    part
}

/// Iterates over the singular values that are larger than $10^{-12}$ of the largest one, and therefore do not count as zero.
/// Each item is the index of a singular value and the singular value itself.
pub fn spanning(svd: &Svd) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
    let least = svd.cutoff();
    let sizes = svd.singular_values().iter().copied().enumerate();
    sizes.filter(move |(_, size)| *size > least)
}

/// Computes the part of the velocity before the impact (n entries) in the span of the contact rows; only this part affects
/// the impact. `None` unless the norm of its momentum is less than 1/64 of that of the whole velocity.
pub(crate) fn seen_velocity(problem: &ImpactProblem<'_>) -> Option<Tangent> {
    let normals = problem.unit_velocity().iter();
    let fastest = normals.fold(0.0, |fastest, b| f64::max(fastest, b.abs()));
    if !(problem.norm() > FAST * fastest) || problem.unit_velocity().is_empty() {
        return None;
    }
    let contacts = problem.contacts();
    let n = contacts.metric().dim();
    let columns: Vec<f64> = contacts
        .all_rows()
        .flat_map(|row| contacts.unit_row(row).iter().copied())
        .collect();
    let svd = Svd::new(&columns, n);
    let sizes = spanning(&svd);
    let directions = sizes.clone().map(|(index, _)| svd.left(index));
    let seen = along(directions, problem.momentum());
    if !(kernel::norm(&seen) < SEEN * problem.norm()) {
        return None;
    }
    let mut seen = DVector::from_column_slice(&seen);
    contacts
        .metric()
        .unwhiten_velocity_in_place(seen.as_mut_slice());
    Some(Tangent(seen / problem.scale()))
}

/// Returns for each contact the rounding error of its normal velocity if the generalized velocity `given` (n entries) was
/// reduced to its part `seen` in the span of the rows: the rounding of `given`, and the change of the normal velocity, which
/// would be zero without rounding. The results belong to the unit normals and are multiplied by `scale`.
pub(crate) fn rounding_of_normals(
    contacts: &ContactSet<'_>,
    given: &[f64],
    seen: &[f64],
    scale: f64,
) -> Numbers {
    let rounding = |contact: ContactIndex| {
        let given = contacts.normal_velocity(contact, given, scale);
        let change = given.rate - contacts.normal_velocity(contact, seen, scale).rate;
        // One change by the reduction, as much again by a law.
        ROW_ROUNDING * given.size + 2.0 * change.abs()
    };
    contacts.indices().map(rounding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unit row in a plane, at an angle to the first axis.
    fn at(angle: f64) -> [f64; 3] {
        let (sin, cos) = angle.sin_cos();
        [cos, sin, 0.0]
    }

    /// Two rows at an angle of 1e-11 span a plane, at 1e-13 a line; neither the order nor copies have a part in it.
    #[test]
    fn rank_is_that_of_singular_values_in_any_order() {
        let momentum = [0.3, 0.7, -2.0];
        for (angle, expected) in [(1e-11, [0.3, 0.7, 0.0]), (1e-13, [0.3, 0.0, 0.0])] {
            let (a, b) = (at(0.0), at(angle));
            for rows in [vec![a, b], vec![b, a], vec![a, a, b, a], vec![b, a, b]] {
                let part = part_in_span(rows.iter().map(|row| &row[..]), &momentum);
                let near = part.iter().zip(expected);
                assert!(
                    near.clone().all(|(x, y)| (x - y).abs() <= 1e-4),
                    "{angle:e} {part:?}"
                );
            }
        }
    }

    /// Rows each far from the one before, all together dependent: no remainder is small.
    #[test]
    fn dependence_of_many_rows_is_found_where_no_two_are_near() {
        let third = [1.0, 2.0, 0.5].map(|x: f64| x / 5.25f64.sqrt());
        let rows = [at(0.1), at(1.2), at(2.4), third, at(0.7)];
        let momentum = [1.0, -2.0, 3.0];
        let whole = part_in_span(rows.iter().map(|row| &row[..]), &momentum);
        let plane = part_in_span(rows[..3].iter().map(|row| &row[..]), &momentum);
        for k in 0..3 {
            assert!((whole[k] - momentum[k]).abs() <= 1e-14);
            assert!((plane[k] - [1.0, -2.0, 0.0][k]).abs() <= 1e-14);
        }
    }
}
