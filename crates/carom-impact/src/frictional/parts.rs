//! Independent parts of an impact, and the active sets by which their impulses are corrected.

use super::canonical::Canonical;
use super::space::{ContactSpace, Slot};
use carom_contact::ContactSet;
use carom_contact::internal::{Basis, Breach, Missed, worst};
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

/// Bases of the independent parts of an impact, treated as one.
pub(super) struct Apart<'b> {
    pub(super) space: &'b ContactSpace,
    /// Prescribed least scaled velocities of the contacts' unit normals after the impact; empty for zero. Bases of the parts
    /// get normal velocities from which these rebounds are subtracted.
    pub(super) rebounds: &'b [f64],
    /// Order of the contacts of each part, and its basis. Impulses on duplicates are added to the contact that stands for them.
    pub(super) parts: Vec<(&'b Canonical, Box<dyn Basis + 'b>)>,
}

impl Apart<'_> {
    fn shifted<'v>(&self, contacts: &ContactSet, velocities: &'v [f64]) -> Cow<'v, [f64]> {
        if self.rebounds.is_empty() {
            return Cow::Borrowed(velocities);
        }
        let mut velocities = velocities.to_vec();
        for (i, rebound) in contacts.indices().zip(self.rebounds) {
            if let Some(velocity) = velocities.get_mut(contacts.row(i).index()) {
                *velocity -= rebound;
            }
        }
        Cow::Owned(velocities)
    }
}

/// Converts the impulses on the contact rows of unit kinetic length (unit rows) between two forms, if some contacts have
/// duplicates. If `is_gathered`, the impulses of duplicates are added to those of the contacts that represent them; otherwise
/// they are shared again.
fn moved<'l>(
    space: &ContactSpace,
    canonical: &Canonical,
    contacts: &ContactSet,
    impulse: &'l [f64],
    is_gathered: bool,
) -> Cow<'l, [f64]> {
    if !canonical.has_copies() {
        return Cow::Borrowed(impulse);
    }
    let width = space.width();
    let mut slots = vec![0.0; space.n_slots()];
    let mut moved = impulse.to_vec();
    for (slot, row, factor) in space.rows_of_slots(contacts) {
        if factor != 0.0 {
            slots[slot.index()] = impulse[row.index()] / factor;
        }
    }
    if is_gathered {
        canonical.gather(width, &mut slots);
    } else {
        canonical.share(width, &mut slots);
    }
    for (slot, row, factor) in space.rows_of_slots(contacts) {
        moved[row.index()] = slots[slot.index()] * factor;
    }
    Cow::Owned(moved)
}

impl Basis for Apart<'_> {
    fn has_residual(&self) -> bool {
        self.parts.iter().any(|(_, basis)| basis.has_residual())
    }

    fn can_correct(&self, breach: &Breach) -> bool {
        let mut parts = self.parts.iter();
        parts.all(|(_, basis)| basis.can_correct(breach))
    }

    fn missed(&self, contacts: &ContactSet, after: &[f64]) -> Missed {
        let after = self.shifted(contacts, after);
        let parts = self.parts.iter();
        parts
            .flat_map(|(_, basis)| basis.missed(contacts, &after))
            .collect()
    }

    fn slip_residual(
        &self,
        contacts: &ContactSet,
        after: &[f64],
        impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        worst(self.parts.iter().map(|(canonical, basis)| {
            let impulse = moved(self.space, canonical, contacts, impulse, true);
            basis.slip_residual(contacts, after, &impulse, terms)
        }))
    }

    fn own_residual(
        &self,
        contacts: &ContactSet,
        after: &[f64],
        impulse: &[f64],
        terms: &[f64],
    ) -> f64 {
        let after = self.shifted(contacts, after);
        worst(self.parts.iter().map(|(canonical, basis)| {
            let impulse = moved(self.space, canonical, contacts, impulse, true);
            basis.own_residual(contacts, &after, &impulse, terms)
        }))
    }

    fn correct(
        &mut self,
        contacts: &ContactSet,
        before: &[f64],
        after: &[f64],
        impulse: &mut [f64],
    ) {
        let before = self.shifted(contacts, before);
        let after = self.shifted(contacts, after);
        for (canonical, basis) in &mut self.parts {
            let mut gathered = moved(self.space, canonical, contacts, impulse, true).into_owned();
            basis.correct(contacts, &before, &after, &mut gathered);
            let shared = moved(self.space, canonical, contacts, &gathered, false);
            impulse.copy_from_slice(&shared);
        }
    }
}
