//! Scale of the motion that contacts see, against which decisions count as tied.

use carom_contact::event_scale::{ROUNDING, part_in_span};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;

/// Rows whose cosine is below this are orthogonal: rounding of a product of unit rows.
const ORTHOGONAL: f64 = 1e-13;

/// Part of a covector on a group of rows that counts as zero.
const UNTOUCHED: f64 = 1e-9;

/// Rows that no chain of products connects with other rows.
#[derive(Clone, Debug)]
struct Group {
    rows: SmallVec<[usize; 8]>,
    /// Norm of the part of the velocity before that the rows see: no velocity that they do not see changes it.
    speed: f64,
    /// Velocities below this one are rounding of the data.
    rounding: f64,
}

impl Group {
    fn new(all: &DMatrix<f64>, before: &DVector<f64>, rows: SmallVec<[usize; 8]>) -> Self {
        let is_touched = |k: usize| rows.iter().any(|row| all[(k, *row)] != 0.0);
        let touched = (0..all.nrows()).filter(|k| is_touched(*k));
        let touched: SmallVec<[f64; 8]> = touched.map(|k| before[k]).collect();
        let mut group = Self {
            rows,
            speed: 0.0,
            rounding: ROUNDING * kernel::norm(&touched),
        };
        group.speed = group.seen(all, before);
        group
    }

    /// Norm of the part of a covector or velocity (n) that the rows see.
    fn seen(&self, all: &DMatrix<f64>, vector: &DVector<f64>) -> f64 {
        let rows = self.rows.iter().map(|row| row_of(all, *row));
        kernel::norm(&part_in_span(rows, vector.as_slice()))
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
    /// Scales of rows (n each, columns) and a velocity before, in whitened coordinates. Rows of one owner belong
    /// together.
    pub(super) fn new(rows: &DMatrix<f64>, owners: &[usize], before: &DVector<f64>) -> Self {
        let of = connected(rows, owners);
        let n_groups = of.iter().max().map_or(0, |last| last + 1);
        let groups = (0..n_groups).map(|group| {
            let own = (0..rows.ncols()).filter(|row| of[*row] == group);
            Group::new(rows, before, own.collect())
        });
        let groups = groups.collect();
        Self { groups, of }
    }

    /// Velocities on a row that count as zero: `tolerance` of what its group sees, and rounding.
    pub(super) fn of_row(&self, row: usize, tolerance: f64) -> f64 {
        self.of_group(self.group(row), tolerance)
    }

    pub(super) fn count(&self) -> usize {
        self.groups.len()
    }

    /// Group of a row.
    pub(super) fn group(&self, row: usize) -> usize {
        self.of.get(row).copied().unwrap_or(0)
    }

    /// Changes of the velocity in a group that count as zero.
    pub(super) fn of_group(&self, group: usize, tolerance: f64) -> f64 {
        let group = self.groups.get(group);
        group.map_or(0.0, |group| group.near(tolerance))
    }

    /// Part of a velocity (n) that a group of rows sees.
    pub(super) fn part(
        &self,
        rows: &DMatrix<f64>,
        group: usize,
        velocity: &DVector<f64>,
    ) -> DVector<f64> {
        let own = self.groups.get(group).map_or(&[][..], |group| &group.rows);
        let own = own.iter().map(|row| row_of(rows, *row));
        DVector::from_column_slice(&part_in_span(own, velocity.as_slice()))
    }

    /// Changes of the velocity that count as zero along a covector.
    pub(super) fn along(
        &self,
        rows: &DMatrix<f64>,
        covector: &DVector<f64>,
        tolerance: f64,
    ) -> f64 {
        if let [group] = self.groups.as_slice() {
            return group.near(tolerance);
        }
        let least = UNTOUCHED * covector.norm();
        let groups = self.groups.iter();
        let touched = groups.filter(|group| group.seen(rows, covector) > least);
        let near: SmallVec<[f64; 4]> = touched.map(|group| group.near(tolerance)).collect();
        kernel::norm(&near)
    }

    /// Changes of the velocity that count as zero whatever group they belong to.
    pub(super) fn whole(&self, tolerance: f64) -> f64 {
        let groups = self.groups.iter();
        let near: SmallVec<[f64; 4]> = groups.map(|group| group.near(tolerance)).collect();
        kernel::norm(&near)
    }

    /// Groups that see a covector of some.
    pub(super) fn touched(&self, rows: &DMatrix<f64>, covectors: &[&DVector<f64>]) -> Vec<usize> {
        let sees = |group: &Group| {
            let mut all = covectors.iter();
            all.any(|covector| group.seen(rows, covector) > UNTOUCHED * covector.norm())
        };
        let groups = self.groups.iter().enumerate();
        groups.filter(|(_, g)| sees(g)).map(|(k, _)| k).collect()
    }

    /// Changes of the velocity that count as zero in the group that sees the least of it, of some groups, if any of them
    /// sees some.
    pub(super) fn least(&self, groups: &[usize], tolerance: f64) -> Option<f64> {
        let moving = groups
            .iter()
            .filter_map(|k| self.groups.get(*k))
            .filter(|group| group.speed > group.rounding);
        let near = moving.map(|group| group.near(tolerance));
        near.reduce(f64::min)
    }

    /// True if a difference of two velocities is within a distance and rounding in every group.
    pub(super) fn is_within(
        &self,
        rows: &DMatrix<f64>,
        difference: &DVector<f64>,
        distance: f64,
    ) -> bool {
        let mut groups = self.groups.iter();
        groups.all(|group| group.seen(rows, difference) <= distance + group.rounding)
    }

    /// True if a difference of two velocities counts as zero in every group.
    pub(super) fn is_zero(
        &self,
        rows: &DMatrix<f64>,
        difference: &DVector<f64>,
        tolerance: f64,
    ) -> bool {
        if let [group] = self.groups.as_slice() {
            return difference.norm() <= group.near(tolerance);
        }
        let mut groups = self.groups.iter();
        groups.all(|group| group.seen(rows, difference) <= group.near(tolerance))
    }
}

/// A row (n), a column of the matrix of all rows.
fn row_of(rows: &DMatrix<f64>, k: usize) -> &[f64] {
    let n = rows.nrows();
    rows.as_slice().get(k * n..(k + 1) * n).unwrap_or_default()
}

/// Groups of rows (columns) with a chain of nonzero products or common owners between any two of them, numbered by
/// their first rows.
fn connected(rows: &DMatrix<f64>, owners: &[usize]) -> SmallVec<[usize; 8]> {
    let count = rows.ncols();
    let row = |k: usize| row_of(rows, k);
    let lengths: SmallVec<[f64; 8]> = (0..count).map(|k| kernel::norm(row(k))).collect();
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
                    owners[k] == owners[other]
                        || product.abs() > ORTHOGONAL * lengths[k] * lengths[other]
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
