//! Normalized rows of a contact space, one by one.

use carom_contact::{ContactSet, Numbers};
use carom_impact::internal::ContactSpace;
use nalgebra::DVector;

fn unit(space: &ContactSpace, slot: usize) -> DVector<f64> {
    let mut unit = DVector::zeros(space.n_slots());
    unit[slot] = 1.0;
    unit
}

/// Returns a normalized contact row in whitened coordinates, in which the kinetic metric is Euclidean (n entries).
pub(super) fn slot_column(space: &ContactSpace, slot: usize) -> Numbers {
    space.change(unit(space, slot).as_slice())
}

/// Returns the length of the caller's row over that of the normalized row, for each normalized row; 0 for a missing tangent.
/// An impulse on the normalized row is this number times the impulse on the caller's row.
pub(super) fn slot_norms(space: &ContactSpace, contacts: &ContactSet) -> Vec<f64> {
    let norm = |slot: usize| {
        let factor = space
            .on_rows(unit(space, slot).as_slice(), 1.0, contacts)
            .sum();
        if factor == 0.0 { 0.0 } else { 1.0 / factor }
    };
    (0..space.n_slots()).map(norm).collect()
}
