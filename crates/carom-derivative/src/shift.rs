//! Decisions of contacts that depend on each other and can share their impulses in several ways.
//!
//! A mode is possible if one of these ways passes all of its tests. The tests are linear in the impulses and in the
//! shifts of impulses between dependent contacts. Eliminating the shifts (Fourier and Motzkin) leaves the inequalities
//! that decide.

use super::decision::Decision;
use super::form::Form;
use super::frame::Frame;
use super::mode::Terms;
use super::stage::{Column, Stage};
use crate::tolerances::VANISHING;
use carom_contact::RowIndex;
use nalgebra::DVector;
use std::borrow::Cow;

/// Largest number of inequalities that the elimination may produce.
const MAX_INEQUALITIES: usize = 128;

/// A test, with its growth for unit shifts.
#[derive(Clone)]
struct Inequality {
    shifts: DVector<f64>,
    /// Coefficients of the row velocities after and before the stage, and of the impulses on rows.
    after: DVector<f64>,
    before: DVector<f64>,
    impulses: DVector<f64>,
    constant: f64,
    /// Given inequalities of which this one is a combination, one bit each.
    parents: u64,
    decision: Decision,
}

impl Inequality {
    fn new(form: &Form, shifts: DVector<f64>, n_rows: usize) -> Self {
        let column = |terms: &Terms| {
            let mut out = DVector::zeros(n_rows);
            for (row, c) in terms {
                out[row.index()] += c;
            }
            out
        };
        let given = Self {
            shifts,
            after: column(&form.after),
            before: column(&form.before),
            impulses: column(&form.impulses),
            constant: form.constant,
            parents: 0,
            decision: form.decision,
        };
        given.plus(1.0, &given, 0.0)
    }

    /// Returns the largest magnitude among the coefficients of this inequality.
    fn size(&self) -> f64 {
        self.impulses
            .amax()
            .max(self.after.amax())
            .max(self.before.amax())
    }

    fn plus(&self, factor: f64, other: &Self, by: f64) -> Self {
        let mut sum = Self {
            shifts: factor * &self.shifts + by * &other.shifts,
            after: factor * &self.after + by * &other.after,
            before: factor * &self.before + by * &other.before,
            impulses: factor * &self.impulses + by * &other.impulses,
            constant: factor * self.constant + by * other.constant,
            parents: self.parents | other.parents,
            decision: self.decision,
        };
        let size = sum.size();
        let small = VANISHING * size;
        sum.shifts
            .apply(|x| *x = if x.abs() <= small { 0.0 } else { *x });
        if size > 0.0 {
            sum.shifts /= size;
            sum.after /= size;
            sum.before /= size;
            sum.impulses /= size;
            sum.constant /= size;
        }
        sum
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.impulses - &other.impulses).amax() <= VANISHING
            && (&self.after - &other.after).amax() <= VANISHING
            && (&self.before - &other.before).amax() <= VANISHING
            && (&self.shifts - &other.shifts).amax() <= VANISHING
            && (self.constant - other.constant).abs() <= VANISHING * self.constant.abs()
    }

    fn form(&self) -> Form {
        let terms = |column: &DVector<f64>| -> Terms {
            let terms = RowIndex::all(column.len()).zip(column.iter().copied());
            terms.filter(|(_, c)| *c != 0.0).collect()
        };
        Form {
            after: terms(&self.after),
            before: terms(&self.before),
            impulses: terms(&self.impulses),
            constant: self.constant,
            decision: self.decision,
        }
    }
}

/// Separates the tests `forms` of a stage (part of an impact with fixed contact modes) into two lists: first the tests
/// whose values no shift changes, then the others. A shift is an exchange of impulses between linearly dependent
/// contacts.
fn sorted(frame: &Frame<'_>, stage: &Stage, forms: &[Form]) -> (Vec<Form>, Vec<Inequality>) {
    let free = stage.free();
    let drifts: Vec<DVector<f64>> = free.iter().map(|s| stage.drift(*s)).collect();
    let changes: Vec<Column> = free.iter().map(|s| stage.change(*s)).collect();
    let mut fixed = Vec::with_capacity(forms.len());
    let mut shifted = Vec::new();
    for form in forms {
        let grows = |k: usize| {
            let moved = form
                .after
                .iter()
                .map(|(row, c)| c * frame.rate(*row, &drifts[k]));
            stage.shift(&changes[k], &form.impulses) + moved.sum::<f64>()
        };
        let shifts = DVector::from_fn(free.len(), |k, _| grows(k));
        let terms = form.impulses.iter().chain(&form.after);
        let size = terms.fold(0.0, |m: f64, t| m.max(t.1.abs()));
        if shifts.amax() <= VANISHING * size {
            fixed.push(form.clone());
        } else {
            shifted.push(Inequality::new(form, shifts, frame.n_rows()));
        }
    }
    (fixed, shifted)
}

/// Derives from the tests `forms` of a `stage` (part of an impact with fixed contact modes) the tests that decide if
/// the stage is possible. Impulses may be exchanged between linearly dependent contacts. Tests that some exchange
/// satisfies are therefore left out or combined with others. `None` if there are too many.
pub(super) fn decisive<'f>(
    frame: &Frame<'_>,
    stage: &Stage,
    forms: &'f [Form],
) -> Option<Cow<'f, [Form]>> {
    if stage.free().is_empty() {
        return Some(Cow::Borrowed(forms));
    }
    let (mut out, shifted) = sorted(frame, stage, forms);
    let left = eliminated(shifted, stage.free().len())?;
    out.extend(left.iter().map(Inequality::form));
    Some(Cow::Owned(out))
}

/// Changes the basis of the `n_shifts` shifts of impulses so that each shift changes few of the inequalities `given`: a shift between
/// two copies of a contact then changes only inequalities of these, and its elimination adds none. The projection stays the same.
fn make_sparse(given: &mut [Inequality], n_shifts: usize) {
    for into in 0..n_shifts {
        for from in (0..n_shifts).filter(|from| *from != into) {
            let left = |q: &Inequality, factor: f64| {
                let (x, part) = (q.shifts[into], factor * q.shifts[from]);
                let rest = x - part;
                if rest.abs() <= VANISHING * (x.abs() + part.abs()) {
                    0.0
                } else {
                    rest
                }
            };
            let count = |factor: f64| given.iter().filter(|q| left(q, factor) != 0.0).count();
            let both = given.iter().map(|q| (q.shifts[into], q.shifts[from]));
            let factors = both.filter(|(x, y)| *x != 0.0 && *y != 0.0);
            let factors = factors.map(|(x, y)| x / y);
            let best = factors.min_by_key(|factor| count(*factor));
            let Some(factor) = best.filter(|factor| count(*factor) < count(0.0)) else {
                continue;
            };
            for q in given.iter_mut() {
                q.shifts[into] = left(q, factor);
            }
        }
    }
}

/// Eliminates the first `n_shifts` variables, the shifts of impulses between dependent contacts, from linear
/// inequalities (Fourier and Motzkin). Returns the remaining inequalities; `None` if there are too many.
///
/// After k eliminations a combination of more than k + 1 given inequalities follows from the others (Kohler 1967) and is
/// dropped.
fn eliminated(mut given: Vec<Inequality>, n_shifts: usize) -> Option<Vec<Inequality>> {
    if given.len() > u64::BITS as usize {
        return None;
    }
    for (k, inequality) in given.iter_mut().enumerate() {
        inequality.parents = 1 << k;
    }
    make_sparse(&mut given, n_shifts);
    let mut open: Vec<usize> = (0..n_shifts).collect();
    let mut most = 1;
    while !open.is_empty() {
        let count = |k: usize| {
            let positive = given.iter().filter(|q| q.shifts[k] > 0.0).count();
            let negative = given.iter().filter(|q| q.shifts[k] < 0.0).count();
            positive * negative
        };
        let (at, k) = open
            .iter()
            .copied()
            .enumerate()
            .min_by_key(|(_, k)| count(*k))?;
        open.swap_remove(at);
        if count(k) > MAX_INEQUALITIES * MAX_INEQUALITIES / 4 {
            return None;
        }
        let (with, mut next): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|q| q.shifts[k] != 0.0);
        most += 1;
        for positive in with.iter().filter(|q| q.shifts[k] > 0.0) {
            for negative in with.iter().filter(|q| q.shifts[k] < 0.0) {
                let parents = positive.parents | negative.parents;
                if parents.count_ones() > most {
                    continue;
                }
                let mut sum = positive.plus(-negative.shifts[k], negative, positive.shifts[k]);
                sum.shifts[k] = 0.0;
                let says_nothing = sum.size() == 0.0 && sum.constant == 0.0;
                let is_known = |q: &Inequality| q.parents & !parents == 0 && q.is_same(&sum);
                if !says_nothing && !next.iter().any(is_known) {
                    next.push(sum);
                }
                if next.len() > MAX_INEQUALITIES {
                    return None;
                }
            }
        }
        given = next;
    }
    Some(given)
}
