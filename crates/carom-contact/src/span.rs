//! Span of vectors, for example of the whitened rows of contacts.

use crate::numbers::Numbers;
use carom_metric::kernel;
use carom_numeric::decisions::RANK;
use smallvec::{SmallVec, smallvec};

/// Orthonormal directions, one after the other (n entries each).
pub type Directions = SmallVec<[f64; 32]>;

/// Computes an orthonormal basis of the span of `vectors` (n entries each, about unit length) by Gram–Schmidt with a second pass. A
/// vector within the distance `tolerance` of the span of the earlier ones counts as linearly dependent.
///
/// A direction has no entry in coordinates that no vector touches.
pub fn orthonormal<'v>(vectors: impl Iterator<Item = &'v [f64]>, tolerance: f64) -> Directions {
    let mut basis = Directions::new();
    let mut rest = Numbers::new();
    for vector in vectors {
        rest.clear();
        rest.extend_from_slice(vector);
        for _ in 0..2 {
            for direction in basis.chunks_exact(vector.len().max(1)) {
                let length = kernel::dot(direction, &rest);
                kernel::add_scaled(&mut rest, -length, direction);
            }
        }
        let size = kernel::norm(&rest);
        if size > tolerance {
            basis.extend(rest.iter().map(|x| x / size));
        }
    }
    basis
}

/// Projects a momentum (n entries) onto the span of orthonormal directions (n entries each).
pub(crate) fn along<'d>(directions: impl Iterator<Item = &'d [f64]>, momentum: &[f64]) -> Numbers {
    let mut part: Numbers = smallvec![0.0; momentum.len()];
    for direction in directions {
        let length = kernel::dot(direction, momentum);
        kernel::add_scaled(&mut part, length, direction);
    }
    part
}

/// Projects a momentum (n entries) orthogonally onto the span of rows of unit length (n entries each). Momentum and rows are
/// whitened, that is, in coordinates in which the kinetic metric is Euclidean. The result depends neither on the order nor on the
/// repetition of rows, but for rounding.
pub fn part_in_span<'r>(rows: impl Iterator<Item = &'r [f64]>, momentum: &[f64]) -> Numbers {
    let basis = orthonormal(rows, RANK);
    along(basis.chunks_exact(momentum.len().max(1)), momentum)
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
