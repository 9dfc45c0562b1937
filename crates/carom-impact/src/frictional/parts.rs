//! Independent parts of an impact.

use super::canonical::Canonical;
use super::space::{ContactSpace, Slot};
use std::borrow::Cow;

/// Contacts whose impulses change no velocity at other contacts. They are resolved alone, so that their result depends on no
/// other part, even a very fast one.
pub(super) struct Part<'e> {
    /// Contacts in canonical order, without duplicates.
    pub(super) canonical: Canonical,
    pub(super) space: Cow<'e, ContactSpace>,
    /// Scaled velocities of the part's slots before the impact.
    pub(super) before: Vec<f64>,
    /// Slots of the whole space, and the factors of impulses on them.
    slots: Vec<Slot>,
    signs: Vec<f64>,
}

impl<'e> Part<'e> {
    /// Creates an independent part of the system, with the contacts in `canonical`. `space` contains the normalized
    /// rows of all contacts, `before` the velocities of these rows before the impact.
    pub(super) fn new(space: &'e ContactSpace, canonical: Canonical, before: &[f64]) -> Self {
        let is_whole = canonical.contacts.len() == space.n_contacts && canonical.is_as_given();
        let slots = space.slots_of(&canonical.contacts);
        let signs = canonical.slot_signs(space.width());
        let own = slots.iter().zip(&signs);
        Self {
            before: own
                .map(|(slot, sign)| sign * before[slot.index()])
                .collect(),
            space: if is_whole {
                Cow::Borrowed(space)
            } else {
                Cow::Owned(space.part(&canonical.contacts).reversed(&signs))
            },
            slots,
            signs,
            canonical,
        }
    }

    /// Extracts the numbers that belong to this part from a list for all normalized contact rows. Signs change where the
    /// part reverses a tangent.
    pub(super) fn of_slots(&self, all: &[f64]) -> Vec<f64> {
        let own = self.slots.iter().zip(&self.signs);
        own.map(|(slot, sign)| sign * all[slot.index()]).collect()
    }

    /// Writes the impulses of this part into the list `all` for the normalized rows of all contacts. A contact with
    /// duplicates shares its impulse equally with them.
    pub(super) fn write(&self, impulse: &[f64], all: &mut [f64]) {
        let own = self.slots.iter().zip(&self.signs);
        for ((slot, sign), l) in own.zip(impulse) {
            // No negative zeros.
            all[slot.index()] = sign * l + 0.0;
        }
        self.canonical.share(self.space.width(), all);
    }
}
