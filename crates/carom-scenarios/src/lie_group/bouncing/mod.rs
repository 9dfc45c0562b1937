//! A rigid body that bounces on a plane: the four systems of Tran & Leok, and bodies of the user.

mod config;
mod long_run;
mod mesh;
mod outline;
mod perturbed;
mod playback;
mod report;
mod snapshots;

pub(crate) use config::ShapeConfig;
pub(crate) use mesh::read_mesh_file;
pub(crate) use playback::solids;

use crate::common::sensitivity;
use crate::config::Input;
use crate::{Progress, ScenarioError};
use carom_geometry::{HalfSpace, Shape};
use carom_motion::hybrid::Ending;
use carom_motion::sensitivity::Sensitivity;
use carom_report::Record;
use std::borrow::Cow;

use carom_motion::flying::{Collider, ColliderOptions, ImpactRule, Trajectory};
use carom_variational::{
    DifferentiableFlight, ExactFlight, Flight, FreeFlight, RigidBody, State, TimeGrid,
};
use config::{Config, Integrator};
use nalgebra::DVector;

/// Number of steps of the long runs in Tran & Leok, Fig. 6.
const LONG_STEPS: usize = 100_000;

/// Components of the difference of two states: position, rotation in the body, momentum in space and in the body.
const DIFFERENCES: [&str; 12] = [
    "x", "y", "z", "zeta_x", "zeta_y", "zeta_z", "gamma_x", "gamma_y", "gamma_z", "pi_x", "pi_y",
    "pi_z",
];

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

/// Parts of the record beyond the run itself.
#[derive(Clone, Copy, Debug, Default)]
struct Extras {
    /// Number of steps of the long run that shows the drift of the energy; 0 for no long run.
    long_steps: usize,
    /// True to also run from perturbed initial states.
    perturbed: bool,
}

/// Runs the scenario `bouncing-body`: a rigid body of any shape that bounces on a plane.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    run_with(input, Extras::default())
}

/// Runs the union of ellipsoids of Tran & Leok, Table 3, case III. The shift of the center of mass is the printed one; the
/// printed moments of inertia are replaced by their symmetric part.
pub(crate) fn ellipsoid_union(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let extras = Extras {
        long_steps: LONG_STEPS,
        perturbed: false,
    };
    run_with(input, extras)
}

/// Runs the bouncing cube of Tran & Leok, Table 3, case IV, with a long run and a run from a slightly different start.
pub(crate) fn cube(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let extras = Extras {
        long_steps: LONG_STEPS,
        perturbed: true,
    };
    run_with(input, extras)
}

fn run_with(input: &Input<'_>, extras: Extras) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let system = config.system()?;
    let gravity = system.gravity;
    let progress = input.progress;
    let report = &mut record;
    match config.integrator {
        Integrator::Lgvi => {
            let flight = FreeFlight::lgvi(gravity);
            simulate(&config, &system, &flight, extras, progress, report)
        }
        Integrator::Lgvi4 => {
            let flight = FreeFlight::suzuki4(gravity);
            simulate(&config, &system, &flight, extras, progress, report)
        }
        Integrator::Exact => {
            let flight = ExactFlight::new(gravity);
            simulate(&config, &system, &flight, extras, progress, report)
        }
    }?;
    Ok(record)
}

fn simulate<F: DifferentiableFlight>(
    config: &Config,
    system: &System,
    flight: &F,
    extras: Extras,
    progress: &Progress,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let collider = system.collider(flight, config.collider_options()?)?;
    let grid = config.time_grid()?;
    let (initial, most) = (&system.initial, config.max_impacts);
    let observe = &mut |time, n| progress.simulated(time, config.duration, n);
    let run = Trajectory::record_observed(&collider, initial, &grid, most, observe)
        .map_err(config::name_key)?;
    report::report(config, system, flight, &run, record)?;
    snapshots::snapshots(system, &run, record)?;
    playback::playback(system, &run, record)?;
    if config.sensitivity {
        let sensitivity = by_config(collider.sensitivity(&run)?);
        let value = sensitivity::value(&DIFFERENCES, &sensitivity);
        record.results.insert("sensitivity".to_owned(), value);
    }
    if matches!(run.end().ending, Ending::Stopped(_)) {
        return Ok(());
    }
    if extras.long_steps > 0 {
        let grid = TimeGrid::steps(config.time_step, extras.long_steps)?;
        long_run::long_run(&collider, system, flight, &grid, record)?;
    }
    if extras.perturbed {
        perturbed::perturbed(&collider, system, &run, record)?;
    }
    Ok(())
}

/// Renames the parameters of a run's derivatives to the keys of the configuration and drops those without a key. The key
/// `gravity` acts along -z, so that the derivative changes sign.
fn by_config(mut sensitivity: Sensitivity) -> Sensitivity {
    let parameters = std::mem::take(&mut sensitivity.d_final_d_parameters);
    let named = |(name, column): (Cow<'static, str>, DVector<f64>)| match &*name {
        "restitution" => Some((name, column)),
        "gravity_z" => Some(("gravity".into(), -column)),
        _ => None,
    };
    sensitivity.d_final_d_parameters = parameters.into_iter().filter_map(named).collect();
    sensitivity
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
