//! Many problems at once: one row of numbers each, the same for any number of threads.

use crate::answer::Answer;
use crate::error::{exception, isolated};
use crate::impact::{Configuration, Impact, Inputs, contacts_of, rows_of};
use crate::json::{flatten, object};
use crate::pool::interruptible;
use carom::impact::{ImpactOutcome, ImpactProblem, ImpactStatus};
use carom_wire::{Claim, JudgeRequest, Request, WireError, pose};
use numpy::{
    PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Energies before and after, five residuals and the status stand behind the vectors.
const BALANCE: usize = 8;

const STATUS: [ImpactStatus; 3] = [
    ImpactStatus::Resolved,
    ImpactStatus::Separating,
    ImpactStatus::Jammed,
];

/// Status of a row without an outcome.
const FAILED: f64 = 255.0;

const RESIDUALS: [&str; 5] = [
    "momentum_residual",
    "penetration_residual",
    "adhesion_residual",
    "friction_residual",
    "constraint_residual",
];

/// All numbers in one list, the width of a row, and the errors by row.
pub(crate) type Table<'py> = (
    Bound<'py, PyArray1<f64>>,
    usize,
    Vec<(usize, Bound<'py, PyAny>)>,
);

/// The same before Python sees it.
pub(crate) struct Filled {
    numbers: Vec<f64>,
    width: usize,
    errors: Vec<(usize, WireError)>,
}

/// The outcome of one row: numbers, or the answer that holds them.
pub(crate) enum Solved {
    Outcome(Box<ImpactOutcome>),
    Fields(Map<String, Value>),
}

/// One problem of a batch.
pub(crate) fn solved(request: &Request, problem: &ImpactProblem<'_>) -> Result<Solved, WireError> {
    match request.outcome(problem)? {
        Some(outcome) => Ok(Solved::Outcome(Box::new(outcome))),
        None => Ok(Solved::Fields(request.answer(problem, &|_, _| {})?.fields)),
    }
}

/// Velocities, one a row.
pub(crate) struct Rows {
    numbers: Vec<f64>,
    width: usize,
    length: usize,
}

impl Rows {
    pub(crate) fn new(numbers: Vec<f64>, width: usize, shape: &[usize]) -> Self {
        let length = shape.first().copied().unwrap_or(0);
        Self {
            numbers,
            width,
            length,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// A row of finite numbers.
    pub(crate) fn row(&self, i: usize) -> Result<&[f64], WireError> {
        let start = i * self.width;
        let row = self
            .numbers
            .get(start..start + self.width)
            .unwrap_or_default();
        finite("velocities", i, row)
    }
}

/// Solves `length` problems, each for itself.
pub(crate) fn fill(
    length: usize,
    widths: [usize; 3],
    is_stopped: &AtomicBool,
    solve: impl Fn(usize) -> Result<Solved, WireError> + Sync,
) -> Result<Filled, WireError> {
    let width = widths.iter().sum::<usize>() + BALANCE;
    let size = length.checked_mul(width).ok_or_else(|| {
        WireError::new(
            "too-large",
            format!("velocities: {length} rows are too many"),
        )
    })?;
    let mut numbers = vec![f64::NAN; size];
    let errors = Mutex::new(Vec::new());
    numbers
        .par_chunks_mut(width)
        .enumerate()
        .for_each(|(i, row)| {
            if is_stopped.load(Ordering::Relaxed) {
                return;
            }
            let written = isolated(|| solve(i)).and_then(|solved| write(&solved, widths, row));
            if let Err(error) = written {
                row.fill(f64::NAN);
                if let Some(status) = row.last_mut() {
                    *status = FAILED;
                }
                if let Ok(mut errors) = errors.lock() {
                    errors.push((i, error));
                }
            }
        });
    let mut errors = errors.into_inner().unwrap_or_default();
    errors.sort_by_key(|(i, _)| *i);
    Ok(Filled {
        numbers,
        width,
        errors,
    })
}

fn write(solved: &Solved, widths: [usize; 3], row: &mut [f64]) -> Result<(), WireError> {
    let mut rest = row;
    let mut put = |numbers: &[f64], width: usize| -> Result<(), WireError> {
        let (place, behind) = std::mem::take(&mut rest)
            .split_at_mut_checked(width)
            .ok_or_else(|| WireError::new("internal", "a row is too short"))?;
        rest = behind;
        if numbers.len() == width {
            place.copy_from_slice(numbers);
            Ok(())
        } else {
            Err(WireError::new(
                "no-outcome",
                "the answer has no preferred outcome",
            ))
        }
    };
    let code = |status: &str| {
        let place = STATUS.iter().position(|known| known.name() == status);
        place.map_or(FAILED, |place| place as f64)
    };
    match solved {
        Solved::Outcome(outcome) => {
            let audit = &outcome.audit;
            put(outcome.velocity_plus.0.as_slice(), widths[0])?;
            put(outcome.impulses.as_slice(), widths[1])?;
            put(outcome.constraint_impulses.as_slice(), widths[2])?;
            let balance = [
                audit.energy_minus_j,
                audit.energy_plus_j,
                audit.momentum_residual,
                audit.penetration_residual,
                audit.adhesion_residual,
                audit.friction_residual,
                audit.constraint_residual,
                code(outcome.status.name()),
            ];
            put(&balance, BALANCE)
        }
        Solved::Fields(fields) => {
            let list = |key: &str| {
                let mut numbers = Vec::new();
                if let Some(value) = fields.get(key) {
                    flatten(value, &mut numbers);
                }
                numbers
            };
            let number = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or(f64::NAN);
            put(&list("velocity_plus"), widths[0])?;
            put(&list("impulses"), widths[1])?;
            put(&list("constraint_impulses"), widths[2])?;
            let mut balance = vec![
                number(fields.get("energy_minus_j")),
                number(fields.get("energy_plus_j")),
            ];
            let audit = fields.get("audit");
            balance.extend(RESIDUALS.map(|key| number(audit.and_then(|audit| audit.get(key)))));
            let status = fields.get("status").and_then(Value::as_str);
            balance.push(code(status.unwrap_or_default()));
            put(&balance, BALANCE)
        }
    }
}

pub(crate) fn to_python(py: Python<'_>, filled: Filled) -> PyResult<Table<'_>> {
    let errors = filled.errors.iter();
    let errors: PyResult<Vec<_>> = errors
        .map(|(i, error)| Ok((*i, exception(py, error)?)))
        .collect();
    Ok((
        PyArray1::from_vec(py, filled.numbers),
        filled.width,
        errors?,
    ))
}

/// One outcome for each configuration: mass matrices (N × n × n), contact rows (N × r × n) and
/// velocities (N × n); contacts have the same number of rows and the same coefficients everywhere.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn resolve_many<'py>(
    py: Python<'py>,
    mass_matrices: PyReadonlyArray3<'_, f64>,
    jacobians: PyReadonlyArray3<'_, f64>,
    velocities: PyReadonlyArray2<'_, f64>,
    law: String,
    counts: Vec<usize>,
    friction: Vec<f64>,
    restitution: Vec<f64>,
    options: &Bound<'_, PyDict>,
    threads: usize,
) -> PyResult<Table<'py>> {
    let options = object(Some(options), "options")?;
    let [r, n] = [1, 2].map(|axis| jacobians.shape().get(axis).copied().unwrap_or(0));
    let rows = Rows::new(velocities.as_slice()?.to_vec(), n, velocities.shape());
    let masses = mass_matrices.as_slice()?.to_vec();
    let jacobians = jacobians.as_slice()?.to_vec();
    let table = interruptible(py, threads, move |is_stopped| {
        let request = Request::new(&law, &options)?;
        fill(rows.len(), [n, r, 0], is_stopped, |i| {
            let mass = masses.get(i * n * n..(i + 1) * n * n).unwrap_or_default();
            let jacobian = jacobians
                .get(i * r * n..(i + 1) * r * n)
                .unwrap_or_default();
            let configuration = Configuration::build(&Inputs {
                mass_matrix: rows_of(mass, n),
                contacts: contacts_of(&rows_of(jacobian, n), &counts, &friction, &restitution),
                constraints: Vec::new(),
            })?;
            let problem = pose(configuration.borrow_dependent(), rows.row(i)?)?;
            solved(&request, &problem)
        })
    })?;
    to_python(py, table)
}

/// Answers and errors by row.
type Judged<'py> = (Vec<Option<Answer>>, Vec<(usize, Bound<'py, PyAny>)>);

/// Judges one step for each row of velocities, each at its own configuration, or all at one.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (impacts, velocities, velocities_plus, free, law, options, threads))]
pub(crate) fn judge_rows<'py>(
    py: Python<'py>,
    impacts: Vec<PyRef<'_, Impact>>,
    velocities: Vec<PyReadonlyArray1<'_, f64>>,
    velocities_plus: Vec<PyReadonlyArray1<'_, f64>>,
    free: Option<Vec<PyReadonlyArray1<'_, f64>>>,
    law: Option<String>,
    options: &Bound<'_, PyDict>,
    threads: usize,
) -> PyResult<Judged<'py>> {
    let options = object(Some(options), "options")?;
    let shared: Vec<Arc<Configuration>> = impacts
        .iter()
        .map(|impact| Arc::clone(&impact.shared))
        .collect();
    let before = copied(&velocities)?;
    let after = copied(&velocities_plus)?;
    let free = free.as_deref().map(copied).transpose()?;
    let judged = interruptible(py, threads, move |is_stopped| {
        let request = JudgeRequest::new(law.as_deref(), &options)?;
        let one = |i: usize| -> Result<Map<String, Value>, WireError> {
            let configuration = shared.get(i).or(shared.first());
            let lost = || WireError::new("internal", "a row is missing");
            let claim = Claim {
                velocity: finite("velocities", i, before.get(i).ok_or_else(lost)?)?,
                velocity_plus: finite("velocities_plus", i, after.get(i).ok_or_else(lost)?)?,
                velocity_free: free
                    .as_ref()
                    .and_then(|rows| rows.get(i))
                    .map(Vec::as_slice),
                external_impulse: None,
            };
            let contacts = configuration.ok_or_else(lost)?.borrow_dependent();
            Ok(request.answer(contacts, &claim)?.fields)
        };
        let rows = (0..before.len()).into_par_iter().map(|i| {
            if is_stopped.load(Ordering::Relaxed) {
                return Err(WireError::new("internal", "stopped"));
            }
            isolated(|| one(i))
        });
        Ok(rows.collect::<Vec<_>>())
    })?;
    let mut answers = Vec::with_capacity(judged.len());
    let mut errors = Vec::new();
    for (i, result) in judged.into_iter().enumerate() {
        match result {
            Ok(fields) => answers.push(Some(Answer::new(fields))),
            Err(error) => {
                answers.push(None);
                errors.push((i, exception(py, &error)?));
            }
        }
    }
    Ok((answers, errors))
}

fn copied(arrays: &[PyReadonlyArray1<'_, f64>]) -> PyResult<Vec<Vec<f64>>> {
    let copied = arrays.iter().map(|array| Ok(array.as_slice()?.to_vec()));
    copied.collect()
}

/// A row of finite numbers.
fn finite<'r>(name: &str, i: usize, row: &'r [f64]) -> Result<&'r [f64], WireError> {
    match row.iter().position(|x| !x.is_finite()) {
        None => Ok(row),
        Some(j) => {
            let place = format!("{name}[{i}, {j}]: {} is not finite", row[j]);
            let mut error = WireError::new("non-finite", place);
            error.index = Some(j);
            Err(error)
        }
    }
}
