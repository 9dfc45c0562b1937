//! Scaled contact problem.

use super::problem::{BODY, FIXED, Sides, SparseConeProblem, dot};
use crate::LcpError;
use crate::cone::problem::WIDTH;
use carom_numeric::block_lu::block::{Block, zero};

/// Impulses, velocities or errors of one contact: normal, then two tangents.
pub(super) type Triple = [f64; WIDTH];

/// Scaled problem: the largest diagonal entry of each contact's block is one, and the largest velocity before
/// the impulses (or floor) is between one and two. The residual is then the natural map with unit step.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    pub(super) m: usize,
    pub(super) n_bodies: usize,
    pub(super) has_bodies: bool,
    pub(super) sides: Vec<Sides>,
    pub(super) velocity: Vec<Triple>,
    pub(super) friction: Vec<f64>,
    pub(super) floors: Vec<f64>,
    /// Row scale of each contact: scaled rows divided by unscaled rows.
    pub(super) factors: Vec<f64>,
    /// Velocity unit: velocities of the scaled rows, divided by it, are those of this system.
    pub(super) unit: f64,
    /// Diagonal blocks of the Delassus matrix, one per contact.
    pub(super) diagonal: Vec<Block<WIDTH>>,
    /// Contacts of each body: `body_starts` holds the offset of each body in `body_contacts`.
    body_starts: Vec<u32>,
    body_contacts: Vec<u32>,
    /// Off-diagonal blocks of the Delassus matrix, contact by contact, once they are computed. `starts` holds
    /// the offset of each contact in `columns` and `blocks`.
    starts: Vec<u32>,
    pub(super) columns: Vec<u32>,
    pub(super) blocks: Vec<Block<WIDTH>>,
    is_coupled: bool,
    /// Changes of the whitened velocities, one per body.
    change: Vec<[f64; BODY]>,
    places: Vec<u32>,
}

impl System {
    /// Fills this scaled contact problem from `problem`. Rows are scaled so that the largest diagonal entry of each
    /// contact's block of the Delassus matrix is one. Velocities are divided by a common unit. Returns an error if
    /// an entry is not finite or a contact's block has no positive diagonal entry.
    pub(super) fn prepare(&mut self, problem: &SparseConeProblem) -> Result<(), LcpError> {
        self.m = problem.n_contacts();
        self.n_bodies = problem.n_bodies();
        self.has_bodies = problem.has_bodies();
        self.is_coupled = false;
        self.find_diagonal(problem);
        self.factors.clear();
        for (i, block) in self.diagonal.iter().enumerate() {
            let g = f64::max(block[0][0], f64::max(block[1][1], block[2][2]));
            let factor = 1.0 / g.sqrt();
            if !(factor > 0.0 && factor.is_finite()) {
                let index = WIDTH * i;
                return Err(LcpError::NonPositiveDiagonal { index, value: g });
            }
            self.factors.push(factor);
        }
        self.scale_velocities(problem)?;
        for (block, factor) in self.diagonal.iter_mut().zip(&self.factors) {
            for x in block.as_flattened_mut() {
                *x *= factor * factor;
            }
        }
        self.sides.clear();
        self.sides.extend_from_slice(problem.sides());
        for (sides, factor) in self.sides.iter_mut().zip(&self.factors) {
            for x in sides.rows.as_flattened_mut().as_flattened_mut() {
                *x *= factor;
            }
        }
        self.friction.clear();
        self.friction.extend_from_slice(problem.friction());
        if self.has_bodies {
            self.find_bodies();
        } else {
            self.take_blocks(problem);
        }
        Ok(())
    }

    fn find_diagonal(&mut self, problem: &SparseConeProblem) {
        self.diagonal.clear();
        for sides in problem.sides() {
            let mut block = zero();
            for rows in &sides.rows {
                add_product(&mut block, rows, rows);
            }
            self.diagonal.push(block);
        }
        if !self.has_bodies {
            self.diagonal.resize(self.m, zero());
            for (i, j, block) in problem.blocks() {
                if i == j {
                    self.diagonal[*i as usize] = symmetric(block);
                }
            }
        }
    }

    /// Scales the contact velocities and the floors (least normal impulses). An impulse of `problem` equals the
    /// scaled impulse times the velocity unit, `self.unit`, times the contact's scale factor in `self.factors`.
    fn scale_velocities(&mut self, problem: &SparseConeProblem) -> Result<(), LcpError> {
        self.velocity.clear();
        self.floors.clear();
        let mut size = 0.0f64;
        let given = problem.rows_before().iter().zip(problem.floors());
        for ((b, floor), factor) in given.zip(&self.factors) {
            let b = b.map(|x| x * factor);
            let floor = floor / factor;
            size = b.iter().fold(size, |a, x| a.max(x.abs())).max(floor);
            self.velocity.push(b);
            self.floors.push(floor);
        }
        if !size.is_finite() {
            let what = "velocity";
            let (index, value) = (0, size);
            return Err(LcpError::NonFinite { what, index, value });
        }
        // A power of two, so that dividing by it is exact.
        let unit = if size > 0.0 {
            libm::exp2(libm::log2(size).floor())
        } else {
            1.0
        };
        for (b, floor) in self.velocity.iter_mut().zip(&mut self.floors) {
            *b = b.map(|x| x / unit);
            *floor /= unit;
        }
        self.unit = unit;
        Ok(())
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

    /// Returns the indices of the contacts that touch a body, in ascending order.
    pub(super) fn contacts_of(&self, body: usize) -> &[u32] {
        let range = self.body_starts[body] as usize..self.body_starts[body + 1] as usize;
        &self.body_contacts[range]
    }

    /// Computes the off-diagonal blocks of the Delassus matrix, unless they are already known.
    pub(super) fn couple(&mut self) {
        if self.is_coupled {
            return;
        }
        self.is_coupled = true;
        self.starts.clear();
        self.columns.clear();
        self.blocks.clear();
        for i in 0..self.m {
            self.starts.push(self.columns.len() as u32);
            let own = self.sides[i];
            let first = self.columns.len();
            for body in own.bodies.iter().filter(|body| **body != FIXED) {
                let range = self.body_starts[*body as usize] as usize
                    ..self.body_starts[*body as usize + 1] as usize;
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
                let other = &self.sides[*j as usize];
                self.blocks.push(coupling(&own, other));
            }
        }
        self.starts.push(self.columns.len() as u32);
    }

    /// Copies the off-diagonal blocks of the Delassus matrix from `problem`, with scaled rows and columns. Each
    /// block is stored a second time, transposed, for the opposite place in the symmetric matrix.
    fn take_blocks(&mut self, problem: &SparseConeProblem) {
        self.is_coupled = true;
        self.starts.clear();
        self.starts.resize(self.m + 1, 0);
        let beside = problem.blocks().iter().filter(|(i, j, _)| i != j);
        for (i, j, _) in beside.clone() {
            self.starts[*i as usize + 1] += 1;
            self.starts[*j as usize + 1] += 1;
        }
        for k in 0..self.m {
            self.starts[k + 1] += self.starts[k];
        }
        let total = self.starts.last().copied().unwrap_or(0) as usize;
        self.columns.clear();
        self.columns.resize(total, 0);
        self.blocks.clear();
        self.blocks.resize(total, zero());
        self.places.clear();
        self.places.extend_from_slice(&self.starts);
        for (i, j, block) in beside {
            let factor = self.factors[*i as usize] * self.factors[*j as usize];
            let scaled = block.map(|row| row.map(|x| x * factor));
            for (row, column, block) in [(*i, *j, scaled), (*j, *i, transposed(&scaled))] {
                let place = &mut self.places[row as usize];
                self.columns[*place as usize] = column;
                self.blocks[*place as usize] = block;
                *place += 1;
            }
        }
    }

    /// Returns the indices in `columns` and `blocks` at which the off-diagonal blocks of a contact's row of the
    /// Delassus matrix are stored.
    pub(super) fn beside(&self, contact: usize) -> std::ops::Range<usize> {
        self.starts[contact] as usize..self.starts[contact + 1] as usize
    }

    /// Computes the velocity changes caused by the impulses: the product of the Delassus matrix and `impulse`.
    pub(super) fn product(&mut self, impulse: &[Triple], out: &mut Vec<Triple>) {
        out.clear();
        if !self.has_bodies {
            for i in 0..self.m {
                let mut u = carom_numeric::block_lu::block::apply(&self.diagonal[i], &impulse[i]);
                for at in self.beside(i) {
                    let l = &impulse[self.columns[at] as usize];
                    let change = carom_numeric::block_lu::block::apply(&self.blocks[at], l);
                    for (u, x) in u.iter_mut().zip(change) {
                        *u += x;
                    }
                }
                out.push(u);
            }
            return;
        }
        self.change.clear();
        self.change.resize(self.n_bodies, [0.0; BODY]);
        for (sides, l) in self.sides.iter().zip(impulse) {
            for (body, rows) in sides.bodies.iter().zip(&sides.rows) {
                if let Some(change) = self.change.get_mut(*body as usize) {
                    add_transposed(change, rows, l);
                }
            }
        }
        for sides in &self.sides {
            out.push(moved(sides, &self.change));
        }
    }
}

/// Adds to `change` the change of a body's whitened velocity that the contact impulse $l$ causes: $W^Tl$, with $W$
/// = `rows` the whitened rows of the contact on this body. Whitened coordinates are those in which the mass matrix
/// is the identity.
#[inline]
pub(super) fn add_transposed(change: &mut [f64; BODY], rows: &[[f64; BODY]; WIDTH], l: &Triple) {
    for (l, row) in l.iter().zip(rows) {
        for (x, a) in change.iter_mut().zip(row) {
            *x += l * a;
        }
    }
}

/// Computes the velocities along the three rows of a contact from the whitened velocities of the bodies
/// (coordinates in which the mass matrix is the identity). `sides` holds the two bodies of the contact and its rows
/// on them; `change` holds the velocities, one vector per body.
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

fn add_product(
    block: &mut Block<WIDTH>,
    left: &[[f64; BODY]; WIDTH],
    right: &[[f64; BODY]; WIDTH],
) {
    for (row, a) in block.iter_mut().zip(left) {
        for (x, b) in row.iter_mut().zip(right) {
            *x += dot(a, b);
        }
    }
}

/// Computes the 3 × 3 block of the Delassus matrix that couples two contacts, each given by its two bodies and its rows
/// on them: a sum over the bodies that both contacts touch.
fn coupling(own: &Sides, other: &Sides) -> Block<WIDTH> {
    let mut block = zero();
    for (body, rows) in own.bodies.iter().zip(&own.rows) {
        for (second, others) in other.bodies.iter().zip(&other.rows) {
            if body == second && *body != FIXED {
                add_product(&mut block, rows, others);
            }
        }
    }
    block
}

fn transposed(a: &Block<WIDTH>) -> Block<WIDTH> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

fn symmetric(a: &Block<WIDTH>) -> Block<WIDTH> {
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (a[i][j] + a[j][i])))
}
