//! Linear systems $(A + BG)x = y$ with diagonal blocks $A$, $B$ for every contact. They are solved for the
//! impulses or for the velocities of the bodies.

use super::problem::{BODY, FIXED};
use super::system::{System, Triple, add_transposed, moved};
use super::tolerances::{CONTACTS_A_BODY, KEPT_FRACTION};
use crate::cone::problem::WIDTH;
use carom_numeric::block_lu::BlockLu;
use carom_numeric::block_lu::block::{Block, Factored, apply, product, sum, zero};

/// Choice of the unknowns of a linear system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Space {
    /// Impulses of the contacts that are not open, with the matrix $A + BG$.
    #[default]
    Impulses,
    /// Whitened velocities of the bodies, with the matrix $I + J^TCJ$, $C = A^{-1}B$ and $J$ the contact rows.
    Velocities,
}

/// Factors of the last system, and work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Linear {
    space: Space,
    /// Contacts in the symbolic factors of each space.
    known: [Vec<bool>; 2],
    n_known: [usize; 2],
    impulses: BlockLu<WIDTH>,
    velocities: BlockLu<BODY>,
    /// Index of a contact among the unknowns of the impulse space.
    place: Vec<u32>,
    members: Vec<u32>,
    own: Vec<Factored<WIDTH>>,
    right: Vec<Triple>,
    of_bodies: Vec<[f64; BODY]>,
    /// Number of numeric factorizations since the start of the solve.
    pub(super) n_factorizations: usize,
    /// Number of symbolic factorizations since the start of the solve.
    pub(super) n_symbolic: usize,
}

impl Linear {
    /// Prepares the linear solver for a new contact problem: resets its counters, and discards the symbolic
    /// factorizations unless the same pairs of contacts are coupled as in the last problem (`is_same_pattern`).
    pub(super) fn begin(&mut self, is_same_pattern: bool) {
        self.n_factorizations = 0;
        self.n_symbolic = 0;
        if !is_same_pattern {
            self.n_known = [0; 2];
            self.known.iter_mut().for_each(Vec::clear);
        }
    }

    /// Returns the unknowns for which the linear systems of Newton steps are solved: velocities of the bodies if
    /// there are many contacts per body, otherwise impulses of the contacts.
    pub(super) fn newton_space(system: &System) -> Space {
        if system.has_bodies && system.m > CONTACTS_A_BODY * system.n_bodies {
            Space::Velocities
        } else {
            Space::Impulses
        }
    }

    /// Factorizes the linear system $(A + BG)x = y$ of all contacts, where $G$ is the Delassus matrix. `a` and `b`
    /// hold the 3 × 3 diagonal blocks of $A$ and $B$, one per contact. `space` selects the unknowns of the factorized
    /// matrix: impulses of the contacts, or velocities of the bodies. `is_member` marks the contacts whose impulses
    /// are unknown; if the unknowns are impulses, contacts with $B = 0$ may be left out. Returns false if the system
    /// is singular.
    pub(super) fn factor(
        &mut self,
        system: &mut System,
        space: Space,
        a: &[Block<WIDTH>],
        b: &[Block<WIDTH>],
        is_member: &[bool],
    ) -> bool {
        self.space = space;
        self.n_factorizations += 1;
        if space == Space::Impulses {
            system.couple();
        }
        let which = space as usize;
        let n_members = is_member.iter().filter(|x| **x).count();
        let known = &self.known[which];
        let is_inside = known.len() == is_member.len()
            && is_member.iter().zip(known).all(|(new, old)| !new || *old);
        let is_most = n_members as f64 >= KEPT_FRACTION * self.n_known[which] as f64;
        if !(is_inside && is_most) {
            self.n_symbolic += 1;
            self.known[which].clear();
            self.known[which].extend_from_slice(is_member);
            self.n_known[which] = n_members;
            match space {
                Space::Impulses => self.analyze_impulses(system),
                Space::Velocities => self.analyze_velocities(system),
            }
        }
        match space {
            Space::Impulses => self.factor_impulses(system, a, b),
            Space::Velocities => self.factor_velocities(system, a, b),
        }
    }

    fn analyze_impulses(&mut self, system: &System) {
        let known = &self.known[Space::Impulses as usize];
        self.members.clear();
        self.place.clear();
        for (i, is_known) in known.iter().enumerate() {
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

    fn analyze_velocities(&mut self, system: &System) {
        let known = &self.known[Space::Velocities as usize];
        self.velocities.analyze(system.n_bodies, |body, list| {
            for i in system.contacts_of(body) {
                if known[*i as usize] {
                    let bodies = system.sides[*i as usize].bodies;
                    list.extend(bodies.iter().filter(|other| **other != FIXED));
                }
            }
        });
    }

    fn factor_impulses(&mut self, system: &System, a: &[Block<WIDTH>], b: &[Block<WIDTH>]) -> bool {
        self.impulses.clear();
        for (at, i) in self.members.iter().enumerate() {
            let i = *i as usize;
            let own = sum(product(&b[i], &system.diagonal[i]), &a[i]);
            if let Some(entry) = self.impulses.entry(at, at) {
                *entry = own;
            }
            if b[i] == zero() {
                continue;
            }
            for beside in system.beside(i) {
                let other = self.place[system.columns[beside] as usize];
                if other == u32::MAX {
                    continue;
                }
                let block = product(&b[i], &system.blocks[beside]);
                if let Some(entry) = self.impulses.entry(at, other as usize) {
                    *entry = sum(*entry, &block);
                }
            }
        }
        self.impulses.factor()
    }

    fn factor_velocities(
        &mut self,
        system: &System,
        a: &[Block<WIDTH>],
        b: &[Block<WIDTH>],
    ) -> bool {
        self.velocities.clear();
        for body in 0..system.n_bodies {
            if let Some(entry) = self.velocities.entry(body, body) {
                *entry = carom_numeric::block_lu::block::scalar(1.0);
            }
        }
        self.own.clear();
        for ((a, b), sides) in a.iter().zip(b).zip(&system.sides) {
            let Some(own) = Factored::new(a) else {
                return false;
            };
            self.own.push(own);
            if *b == zero() {
                continue;
            }
            let c = own.solve_block(b);
            for (second, rows) in sides.bodies.iter().zip(&sides.rows) {
                if *second == FIXED {
                    continue;
                }
                // C times the rows of the contact on that body.
                let mut moved = [[0.0; BODY]; WIDTH];
                for (out, c) in moved.iter_mut().zip(&c) {
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
                    let entry = self.velocities.entry(*first as usize, *second as usize);
                    if let Some(entry) = entry {
                        add_transposed_product(entry, others, &moved);
                    }
                }
            }
        }
        self.velocities.factor()
    }

    /// Solves the linear system $(A + BG)x = y$ of all contacts with the factors that were computed last. $A$ and
    /// $B$ are block-diagonal, with 3 × 3 blocks, and $G$ is the Delassus matrix. `b` holds the blocks of $B$ that
    /// were factorized; the solution is written into `x`.
    pub(super) fn solve(
        &mut self,
        system: &System,
        b: &[Block<WIDTH>],
        y: &[Triple],
        x: &mut Vec<Triple>,
    ) {
        x.clear();
        x.extend_from_slice(y);
        match self.space {
            Space::Impulses => self.solve_impulses(system, b, x),
            Space::Velocities => self.solve_velocities(system, b, x),
        }
    }

    fn solve_impulses(&mut self, system: &System, b: &[Block<WIDTH>], x: &mut [Triple]) {
        self.right.clear();
        for i in &self.members {
            let i = *i as usize;
            let mut y = x[i];
            if b[i] != zero() {
                // Contacts outside the pattern have known impulses.
                let mut known = [0.0; WIDTH];
                for beside in system.beside(i) {
                    let other = system.columns[beside] as usize;
                    if self.place[other] == u32::MAX {
                        let part = apply(&system.blocks[beside], &x[other]);
                        for (sum, part) in known.iter_mut().zip(part) {
                            *sum += part;
                        }
                    }
                }
                carom_numeric::block_lu::block::subtract_applied(&mut y, &b[i], &known);
            }
            self.right.push(y);
        }
        self.impulses.solve(&mut self.right);
        for (i, value) in self.members.iter().zip(&self.right) {
            x[*i as usize] = *value;
        }
    }

    fn solve_velocities(&mut self, system: &System, b: &[Block<WIDTH>], x: &mut [Triple]) {
        self.of_bodies.clear();
        self.of_bodies.resize(system.n_bodies, [0.0; BODY]);
        for ((own, sides), x) in self.own.iter().zip(&system.sides).zip(x.iter_mut()) {
            *x = own.solve(x);
            for (body, rows) in sides.bodies.iter().zip(&sides.rows) {
                if let Some(change) = self.of_bodies.get_mut(*body as usize) {
                    add_transposed(change, rows, x);
                }
            }
        }
        self.velocities.solve(&mut self.of_bodies);
        let contacts = self.own.iter().zip(&system.sides).zip(b);
        for (((own, sides), b), x) in contacts.zip(x.iter_mut()) {
            let u = moved(sides, &self.of_bodies);
            let change = own.solve(&apply(b, &u));
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
