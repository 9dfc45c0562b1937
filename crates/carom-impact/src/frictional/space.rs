//! Contact rows normalized for the solvers of frictional laws.

use carom_contact::internal::{
    Candidate, GRAZING_TOLERANCE, Opening, ROUNDING, dot_and_size, groups,
};
use carom_contact::{
    ContactIndex, ContactSet, Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus,
    Numbers, RowIndex, Rules,
};
use carom_lcp::ContactRows;
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use smallvec::smallvec;

/// Sum of the effects of a normal impulse and of its friction on a row, relative to the two, below which they cancel: products of
/// normalized rows are known to about $10^{-15}$.
const CANCELLED: f64 = 1e-14;

/// Entries of the Gram matrix up to this size are zero: rounding leaves products of orthogonal slots, whose length is at most 1, of
/// some $10^{-13}$ in coordinates that mix bodies with a thousandfold ratio of inertias.
const UNCOUPLED: f64 = 1e-12;

/// Index of a slot of a [`ContactSpace`], in lists with one entry for each.
///
/// A space of several tangents has slots that no row has, and no slots for the tangents of contacts without friction: a
/// slot is no row of the contact Jacobian. [`ContactSpace::rows_of_slots`] leads from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(usize);

impl Slot {
    /// Returns the position of this normalized contact row in lists that have one entry for each of them.
    pub(crate) fn index(self) -> usize {
        self.0
    }

    /// True if this normalized row is the normal of its contact, not a tangent. `width` is the number of rows per contact.
    pub(crate) fn is_normal(self, width: usize) -> bool {
        self.0.is_multiple_of(width)
    }
}

/// Contact rows of a set, normalized in the kinetic metric, with equally many tangents at every contact.
///
/// A *slot* is the place of one row. Slot `i * width` belongs to the normal of contact `i`, the following slots to its
/// tangents. Normals have unit length. The tangents of a contact are divided by the length of the longer one, so that the
/// friction cone stays round, and $\mu$ is multiplied accordingly. Contacts without friction lose their
/// tangents; if other contacts have more tangents, the missing ones are zero rows.
#[derive(Clone, Debug)]
pub struct ContactSpace {
    /// Number of contacts, m.
    pub n_contacts: usize,
    /// Number of tangents of every contact: 0, 1 or 2.
    pub n_tangents: usize,
    /// Friction coefficient $\mu$ for impulses on the slots, one per contact.
    pub friction: Vec<f64>,
    /// Zero coefficient of restitution for every contact.
    pub(crate) inelastic: Vec<f64>,
    /// Gram matrix of the slots (slots × slots).
    pub gram: DMatrix<f64>,
    /// Jacobian row of each slot; `None` for a missing tangent.
    rows: Vec<Option<RowIndex>>,
    /// Factor of each slot: the slot is the factor times the caller's row, and an impulse on the row is the factor
    /// times that on the slot.
    factors: Vec<f64>,
    /// Whitened slots as columns (n × slots).
    columns: DMatrix<f64>,
}

impl ContactSpace {
    /// Normalizes the rows of a set of contacts and assigns each to its slot, its place in lists with equally many rows for
    /// every contact.
    pub fn new(contacts: &ContactSet) -> Self {
        let m = contacts.len();
        let given = contacts.contacts();
        let is_rough = |i: usize| given[i].friction > 0.0;
        let tangents_of = |i: usize| {
            if is_rough(i) {
                given[i].tangents.len()
            } else {
                0
            }
        };
        let n_tangents = (0..m).map(tangents_of).max().unwrap_or(0);
        let width = 1 + n_tangents;
        let mut rows = vec![None; m * width];
        let mut factors = vec![0.0; m * width];
        let mut friction = vec![0.0; m];
        for i in 0..m {
            let first = contacts.row(ContactIndex::new(i));
            let normal_norm = contacts.row_norm(first);
            rows[i * width] = Some(first);
            factors[i * width] = 1.0 / normal_norm;
            let tangents = contacts
                .tangents_at(ContactIndex::new(i))
                .take(tangents_of(i));
            let longest = tangents
                .clone()
                .map(|row| contacts.row_norm(row))
                .fold(0.0, f64::max);
            for (t, row) in tangents.enumerate() {
                rows[i * width + 1 + t] = Some(row);
                factors[i * width + 1 + t] = 1.0 / longest;
            }
            if longest > 0.0 {
                friction[i] = given[i].friction * (longest / normal_norm);
            }
        }
        let n = contacts.metric().dim();
        let mut columns = DMatrix::zeros(n, m * width);
        for (slot, row) in rows.iter().enumerate() {
            if let Some(row) = *row {
                let factor = contacts.row_norm(row) * factors[slot];
                let unit = contacts.unit_row(row);
                for (x, u) in columns.column_mut(slot).iter_mut().zip(unit) {
                    *x = if slot.is_multiple_of(width) {
                        *u
                    } else {
                        u * factor
                    };
                }
            }
        }
        Self {
            n_contacts: m,
            n_tangents,
            friction,
            inelastic: vec![0.0; m],
            gram: columns.tr_mul(&columns),
            rows,
            factors,
            columns,
        }
    }

    /// Number of normalized rows (slots) per contact: one for the normal plus the number of tangents, 1 to 3.
    pub fn width(&self) -> usize {
        1 + self.n_tangents
    }

    /// Number of normalized rows (slots) of all contacts together.
    pub fn n_slots(&self) -> usize {
        self.rows.len()
    }

    /// Iterates over the indices of all contacts of this space. In a [`part`](Self::part) they are places in the part.
    pub(crate) fn indices(&self) -> impl ExactSizeIterator<Item = ContactIndex> + Clone + use<> {
        ContactIndex::all(self.n_contacts)
    }

    /// Lists the positions (slots) of the normalized rows of all contacts.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + Clone + use<> {
        (0..self.n_slots()).map(Slot)
    }

    /// Lists the positions (slots) of the normalized rows of one contact: normal, then tangents.
    pub(crate) fn slots_at(
        &self,
        contact: ContactIndex,
    ) -> impl Iterator<Item = Slot> + Clone + use<> {
        let first = contact.index() * self.width();
        (first..first + self.width()).map(Slot)
    }

    /// Returns the position (slot) of the normalized row that is the contact's normal.
    pub(crate) fn normal_slot(&self, contact: ContactIndex) -> Slot {
        Slot(contact.index() * self.width())
    }

    /// Returns the kinetic length of the caller's normal row of a contact. An impulse on the normalized row is the impulse
    /// on the caller's row times this length.
    pub(crate) fn normal_norm(&self, contact: ContactIndex) -> f64 {
        1.0 / self.factors[self.normal_slot(contact).index()]
    }

    /// Returns the factor by which the tangential velocity of a contact along its normalized rows is multiplied to give
    /// that along the caller's rows; 0 for a contact without tangents.
    pub(crate) fn tangent_norm(&self, contact: ContactIndex) -> f64 {
        match self.factors.get(self.normal_slot(contact).index() + 1) {
            Some(factor) if self.n_tangents > 0 && *factor != 0.0 => 1.0 / factor.abs(),
            _ => 0.0,
        }
    }

    /// Returns the scale of the sliding speed $\gamma$ (multiplier of the cone condition) of a contact. The scale is
    /// $1/\sqrt{\max(\hat\mu, 1)}$ with the friction coefficient $\hat\mu$ for normalized rows, so that units of rows
    /// do not matter.
    pub(super) fn cone_scale(&self, contact: ContactIndex) -> f64 {
        1.0 / self.friction[contact.index()].max(1.0).sqrt()
    }

    /// Returns the norm of the part of a whitened momentum that belongs to coordinates touched by some contact. In whitened
    /// coordinates the kinetic metric is Euclidean.
    pub(super) fn norm_around(&self, momentum: &[f64]) -> f64 {
        let coordinates = self.columns.row_iter().zip(momentum);
        let touched = coordinates.filter(|(row, _)| row.iter().any(|x| *x != 0.0));
        touched.fold(0.0, |norm, (_, p)| libm::hypot(norm, *p))
    }

    /// Returns one normalized contact row in whitened coordinates, in which the kinetic metric is Euclidean (n entries).
    pub(crate) fn column(&self, Slot(slot): Slot) -> &[f64] {
        let n = self.columns.nrows();
        &self.columns.as_slice()[slot * n..(slot + 1) * n]
    }

    /// Returns the generalized velocities caused by unit impulses on the normalized contact rows, as columns: n rows, one
    /// column per normalized row.
    pub(crate) fn primal_columns(&self, contacts: &ContactSet) -> DMatrix<f64> {
        let mut primal = self.columns.clone();
        let n = primal.nrows();
        for column in primal.as_mut_slice().chunks_exact_mut(n) {
            contacts.metric().unwhiten_velocity_in_place(column);
        }
        primal
    }

    /// Velocities of the normalized contact rows, one per row (slot), for a scaled whitened `momentum` (n entries). A velocity
    /// that the rounding of the momentum of the connected bodies explains is zero.
    pub fn velocity(&self, momentum: &[f64]) -> DVector<f64> {
        let slots = self.columns.column_iter();
        let mut velocity = DVector::from_iterator(
            self.n_slots(),
            slots.map(|column| kernel::dot(column.as_slice(), momentum)),
        );
        let doubtful = ROUNDING * kernel::norm(momentum);
        if velocity.iter().any(|b| *b != 0.0 && b.abs() <= doubtful) {
            self.remove_rounding(momentum, &mut velocity);
        }
        velocity
    }

    /// Returns the velocity of the normalized row `slot` per unit of an impulse on the row `normal` with friction: `tangential`
    /// times as much on the next row. Zero if rounding explains it: impulses divided by rounding are no solution.
    pub fn rate_by(&self, slot: usize, normal: usize, tangential: f64) -> f64 {
        let own = self.gram[(slot, normal)];
        if tangential == 0.0 {
            return own;
        }
        let by_friction = tangential * self.gram[(slot, normal + 1)];
        let rate = own + by_friction;
        if rate.abs() <= CANCELLED * (own.abs() + by_friction.abs()) {
            0.0
        } else {
            rate
        }
    }

    /// Velocities of the normalized contact rows before an impact, one per row (slot), scaled. The normal velocities of
    /// contacts [at rest](ImpactProblem::is_at_rest) are zero: their sign, a rounding error, would choose between the
    /// solutions of a problem that has several.
    pub fn velocity_before(&self, problem: &ImpactProblem) -> DVector<f64> {
        let mut velocity = self.velocity(problem.momentum());
        for contact in self.indices() {
            let b = &mut velocity[self.normal_slot(contact).index()];
            if *b != 0.0 && problem.is_at_rest(contact) {
                *b = 0.0;
            }
        }
        velocity
    }

    /// Sets velocities of normalized contact rows to zero that are at most $2^{-50}$ of the momentum of the bodies that contact
    /// rows connect with the row. The given velocity is rounded, so such a velocity says nothing. `momentum` is whitened and
    /// scaled (n entries).
    #[cold]
    fn remove_rounding(&self, momentum: &[f64], velocity: &mut DVector<f64>) {
        let n = self.columns.nrows();
        let columns = self.columns.as_slice().chunks_exact(n);
        let (of, of_slots) = groups(n, columns);
        let mut norms = vec![0.0f64; n];
        for (group, p) in of.iter().zip(momentum) {
            norms[*group] = libm::hypot(norms[*group], *p);
        }
        for (b, group) in velocity.iter_mut().zip(&of_slots) {
            if b.abs() <= ROUNDING * norms[*group] {
                *b = 0.0;
            }
        }
    }

    /// Returns for each normalized row the sum of the magnitudes of the terms of its velocity, from which the rounding error
    /// of the velocity follows. `momentum` is scaled and whitened (in coordinates with a Euclidean kinetic metric).
    pub(super) fn sizes(&self, momentum: &[f64]) -> Vec<f64> {
        let size = |slot| dot_and_size(self.column(slot), momentum).1;
        self.slots().map(size).collect()
    }

    /// Returns for each contact the norm of the part of a whitened momentum in the coordinates that the contact touches,
    /// or that a chain of contacts with common coordinates connects to it. The momentum of far bodies is not part of it.
    pub(super) fn norms_near(&self, momentum: &[f64]) -> Vec<f64> {
        let m = self.n_contacts;
        let touches = |i: usize, k: usize| {
            let mut slots = self.slots_at(ContactIndex::new(i));
            slots.any(|slot| self.column(slot)[k] != 0.0)
        };
        let coordinates = 0..self.columns.nrows();
        // Number of the connected group of each contact.
        let mut group: Vec<usize> = (0..m).collect();
        for k in coordinates.clone() {
            if group.iter().all(|own| *own == 0) {
                break;
            }
            let touching: Vec<usize> = (0..m).filter(|i| touches(*i, k)).collect();
            let Some(least) = touching.iter().map(|i| group[*i]).min() else {
                continue;
            };
            let joined: Vec<usize> = touching.iter().map(|i| group[*i]).collect();
            let own = group.iter_mut().filter(|own| joined.contains(own));
            own.for_each(|own| *own = least);
        }
        let mut norms: Vec<f64> = Vec::with_capacity(m);
        for (i, own) in group.iter().enumerate() {
            // A group has the number of its first contact.
            norms.push(if *own < i {
                norms[*own]
            } else {
                let near = |k: &usize| (i..m).any(|j| group[j] == *own && touches(j, *k));
                let near = coordinates.clone().filter(near);
                near.fold(0.0, |norm, k| libm::hypot(norm, momentum[k]))
            });
        }
        norms
    }

    /// Returns the speed of each contact up to which an approach counts as rounding (grazing), one per contact, scaled.
    /// The speed covers the rounding of the caller's row and that of the whitened row from which velocities are
    /// computed.
    pub(super) fn grazing(&self, problem: &ImpactProblem) -> Vec<f64> {
        let contacts = problem.contacts();
        let entries = problem.velocity_minus().0.as_slice();
        let of = |i: ContactIndex| {
            let given = contacts.normal_velocity(i, entries, problem.scale());
            let (_, size) = dot_and_size(self.column(self.normal_slot(i)), problem.momentum());
            GRAZING_TOLERANCE * f64::max(given.size, size) + problem.rounding(i)
        };
        self.indices().map(of).collect()
    }

    /// Collects the contact data from which the complementarity problem is assembled. `velocity`: velocities of the
    /// normalized contact rows; `restitution`: one coefficient per contact.
    pub(crate) fn contact_rows<'a>(
        &'a self,
        velocity: &'a DVector<f64>,
        restitution: &'a [f64],
    ) -> ContactRows<'a> {
        ContactRows {
            delassus: &self.gram,
            velocity,
            n_tangents: self.n_tangents,
            friction: &self.friction,
            restitution,
        }
    }

    /// Groups the contact indices into independent parts: impulses at the contacts of one part do not change the
    /// velocities at those of another. Indices in a part are ascending, and so are the first indices of the parts.
    pub(super) fn independent(&self) -> Vec<Vec<ContactIndex>> {
        let mut parts: Vec<Vec<ContactIndex>> = Vec::with_capacity(self.n_contacts);
        let mut reached = vec![false; self.n_contacts];
        for first in self.indices() {
            if std::mem::replace(&mut reached[first.index()], true) {
                continue;
            }
            let mut part = vec![first];
            let mut n_searched = 0;
            while let Some(from) = part.get(n_searched).copied() {
                n_searched += 1;
                for i in self.indices() {
                    if !reached[i.index()] && self.are_coupled(from, i) {
                        reached[i.index()] = true;
                        part.push(i);
                    }
                }
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// True if impulses at one of two contacts change the velocities at the other by more than rounding.
    fn are_coupled(&self, one: ContactIndex, other: ContactIndex) -> bool {
        let mut pairs = self
            .slots_at(one)
            .flat_map(|i| self.slots_at(other).map(move |j| (i.index(), j.index())));
        pairs.any(|pair| self.gram[pair].abs() > UNCOUPLED)
    }

    /// Lists the positions (slots) of the normalized rows of the given contacts, in the order of `contacts`.
    pub(super) fn slots_of(&self, contacts: &[ContactIndex]) -> Vec<Slot> {
        let slots = |contact: &ContactIndex| self.slots_at(*contact);
        contacts.iter().flat_map(slots).collect()
    }

    /// Creates a copy that contains only the contacts with the given indices, in their order.
    pub(super) fn part(&self, contacts: &[ContactIndex]) -> Self {
        let slots = self.slots_of(contacts);
        let slots: Vec<usize> = slots.into_iter().map(Slot::index).collect();
        Self {
            n_contacts: contacts.len(),
            n_tangents: self.n_tangents,
            friction: contacts.iter().map(|i| self.friction[i.index()]).collect(),
            inelastic: vec![0.0; contacts.len()],
            gram: DMatrix::from_fn(slots.len(), slots.len(), |i, j| {
                self.gram[(slots[i], slots[j])]
            }),
            rows: slots.iter().map(|slot| self.rows[*slot]).collect(),
            factors: slots.iter().map(|slot| self.factors[*slot]).collect(),
            columns: self.columns.select_columns(&slots),
        }
    }

    /// Reverses the direction of every normalized row whose entry in `signs` is negative. `signs` has one entry per row.
    pub(super) fn reversed(mut self, signs: &[f64]) -> Self {
        for (slot, _) in signs.iter().enumerate().filter(|(_, sign)| **sign < 0.0) {
            self.factors[slot] *= -1.0;
            self.columns.column_mut(slot).neg_mut();
            self.gram.column_mut(slot).neg_mut();
            self.gram.row_mut(slot).neg_mut();
        }
        self
    }

    /// Computes the change of the scaled whitened momentum (n entries) caused by scaled impulses. `impulse` has one entry
    /// per normalized contact row (slot).
    pub fn change(&self, impulse: &[f64]) -> Numbers {
        let mut change: Numbers = smallvec![0.0; self.columns.nrows()];
        for (column, l) in self.columns.column_iter().zip(impulse) {
            if *l != 0.0 {
                kernel::add_scaled(&mut change, *l, column.as_slice());
            }
        }
        change
    }

    /// Converts scaled impulses on the normalized contact rows (one per slot) to physical impulses on the caller's rows
    /// (N·s). `scale` is [`ImpactProblem::scale`](carom_contact::ImpactProblem::scale).
    pub fn on_rows(&self, impulse: &[f64], scale: f64, contacts: &ContactSet) -> DVector<f64> {
        let mut impulses = DVector::zeros(contacts.n_rows());
        for ((row, factor), l) in self.rows.iter().zip(&self.factors).zip(impulse) {
            if let Some(row) = *row {
                impulses[row.index()] = l * factor / scale;
            }
        }
        impulses
    }

    /// Converts physical impulses on the caller's contact rows (N·s, one per row) to scaled impulses on the normalized rows
    /// (one per slot). `scale` is [`ImpactProblem::scale`](carom_contact::ImpactProblem::scale).
    pub fn of_rows(&self, impulses: &[f64], scale: f64) -> Vec<f64> {
        let of = |(row, factor): (&Option<RowIndex>, &f64)| match row
            .and_then(|r| impulses.get(r.index()))
        {
            Some(l) => l / factor * scale,
            None => 0.0,
        };
        self.rows.iter().zip(&self.factors).map(of).collect()
    }

    /// Lists the normalized rows that exist: position (slot), index of the Jacobian row, and the factor between the two if
    /// the Jacobian row has unit length. The velocity of a normalized row is the factor times that of the unit row. An
    /// impulse on the unit row is the factor times that on the normalized row.
    pub(super) fn rows_of_slots<'a>(
        &'a self,
        contacts: &'a ContactSet,
    ) -> impl Iterator<Item = (Slot, RowIndex, f64)> + 'a {
        let width = self.width();
        let slots = self.slots().zip(self.rows.iter().zip(&self.factors));
        slots.filter_map(move |(slot, (row, factor))| {
            row.map(|row| {
                if slot.is_normal(width) {
                    (slot, row, 1.0)
                } else {
                    (slot, row, factor * contacts.row_norm(row))
                }
            })
        })
    }

    /// Converts scaled impulses on the normalized contact rows to an outcome, if it passes the final checks of momentum,
    /// contacts and energy.
    pub(super) fn outcome(
        &self,
        problem: &ImpactProblem,
        impulse: &[f64],
        status: ImpactStatus,
        diagnostics: Diagnostics,
    ) -> Result<ImpactOutcome, ImpactError> {
        let rules = Rules::FRICTIONAL;
        let candidate = self.candidate(problem, impulse);
        candidate.outcome(
            problem,
            &rules,
            &mut Opening::default(),
            status,
            diagnostics,
        )
    }

    /// Converts scaled impulses on the normalized contact rows to impulses on the rows of the Jacobian with unit
    /// kinetic length (unit rows), with the momentum change that they cause. Checks follow later.
    pub(super) fn candidate(&self, problem: &ImpactProblem, impulse: &[f64]) -> Candidate {
        let contacts = problem.contacts();
        let mut on_rows: Numbers = smallvec![0.0; contacts.n_rows()];
        for (slot, row, factor) in self.rows_of_slots(contacts) {
            on_rows[row.index()] = impulse[slot.index()] * factor;
        }
        Candidate {
            impulse: on_rows,
            change: self.change(impulse),
        }
    }
}
