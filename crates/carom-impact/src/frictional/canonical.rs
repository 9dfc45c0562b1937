//! Canonical order of contacts, so that the answers of solvers do not depend on the order in which contacts are
//! given, nor on duplicates.
//!
//! Contacts with equal rows, friction and rebound are treated as one contact whose impulse is shared equally. The
//! others are sorted by numbers that do not depend on coordinates, units, row lengths or tangent axes: first closing
//! speeds, then properties of the tangents, then how contacts act on each other. Contacts for which all these are
//! equal are images of each other under a symmetry of the problem; they keep the order in which they were given.

use super::space::ContactSpace;
use crate::tolerances::EQUAL;
use carom_contact::ContactIndex;
use carom_metric::kernel;

/// Largest difference of unit rows, friction coefficients and rebounds at which two contacts are duplicates.
const SAME_CONTACT: f64 = 1e-12;

/// Cosine of two unit normals below which the contacts are certainly no duplicates and are not compared further.
const NEARLY_PARALLEL: f64 = 1.0 - 1e-6;

/// Duplicate of a contact. The tangential impulses of the duplicate are `factor` times those of the contact `of`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Copy {
    contact: ContactIndex,
    of: ContactIndex,
    factor: f64,
}

/// Contacts of one part of a system in canonical order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Canonical {
    /// Contacts in canonical order, without duplicates.
    pub(super) contacts: Vec<ContactIndex>,
    /// One sign per contact: -1 if the tangent of a planar contact is to be reversed, else 1.
    pub(super) signs: Vec<f64>,
    copies: Vec<Copy>,
}

impl Canonical {
    /// Sorts the contacts with the indices `contacts` in an order that does not depend on units or axes, and finds
    /// duplicates (contacts with equal rows, friction and restitution). `before`: velocities of all normalized rows of
    /// `space`; `rebounds`: prescribed rebound speeds, one per contact of `space`, or empty.
    pub(super) fn new(
        space: &ContactSpace,
        contacts: &[ContactIndex],
        before: &[f64],
        rebounds: &[f64],
    ) -> Self {
        let keys = Keys {
            space,
            before,
            after: &[],
            rebounds,
        };
        keys.canonical(contacts)
    }

    /// Creates the order of contacts without friction. Without friction the velocities after the impact do not depend
    /// on the order, so the given order is kept. `before`: velocities of all normalized rows of `space`; `rebounds`:
    /// prescribed rebound speeds, one per contact of `space`, or empty. Contacts are sorted only if two normals are so
    /// nearly parallel that they may be duplicates.
    pub(super) fn without_friction(
        space: &ContactSpace,
        contacts: Vec<ContactIndex>,
        before: &[f64],
        rebounds: &[f64],
    ) -> Self {
        if has_parallel(space, &contacts) {
            Self::new(space, &contacts, before, rebounds)
        } else {
            Self::as_given(contacts)
        }
    }

    /// Creates an order with the contacts in the given sequence, without duplicates (contacts with equal rows) and without
    /// reversed tangents. This order suffices if the solver has a unique answer for the contacts.
    pub(super) fn as_given(contacts: Vec<ContactIndex>) -> Self {
        Self {
            signs: vec![1.0; contacts.len()],
            contacts,
            copies: Vec::new(),
        }
    }

    /// True if this order contains exactly the contacts 0, 1, 2, ... in this sequence, without duplicates or reversed
    /// tangents.
    pub(super) fn is_as_given(&self) -> bool {
        let in_turn = ContactIndex::all(self.contacts.len());
        self.copies.is_empty()
            && self.contacts.iter().copied().eq(in_turn)
            && self.signs.iter().all(|sign| *sign > 0.0)
    }

    /// Lists the duplicate contacts. Each pair contains the index of a duplicate and the index of the contact that
    /// represents it.
    pub(super) fn copies(&self) -> impl Iterator<Item = (ContactIndex, ContactIndex)> + '_ {
        self.copies.iter().map(|copy| (copy.contact, copy.of))
    }

    /// Returns one sign for each normalized row of the contacts that are not duplicates: -1 for a reversed planar tangent,
    /// else 1. `width` is the number of rows per contact.
    pub(super) fn slot_signs(&self, width: usize) -> Vec<f64> {
        let of = |sign: &f64| std::iter::once(1.0).chain(std::iter::repeat_n(*sign, width - 1));
        self.signs.iter().flat_map(of).collect()
    }

    /// Divides the impulses of each contact that has duplicates equally among it and the duplicates. `impulse` has `width`
    /// entries per contact: normal, then tangents.
    pub(super) fn share(&self, width: usize, impulse: &mut [f64]) {
        for of in self.shared() {
            let count = 1 + self.copies.iter().filter(|copy| copy.of == of).count();
            for l in impulse.iter_mut().skip(of.index() * width).take(width) {
                *l /= count as f64;
            }
        }
        for copy in &self.copies {
            let [to, from] = [copy.contact, copy.of].map(|i| i.index() * width);
            impulse[to] = impulse[from];
            for t in 1..width {
                impulse[to + t] = copy.factor * impulse[from + t];
            }
        }
    }

    /// Divides the upper bound (cap) of the impulse of each contact that has duplicates equally among it and the
    /// duplicates. `sizes` has one cap per contact.
    pub(super) fn share_sizes(&self, sizes: &mut [f64]) {
        for of in self.shared() {
            let count = 1 + self.copies.iter().filter(|copy| copy.of == of).count();
            sizes[of.index()] /= count as f64;
        }
        for copy in &self.copies {
            sizes[copy.contact.index()] = sizes[copy.of.index()];
        }
    }

    /// Adds the impulses of duplicate contacts to those of the contacts that represent them, and sets the former to
    /// zero. This operation is the inverse of [`share`](Self::share). `impulse` has `width` entries per contact.
    pub(super) fn gather(&self, width: usize, impulse: &mut [f64]) {
        for copy in &self.copies {
            let [to, from] = [copy.contact, copy.of].map(|i| i.index() * width);
            impulse[from] += impulse[to];
            impulse[to] = 0.0;
            for t in 1..width {
                impulse[from + t] += impulse[to + t] / copy.factor;
                impulse[to + t] = 0.0;
            }
        }
    }

    /// Returns the indices of the contacts that have duplicates, each once.
    fn shared(&self) -> Vec<ContactIndex> {
        let mut of: Vec<ContactIndex> = self.copies.iter().map(|copy| copy.of).collect();
        of.sort_unstable();
        of.dedup();
        of
    }
}

/// Order of the contacts of an impact that does not depend on coordinates, units, row lengths or tangent axes; duplicates are
/// left out. It is computed from the velocities of the contacts before and after the impact.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactOrder(Canonical);

impl ContactOrder {
    /// Sorts the contacts with the indices `contacts` by their normal and tangential velocities `before` and `after` the
    /// impact, then by the entries of the Delassus matrix that couple them. The velocities have one entry per normalized
    /// contact row, as from [`ContactSpace::velocity`]. Duplicates are left out.
    pub fn new(
        space: &ContactSpace,
        contacts: &[ContactIndex],
        [before, after]: [&[f64]; 2],
    ) -> Self {
        let keys = Keys {
            space,
            before,
            after,
            rebounds: &[],
        };
        Self(keys.canonical(contacts))
    }

    /// Returns the indices of the contacts, sorted so that the order does not depend on coordinates, units or row lengths. Of
    /// contacts with equal rows only one appears.
    pub fn contacts(&self) -> &[ContactIndex] {
        &self.0.contacts
    }

    /// Returns the index of the contact that represents `contact` in this order: of contacts with equal rows one represents
    /// all. `None` if `contact` was not among the sorted contacts.
    pub fn stands_for(&self, contact: ContactIndex) -> Option<ContactIndex> {
        let mut copies = self.0.copies();
        let of = copies.find(|(copy, _)| *copy == contact);
        of.map(|(_, of)| of)
            .or_else(|| self.0.contacts.contains(&contact).then_some(contact))
    }

    /// Adds the impulses of duplicate contacts to those of the contacts that represent them. `impulse` has one entry per
    /// normalized contact row of `space` and is changed in place.
    pub fn gather(&self, space: &ContactSpace, impulse: &mut [f64]) {
        self.0.gather(space.width(), impulse);
    }
}

/// Sort keys of contacts: numbers that do not depend on coordinates, units, row lengths or tangent axes.
struct Keys<'k> {
    space: &'k ContactSpace,
    before: &'k [f64],
    /// Slot velocities after the impact, if an outcome is to be sorted too; else empty.
    after: &'k [f64],
    rebounds: &'k [f64],
}

impl Keys<'_> {
    /// Sorts the contacts with the given indices, and separates those that are duplicates of others (equal rows,
    /// friction and restitution).
    fn canonical(&self, contacts: &[ContactIndex]) -> Canonical {
        if let Some(sorted) = self.by_speed(contacts) {
            return Canonical {
                signs: self.signs(&sorted),
                contacts: sorted,
                copies: Vec::new(),
            };
        }
        let mut kept: Vec<ContactIndex> = Vec::with_capacity(contacts.len());
        let mut copies = Vec::new();
        for &contact in contacts {
            let copy = kept.iter().find_map(|of| {
                let factor = self.copied([*of, contact])?;
                Some(Copy {
                    contact,
                    of: *of,
                    factor,
                })
            });
            match copy {
                Some(copy) => copies.push(copy),
                None => kept.push(contact),
            }
        }
        self.sort(&mut kept);
        let signs = self.signs(&kept);
        Canonical {
            contacts: kept,
            signs,
            copies,
        }
    }

    fn normal(&self, contact: ContactIndex) -> &[f64] {
        self.space.column(self.space.normal_slot(contact))
    }

    fn tangents(&self, contact: ContactIndex) -> std::ops::Range<usize> {
        let normal = self.start(contact);
        normal + 1..normal + self.space.width()
    }

    fn rebound(&self, contact: ContactIndex) -> f64 {
        self.rebounds.get(contact.index()).copied().unwrap_or(0.0)
    }

    fn friction(&self, contact: ContactIndex) -> f64 {
        let friction = self.space.friction.get(contact.index());
        friction.copied().unwrap_or(0.0)
    }

    /// Returns the place of the contact's normal in lists with one entry for each slot.
    fn start(&self, contact: ContactIndex) -> usize {
        self.space.normal_slot(contact).index()
    }

    /// True if two columns of equal length differ only by rounding: by at most [`SAME_CONTACT`] times `size`.
    fn same(x: &[f64], y: &[f64], size: f64) -> bool {
        let differences = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y));
        differences.sum::<f64>().sqrt() <= SAME_CONTACT * size
    }

    /// Compares two contacts and returns the factor from the tangential impulses of the contact `of` to those of `contact` if
    /// they are duplicates; `None` otherwise. The tangent of a planar duplicate may be reversed.
    fn copied(&self, [of, contact]: [ContactIndex; 2]) -> Option<f64> {
        let cosine = self.space.gram[(self.start(of), self.start(contact))];
        if !(cosine > 0.5) || !Self::same(self.normal(of), self.normal(contact), 1.0) {
            return None;
        }
        let [e, f] = [of, contact].map(|i| self.rebound(i));
        if !((e - f).abs() <= SAME_CONTACT * e.max(f)) {
            return None;
        }
        let [a, b] = [of, contact].map(|i| self.friction(i));
        if a == 0.0 || b == 0.0 {
            return (a == b).then_some(1.0);
        }
        // Directions of friction times its coefficients.
        let scaled = |contact: ContactIndex, factor: f64| -> Vec<Vec<f64>> {
            let slots = self.space.slots_at(contact).skip(1);
            let columns = slots.map(|slot| self.space.column(slot).iter());
            columns.map(|x| x.map(|x| x * factor).collect()).collect()
        };
        let (own, other) = (scaled(of, a), scaled(contact, b));
        let size = own.iter().map(|x| kernel::norm(x)).fold(0.0, f64::max);
        let is_same = |sign: &f64| {
            own.iter().zip(&other).all(|(own, other)| {
                let mut left = other.clone();
                kernel::add_scaled(&mut left, -sign, own);
                kernel::norm(&left) <= SAME_CONTACT * size
            })
        };
        let signs: &[f64] = if own.len() == 1 { &[1.0, -1.0] } else { &[1.0] };
        // Slots of a contact are scaled by the longest of its own tangents.
        signs
            .iter()
            .find(|sign| is_same(sign))
            .map(|sign| sign * b / a)
    }

    /// Sorts contacts by normal velocity before the impact, the fastest approach first. Returns `None` if two of the
    /// velocities are equal, or if two normals are nearly parallel so that the contacts may be duplicates.
    fn by_speed(&self, contacts: &[ContactIndex]) -> Option<Vec<ContactIndex>> {
        let speed = |i: ContactIndex| self.before[self.start(i)];
        let mut sorted = contacts.to_vec();
        sorted.sort_unstable_by(|i, j| speed(*i).total_cmp(&speed(*j)));
        let largest = contacts
            .iter()
            .fold(0.0, |a, i| f64::max(a, speed(*i).abs()));
        let mut neighbors = sorted.iter().zip(sorted.iter().skip(1));
        let are_apart = neighbors.all(|(i, j)| speed(*j) - speed(*i) > EQUAL * largest);
        (are_apart && !has_parallel(self.space, contacts)).then_some(sorted)
    }

    /// Sorts contacts by all their keys: normal and tangential velocities, prescribed rebound speeds, and the coupling
    /// with other contacts. If keys are equal, the given order remains.
    fn sort(&self, contacts: &mut [ContactIndex]) {
        let mut classes = Classes::new(contacts);
        classes.split(&|i| self.before[self.start(i)]);
        let tangential = |i: ContactIndex, of: &dyn Fn(usize) -> f64| -> f64 {
            let squares = self
                .tangents(i)
                .map(|slot| carom_numeric::power(of(slot), 2));
            self.friction(i) * squares.sum::<f64>().sqrt()
        };
        classes.split(&|i| tangential(i, &|slot| self.before[slot]));
        classes.split(&|i| tangential(i, &|slot| self.space.gram[(slot, slot)].sqrt()));
        classes.split(&|i| tangential(i, &|slot| self.space.gram[(slot, self.start(i))]));
        classes.split(&|i| self.rebound(i));
        if !self.after.is_empty() {
            classes.split(&|i| self.after[self.start(i)]);
            classes.split(&|i| tangential(i, &|slot| self.after[slot]));
        }
        while !classes.is_settled() {
            if !self.refine(&mut classes) {
                classes.single_out();
            }
        }
        contacts.copy_from_slice(&classes.contacts);
    }

    /// Splits classes of contacts that have equal keys so far. A class is split if its contacts interact differently
    /// with the contacts of some class. Returns true if a class was split.
    fn refine(&self, classes: &mut Classes) -> bool {
        let before = classes.starts.len();
        for class in 0..before {
            let Some(members) = classes.members(class) else {
                break;
            };
            for kind in 0..self.n_pairs() {
                classes.split(&|i| members.iter().map(|j| self.pair(kind, i, *j)).sum());
                classes.split(&|i| {
                    members
                        .iter()
                        .map(|j| carom_numeric::power(self.pair(kind, i, *j), 2))
                        .sum()
                });
            }
            if classes.starts.len() > before {
                return true;
            }
        }
        false
    }

    /// Returns the number of kinds of interaction between two contacts that [`pair`](Self::pair) can compute.
    fn n_pairs(&self) -> usize {
        if self.after.is_empty() { 5 } else { 7 }
    }

    /// Computes one measure of the interaction between the contacts `i` and `j`, which does not depend on coordinates,
    /// units or axes. `kind` selects the measure, for example the coupling of their normals.
    fn pair(&self, kind: usize, i: ContactIndex, j: ContactIndex) -> f64 {
        let gram = &self.space.gram;
        let (normal_i, normal_j) = (self.start(i), self.start(j));
        let dragged = |i: ContactIndex, normal: usize| -> f64 {
            let squares = self
                .tangents(i)
                .map(|slot| carom_numeric::power(gram[(slot, normal)], 2));
            carom_numeric::power(self.friction(i), 2) * squares.sum::<f64>()
        };
        // Effect of the tangential velocities of one contact on the normal, or on the tangents, of the other.
        let on_normal = |velocity: &[f64]| {
            let drag = self.tangents(i);
            let drag = drag.map(|slot| velocity[slot] * gram[(slot, normal_j)]);
            self.friction(i) * drag.sum::<f64>()
        };
        let on_tangents = |velocity: &[f64]| {
            let drag = self.tangents(i).flat_map(|s| {
                self.tangents(j)
                    .map(move |t| velocity[s] * gram[(s, t)] * velocity[t])
            });
            self.friction(i) * self.friction(j) * drag.sum::<f64>()
        };
        match kind {
            0 => gram[(normal_i, normal_j)],
            1 => dragged(i, normal_j),
            2 => dragged(j, normal_i),
            3 => on_normal(self.before),
            4 => on_tangents(self.before),
            5 => on_normal(self.after),
            _ => on_tangents(self.after),
        }
    }

    /// Returns one sign (1 or -1) per contact. The tangent of a planar contact, multiplied by this sign, points in the
    /// sliding direction or, without sliding, in the direction in which a normal impulse moves the contact. All signs are 1
    /// unless the contacts have one tangent.
    fn signs(&self, contacts: &[ContactIndex]) -> Vec<f64> {
        if self.space.n_tangents != 1 {
            return vec![1.0; contacts.len()];
        }
        let gram = &self.space.gram;
        let slots = contacts.iter().map(|i| self.start(*i));
        let speed = slots.clone().map(|slot| self.before[slot + 1].abs());
        let slow = EQUAL * speed.fold(0.0, f64::max);
        let sign = |slot: usize| {
            let slide = self.before[slot + 1];
            if slide.abs() > slow {
                return slide.signum();
            }
            let mut acting = std::iter::once(slot).chain(slots.clone());
            let acted = acting.find_map(|normal| {
                let g = gram[(normal, slot + 1)];
                (g.abs() > EQUAL).then_some(g.signum())
            });
            acted.unwrap_or(1.0)
        };
        slots.clone().map(sign).collect()
    }
}

/// True if two of the contacts have nearly parallel normals, so that they may be duplicates.
fn has_parallel(space: &ContactSpace, contacts: &[ContactIndex]) -> bool {
    let slot = |i: ContactIndex| space.normal_slot(i).index();
    let is_parallel =
        |i: ContactIndex, j: ContactIndex| space.gram[(slot(i), slot(j))] >= NEARLY_PARALLEL;
    let mut rest = contacts.iter().enumerate();
    rest.any(|(k, i)| contacts[..k].iter().any(|j| is_parallel(*i, *j)))
}

/// Partition of the contacts into classes of contacts with equal keys so far.
struct Classes {
    contacts: Vec<ContactIndex>,
    /// Index of the first member of each class.
    starts: Vec<usize>,
}

impl Classes {
    fn new(contacts: &[ContactIndex]) -> Self {
        Self {
            contacts: contacts.to_vec(),
            starts: vec![0],
        }
    }

    fn is_settled(&self) -> bool {
        self.starts.len() >= self.contacts.len()
    }

    fn members(&self, class: usize) -> Option<Vec<ContactIndex>> {
        let start = *self.starts.get(class)?;
        let end = self.starts.get(class + 1).copied();
        let members = self.contacts.get(start..end.unwrap_or(self.contacts.len()));
        members.map(<[ContactIndex]>::to_vec)
    }

    /// Sorts the contacts of every class by the number `key` of each, and splits the class at places where this number
    /// increases by more than rounding.
    fn split(&mut self, key: &dyn Fn(ContactIndex) -> f64) {
        if self.is_settled() {
            return;
        }
        let values: Vec<f64> = self.contacts.iter().map(|i| key(*i)).collect();
        let limit = EQUAL * kernel::max_abs(&values);
        let mut starts = Vec::with_capacity(self.contacts.len());
        for class in 0..self.starts.len() {
            let start = self.starts[class];
            starts.push(start);
            let end = self.starts.get(class + 1).copied();
            let members = &mut self.contacts[start..end.unwrap_or(values.len())];
            if members.len() < 2 {
                continue;
            }
            let mut keyed: Vec<(f64, ContactIndex)> =
                members.iter().map(|i| (key(*i), *i)).collect();
            keyed.sort_by(|(x, _), (y, _)| x.total_cmp(y));
            let mut first = 0;
            for k in 0..keyed.len() {
                members[k] = keyed[k].1;
                let is_rise = k > 0 && !(keyed[k].0 - keyed[k - 1].0 <= limit);
                if is_rise {
                    // Contacts with equal keys keep the order in which they were given.
                    members[first..k].sort_unstable();
                    starts.push(start + k);
                    first = k;
                }
            }
            members[first..].sort_unstable();
        }
        self.starts = starts;
    }

    /// Makes the first contact of the first class with several contacts a class of its own, so that sorting of equivalent
    /// contacts can proceed.
    fn single_out(&mut self) {
        let several = (0..self.starts.len()).find(|class| {
            let end = self.starts.get(class + 1).copied();
            end.unwrap_or(self.contacts.len()) - self.starts[*class] > 1
        });
        if let Some(class) = several {
            self.starts.insert(class + 1, self.starts[class] + 1);
        }
    }
}
