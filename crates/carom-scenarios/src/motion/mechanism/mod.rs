//! `carom run mechanism`: a mechanism that the user defines, of links or by formulas.

mod config;
pub(crate) mod constrained;
mod playback;
mod report;

use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::config::Input;
use crate::motion::model::{Model, NoModel};
use crate::motion::scope::Scope;
use carom_analyse::Armed;
use carom_motion::hybrid::Ending;
use carom_report::Record;
use carom_variational::TimeGrid;

use carom_mechanism::MechanicalSystem;
use carom_motion::generalized::{CollisionIntegrator, State, Trajectory};
use config::{Config, ContactConfig, FormulaContactConfig, Setup};
use std::sync::Arc;

/// Runs the scenario `mechanism`: any mechanism.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (setup, mut record) = setup(input)?;
    if let Some(contact) = setup.closes_when.iter().position(Option::is_some) {
        let message =
            "contacts that close at times only are done by `carom analyse`, not by runs yet";
        return Err(ScenarioError::value(
            &format!("contacts[{contact}].closes_when"),
            message,
        ));
    }
    Played::new(input, &setup)?.report(&mut record)?;
    Ok(record)
}

/// Reads a mechanism for an analysis.
pub(crate) fn modelled(input: &Input<'_>) -> Result<Model, NoModel> {
    let (setup, _) = setup(input)?;
    let scope = Scope::new(&setup.coordinates, &setup.parameters)?;
    let mut armed: Vec<Option<Armed>> = Vec::new();
    for (contact, text) in setup.closes_when.iter().enumerate() {
        let key = format!("contacts[{contact}].closes_when");
        let function = text
            .as_ref()
            .map(|text| scope.function(&key, text, false))
            .transpose()?;
        armed.push(function.map(|function| Arc::new(function) as Armed));
    }
    Ok(Model {
        system: setup.system,
        law: setup.law,
        coordinates: setup.coordinates,
        contacts: setup.contacts,
        armed,
        position: setup.position,
        velocity: setup.velocity,
        parameters: setup.parameters,
    })
}

/// Reads the configuration of a mechanism. A user's file with links or a system replaces the whole example mechanism.
fn setup(input: &Input<'_>) -> Result<(Setup, Record), ScenarioError> {
    let replaced: &[&str] = match (input.is_given("system"), input.is_given("links")) {
        (true, _) => &["links", "contacts", "constraints", "gravity"],
        (false, true) => &["system", "contacts", "constraints"],
        (false, false) => &[],
    };
    let input = &input.without_defaults(replaced);
    if input.has("system") {
        let (config, record) = input.begin::<Config<FormulaContactConfig>>()?;
        return Ok((config.setup()?, record));
    }
    let (config, record) = input.begin::<Config<ContactConfig>>()?;
    Ok((config.setup()?, record))
}

/// Computed motion of a mechanism.
struct Played<'s> {
    setup: &'s Setup,
    integrator: CollisionIntegrator<'s, dyn MechanicalSystem>,
    trajectory: Trajectory,
    /// True if the run ends where its impacts accumulate.
    zeno: bool,
}

impl<'s> Played<'s> {
    /// Computes the motion of a mechanism.
    fn new(input: &Input<'_>, setup: &'s Setup) -> Result<Self, ScenarioError> {
        let integrator = CollisionIntegrator::new(setup.system.as_ref(), setup.law.as_ref())
            .map_err(|error| ScenarioError::value("contacts", error))?
            .with_options(setup.options)?;
        let start = integrator.state(0.0, &setup.position, &setup.velocity)?;
        let grid = TimeGrid::duration(setup.time_step, setup.duration)
            .map_err(|error| ScenarioError::value("duration", error))?;
        let fly = |impacts| {
            let observe = &mut |time, n| input.progress.simulated(time, setup.duration, n);
            Trajectory::record_observed(&integrator, &start, &grid, impacts, observe)
                .map_err(|error| setup.name_key(error))
        };
        let mut trajectory = fly(setup.max_impacts)?;
        // To stop at an accumulation, the run is repeated up to the impact that detected it.
        let accumulated = trajectory.impacts().position(|impact| impact.accumulated);
        let zeno = setup.stops_at_zeno && accumulated.is_some();
        if let (true, Some(last)) = (setup.stops_at_zeno, accumulated) {
            trajectory = fly(Some(last + 1))?;
        }
        Ok(Self {
            setup,
            integrator,
            trajectory,
            zeno,
        })
    }

    /// Completes the record of the motion.
    fn report(&self, record: &mut Record) -> Result<(), ScenarioError> {
        let (setup, run) = (self.setup, &self.trajectory);
        let time = run.end.state.time;
        let accumulates = Ending::Zeno { accumulation: time };
        let ending = match &run.end.ending {
            Ending::Stopped(_) => &run.end.ending,
            _ if self.zeno => &accumulates,
            ending => ending,
        };
        let extent = Extent::of_time(setup.duration, run.end.n_impacts, time);
        extent.note("", ending, record);
        report::report(setup, &self.integrator, run, self.zeno, record)?;
        if let Some(scene) = &setup.scene {
            record.animations.push(playback::playback(scene, run));
        }
        Ok(())
    }

    /// Returns configuration and velocity just before the first impact.
    fn before_first_impact(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let impact = self.trajectory.impacts().next()?;
        let configuration = impact.configuration.clone();
        let before = State::new(impact.time, configuration, impact.momentum_minus.clone());
        let velocity = self.integrator.velocity(&before).ok()?.0;
        let configuration = impact.configuration.as_slice().to_vec();
        Some((configuration, velocity.as_slice().to_vec()))
    }
}
