//! The motion that the contacts of an event see, and the scale of tolerances that are relative to motion.
//!
//! A uniform velocity that no row sees, a far body, the coordinates and the units of a problem change no answer. So
//! a tolerance is relative to the part of the momentum in the span of the whitened rows, $\rho$, never to the whole
//! momentum of the frame.

use crate::problem::Numbers;
use carom_metric::kernel;
use smallvec::{SmallVec, smallvec};

/// Remainder of a unit row beside the rows before it, below which it adds no direction.
const DEPENDENT: f64 = 1e-12;

/// Part of a kinetic norm that rounding of the data hides: four units in the last place.
pub(crate) const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Part of a whitened momentum (n) in the span of whitened unit rows (n each), by Gram–Schmidt with a second pass.
pub(crate) fn part_in_span<'r>(rows: impl Iterator<Item = &'r [f64]>, momentum: &[f64]) -> Numbers {
    let n = momentum.len();
    let mut basis: SmallVec<[f64; 32]> = SmallVec::new();
    let mut part: Numbers = smallvec![0.0; n];
    let mut rest: Numbers = smallvec![0.0; n];
    for row in rows {
        rest.copy_from_slice(row);
        for _ in 0..2 {
            for direction in basis.chunks_exact(n) {
                let along = kernel::dot(direction, &rest);
                kernel::add_scaled(&mut rest, -along, direction);
            }
        }
        let size = kernel::norm(&rest);
        if !(size > DEPENDENT) {
            continue;
        }
        rest.iter_mut().for_each(|x| *x /= size);
        let along = kernel::dot(&rest, momentum);
        kernel::add_scaled(&mut part, along, &rest);
        basis.extend_from_slice(&rest);
    }
    part
}
