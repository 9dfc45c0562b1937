//! A rigid body that bounces on a plane: Tran & Leok's four systems, and any other.

mod config;
mod long_run;
mod outline;
mod playback;
mod report;
mod sensitivity;
mod snapshots;
mod systems;

pub(crate) use config::Config;
pub(crate) use systems::{
    BouncingBody, Case, Cube, Dumbbell, EllipsoidHorizontal, EllipsoidTilted, EllipsoidUnion,
    Tetrahedron,
};

use crate::scenario::begin;
use crate::{Overrides, Record, Scenario, ScenarioError};
use carom_geometry::{HalfSpace, Shape};
use carom_variational::{
    Collider, ExactFlight, Flight, FreeFlight, ImpactRule, RigidBody, State, TimeGrid, Trajectory,
};
use config::Integrator;

const PAPER: &str = "Tran & Leok";

macro_rules! scenarios {
    ($($constant:ident: $case:ident, $name:literal, $summary:literal, $reproduces:literal;)*) => {
        $(pub(crate) const $constant: Scenario =
            Scenario::new::<Config<$case>>($name, $summary, PAPER, $reproduces, run::<$case>);)*
    };
}

scenarios! {
    BOUNCING_BODY: BouncingBody, "bouncing-body",
        "any rigid body above a plane: shape, inertia, plane and start as you like",
        "Algorithms 5.1 and 5.2";
    ELLIPSOID_HORIZONTAL: EllipsoidHorizontal, "ellipsoid-horizontal",
        "a triaxial ellipsoid bounces on a level plane",
        "Table 3, case I; Figs. 4a, 5a, 6a";
    ELLIPSOID_TILTED: EllipsoidTilted, "ellipsoid-tilted",
        "the same ellipsoid on a plane tilted by two degrees",
        "Table 3, case II; Figs. 4b, 5b, 6b";
    ELLIPSOID_UNION: EllipsoidUnion, "ellipsoid-union",
        "two ellipsoids joined, over 100 000 steps",
        "Table 3, case III; Figs. 4c, 5c, 6c";
    CUBE: Cube, "cube",
        "a cube, over 100 000 steps, and how fast nearby starts part",
        "Table 3, case IV; Figs. 4d, 5d, 6d, 7, 8";
    DUMBBELL: Dumbbell, "dumbbell",
        "two balls joined",
        "beyond the paper: a body with a small moment of inertia";
    TETRAHEDRON: Tetrahedron, "tetrahedron",
        "a rounded regular tetrahedron",
        "beyond the paper: several impacts in a short time";
}

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
    ) -> Result<Collider<'a, Shape, F>, ScenarioError> {
        let collider = Collider::new(&self.body, &self.shape, &self.plane, flight, self.rule)?;
        Ok(collider)
    }
}

fn run<C: Case>(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config<C>>(overrides)?;
    let system = config.system()?;
    match config.integrator() {
        Integrator::Lgvi => simulate(
            &config,
            &system,
            &FreeFlight::lgvi(system.gravity),
            &mut record,
        )?,
        Integrator::Lgvi4 => {
            simulate(
                &config,
                &system,
                &FreeFlight::suzuki4(system.gravity),
                &mut record,
            )?;
        }
        Integrator::Exact => {
            simulate(
                &config,
                &system,
                &ExactFlight::new(system.gravity),
                &mut record,
            )?;
        }
    }
    Ok(record)
}

fn simulate<C: Case, F: Flight>(
    config: &Config<C>,
    system: &System,
    flight: &F,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let collider = system.collider(flight)?;
    let grid = config.time_grid()?;
    let run = Trajectory::record(&collider, &system.initial, &grid, config.max_impacts())
        .map_err(config::name_key)?;
    report::report::<C, F>(config, system, flight, &run, record)?;
    snapshots::snapshots(system, &run, record)?;
    playback::playback(system, &run, record)?;
    if C::LONG_STEPS > 0 {
        let grid = TimeGrid::steps(config.time_step(), C::LONG_STEPS)?;
        long_run::long_run(&collider, system, flight, &grid, record)?;
    }
    if C::SENSITIVITY {
        sensitivity::sensitivity(&collider, system, &run, record)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
