//! Scales of the motion that contacts see, the part of a velocity in the span of their rows. Decisions count as tied
//! relative to these scales.

use carom_contact::event_scale::{ROUNDING, part_in_span};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;

/// Cosine of two rows below which they count as orthogonal: the rounding of a product of unit rows.
const ORTHOGONAL: f64 = 1e-13;

/// Part of a covector on a group of rows, relative to its length, that counts as zero.
const UNTOUCHED: f64 = 1e-9;

/// Group of rows that is not connected to other rows by any chain of nonzero products.
#[derive(Clone, Debug)]
struct Group {
    rows: SmallVec<[usize; 8]>,
    /// Norm of the part of the velocity before the impact that the rows see. It does not depend on velocities that they
    /// do not see.
    speed: f64,
    /// Velocity below which the group's velocities are rounding of the data.
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

    /// Returns the norm of the part of a covector or velocity (n entries) that the rows see.
    fn seen(&self, all: &DMatrix<f64>, vector: &DVector<f64>) -> f64 {
        let rows = self.rows.iter().map(|row| row_of(all, *row));
        kernel::norm(&part_in_span(rows, vector.as_slice()))
    }

    fn near(&self, tolerance: f64) -> f64 {
        tolerance * self.speed + self.rounding
    }
}

/// Scales of motion, one for each group of rows that an impact can connect.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    groups: SmallVec<[Group; 1]>,
    /// Group of each row.
    of: SmallVec<[usize; 8]>,
}

impl Scales {
    /// Computes the scales from the rows (n entries each, columns) and the velocity before the impact, in whitened
    /// coordinates. Rows with one owner belong to one group.
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

    /// Returns the velocity of a row that counts as zero: `tolerance` times the motion that its group sees, plus
    /// rounding.
    pub(super) fn of_row(&self, row: usize, tolerance: f64) -> f64 {
        self.of_group(self.group(row), tolerance)
    }

    pub(super) fn count(&self) -> usize {
        self.groups.len()
    }

    /// Returns the group of a row.
    pub(super) fn group(&self, row: usize) -> usize {
        self.of.get(row).copied().unwrap_or(0)
    }

    /// Returns the change of the velocity that counts as zero in a group.
    pub(super) fn of_group(&self, group: usize, tolerance: f64) -> f64 {
        let group = self.groups.get(group);
        group.map_or(0.0, |group| group.near(tolerance))
    }

    /// Returns the part of a velocity (n entries) that a group of rows sees.
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

    /// Returns the change of the velocity that counts as zero along a covector: that of all groups that the covector
    /// touches.
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

    /// Returns the change of the velocity that counts as zero in all groups together.
    pub(super) fn whole(&self, tolerance: f64) -> f64 {
        let groups = self.groups.iter();
        let near: SmallVec<[f64; 4]> = groups.map(|group| group.near(tolerance)).collect();
        kernel::norm(&near)
    }

    /// Returns the groups that at least one of the covectors touches.
    pub(super) fn touched(&self, rows: &DMatrix<f64>, covectors: &[&DVector<f64>]) -> Vec<usize> {
        let sees = |group: &Group| {
            let mut all = covectors.iter();
            all.any(|covector| group.seen(rows, covector) > UNTOUCHED * covector.norm())
        };
        let groups = self.groups.iter().enumerate();
        groups.filter(|(_, g)| sees(g)).map(|(k, _)| k).collect()
    }

    /// Returns the smallest change of the velocity that counts as zero in one of `groups`; groups without motion are
    /// skipped. `None` if none of the groups moves.
    pub(super) fn least(&self, groups: &[usize], tolerance: f64) -> Option<f64> {
        let moving = groups
            .iter()
            .filter_map(|k| self.groups.get(*k))
            .filter(|group| group.speed > group.rounding);
        let near = moving.map(|group| group.near(tolerance));
        near.reduce(f64::min)
    }

    /// True if a difference of two velocities is at most `distance`, plus rounding, in every group.
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

/// Returns row `k` (n entries), a column of the matrix of all rows.
fn row_of(rows: &DMatrix<f64>, k: usize) -> &[f64] {
    let n = rows.nrows();
    rows.as_slice().get(k * n..(k + 1) * n).unwrap_or_default()
}

/// Assigns rows (columns) to groups. Two rows are in one group if a chain of nonzero products or common owners connects
/// them. Groups are numbered by their first rows.
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
