//! `carom run mechanism`: a mechanism that the user defines, of links or by formulas.

mod config;
mod playback;
mod report;

use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::config::Input;
use carom_motion::hybrid::Ending;
use carom_report::Record;
use carom_variational::TimeGrid;

use carom_motion::generalized::{CollisionIntegrator, Trajectory};
use config::{Config, ContactConfig, FormulaContactConfig, Setup};

/// Runs the scenario `mechanism`: any mechanism. A user's file with links or a system replaces the whole example mechanism.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let replaced: &[&str] = match (input.is_given("system"), input.is_given("links")) {
        (true, _) => &["links", "contacts", "constraints", "gravity"],
        (false, true) => &["system", "contacts", "constraints"],
        (false, false) => &[],
    };
    let input = &input.without_defaults(replaced);
    if input.has("system") {
        let (config, record) = input.begin::<Config<FormulaContactConfig>>()?;
        return play(input, &config.setup()?, record);
    }
    let (config, record) = input.begin::<Config<ContactConfig>>()?;
    play(input, &config.setup()?, record)
}

/// Computes the motion of a mechanism, and completes its record.
fn play(input: &Input<'_>, setup: &Setup, mut record: Record) -> Result<Record, ScenarioError> {
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
    let end = &trajectory.end;
    let time = end.state.time;
    let accumulates = Ending::Zeno { accumulation: time };
    let ending = match &end.ending {
        Ending::Stopped(_) => &end.ending,
        _ if zeno => &accumulates,
        ending => ending,
    };
    let extent = Extent::of_time(setup.duration, end.n_impacts, time);
    extent.note("", ending, &mut record);
    report::report(setup, &integrator, &trajectory, zeno, &mut record)?;
    if let Some(scene) = &setup.scene {
        let animation = playback::playback(scene, &trajectory);
        record.animations.push(animation);
    }
    Ok(record)
}
