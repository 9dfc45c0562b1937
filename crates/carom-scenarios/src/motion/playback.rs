//! Animation of a world's motion.

use crate::lie_group::bouncing::solids;
use carom_geometry::MassProperties;
use carom_report::animation::{self, Animation, PointImpulse, SpaceBody, Wall};
use carom_report::record::{Color, Record};
use carom_variational::State;
use carom_world::{Impact, WorldSpec};
use nalgebra::Vector3;

/// Largest number of drawn bodies.
const MOST_DRAWN: usize = 400;

/// Largest number of frames, in addition to frames at impacts.
const MOST_FRAMES: usize = 300;

/// Largest number of poses of moving bodies in all frames: less than half a megabyte of a page.
const MOST_POSES: usize = 4_000;

/// Largest number of impulses shown; the largest impulses are chosen.
const MOST_IMPULSES: usize = 500;

/// Fraction of the largest impulse below which impulses are not shown: their arrows would be dots.
const LEAST_IMPULSE: f64 = 1e-6;

/// Smallest cosine between the upward direction and the normal of a plane with which the plane can be the floor.
const FLOOR: f64 = 0.3;

const COLORS: [Color; 4] = [Color::Blue, Color::Vermillion, Color::Green, Color::Orange];

/// Returns the upward unit vector, opposite to gravity. Without gravity it is the z axis.
pub(super) fn up(gravity: &Vector3<f64>) -> Vector3<f64> {
    let down = gravity.try_normalize(0.0);
    down.map_or_else(Vector3::z, |g| -g)
}

/// Impact in the form that the animation needs.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) time: f64,
    /// Bodies involved in the impact, and their states.
    pub(super) states: Vec<(usize, State)>,
    /// Contact points, and the impulses at these points.
    pub(super) impulses: Vec<(Vector3<f64>, Vector3<f64>)>,
}

impl From<&Impact> for Hit {
    fn from(impact: &Impact) -> Self {
        let contacts = impact.contacts.iter();
        Self {
            time: impact.time,
            states: impact.states.clone(),
            impulses: contacts.map(|c| (c.point, c.impulse)).collect(),
        }
    }
}

/// Adds an animation of the bodies to a record, with their impacts and impulses. `frames`: times (s) with the states of all
/// bodies; `hits`: impacts.
///
/// Impacts get frames at their exact times, as far as the limits allow. The other impacts are assigned to the nearest frame, and
/// the caption says so.
pub(super) fn playback(
    spec: &WorldSpec,
    frames: &[(f64, Vec<State>)],
    hits: &[Hit],
    record: &mut Record,
) {
    if frames.len() < 2 || spec.bodies.len() > MOST_DRAWN {
        return;
    }
    let mobile = spec.bodies.iter().filter(|b| b.mass.is_some()).count();
    let room = (MOST_POSES / mobile.max(1)).clamp(60, 2 * MOST_FRAMES);
    let stride = frames.len().div_ceil(room.min(MOST_FRAMES)).max(1);
    let last = frames.len() - 1;
    let kept = |(k, _): &(usize, _)| k % stride == 0 || *k == last;
    let frames: Vec<_> = frames.iter().enumerate().filter(kept).collect();
    let frames: Vec<&(f64, Vec<State>)> = frames.into_iter().map(|(_, frame)| frame).collect();
    let (times, exact) = times(&frames, hits, room);
    let (impulses, impacts) = shown(hits, &times);
    let bodies = (0..spec.bodies.len()).map(|i| body(spec, i, &frames, hits, &times));
    let mut caption = "The bodies, their paths and their shades; fixed bodies are gray, walls are \
                       edges. Spheres and ellipsoids are two-toned to show how they turn."
        .to_owned();
    if exact < hits.len() {
        caption.push_str(&format!(
            " {exact} of {} impacts have a frame of their own, the others stand at the nearest \
             frame.",
            hits.len()
        ));
    }
    let (ground, walls) = planes(spec);
    let has_ground = ground.is_some();
    let bodies = bodies.collect();
    let ground = ground.unwrap_or_else(|| (up(&spec.gravity).into(), 0.0));
    let motion = Animation::space(
        "motion",
        "The run",
        caption,
        (times, impacts),
        ground,
        bodies,
    );
    let motion = walls.into_iter().fold(motion, Animation::wall);
    let motion = motion.impulses(impulses);
    record.animations.push(if has_ground {
        motion
    } else {
        motion.without_ground()
    });
}

/// Returns the times (s) of the animation's frames, and the number of impacts with a frame at their exact time. `frames`:
/// recorded times with states; `hits`: impacts; `room`: largest number of frames.
fn times(frames: &[&(f64, Vec<State>)], hits: &[Hit], room: usize) -> (Vec<f64>, usize) {
    let mut times: Vec<f64> = frames.iter().map(|(time, _)| *time).collect();
    let (first, last) = (times.first().copied(), times.last().copied());
    let within = |t: &f64| first <= Some(*t) && Some(*t) <= last;
    let most = room.max(times.len() + 1).min(animation::MOST_FRAMES);
    let mut exact = 0;
    let mut at = None;
    for hit in hits.iter().map(|hit| hit.time).filter(within) {
        if times.len() >= most && at != Some(hit) {
            break;
        }
        if at != Some(hit) {
            times.push(hit);
        }
        at = Some(hit);
        exact += 1;
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    (times, exact)
}

/// Assigns each impact to the nearest frame of the animation. Returns the impulses to draw, with the times (s) of their
/// frames, and the times of all frames with impacts. `times`: times of the frames (s).
fn shown(hits: &[Hit], times: &[f64]) -> (Vec<PointImpulse>, Vec<f64>) {
    let nearest = |time: f64| {
        let after = times.partition_point(|t| *t < time);
        let around = times.iter().take(after + 1).skip(after.saturating_sub(1));
        around
            .copied()
            .min_by(|a, b| (a - time).abs().total_cmp(&(b - time).abs()))
    };
    let mut impacts: Vec<f64> = hits.iter().filter_map(|hit| nearest(hit.time)).collect();
    impacts.sort_by(f64::total_cmp);
    impacts.dedup();
    let mut impulses: Vec<PointImpulse> = Vec::new();
    for hit in hits {
        let Some(time) = nearest(hit.time) else {
            continue;
        };
        impulses.extend(hit.impulses.iter().map(|(point, impulse)| PointImpulse {
            time,
            point: (*point).into(),
            impulse: (*impulse).into(),
        }));
    }
    impulses.sort_by(|a, b| b.size().total_cmp(&a.size()));
    let largest = impulses.first().map_or(0.0, PointImpulse::size);
    impulses.retain(|impulse| impulse.size() > LEAST_IMPULSE * largest);
    impulses.truncate(MOST_IMPULSES);
    (impulses, impacts)
}

/// Returns the drawing of the body with the index `i`, with its pose in every frame. Poses between recorded states are
/// interpolated; at the body's own impacts they are exact. `times`: times of the animation's frames (s).
fn body(
    spec: &WorldSpec,
    i: usize,
    frames: &[&(f64, Vec<State>)],
    hits: &[Hit],
    times: &[f64],
) -> SpaceBody {
    let body = &spec.bodies[i];
    let drawn = solids(&body.shape);
    // States of bodies that are told their motion have velocities in place of momenta.
    let told = body.motion.as_ref().map(|_| 1.0);
    let Some(mass) = body.mass.as_ref().map(MassProperties::mass).or(told) else {
        let (position, rotation) = match frames.first().and_then(|(_, states)| states.get(i)) {
            Some(state) => pose(state),
            None => ([0.0; 3], [0.0, 0.0, 0.0, 1.0]),
        };
        return SpaceBody::fixed(drawn, Color::Gray, position, rotation).label(body.name.as_str());
    };
    let sampled = frames
        .iter()
        .filter_map(|(t, states)| Some((*t, states.get(i)?)));
    let own = hits.iter().flat_map(|hit| {
        let states = hit.states.iter().filter(move |(k, _)| *k == i);
        states.map(|(_, state)| (hit.time, state))
    });
    let mut nodes: Vec<(f64, &State)> = sampled.chain(own).collect();
    // The sort is stable: of several impacts at one instant, the state after the last one remains last.
    nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let poses = times.iter().map(|t| between(&nodes, *t, mass));
    let color = COLORS[i % COLORS.len()];
    SpaceBody::new(drawn, color, poses.collect::<Vec<_>>()).label(body.name.as_str())
}

/// Interpolates position and quaternion (x, y, z, w) of a body at `time` (s). `nodes`: times with known states, at which the
/// result is exact. Positions between them lie on parabolas. `mass`: mass of the body (kg).
pub(super) fn between(nodes: &[(f64, &State)], time: f64, mass: f64) -> ([f64; 3], [f64; 4]) {
    let after = nodes.partition_point(|(t, _)| *t <= time);
    let Some((t0, left)) = after.checked_sub(1).and_then(|k| nodes.get(k)) else {
        let first = nodes.first();
        return first.map_or(([0.0; 3], [0.0, 0.0, 0.0, 1.0]), |(_, state)| pose(state));
    };
    let Some((t1, right)) = nodes.get(after) else {
        return pose(left);
    };
    let (length, passed) = (t1 - t0, time - t0);
    if passed <= 0.0 || length <= 0.0 {
        return pose(left);
    }
    let share = passed / length;
    let flown = left.linear_momentum / mass;
    let missed = right.position - left.position - flown * length;
    let position = left.position + flown * passed + missed * (share * share);
    let rotation = turned(pose(left).1, pose(right).1, share);
    (position.into(), rotation)
}

/// Interpolates between two unit quaternions on the shorter arc. `share`: fraction of the arc, from 0 (the quaternion `from`)
/// to 1 (the quaternion `to`).
fn turned(from: [f64; 4], to: [f64; 4], share: f64) -> [f64; 4] {
    let along: f64 = from.iter().zip(&to).map(|(a, b)| a * b).sum();
    let sign = if along < 0.0 { -1.0 } else { 1.0 };
    let mut mixed = [0.0; 4];
    for ((m, a), b) in mixed.iter_mut().zip(&from).zip(&to) {
        *m = a + (sign * b - a) * share;
    }
    let norm = mixed.iter().fold(0.0, |n: f64, x| libm::hypot(n, *x));
    if norm > 0.0 {
        mixed.map(|x| x / norm)
    } else {
        from
    }
}

/// Returns the position (m) of a body and its quaternion x, y, z, w, for an animation.
pub(crate) fn pose(state: &State) -> ([f64; 3], [f64; 4]) {
    let (w, v) = state.rotation.quaternion();
    (state.position.into(), [v.x, v.y, v.z, w])
}

/// Divides the planes of a world into the floor and walls. The floor is the plane whose normal is closest to the upward
/// direction; `None` if every plane is too steep.
fn planes(spec: &WorldSpec) -> (Option<([f64; 3], f64)>, Vec<Wall>) {
    let up = up(&spec.gravity);
    let slope = |k: &usize| spec.planes[*k].half_space.normal().dot(&up);
    let floor = (0..spec.planes.len())
        .filter(|k| slope(k) > FLOOR)
        .max_by(|a, b| slope(a).total_cmp(&slope(b)).then(b.cmp(a)));
    let others = spec.planes.iter().enumerate();
    let others = others.filter(|(k, _)| Some(*k) != floor);
    let walls = others.map(|(_, plane)| Wall {
        label: plane.name.clone(),
        normal: (*plane.half_space.normal()).into(),
        offset: plane.half_space.offset(),
    });
    let ground = floor.map(|k| {
        let plane = &spec.planes[k].half_space;
        ((*plane.normal()).into(), plane.offset())
    });
    (ground, walls.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use carom_lie::So3;

    fn state(position: [f64; 3], velocity: [f64; 3]) -> State {
        State {
            position: position.into(),
            rotation: So3::identity(),
            linear_momentum: Vector3::from(velocity) * 2.0,
            angular_momentum: Vector3::zeros(),
        }
    }

    /// Checks that the animation draws a ball of 2 kg in free fall at 10 m/s² on a parabola, between samples 0.4 s apart.
    #[test]
    fn a_flight_between_samples_is_a_parabola() {
        let at = |t: f64| [3.0 * t, 0.0, 2.0 + t - 5.0 * t * t];
        let (left, right) = (state(at(0.0), [3.0, 0.0, 1.0]), state(at(0.4), [0.0; 3]));
        let nodes = [(0.0, &left), (0.4, &right)];
        for t in [0.0, 0.1, 0.3, 0.4] {
            let (position, _) = between(&nodes, t, 2.0);
            for (x, exact) in position.iter().zip(at(t)) {
                assert!((x - exact).abs() <= 1e-14, "{x} for {exact} at {t}");
            }
        }
    }

    /// Checks that the animation draws the body at an impact at its exact position, and not on the straight line between the
    /// samples.
    #[test]
    fn a_bounce_between_samples_touches() {
        let (left, right) = (
            state([0.0, 0.0, 1.0], [0.0, 0.0, -10.0]),
            state([0.0, 0.0, 1.0], [0.0; 3]),
        );
        let bounce = state([0.0, 0.0, 0.5], [0.0, 0.0, 10.0]);
        let nodes = [(0.0, &left), (0.05, &bounce), (0.1, &right)];
        let (position, _) = between(&nodes, 0.05, 2.0);
        assert!((position[2] - 0.5).abs() <= 1e-15);
    }

    /// Checks that the animation shows the largest of many impulses, each at a frame that is marked as an impact.
    #[test]
    fn impulses_stand_at_frames() {
        let hit = |k: usize| Hit {
            time: 0.013 * k as f64,
            states: Vec::new(),
            impulses: vec![(Vector3::zeros(), Vector3::new(0.0, 0.0, k as f64))],
        };
        let hits: Vec<Hit> = (1..=700).map(hit).collect();
        let times: Vec<f64> = (0..=100).map(|k| 0.1 * f64::from(k)).collect();
        let (impulses, impacts) = shown(&hits, &times);
        assert_eq!(impulses.len(), MOST_IMPULSES);
        assert!(
            impulses
                .iter()
                .all(|i| impacts.contains(&i.time) && times.contains(&i.time))
        );
        let least = impulses
            .iter()
            .map(PointImpulse::size)
            .fold(f64::INFINITY, f64::min);
        assert!((least - 201.0).abs() <= 1e-12, "{least}");
    }
}
