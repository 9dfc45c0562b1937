//! Scale of the motion that contacts see, against which decisions count as tied.

use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;

/// Rounding that the data of a velocity hide, as a fraction of the velocity.
pub(super) const ROUNDING: f64 = 1.0 / (1u64 << 50) as f64;

/// Rows whose cosine is below this are orthogonal: rounding of a product of unit rows.
const ORTHOGONAL: f64 = 1e-13;

/// Part of a unit row that may lie in the span of the others and count as zero.
const DEPENDENT: f64 = 1e-12;

/// Part of a covector on a group of rows that counts as zero.
const UNTOUCHED: f64 = 1e-9;

/// Length of numbers of about unit size.
fn norm(x: &[f64]) -> f64 {
    kernel::dot(x, x).sqrt()
}

/// Rows that no chain of products connects with other rows.
#[derive(Clone, Debug)]
struct Group {
    /// Orthonormal basis of the span of the rows (n each), one after the other.
    basis: SmallVec<[f64; 16]>,
    /// Norm of the velocity before on that span: no velocity that the rows do not see changes it.
    speed: f64,
    /// Velocities below this one are rounding of the data.
    rounding: f64,
}

impl Group {
    fn new(rows: &DMatrix<f64>, before: &DVector<f64>, own: &[usize]) -> Self {
        let n = rows.nrows();
        let is_touched = |k: usize| own.iter().any(|row| rows[(k, *row)] != 0.0);
        let touched = (0..n).filter(|k| is_touched(*k)).map(|k| before[k]);
        let touched: SmallVec<[f64; 8]> = touched.collect();
        let mut group = Self {
            basis: SmallVec::new(),
            speed: 0.0,
            rounding: ROUNDING * norm(&touched),
        };
        for row in own {
            group.span(rows.column(*row).as_slice());
        }
        group.speed = group.seen(before.as_slice());
        group
    }

    /// Adds a row to the span.
    fn span(&mut self, row: &[f64]) {
        let n = row.len();
        if self.basis.len() >= n * n {
            return;
        }
        let mut left: SmallVec<[f64; 8]> = SmallVec::from_slice(row);
        let length = norm(&left);
        let mut size = length;
        loop {
            let before = size;
            for q in self.basis.chunks_exact(n) {
                let part = kernel::dot(q, &left);
                kernel::add_scaled(&mut left, -part, q);
            }
            size = norm(&left);
            // What has lost no digits is orthogonal.
            if size > 0.5 * before || size <= DEPENDENT * length {
                break;
            }
        }
        if size > DEPENDENT * length {
            self.basis.extend(left.iter().map(|x| x / size));
        }
    }

    /// Norm of the part of a covector or velocity (n) in the span.
    fn seen(&self, vector: &[f64]) -> f64 {
        let basis = self.basis.chunks_exact(vector.len().max(1));
        let parts: SmallVec<[f64; 8]> = basis.map(|q| kernel::dot(q, vector)).collect();
        norm(&parts)
    }

    fn near(&self, tolerance: f64) -> f64 {
        tolerance * self.speed + self.rounding
    }
}

/// Scales of the groups of rows that an impact can connect.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    groups: SmallVec<[Group; 1]>,
    /// Group of each row.
    of: SmallVec<[usize; 8]>,
}

impl Scales {
    /// Scales of rows (n each, columns) and a velocity before, in whitened coordinates.
    pub(super) fn new(rows: &DMatrix<f64>, before: &DVector<f64>) -> Self {
        let of = connected(rows);
        let n_groups = of.iter().max().map_or(0, |last| last + 1);
        let groups = (0..n_groups).map(|group| {
            let own = (0..rows.ncols()).filter(|row| of[*row] == group);
            let own: SmallVec<[usize; 8]> = own.collect();
            Group::new(rows, before, &own)
        });
        let groups = groups.collect();
        Self { groups, of }
    }

    /// Velocities on a row that count as zero: `tolerance` of what its group sees, and rounding.
    pub(super) fn of_row(&self, row: usize, tolerance: f64) -> f64 {
        let group = self.of.get(row).and_then(|group| self.groups.get(*group));
        group.map_or(0.0, |group| group.near(tolerance))
    }

    /// Changes of the velocity that count as zero along a covector.
    pub(super) fn along(&self, covector: &DVector<f64>, tolerance: f64) -> f64 {
        if let [group] = self.groups.as_slice() {
            return group.near(tolerance);
        }
        let least = UNTOUCHED * covector.norm();
        let groups = self.groups.iter();
        let touched = groups.filter(|group| group.seen(covector.as_slice()) > least);
        let near: SmallVec<[f64; 4]> = touched.map(|group| group.near(tolerance)).collect();
        norm(&near)
    }

    /// Changes of the velocity that count as zero whatever group they belong to.
    pub(super) fn whole(&self, tolerance: f64) -> f64 {
        let groups = self.groups.iter();
        let near: SmallVec<[f64; 4]> = groups.map(|group| group.near(tolerance)).collect();
        norm(&near)
    }

    /// True if a difference of two velocities counts as zero in every group.
    pub(super) fn is_zero(&self, difference: &DVector<f64>, tolerance: f64) -> bool {
        if let [group] = self.groups.as_slice() {
            return difference.norm() <= group.near(tolerance);
        }
        let mut groups = self.groups.iter();
        groups.all(|group| group.seen(difference.as_slice()) <= group.near(tolerance))
    }
}

/// Groups of rows (columns) with a chain of nonzero products between any two of them, numbered by
/// their first rows.
fn connected(rows: &DMatrix<f64>) -> SmallVec<[usize; 8]> {
    let count = rows.ncols();
    let row = |k: usize| &rows.as_slice()[k * rows.nrows()..(k + 1) * rows.nrows()];
    let lengths: SmallVec<[f64; 8]> = (0..count).map(|k| norm(row(k))).collect();
    let mut of: SmallVec<[usize; 8]> = SmallVec::from_elem(usize::MAX, count);
    let mut n_groups = 0;
    let mut open: SmallVec<[usize; 8]> = SmallVec::new();
    for first in 0..count {
        if of[first] != usize::MAX {
            continue;
        }
        of[first] = n_groups;
        open.push(first);
        while let Some(k) = open.pop() {
            for other in first + 1..count {
                let is_connected = || {
                    let product = kernel::dot(row(k), row(other));
                    product.abs() > ORTHOGONAL * lengths[k] * lengths[other]
                };
                if of[other] == usize::MAX && is_connected() {
                    of[other] = n_groups;
                    open.push(other);
                }
            }
        }
        n_groups += 1;
    }
    of
}
