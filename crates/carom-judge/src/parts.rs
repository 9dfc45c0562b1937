//! Unconnected parts of a system, each measured by its own momentum.

use carom_contact::internal::{ROUNDING, groups, part_in_span};
use carom_contact::{Contact, ContactIndex, ContactSet, ImpactProblem};
use carom_metric::{Tangent, kernel, orthonormal_span};
use nalgebra::{DMatrix, DVector};

/// Scalar product of whitened unit rows below which two contacts do not interact. It covers the rounding of coordinates
/// turned at a condition number of a million. An impulse along one row changes the velocity along the other by no more
/// than this fraction, far less than any tolerance of a judgement.
pub(super) const ORTHOGONAL: f64 = 1e-10;

/// Division of the degrees of freedom into blocks and parts, with the frame and unit of velocity in which each block is
/// judged.
///
/// No entry of the mass matrix, no constraint and no contact connects two blocks. Within a block, contacts that change
/// each other's velocities, directly or through others, form one part: the span of their whitened rows, which does not
/// depend on coordinates. The rest of a block with several such parts is one more part. A block with only one such group
/// of contacts is a single part. Parts do not affect each other: a distant body of any momentum does not change a
/// verdict.
///
/// Velocity that no row sees is subtracted from all velocities, so that the norm of the momentum before the impact is
/// that of the motion that contacts can change, $\rho_c$. Every block has its own unit of velocity, a power of two, in which the
/// momenta of blocks with contacts are about equal: laws and the set of outcomes depend neither on the frame nor on the
/// unit.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Block of each degree of freedom, and of the whitened coordinate with that index.
    of: Vec<usize>,
    /// Velocity before the impact (n entries) along which no row acts.
    unseen: DVector<f64>,
    /// Factor by which the velocities of each block are multiplied.
    factors: Vec<f64>,
    /// All parts. The part with the index of a block is the whole block, or the rest that no contact of the block sees.
    parts: Vec<Part>,
    /// Contact normals (n entries) in blocks of several parts, with the index of their part.
    split: Vec<(DVector<f64>, usize)>,
    /// True if a contact touches the part.
    pub(super) is_touched: Vec<bool>,
    /// True if a contact approaches in the part. If no contact approaches at all: true if a contact touches the part.
    has_impact: Vec<bool>,
}

/// Part of a block.
#[derive(Clone, Debug)]
struct Part {
    block: usize,
    /// Orthonormal whitened directions (n rows); `None` for the rest of a block.
    span: Option<DMatrix<f64>>,
}

impl Parts {
    /// Divides the system into independent parts, between which no mass, constraint or contact acts. Chooses a unit of
    /// velocity for each connected block of coordinates from the largest of the `velocities` (n entries each).
    pub(super) fn new(problem: &ImpactProblem, velocities: &[&Tangent]) -> Self {
        let contacts = problem.contacts();
        let metric = contacts.metric();
        let n = metric.dim();
        let columns = metric.mass_matrix().as_slice().chunks_exact(n.max(1));
        // A contact connects all degrees of freedom that any of its rows touches.
        let touched = |contact: &Contact| {
            let mut touched = vec![0.0; n];
            for row in std::iter::once(&contact.normal).chain(&contact.tangents) {
                let entries = touched.iter_mut().zip(row.0.iter());
                entries.for_each(|(touched, a)| *touched += f64::from(*a != 0.0));
            }
            touched
        };
        let touched: Vec<Vec<f64>> = contacts.contacts().iter().map(touched).collect();
        let forms = contacts.constraint_forms().iter();
        let links = columns
            .chain(touched.iter().map(Vec::as_slice))
            .chain(forms.map(|form| form.0.as_slice()));
        let (roots, _) = groups(n, links);
        // Numbers the blocks from 0, in the order of their first degrees of freedom.
        let mut firsts = roots.clone();
        firsts.sort_unstable();
        firsts.dedup();
        let number = |root: &usize| firsts.binary_search(root).unwrap_or(0);
        let mut parts = Self {
            of: roots.iter().map(number).collect(),
            unseen: DVector::zeros(n),
            factors: vec![1.0; firsts.len()],
            parts: (0..firsts.len())
                .map(|block| Part { block, span: None })
                .collect(),
            split: Vec::new(),
            is_touched: vec![false; firsts.len()],
            has_impact: vec![false; firsts.len()],
        };
        parts.split(contacts);
        for (i, contact) in contacts.indexed() {
            let part = parts.of_row(contact.normal.0.as_slice());
            parts.is_touched[part] = true;
            parts.has_impact[part] |= problem.approaches(i);
        }
        if !problem.is_approaching() {
            parts.has_impact = parts.is_touched.clone();
        }
        parts.unseen = parts.unseen_by_rows(problem);
        if parts.factors.len() < 2 {
            return parts;
        }
        let mut sizes = vec![0.0f64; parts.factors.len()];
        for velocity in velocities {
            let mut whitened = vec![0.0; n];
            let seen = &velocity.0 - &parts.unseen;
            metric.whiten_velocity_into(seen.as_slice(), &mut whitened);
            for (size, norm) in sizes.iter_mut().zip(parts.block_norms(&whitened)) {
                *size = size.max(norm);
            }
        }
        let is_touched = parts.touched_blocks();
        let touched = sizes.iter().zip(&is_touched);
        let largest = touched.filter(|(_, is_touched)| **is_touched);
        let largest = largest.map(|(size, _)| *size).fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return parts;
        }
        let units = parts.factors.iter_mut().zip(sizes).zip(&is_touched);
        for ((factor, size), is_touched) in units {
            let [own, all] = [size, largest].map(kernel::power_of_two_scale);
            let ratio = own / all;
            // A block that no contact touches is scaled down, but not up: its change may be rounding.
            if size > 0.0 && ratio.is_finite() && (*is_touched || ratio < 1.0) {
                *factor = ratio;
            }
        }
        parts
    }

    /// Divides each connected block of coordinates into several parts if its contacts form several groups that do not
    /// change each other's velocities.
    fn split(&mut self, contacts: &ContactSet) {
        let mut groups: Vec<Vec<Vec<ContactIndex>>> = vec![Vec::new(); self.factors.len()];
        for group in met(contacts) {
            let Some(first) = group.first() else { continue };
            let normal = &contacts.contact(*first).normal;
            groups[self.block_of(normal.0.as_slice())].push(group);
        }
        let several = groups
            .into_iter()
            .enumerate()
            .filter(|(_, own)| own.len() > 1);
        for (block, own) in several {
            for group in own {
                let part = self.parts.len();
                self.parts.push(Part {
                    block,
                    span: Some(span(contacts, &group)),
                });
                self.is_touched.push(false);
                self.has_impact.push(false);
                for contact in group {
                    let normal = &contacts.contact(contact).normal;
                    self.split.push((normal.0.clone(), part));
                }
            }
        }
    }

    /// Returns one flag per connected block of coordinates, true if the block has a contact.
    fn touched_blocks(&self) -> Vec<bool> {
        let mut touched = vec![false; self.factors.len()];
        for (part, is_touched) in self.parts.iter().zip(&self.is_touched) {
            touched[part.block] |= is_touched;
        }
        touched
    }

    /// True if every independent part of the system is judged in the frame and velocity unit of the problem: no velocity
    /// is subtracted, and no factor is applied.
    pub(super) fn are_given(&self) -> bool {
        self.factors.iter().all(|factor| *factor == 1.0) && self.unseen.iter().all(|v| *v == 0.0)
    }

    /// Computes the part of the velocity before the impact (n entries) that no contact and no constraint can change. In a
    /// connected block of coordinates where this part is only rounding, the result is zero.
    fn unseen_by_rows(&self, problem: &ImpactProblem) -> DVector<f64> {
        let momentum = problem.momentum();
        let seen = seen(problem.contacts(), momentum);
        let mut left = DVector::from_column_slice(momentum) - seen;
        let norms = [left.as_slice(), momentum].map(|whitened| self.block_norms(whitened));
        for (x, part) in left.iter_mut().zip(&self.of) {
            if norms[0][*part] <= ROUNDING * norms[1][*part] {
                *x = 0.0;
            }
        }
        let metric = problem.contacts().metric();
        metric.unwhiten_velocity_in_place(left.as_mut_slice());
        left / problem.scale()
    }

    /// Returns the norm of a whitened vector (n entries) in each independent part of the system.
    pub(super) fn norms(&self, whitened: &[f64]) -> Vec<f64> {
        if self.split.is_empty() {
            return self.block_norms(whitened);
        }
        let mut left = DVector::from_column_slice(whitened);
        let mut norms = vec![0.0; self.parts.len()];
        for (part, norm) in self.parts.iter().zip(&mut norms) {
            if let Some(span) = &part.span {
                let along = span.tr_mul(&DVector::from_column_slice(whitened));
                *norm = kernel::norm(along.as_slice());
                left -= span * along;
            }
        }
        let rests = self.block_norms(left.as_slice());
        norms
            .iter_mut()
            .zip(rests)
            .for_each(|(norm, rest)| *norm = rest);
        norms
    }

    /// Returns for each independent part of the system the norm of a whitened vector (n entries) in the whole connected
    /// block of coordinates to which the part belongs.
    pub(super) fn norms_around(&self, whitened: &[f64]) -> Vec<f64> {
        let norms = self.block_norms(whitened);
        self.parts.iter().map(|part| norms[part.block]).collect()
    }

    /// Returns the norm of a whitened vector (n entries) in each connected block of coordinates.
    fn block_norms(&self, whitened: &[f64]) -> Vec<f64> {
        let norm = |block: usize| {
            let own = whitened.iter().zip(&self.of);
            let own: Vec<f64> = own
                .filter(|(_, of)| **of == block)
                .map(|(x, _)| *x)
                .collect();
            kernel::norm(&own)
        };
        (0..self.factors.len()).map(norm).collect()
    }

    /// Combines the norms of all independent parts of the system, one entry per part in its own velocity unit, to one
    /// norm in the unit of the problem.
    pub(super) fn whole(&self, norms: &[f64]) -> f64 {
        let lowered = norms.iter().zip(self.part_factors());
        let lowered: Vec<f64> = lowered.map(|(norm, factor)| norm / factor).collect();
        kernel::norm(&lowered)
    }

    /// Combines norms of the independent parts of the system to one norm in the unit of the problem. Only parts in
    /// which a contact approaches count; if no contact approaches at all, the parts with a contact count. `norms` has
    /// one entry per part in its own velocity unit.
    pub(super) fn whole_of_event(&self, norms: &[f64]) -> f64 {
        let own = norms.iter().zip(&self.has_impact);
        let own = own.map(|(norm, has_impact)| if *has_impact { *norm } else { 0.0 });
        self.whole(&own.collect::<Vec<f64>>())
    }

    /// Iterates over the factors that convert a velocity from the unit of the problem to the units of the independent
    /// parts of the system.
    fn part_factors(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().map(|part| self.factors[part.block])
    }

    /// Converts velocities from the unit of the problem to the units of the independent parts of the system, one for each.
    pub(super) fn in_parts(&self, sizes: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
        let factors = self.part_factors();
        sizes.zip(factors).map(|(size, factor)| size * factor)
    }

    /// Returns the index of the independent part of the system to which a contact normal (n entries) belongs. A row that
    /// is no contact normal belongs to the rest of the connected block of coordinates on which it acts.
    pub(super) fn of_row(&self, row: &[f64]) -> usize {
        let mut split = self.split.iter();
        let own = split.find(|(normal, _)| normal.as_slice() == row);
        own.map_or_else(|| self.block_of(row), |(_, part)| *part)
    }

    /// Returns the index of the connected block of coordinates on which a row (n entries) acts.
    fn block_of(&self, row: &[f64]) -> usize {
        let first = row.iter().position(|a| *a != 0.0);
        first.and_then(|k| self.of.get(k)).copied().unwrap_or(0)
    }

    /// Converts a velocity (n entries) from the frame and unit of the problem to those of the connected blocks of
    /// coordinates. Subtracts the motion that no contact can change, and multiplies the entries of each block by its
    /// factor.
    pub(super) fn raised(&self, velocity: &DVector<f64>) -> DVector<f64> {
        let units = velocity.iter().zip(&self.unseen).zip(&self.of);
        DVector::from_iterator(
            velocity.len(),
            units.map(|((v, unseen), part)| (v - unseen) * self.factors[*part]),
        )
    }

    /// Converts a velocity (n entries) from the frames and units of the connected blocks of coordinates back to those
    /// of the problem.
    pub(super) fn restored(&self, velocity: &DVector<f64>) -> DVector<f64> {
        self.lowered(velocity) + &self.unseen
    }

    /// Converts whitened coordinates (n entries) or a change of velocity from the units of the connected blocks of
    /// coordinates to the unit of the problem. The frame makes no difference here.
    pub(super) fn lowered(&self, change: &DVector<f64>) -> DVector<f64> {
        let units = change.iter().zip(&self.of);
        DVector::from_iterator(change.len(), units.map(|(x, part)| x / self.factors[*part]))
    }

    /// Converts impulses on the contact rows, in place, from the velocity units of the connected blocks of coordinates
    /// to the unit of the problem.
    pub(super) fn lower_impulses(&self, contacts: &ContactSet, impulses: &mut DVector<f64>) {
        for (i, contact) in contacts.indexed() {
            let factor = self.factors[self.block_of(contact.normal.0.as_slice())];
            let mut own = impulses.rows_mut(contacts.row(i).index(), contact.n_rows());
            own /= factor;
        }
    }

    /// Converts the impulses of the constraints, in place, from the velocity units of the connected blocks of
    /// coordinates to the unit of the problem.
    pub(super) fn lower_multipliers(&self, contacts: &ContactSet, multipliers: &mut DVector<f64>) {
        for (multiplier, form) in multipliers.iter_mut().zip(contacts.constraint_forms()) {
            *multiplier /= self.factors[self.block_of(form.0.as_slice())];
        }
    }
}

/// Projects a whitened momentum (n entries) onto the span of the contact and constraint rows: the part of the motion
/// that contacts and constraints can change.
pub(super) fn seen(contacts: &ContactSet, momentum: &[f64]) -> DVector<f64> {
    seen_by(
        contacts,
        contacts.all_rows().map(|row| contacts.unit_row(row)),
        momentum,
    )
}

/// Projects a whitened momentum (n entries) onto the span of these contact rows (whitened) and of all constraints.
pub(super) fn seen_by<'r>(
    contacts: &'r ContactSet,
    rows: impl Iterator<Item = &'r [f64]> + Clone,
    momentum: &[f64],
) -> DVector<f64> {
    // Contact rows have no part along the constraints.
    let forms = contacts.constraint_basis();
    let n = momentum.len();
    let forms = forms.map_or(&[][..], |basis| basis.as_slice());
    let rows = rows.chain(forms.chunks_exact(n.max(1)));
    DVector::from_column_slice(&part_in_span(rows, momentum))
}

/// Groups the contacts so that impulses of one group change no contact velocity of another group. Contacts stand in one
/// group if they change each other's velocities, directly or through others.
pub(super) fn met(contacts: &ContactSet) -> Vec<Vec<ContactIndex>> {
    let meet = |i: ContactIndex, j: ContactIndex| {
        contacts.rows_at(i).any(|a| {
            let of_a = contacts.unit_row(a);
            contacts
                .rows_at(j)
                .any(|b| kernel::dot(of_a, contacts.unit_row(b)).abs() > ORTHOGONAL)
        })
    };
    let all = || contacts.indices();
    let links: Vec<f64> = all()
        .flat_map(|i| all().map(move |j| f64::from(meet(i, j))))
        .collect();
    let (first, _) = groups(contacts.len(), links.chunks_exact(contacts.len().max(1)));
    let own = |i: ContactIndex| all().filter(|j| first[j.index()] == i.index()).collect();
    all()
        .filter(|i| first[i.index()] == i.index())
        .map(own)
        .collect()
}

/// Computes orthonormal directions (columns with n entries, whitened) that span the rows of the contacts in `group`.
fn span(contacts: &ContactSet, group: &[ContactIndex]) -> DMatrix<f64> {
    let n = contacts.metric().dim();
    let rows = group.iter();
    let rows = rows.flat_map(|contact| contacts.rows_at(*contact));
    let columns: Vec<f64> = rows
        .flat_map(|row| contacts.unit_row(row).iter().copied())
        .collect();
    let rows = DMatrix::from_column_slice(n, columns.len() / n.max(1), &columns);
    let mut span = orthonormal_span(&rows);
    for (row, mut entries) in rows.row_iter().zip(span.row_iter_mut()) {
        // Entries that no row touches are set to zero: a distant body may be fast there, and its rounding must not count.
        if row.iter().all(|a| *a == 0.0) {
            entries.fill(0.0);
        }
    }
    span
}
