//! `carom run mechanism`: a planar mechanism of one's own.

mod config;
mod report;

pub(crate) use config::Config;

use crate::{Overrides, Record, Scenario, ScenarioError};
use carom_variational::TimeGrid;
use carom_variational::generalized::{CollisionIntegrator, Ending, Trajectory};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "mechanism",
    "a planar mechanism as you like: links, springs, actuators, contacts with fixed lines",
    "carom",
    "beyond the papers: the collision integrator for any planar mechanism",
    run,
);

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let config: Config = crate::config::read(overrides)?;
    let config = config.resolved();
    let mut record = Record::new("", "");
    record.parameters = crate::config::parameters(&config);
    let setup = config.setup()?;
    let integrator = CollisionIntegrator::new(&setup.mechanism, setup.law.as_ref())
        .map_err(|error| ScenarioError::value("contacts", error))?
        .with_options(setup.options)?;
    let start = integrator.state(0.0, &setup.position, &setup.velocity)?;
    let grid = TimeGrid::duration(setup.time_step, setup.duration)
        .map_err(|error| ScenarioError::value("duration", error))?;
    crate::config::count("duration", grid.n_steps(), 0, 5_000_000)?;
    let fly = |impacts| {
        Trajectory::record(&integrator, &start, &grid, impacts)
            .map_err(|error| setup.name_key(error))
    };
    let mut trajectory = fly(setup.max_impacts)?;
    // A run that is to end where impacts accumulate ends with the impact that says so.
    let accumulated = trajectory.impacts().position(|impact| impact.accumulated);
    let zeno = setup.stops_at_zeno && accumulated.is_some();
    if let (true, Some(last)) = (setup.stops_at_zeno, accumulated) {
        trajectory = fly(Some(last + 1))?;
    }
    let status = match (&trajectory.end.ending, zeno) {
        (Ending::Stopped(_), _) => "stopped",
        (_, true) => "zeno",
        (ending, _) => ending.name(),
    };
    record.status = status.to_owned();
    report::report(&setup, &integrator, &trajectory, zeno, &mut record)?;
    Ok(record)
}
