//! Inverse of the independent part of a square matrix.

use crate::tolerances::VANISHING;
use smallvec::{SmallVec, smallvec};

/// Square matrix of the unknowns of a stage, stored by rows.
type Square = SmallVec<[f64; 36]>;

/// Computes the inverse of a regular submatrix of largest size within the first `regular` rows and columns of the square matrix
/// `given` (stored row by row). Writes the inverse into `inverse`, with zeros in the other rows and columns, and returns the
/// rank. Uses Gauss–Jordan elimination with complete pivoting; columns for which `preferred` is true are chosen first.
pub(super) fn invert_independent(
    given: &[f64],
    preferred: &[bool],
    regular: usize,
    inverse: &mut [f64],
) -> usize {
    let (p, stride) = (regular, preferred.len());
    if let ([pivot], 1) = (given, p) {
        if *pivot != 0.0 {
            inverse[0] = 1.0 / pivot;
        }
        return usize::from(*pivot != 0.0);
    }
    let mut work: Square = smallvec![0.0; p * p];
    let rows = work.chunks_exact_mut(p.max(1));
    for (own, given) in rows.zip(given.chunks_exact(stride.max(1))) {
        own.copy_from_slice(&given[..p]);
    }
    let mut right: Square = smallvec![0.0; p * p];
    right.iter_mut().step_by(p + 1).for_each(|x| *x = 1.0);
    let mut free: SmallVec<[(usize, usize); 8]> = SmallVec::new();
    let mut rows: SmallVec<[bool; 8]> = smallvec![true; p];
    let mut columns = rows.clone();
    let first = work.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for _ in 0..p {
        let largest = |is_preferred: bool| {
            let mut best = (0.0, 0, 0);
            for j in (0..p).filter(|j| columns[*j] && preferred[*j] == is_preferred) {
                for i in (0..p).filter(|i| rows[*i]) {
                    let size = work[i * p + j].abs();
                    if size > best.0 {
                        best = (size, i, j);
                    }
                }
            }
            best
        };
        let mut best = largest(true);
        if !(best.0 > VANISHING * first) {
            best = largest(false);
        }
        let (size, i, j) = best;
        if !(size > VANISHING * first) {
            break;
        }
        (rows[i], columns[j]) = (false, false);
        free.push((i, j));
        let pivot = 1.0 / work[i * p + j];
        for matrix in [&mut work, &mut right] {
            matrix[i * p..(i + 1) * p]
                .iter_mut()
                .for_each(|x| *x *= pivot);
        }
        for k in (0..p).filter(|k| *k != i) {
            let factor = work[k * p + j];
            if factor == 0.0 {
                continue;
            }
            for c in 0..p {
                work[k * p + c] -= factor * work[i * p + c];
                right[k * p + c] -= factor * right[i * p + c];
            }
        }
    }
    // Row i of the reduced system gives unknown j; equations that were left out are ignored.
    for (i, j) in &free {
        for (k, _) in &free {
            inverse[j * stride + k] = right[i * p + k];
        }
    }
    free.len()
}
