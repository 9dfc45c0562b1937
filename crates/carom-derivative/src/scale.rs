//! Scales of the motion that contacts can change, the part of a velocity in the span of their rows. Decisions count as tied
//! relative to these scales.

use crate::tolerances::NEGLIGIBLE;
use carom_contact::RowIndex;
use carom_contact::internal::{ROUNDING, part_in_span};
use carom_metric::kernel;
use carom_numeric::decisions::Sum;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;

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

    /// Returns the norm of the part of a whitened covector or velocity (n entries) that lies in the span of the rows of
    /// this group (rows that are coupled by nonzero products). The columns of `all` are the rows of all groups.
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
    /// Computes the groups of interacting rows, and for each the norm of the velocity before the impact in the span
    /// of its rows. `rows` holds the rows (columns of n entries) and `before` the velocity, in whitened coordinates.
    /// Rows with equal entries in `owners`, for example those of one contact, belong to one group.
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

    /// Returns the speed up to which the velocity along a row counts as zero. A row belongs to a group of coupled rows
    /// (rows whose products in whitened coordinates are not zero). The speed is `tolerance` times the norm of that part
    /// of the velocity before the impact that lies in the span of the group, plus a rounding allowance.
    pub(super) fn of_row(&self, row: RowIndex, tolerance: f64) -> f64 {
        self.of_group(self.group(row), tolerance)
    }

    pub(super) fn count(&self) -> usize {
        self.groups.len()
    }

    /// Returns the index of the group of interacting contact rows to which a row belongs. Rows interact if their
    /// product in whitened coordinates is not zero.
    pub(super) fn group(&self, row: RowIndex) -> usize {
        self.of.get(row.index()).copied().unwrap_or(0)
    }

    /// Returns the largest change of velocity (kinetic norm) that counts as zero in a group of interacting rows. The
    /// result is `tolerance` times the norm of that part of the velocity before the impact that lies in the span of the
    /// rows, plus a rounding allowance. `group`: index of the group.
    pub(super) fn of_group(&self, group: usize, tolerance: f64) -> f64 {
        let group = self.groups.get(group);
        group.map_or(0.0, |group| group.near(tolerance))
    }

    /// Returns the largest change of velocity (kinetic norm) along a covector that counts as zero. The result is
    /// computed from the groups of interacting rows that are not orthogonal to the covector. Each contributes
    /// `tolerance` times the norm of the velocity before the impact in the span of its rows, plus a rounding allowance.
    /// `rows` holds all rows as columns.
    pub(super) fn along(
        &self,
        rows: &DMatrix<f64>,
        covector: &DVector<f64>,
        tolerance: f64,
    ) -> f64 {
        if let [group] = self.groups.as_slice() {
            return group.near(tolerance);
        }
        let least = NEGLIGIBLE * covector.norm();
        let groups = self.groups.iter();
        let touched = groups.filter(|group| group.seen(rows, covector) > least);
        let near: SmallVec<[f64; 4]> = touched.map(|group| group.near(tolerance)).collect();
        kernel::norm(&near)
    }

    /// Returns the indices of the groups of rows in whose span at least one of the covectors has a nonzero part.
    /// `rows` holds all rows as columns.
    pub(super) fn touched(&self, rows: &DMatrix<f64>, covectors: &[&DVector<f64>]) -> Vec<usize> {
        let sees = |group: &Group| {
            let mut all = covectors.iter();
            all.any(|covector| group.seen(rows, covector) > NEGLIGIBLE * covector.norm())
        };
        let groups = self.groups.iter().enumerate();
        groups.filter(|(_, g)| sees(g)).map(|(k, _)| k).collect()
    }

    /// Returns the smallest change of velocity (kinetic norm) that counts as zero in any of `groups`, the indices of
    /// groups of interacting rows. `tolerance` is relative to the velocity in the span of a group. Groups without
    /// motion are skipped; `None` if none of the groups moves.
    pub(super) fn least(&self, groups: &[usize], tolerance: f64) -> Option<f64> {
        let moving = groups
            .iter()
            .filter_map(|k| self.groups.get(*k))
            .filter(|group| group.speed > group.rounding);
        let near = moving.map(|group| group.near(tolerance));
        near.reduce(f64::min)
    }

    /// True if a difference of two whitened velocities is at most `distance`, plus rounding, in the span of each group
    /// of coupled rows (rows connected by nonzero products). `rows` holds all rows as columns.
    pub(super) fn is_within(
        &self,
        rows: &DMatrix<f64>,
        difference: &DVector<f64>,
        distance: f64,
    ) -> bool {
        let mut groups = self.groups.iter();
        groups.all(|group| group.seen(rows, difference) <= distance + group.rounding)
    }

    /// True if a difference of two whitened velocities counts as zero in the span of each group of coupled rows (rows
    /// connected by nonzero products). `tolerance` is relative to the velocity before the impact in that span. `rows`
    /// holds all rows as columns.
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

/// Returns row `k` (n entries) from `rows`, in which the rows of all contacts and constraints are columns.
fn row_of(rows: &DMatrix<f64>, k: usize) -> &[f64] {
    let n = rows.nrows();
    rows.as_slice().get(k * n..(k + 1) * n).unwrap_or_default()
}

/// Returns the index of the group of each row (column of `rows`). Two rows are in one group if a chain of nonzero
/// products or equal entries in `owners` connects them. Groups are numbered by their first rows.
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
                        || product.abs() > Sum::ROUNDING * lengths[k] * lengths[other]
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
