//! Other answers of a complementarity law: the distance by which the velocity must change until one exists.
//!
//! With friction a law can have several answers to one velocity. Each answer belongs to a mode of the contacts (open,
//! stick, slide along each direction). The map of a mode is linear, and its inequalities define a polyhedron of
//! velocities. Within the distance to the nearest polyhedron of a different map the answer is unique, whichever solver is
//! used.

use super::branch::{CONSTANT, DECAYED, Walk, distance};
use super::form::{Form, Workspace};
use super::frame::Frame;
use super::friction::{Contacts, Event, combination};
use super::held::Held;
use super::interior::interior;
use super::orientation::Orientation;
use super::possible::keep_possible;
use super::reading::{Cones, Grip, Reading};
use super::screen::Screen;
use super::shift::Sorted;
use super::stage::Stage;
use super::{StepContacts, Steps};
use carom_contact::nnls::nonnegative_least_squares;
use carom_contact::{ContactIndex, RowIndex};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Largest number of modes that are solved: all modes of five contacts in the plane, each in a few microseconds.
const MAX_MODES: usize = 1024;

/// Number of combinations of modes from which a cheap test before the examination of each saves time.
const SCREENED: usize = 16;

/// A polyhedron counts as empty if its inequalities leave no more than this fraction of a contradiction of size one.
const EMPTY: f64 = 1e-12;

/// Weight of shifts between dependent contacts relative to changes of the velocity, whose smallest size is computed. The
/// distance is overestimated by about the square of this weight.
const SHIFTS: f64 = 1e-4;

/// A linear functional counts as zero on a polyhedron if it and its negative are combinations of the inequalities, up to
/// this relative error.
const COMBINED: f64 = 1e-9;

/// Two rows count as parallel if their unit vectors differ by less than this.
const PARALLEL: f64 = 1e-12;

/// One step in which contacts with friction act simultaneously.
pub(super) struct Step<'s> {
    /// Velocities (n entries) before and after the step, and their derivatives with respect to the velocity before the
    /// impact.
    pub(super) before: &'s DVector<f64>,
    pub(super) after: &'s DVector<f64>,
    pub(super) slopes_before: &'s DMatrix<f64>,
    pub(super) slopes_after: &'s DMatrix<f64>,
    /// Caps of the normal impulses; empty: no caps.
    pub(super) caps: &'s [f64],
}

/// Complementarity problems whose answers make up an outcome, one per stage.
pub(super) struct Modes<'m> {
    pub(super) cones: Cones,
    /// True if contacts may have restitution.
    pub(super) rebounds: bool,
    pub(super) steps: &'m Steps,
}

impl Modes<'_> {
    /// Returns the distance from the velocity before the impact to the nearest velocity for which other contact modes
    /// than those on the branch `way` may also solve the law. The distance, in the kinetic norm, is infinite if it
    /// exceeds `within`, zero if it is within the relative `tolerance` for ties, and `None` if it is not known.
    pub(super) fn nearest_other(
        &self,
        frame: &Frame<'_>,
        way: &Walk,
        within: f64,
        tolerance: f64,
    ) -> Option<f64> {
        let at_once;
        let steps = match self.steps {
            Steps::Each(steps) => steps.as_slice(),
            Steps::AtOnce => {
                at_once = [StepContacts {
                    members: frame.problem.contacts().indices().collect(),
                    caps: Vec::new(),
                }];
                &at_once
            }
        };
        if way.stages.len() != steps.len() {
            return None;
        }
        // Contacts that take part in steps, and true if they may have several answers.
        let mut sets: Vec<(&[ContactIndex], Contacts<'_>, bool)> = Vec::new();
        let mut last = None;
        for (k, step) in steps.iter().enumerate() {
            let members = step.members.as_slice();
            let known = sets.iter().position(|(known, ..)| *known == members);
            let known = known.unwrap_or(sets.len());
            if known == sets.len() {
                let contacts =
                    Contacts::new(frame, members.to_vec(), self.cones, self.rebounds).ok()?;
                let has_several = contacts.have_friction() && !contacts.have_one_answer();
                sets.push((members, contacts, has_several));
            }
            if sets[known].2 {
                last = Some(k);
            }
        }
        let Some(last) = last else {
            return Some(f64::INFINITY);
        };
        let mut nearest = f64::INFINITY;
        let mut slopes_before = frame.admissible();
        let mut slopes_after = slopes_before.clone();
        let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
        let has_limit = way.stages.iter().any(|stage| stage.is_limit);
        for (stage, step) in way.stages.iter().zip(steps).take(last + 1) {
            slopes_after.copy_from(&slopes_before);
            stage.advance(&mut slopes_after, &mut impulses);
            // At the end of a sequence with a limit only rounding is left of the velocities.
            let rate = |i: &ContactIndex| {
                let normal = frame.row(frame.problem.contacts().row(*i));
                slopes_before.tr_mul(&normal).norm()
            };
            let has_ended = || has_limit && step.members.iter().all(|i| rate(i) <= DECAYED);
            let mut open = sets.iter().filter(|(.., has_several)| *has_several);
            let set = open.find(|(members, ..)| *members == step.members.as_slice());
            if let Some((_, contacts, _)) = set.filter(|(_, contacts, _)| !contacts.are_unique())
                && !has_ended()
            {
                let before = DVector::from_column_slice(stage.before());
                let after = DVector::from_column_slice(stage.after());
                let at = Step {
                    before: &before,
                    after: &after,
                    slopes_before: &slopes_before,
                    slopes_after: &slopes_after,
                    caps: &step.caps,
                };
                nearest = nearest.min(contacts.exclusion(&at, within.min(nearest), tolerance)?);
            }
            std::mem::swap(&mut slopes_before, &mut slopes_after);
        }
        Some(nearest)
    }
}

impl Contacts<'_> {
    /// Returns the smallest change of the velocity before the impact (kinetic norm) for which other contact modes than
    /// those of `step` may solve the law and give another linear map. The result is infinite if it exceeds `within`, and
    /// zero if it is within the relative `tolerance` for ties. `None` if the modes form a continuum (round cones) or are
    /// more than 1024.
    pub(super) fn exclusion(&self, step: &Step<'_>, within: f64, tolerance: f64) -> Option<f64> {
        let scales = self.frame.scales();
        let event = Event {
            before: step.before.clone(),
            after: DVector::zeros(self.frame.dim()),
            impulse: DVector::zeros(self.frame.n_rows()),
            caps: step.caps.to_vec(),
        };
        let readings = self.readings(&event);
        // Modes are listed only for the side of restitution on which the velocity lies.
        if readings.iter().any(|r| r.is_between && r.keeps_side) {
            return None;
        }
        let in_group = |group: usize| {
            let mut own: Vec<&Reading<'_>> = Vec::new();
            for reading in readings.iter().filter(|r| scales.group(r.normal) == group) {
                // Copies of one contact share an impulse as if they were one contact.
                let is_again = |other: &&Reading<'_>| self.are_one_contact(other, reading);
                if !(step.caps.is_empty() && own.iter().any(is_again)) {
                    own.push(reading);
                }
            }
            own
        };
        let groups: Vec<Vec<&Reading<'_>>> = (0..scales.count()).map(in_group).collect();
        let orientations = self.orientations.get_or_init(|| {
            let of = |own: &Vec<&Reading<'_>>| Orientation::new(self.frame, own);
            groups.iter().map(of).collect()
        });
        let mut nearest = f64::INFINITY;
        for (group, own) in groups.iter().enumerate() {
            if !own.iter().any(|reading| reading.has_friction()) {
                continue;
            }
            let found = match self.at_rest(group) {
                Some(found) => found,
                None => {
                    let orientation = orientations.get(group).and_then(Option::as_ref);
                    self.exclusion_of(group, own, orientation, step, within.min(nearest))?
                }
            };
            if found <= scales.of_group(group, tolerance) {
                return Some(0.0);
            }
            nearest = nearest.min(found);
        }
        Some(nearest)
    }

    /// Returns the smallest change of velocity (kinetic norm) at which a contact of a group of interacting contacts
    /// begins to approach; `None` if a contact of the group approaches already. As long as no contact of the group
    /// approaches, a law leaves its velocity unchanged, even if another answer exists.
    fn at_rest(&self, group: usize) -> Option<f64> {
        let frame = self.frame;
        let set = frame.problem.contacts();
        let slopes = frame.admissible();
        let own = set
            .indices()
            .filter(|i| frame.scales().group(set.row(*i)) == group);
        let mut nearest = f64::INFINITY;
        for i in own {
            if frame.problem.approaches(i) {
                return None;
            }
            let row = frame.row(set.row(i));
            let begins = distance(row.dot(&frame.before), &slopes.tr_mul(&row));
            nearest = begins.map_or(nearest, |begins| nearest.min(begins.max(0.0)));
        }
        Some(nearest)
    }

    /// True if two contacts are copies of each other: they have parallel rows, equal friction coefficients and equal
    /// restitution.
    fn are_one_contact(&self, a: &Reading<'_>, b: &Reading<'_>) -> bool {
        let row = |k: RowIndex| self.frame.row(k);
        let is_near = |i: RowIndex, j: RowIndex| (row(i) - row(j)).norm() <= PARALLEL;
        let mut tangents = a.tangents.iter().zip(b.tangents);
        a.tangents.len() == b.tangents.len()
            && (a.friction - b.friction).abs() <= PARALLEL * a.friction
            && a.rebound.value() == b.rebound.value()
            && is_near(a.normal, b.normal)
            && tangents.all(|(i, j)| is_near(*i, *j))
    }

    /// Computes the distance of [`exclusion`](Self::exclusion) for one group of interacting contacts: the smallest
    /// change of the velocity before the impact for which other contact modes than those of `step` may solve the law.
    /// All combinations of the modes are tried that `orientation` admits beside the known answer. `readings` holds the
    /// impulses and velocities of the contacts of the group. The result is infinite if it exceeds `within`, and `None` if
    /// the modes form a continuum or are too many.
    fn exclusion_of(
        &self,
        group: usize,
        readings: &[&Reading<'_>],
        mut orientation: Option<&Orientation>,
        step: &Step<'_>,
        within: f64,
    ) -> Option<f64> {
        let frame = self.frame;
        if orientation.is_some_and(|orientation| orientation.is_unique) {
            return Some(f64::INFINITY);
        }
        let all = readings.iter().map(|reading| reading.all());
        let mut all = all.collect::<Option<Vec<_>>>()?;
        let count = all.iter().map(Vec::len);
        let count = count.clone().try_fold(1usize, usize::checked_mul)?;
        if count > MAX_MODES {
            return None;
        }
        keep_possible(
            frame,
            readings,
            step.before,
            step.slopes_before,
            within,
            &mut all,
        );
        let count: usize = all.iter().map(Vec::len).product();
        let mut nearest = f64::INFINITY;
        // A second answer has a mode whose sign is not positive, unless that of the known answer is not positive.
        let may_turn = |orientation: Option<&Orientation>, code: usize| {
            orientation.is_none_or(|orientation| orientation.may_turn(&all, code))
        };
        let examined = (0..count)
            .filter(|code| may_turn(orientation, *code))
            .count();
        let mut screen = (examined >= SCREENED)
            .then(|| Screen::new(frame, readings, &all, step.before, step.slopes_before));
        let held = (examined >= SCREENED)
            .then(|| Held::new(frame, readings, &all))
            .flatten();
        let mut next = 0;
        while next < count {
            let code = next;
            next += 1;
            // Modes with fewer unknowns have the velocities of those that hold the velocity.
            if !may_turn(orientation, code) || held.as_ref().is_some_and(|held| held.contains(code))
            {
                continue;
            }
            let excludes = |screen: &mut Screen| screen.excludes(code, within.min(nearest));
            if screen.as_mut().is_some_and(excludes) {
                continue;
            }
            let grips = combination(&all, code);
            let within = within.min(nearest);
            match self.other_answer(group, readings, &grips, step, within)? {
                OtherAnswer::Nowhere => {}
                OtherAnswer::Same if orientation.take().is_some() => next = 0,
                OtherAnswer::Same => {}
                OtherAnswer::At(found) => nearest = nearest.min(found),
            }
        }
        Some(nearest)
    }

    /// Examines the modes `grips` of the contacts of [`exclusion_of`](Self::exclusion_of) at velocities within the distance
    /// `within` (kinetic norm) before the impact; `None` if it is not known where they solve the law.
    fn other_answer(
        &self,
        group: usize,
        readings: &[&Reading<'_>],
        grips: &[Grip],
        step: &Step<'_>,
        within: f64,
    ) -> Option<OtherAnswer> {
        let frame = self.frame;
        let (mode, forms) = self.mode(readings.iter().copied(), grips, &[]);
        let mut given = DVector::zeros(frame.n_rows());
        for (reading, grip) in readings.iter().zip(grips) {
            reading.given(*grip, &mut given);
        }
        let stage = Stage::from_given(frame, mode, step.before, given.as_slice());
        if stage.is_dependent && !stage.may_drift() {
            // Wherever contacts can share impulses, a vertex of all ways to share them belongs to a mode with fewer
            // unknowns and the same velocity after the step. Those modes are examined by themselves.
            return Some(OtherAnswer::Nowhere);
        }
        if !stage.has_room(step.slopes_before) {
            // The mode exists only for a set of velocities without interior.
            return Some(OtherAnswer::Nowhere);
        }
        let mut slopes = step.slopes_before.clone();
        let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
        stage.advance(&mut slopes, &mut impulses);
        let mut other = &slopes - step.slopes_after;
        let mut missed = DVector::from_column_slice(stage.after()) - step.after;
        if frame.scales().count() > 1 {
            let part = |v: DVector<f64>| frame.scales().part(&frame.rows, group, &v);
            missed = part(missed);
            for mut column in other.column_iter_mut() {
                let own = part(column.clone_owned());
                column.copy_from(&own);
            }
        }
        let size = slopes.amax().max(step.slopes_after.amax()).max(1.0);
        let is_same = other.amax() <= super::SAME_JACOBIAN * size;
        if is_same && !stage.is_dependent {
            return Some(OtherAnswer::Same);
        }
        let reached = Reached {
            stage: &stage,
            before: step.slopes_before,
            after: &slopes,
            impulses: &impulses,
            is_cone: step.caps.is_empty(),
        };
        let found = reached.distance(frame, &forms, within)?;
        if found < within && stage.is_dependent {
            // Shifts may change the velocity, or the tests may leave only the known velocity.
            if reached.is_within(frame, &forms, &missed, &other)? {
                return Some(OtherAnswer::Nowhere);
            }
        }
        Some(OtherAnswer::At(found))
    }
}

/// Velocities at which a combination of modes solves the law beside the known answer.
enum OtherAnswer {
    /// No velocities, or only such with the velocity after the step that is known.
    Nowhere,
    /// The modes have the map of the known answer.
    Same,
    /// Velocities at this distance and beyond; infinite if it exceeds the distance examined.
    At(f64),
}

/// A mode with its derivatives with respect to the velocity before the impact.
struct Reached<'r> {
    stage: &'r Stage,
    before: &'r DMatrix<f64>,
    after: &'r DMatrix<f64>,
    impulses: &'r DMatrix<f64>,
    /// True if the tests of the mode are homogeneous in the velocity.
    is_cone: bool,
}

impl Reached<'_> {
    /// True if this mode gives the known velocity after the step wherever all tests of the mode hold, for every exchange
    /// of impulses between dependent contacts. `forms` are the tests. `missed` is the difference between the velocity
    /// that the mode gives and the known velocity, and `other` is the difference of the Jacobians of these two
    /// velocities. `None` if the least-squares solver fails.
    ///
    /// Each component of the difference is an affine function of the velocity change and of the exchanged impulses. The
    /// component is zero wherever all tests hold if the function and its negative are both nonnegative combinations of
    /// the tests (Farkas).
    fn is_within(
        &self,
        frame: &Frame<'_>,
        forms: &[Form],
        missed: &DVector<f64>,
        other: &DMatrix<f64>,
    ) -> Option<bool> {
        let free = self.stage.free();
        let n = frame.dim();
        let all = n + free.len() + 1;
        let mut workspace = Workspace::new(n);
        let mut columns: Vec<DVector<f64>> = Vec::with_capacity(forms.len() + 1);
        let sorted = Sorted::new(frame, self.stage, forms);
        for (test, shifts) in sorted.with_shifts() {
            let (before, after) = (self.before, self.after);
            let impulses = self.impulses;
            let value = test.evaluate(frame, self.stage, before, after, impulses, &mut workspace);
            let entries = workspace.gradient.iter().copied();
            let entries = entries.chain(shifts.iter().copied()).chain([value]);
            let column = DVector::from_iterator(all, entries);
            columns.extend(column.try_normalize(CONSTANT));
        }
        let mut one = DVector::zeros(all);
        one[all - 1] = 1.0;
        columns.push(one);
        let tests = DMatrix::from_columns(&columns);
        let drifts: Vec<DVector<f64>> = free.iter().map(|s| self.stage.drift(*s)).collect();
        for k in 0..n {
            let entries = other.row(k).iter().copied().collect::<Vec<_>>();
            let entries = entries
                .into_iter()
                .chain(drifts.iter().map(|drift| drift[k]));
            let functional = DVector::from_iterator(all, entries.chain([missed[k]]));
            let Some(functional) = functional.try_normalize(COMBINED) else {
                continue;
            };
            for sign in [1.0, -1.0] {
                let target = sign * &functional;
                let weights = nonnegative_least_squares(&tests, &target, 1e-14).ok()?;
                if (&tests * weights + target).norm() > COMBINED {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Returns the distance (kinetic norm) from the present velocity to the set of velocities that pass all tests
    /// `forms` of the mode. Impulses may be exchanged between linearly dependent contacts to pass the tests. The
    /// result is infinite if the distance exceeds `within`, and `None` if it is not known.
    fn distance(&self, frame: &Frame<'_>, forms: &[Form], within: f64) -> Option<f64> {
        let sorted = Sorted::new(frame, self.stage, forms);
        let mut rows = Vec::with_capacity(forms.len());
        let mut workspace = Workspace::new(frame.dim());
        // The cheap tests come first: they decide about most modes.
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
            // Too many inequalities to eliminate the shifts: they become variables.
            is_cone = false;
            for (test, shifts) in sorted.with_shifts().split_off(sorted.fixed.len()) {
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

    /// Adds the inequality of one test, as a face of a polyhedron of velocity changes, to `rows`: the inner unit
    /// normal, and the distance of the origin from the face. `shifts` holds the growth of the test per unit of each
    /// exchange of impulses between dependent contacts; these exchanges become further variables. With `None` there
    /// are no further variables. Returns false if the test fails for all changes up to `within`.
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

/// Returns the distance from the origin to a polyhedron with an interior, measured in the first `n` coordinates. Each
/// entry of `rows` holds the inner unit normal of a face and the signed distance of the origin from the face,
/// positive inside. `is_cone` is true if the inequalities are homogeneous. Infinite if the polyhedron is empty;
/// `None` if the solver fails.
fn to_polyhedron(rows: &[(DVector<f64>, f64)], is_cone: bool, n: usize) -> Option<f64> {
    let all = rows.iter().map(|(row, _)| row.len()).max().unwrap_or(0);
    let size = |(_, inside): &(DVector<f64>, f64)| inside.abs();
    let largest = rows.iter().map(size).fold(0.0, f64::max);
    if !rows.is_empty() {
        let with_origin = |(normal, inside): &(DVector<f64>, f64)| {
            let part = if largest > 0.0 { inside / largest } else { 0.0 };
            normal
                .clone()
                .resize_vertically(all, 0.0)
                .push(part)
                .normalize()
        };
        // Without an interior, rounding decides if the polyhedron is empty. A polyhedron that is no cone is the section of one.
        let mut normals: Vec<DVector<f64>> = Vec::with_capacity(rows.len() + 1);
        if is_cone {
            normals.extend(rows.iter().map(|(normal, _)| normal.clone()));
        } else {
            normals.extend(rows.iter().map(with_origin));
            normals.push(DVector::from_fn(
                all + 1,
                |i, _| if i == all { 1.0 } else { 0.0 },
            ));
        }
        if interior(&normals).ok()?.is_none() {
            return Some(f64::INFINITY);
        }
    }
    // Least distance programming (Lawson & Hanson 1974, Chapter 23), scaled so that the distance is about one.
    let unit = rows.iter().fold(0.0, |m: f64, (_, inside)| m.max(-inside));
    if unit == 0.0 {
        return Some(0.0);
    }
    let entry = |i: usize, k: usize| {
        if i < all {
            rows[k].0.get(i).copied().unwrap_or(0.0)
        } else {
            -rows[k].1 / unit
        }
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
