//! A world's motion to play.

use crate::lie_group::bouncing::solids;
use carom_motion::world::WorldSpec;
use carom_report::animation::{Animation, SpaceBody};
use carom_report::record::{Color, Record};
use carom_variational::State;
use nalgebra::Vector3;

/// Bodies that are drawn.
const MOST_DRAWN: usize = 70;

/// Frames that are kept.
const MOST_FRAMES: usize = 300;

const COLORS: [Color; 4] = [Color::Blue, Color::Vermillion, Color::Green, Color::Orange];

/// The direction against gravity, or the z axis.
pub(super) fn up(gravity: &Vector3<f64>) -> Vector3<f64> {
    let down = gravity.try_normalize(0.0);
    down.map_or_else(Vector3::z, |g| -g)
}

/// Adds the bodies in every frame to a record, with the times of the impacts.
pub(super) fn playback(
    spec: &WorldSpec,
    frames: &[(f64, Vec<State>)],
    hits: &[f64],
    record: &mut Record,
) {
    if frames.len() < 2 || spec.bodies.len() > MOST_DRAWN {
        return;
    }
    let stride = frames.len().div_ceil(MOST_FRAMES).max(1);
    let frames: Vec<&(f64, Vec<State>)> = frames.iter().step_by(stride).collect();
    let times: Vec<f64> = frames.iter().map(|(time, _)| *time).collect();
    let body = |i: usize| {
        let poses = frames
            .iter()
            .filter_map(|(_, states)| states.get(i))
            .map(|state| {
                let (w, v) = state.rotation.quaternion();
                (state.position.into(), [v.x, v.y, v.z, w])
            });
        let color = match spec.bodies[i].mass {
            None => Color::Gray,
            Some(_) => COLORS[i % COLORS.len()],
        };
        SpaceBody::new(
            solids(&spec.bodies[i].shape),
            color,
            poses.collect::<Vec<_>>(),
        )
    };
    let bodies: Vec<SpaceBody> = (0..spec.bodies.len()).map(body).collect();
    // Each impact is shown in the frame next to it.
    let nearest = |hit: f64| {
        let after = times.partition_point(|t| *t < hit);
        let around = times.iter().take(after + 1).skip(after.saturating_sub(1));
        around
            .copied()
            .min_by(|a, b| (a - hit).abs().total_cmp(&(b - hit).abs()))
    };
    let mut hits: Vec<f64> = hits.iter().filter_map(|hit| nearest(*hit)).collect();
    hits.dedup();
    // The plane that is most like a floor, or one below everything.
    let up = up(&spec.gravity);
    let floor = spec
        .planes
        .iter()
        .map(|plane| &plane.half_space)
        .filter(|plane| plane.normal().dot(&up) > 0.3)
        .max_by(|a, b| a.normal().dot(&up).total_cmp(&b.normal().dot(&up)));
    let ground = match floor {
        Some(plane) => ((*plane.normal()).into(), plane.offset()),
        None => {
            let all = frames.iter().flat_map(|(_, states)| states);
            let low = all
                .map(|s| up.dot(&s.position))
                .fold(f64::INFINITY, f64::min);
            (up.into(), 1.0 - low)
        }
    };
    record.animations.push(Animation::space(
        "motion",
        "The run",
        "The bodies, their paths and their shades. Spheres and ellipsoids are two-toned to show how \
         they turn; fixed bodies are gray, walls are not drawn.",
        (times, hits),
        ground,
        bodies,
    ));
}
