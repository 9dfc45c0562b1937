//! Enumeration of the friction modes of lasting contacts.

use carom_variational::generalized::{Bond, ContactMode};

/// Friction modes of a contact.
const MODES: [ContactMode; 3] = [
    ContactMode::Stick,
    ContactMode::SlipBackward,
    ContactMode::SlipForward,
];

/// Largest number of frictional contacts whose modes are enumerated together.
pub(crate) const FRICTION_LIMIT: usize = 3;

/// Enumeration of the mode combinations of active contacts; the present combination comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combinations {
    /// Number of combinations tried so far.
    count: usize,
    /// Number of combinations to try: all of them, plus the present one as the first; 1 without friction.
    total: usize,
}

impl Combinations {
    pub(crate) fn new(bonds: &[Bond]) -> Self {
        let frictional = bonds.iter().filter(|bond| bond.is_frictional()).count();
        let all = MODES.len().pow(frictional as u32);
        Self {
            count: 0,
            total: if frictional > 0 { 1 + all } else { 1 },
        }
    }

    /// Sets the friction modes of the contacts `bonds` (stick, slip backward, slip forward) to the next combination to try.
    /// Returns `false` after the last one.
    pub(crate) fn advance(&mut self, bonds: &mut [Bond]) -> bool {
        if self.count == self.total {
            return false;
        }
        if self.count > 0 {
            let mut index = self.count - 1;
            for bond in bonds.iter_mut().filter(|bond| bond.is_frictional()) {
                bond.mode = MODES[index % MODES.len()];
                index /= MODES.len();
            }
        }
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_after_the_present_one() {
        let mut bonds = [0.5, 0.0, 0.5].map(|friction| Bond::new(0, 0.0, friction));
        bonds[0].mode = ContactMode::SlipForward;
        let mut combinations = Combinations::new(&bonds);
        let mut seen = Vec::new();
        while combinations.advance(&mut bonds) {
            assert_eq!(bonds[1].mode, ContactMode::Frictionless);
            seen.push((bonds[0].mode, bonds[2].mode));
        }
        assert_eq!(seen.len(), 10);
        assert_eq!(seen[0], (ContactMode::SlipForward, ContactMode::Stick));
        let distinct = |pair| seen[1..].iter().filter(|other| *other == pair).count() == 1;
        assert!(seen[1..].iter().all(distinct));
    }
}
