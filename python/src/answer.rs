//! Answer to one problem: its fields as in the command line's JSON, and its numbers as arrays.

use crate::error::{invalid, raised};
use crate::json::{flatten, from_python, to_python};
use carom::impact::ContactSet;
use carom_wire::{Request, Single};
use numpy::PyArray1;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// Fields of an answer except the `id`.
#[pyclass(frozen, module = "carom._native")]
pub(crate) struct Answer {
    outcome: Option<Outcome>,
    written: OnceLock<Map<String, Value>>,
}

/// One outcome that is converted to JSON only if more than its numbers is read: the conversion costs more than the impact.
pub(crate) struct Outcome {
    pub(crate) contacts: ContactSet,
    pub(crate) request: Request,
    pub(crate) single: Box<Single>,
}

impl Answer {
    pub(crate) fn new(fields: Map<String, Value>) -> Self {
        Self {
            outcome: None,
            written: OnceLock::from(fields),
        }
    }

    pub(crate) fn of_outcome(outcome: Outcome) -> Self {
        Self {
            outcome: Some(outcome),
            written: OnceLock::new(),
        }
    }

    fn fields(&self) -> &Map<String, Value> {
        self.written.get_or_init(|| match &self.outcome {
            Some(Outcome {
                contacts,
                request,
                single,
            }) => request.write_one(contacts, single),
            None => Map::new(),
        })
    }

    /// Returns numbers of an outcome, by their key in the JSON form, without conversion to JSON.
    fn unwritten(&self, key: &str) -> Option<&[f64]> {
        let outcome = self.outcome.as_ref()?.single.outcome();
        match key {
            "velocity_plus" => Some(outcome.velocity_plus.0.as_slice()),
            "impulses" => Some(outcome.impulses.as_slice()),
            _ => None,
        }
    }

    fn items(&self, list: &str) -> &[Value] {
        match self.fields().get(list) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }
}

#[pymethods]
impl Answer {
    /// Parses an answer of the command line; its `id` is dropped.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str) -> PyResult<Self> {
        let fault = |message: String| raised(py, &invalid(message));
        match serde_json::from_str(text) {
            Ok(Value::Object(mut fields)) => {
                fields.shift_remove("id");
                Ok(Self::new(fields))
            }
            Ok(_) => Err(fault("text: no JSON object".to_owned())),
            Err(error) => Err(fault(format!("text: {error}"))),
        }
    }

    /// Returns the keys in output order.
    fn keys(&self) -> Vec<&str> {
        self.fields().keys().map(String::as_str).collect()
    }

    fn __contains__(&self, key: &str) -> bool {
        self.fields().contains_key(key)
    }

    /// Returns the value under a key as Python's own types; None if the key is absent.
    fn get<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.fields().get(key).unwrap_or(&Value::Null))
    }

    /// Returns the numbers under a key, flattened to one dimension; None if the value contains anything but numbers.
    fn numbers<'py>(&self, py: Python<'py>, key: &str) -> Option<Bound<'py, PyArray1<f64>>> {
        if let Some(numbers) = self.unwritten(key) {
            return Some(PyArray1::from_slice(py, numbers));
        }
        let value = self.fields().get(key)?;
        let mut numbers = Vec::new();
        flatten(value, &mut numbers).then(|| PyArray1::from_vec(py, numbers))
    }

    /// Returns the length of a list.
    fn length(&self, list: &str) -> usize {
        self.items(list).len()
    }

    /// Collects the numbers under a key from every object of a list, one after another.
    fn column<'py>(
        &self,
        py: Python<'py>,
        list: &str,
        key: &str,
    ) -> Option<Bound<'py, PyArray1<f64>>> {
        let mut numbers = Vec::new();
        let is_numeric = self.items(list).iter().all(|item| {
            item.get(key)
                .is_some_and(|value| flatten(value, &mut numbers))
        });
        is_numeric.then(|| PyArray1::from_vec(py, numbers))
    }

    /// Returns an object of a list as a separate answer.
    fn child(&self, list: &str, index: usize) -> Option<Self> {
        match self.items(list).get(index) {
            Some(Value::Object(fields)) => Some(Self::new(fields.clone())),
            _ => None,
        }
    }

    /// Returns the index of the first object of a list whose values under these keys equal those of the answer.
    fn position(&self, list: &str, keys: Vec<String>) -> Option<usize> {
        let fields = self.fields();
        let is_same = |item: &Value| {
            let mut keys = keys.iter();
            keys.all(|key| fields.contains_key(key) && item.get(key) == fields.get(key))
        };
        self.items(list).iter().position(is_same)
    }

    /// Writes the answer as the command line does, without the line feed.
    #[pyo3(signature = (id=None))]
    fn text(&self, id: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let id = id.map_or(Ok(Value::Null), |id| from_python(id, "id"))?;
        let mut fields = self.fields().clone();
        fields.shift_insert(0, "id".to_owned(), id);
        Ok(Value::Object(fields).to_string())
    }
}
