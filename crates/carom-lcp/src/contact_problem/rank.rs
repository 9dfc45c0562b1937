//! Uniqueness of an answer: the directions in which its impulses can change while all modes stay.

use super::checks::WIDTH;
use super::law::{Law, Square, Triple};
use super::linear::Linear;
use super::newton::Point;
use super::problem::Kind;
use super::solution::Rank;
use super::system::System;
use carom_numeric::kernel::{add_scaled, dot, norm};

/// A contact touches if its normal velocity is below this fraction of the velocity scale. A tangential velocity below it
/// counts as sticking.
const TOUCHING: f64 = 1e-9;

/// Pivots below this fraction of the largest mark free directions.
const FREE: f64 = 1e-9;

/// Least pivot with row exchanges of a matrix whose entries are about one and that counts as regular without a further look.
const REGULAR: f64 = 1e-4;

/// Largest number of products, over five, of a factorization: about half a second.
const MAX_PRODUCTS: usize = 200_000_000;

/// Velocities that a free direction of unit length changes by less than this do not change.
const MOVES: f64 = 1e-7;

/// QR factors with column pivoting: $AP = QR$, by Gram and Schmidt's method with one repetition.
#[derive(Clone, Debug, Default)]
struct Pivoted {
    rows: usize,
    /// Columns of $A$; the leading ones end as columns of $Q$.
    columns: Vec<f64>,
    /// Column of $A$ at each place.
    order: Vec<usize>,
    /// $R$, column by column, as many entries each as there are columns.
    upper: Vec<f64>,
}

impl Pivoted {
    /// Makes room for a matrix of zeros.
    fn begin(&mut self, rows: usize, columns: usize) {
        self.rows = rows;
        self.columns.clear();
        self.columns.resize(rows * columns, 0.0);
        self.order.clear();
        self.order.extend(0..columns);
        self.upper.clear();
        self.upper.resize(columns * columns, 0.0);
    }

    /// Factors the matrix until no column has a part longer than `least(longest)` outside the span of those before, and
    /// returns the rank; `None` if that takes more than [`MAX_PRODUCTS`]. `longest` is the length of the first pivot.
    fn factor(&mut self, least: impl Fn(f64) -> f64) -> Option<usize> {
        let (rows, n) = (self.rows, self.order.len());
        let mut first = 0.0;
        for k in 0..n.min(rows) {
            let length = |j: usize| norm(&self.columns[j * rows..(j + 1) * rows]);
            let mut best = (k, length(k));
            for j in k + 1..n {
                let length = length(j);
                if length > best.1 {
                    best = (j, length);
                }
            }
            if k == 0 {
                first = best.1;
            }
            if !(best.1 > least(first)) {
                return Some(k);
            }
            if k * n * rows > MAX_PRODUCTS {
                return None;
            }
            self.exchange(k, best.0);
            let (done, rest) = self.columns.split_at_mut((k + 1) * rows);
            let pivot = &mut done[k * rows..];
            pivot.iter_mut().for_each(|x| *x /= best.1);
            self.upper[k * n + k] = best.1;
            for _ in 0..2 {
                for (at, column) in rest.chunks_exact_mut(rows).enumerate() {
                    let share = dot(pivot, column);
                    add_scaled(column, -share, pivot);
                    self.upper[(k + 1 + at) * n + k] += share;
                }
            }
        }
        Some(n.min(rows))
    }

    fn exchange(&mut self, i: usize, j: usize) {
        if i == j {
            return;
        }
        let n = self.order.len();
        self.order.swap(i, j);
        for k in 0..self.rows {
            self.columns.swap(i * self.rows + k, j * self.rows + k);
        }
        for k in 0..n {
            self.upper.swap(i * n + k, j * n + k);
        }
    }

    /// Writes the free direction of the column at place `at` behind the first `rank` ones into `out`, with unit length.
    fn direction(&self, rank: usize, at: usize, out: &mut [f64]) {
        let n = self.order.len();
        out.fill(0.0);
        out[self.order[at]] = 1.0;
        for k in (0..rank).rev() {
            let mut x = -self.upper[at * n + k];
            for j in k + 1..rank {
                x -= self.upper[j * n + k] * out[self.order[j]];
            }
            out[self.order[k]] = x / self.upper[k * n + k];
        }
        let length = norm(out);
        out.iter_mut().for_each(|x| *x /= length);
    }
}

/// Examination of an answer with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Uniqueness {
    jacobian: Pivoted,
    moves: Pivoted,
    derivative: Vec<Square>,
    own: Vec<Square>,
    soft: Vec<f64>,
    /// Offset of the unknowns of each contact, and their number.
    places: Vec<(u32, u32)>,
    direction: Vec<f64>,
    impulse: Vec<Triple>,
    velocity: Vec<Triple>,
}

impl Uniqueness {
    /// Returns the rank of an answer at rigid contacts.
    pub(super) fn rank(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        point: &Point,
        rests: bool,
    ) -> Rank {
        system.couple();
        let n = self.linearize(system, point, rests);
        if self.is_regular(system, linear) {
            return Rank::Unique;
        }
        self.fill(system, n);
        let Some(rank) = self.jacobian.factor(|longest| FREE * longest) else {
            return Rank::Unknown;
        };
        if rank == n {
            return Rank::Unique;
        }
        let rows = WIDTH * system.len();
        self.moves.begin(rows, n - rank);
        self.direction.resize(n, 0.0);
        for free in rank..n {
            self.jacobian.direction(rank, free, &mut self.direction);
            self.impulse.clear();
            for (place, width) in &self.places {
                let mut l = [0.0; WIDTH];
                let range = *place as usize..(place + width) as usize;
                l[..*width as usize].copy_from_slice(&self.direction[range]);
                self.impulse.push(l);
            }
            system.change(&self.impulse, &mut self.velocity);
            let at = (free - rank) * rows;
            self.moves.columns[at..at + rows].copy_from_slice(self.velocity.as_flattened());
        }
        match self.moves.factor(|_| MOVES) {
            None => Rank::Unknown,
            Some(0) => Rank::SharedImpulses,
            Some(family) => Rank::Family(family),
        }
    }

    /// True if no pivot of the Jacobian of few contacts is small.
    fn is_regular(&mut self, system: &System, linear: &mut Linear) -> bool {
        if !linear.has_few() {
            return false;
        }
        self.own.clear();
        let unit = |i, j| f64::from(u8::from(i == j));
        let own =
            |d: &Square| std::array::from_fn(|i| std::array::from_fn(|j| unit(i, j) - d[i][j]));
        self.own.extend(self.derivative.iter().map(own));
        self.soft.clear();
        self.soft.resize(system.len(), 0.0);
        linear.factor(system, &self.own, &self.derivative, &self.soft)
            && linear.least_pivot > REGULAR
    }

    /// Finds the unknown impulses and the derivatives of the projections in the modes of the answer, all touching contacts
    /// closed. Returns the number of unknowns.
    fn linearize(&mut self, system: &System, point: &Point, rests: bool) -> usize {
        self.derivative.clear();
        self.places.clear();
        let largest = point.impulse.iter().map(|l| norm(l)).fold(0.0, f64::max);
        let limit = TOUCHING * system.speed.max(0.01 * largest);
        let mut n = 0;
        for (i, contact) in system.contacts.iter().enumerate() {
            let (l, u) = (&point.impulse[i], &point.velocity[i]);
            let w = u[0] - contact.target;
            let is_box = matches!(contact.kind, Kind::Box(_));
            let touches = is_box || rests || l[0] > contact.floor || w.abs() <= limit;
            let width = match (touches || contact.floor > 0.0, contact.friction) {
                (false, _) => 0,
                (true, 0.0) => 1,
                (true, _) => contact.kind.width(),
            };
            self.places.push((n, width as u32));
            n += width as u32;
            let sticks = rests || norm(&u[1..]) <= limit;
            let mut y = [l[0] - w, l[1] - u[1], l[2] - u[2]];
            if touches && !is_box {
                y[0] = y[0].max(f64::MIN_POSITIVE + contact.floor * (1.0 + f64::EPSILON));
            }
            let (_, mut d) = contact.project(Law::Coulomb, &y);
            if sticks && !matches!(contact.kind, Kind::Against(_) | Kind::Box(_)) {
                (d[1], d[2]) = ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
            }
            self.derivative.push(d);
        }
        n as usize
    }

    /// Fills the Jacobian $I - D + DG$ of the unknown impulses.
    fn fill(&mut self, system: &System, n: usize) {
        self.jacobian.begin(n, n);
        for (i, (row, height)) in self.places.iter().enumerate() {
            let d = &self.derivative[i];
            let own = std::iter::once((i, &system.diagonal[i]));
            let beside = system
                .beside(i)
                .map(|at| (system.columns[at] as usize, &system.blocks[at]));
            for (j, block) in own.chain(beside) {
                let (column, width) = self.places[j];
                for c in 0..width as usize {
                    for (r, d) in d.iter().enumerate().take(*height as usize) {
                        let mut x: f64 = d.iter().zip(block).map(|(d, g)| d * g[c]).sum();
                        if i == j {
                            x += f64::from(u8::from(r == c)) - d[c];
                        }
                        let at = (column as usize + c) * n + *row as usize + r;
                        self.jacobian.columns[at] = x;
                    }
                }
            }
        }
    }
}
