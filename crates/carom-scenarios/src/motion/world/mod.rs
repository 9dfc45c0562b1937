//! `carom run world`: rigid bodies, planes and impact laws of one's own.

mod config;
mod report;

use crate::ScenarioError;
use crate::config::Input;
use carom_motion::{Event, World};
use carom_report::Record;
use config::Config;
use report::Log;

/// Any world.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (mut config, mut record) = input.begin::<Config>()?;
    config.keep_given(&|key| input.is_given(key))?;
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
    log.finish(&end);
    report::report(&world, &setup, &log, &end, &mut record);
    Ok(record)
}
