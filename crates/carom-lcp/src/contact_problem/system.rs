//! One island of contacts in scaled units: its laws, velocities, and Delassus matrix.

use super::bodies::{BODY, Bodies, FIXED, Sides, dot};
use super::checks::WIDTH;
use super::law::{Contact, Square, Triple};
use super::problem::{ContactProblem, Kind, Operator};
use super::single;
use carom_numeric::block_lu::block::apply;
use carom_numeric::kernel::norm;

/// Rounding errors in a velocity, relative to the sum of the magnitudes of its terms.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Numbers of rows up to which an island has a dense Delassus matrix, whose rows have one of these lengths: three rows for each
/// contact.
pub(super) const FEW: [usize; 2] = [12, 24];

/// Springs of the contacts: compliance $R$ and the impulses $p$ at which they have no effect.
#[derive(Clone, Debug, Default)]
pub(super) struct Springs {
    pub(super) compliance: Vec<f64>,
    pub(super) preload: Vec<Triple>,
}

impl Springs {
    /// True if no contact yields.
    pub(super) fn are_rigid(&self) -> bool {
        self.compliance.iter().all(|r| *r == 0.0)
    }
}

/// Island of contacts that are coupled by bodies. Rows are scaled so that the larger mobility of each contact, of its normal
/// or its tangents, is one; velocities are divided by a common unit, so that the largest one is between one and two.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Indices of the contacts in the problem, ascending.
    pub(super) members: Vec<u32>,
    pub(super) contacts: Vec<Contact>,
    pub(super) velocity: Vec<Triple>,
    /// Springs as given.
    pub(super) springs: Springs,
    /// Row scales: scaled rows divided by unscaled rows.
    factors: Vec<f64>,
    /// Velocity unit.
    pub(super) unit: f64,
    /// Largest velocity of a contact before the impulses.
    pub(super) speed: f64,
    pub(super) diagonal: Vec<Square>,
    /// Off-diagonal blocks, contact by contact: `starts` holds the offset of each contact in `columns` and `blocks`.
    pub(super) starts: Vec<u32>,
    pub(super) columns: Vec<u32>,
    pub(super) blocks: Vec<Square>,
    /// Norms of the blocks.
    sizes: Vec<f64>,
    is_coupled: bool,
    /// Rows of the Delassus matrix of few contacts, see [`FEW`].
    rows: Vec<f64>,
    /// Rows on bodies, if the problem has bodies; the bodies are numbered within the island.
    pub(super) sides: Vec<Sides>,
    pub(super) n_bodies: usize,
    /// Contacts of each body: `body_starts` holds the offset of each body in `body_contacts`.
    pub(super) body_starts: Vec<u32>,
    pub(super) body_contacts: Vec<u32>,
    /// Index of a body of the problem in this island.
    local: Vec<u32>,
    change: Vec<[f64; BODY]>,
    places: Vec<u32>,
}

impl System {
    /// Fills the island with the contacts `members` of a problem. `starts` are the offsets of the contacts' first rows.
    pub(super) fn prepare(
        &mut self,
        problem: &ContactProblem<'_>,
        starts: &[usize],
        members: &[u32],
    ) {
        self.members.clear();
        self.members.extend_from_slice(members);
        self.sides.clear();
        self.n_bodies = 0;
        match problem.operator() {
            Operator::Dense(matrix) => {
                let n = problem.velocity().len();
                self.take_dense(problem, (matrix, n), starts);
            }
            Operator::Bodies(bodies) => self.take_bodies(bodies),
        }
        self.take_laws(problem, starts);
    }

    /// Returns the number of contacts.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns the row scale of a contact.
    pub(super) fn factor(&self, contact: usize) -> f64 {
        self.factors[contact]
    }

    fn take_dense(
        &mut self,
        problem: &ContactProblem<'_>,
        (matrix, n): (&[f64], usize),
        offsets: &[usize],
    ) {
        let blocks = problem.blocks();
        let block = |i: u32, j: u32, factor: f64| {
            let (i, j) = (i as usize, j as usize);
            let mut block = [[0.0; WIDTH]; WIDTH];
            for c in 0..blocks[j].kind.width() {
                let at = (offsets[j] + c) * n + offsets[i];
                let column = &matrix[at..at + blocks[i].kind.width()];
                for (row, x) in block.iter_mut().zip(column) {
                    row[c] = x * factor;
                }
            }
            block
        };
        self.diagonal.clear();
        self.factors.clear();
        for i in &self.members {
            let own = block(*i, *i, 1.0);
            let factor = row_scale(&own);
            self.factors.push(factor);
            self.diagonal.push(scaled(&own, factor * factor));
        }
        self.clear_coupling();
        for (at, i) in self.members.iter().enumerate() {
            self.starts.push(self.columns.len() as u32);
            for (other, j) in self.members.iter().enumerate().filter(|(o, _)| *o != at) {
                let block = block(*i, *j, self.factors[at] * self.factors[other]);
                if block.as_flattened().iter().any(|x| *x != 0.0) {
                    self.columns.push(other as u32);
                    self.blocks.push(block);
                }
            }
        }
        self.starts.push(self.columns.len() as u32);
        self.is_coupled = true;
        self.fill_rows();
    }

    fn take_bodies(&mut self, bodies: &Bodies) {
        self.local.clear();
        self.local.resize(bodies.n_bodies(), FIXED);
        self.diagonal.clear();
        self.factors.clear();
        for i in &self.members {
            let mut sides = bodies.sides()[*i as usize];
            for body in &mut sides.bodies {
                let Some(local) = self.local.get_mut(*body as usize) else {
                    continue;
                };
                if *local == FIXED {
                    *local = self.n_bodies as u32;
                    self.n_bodies += 1;
                }
                *body = *local;
            }
            let own = coupling(&sides, &sides);
            let factor = row_scale(&own);
            for x in sides.rows.as_flattened_mut().as_flattened_mut() {
                *x *= factor;
            }
            self.factors.push(factor);
            self.diagonal.push(scaled(&own, factor * factor));
            self.sides.push(sides);
        }
        self.find_bodies();
        self.clear_coupling();
        self.is_coupled = false;
    }

    /// Lists for every body the contacts that touch it.
    fn find_bodies(&mut self) {
        self.body_starts.clear();
        self.body_starts.resize(self.n_bodies + 1, 0);
        let sides = self.sides.iter().flat_map(|sides| sides.bodies);
        for body in sides.filter(|body| *body != FIXED) {
            self.body_starts[body as usize + 1] += 1;
        }
        for k in 0..self.n_bodies {
            self.body_starts[k + 1] += self.body_starts[k];
        }
        self.places.clear();
        self.places.extend_from_slice(&self.body_starts);
        self.body_contacts.clear();
        let total = self.body_starts.last().copied().unwrap_or(0);
        self.body_contacts.resize(total as usize, 0);
        for (i, sides) in self.sides.iter().enumerate() {
            for body in sides.bodies.iter().filter(|body| **body != FIXED) {
                let place = &mut self.places[*body as usize];
                self.body_contacts[*place as usize] = i as u32;
                *place += 1;
            }
        }
    }

    /// Returns the contacts that touch a body, ascending.
    pub(super) fn contacts_of(&self, body: usize) -> &[u32] {
        &self.body_contacts[self.body_starts[body] as usize..self.body_starts[body + 1] as usize]
    }

    /// True if the problem has bodies.
    pub(super) fn has_bodies(&self) -> bool {
        !self.sides.is_empty()
    }

    fn clear_coupling(&mut self) {
        self.starts.clear();
        self.columns.clear();
        self.blocks.clear();
        self.rows.clear();
    }

    /// Computes the off-diagonal blocks of the Delassus matrix, unless they are known.
    pub(super) fn couple(&mut self) {
        if self.is_coupled {
            return;
        }
        self.is_coupled = true;
        self.clear_coupling();
        for i in 0..self.len() {
            self.starts.push(self.columns.len() as u32);
            let own = self.sides[i];
            let first = self.columns.len();
            for body in own.bodies.iter().filter(|body| **body != FIXED) {
                let body = *body as usize;
                let range = self.body_starts[body] as usize..self.body_starts[body + 1] as usize;
                let others = self.body_contacts[range].iter();
                self.columns.extend(others.filter(|j| **j as usize != i));
            }
            self.columns[first..].sort_unstable();
            let mut kept = first;
            for at in first..self.columns.len() {
                if at == first || self.columns[at] != self.columns[kept - 1] {
                    self.columns[kept] = self.columns[at];
                    kept += 1;
                }
            }
            self.columns.truncate(kept);
            for j in &self.columns[first..] {
                self.blocks.push(coupling(&own, &self.sides[*j as usize]));
            }
        }
        self.starts.push(self.columns.len() as u32);
        self.fill_rows();
    }

    /// Computes the norms of the blocks, and fills the dense matrix of few contacts.
    fn fill_rows(&mut self) {
        self.sizes.clear();
        self.sizes
            .extend(self.blocks.iter().map(|block| norm(block.as_flattened())));
        self.rows.clear();
        let n = WIDTH * self.len();
        let Some(length) = FEW.into_iter().find(|length| n <= *length) else {
            return;
        };
        self.rows.resize(n * length, 0.0);
        for i in 0..self.len() {
            let beside = self
                .beside(i)
                .map(|at| (self.columns[at] as usize, &self.blocks[at]));
            for (j, block) in std::iter::once((i, &self.diagonal[i])).chain(beside) {
                for (k, row) in block.iter().enumerate() {
                    let first = (WIDTH * i + k) * length + WIDTH * j;
                    self.rows[first..first + WIDTH].copy_from_slice(row);
                }
            }
        }
    }

    /// Returns the rows of the Delassus matrix of few contacts, filled up with zeros to the length `N`.
    pub(super) fn rows<const N: usize>(&self) -> &[[f64; N]] {
        self.rows.as_chunks().0
    }

    /// Returns the places in `columns` and `blocks` of a contact's row of the Delassus matrix.
    pub(super) fn beside(&self, contact: usize) -> std::ops::Range<usize> {
        self.starts[contact] as usize..self.starts[contact + 1] as usize
    }

    fn take_laws(&mut self, problem: &ContactProblem<'_>, offsets: &[usize]) {
        self.contacts.clear();
        self.velocity.clear();
        self.springs.compliance.clear();
        self.springs.preload.clear();
        let mut largest = 0.0f64;
        for (at, i) in self.members.iter().enumerate() {
            let i = *i as usize;
            let (block, factor) = (&problem.blocks()[i], self.factors[at]);
            let width = block.kind.width();
            let mut b = [0.0; WIDTH];
            b[..width].copy_from_slice(&problem.velocity()[offsets[i]..offsets[i] + width]);
            let mut preload = [0.0; WIDTH];
            preload[..width].copy_from_slice(&block.preload[..width]);
            let contact = Contact {
                kind: match block.kind {
                    Kind::Box(limit) => Kind::Box(limit / factor),
                    kind => kind,
                },
                friction: block.friction,
                floor: block.floor / factor,
                cap: block.cap / factor,
                target: block.target * factor,
            };
            let sizes = [contact.floor, contact.target];
            largest = b.iter().fold(largest, |a, x| a.max((x * factor).abs()));
            largest = sizes.into_iter().fold(largest, f64::max);
            self.contacts.push(contact);
            self.velocity.push(b.map(|x| x * factor));
            self.springs
                .compliance
                .push(block.compliance * factor * factor);
            self.springs.preload.push(preload.map(|x| x / factor));
        }
        // A power of two, so that dividing by it is exact.
        self.unit = match largest {
            0.0 => 1.0,
            size => libm::exp2(libm::log2(size).floor()),
        };
        self.divide();
    }

    /// Divides velocities and impulses by the velocity unit.
    fn divide(&mut self) {
        let unit = self.unit;
        self.speed = 0.0;
        for (b, p) in self.velocity.iter_mut().zip(&mut self.springs.preload) {
            *b = b.map(|x| x / unit);
            *p = p.map(|x| x / unit);
            self.speed = self.speed.max(norm(b));
        }
        for contact in &mut self.contacts {
            contact.floor /= unit;
            contact.cap /= unit;
            contact.target /= unit;
            if let Kind::Box(limit) = &mut contact.kind {
                *limit /= unit;
            }
        }
    }

    /// Solves the law of friction of the only contact in closed form: a spring adds to its mobility, and the pre-load to its
    /// velocity.
    pub(super) fn single(&self, springs: &Springs) -> Triple {
        let (contact, soft, p) = (
            &self.contacts[0],
            springs.compliance[0],
            &springs.preload[0],
        );
        let (mut b, mut g) = (self.velocity[0], self.diagonal[0]);
        for k in 0..contact.kind.width() {
            b[k] -= soft * p[k];
            g[k][k] += soft;
        }
        let slip = match contact.kind {
            Kind::Against(slip) => Some(slip),
            Kind::Box(limit) => {
                let push = -b[0] / g[0][0];
                return [push.clamp(-limit, limit), 0.0, 0.0];
            }
            _ => None,
        };
        let block = single::Block::new(|i, j| g[i][j], contact.friction).with_slip(slip);
        let velocity = [b[0] - contact.target, b[1], b[2]];
        block.solve(velocity, contact.floor, contact.cap)
    }

    /// Computes the velocities $b + G\lambda$ after the impulses.
    pub(super) fn velocity_after(&mut self, impulse: &[Triple], out: &mut Vec<Triple>) {
        self.change(impulse, out);
        for (u, b) in out.iter_mut().zip(&self.velocity) {
            *u = add(*u, b);
        }
    }

    /// Computes the changes $G\lambda$ of the velocities by the impulses.
    pub(super) fn change(&mut self, impulse: &[Triple], out: &mut Vec<Triple>) {
        out.clear();
        if !self.rows.is_empty() {
            out.resize(self.len(), [0.0; WIDTH]);
            let (impulse, out) = (impulse.as_flattened(), out.as_flattened_mut());
            if self.len() * WIDTH <= FEW[0] {
                multiply::<{ FEW[0] }>(self.rows(), impulse, out);
            } else {
                multiply::<{ FEW[1] }>(self.rows(), impulse, out);
            }
            return;
        }
        if self.is_coupled {
            for i in 0..self.len() {
                let mut u = apply(&self.diagonal[i], &impulse[i]);
                for at in self.beside(i) {
                    let l = &impulse[self.columns[at] as usize];
                    u = add(u, &apply(&self.blocks[at], l));
                }
                out.push(u);
            }
            return;
        }
        self.change.clear();
        self.change.resize(self.n_bodies, [0.0; BODY]);
        for (sides, l) in self.sides.iter().zip(impulse) {
            add_transposed(&mut self.change, sides, l);
        }
        for sides in &self.sides {
            out.push(moved(sides, &self.change));
        }
    }

    /// Returns the rounding error of the velocities of a contact after the impulses: a small multiple of the magnitudes of
    /// their terms.
    pub(super) fn rounding(&self, contact: usize, impulse: &[Triple]) -> f64 {
        let mut size = norm(&self.velocity[contact]) + norm(&impulse[contact]);
        if self.is_coupled {
            for at in self.beside(contact) {
                size += self.sizes[at] * norm(&impulse[self.columns[at] as usize]);
            }
        } else {
            for body in self.sides[contact].bodies.iter().filter(|b| **b != FIXED) {
                let others = self.contacts_of(*body as usize).iter();
                size += others.map(|j| norm(&impulse[*j as usize])).sum::<f64>();
            }
        }
        ROUNDING * size
    }

    /// Returns an upper bound of the largest eigenvalue of the Delassus matrix.
    pub(super) fn largest_mobility(&self) -> f64 {
        let trace = |i: usize| (0..WIDTH).map(|k| self.diagonal[i][k][k]).sum::<f64>();
        if self.is_coupled {
            let row = |i: usize| trace(i) + self.sizes[self.beside(i)].iter().sum::<f64>();
            return (0..self.len()).map(row).fold(0.0, f64::max);
        }
        let body = |k: usize| {
            let contacts = self.contacts_of(k).iter();
            2.0 * contacts.map(|i| trace(*i as usize)).sum::<f64>()
        };
        (0..self.n_bodies).map(body).fold(0.0, f64::max)
    }

    /// Returns the mean diagonal entry of a contact's block over three rows.
    pub(super) fn mobility(&self, contact: usize) -> f64 {
        let block = &self.diagonal[contact];
        (block[0][0] + block[1][1] + block[2][2]) / 3.0
    }
}

/// Computes the product of a symmetric matrix and the vector `x`.
fn multiply<const N: usize>(rows: &[[f64; N]], x: &[f64], out: &mut [f64]) {
    let mut sum = [0.0; N];
    for (row, x) in rows.iter().zip(x).filter(|(_, x)| **x != 0.0) {
        for (sum, g) in sum.iter_mut().zip(row) {
            *sum += x * g;
        }
    }
    for (out, sum) in out.iter_mut().zip(sum) {
        *out = sum;
    }
}

#[inline]
pub(super) fn add(mut a: Triple, b: &Triple) -> Triple {
    for (x, y) in a.iter_mut().zip(b) {
        *x += y;
    }
    a
}

/// Adds to the whitened velocities of bodies what the impulse `l` of a contact changes.
#[inline]
pub(super) fn add_transposed(change: &mut [[f64; BODY]], sides: &Sides, l: &Triple) {
    for (body, rows) in sides.bodies.iter().zip(&sides.rows) {
        if let Some(change) = change.get_mut(*body as usize) {
            for (l, row) in l.iter().zip(rows) {
                for (x, a) in change.iter_mut().zip(row) {
                    *x += l * a;
                }
            }
        }
    }
}

/// Returns the velocities along the rows of a contact, from the whitened velocities of the bodies.
#[inline]
pub(super) fn moved(sides: &Sides, change: &[[f64; BODY]]) -> Triple {
    let mut u = [0.0; WIDTH];
    for (body, rows) in sides.bodies.iter().zip(&sides.rows) {
        if let Some(change) = change.get(*body as usize) {
            for (u, row) in u.iter_mut().zip(rows) {
                *u += dot(row, change);
            }
        }
    }
    u
}

/// Returns the block of the Delassus matrix that couples two contacts: a sum over the bodies that both touch.
fn coupling(own: &Sides, other: &Sides) -> Square {
    let mut block = [[0.0; WIDTH]; WIDTH];
    for (body, rows) in own.bodies.iter().zip(&own.rows) {
        for (second, others) in other.bodies.iter().zip(&other.rows) {
            if body == second && *body != FIXED {
                for (row, a) in block.iter_mut().zip(rows) {
                    for (x, b) in row.iter_mut().zip(others) {
                        *x += dot(a, b);
                    }
                }
            }
        }
    }
    block
}

/// Returns the scale of a contact's rows: the mobility of the normal or, if that is larger, the mean one of the two tangents
/// becomes one. It does not depend on the directions of the tangents.
fn row_scale(block: &Square) -> f64 {
    let tangents = match block[2][2] {
        0.0 => block[1][1],
        last => 0.5 * (block[1][1] + last),
    };
    1.0 / block[0][0].max(tangents).sqrt()
}

fn scaled(block: &Square, factor: f64) -> Square {
    block.map(|row| row.map(|x| x * factor))
}
