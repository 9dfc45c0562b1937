//! Runs of worlds with joints.

use super::super::config::Config;
use super::super::several::Asked;
use super::setup::Jointed;
use super::{playback, report};
use crate::ScenarioError;
use crate::config::Input;
use carom_report::Record;
use carom_world::Laws;
use carom_world::jointed::{Control, JointEvent};

/// Simulates a world with joints and fills its record. `control`: optional controller, which sets forces along the
/// joint coordinates at grid times (multiples of the time step).
pub(in super::super) fn run<'c>(
    config: &Config,
    input: &Input<'_>,
    mut record: Record,
    control: Option<&'c mut Control<'c>>,
) -> Result<Record, ScenarioError> {
    let jointed = Jointed::new(config, &|key| input.is_given(key))?;
    let asked = Asked::default();
    let mut log = report::Log::new(&jointed, &asked);
    let mut film = playback::Film::new(&jointed);
    let (mut impacts, duration) = (0, jointed.setup.limits.duration);
    let single = jointed.setup.single();
    let several = |index: usize| asked.keep(&jointed.setup, index);
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
    // The wrapping closure must live as long as the run.
    let open: Vec<usize> = report::open_coordinates(jointed.world.multibody()).collect();
    let mut forwarded = control.map(|control| {
        move |time: f64, q: &[f64], rates: &[f64]| {
            let seen = |list: &[f64]| -> Vec<f64> { open.iter().map(|k| list[*k]).collect() };
            let mut forces = vec![0.0; q.len()];
            for (k, force) in open.iter().zip(control(time, &seen(q), &seen(rates))) {
                forces[*k] = force;
            }
            forces
        }
    });
    let control = forwarded.as_mut().map(|f| f as &mut Control<'_>);
    let end = jointed
        .world
        .run(&laws, limits, samples, control, &mut observe);
    log.finish(&end);
    report::report(&jointed, &log, &end, &mut record)?;
    film.show(&end, &mut record);
    if let Some(imported) = &config.imported {
        imported.report(&jointed.overlapping(), &mut record.results);
    }
    Ok(record)
}
