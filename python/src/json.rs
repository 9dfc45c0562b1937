//! Conversion of Python objects to JSON values, and back.

use crate::error::{invalid, raised};
use carom_wire::{MAX_NESTING, WireError};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Converts an object to JSON: numbers, text, lists, dictionaries, None, and NumPy objects through
/// their method `tolist`. `place` is the name of the object in errors.
pub(crate) fn from_python(object: &Bound<'_, PyAny>, place: &str) -> PyResult<Value> {
    read(object, place, 0)
}

/// Converts a dictionary, for example of options, to a JSON object.
pub(crate) fn object(
    dict: Option<&Bound<'_, PyDict>>,
    place: &str,
) -> PyResult<Map<String, Value>> {
    dict.map_or_else(|| Ok(Map::new()), |dict| read_dict(dict, place, 0))
}

fn read(object: &Bound<'_, PyAny>, place: &str, depth: usize) -> PyResult<Value> {
    let fault = |error: &WireError| raised(object.py(), error);
    if depth > MAX_NESTING {
        let message = format!("{place}: more than {MAX_NESTING} levels");
        return Err(fault(&WireError::new("too-large", message)));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = number.value();
        return Number::from_f64(number).map(Value::Number).ok_or_else(|| {
            fault(&WireError::new(
                "non-finite",
                format!("{place}: {number} is not finite"),
            ))
        });
    }
    if object.is_instance_of::<PyInt>() {
        if let Ok(number) = object.extract::<i64>() {
            return Ok(number.into());
        }
        return object
            .extract::<u64>()
            .map(Value::from)
            .map_err(|_| fault(&invalid(format!("{place}: an integer beyond 64 bits"))));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(text.to_str()?.into());
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return Ok(Value::Object(read_dict(dict, place, depth)?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let mut items = Vec::with_capacity(object.len()?);
        for (index, item) in object.try_iter()?.enumerate() {
            items.push(read(&item?, &format!("{place}[{index}]"), depth + 1)?);
        }
        return Ok(Value::Array(items));
    }
    if object.hasattr("tolist")? {
        return read(&object.call_method0("tolist")?, place, depth + 1);
    }
    let kind = object.get_type();
    let message = format!("{place}: a {} has no form in JSON", kind.name()?);
    Err(fault(&invalid(message)))
}

fn read_dict(dict: &Bound<'_, PyDict>, place: &str, depth: usize) -> PyResult<Map<String, Value>> {
    let mut fields = Map::new();
    for (key, value) in dict {
        let Ok(key) = key.cast::<PyString>() else {
            let error = invalid(format!("{place}: keys must be text"));
            return Err(raised(dict.py(), &error));
        };
        let key = key.to_str()?;
        let value = read(&value, &format!("{place}.{key}"), depth + 1)?;
        fields.insert(key.to_owned(), value);
    }
    Ok(fields)
}

/// Converts a JSON value to a Python object.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_bound_py_any(py),
            (_, Some(number)) => number.into_bound_py_any(py),
            _ => number.as_f64().unwrap_or(f64::NAN).into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_bound_py_any(py)
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_bound_py_any(py)
        }
    }
}

/// Appends the numbers of a value, nested lists in order; null becomes NaN. Returns false if the value
/// contains anything else.
pub(crate) fn flatten(value: &Value, numbers: &mut Vec<f64>) -> bool {
    match value {
        Value::Null => numbers.push(f64::NAN),
        Value::Number(number) => numbers.push(number.as_f64().unwrap_or(f64::NAN)),
        Value::Array(items) => return items.iter().all(|item| flatten(item, numbers)),
        _ => return false,
    }
    true
}
