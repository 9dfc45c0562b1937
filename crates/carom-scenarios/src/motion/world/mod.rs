//! `carom run world`: rigid bodies, planes and impact laws of one's own.

mod config;
mod default;
mod report;

pub(crate) use config::Config;

use crate::{Overrides, Record, Scenario, ScenarioError};
use carom_motion::{Event, World};
use report::Log;

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "world",
    "rigid bodies in a container: shapes, planes, friction, restitution and impact laws as you like",
    "carom",
    "beyond the papers: their impact laws in time",
    run,
);

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let config: Config = crate::config::read(overrides)?;
    let config = config.resolved()?;
    let mut record = Record::new("", "");
    record.parameters = crate::config::parameters(&config);
    let setup = config.setup()?;
    let world = World::new(&setup.spec).map_err(|error| setup.name_key(&error))?;
    let mut log = Log::new(&world, &setup);
    let single = setup.single();
    let several = |index: usize| setup.several(index);
    let laws = carom_motion::Laws {
        single: single.as_law(),
        several: &several,
    };
    let end = world.run(&laws, &setup.limits, &setup.samples, &mut |event: Event<
        '_,
    >| {
        log.note(&event);
    });
    report::report(&world, &setup, &log, &end, &mut record);
    Ok(record)
}
