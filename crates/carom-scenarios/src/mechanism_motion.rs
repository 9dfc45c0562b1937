//! Runs of planar mechanisms to play.

use crate::animation::{Animation, Outline, PlaneBody};
use crate::mechanism_run::AuditedRun;
use crate::record::Color;
use carom_mechanism::planar::{Link, PlanarMechanism};

/// Frames beside those at the impacts.
const FRAMES: usize = 200;

/// Impacts with a frame of their own.
const IMPACTS: usize = 60;

/// Radius of a drawn joint over the length of its rod.
const JOINT: f64 = 0.03;

/// A run of rods, each a link with a length along its first axis.
pub(crate) fn motion(
    title: &str,
    caption: &str,
    mechanism: &PlanarMechanism,
    rods: &[(Link, f64)],
    run: &AuditedRun,
) -> Animation {
    let hits: Vec<_> = run.trajectory.impacts().take(IMPACTS).collect();
    let states = &run.trajectory.states;
    let stride = states.len().div_ceil(FRAMES).max(1);
    let grid = states.iter().step_by(stride);
    let mut frames: Vec<(f64, &[f64])> = grid
        .map(|state| (state.time, state.configuration.as_slice()))
        .chain(
            hits.iter()
                .map(|hit| (hit.time, hit.configuration.as_slice())),
        )
        .collect();
    frames.sort_by(|a, b| a.0.total_cmp(&b.0));
    let times = frames.iter().map(|(time, _)| *time).collect();
    let impacts = hits.iter().map(|hit| hit.time).collect();
    let mut animation = Animation::plane("motion", title, caption, times, impacts);
    for (k, &(link, length)) in rods.iter().enumerate() {
        let color = if k % 2 == 0 { Color::Blue } else { Color::Sky };
        let outlines = vec![
            Outline::line([[0.0, 0.0], [length, 0.0]], color),
            Outline::disk([0.0, 0.0], JOINT * length, color),
            Outline::disk([length, 0.0], JOINT * length, color),
        ];
        let poses = frames.iter().map(|(_, q)| {
            let [x, y] = mechanism.point(link, [0.0, 0.0], q).unwrap_or_default();
            [x, y, mechanism.angle(link, q).unwrap_or_default()]
        });
        animation = animation.body(PlaneBody::new(outlines, poses));
    }
    animation
}
