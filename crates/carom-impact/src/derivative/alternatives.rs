//! Other answers that a complementarity law may have: how far the velocity must change until one exists.
//!
//! Friction can leave a law several answers to one velocity. Each answer belongs to a mode of the contacts (open,
//! stick, slide along each direction), whose map is linear, and whose inequalities make a polyhedron of
//! velocities. Within the distance of the nearest polyhedron of another map the answer is unique, whatever solver
//! looks for it.

use super::branch::{CONSTANT, Form, Workspace, distance, interior};
use super::frame::Frame;
use super::friction::{Contacts, Event, combination};
use super::shift::Sorted;
use super::stage::Stage;
use crate::nnls::nonnegative_least_squares;
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Modes that are solved: those of five contacts in the plane, each in a few microseconds.
const MAX_MODES: usize = 1024;

/// A polyhedron is empty if this fraction of one is all that its inequalities can leave of a contradiction.
const EMPTY: f64 = 1e-12;

/// Weight of shifts between dependent contacts beside changes of the velocity, whose least size is sought: with its
/// square the distance is overestimated.
const SHIFTS: f64 = 1e-4;

/// A step of contacts with friction that act at once.
pub(super) struct Step<'s> {
    /// Velocity (n) before the step, and derivatives of it and of that after by the velocity before the impact.
    pub(super) before: &'s DVector<f64>,
    pub(super) slopes_before: &'s DMatrix<f64>,
    pub(super) slopes_after: &'s DMatrix<f64>,
    /// Caps on the impulses on the normals; empty for none.
    pub(super) caps: &'s [f64],
}

impl Contacts<'_> {
    /// Least change of the velocity before the impact (kinetic norm) after which another map than that of the step
    /// may answer; infinite if it exceeds `within`, `None` where modes are not linear or too many.
    pub(super) fn exclusion(&self, step: &Step<'_>, within: f64) -> Option<f64> {
        let frame = self.frame;
        let event = Event {
            before: step.before.clone(),
            after: DVector::zeros(frame.dim()),
            impulse: DVector::zeros(frame.n_rows()),
            caps: step.caps.to_vec(),
        };
        let readings = self.readings(&event);
        let all = readings.iter().map(|reading| reading.all());
        let all = all.collect::<Option<Vec<_>>>()?;
        let count = all.iter().map(Vec::len);
        let count = count.clone().try_fold(1usize, usize::checked_mul)?;
        if count > MAX_MODES {
            return None;
        }
        let mut nearest = f64::INFINITY;
        for code in 0..count {
            let grips = combination(&all, code);
            let (mode, forms) = self.mode(&readings, &grips);
            let mut given = DVector::zeros(frame.n_rows());
            for (reading, grip) in readings.iter().zip(&grips) {
                reading.given(*grip, &mut given);
            }
            let stage = Stage::from_given(frame, mode, step.before, given.as_slice());
            if !stage.has_room(step.slopes_before) {
                // No velocity nearby but those of a set without interior.
                continue;
            }
            let mut after = step.slopes_before.clone();
            let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
            stage.advance(&mut after, &mut impulses);
            let is_same = super::are_one(&after, step.slopes_after);
            if is_same && !stage.may_drift() {
                continue;
            }
            let reached = Reached {
                stage: &stage,
                before: step.slopes_before,
                after: &after,
                impulses: &impulses,
                is_cone: step.caps.is_empty(),
            };
            nearest = nearest.min(reached.distance(frame, &forms, within.min(nearest))?);
        }
        Some(nearest)
    }
}

/// A mode with its derivatives by the velocity before the impact.
struct Reached<'r> {
    stage: &'r Stage,
    before: &'r DMatrix<f64>,
    after: &'r DMatrix<f64>,
    impulses: &'r DMatrix<f64>,
    /// True if its tests are homogeneous in the velocity.
    is_cone: bool,
}

impl Reached<'_> {
    /// Distance of the velocity to those that pass all tests of the mode, by any shift between dependent contacts;
    /// infinite if it exceeds `within`, `None` if it is not known.
    fn distance(&self, frame: &Frame<'_>, forms: &[Form], within: f64) -> Option<f64> {
        let sorted = Sorted::new(frame, self.stage, forms);
        let mut rows = Vec::with_capacity(forms.len());
        let mut workspace = Workspace::new(frame.dim());
        // The cheap tests first: they decide about most modes.
        for test in &sorted.fixed {
            if !self.add(frame, test, None, within, &mut workspace, &mut rows) {
                return Some(f64::INFINITY);
            }
        }
        let mut is_cone = self.is_cone;
        if let Some(projected) = sorted.projected() {
            for test in &projected {
                if !self.add(frame, test, None, within, &mut workspace, &mut rows) {
                    return Some(f64::INFINITY);
                }
            }
        } else {
            // Too many inequalities to eliminate the shifts: they are variables, too.
            is_cone = false;
            for (test, shifts) in sorted.with_shifts() {
                self.add(
                    frame,
                    &test,
                    Some(&shifts),
                    within,
                    &mut workspace,
                    &mut rows,
                );
            }
        }
        to_polyhedron(&rows, is_cone, frame.dim())
    }

    /// Adds a test as a row of a polyhedron of changes; false if it fails within `within`.
    fn add(
        &self,
        frame: &Frame<'_>,
        test: &Form,
        shifts: Option<&DVector<f64>>,
        within: f64,
        workspace: &mut Workspace,
        rows: &mut Vec<(DVector<f64>, f64)>,
    ) -> bool {
        let (before, after) = (self.before, self.after);
        let value = test.evaluate(frame, self.stage, before, after, self.impulses, workspace);
        let gradient = &workspace.gradient;
        let Some(shifts) = shifts else {
            match distance(value, gradient) {
                Some(distance) if distance < -within => return false,
                Some(distance) => rows.push((gradient / gradient.norm(), distance)),
                None => return value >= -frame.scales().whole(CONSTANT),
            }
            return true;
        };
        let free = shifts.iter().map(|x| x / SHIFTS);
        let row = gradient.iter().copied().chain(free);
        let row = DVector::from_iterator(gradient.len() + shifts.len(), row);
        let size = row.norm();
        rows.push((row / size, value / size));
        true
    }
}

/// Distance of the origin to a polyhedron with an interior, in the first `n` coordinates: inner normals of unit
/// length, and how far the origin is inside of each. Infinite if there is no such polyhedron; `None` if it is not
/// known.
fn to_polyhedron(rows: &[(DVector<f64>, f64)], is_cone: bool, n: usize) -> Option<f64> {
    if is_cone && !rows.is_empty() {
        let normals: Vec<DVector<f64>> = rows.iter().map(|(normal, _)| normal.clone()).collect();
        if interior(&normals).ok()?.is_none() {
            return Some(f64::INFINITY);
        }
    }
    // Least distance programming (Lawson & Hanson 1974, Chapter 23) in a unit that makes it about one.
    let unit = rows.iter().fold(0.0, |m: f64, (_, inside)| m.max(-inside));
    if unit == 0.0 {
        return Some(0.0);
    }
    let all = rows.iter().map(|(row, _)| row.len()).max().unwrap_or(0);
    let entry = |i: usize, k: usize| match i < all {
        true => rows[k].0.get(i).copied().unwrap_or(0.0),
        false => -rows[k].1 / unit,
    };
    let hull = DMatrix::from_fn(all + 1, rows.len(), entry);
    let mut target = DVector::zeros(all + 1);
    target[all] = -1.0;
    let weights = nonnegative_least_squares(&hull, &target, 1e-14).ok()?;
    let left = hull * weights + target;
    if kernel::norm(left.as_slice()) <= EMPTY {
        return Some(f64::INFINITY);
    }
    let size = kernel::norm(&left.as_slice()[..n]);
    Some(unit * size / left[all].abs())
}
