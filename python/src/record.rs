//! Scenarios and their records.

use crate::error::{invalid, raised};
use crate::json::{from_python, to_python};
use crate::pool::{interruptible, unwind_if};
use carom::report::export::{self, Format};
use carom::scenarios::{
    self as named, LeftOut, Overrides, Progress, SCENARIOS, Scenario, ScenarioError,
};
use carom_cli::Meter;
use carom_wire::WireError;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Largest size of a run in a notebook, which keeps it for ever (bytes).
const MOST_OF_NOTEBOOK: usize = 2_000_000;

/// Record of a run.
#[pyclass(frozen, module = "carom._native")]
pub(crate) struct Record {
    record: carom::report::Record,
}

pub(crate) fn scenario(py: Python<'_>, name: &str) -> PyResult<&'static Scenario> {
    named::scenario(name).ok_or_else(|| {
        let names = SCENARIOS.iter().map(|scenario| scenario.name);
        let hint = carom_wire::nearest_name(name, names)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let message = format!("name: unknown scenario `{name}`{hint}");
        raised(py, &WireError::new("unknown-scenario", message))
    })
}

/// Lists every scenario with the contents of `carom list --json`.
#[pyfunction]
pub(crate) fn scenarios(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(
        py,
        &SCENARIOS.iter().map(carom_cli::scenario_json).collect(),
    )
}

/// Returns the default configuration of a scenario.
#[pyfunction]
pub(crate) fn show(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    Ok(scenario(py, name)?.default_toml)
}

/// Collects the overrides of a scenario: a configuration as text or a dictionary, values by dotted key, and a seed.
pub(crate) fn overrides(
    py: Python<'_>,
    scenario: &Scenario,
    config: &Bound<'_, PyAny>,
    set: &Bound<'_, PyDict>,
    seed: Option<u64>,
) -> PyResult<Overrides> {
    let fault = |message: String| raised(py, &invalid(message));
    let toml = match config.extract::<String>() {
        Ok(text) => text,
        Err(_) if config.is_none() => String::new(),
        Err(_) => {
            let value = from_python(config, "config")?;
            toml::to_string(&value).map_err(|error| fault(format!("config: {error}")))?
        }
    };
    let mut assignments = Vec::new();
    if let Some(seed) = seed {
        if !scenario
            .default_toml
            .lines()
            .any(|line| line.starts_with("seed "))
        {
            let name = scenario.name;
            return Err(fault(format!("seed: `{name}` draws no random numbers")));
        }
        assignments.push(format!("seed={seed}"));
    }
    for (key, value) in set {
        let key: String = key.extract()?;
        let value = from_python(&value, &key)?;
        let value = toml::Value::try_from(&value).map_err(|e| fault(format!("set: {key}: {e}")))?;
        assignments.push(format!("{key}={value}"));
    }
    Ok(Overrides {
        toml,
        assignments,
        threads: 1,
        ..Overrides::default()
    })
}

/// Creates a progress callback that shows the progress and ends the work if it was stopped.
fn stoppable(meter: &Meter, is_stopped: &Arc<AtomicBool>) -> Progress {
    let is_stopped = Arc::clone(is_stopped);
    meter.observer(move || unwind_if(&is_stopped))
}

pub(crate) fn fault_of(name: &str, error: &ScenarioError) -> WireError {
    let kind = if error.is_configuration() {
        "invalid-configuration"
    } else {
        "not-solved"
    };
    let text = carom_cli::with_suggestion(&error.to_string());
    WireError::new(kind, format!("{name}: {text}"))
}

/// Numbers of bodies, joints and planes of a world, its duration (s) and its laws.
type Contents = (usize, usize, usize, f64, String);

/// Checks keys and types of a world; with `reads` also its robot. Returns the contents of the world if it was read.
#[pyfunction]
pub(crate) fn world(
    py: Python<'_>,
    config: &Bound<'_, PyAny>,
    reads: bool,
) -> PyResult<Option<Contents>> {
    let given = overrides(py, scenario(py, "world")?, config, &PyDict::new(py), None)?;
    let found = if reads {
        named::Contents::read(&given).map(Some)
    } else {
        named::Contents::check(&given).map(|()| None)
    };
    let found = found.map_err(|error| raised(py, &fault_of("world", &error)))?;
    Ok(found.map(|c| (c.bodies, c.joints, c.planes, c.duration, c.laws)))
}

/// Sorts the parts of a model that an importer leaves out: true for each that another part replaces. Parts that would be lost and
/// that `allow` does not name are an error.
#[pyfunction]
pub(crate) fn sort_left_out(
    py: Python<'_>,
    parts: Vec<LeftOut>,
    allow: Vec<String>,
) -> PyResult<Vec<bool>> {
    let sorted = carom::scenarios::sort_left_out(&parts, &allow);
    sorted.map_err(|message| {
        let fault = WireError::new("invalid-input", format!("model: {message}"));
        raised(py, &fault)
    })
}

/// Runs a scenario with a configuration as text or a dictionary, values by dotted key, and a seed.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    name: &str,
    config: &Bound<'_, PyAny>,
    set: &Bound<'_, PyDict>,
    seed: Option<u64>,
) -> PyResult<Record> {
    let scenario = scenario(py, name)?;
    let given = overrides(py, scenario, config, set, seed)?;
    let record = interruptible(py, 0, move |is_stopped| {
        let meter = Meter::new(scenario.name, false);
        let given = Overrides {
            progress: stoppable(&meter, is_stopped),
            ..given
        };
        let record = scenario.run(&given);
        record.map_err(|error| fault_of(scenario.name, &error))
    })?;
    Ok(Record { record })
}

impl Record {
    pub(crate) fn of(record: carom::report::Record) -> Self {
        Self { record }
    }

    fn unwritable(py: Python<'_>) -> impl Fn(export::ExportError) -> PyErr + '_ {
        move |error| raised(py, &WireError::new("unwritable", error.to_string()))
    }
}

#[pymethods]
impl Record {
    /// Creates a record from its JSON.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str) -> PyResult<Self> {
        let record = serde_json::from_str(text);
        let record = record.map_err(|error| raised(py, &invalid(format!("text: {error}"))))?;
        Ok(Self { record })
    }

    /// Returns JSON text, as printed by `carom run --json`.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        export::json(&self.record).map_err(Self::unwritable(py))
    }

    /// Returns the table of quantities as text.
    fn summary(&self) -> String {
        export::summary(&self.record)
    }

    /// Returns each table with its caption, and each of its columns with unit and numbers.
    #[allow(clippy::type_complexity)]
    fn tables<'py>(
        &self,
        py: Python<'py>,
    ) -> Vec<(&str, &str, Vec<(&str, &str, Bound<'py, PyArray1<f64>>)>)> {
        let tables = self.record.tables.iter().map(|table| {
            let columns = table.columns.iter().enumerate().map(|(k, column)| {
                let numbers = table.rows.iter().filter_map(|row| row.get(k).copied());
                let numbers = PyArray1::from_vec(py, numbers.collect());
                (column.name.as_str(), column.unit.as_str(), numbers)
            });
            (
                table.name.as_str(),
                table.caption.as_str(),
                columns.collect(),
            )
        });
        tables.collect()
    }

    /// Returns each figure with its title and caption.
    fn figures(&self) -> Vec<(&str, &str, &str)> {
        let figures = self.record.figures.iter();
        figures
            .map(|f| (f.name.as_str(), f.title.as_str(), f.caption.as_str()))
            .collect()
    }

    /// Draws a figure as SVG.
    fn svg(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let mut figures = self.record.figures.iter();
        let figure = figures
            .find(|figure| figure.name == name)
            .ok_or_else(|| raised(py, &invalid(format!("name: there is no figure `{name}`"))))?;
        let bytes = Format::Svg.draw(figure).map_err(Self::unwritable(py))?;
        String::from_utf8(bytes).map_err(|error| raised(py, &invalid(error.to_string())))
    }

    /// Returns the page of the run as an HTML element for notebooks.
    fn embedded(&self, py: Python<'_>) -> PyResult<String> {
        export::html::embedded(&self.record, MOST_OF_NOTEBOOK).map_err(Self::unwritable(py))
    }

    /// Writes the files of `carom run --out` and returns their paths.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        let record = self.record.clone();
        let written = py.detach(move || export::write_all(&record, &folder, &[Format::Svg]));
        written.map_err(Self::unwritable(py))
    }
}
