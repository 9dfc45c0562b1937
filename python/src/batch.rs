//! Many problems at once, each a row of numbers; results do not depend on the number of threads.

use crate::answer::Answer;
use crate::error::{exception, isolated};
use crate::gradient::{Asked, Plan};
use crate::impact::{Impact, Inputs, contacts_of, rows_of};
use crate::json::{flatten, object};
use crate::pool::interruptible;
use carom::impact::{ContactSet, ImpactProblem, ImpactStatus};
use carom_wire::{Claim, JudgeRequest, Request, Single, Solved, WireError, pose};
use numpy::{
    PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const STATUS: [ImpactStatus; 3] = [
    ImpactStatus::Resolved,
    ImpactStatus::Separating,
    ImpactStatus::Jammed,
];

/// Status code of a row without an outcome.
const FAILED: u8 = 255;

const RESIDUALS: [&str; 5] = [
    "momentum_residual",
    "penetration_residual",
    "adhesion_residual",
    "friction_residual",
    "constraint_residual",
];

/// Number of columns of a batch: velocities after the impact, impulses of contacts and of constraints, energies before and
/// after, residuals.
pub(crate) const COLUMNS: usize = 5;

/// Numbers of the columns, row by row; status of the rows; errors with the index of the row; reasons why a row has no
/// derivative, with the index of the row.
pub(crate) type Table<'py> = (
    Vec<Bound<'py, PyArray1<f64>>>,
    Bound<'py, PyArray1<u8>>,
    Vec<(usize, Bound<'py, PyAny>)>,
    Vec<(usize, String)>,
);

/// Columns of a batch before they become Python arrays.
pub(crate) struct Filled {
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) status: Vec<u8>,
    pub(crate) errors: Vec<(usize, WireError)>,
    pub(crate) reasons: Vec<(usize, String)>,
}

/// Solves one problem of a batch.
pub(crate) fn solved(request: &Request, problem: &ImpactProblem) -> Result<Solved, WireError> {
    request.solve(problem, &|_, _| {})
}

/// Handles of one contact set, one for each thread of the pool: on a common handle, the problems of a thread would wait for the
/// counts of the others.
pub(crate) struct OfThreads(Vec<ContactSet>);

impl OfThreads {
    pub(crate) fn new(contacts: &ContactSet) -> Self {
        let threads = 0..=rayon::current_num_threads();
        Self(threads.map(|_| contacts.detached()).collect())
    }

    /// Returns the handle of the current thread; threads outside the pool share the last one.
    pub(crate) fn own(&self) -> &ContactSet {
        let last = self.0.len() - 1;
        &self.0[rayon::current_thread_index().map_or(last, |k| k.min(last))]
    }
}

/// Velocities, one vector per row.
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

    /// Returns a row; an error if a number is not finite.
    pub(crate) fn row(&self, i: usize) -> Result<&[f64], WireError> {
        let start = i * self.width;
        let row = self
            .numbers
            .get(start..start + self.width)
            .unwrap_or_default();
        finite("velocities", i, row)
    }
}

/// Returns the widths of the columns of an outcome; `n` velocities, `r` contact impulses, `m` constraint impulses.
pub(crate) fn widths_of([n, r, m]: [usize; 3]) -> [usize; COLUMNS] {
    [n, r, m, 2, RESIDUALS.len()]
}

/// Solves `length` independent problems. `widths` are the numbers of velocities, contact impulses and constraint impulses.
pub(crate) fn fill(
    length: usize,
    widths: [usize; 3],
    is_stopped: &AtomicBool,
    solve: impl Fn(usize) -> Result<Solved, WireError> + Sync,
) -> Result<Filled, WireError> {
    fill_columns(
        length,
        widths_of(widths),
        is_stopped,
        |i, columns, status| write(&solve(i)?, columns, status),
    )
}

/// Fills the rows of a table independently: `write` fills the entries of one row and its status.
pub(crate) fn fill_columns<const C: usize>(
    length: usize,
    widths: [usize; C],
    is_stopped: &AtomicBool,
    write: impl Fn(usize, [&mut [f64]; C], &mut [u8]) -> Result<(), WireError> + Sync,
) -> Result<Filled, WireError> {
    let too_large = || {
        let message = format!("velocities: {length} rows are too many");
        WireError::new("too-large", message)
    };
    let mut columns = [const { Vec::new() }; C];
    for (column, width) in columns.iter_mut().zip(widths) {
        *column = vec![0.0; length.checked_mul(width).ok_or_else(too_large)?];
    }
    let mut status = vec![0; length];
    let errors = Mutex::new(Vec::new());
    let rows = Slots {
        first: 0,
        columns: columns.each_mut().map(Vec::as_mut_slice),
        status: &mut status,
    };
    let work = |row: Slots<'_, C>| {
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let i = row.first;
        let Slots {
            columns, status, ..
        } = row;
        if let Err(error) = isolated(|| write(i, columns, status))
            && let Ok(mut errors) = errors.lock()
        {
            errors.push((i, error));
        }
    };
    rows.share(&widths, grain(length), &work);
    let mut errors = errors.into_inner().unwrap_or_default();
    errors.sort_by_key(|(i, _)| *i);
    for (i, _) in &errors {
        for (column, width) in columns.iter_mut().zip(widths) {
            column[i * width..(i + 1) * width].fill(f64::NAN);
        }
        status[*i] = FAILED;
    }
    Ok(Filled {
        columns: Vec::from(columns),
        status,
        errors,
        reasons: Vec::new(),
    })
}

/// Returns the smallest number of rows that is worth passing to another thread.
fn grain(length: usize) -> usize {
    (length / (8 * rayon::current_num_threads())).clamp(1, 64)
}

/// Mutable entries of consecutive rows.
struct Slots<'a, const C: usize> {
    first: usize,
    columns: [&'a mut [f64]; C],
    status: &'a mut [u8],
}

impl<const C: usize> Slots<'_, C> {
    /// Calls `work` for every row, on the threads of the pool.
    fn share(self, widths: &[usize; C], grain: usize, work: &(impl Fn(Slots<'_, C>) + Sync)) {
        let length = self.status.len();
        if length > grain {
            let (low, high) = self.split(length / 2, widths);
            rayon::join(
                || low.share(widths, grain, work),
                || high.share(widths, grain, work),
            );
            return;
        }
        let mut rest = self;
        while !rest.status.is_empty() {
            let (row, others) = rest.split(1, widths);
            work(row);
            rest = others;
        }
    }
}

impl<'a, const C: usize> Slots<'a, C> {
    fn split(self, length: usize, widths: &[usize; C]) -> (Slots<'a, C>, Slots<'a, C>) {
        let (low, high) = self.status.split_at_mut(length);
        let mut lows: [&mut [f64]; C] = std::array::from_fn(|_| Default::default());
        let mut highs: [&mut [f64]; C] = std::array::from_fn(|_| Default::default());
        for (k, column) in self.columns.into_iter().enumerate() {
            (lows[k], highs[k]) = column.split_at_mut(length * widths[k]);
        }
        let first = self.first;
        (
            Slots {
                first,
                columns: lows,
                status: low,
            },
            Slots {
                first: first + length,
                columns: highs,
                status: high,
            },
        )
    }
}

/// Copies numbers to their entries in a row; an error if their count differs.
pub(crate) fn put(place: &mut [f64], numbers: &[f64]) -> Result<(), WireError> {
    if numbers.len() != place.len() {
        let message = "the answer has no preferred outcome";
        return Err(WireError::new("no-outcome", message));
    }
    place.copy_from_slice(numbers);
    Ok(())
}

fn code(status: &str) -> u8 {
    let place = STATUS.iter().position(|known| known.name() == status);
    place.map_or(FAILED, |place| place as u8)
}

/// Writes one outcome to the entries of its row.
pub(crate) fn write_outcome(
    single: &Single,
    columns: [&mut [f64]; COLUMNS],
    status: &mut [u8],
) -> Result<(), WireError> {
    let [
        velocity_plus,
        impulses,
        constraint_impulses,
        energies,
        residuals,
    ] = columns;
    let outcome = single.outcome();
    let audit = &outcome.audit;
    put(velocity_plus, outcome.velocity_plus.0.as_slice())?;
    put(impulses, outcome.impulses.as_slice())?;
    put(constraint_impulses, outcome.constraint_impulses.as_slice())?;
    put(energies, &[audit.energy_minus_j, audit.energy_plus_j])?;
    let found = [
        audit.momentum_residual,
        audit.penetration_residual,
        audit.adhesion_residual,
        audit.friction_residual,
        audit.constraint_residual,
    ];
    put(residuals, &found)?;
    status.fill(code(outcome.status.name()));
    Ok(())
}

/// Writes a result to the entries of its row.
fn write(
    solved: &Solved,
    columns: [&mut [f64]; COLUMNS],
    status: &mut [u8],
) -> Result<(), WireError> {
    let fields = match solved {
        Solved::One(single) => return write_outcome(single, columns, status),
        Solved::Set(fields) => fields,
    };
    let [
        velocity_plus,
        impulses,
        constraint_impulses,
        energies,
        residuals,
    ] = columns;
    let list = |key: &str| {
        let mut numbers = Vec::new();
        if let Some(value) = fields.get(key) {
            flatten(value, &mut numbers);
        }
        numbers
    };
    let number = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or(f64::NAN);
    put(velocity_plus, &list("velocity_plus"))?;
    put(impulses, &list("impulses"))?;
    put(constraint_impulses, &list("constraint_impulses"))?;
    put(
        energies,
        &["energy_minus_j", "energy_plus_j"].map(|key| number(fields.get(key))),
    )?;
    let audit = fields.get("audit");
    let found = RESIDUALS.map(|key| number(audit.and_then(|audit| audit.get(key))));
    put(residuals, &found)?;
    let found = fields.get("status").and_then(Value::as_str);
    status.fill(code(found.unwrap_or_default()));
    Ok(())
}

/// Returns the table, or an error in the options of the law, which is no fault of a row. The error is found in a row, and again at
/// `contacts` for a velocity that approaches the first of them: some ranges depend on the row.
pub(crate) fn without_option_faults(
    filled: Filled,
    request: &Request,
    contacts: &ContactSet,
) -> Result<Filled, WireError> {
    let is_of_options = |error: &WireError| error.message.starts_with("options");
    let is_unsolved = filled.errors.len() == filled.status.len();
    let mut errors = filled.errors.iter().map(|(_, error)| error);
    let in_row = errors.find(|error| is_of_options(error));
    if in_row.is_none() && !is_unsolved {
        return Ok(filled);
    }
    let first = contacts.contacts().first();
    let probed = first.and_then(|contact| {
        let velocity = -&contact.normal.0;
        let problem = pose(contacts, velocity.as_slice());
        problem.and_then(|problem| solved(request, &problem)).err()
    });
    let of_all = in_row.filter(|_| is_unsolved).cloned();
    match probed.filter(is_of_options).or(of_all) {
        Some(fault) => Err(fault),
        None => Ok(filled),
    }
}

/// Contact of `count` rows at a unit mass.
fn unit_contact(count: usize) -> Result<ContactSet, WireError> {
    let axis = |k: usize| (0..3).map(|i| f64::from(u8::from(i == k))).collect();
    let axes: Vec<Vec<f64>> = (0..3).map(axis).collect();
    let friction = if count > 1 { 0.5 } else { 0.0 };
    let inputs = Inputs {
        contacts: contacts_of(&axes, &[count.min(3)], &[friction], &[0.0]),
        mass_matrix: axes,
        constraints: Vec::new(),
    };
    inputs.contact_set()
}

pub(crate) fn to_python(py: Python<'_>, filled: Filled) -> PyResult<Table<'_>> {
    let errors = filled.errors.iter();
    let errors: PyResult<Vec<_>> = errors
        .map(|(i, error)| Ok((*i, exception(py, &of_row(*i, error))?)))
        .collect();
    Ok((
        filled
            .columns
            .into_iter()
            .map(|column| PyArray1::from_vec(py, column))
            .collect(),
        PyArray1::from_vec(py, filled.status),
        errors?,
        filled.reasons,
    ))
}

/// Resolves one impact for each of N configurations: mass matrices (N × n × n), contact rows (N × r × n) and velocities
/// (N × n). Each contact has equally many rows in all configurations. Coefficients are common to all configurations (one per
/// contact) or separate (N × contacts). `asked` is the request for derivatives, if any.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (mass_matrices, jacobians, velocities, law, counts, friction, restitution, options, threads, asked=None, cotangents=None))]
pub(crate) fn resolve_many<'py>(
    py: Python<'py>,
    mass_matrices: PyReadonlyArray3<'_, f64>,
    jacobians: PyReadonlyArray3<'_, f64>,
    velocities: PyReadonlyArray2<'_, f64>,
    law: String,
    counts: Vec<usize>,
    friction: PyReadonlyArray1<'_, f64>,
    restitution: PyReadonlyArray1<'_, f64>,
    options: &Bound<'_, PyDict>,
    threads: usize,
    asked: Option<Asked>,
    cotangents: Option<PyReadonlyArray2<'_, f64>>,
) -> PyResult<Table<'py>> {
    let options = object(Some(options), "options")?;
    let [r, n] = [1, 2].map(|axis| jacobians.shape().get(axis).copied().unwrap_or(0));
    let rows = Rows::new(velocities.as_slice()?.to_vec(), n, velocities.shape());
    let masses = mass_matrices.as_slice()?.to_vec();
    let jacobians = jacobians.as_slice()?.to_vec();
    let [friction, restitution] =
        [friction, restitution].map(|all| all.as_slice().map(<[f64]>::to_vec));
    let (friction, restitution) = (friction?, restitution?);
    let cotangents = cotangents
        .map(|all| all.as_slice().map(<[f64]>::to_vec))
        .transpose()?;
    let table = interruptible(py, threads, move |is_stopped| {
        let request = Request::new(&law, &options)?.checked()?;
        let c = counts.len();
        let of_row = |all: &[f64], i: usize| {
            let first = if all.len() == c { 0 } else { i * c };
            all.get(first..first + c).unwrap_or_default().to_vec()
        };
        let problem = |i: usize| {
            let mass = masses.get(i * n * n..(i + 1) * n * n).unwrap_or_default();
            let jacobian = jacobians
                .get(i * r * n..(i + 1) * r * n)
                .unwrap_or_default();
            let inputs = Inputs {
                mass_matrix: rows_of(mass, n),
                contacts: contacts_of(
                    &rows_of(jacobian, n),
                    &counts,
                    &of_row(&friction, i),
                    &of_row(&restitution, i),
                ),
                constraints: Vec::new(),
            };
            pose(&inputs.contact_set()?, rows.row(i)?)
        };
        let filled = match asked {
            None => fill(rows.len(), [n, r, 0], is_stopped, |i| {
                solved(&request, &problem(i)?)
            }),
            Some(asked) => {
                let plan = Plan::new(&request, asked, [n, r, 0], c, cotangents, rows.len())?;
                plan.fill(is_stopped, |i, places| plan.write(&problem(i)?, i, places))
            }
        }?;
        let Some(count) = counts.iter().max().filter(|_| !options.is_empty()) else {
            return Ok(filled);
        };
        without_option_faults(filled, &request, &unit_contact(*count)?)
    })?;
    to_python(py, table)
}

/// Answers by row, and errors with the index of the row.
type Judged<'py> = (Vec<Option<Answer>>, Vec<(usize, Bound<'py, PyAny>)>);

/// Judges one step for each row of velocities, each at its own configuration, or all at a common one.
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
    let shared: Vec<ContactSet> = impacts
        .iter()
        .map(|impact| impact.contacts.clone())
        .collect();
    let before = copied(&velocities)?;
    let after = copied(&velocities_plus)?;
    let free = free.as_deref().map(copied).transpose()?;
    let judged = interruptible(py, threads, move |is_stopped| {
        let request = JudgeRequest::new(law.as_deref(), &options)?;
        let one = |i: usize| -> Result<Map<String, Value>, WireError> {
            let contacts = shared.get(i).or(shared.first());
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
            Ok(request.answer(contacts.ok_or_else(lost)?, &claim)?.fields)
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
                errors.push((i, exception(py, &of_row(i, &error))?));
            }
        }
    }
    Ok((answers, errors))
}

fn copied(arrays: &[PyReadonlyArray1<'_, f64>]) -> PyResult<Vec<Vec<f64>>> {
    let copied = arrays.iter().map(|array| Ok(array.as_slice()?.to_vec()));
    copied.collect()
}

/// Returns an error of a batch whose index is the row.
fn of_row(i: usize, error: &WireError) -> WireError {
    let mut error = error.clone();
    error.index = Some(i);
    error
}

/// Returns the row `i` of `name`; an error if a number is not finite.
fn finite<'r>(name: &str, i: usize, row: &'r [f64]) -> Result<&'r [f64], WireError> {
    match row.iter().position(|x| !x.is_finite()) {
        None => Ok(row),
        Some(j) => {
            let place = format!("{name}[{i}, {j}]: {} is not finite", row[j]);
            Err(WireError::new("non-finite", place))
        }
    }
}
