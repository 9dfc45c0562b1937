//! Rounding errors of the velocities of contact rows.

use super::space::ContactSpace;
use carom_numeric::decisions::Sum;

/// Sizes of velocities, one for each normalized contact row: bounds of the terms from which the velocities were summed up.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    terms: Vec<f64>,
    /// Bounds of the effects of impulses.
    effects: Vec<f64>,
}

impl Sizes {
    /// `terms` are the sizes of the velocities before all impulses, one for each normalized contact row.
    pub(super) fn new(terms: Vec<f64>) -> Self {
        Self {
            effects: vec![0.0; terms.len()],
            terms,
        }
    }

    /// Returns the sizes of the velocities before all impulses.
    pub(super) fn terms(&self) -> &[f64] {
        &self.terms
    }

    /// Adds the effect of impulses on the normalized contact rows. An entry of the Delassus matrix is the product of two
    /// rows, with an error in proportion to their lengths, also if the rows act on different bodies and the entry vanishes.
    pub(super) fn add(&mut self, space: &ContactSpace, impulse: &[f64]) {
        let length = |slot: usize| space.gram[(slot, slot)].sqrt();
        let acting = impulse.iter().enumerate();
        let acting: f64 = acting.map(|(slot, l)| length(slot) * l.abs()).sum();
        for (slot, effect) in self.effects.iter_mut().enumerate() {
            *effect += length(slot) * acting;
        }
    }
}

/// Sets velocities of normalized contact rows that are rounding errors to zero.
pub(super) fn without_rounding(velocity: &mut [f64], sizes: &Sizes) {
    let sizes = sizes.terms.iter().zip(&sizes.effects);
    for (u, (terms, effects)) in velocity.iter_mut().zip(sizes) {
        let size = terms + effects;
        if (Sum { value: *u, size }).is_zero() {
            *u = 0.0;
        }
    }
}
