//! Contacts whose decisions have no effect on the velocity after a stage, because other contacts keep them at rest.

use super::branch::CONSTANT;
use super::frame::Frame;
use super::friction::{Contacts, Event};
use super::reading::{Grip, Near, Reading, Tangential, norm};
use super::stage::Stage;
use carom_contact::RowIndex;
use nalgebra::{DMatrix, DVector};

/// Part of a unit row outside the span of other rows that counts as zero: the rounding of a sum of unit rows.
const DEPENDENT: f64 = 1e-9;

/// Orthonormal basis of the span of rows.
#[derive(Clone, Default)]
struct Span {
    axes: Vec<DVector<f64>>,
}

impl Span {
    /// Returns the part of a row outside the span.
    fn rest(&self, row: &DVector<f64>) -> DVector<f64> {
        let mut rest = row.clone();
        // The second pass removes the rounding of the first.
        for axis in self.axes.iter().chain(&self.axes) {
            rest.axpy(-axis.dot(&rest), axis, 1.0);
        }
        rest
    }

    fn add(&mut self, row: &DVector<f64>) {
        self.axes.extend(self.rest(row).try_normalize(DEPENDENT));
    }

    fn contains(&self, row: &DVector<f64>) -> bool {
        self.rest(row).norm() <= DEPENDENT
    }
}

impl Contacts<'_> {
    /// Returns for each contact whether its decisions have no effect on the velocity after the `stage`, for all velocities and
    /// impulses near those in `readings`. `grips` are the modes of the stage, `before` the Jacobian of the velocity before it, and
    /// `tolerance` the relative tolerance for ties.
    ///
    /// A contact that pushes stays closed nearby. If it pushes strictly inside its friction cone, it sticks nearby, and impulses
    /// along its rows are free. If it pushes at the boundary of a round cone, it slides against its friction or not at all. So a
    /// contact at rest decides nothing in two cases. If its rows are combinations of free rows, its own impulse only takes a part of
    /// theirs. If the rows whose velocities are fixed span all rows of its group, the velocity is known whatever the impulses are.
    pub(super) fn without_effect(
        &self,
        readings: &[Reading<'_>],
        grips: &[Grip],
        stage: &Stage,
        before: &DMatrix<f64>,
        tolerance: f64,
    ) -> Vec<bool> {
        let frame = self.frame;
        let near = self.near(readings, stage, before, tolerance);
        let contacts = readings.iter().zip(grips).zip(&near);
        let holds = contacts.map(|((reading, grip), near)| reading.holds(*grip, near));
        let holds: Vec<bool> = holds.collect();
        let mut free = Span::default();
        for row in frame.constraint_rows() {
            free.add(&frame.row(row).into_owned());
        }
        for (reading, _) in readings.iter().zip(&holds).filter(|(_, holds)| **holds) {
            rows(frame, reading).for_each(|row| free.add(&row));
        }
        let mut fixed = free.clone();
        for (reading, near) in readings.iter().zip(&near) {
            reading.fixed_rows(near).for_each(|row| fixed.add(&row));
        }
        let group = |reading: &Reading<'_>| frame.scales().group(reading.normal);
        let is_fixed = |of: usize| {
            let own = readings.iter().filter(|reading| group(reading) == of);
            own.flat_map(|reading| rows(frame, reading))
                .all(|row| fixed.contains(&row))
        };
        let is_fixed: Vec<bool> = (0..frame.scales().count()).map(is_fixed).collect();
        let mut after = before.clone();
        stage.advance(&mut after, &mut DMatrix::zeros(frame.n_rows(), frame.dim()));
        let has_no_effect = |((reading, holds), near): ((&Reading<'_>, &bool), &Near)| {
            let is_free = || rows(frame, reading).all(|row| free.contains(&row));
            !holds
                && reading.is_at_rest(near)
                && self.slope(reading, before, &after) <= CONSTANT
                && (is_fixed.get(group(reading)) == Some(&true) || is_free())
        };
        let all = readings.iter().zip(&holds).zip(&near);
        all.map(has_no_effect).collect()
    }

    /// True if contact number `k` of `readings`, at rest and without impulse, cannot slide because the other contacts keep it
    /// at rest in their modes `grips`, whatever it pushes.
    pub(super) fn cannot_slide(
        &self,
        k: usize,
        event: &Event,
        readings: &[Reading<'_>],
        grips: &[Grip],
        before: &DMatrix<f64>,
    ) -> bool {
        let mut others = grips.to_vec();
        others[k] = Grip::Open;
        let (stage, _) = self.stage(event, readings, &others, &[]);
        let mut after = before.clone();
        let mut impulses = DMatrix::zeros(self.frame.n_rows(), self.frame.dim());
        stage.advance(&mut after, &mut impulses);
        self.slope(&readings[k], before, &after) <= CONSTANT
    }

    /// Returns the largest derivative (norm) of the gap and of the sliding velocities of a contact after a stage, from the
    /// Jacobians of the velocities `before` and `after` it.
    fn slope(&self, reading: &Reading<'_>, before: &DMatrix<f64>, after: &DMatrix<f64>) -> f64 {
        let slopes = reading.rows().map(|row| {
            let given = self.frame.row(row);
            let mut slope = after.tr_mul(&given);
            if row == reading.normal {
                slope.gemv_tr(reading.rebound.value(), before, &given, 1.0);
            }
            slope.norm()
        });
        slopes.fold(0.0, f64::max)
    }
}

impl Reading<'_> {
    /// Iterates over the rows of the normal and of the tangents along which friction may act.
    pub(super) fn rows(&self) -> impl Iterator<Item = RowIndex> {
        let tangents = self.tangents.iter().filter(|_| self.has_friction());
        std::iter::once(self.normal).chain(tangents.copied())
    }

    /// True if this contact pushes for all impulses within the thresholds `near`, below its cap and on one side of restitution.
    fn pushes(&self, near: &Near) -> bool {
        let is_below_cap = self.cap.is_none_or(|cap| cap - self.push > near.push);
        self.push > near.push && is_below_cap && self.is_on_side(near)
    }

    fn is_on_side(&self, near: &Near) -> bool {
        self.sides.is_none() || self.before.abs() > near.before
    }

    /// True if this contact stays closed without sliding, in the mode `grip`, for all impulses and velocities within the
    /// thresholds `near`.
    pub(super) fn holds(&self, grip: Grip, near: &Near) -> bool {
        let is_inside = match grip {
            Grip::Closed(Tangential::Free) => true,
            Grip::Closed(Tangential::Stick) => self.slack() > near.drag,
            _ => false,
        };
        is_inside && self.pushes(near)
    }

    /// Iterates over unit rows whose velocities after the stage have no part in any decision of this contact, for all impulses and
    /// velocities within the thresholds `near`: the normal of a contact that pushes, and the direction across its friction if it may
    /// only slide against that friction.
    pub(super) fn fixed_rows(&self, near: &Near) -> impl Iterator<Item = DVector<f64>> {
        let pushes = self.pushes(near);
        let drag = norm(self.drag);
        let is_across = pushes
            && self.has_friction()
            && self.directions.is_empty()
            && norm(self.slip) <= near.slip
            && drag > near.drag;
        let normal = pushes.then(|| self.frame.row(self.normal).into_owned());
        let across = is_across.then(|| {
            let across = [-self.drag[1] / drag, self.drag[0] / drag];
            let mut sum = DVector::zeros(self.frame.dim());
            for (row, c) in self.tangents.iter().zip(across) {
                sum.axpy(c, &self.frame.row(*row), 1.0);
            }
            sum
        });
        normal.into_iter().chain(across)
    }

    /// True if this contact is closed and does not slide after the stage, within the thresholds `near`, and its restitution is
    /// not at a tie.
    pub(super) fn is_at_rest(&self, near: &Near) -> bool {
        let is_closed = self.gap.abs() <= near.gap;
        let sticks = !self.has_friction() || norm(self.slip) <= near.slip;
        self.is_on_side(near) && is_closed && sticks
    }
}

/// Iterates over the rows of a contact along which it may push.
fn rows<'a>(
    frame: &'a Frame<'_>,
    reading: &'a Reading<'_>,
) -> impl Iterator<Item = DVector<f64>> + 'a {
    reading.rows().map(|row| frame.row(row).into_owned())
}
