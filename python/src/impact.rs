//! A configuration: mass matrix, contacts and constraints, factored once.

use crate::answer::{Answer, Outcome};
use crate::batch::{self, OfThreads, Rows};
use crate::error::{isolated, raised};
use crate::gradient::{Asked, Plan};
use crate::json::{from_python, object};
use crate::pool::{interruptible, unwind_if};
use carom::impact::{ContactSet, uniqueness};
use carom::metric::{Covector, Tangent};
use carom::nalgebra::{DMatrix, DVector};
use carom_wire::{
    Claim, ContactInput, JudgeRequest, Request, Solved, WireError, contact_set, metric, pose,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

/// Inputs of a configuration, unchanged.
pub(crate) struct Inputs {
    pub(crate) mass_matrix: Vec<Vec<f64>>,
    pub(crate) contacts: Vec<ContactInput>,
    pub(crate) constraints: Vec<Vec<f64>>,
}

impl Inputs {
    /// Builds the metric and the contact set, with all factorizations.
    pub(crate) fn contact_set(&self) -> Result<ContactSet, WireError> {
        contact_set(
            metric(&self.mass_matrix)?,
            &self.contacts,
            &self.constraints,
        )
    }
}

/// Splits numbers into the rows of a matrix.
pub(crate) fn rows_of(numbers: &[f64], width: usize) -> Vec<Vec<f64>> {
    numbers.chunks(width.max(1)).map(<[f64]>::to_vec).collect()
}

/// Groups rows into contacts; the first row of each contact is its normal.
pub(crate) fn contacts_of(
    rows: &[Vec<f64>],
    counts: &[usize],
    friction: &[f64],
    restitution: &[f64],
) -> Vec<ContactInput> {
    let mut rows = rows.iter().cloned();
    let coefficients = friction.iter().zip(restitution);
    let contacts = counts.iter().zip(coefficients);
    contacts
        .filter_map(|(&count, (&friction, &restitution))| {
            Some(ContactInput {
                normal: rows.next()?,
                tangents: rows.by_ref().take(count.saturating_sub(1)).collect(),
                friction,
                restitution,
                ..ContactInput::default()
            })
        })
        .collect()
}

/// A configuration, reusable for any number of velocities.
#[pyclass(frozen, module = "carom._native")]
pub(crate) struct Impact {
    pub(crate) contacts: ContactSet,
    inputs: Inputs,
}

fn matrix<'py>(py: Python<'py>, matrix: &DMatrix<f64>) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, matrix.transpose().as_slice().to_vec())
}

#[pymethods]
impl Impact {
    /// Creates a configuration from matrices in C order; `counts` are the numbers of rows of each contact.
    #[new]
    fn new(
        py: Python<'_>,
        mass_matrix: PyReadonlyArray2<'_, f64>,
        rows: PyReadonlyArray2<'_, f64>,
        counts: Vec<usize>,
        friction: Vec<f64>,
        restitution: Vec<f64>,
        constraints: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Self> {
        let n = mass_matrix.shape().get(1).copied().unwrap_or(0);
        let rows = rows_of(rows.as_slice()?, n);
        let inputs = Inputs {
            mass_matrix: rows_of(mass_matrix.as_slice()?, n),
            contacts: contacts_of(&rows, &counts, &friction, &restitution),
            constraints: rows_of(constraints.as_slice()?, n),
        };
        let built = py.detach(|| isolated(|| inputs.contact_set()));
        let contacts = built.map_err(|error| raised(py, &error))?;
        Ok(Self { contacts, inputs })
    }

    /// Returns the Delassus matrix $G = J M^{-1} J^T$ of all contact rows $J$, row by row.
    fn delassus<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        matrix(py, &self.contacts.delassus())
    }

    /// Returns the cosines between the contact normals in the kinetic metric, row by row.
    fn cosines<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        matrix(py, &self.contacts.cosines())
    }

    /// Returns pairs of contacts with their measures of uniqueness, and true if the order of impacts does not matter.
    #[allow(clippy::type_complexity)]
    fn uniqueness(&self) -> (Vec<(usize, usize, f64, f64, f64)>, Option<bool>) {
        let found = uniqueness(&self.contacts);
        let pairs = found.pairs.iter();
        let pairs = pairs
            .map(|p| {
                (
                    p.first,
                    p.second,
                    p.exponent,
                    p.distance,
                    p.worst_indeterminacy,
                )
            })
            .collect();
        (pairs, found.order_independent)
    }

    /// Returns the velocity, allowed by the constraints, that is nearest in the kinetic metric.
    fn project<'py>(
        &self,
        py: Python<'py>,
        velocity: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let velocity = Tangent::from_slice(velocity.as_slice()?);
        let projected = project(&self.contacts, &velocity);
        let projected = projected.map_err(|error| raised(py, &error))?;
        Ok(PyArray1::from_vec(py, projected))
    }

    /// Writes the problem as a JSON line for the command line.
    #[pyo3(signature = (velocity, law, id, others, options))]
    fn problem(
        &self,
        velocity: PyReadonlyArray1<'_, f64>,
        law: Option<&str>,
        id: &Bound<'_, PyAny>,
        others: &Bound<'_, PyDict>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<String> {
        let contacts = self.inputs.contacts.iter().map(|contact| {
            json!({
                "normal": contact.normal,
                "tangents": contact.tangents,
                "friction": contact.friction,
                "restitution": contact.restitution,
            })
        });
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("id", from_python(id, "id")?);
        if let Some(law) = law {
            put("law", law.into());
        }
        put("mass_matrix", json!(self.inputs.mass_matrix));
        put("velocity", json!(velocity.as_slice()?));
        for (key, value) in object(Some(others), "")? {
            put(&key, value);
        }
        put("contacts", contacts.collect());
        if !self.inputs.constraints.is_empty() {
            put("constraints", json!(self.inputs.constraints));
        }
        let options = object(Some(options), "options")?;
        if !options.is_empty() {
            put("options", Value::Object(options));
        }
        Ok(Value::Object(fields).to_string())
    }

    /// Resolves an impact. If `threads` is given, the work runs on a pool, so that Ctrl-C can end it.
    #[pyo3(signature = (velocity, law, options=None, derivative=None, threads=None))]
    fn resolve(
        &self,
        py: Python<'_>,
        velocity: PyReadonlyArray1<'_, f64>,
        law: &str,
        options: Option<&Bound<'_, PyDict>>,
        derivative: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Answer> {
        let options = object(options, "options")?;
        let derivative =
            derivative.map_or(Ok(Value::Null), |asked| from_python(asked, "derivative"))?;
        let velocity = velocity.as_slice()?.to_vec();
        let law = law.to_owned();
        let contacts = self.contacts.clone();
        let work = move |is_stopped: &AtomicBool| {
            let request = Request::new(&law, &options)?.differentiated(&derivative)?;
            let problem = pose(&contacts, &velocity)?;
            let solved = request.solve(&problem, &|_, _| unwind_if(is_stopped))?;
            Ok(match solved {
                Solved::One(single) => Answer::of_outcome(Outcome {
                    contacts,
                    request,
                    single,
                }),
                set => Answer::new(request.write(&contacts, set)),
            })
        };
        match threads {
            None => py
                .detach(|| isolated(|| work(&AtomicBool::new(false))))
                .map_err(|error| raised(py, &error)),
            Some(threads) => interruptible(py, threads, move |is_stopped| work(is_stopped)),
        }
    }

    /// Resolves an impact for each row of velocities (N × n), as columns of numbers; `asked` is the request for derivatives.
    #[pyo3(signature = (velocities, law, options, threads, asked=None, cotangents=None))]
    #[allow(clippy::too_many_arguments)]
    fn resolve_batch<'py>(
        &self,
        py: Python<'py>,
        velocities: PyReadonlyArray2<'_, f64>,
        law: &str,
        options: &Bound<'_, PyDict>,
        threads: usize,
        asked: Option<Asked>,
        cotangents: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<batch::Table<'py>> {
        let options = object(Some(options), "options")?;
        let law = law.to_owned();
        let n = self.contacts.metric().dim();
        let rows = Rows::new(velocities.as_slice()?.to_vec(), n, velocities.shape());
        let cotangents = cotangents
            .map(|all| all.as_slice().map(<[f64]>::to_vec))
            .transpose()?;
        let contacts = self.contacts.clone();
        let widths = [n, contacts.n_rows(), contacts.constraint_forms().len()];
        let table = interruptible(py, threads, move |is_stopped| {
            let request = Request::new(&law, &options)?.checked()?;
            let handles = OfThreads::new(&contacts);
            let problem = |i: usize| pose(handles.own(), rows.row(i)?);
            let filled = match asked {
                None => batch::fill(rows.len(), widths, is_stopped, |i| {
                    batch::solved(&request, &problem(i)?)
                }),
                Some(asked) => {
                    let c = contacts.len();
                    let plan = Plan::new(&request, asked, widths, c, cotangents, rows.len())?;
                    plan.fill(is_stopped, |i, places| plan.write(&problem(i)?, i, places))
                }
            }?;
            if options.is_empty() {
                return Ok(filled);
            }
            batch::without_option_faults(filled, &request, &contacts)
        })?;
        batch::to_python(py, table)
    }

    /// Solves all rows of velocities (N × n) one after another and counts the solved ones without keeping results.
    /// It measures, for comparison, the cost of a loop in Rust.
    #[pyo3(name = "loop")]
    fn solve_in_turn(
        &self,
        py: Python<'_>,
        velocities: PyReadonlyArray2<'_, f64>,
        law: &str,
    ) -> PyResult<usize> {
        let velocities = velocities.as_slice()?;
        let n = self.contacts.metric().dim();
        let counted = py.detach(|| {
            isolated(|| {
                let request = Request::new(law, &Map::new())?;
                let mut solved = 0;
                for velocity in velocities.chunks(n) {
                    let problem = pose(&self.contacts, velocity)?;
                    solved += usize::from(black_box(request.solve(&problem, &|_, _| {})).is_ok());
                }
                Ok(solved)
            })
        });
        counted.map_err(|error| raised(py, &error))
    }

    /// Judges the velocity after the impact.
    #[pyo3(signature = (velocity, velocity_plus, free, impulse, law, options))]
    #[allow(clippy::too_many_arguments)]
    fn judge(
        &self,
        py: Python<'_>,
        velocity: PyReadonlyArray1<'_, f64>,
        velocity_plus: PyReadonlyArray1<'_, f64>,
        free: Option<PyReadonlyArray1<'_, f64>>,
        impulse: Option<PyReadonlyArray1<'_, f64>>,
        law: Option<String>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Answer> {
        let options = object(Some(options), "options")?;
        let velocity = velocity.as_slice()?.to_vec();
        let velocity_plus = velocity_plus.as_slice()?.to_vec();
        let free = free
            .map(|array| array.as_slice().map(<[f64]>::to_vec))
            .transpose()?;
        let impulse = impulse
            .map(|array| array.as_slice().map(<[f64]>::to_vec))
            .transpose()?;
        let contacts = self.contacts.clone();
        let answer = interruptible(py, 0, move |_| {
            let request = JudgeRequest::new(law.as_deref(), &options)?;
            let claim = Claim {
                velocity: &velocity,
                velocity_plus: &velocity_plus,
                velocity_free: free.as_deref(),
                external_impulse: impulse.as_deref(),
            };
            request.answer(&contacts, &claim)
        })?;
        Ok(Answer::new(answer.fields))
    }
}

/// Computes $v - M^{-1}A^T(AM^{-1}A^T)^{-1}Av$ in whitened coordinates: subtracts from the velocity its part along an
/// orthonormal basis of the constraint forms $A$. The second pass removes the rounding errors of the first.
fn project(contacts: &ContactSet, velocity: &Tangent) -> Result<Vec<f64>, WireError> {
    let fault = |error: carom::metric::MetricError| {
        WireError::new(error.kind(), format!("velocity: {error}"))
    };
    let metric = contacts.metric();
    let forms = contacts.constraint_forms();
    if forms.is_empty() {
        return Ok(velocity.0.as_slice().to_vec());
    }
    let whitened: Result<Vec<DVector<f64>>, _> = forms
        .iter()
        .map(|form: &Covector| metric.whiten(form))
        .collect();
    let basis = DMatrix::from_columns(&whitened.map_err(fault)?).qr().q();
    let mut z = metric.whiten_velocity(velocity).map_err(fault)?;
    for _ in 0..2 {
        let along = &basis * basis.tr_mul(&z);
        z -= along;
    }
    metric.unwhiten_velocity_in_place(z.as_mut_slice());
    Ok(z.as_slice().to_vec())
}
