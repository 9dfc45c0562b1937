//! What decides where contacts depend on each other.
//!
//! Dependent contacts share their impulses in many ways. A mode holds where one of these ways passes all of
//! its tests: the tests are linear in the impulses and in the shifts between them, and eliminating the shifts
//! (Fourier and Motzkin) leaves the inequalities that decide.

use super::branch::{Form, interior};
use super::stage::Stage;
use crate::ImpactError;
use crate::nnls::nonnegative_least_squares;
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use std::borrow::Cow;

/// Inequalities that elimination may lead to.
const MAX_INEQUALITIES: usize = 128;

/// Coefficients below this fraction of their inequality's are none.
const NONE: f64 = 1e-10;

/// How far, in parts of one, what shifts cannot improve may be from that.
const STUCK: f64 = 1e-9;

/// A test of impulses, and what it grows by with each shift.
#[derive(Clone)]
struct Inequality {
    shifts: DVector<f64>,
    /// Coefficients of the impulses on all rows.
    impulses: DVector<f64>,
    constant: f64,
}

impl Inequality {
    fn plus(&self, factor: f64, other: &Self, by: f64) -> Self {
        let mut sum = Self {
            shifts: factor * &self.shifts + by * &other.shifts,
            impulses: factor * &self.impulses + by * &other.impulses,
            constant: factor * self.constant + by * other.constant,
        };
        let size = sum.impulses.amax();
        let small = NONE * size;
        sum.shifts
            .apply(|x| *x = if x.abs() <= small { 0.0 } else { *x });
        if size > 0.0 {
            sum.shifts /= size;
            sum.impulses /= size;
            sum.constant /= size;
        }
        sum
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.impulses - &other.impulses).amax() <= NONE
            && (&self.shifts - &other.shifts).amax() <= NONE
            && (self.constant - other.constant).abs() <= NONE * self.constant.abs()
    }

    fn value(&self, impulse: &[f64]) -> f64 {
        kernel::dot(self.impulses.as_slice(), impulse) + self.constant
    }

    fn form(&self) -> Form {
        let terms = self.impulses.iter().enumerate().filter(|(_, c)| **c != 0.0);
        Form {
            impulses: terms.map(|(row, c)| (row, *c)).collect(),
            constant: self.constant,
            ..Form::default()
        }
    }
}

/// The tests of a stage without what shifts between dependent contacts can satisfy.
pub(super) fn decisive<'f>(
    stage: &Stage,
    forms: &'f [Form],
) -> Result<Cow<'f, [Form]>, ImpactError> {
    let free = stage.free();
    if free.is_empty() {
        return Ok(Cow::Borrowed(forms));
    }
    let mut out = Vec::with_capacity(forms.len());
    let mut shifted = Vec::new();
    for form in forms {
        let shifts = DVector::from_iterator(
            free.len(),
            free.iter().map(|s| stage.shift(*s, &form.impulses)),
        );
        let size = form.impulses.iter().fold(0.0, |m: f64, t| m.max(t.1.abs()));
        if shifts.amax() <= NONE * size {
            out.push(form.clone());
            continue;
        }
        let mut impulses = DVector::zeros(stage.impulse().len());
        for (row, c) in &form.impulses {
            impulses[*row] += c;
        }
        let inequality = Inequality {
            shifts,
            impulses,
            constant: form.constant,
        };
        shifted.push(inequality.plus(1.0, &inequality, 0.0));
    }
    match eliminated(shifted.clone(), free.len()) {
        Some(left) => out.extend(left.iter().map(Inequality::form)),
        None => out.extend(held(stage, &shifted)?),
    }
    Ok(Cow::Owned(out))
}

/// What is left of inequalities without their shifts; `None` if these are too many.
fn eliminated(mut given: Vec<Inequality>, n_shifts: usize) -> Option<Vec<Inequality>> {
    let mut open: Vec<usize> = (0..n_shifts).collect();
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
        for positive in with.iter().filter(|q| q.shifts[k] > 0.0) {
            for negative in with.iter().filter(|q| q.shifts[k] < 0.0) {
                let mut sum = positive.plus(-negative.shifts[k], negative, positive.shifts[k]);
                sum.shifts[k] = 0.0;
                let says_nothing = sum.impulses.amax() == 0.0;
                if !says_nothing && !next.iter().any(|other| other.is_same(&sum)) {
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

/// The inequalities at impulses that satisfy all of them with something to spare, which leaves a lower bound of the
/// distance; where there are no such impulses, what no shift can satisfy with something to spare.
fn held(stage: &Stage, given: &[Inequality]) -> Result<Vec<Form>, ImpactError> {
    let Some(first) = given.first() else {
        return Ok(Vec::new());
    };
    let n = first.shifts.len();
    let largest = stage.impulse().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = largest.max(f64::MIN_POSITIVE);
    // By the shifts and what is there, which may take any positive size.
    let mut rows: Vec<DVector<f64>> = given
        .iter()
        .map(|q| {
            let value = q.value(stage.impulse()) / scale;
            let mut row = q.shifts.clone().push(value);
            row.normalize_mut();
            row
        })
        .collect();
    let mut sizes = DVector::zeros(n + 1);
    sizes[n] = 1.0;
    rows.push(sizes);
    if let Some(inside) = interior(&rows)? {
        let shift = inside.rows(0, n) * (scale / inside[n]);
        let forms = given.iter().map(|q| {
            let mut form = q.form();
            form.constant += q.shifts.dot(&shift);
            form
        });
        return Ok(forms.collect());
    }
    let all = DMatrix::from_columns(&rows);
    let mut out = Vec::new();
    for (i, q) in given.iter().enumerate() {
        let weights = nonnegative_least_squares(&all, &rows[i], 1e-14)?;
        if (&rows[i] + &all * &weights).norm() > STUCK {
            continue;
        }
        // The weights belong to rows of unit length.
        let length =
            |k: usize| (given[k].value(stage.impulse()) / scale).hypot(given[k].shifts.norm());
        let mut sum = Inequality {
            shifts: DVector::zeros(n),
            impulses: &q.impulses / length(i),
            constant: q.constant / length(i),
        };
        for (k, other) in given.iter().enumerate().filter(|(k, _)| weights[*k] > 0.0) {
            let weight = weights[k] / length(k);
            sum.impulses.axpy(weight, &other.impulses, 1.0);
            sum.constant += weight * other.constant;
        }
        out.push(sum.form());
    }
    Ok(out)
}
