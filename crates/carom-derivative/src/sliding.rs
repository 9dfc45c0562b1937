//! Derivatives of the impact of one sliding contact, whose impulse depends only on inverse inertia, velocity, friction
//! and restitution.

mod branch;

pub(super) use branch::branch;

use super::adjoint::Adjoint;
use super::frame::{Frame, Variation};
use carom_contact::{ContactIndex, RowIndex};
use carom_two_body::{PARAMETERS, inertia_entries};
use nalgebra::{DMatrix, DVector, Matrix3, SMatrix, Vector3};

/// Index of the only contact.
const ONLY: ContactIndex = ContactIndex::new(0);

/// Impact of one contact, prepared for derivatives along any direction.
#[derive(Clone, Debug)]
pub(super) struct Sliding {
    /// Rows of the Jacobian along the contact axes: two tangents and the normal; `None` for a missing tangent.
    axes: [Option<RowIndex>; 3],
    impulse: Vector3<f64>,
    by: SMatrix<f64, 3, PARAMETERS>,
    after: DVector<f64>,
}

impl Sliding {
    /// Returns the whitened rows of the contact axes (two tangents, then the normal) in the caller's units. Each of
    /// the three entries is a pair: the row, and its projection onto the velocities that satisfy the constraints.
    /// Missing tangents have zero rows.
    fn rows(&self, frame: &Frame<'_>) -> [[DVector<f64>; 2]; 3] {
        self.axes.map(|row| {
            let given = match row {
                Some(row) => frame.given_row(row),
                None => DVector::zeros(frame.dim()),
            };
            let left = frame.admit(&given);
            [given, left]
        })
    }

    /// Returns the changes of the arguments on which the impulse of this contact depends. `w` is the change of the
    /// inverse inertia at the contact, and `velocity` is the change of the contact velocity. The changes of friction and
    /// restitution are zero.
    fn arguments(&self, mut w: Matrix3<f64>, velocity: [f64; 3]) -> SMatrix<f64, PARAMETERS, 1> {
        // Planar and frictionless contacts are embedded in a spatial one.
        match self.axes {
            [None, ..] => {
                w[(0, 0)] = w[(2, 2)];
                w[(1, 1)] = w[(2, 2)];
            }
            [_, None, _] => w[(1, 1)] = w[(0, 0)],
            _ => {}
        }
        let given = inertia_entries(&w)
            .into_iter()
            .chain(velocity)
            .chain([0.0; 2]);
        SMatrix::from_iterator(given)
    }

    /// Computes the Jacobians of the velocity after the impact and of the impulses with respect to the whitened
    /// velocity before the impact, in this order.
    pub(super) fn jacobians(&self, frame: &Frame<'_>) -> [DMatrix<f64>; 2] {
        let rows = self.rows(frame);
        let mut velocity = frame.admissible();
        let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            let mut slope = DVector::zeros(frame.dim());
            for (j, [_, left]) in rows.iter().enumerate() {
                slope.axpy(self.by[(i, 6 + j)], left, 1.0);
            }
            velocity.ger(1.0, &rows[i][1], &slope, 1.0);
            let factor = frame.of_impulse(row, 1.0) / frame.problem.scale();
            impulses.set_row(row.index(), &(slope * factor).transpose());
        }
        [velocity, impulses]
    }

    /// Computes the derivatives of the velocity after the impact and of the impulses along `variation`, a direction
    /// in which the data of the impact change.
    pub(super) fn along(
        &self,
        frame: &Frame<'_>,
        variation: &Variation,
    ) -> (DVector<f64>, DVector<f64>) {
        let contacts = frame.problem.contacts();
        let scale = frame.problem.scale();
        let start = variation.start(frame.dim());
        let rows = self.rows(frame);
        let changes = self
            .axes
            .map(|row| row.and_then(|row| frame.given_change(variation, row)));
        let forms: Vec<Option<DVector<f64>>> = frame
            .constraint_rows()
            .map(|row| frame.given_change(variation, row))
            .collect();
        // Change of the part of a row along the constraint forms.
        let moved: Vec<DVector<f64>> = rows
            .iter()
            .map(|[given, _]| {
                let mut out = DVector::zeros(frame.dim());
                for (form, y) in forms.iter().zip(contacts.multipliers(given).iter()) {
                    if let Some(form) = form {
                        out.axpy(*y, form, 1.0);
                    }
                }
                out
            })
            .collect();
        let mut w = Matrix3::zeros();
        let mut rates = [0.0; 3];
        for i in 0..3 {
            if self.axes[i].is_none() {
                continue;
            }
            rates[i] = rows[i][0].dot(&start) / scale;
            if let Some(change) = &changes[i] {
                rates[i] += frame.seen(change.as_view(), frame.before.as_view()) / scale;
            }
            for j in 0..3 {
                let (a, b) = (&rows[i][1], &rows[j][1]);
                let mut entry = -variation.mass_form(a, b) - moved[i].dot(b) - moved[j].dot(a);
                if let Some(change) = &changes[i] {
                    entry += change.dot(b);
                }
                if let Some(change) = &changes[j] {
                    entry += change.dot(a);
                }
                w[(i, j)] = entry;
            }
        }
        let mut arguments = self.arguments(w, rates);
        arguments[9] = variation.friction(ONLY);
        arguments[10] = variation.restitution(ONLY);
        let impulse = self.by * arguments;
        let mut velocity = start;
        variation.add_inertia(&(&self.after - &frame.before), &mut velocity);
        let mut total = DVector::zeros(frame.dim());
        let mut on_rows = DVector::zeros(frame.n_rows());
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            velocity.axpy(scale * impulse[i], &rows[i][0], 1.0);
            total.axpy(scale * self.impulse[i], &rows[i][0], 1.0);
            if let Some(change) = &changes[i] {
                velocity.axpy(scale * self.impulse[i], change, 1.0);
            }
            on_rows[row.index()] = frame.of_impulse(row, impulse[i]);
        }
        if !forms.is_empty() {
            // A dv' + dA v' = 0, with the multipliers of the impulses along the constraints.
            let mut missed = DVector::zeros(forms.len());
            for (k, (form, y)) in forms
                .iter()
                .zip(contacts.multipliers(&total).iter())
                .enumerate()
            {
                if let Some(form) = form {
                    velocity.axpy(-y, form, 1.0);
                    missed[k] = frame.seen(form.as_view(), self.after.as_view());
                }
            }
            let multipliers = contacts.stop_constraints(missed);
            velocity = frame.admit(&velocity);
            for (row, y) in frame.constraint_rows().zip(multipliers.iter()) {
                velocity.axpy(*y, &frame.given_row(row), 1.0);
            }
        }
        (velocity, on_rows)
    }
}

impl Sliding {
    /// Converts a cotangent (gradient) of the velocity after the impact to cotangents of all data of the impact.
    /// `velocity` is replaced by the cotangent of the velocity before the impact; the cotangents of all other data
    /// are added to `adjoint`. Transpose of [`along`](Self::along).
    pub(super) fn pull_back(
        &self,
        frame: &Frame<'_>,
        velocity: &mut DVector<f64>,
        adjoint: &mut Adjoint,
    ) {
        let contacts = frame.problem.contacts();
        let scale = frame.problem.scale();
        let rows = self.rows(frame);
        if frame.constraint_rows().len() > 0 {
            let held = frame.constraint_rows();
            let held = held.map(|row| frame.given_row(row).dot(velocity));
            let missed = contacts.stop_constraints(DVector::from_vec(held.collect()));
            *velocity = frame.admit(velocity);
            let mut total = DVector::zeros(frame.dim());
            for (i, [given, _]) in rows.iter().enumerate() {
                total.axpy(scale * self.impulse[i], given, 1.0);
            }
            let pushed = contacts.multipliers(&total);
            for (k, row) in frame.constraint_rows().enumerate() {
                adjoint.add_given_seen(frame, row, missed[k], &self.after);
                adjoint.add_given_row(frame, row, -pushed[k], velocity);
            }
        }
        let mut impulse = Vector3::zeros();
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            impulse[i] = scale * rows[i][0].dot(velocity);
            adjoint.add_given_row(frame, row, scale * self.impulse[i], velocity);
        }
        let change = &self.after - &frame.before;
        adjoint.add_mass(-1.0, velocity.as_view(), change.as_view());
        let arguments = self.by.tr_mul(&impulse);
        adjoint.add_friction(ONLY, arguments[9]);
        adjoint.add_restitution(ONLY, arguments[10]);
        if adjoint.is_wanted() {
            self.pull_back_inertia(frame, &rows, &arguments, adjoint);
        }
        for (i, row) in self.axes.iter().enumerate() {
            let Some(row) = *row else { continue };
            let rate = arguments[6 + i] / scale;
            velocity.axpy(rate, &rows[i][0], 1.0);
            adjoint.add_given_seen(frame, row, rate, &frame.before);
        }
    }

    /// Adds to `adjoint` the cotangents of the mass matrix and of the rows, as far as the inverse inertia at the contact
    /// depends on them. `arguments` holds the cotangents of the arguments of the contact impulse, and `rows` the axes of
    /// the contact.
    fn pull_back_inertia(
        &self,
        frame: &Frame<'_>,
        rows: &[[DVector<f64>; 2]; 3],
        arguments: &SMatrix<f64, PARAMETERS, 1>,
        adjoint: &mut Adjoint,
    ) {
        let contacts = frame.problem.contacts();
        for i in 0..3 {
            for j in i..3 {
                let (Some(first), Some(second)) = (self.axes[i], self.axes[j]) else {
                    continue;
                };
                let mut unit = Matrix3::zeros();
                (unit[(i, j)], unit[(j, i)]) = (1.0, 1.0);
                let entry = self.arguments(unit, [0.0; 3]).dot(arguments);
                let (a, b) = (&rows[i][1], &rows[j][1]);
                adjoint.add_mass(-entry, a.as_view(), b.as_view());
                adjoint.add_given_row(frame, first, entry, b);
                adjoint.add_given_row(frame, second, entry, a);
                // The part of a row along the constraint forms changes with these forms.
                let taken = [&rows[i][0], &rows[j][0]].map(|given| contacts.multipliers(given));
                for (k, row) in frame.constraint_rows().enumerate() {
                    adjoint.add_given_row(frame, row, -entry * taken[0][k], b);
                    adjoint.add_given_row(frame, row, -entry * taken[1][k], a);
                }
            }
        }
    }
}
