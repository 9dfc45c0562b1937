//! One measured impact.

use carom_contact::internal::groups;
use carom_metric::{KineticMetric, kernel};
use std::sync::Arc;

/// Measured impact of any system: mass matrix, contact rows, and the velocities before and after.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct State {
    /// Names of the impact.
    pub labels: Arc<Labels>,
    /// Mass matrix (n × n).
    pub metric: Arc<KineticMetric>,
    /// Contacts that touch.
    pub contacts: Vec<Touch>,
    /// Rows of nonholonomic constraints, n entries each, one after the other.
    pub constraints: Vec<f64>,
    /// Configuration, if the contact rows are computed from it; otherwise empty.
    pub configuration: Vec<f64>,
    /// Velocity before the impact (n entries).
    pub minus: Vec<f64>,
    /// Velocity after the impact (n entries).
    pub plus: Vec<f64>,
}

/// Names of a measured impact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Labels {
    /// Name of the impact; by default the number of its row.
    pub id: Box<str>,
    /// Name of the group that is resampled together; `None` if the impact is a group of its own.
    pub group: Option<Box<str>>,
    /// Kind of impact.
    pub kind: Option<Box<str>>,
    /// Number of the impact in its file, from 1.
    pub row: u64,
}

impl Labels {
    /// Creates the names of the impact with the number `row`.
    #[must_use]
    pub fn new(row: u64, id: Option<String>, group: Option<String>, kind: Option<String>) -> Self {
        Self {
            id: id.unwrap_or_else(|| row.to_string()).into(),
            group: group.map(Into::into),
            kind: kind.map(Into::into),
            row,
        }
    }
}

/// Contact of a measured impact.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Touch {
    /// Normal row, then the tangent rows, n entries each.
    pub rows: Vec<f64>,
    /// Name of the surface that is touched.
    pub surface: Arc<str>,
    /// Gap at the instant of the impact (m), if it is known.
    pub gap: Option<f64>,
}

/// Name of a surface that has no name.
pub(crate) const SURFACE: &str = "contact";

impl State {
    /// Returns n, the number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.minus.len()
    }

    /// Iterates over the normal rows (n entries each).
    pub(crate) fn normals(&self) -> impl Iterator<Item = &[f64]> {
        let n = self.dim();
        self.contacts.iter().filter_map(move |c| c.rows.get(..n))
    }

    /// Iterates over the tangent rows (n entries each).
    pub(crate) fn tangents(&self) -> impl Iterator<Item = &[f64]> {
        let n = self.dim();
        let own = move |c: &'_ Touch| c.rows.len().min(n)..c.rows.len();
        self.contacts
            .iter()
            .flat_map(move |c| c.rows[own(c)].chunks_exact(n.max(1)))
    }

    /// Iterates over the rows of all contacts and constraints (n entries each).
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        let n = self.dim().max(1);
        let contacts = self
            .contacts
            .iter()
            .flat_map(move |c| c.rows.chunks_exact(n));
        contacts.chain(self.constraints.chunks_exact(n))
    }

    /// Marks the coordinates of the blocks that a contact touches. Mass matrix, contacts and constraints connect coordinates to
    /// blocks.
    pub(crate) fn touched(&self) -> Vec<bool> {
        let n = self.dim();
        let merged: Vec<Vec<f64>> = self
            .contacts
            .iter()
            .map(|contact| {
                let mut all = vec![0.0; n];
                for row in contact.rows.chunks_exact(n.max(1)) {
                    let entries = all.iter_mut().zip(row);
                    entries.for_each(|(all, a)| *all += f64::from(*a != 0.0));
                }
                all
            })
            .collect();
        let columns = self.metric.mass_matrix().as_slice();
        let links = columns
            .chunks_exact(n.max(1))
            .chain(self.constraints.chunks_exact(n.max(1)))
            .chain(merged.iter().map(Vec::as_slice));
        let (blocks, rows) = groups(n, links);
        let contacts = &rows[rows.len() - merged.len()..];
        blocks.iter().map(|b| contacts.contains(b)).collect()
    }

    /// Computes the kinetic norm of a velocity over the marked coordinates.
    pub(crate) fn norm_over(&self, touched: &[bool], velocity: &[f64]) -> f64 {
        let marked = velocity.iter().zip(touched);
        let own: Vec<f64> = marked
            .map(|(v, is_touched)| if *is_touched { *v } else { 0.0 })
            .collect();
        let mut whitened = vec![0.0; own.len()];
        self.metric.whiten_velocity_into(&own, &mut whitened);
        kernel::norm(&whitened)
    }

    /// Returns rows in whitened coordinates of a metric, at unit length.
    pub(crate) fn unit_rows<'r>(
        &self,
        metric: &KineticMetric,
        rows: impl Iterator<Item = &'r [f64]>,
    ) -> Vec<Vec<f64>> {
        let unit = |row: &[f64]| {
            let mut unit = row.to_vec();
            metric.whiten_in_place(&mut unit);
            let size = kernel::norm(&unit);
            unit.iter_mut().for_each(|x| *x /= size);
            unit
        };
        rows.map(unit).collect()
    }

    /// Bytes that the state takes in memory, about. A mass matrix counts if no other state has it, too.
    pub(crate) fn bytes(&self) -> usize {
        let touch = |c: &Touch| size_of::<Touch>() + size_of_val(&c.rows[..]);
        let labels = size_of::<Labels>() + self.labels.id.len();
        let is_shared = Arc::strong_count(&self.metric) > 2;
        let mass = size_of_val(self.metric.mass_matrix().as_slice());
        let numbers = [
            &self.constraints,
            &self.configuration,
            &self.minus,
            &self.plus,
        ];
        2 * (labels + self.contacts.iter().map(touch).sum::<usize>())
            + size_of::<Self>()
            + numbers.map(|v| size_of_val(&v[..])).iter().sum::<usize>()
            + if is_shared { 0 } else { 3 * mass }
    }
}
