//! `carom analyse`: orbits of a world or a mechanism, with their multipliers.

mod config;
mod report;
mod system;

use crate::config::{Located, read};
use crate::motion::model::{Model, NoModel};
use crate::{Overrides, ScenarioError};
use carom_analyse::{
    AnalyseError, Carried, ContactFlow, Flow, Motion, Orbit, Section, Settings, find,
};
use carom_report::Record;
use config::{Config, Formula, SectionConfig, count};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Analysis with its model.
struct Analysis {
    model: Model,
    section: Section,
    carried: Carried,
    returns: usize,
    settle: usize,
    start: Vec<f64>,
}

/// Analyses a system: `overrides` hold the text of the analysis and its file; assignments are laid over the system. `read_file`
/// returns the text of a file, such as that of the system.
///
/// The record has the results `analysis`, `system`, `section`, `method` and `orbit`. A task without an answer has its reason as the
/// status of the record.
///
/// # Errors
///
/// [`ScenarioError`] for faults of the analysis and of the system.
///
/// # Examples
///
/// A mass on a spring between elastic stops that is too slow to reach them swings with its own period:
///
/// ```
/// use carom_scenarios::{Overrides, ScenarioError, analyse};
///
/// let system = r#"
/// gravity = [0.0, 0.0, 0.0]
/// bodies = [{ name = "mass", mass = 1.0, inertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }]
/// [[joints]]
/// name = "slide"
/// type = "prismatic"
/// child = "mass"
/// axis = [1, 0, 0]
/// position = 0.3
/// stiffness = 4.0
/// damping = 0.1
/// actuator = { type = "expression", value = "cos(t)" }
/// "#;
/// let overrides = Overrides {
///     toml: "system = \"mass.toml\"\nsection = { every = \"2*pi\" }\norbit = {}".to_owned(),
///     ..Overrides::default()
/// };
/// let record = analyse(&overrides, &|_| Ok(system.to_owned()))?;
/// assert_eq!(record.results["orbit"]["stable"], true);
/// # Ok::<(), ScenarioError>(())
/// ```
pub fn analyse(
    overrides: &Overrides,
    read_file: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Record, ScenarioError> {
    let (config, located): (Config, Located<'_>) = read(overrides)?;
    let mut record = Record::new(
        "analyse",
        config
            .title
            .clone()
            .unwrap_or_else(|| "Orbits of a system with impacts.".to_owned()),
    );
    let stem = overrides.file.as_deref().and_then(Path::file_stem);
    record.results.insert(
        "analysis".to_owned(),
        json!(stem.map_or("analysis".into(), |stem| stem.to_string_lossy())),
    );
    run(&config, overrides, read_file, &mut record).map_err(|error| located.locate(error))?;
    match record.non_finite() {
        Some(path) => Err(ScenarioError::Config {
            message: format!("the analysis leads to a non-finite result at {path}"),
        }),
        None => Ok(record),
    }
}

fn run(
    config: &Config,
    overrides: &Overrides,
    read_file: &dyn Fn(&Path) -> Result<String, String>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let Some(orbit) = &config.orbit else {
        return Err(ScenarioError::value(
            "orbit",
            "no task: an analysis has the table [orbit]",
        ));
    };
    let Some(section) = &config.section else {
        return Err(ScenarioError::value(
            "section",
            "is missing: an orbit needs one",
        ));
    };
    let returns = count("orbit.returns", orbit.returns, 1, 1)?;
    let settle = count("orbit.settle", orbit.settle, 0, 0)?;
    let of_system = system_overrides(config, overrides, read_file)?;
    let kind = system::kind(&of_system)?;
    let file = config.system.clone().or_else(|| config.scenario.clone());
    let model = match system::model(&kind, &of_system) {
        Ok(model) => model,
        Err(NoModel::Fault(error)) => return Err(of_file(error, &of_system)),
        Err(NoModel::Flow(error)) => {
            report::refused(record, &error, &[]);
            return Ok(());
        }
    };
    let scope = model.scope()?;
    let start = start(config, &model)?;
    let (built, told) = build_section(section, &model)?;
    let symmetry = orbit.symmetry.iter();
    let symmetry = symmetry
        .map(|(name, formula)| (name.clone(), formula.text()))
        .collect();
    let carried = scope.carried(&model.coordinates, &symmetry, &start)?;
    let system = json!({"file": file, "kind": kind, "parameters": model.parameters});
    record.parameters =
        json!({"system": system, "section": told, "returns": returns, "settle": settle});
    for (key, value) in [
        ("system", system),
        ("section", told),
        ("method", json!("flow")),
    ] {
        record.results.insert(key.to_owned(), value);
    }
    let analysis = Analysis {
        model,
        section: built,
        carried,
        returns,
        settle,
        start,
    };
    match analysis.orbit() {
        Ok(orbit) => report::orbit(record, &analysis, &orbit),
        Err(error) => report::refused(record, &error, &analysis.model.contacts),
    }
    Ok(())
}

/// Puts the file of the system before a fault that does not name it.
fn of_file(error: ScenarioError, of_system: &Overrides) -> ScenarioError {
    let file = of_system
        .file
        .as_ref()
        .map_or_else(String::new, |path| path.display().to_string());
    match error {
        ScenarioError::Config { message }
            if message.starts_with(&file) || message.starts_with("--set") =>
        {
            ScenarioError::Config { message }
        }
        other => ScenarioError::Config {
            message: format!("{file}: {other}"),
        },
    }
}

/// Returns the system's text with `[set]` and the assignments of the command line laid over it.
fn system_overrides(
    config: &Config,
    overrides: &Overrides,
    read_file: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Overrides, ScenarioError> {
    let mut assignments: Vec<String> = config
        .set
        .iter()
        .map(|(path, value)| format!("{path}={value}"))
        .collect();
    assignments.extend(overrides.assignments.iter().cloned());
    let (toml, file) = match (&config.system, &config.scenario) {
        (Some(_), Some(_)) => {
            return Err(ScenarioError::value(
                "scenario",
                "give either `system` or `scenario`",
            ));
        }
        (None, None) => {
            let message = "is missing: the file of a world or a mechanism";
            return Err(ScenarioError::value("system", message));
        }
        (None, Some(name)) => (format!("scenario = {name:?}"), None),
        (Some(path), None) => {
            let folder = overrides
                .file
                .as_deref()
                .and_then(Path::parent)
                .or(overrides.folder.as_deref());
            let path = folder.map_or_else(|| path.into(), |folder| folder.join(path));
            let text = read_file(&path).map_err(|message| {
                ScenarioError::value("system", format!("{}: {message}", path.display()))
            })?;
            (text, Some(path))
        }
    };
    Ok(Overrides {
        toml,
        file,
        assignments,
        ..Overrides::default()
    })
}

/// Returns coordinates and rates at the start.
fn start(config: &Config, model: &Model) -> Result<Vec<f64>, ScenarioError> {
    let names = report::names(&model.coordinates);
    let mut state: Vec<f64> = model
        .position
        .iter()
        .chain(&model.velocity)
        .copied()
        .collect();
    for (name, value) in &config.start {
        let key = format!("start.\"{name}\"");
        let Some(place) = names.iter().position(|known| known == name) else {
            let near = carom_numeric::nearest_name(name, names.iter().map(String::as_str));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(ScenarioError::value(
                &key,
                format!("no coordinate or rate is called `{name}`{hint}"),
            ));
        };
        crate::motion::finite(&key, &[*value])?;
        state[place] = *value;
    }
    Ok(state)
}

/// Builds the section; the second value is what the record says of it.
fn build_section(
    section: &SectionConfig,
    model: &Model,
) -> Result<(Section, serde_json::Value), ScenarioError> {
    let scope = model.scope()?;
    let kinds = [
        ("every", section.every.is_some()),
        ("event", section.event.is_some()),
        ("where", section.level.is_some()),
    ];
    let given: Vec<&str> = kinds
        .iter()
        .filter(|(_, given)| *given)
        .map(|(name, _)| *name)
        .collect();
    match given.as_slice() {
        [] => {
            return Err(ScenarioError::value(
                "section",
                "needs `every`, `event` or `where`",
            ));
        }
        [_] => (),
        [first, second, ..] => {
            let message = format!("a section has one kind, not `{first}` and `{second}`");
            return Err(ScenarioError::value(&format!("section.{second}"), message));
        }
    }
    for (name, is_given, belongs) in [
        ("phase", section.phase.is_some(), "every"),
        ("direction", section.direction.is_some(), "where"),
    ] {
        if is_given && given != [belongs] {
            return Err(ScenarioError::value(
                &format!("section.{name}"),
                format!("belongs to `{belongs}`"),
            ));
        }
    }
    if let Some(every) = &section.every {
        return strobe(every, section.phase.as_ref(), model);
    }
    if let Some(name) = model.driven() {
        let key = format!("section.{}", given[0]);
        let message = format!(
            "the force along `{name}` depends on time: use `every`; events of driven systems are not done yet"
        );
        return Err(ScenarioError::value(&key, message));
    }
    if let Some(events) = &section.event {
        let find = |name: &String| {
            let place = model.contacts.iter().position(|known| known == name);
            place.ok_or_else(|| {
                let near =
                    carom_numeric::nearest_name(name, model.contacts.iter().map(String::as_str));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                ScenarioError::value(
                    "section.event",
                    format!("no contact is called `{name}`{hint}"),
                )
            })
        };
        let contacts: Vec<usize> = events.iter().map(find).collect::<Result<_, _>>()?;
        if contacts.is_empty() {
            return Err(ScenarioError::value("section.event", "names no contact"));
        }
        return Ok((Section::events(contacts), json!({"event": events})));
    }
    let text = section.level.as_deref().unwrap_or_default();
    let level = scope.function("section.where", text, true)?;
    let direction = section.direction.as_deref().unwrap_or("up");
    let sign = match direction {
        "up" => -1.0,
        "down" => 1.0,
        other => {
            let message = format!("unknown `{other}`; known: up, down");
            return Err(ScenarioError::value("section.direction", message));
        }
    };
    let falls = move |state: &[f64], gradient: &mut [f64]| {
        let value = level(state, gradient);
        gradient.iter_mut().for_each(|g| *g *= sign);
        sign * value
    };
    Ok((
        Section::Falls(Arc::new(falls)),
        json!({"where": text, "direction": direction}),
    ))
}

/// Builds the section at times.
fn strobe(
    every: &Formula,
    phase: Option<&Formula>,
    model: &Model,
) -> Result<(Section, serde_json::Value), ScenarioError> {
    let scope = model.scope()?;
    let period = scope.number("section.every", &every.text())?;
    if !(period > 0.0) {
        return Err(ScenarioError::value(
            "section.every",
            format!("{period} must be positive"),
        ));
    }
    let phase = phase.map_or(Ok(0.0), |phase| {
        scope.number("section.phase", &phase.text())
    })?;
    if let Some(name) = model.changes(phase, period) {
        let message = format!("{period} is no period of the force along `{name}`");
        return Err(ScenarioError::value("section.every", message));
    }
    let told = json!({"every": period, "phase": phase});
    Ok((Section::every(phase, period), told))
}

impl Analysis {
    fn orbit(&self) -> Result<Orbit, AnalyseError> {
        let settings = Settings::default();
        let model = &self.model;
        let flow = ContactFlow::new(
            model.system.as_ref(),
            model.law.as_ref(),
            model.armed.clone(),
            &settings,
        )?;
        let mut motion = Motion::start(&flow, 0.0, &self.start)?;
        if !self.is_on_section(&motion, &settings) {
            motion.follow(&flow, &self.section, 1, &settings)?;
        }
        motion.follow(&flow, &self.section, self.settle, &settings)?;
        if let Section::Every { phase, .. } = self.section {
            motion.time = phase;
        }
        find(
            &flow as &dyn Flow,
            &self.section,
            motion,
            self.returns,
            Some(&self.carried),
            &settings,
        )
    }

    /// True if the motion starts on the section: at the phase, just after an impact, or where the level vanishes.
    fn is_on_section(&self, motion: &Motion, settings: &Settings) -> bool {
        let n = self.model.coordinates.len();
        let state = motion.state.as_slice();
        let q = state.get(..n).unwrap_or_default();
        match &self.section {
            Section::Every { phase, .. } => *phase == 0.0,
            Section::Events(contacts) => contacts
                .iter()
                .any(|c| self.model.system.gap(*c, q).abs() <= settings.touch),
            Section::Falls(level) => level(state, &mut vec![0.0; 2 * n]).abs() <= settings.touch,
            _ => false,
        }
    }
}
