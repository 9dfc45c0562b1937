//! Runs of worlds with joints.

use super::super::config::Config;
use super::super::several::Asked;
use super::setup::Jointed;
use super::{playback, report};
use crate::ScenarioError;
use crate::config::Input;
use carom_report::Record;
use carom_world::Laws;
use carom_world::jointed::JointEvent;

/// Simulates a world with joints and fills its record.
pub(in super::super) fn run(
    config: &Config,
    input: &Input<'_>,
    mut record: Record,
) -> Result<Record, ScenarioError> {
    let jointed = Jointed::new(config, &|key| input.is_given(key))?;
    let asked = Asked::default();
    let mut log = report::Log::new(&jointed, &asked);
    let mut film = playback::Film::new(&jointed);
    let (mut impacts, duration) = (0, jointed.setup.limits.duration);
    let single = jointed.setup.single();
    let several = |index: usize, problem: &_| asked.keep(&jointed.setup, index, problem);
    let laws = Laws::new(single.as_law(), &several).with_on_zeno(jointed.setup.on_zeno);
    let mut observe = |event: JointEvent<'_>| {
        impacts += usize::from(matches!(event, JointEvent::Impact(_)));
        if let JointEvent::Sample(sample) = &event {
            input.progress.simulated(sample.time, duration, impacts);
        }
        log.note(&event);
        film.note(&event);
    };
    let (limits, samples) = (&jointed.setup.limits, &jointed.setup.samples);
    let end = jointed
        .world
        .run(&laws, limits, samples, None, &mut observe);
    log.finish(&end);
    report::report(&jointed, &log, &end, &mut record)?;
    film.show(&end, &mut record);
    if let Some(imported) = &config.imported {
        imported.report(&jointed.overlapping(), &mut record.results);
    }
    Ok(record)
}
