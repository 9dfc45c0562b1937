//! `carom run mechanism`: a planar mechanism that the user defines.

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
use config::Config;

/// Runs the scenario `mechanism`: any planar mechanism. A user's file with links replaces the whole example mechanism.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (mut config, mut record) = input.begin::<Config>()?;
    if input.is_given("links") && !input.is_given("contacts") {
        config.contacts = None;
    }
    let setup = config.setup()?;
    let integrator = CollisionIntegrator::new(&setup.mechanism, setup.law.as_ref())
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
    report::report(&setup, &integrator, &trajectory, zeno, &mut record)?;
    record
        .animations
        .push(playback::playback(&setup, &trajectory));
    Ok(record)
}
