//! Scenarios: names, default configurations and runs.

use crate::cite::citations;
use crate::config::{Input, title};
use crate::published::published;
use crate::tree::{Kind, Value, parse};
use crate::{Overrides, ScenarioError};
use carom_report::Record;
use carom_report::animation::Animation;

/// Appends the keys of all single values in the configuration table `value` to `keys`. Each key has its full path, which
/// starts with `path`.
fn collect(value: &Value, path: &str, keys: &mut Vec<String>) {
    for entry in value.entries().unwrap_or_default() {
        let key = match path {
            "" => entry.key.clone(),
            path => format!("{path}.{}", entry.key),
        };
        match &entry.value.kind {
            Kind::Table(_) => collect(&entry.value, &key, keys),
            _ => keys.push(key),
        }
    }
}

/// Named, configurable run that reproduces a published or known result. [`scenario`](crate::scenario()) finds a scenario by its
/// name, and [`run`](Self::run) runs it.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Name of the scenario on the command line and of its stored record.
    pub name: &'static str,
    /// One-line summary of the scenario.
    pub summary: &'static str,
    /// Paper from which the scenario comes.
    pub paper: &'static str,
    /// Figure, table or example of the paper that the scenario reproduces.
    pub reproduces: &'static str,
    /// Default configuration as commented TOML.
    pub default_toml: &'static str,
    pub(crate) runner: fn(&Input<'_>) -> Result<Record, ScenarioError>,
}

impl Scenario {
    /// Returns the paths of the keys of the scenario's default configuration that have a single value, as in `shape.radius`, in
    /// the order of the text. Items of lists are left out.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        // The defaults are valid TOML: tests run every scenario.
        if let Ok(defaults) = parse(self.default_toml, 0) {
            collect(&defaults, "", &mut keys);
        }
        keys
    }

    /// Runs the scenario with its default configuration, changed by `overrides`, and returns the record of its results.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] if the configuration is invalid or the run fails. The run writes no files.
    pub fn run(&self, overrides: &Overrides) -> Result<Record, ScenarioError> {
        self.run_with(overrides, self.runner)
    }

    /// Returns what a user changes as one configuration file in TOML: his file with the assignments carried out. A run with this
    /// file has the same record. Relative paths are those seen from the current folder.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Config`] for a text that is not TOML, and for assignments to keys that do not exist, as far as that is known
    /// before a run.
    pub fn configuration(&self, overrides: &Overrides) -> Result<String, ScenarioError> {
        Input::new(self.name, self.default_toml, overrides)?.given(self.name)
    }

    /// Returns a title for the scene in a user's file: the name of the file, with spaces for hyphens and underscores. `None`
    /// unless the scenario is `world` or `mechanism`, whose own summaries would not describe the user's scene.
    fn name_of_scene(&self, overrides: &Overrides) -> Option<String> {
        let stem = overrides.file.as_ref()?.file_stem()?.to_str()?;
        let is_own = matches!(self.name, "world" | "mechanism");
        is_own.then(|| title(&stem.replace(['-', '_'], " ")).ok())?
    }

    /// Runs the scenario by the closure `runner`, which may use inputs in addition to the configuration, and completes the
    /// record. `overrides`: settings that replace the scenario's defaults.
    pub(crate) fn run_with(
        &self,
        overrides: &Overrides,
        runner: impl FnOnce(&Input<'_>) -> Result<Record, ScenarioError>,
    ) -> Result<Record, ScenarioError> {
        let input = Input::new(self.name, self.default_toml, overrides)?;
        let record = runner(&input).map_err(|error| input.locate(error))?;
        self.complete(record, &input, overrides)
    }

    /// Completes the record of a run: warnings about the input, summary, citations, and published values.
    pub(crate) fn complete(
        &self,
        mut record: Record,
        input: &Input<'_>,
        overrides: &Overrides,
    ) -> Result<Record, ScenarioError> {
        crate::common::warn(&mut record.results, input.quaternion_warnings().into_iter());
        record.scenario = self.name.to_owned();
        // A runner whose bodies are not those of the scenario's summary says so.
        let own = Some(std::mem::take(&mut record.summary)).filter(|own| !own.is_empty());
        record.summary = input
            .title
            .clone()
            .or_else(|| self.name_of_scene(overrides))
            .or(own)
            .unwrap_or_else(|| self.summary.to_owned());
        record.citations = citations(self.paper);
        record.animations.iter_mut().for_each(Animation::round);
        published()?.join(&mut record, |keys| input.has_defaults(keys));
        let fault = match record.non_finite() {
            Some(path) => Some(format!("a non-finite result at {path}")),
            None => record.animations.iter().find_map(|animation| {
                let problem = animation.problem()?;
                Some(format!("no animation {}: {problem}", animation.name))
            }),
        };
        match fault {
            Some(fault) => Err(ScenarioError::Config {
                message: format!("the configuration leads to {fault}"),
            }),
            None => Ok(record),
        }
    }
}
