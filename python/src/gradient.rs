//! Derivatives and vector-Jacobian products of many problems as columns of numbers.

use crate::batch::{COLUMNS, Filled, fill_columns, put, widths_of, write_outcome};
use crate::error::raised;
use carom::derivative::{
    Derivative, Differentiability, Gradient, Jacobians, Wrt, saltation as matrix,
};
use carom::impact::ImpactProblem;
use carom::nalgebra::{DMatrix, DVector};
use carom_wire::{Request, WireError};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// Number of columns besides those of outcomes: class, margin; Jacobians by velocity, friction, restitution, and of
/// impulses; cotangents of velocity, friction, restitution, mass matrix, contact rows.
const ADDED: usize = 11;

/// Number of all columns.
const ALL: usize = COLUMNS + ADDED;

/// Class code of a row without a derivative.
const NONE: f64 = 254.0;

/// Largest count of numbers in one column (8 GB).
const MAX_NUMBERS: usize = 1 << 30;

/// Request of derivatives by the caller.
#[derive(Clone, Copy, Debug, FromPyObject)]
pub(crate) struct Asked {
    velocity: bool,
    friction: bool,
    restitution: bool,
    impulses: bool,
    tolerance: f64,
    /// True if at ties the derivative of the piece on which the outcome lies is wanted.
    own_piece: bool,
    /// True if the margin is wanted, which may cost more than the derivative.
    margin: bool,
    /// True if the cotangent of the mass matrix is wanted, in addition to that of the velocity.
    mass: bool,
    rows: bool,
    coefficients: bool,
}

impl Asked {
    fn wrt(self) -> Wrt {
        Wrt::ALL
            .with_velocity(self.velocity || self.impulses)
            .with_friction(self.friction)
            .with_restitution(self.restitution)
    }

    fn gradient(self) -> Gradient {
        Gradient::ALL
            .with_mass(self.mass)
            .with_rows(self.rows)
            .with_coefficients(self.coefficients)
    }
}

/// Entries of one row, and its status.
pub(crate) type Places<'a> = ([&'a mut [f64]; ALL], &'a mut [u8]);

/// Layout of the derivatives of many problems of equal size.
pub(crate) struct Plan<'r> {
    request: &'r Request,
    asked: Asked,
    length: usize,
    n: usize,
    widths: [usize; ALL],
    /// Cotangents of the velocities after the impact, one vector per row.
    cotangents: Option<Vec<f64>>,
    reasons: Mutex<Vec<(usize, String)>>,
}

impl<'r> Plan<'r> {
    /// Creates a plan. `widths` are the numbers of velocities, contact impulses and constraint impulses.
    pub(crate) fn new(
        request: &'r Request,
        asked: Asked,
        widths: [usize; 3],
        contacts: usize,
        cotangents: Option<Vec<f64>>,
        length: usize,
    ) -> Result<Self, WireError> {
        request.check_one_answer()?;
        let [n, r, _] = widths;
        let restitutions = if request.has_event_restitution() {
            1
        } else {
            contacts
        };
        let of = |is_asked: bool, width: usize| if is_asked { width } else { 0 };
        let pulled = |is_asked: bool, width: usize| of(is_asked && cotangents.is_some(), width);
        let added = [
            1,
            1,
            of(asked.velocity, n * n),
            of(asked.friction, n * contacts),
            of(asked.restitution, n * restitutions),
            of(asked.impulses, r * n),
            pulled(true, n),
            pulled(asked.coefficients, contacts),
            pulled(asked.coefficients, restitutions),
            pulled(asked.mass, n * n),
            pulled(asked.rows, r * n),
        ];
        let mut all = [0; ALL];
        for (place, width) in all
            .iter_mut()
            .zip(widths_of(widths).into_iter().chain(added))
        {
            *place = width;
        }
        let is_small = |width: &usize| {
            width
                .checked_mul(length)
                .is_some_and(|size| size <= MAX_NUMBERS)
        };
        if !all.iter().all(is_small) {
            let message = format!(
                "velocities: the derivatives of {length} rows exceed the limit of {MAX_NUMBERS} numbers; ask for \
                 fewer rows, or for vector-Jacobian products"
            );
            return Err(WireError::new("too-large", message));
        }
        Ok(Self {
            request,
            asked,
            length,
            n,
            widths: all,
            cotangents,
            reasons: Mutex::new(Vec::new()),
        })
    }

    /// Fills all rows by calling `write` for each.
    pub(crate) fn fill(
        &self,
        is_stopped: &AtomicBool,
        write: impl Fn(usize, Places<'_>) -> Result<(), WireError> + Sync,
    ) -> Result<Filled, WireError> {
        let mut filled = fill_columns(
            self.length,
            self.widths,
            is_stopped,
            |i, columns, status| write(i, (columns, status)),
        )?;
        if let Ok(mut reasons) = self.reasons.lock() {
            filled.reasons = std::mem::take(&mut *reasons);
        }
        filled.reasons.sort_unstable();
        let is_failed = |i: usize| filled.errors.iter().any(|(row, _)| *row == i);
        filled.reasons.retain(|(i, _)| !is_failed(*i));
        Ok(filled)
    }

    /// Writes the row of a problem; a row without a derivative still has its outcome.
    pub(crate) fn write(
        &self,
        problem: &ImpactProblem,
        i: usize,
        (columns, status): Places<'_>,
    ) -> Result<(), WireError> {
        let (single, derivative) =
            self.request
                .differentiate(problem, &self.asked.wrt(), self.asked.tolerance)?;
        let [c0, c1, c2, c3, c4, class, margin, rest @ ..] = columns;
        write_outcome(&single, [c0, c1, c2, c3, c4], status)?;
        class.fill(NONE);
        margin.fill(f64::NAN);
        let mut places = rest;
        for place in &mut places {
            place.fill(f64::NAN);
        }
        let reason = match derivative {
            Err(error) => error.message,
            Ok(derivative) => match self.write_derivative(&derivative, i, class, margin, places) {
                None => return Ok(()),
                Some(reason) => reason,
            },
        };
        if let Ok(mut reasons) = self.reasons.lock() {
            reasons.push((i, reason));
        }
        Ok(())
    }

    /// Writes a derivative, or returns the reason why there is no derivative.
    fn write_derivative(
        &self,
        derivative: &Derivative<'_>,
        i: usize,
        class: &mut [f64],
        margin: &mut [f64],
        places: [&mut [f64]; ADDED - 2],
    ) -> Option<String> {
        let (Some(found), Some(own)) = (derivative.class(), derivative.own_piece()) else {
            return Some(derivative.reason().unwrap_or("none").to_owned());
        };
        let code = match found {
            Differentiability::Smooth => 0.0,
            Differentiability::Kink => 1.0,
            Differentiability::Jump => 2.0,
            Differentiability::Tied => 3.0,
        };
        if code == 0.0 || self.asked.own_piece {
            let [
                dv_dv,
                dv_dfriction,
                dv_drestitution,
                dimpulses_dv,
                velocity,
                friction,
                restitution,
                mass,
                rows,
            ] = places;
            let Jacobians {
                dv_dv: by_velocity,
                dv_dfriction: by_friction,
                dv_drestitution: by_restitution,
                dimpulses_dv: of_impulses,
                ..
            } = own;
            let mut is_finite = true;
            for (place, matrix) in [
                (dv_dv, by_velocity),
                (dv_dfriction, by_friction),
                (dv_drestitution, by_restitution),
                (dimpulses_dv, of_impulses),
            ] {
                if let Some(matrix) = matrix {
                    is_finite &= row_by_row(place, matrix);
                }
            }
            if !is_finite {
                return Some("derivative: a number is too large".to_owned());
            }
            if let Some(cotangent) = self.cotangent(i)
                && let Ok(pulled) = derivative.pull_back_to(&cotangent, self.asked.gradient())
            {
                // A part that was not requested has no entries.
                let _ = put(velocity, pulled.velocity.as_slice());
                let _ = put(friction, pulled.friction.as_slice());
                let _ = put(restitution, pulled.restitution.as_slice());
                row_by_row(mass, &pulled.mass);
                row_by_row(rows, &pulled.rows);
            }
        }
        class.fill(code);
        if self.asked.margin {
            margin.fill(derivative.margin().unwrap_or(f64::NAN));
        }
        None
    }

    /// Returns the cotangent of a row; `None` if it is missing or not finite.
    fn cotangent(&self, i: usize) -> Option<DVector<f64>> {
        let row = self
            .cotangents
            .as_ref()?
            .get(i * self.n..(i + 1) * self.n)?;
        row.iter()
            .all(|x| x.is_finite())
            .then(|| DVector::from_column_slice(row))
    }
}

/// Writes a matrix row by row if the row of the table has entries for it; false if a number is not finite.
fn row_by_row(place: &mut [f64], matrix: &DMatrix<f64>) -> bool {
    if place.len() != matrix.len() {
        return true;
    }
    for (i, row) in matrix.row_iter().enumerate() {
        for (place, x) in place[i * matrix.ncols()..].iter_mut().zip(row.iter()) {
            *place = *x;
        }
    }
    place.iter().all(|x| x.is_finite())
}

/// Computes the saltation matrix of a transversal crossing, returned row by row.
#[pyfunction]
pub(crate) fn saltation<'py>(
    py: Python<'py>,
    reset: PyReadonlyArray2<'_, f64>,
    f_minus: PyReadonlyArray1<'_, f64>,
    f_plus: PyReadonlyArray1<'_, f64>,
    guard_gradient: PyReadonlyArray1<'_, f64>,
    guard_rate: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let [rows, columns] = [0, 1].map(|axis| reset.shape().get(axis).copied().unwrap_or(0));
    let vector = |array: &PyReadonlyArray1<'_, f64>| -> PyResult<DVector<f64>> {
        Ok(DVector::from_column_slice(array.as_slice()?))
    };
    let reset = DMatrix::from_row_slice(rows, columns, reset.as_slice()?);
    let found = matrix(
        &reset,
        &vector(&f_minus)?,
        &vector(&f_plus)?,
        &vector(&guard_gradient)?,
        guard_rate,
    );
    let found = found.map_err(|error| raised(py, &error.into()))?;
    Ok(PyArray1::from_vec(
        py,
        found.transpose().as_slice().to_vec(),
    ))
}

/// True if the law has one restitution, an option, for the whole event.
#[pyfunction]
pub(crate) fn has_event_restitution(py: Python<'_>, law: &str) -> PyResult<bool> {
    let request = Request::new(law, &serde_json::Map::new()).map_err(|error| raised(py, &error))?;
    Ok(request.has_event_restitution())
}
