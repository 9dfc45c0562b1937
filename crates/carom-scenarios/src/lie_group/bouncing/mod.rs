//! A rigid body that bounces on a plane: Tran & Leok's four systems, and any other.

mod config;
mod long_run;
mod outline;
mod playback;
mod report;
mod sensitivity;
mod snapshots;

pub(crate) use config::ShapeConfig;
pub(crate) use playback::solids;

use crate::ScenarioError;
use crate::config::Input;
use carom_geometry::{HalfSpace, Shape};
use carom_report::Record;
use carom_variational::{
    Collider, ColliderOptions, ExactFlight, Flight, FreeFlight, ImpactRule, RigidBody, RunStatus,
    State, TimeGrid, Trajectory,
};
use config::{Config, Integrator};

/// Steps of the long runs of Tran & Leok, Fig. 6.
const LONG_STEPS: usize = 100_000;

/// A system ready to run.
#[derive(Clone, Debug)]
pub(crate) struct System {
    body: RigidBody,
    shape: Shape,
    plane: HalfSpace,
    initial: State,
    rule: ImpactRule,
    gravity: nalgebra::Vector3<f64>,
}

impl System {
    fn collider<'a, F: Flight>(
        &'a self,
        flight: &'a F,
        options: ColliderOptions,
    ) -> Result<Collider<'a, Shape, F>, ScenarioError> {
        let collider = Collider::new(&self.body, &self.shape, &self.plane, flight, self.rule)?;
        Ok(collider.with_options(options))
    }
}

/// What a scenario shows beyond the run itself.
#[derive(Clone, Copy, Debug, Default)]
struct Extras {
    /// Steps of a long run for the energy's drift; 0 for none.
    long_steps: usize,
    /// Whether to follow perturbed starts.
    sensitivity: bool,
}

/// Any body.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    run_with(input, Extras::default())
}

/// Tran & Leok, Table 3, case III, with the printed shift and the printed moments without their
/// antisymmetric part.
pub(crate) fn ellipsoid_union(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let extras = Extras {
        long_steps: LONG_STEPS,
        sensitivity: false,
    };
    run_with(input, extras)
}

/// Tran & Leok, Table 3, case IV.
pub(crate) fn cube(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let extras = Extras {
        long_steps: LONG_STEPS,
        sensitivity: true,
    };
    run_with(input, extras)
}

fn run_with(input: &Input<'_>, extras: Extras) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let system = config.system()?;
    let gravity = system.gravity;
    let report = &mut record;
    match config.integrator {
        Integrator::Lgvi => simulate(&config, &system, &FreeFlight::lgvi(gravity), extras, report),
        Integrator::Lgvi4 => {
            let flight = FreeFlight::suzuki4(gravity);
            simulate(&config, &system, &flight, extras, report)
        }
        Integrator::Exact => {
            let flight = ExactFlight::new(gravity);
            simulate(&config, &system, &flight, extras, report)
        }
    }?;
    Ok(record)
}

fn simulate<F: Flight>(
    config: &Config,
    system: &System,
    flight: &F,
    extras: Extras,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let collider = system.collider(flight, config.collider_options()?)?;
    let grid = config.time_grid()?;
    let run = Trajectory::record(&collider, &system.initial, &grid, config.max_impacts)
        .map_err(config::name_key)?;
    report::report(config, system, flight, &run, record)?;
    snapshots::snapshots(system, &run, record)?;
    playback::playback(system, &run, record)?;
    if matches!(run.end().status, RunStatus::Stopped(_)) {
        return Ok(());
    }
    if extras.long_steps > 0 {
        let grid = TimeGrid::steps(config.time_step, extras.long_steps)?;
        long_run::long_run(&collider, system, flight, &grid, record)?;
    }
    if extras.sensitivity {
        sensitivity::sensitivity(&collider, system, &run, record)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
