//! Linear systems $(A + B(G + R))x = y$ with diagonal blocks $A$, $B$, $R$ for every contact, solved for the impulses or for
//! the velocities of the bodies.

use super::bodies::{BODY, FIXED};
use super::checks::WIDTH;
use super::few::Few;
use super::law::{Square, Triple};
use super::system::{FEW, System, add_transposed, moved};
use carom_numeric::block_lu::BlockLu;
use carom_numeric::block_lu::block::{
    Block, Factored, apply, product, scalar, subtract_applied, sum, zero,
};

/// Sparse matrices are those of the impulses up to this many contacts per body: their blocks have an eighth of the size, and
/// there are about as many neighbors.
const CONTACTS_A_BODY: usize = 3;

/// The symbolic factors of an earlier set of contacts serve a subset that has at least this fraction of it.
const KEPT_FRACTION: f64 = 0.8;

/// Least regularization of an impulse-space matrix: the rounding error of its entries.
const LEAST_SOFTNESS: f64 = 1e-14;

/// Least regularization of a velocity-space matrix, whose entries are as large as the reciprocal of the regularization: at
/// 1e-9 the steps consist of rounding errors (measured).
const LEAST_SOFTNESS_OF_BODIES: f64 = 1e-6;

/// Unknowns of a linear system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Space {
    /// Rows with $B \ne 0$ of up to four contacts, in a dense matrix.
    #[default]
    Few,
    /// Rows with $B \ne 0$ of up to eight contacts, in a dense matrix.
    More,
    /// Impulses of the contacts with $B \ne 0$, in blocks.
    Impulses,
    /// Whitened velocities of the bodies: $(I + W^TSBW)\Delta v = W^TSy$, $S = (A + BR)^{-1}$, with $W$ the contact rows.
    Velocities,
}

/// Pattern of contacts whose symbolic factors a [`Workspace`](super::Workspace) keeps: the order of elimination in later problems
/// depends on it.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pattern {
    space: Space,
    coupling: (Vec<u32>, Vec<u32>),
    known: Vec<bool>,
}

/// Factors of the last system, and the symbolic factors of the last patterns.
#[derive(Clone, Debug, Default)]
pub(super) struct Linear {
    space: Space,
    /// $A + BR$ of the last system, and $B$.
    own: Vec<Square>,
    b: Vec<Square>,
    factored: Vec<Factored<WIDTH>>,
    is_member: Vec<bool>,
    members: Vec<u32>,
    place: Vec<u32>,
    /// Contacts in the symbolic factors, and the pattern to which they belong.
    known: Vec<bool>,
    n_known: usize,
    /// True if the symbolic factors of the known contacts are not computed yet.
    is_recalled: bool,
    pattern: (Vec<u32>, Vec<u32>),
    few: Few<{ FEW[0] }>,
    more: Few<{ FEW[1] }>,
    impulses: BlockLu<WIDTH>,
    triples: Vec<Triple>,
    velocities: BlockLu<BODY>,
    of_bodies: Vec<[f64; BODY]>,
    /// Least pivot of the last dense matrix; zero for the other matrices.
    pub(super) least_pivot: f64,
    /// Sum of the rows of all matrices that were factored.
    pub(super) work: u64,
}

impl Linear {
    /// Chooses the unknowns for an island, and forgets the symbolic factors if its contacts are coupled otherwise than those
    /// before.
    pub(super) fn begin(&mut self, system: &mut System) {
        self.work = 0;
        let space = if system.len() <= FEW[0] / WIDTH {
            Space::Few
        } else if system.len() <= FEW[1] / WIDTH {
            Space::More
        } else if system.has_bodies() && system.len() > CONTACTS_A_BODY * system.n_bodies {
            Space::Velocities
        } else {
            Space::Impulses
        };
        if space != Space::Velocities {
            system.couple();
        }
        let (starts, columns) = match space {
            Space::Velocities => (&system.body_starts, &system.body_contacts),
            _ => (&system.starts, &system.columns),
        };
        let is_same =
            space == self.space && self.pattern.0 == *starts && self.pattern.1 == *columns;
        if !is_same {
            self.space = space;
            self.pattern.0.clone_from(starts);
            self.pattern.1.clone_from(columns);
            self.known.clear();
            self.n_known = 0;
            self.is_recalled = false;
        }
    }

    /// Returns the pattern of the symbolic factors; `None` without factors.
    pub(super) fn pattern(&self) -> Option<Pattern> {
        let is_kept = !self.is_dense() && !self.known.is_empty();
        is_kept.then(|| Pattern {
            space: self.space,
            coupling: self.pattern.clone(),
            known: self.known.clone(),
        })
    }

    /// Goes on as after problems with this pattern.
    pub(super) fn recall(&mut self, pattern: Pattern) {
        self.space = pattern.space;
        self.pattern = pattern.coupling;
        self.n_known = pattern.known.iter().filter(|is_known| **is_known).count();
        self.known = pattern.known;
        self.is_recalled = true;
    }

    /// Returns the least number that keeps a step's matrix regular, added to the compliance of all contacts.
    pub(super) fn least_softness(&self) -> f64 {
        match self.space {
            Space::Velocities => LEAST_SOFTNESS_OF_BODIES,
            _ => LEAST_SOFTNESS,
        }
    }

    /// True if the matrix is dense: up to eight contacts.
    pub(super) fn is_dense(&self) -> bool {
        self.space <= Space::More
    }

    /// True if the matrix is dense and small: up to four contacts.
    pub(super) fn has_few(&self) -> bool {
        self.space == Space::Few
    }

    /// Returns the first attempt of Newton's method: that with hardly any regularization is for few contacts.
    pub(super) fn first_attempt(&self) -> usize {
        usize::from(!self.has_few())
    }

    /// Factors the system with the blocks `a`, `b` and the compliances `soft`. Returns false if it is singular.
    pub(super) fn factor(
        &mut self,
        system: &System,
        a: &[Square],
        b: &[Square],
        soft: &[f64],
    ) -> bool {
        self.least_pivot = 0.0;
        if self.is_dense() {
            let (n, pivot) = match self.space {
                Space::Few => self.few.factor(system, (a, b), soft),
                _ => self.more.factor(system, (a, b), soft),
            };
            self.work += n as u64;
            self.least_pivot = pivot;
            return pivot > 0.0;
        }
        self.own.clear();
        self.b.clear();
        self.b.extend_from_slice(b);
        self.is_member.clear();
        for ((a, b), soft) in a.iter().zip(b).zip(soft) {
            let mut own = *a;
            for (row, other) in own.iter_mut().zip(b) {
                for (x, y) in row.iter_mut().zip(other) {
                    *x += soft * y;
                }
            }
            self.own.push(own);
            self.is_member.push(*b != zero());
        }
        match self.space {
            Space::Velocities => {
                self.analyze(system);
                self.factor_velocities(system)
            }
            _ => {
                self.analyze(system);
                self.factor_impulses(system)
            }
        }
    }

    /// Overwrites `x` = $y$ by the solution of the system that was factored last.
    pub(super) fn solve(&mut self, system: &System, x: &mut [Triple]) {
        match self.space {
            Space::Few => self.few.solve(x),
            Space::More => self.more.solve(x),
            Space::Impulses => self.solve_impulses(system, x),
            Space::Velocities => self.solve_velocities(system, x),
        }
    }

    /// Computes the symbolic factors unless the known ones serve.
    fn analyze(&mut self, system: &System) {
        let n_members = self.is_member.iter().filter(|x| **x).count();
        let pairs = self.is_member.iter().zip(&self.known);
        let is_inside = self.known.len() == self.is_member.len()
            && pairs.clone().all(|(new, old)| !new || *old);
        let serves = is_inside && n_members as f64 >= KEPT_FRACTION * self.n_known as f64;
        if serves && !self.is_recalled {
            return;
        }
        if !serves {
            self.known.clone_from(&self.is_member);
            self.n_known = n_members;
        }
        self.is_recalled = false;
        if self.space == Space::Velocities {
            let known = &self.known;
            self.velocities.analyze(system.n_bodies, |body, list| {
                let contacts = system.contacts_of(body).iter();
                for i in contacts.filter(|i| known[**i as usize]) {
                    let bodies = system.sides[*i as usize].bodies;
                    list.extend(bodies.iter().filter(|other| **other != FIXED));
                }
            });
            return;
        }
        self.members.clear();
        self.place.clear();
        for (i, is_known) in self.known.iter().enumerate() {
            self.place.push(match is_known {
                true => self.members.len() as u32,
                false => u32::MAX,
            });
            if *is_known {
                self.members.push(i as u32);
            }
        }
        let (members, place) = (&self.members, &self.place);
        self.impulses.analyze(members.len(), |at, list| {
            let columns = &system.columns[system.beside(members[at] as usize)];
            let places = columns.iter().map(|j| place[*j as usize]);
            list.extend(places.filter(|p| *p != u32::MAX));
        });
    }

    fn factor_impulses(&mut self, system: &System) -> bool {
        self.work += (WIDTH * self.members.len()) as u64;
        self.impulses.clear();
        for (at, i) in self.members.iter().enumerate() {
            let i = *i as usize;
            let own = sum(product(&self.b[i], &system.diagonal[i]), &self.own[i]);
            if let Some(entry) = self.impulses.entry(at, at) {
                *entry = own;
            }
            if !self.is_member[i] {
                continue;
            }
            for beside in system.beside(i) {
                let other = self.place[system.columns[beside] as usize];
                if other == u32::MAX {
                    continue;
                }
                if let Some(entry) = self.impulses.entry(at, other as usize) {
                    *entry = product(&self.b[i], &system.blocks[beside]);
                }
            }
        }
        self.impulses.factor()
    }

    fn solve_impulses(&mut self, system: &System, x: &mut [Triple]) {
        self.triples.clear();
        for i in &self.members {
            let i = *i as usize;
            let mut y = x[i];
            if self.is_member[i] {
                // Contacts outside the pattern have known impulses.
                for beside in system.beside(i) {
                    let other = system.columns[beside] as usize;
                    if self.place[other] == u32::MAX {
                        let part = apply(&system.blocks[beside], &x[other]);
                        subtract_applied(&mut y, &self.b[i], &part);
                    }
                }
            }
            self.triples.push(y);
        }
        self.impulses.solve(&mut self.triples);
        for (i, value) in self.members.iter().zip(&self.triples) {
            x[*i as usize] = *value;
        }
    }

    fn factor_velocities(&mut self, system: &System) -> bool {
        self.work += (BODY * system.n_bodies) as u64;
        self.velocities.clear();
        for body in 0..system.n_bodies {
            if let Some(entry) = self.velocities.entry(body, body) {
                *entry = scalar(1.0);
            }
        }
        self.factored.clear();
        for (i, sides) in system.sides.iter().enumerate() {
            let Some(own) = Factored::new(&self.own[i]) else {
                return false;
            };
            self.factored.push(own);
            if !self.is_member[i] {
                continue;
            }
            let stiffness = own.solve_block(&self.b[i]);
            for (second, rows) in sides.bodies.iter().zip(&sides.rows) {
                if *second == FIXED {
                    continue;
                }
                let mut moved = [[0.0; BODY]; WIDTH];
                for (out, c) in moved.iter_mut().zip(&stiffness) {
                    for (c, row) in c.iter().zip(rows) {
                        for (x, w) in out.iter_mut().zip(row) {
                            *x += c * w;
                        }
                    }
                }
                for (first, others) in sides.bodies.iter().zip(&sides.rows) {
                    if *first == FIXED {
                        continue;
                    }
                    if let Some(entry) = self.velocities.entry(*first as usize, *second as usize) {
                        add_transposed_product(entry, others, &moved);
                    }
                }
            }
        }
        self.velocities.factor()
    }

    fn solve_velocities(&mut self, system: &System, x: &mut [Triple]) {
        self.of_bodies.clear();
        self.of_bodies.resize(system.n_bodies, [0.0; BODY]);
        for ((own, sides), x) in self.factored.iter().zip(&system.sides).zip(x.iter_mut()) {
            *x = own.solve(x);
            add_transposed(&mut self.of_bodies, sides, x);
        }
        self.velocities.solve(&mut self.of_bodies);
        let contacts = self.factored.iter().zip(&system.sides).zip(&self.b);
        for (((own, sides), b), x) in contacts.zip(x.iter_mut()) {
            let change = own.solve(&apply(b, &moved(sides, &self.of_bodies)));
            for (x, change) in x.iter_mut().zip(change) {
                *x -= change;
            }
        }
    }
}

/// Adds $W^TY$ to the 6 × 6 block `entry`. $W$ (rows `u`, `v`, `w`) and $Y$ (rows `x`, `y`, `z`) are 3 × 6
/// matrices. Each row of `entry` is read and written once.
#[inline]
fn add_transposed_product(
    entry: &mut Block<BODY>,
    [u, v, w]: &[[f64; BODY]; WIDTH],
    [x, y, z]: &[[f64; BODY]; WIDTH],
) {
    for (k, row) in entry.iter_mut().enumerate() {
        for (c, value) in row.iter_mut().enumerate() {
            *value = *value + u[k] * x[c] + v[k] * y[c] + w[k] * z[c];
        }
    }
}
