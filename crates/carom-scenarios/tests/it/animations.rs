//! Animations of scenarios against their records.

use carom_report::animation::{Animation, MOST_FRAMES, PlaneBody, PlaneShape, Scene, SpaceBody};
use carom_scenarios::{Overrides, Record, scenario};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion};
use serde_json::Value;

fn run(name: &str, toml: &str) -> Record {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    scenario(name).unwrap().run(&overrides).unwrap()
}

fn plane(animation: &Animation) -> &[PlaneBody] {
    match &animation.scene {
        Scene::Plane { bodies, .. } => bodies,
        _ => unreachable!("a plane scene"),
    }
}

fn space(animation: &Animation) -> &[SpaceBody] {
    match &animation.scene {
        Scene::Space { bodies, .. } => bodies,
        _ => unreachable!("a scene in space"),
    }
}

/// The frame of an impact: the one whose clock is nearest.
fn frame(animation: &Animation, time: f64) -> usize {
    let off = |k: &usize| (animation.times[*k] - time).abs();
    let all = 0..animation.times.len();
    all.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap()
}

/// Poses at the impacts are those of the record, to the rounding of frames: 1e-5 of the 50 m that the
/// body travels, and 1e-5 in each entry of a quaternion.
#[test]
fn a_bouncing_body_touches_where_its_record_says() {
    let record = run("ellipsoid-tilted", "");
    let animation = &record.animations[0];
    let body = &space(animation)[0];
    let impacts = record.results["impacts"].as_array().unwrap();
    assert_eq!(animation.impacts.len(), impacts.len());
    let number = |value: &Value| value.as_f64().unwrap();
    for impact in impacts {
        let k = frame(animation, number(&impact["time"]));
        assert!((animation.times[k] - number(&impact["time"])).abs() <= 1e-5);
        for (axis, list) in body.position.iter().enumerate() {
            let off = list[k] - number(&impact["position"][axis]);
            assert!(off.abs() <= 5e-4, "axis {axis} is off by {off}");
        }
        let [x, y, z, w] = body.rotation.each_ref().map(|list| list[k]);
        let shown = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let exact = Matrix3::from_fn(|i, j| number(&impact["rotation"][i][j]));
        let off = (shown.to_rotation_matrix().matrix() - exact).amax();
        assert!(off <= 5e-5, "turned by {off}");
    }
}

/// Many impacts in a short time do not make more frames than a player takes.
#[test]
fn a_long_run_keeps_to_the_frames() {
    for (name, toml) in [
        ("bouncing-body", "duration = 200.0"),
        ("penny", "impacts = 2000"),
        ("zeno-block", "half_cycles = 60"),
    ] {
        let record = run(name, toml);
        for animation in &record.animations {
            assert!(animation.times.len() <= MOST_FRAMES, "{name}");
            assert_eq!(animation.problem(), None, "{name}");
        }
    }
}

/// The rim that hits is on the wall: the front of the drawn penny, or its back.
#[test]
fn the_played_penny_touches_the_wall() {
    let record = run("penny", "");
    let animation = &record.animations[0];
    let body = &plane(animation)[0];
    let rows = &record.tables[0].rows;
    assert_eq!(animation.impacts.len(), rows.len());
    for row in rows {
        let k = frame(animation, row[1]);
        let (sin, cos) = body.angle[k].sin_cos();
        let x = body.x[k] + row[2] * 0.01 * cos;
        let y = body.y[k] + row[2] * 0.01 * sin;
        let level = (x / 0.15).powi(2) + (y / 0.2).powi(2);
        // 1e-5 of a table 0.4 m wide, over the short semi-axis.
        assert!((level - 1.0).abs() <= 4e-4, "impact {}: {level}", row[0]);
    }
}

/// Arrows end with the velocities of the outcome, and the balls only touch while impacts go on.
#[test]
fn the_cradle_hands_its_velocity_on() {
    let record = run("newtons-cradle", "masses = [1.0, 0.5, 3.0]");
    let animation = &record.animations[0];
    let Scene::Plane { arrows, bodies, .. } = &animation.scene else {
        unreachable!("a plane scene")
    };
    // 0.9 m for the 1 m/s of the first ball; the picture is rounded to 1e-5 of its width.
    for (arrow, row) in arrows.iter().zip(&record.tables[0].rows) {
        let [before, after] = [row[2], row[3]];
        assert!((arrow.dx[0] - 0.9 * before).abs() <= 1e-4);
        assert!((arrow.dx.last().unwrap() - 0.9 * after).abs() <= 1e-4);
    }
    for pair in bodies.windows(2) {
        for k in 0..animation.times.len() {
            let gap = pair[1].x[k] - pair[0].x[k] - 1.0;
            assert!(gap >= -1e-4, "balls overlap in frame {k}");
        }
    }
}

/// Halm & Posa, Sec. 5: one corner after the other lifts the block, both together leave it at rest.
#[test]
fn paths_through_the_impact_end_at_the_outcomes() {
    let record = run("rocking-block", "samples = 64");
    let animation = &record.animations[0];
    let lift = 0.21 * (2.0 * 9.81 * 0.01_f64).sqrt();
    let ends: Vec<[f64; 2]> = plane(animation)
        .iter()
        .map(|body| [*body.x.last().unwrap(), *body.y.last().unwrap()])
        .collect();
    let expected = [[lift, 0.0], [0.0, lift], [0.0, 0.0]];
    assert_eq!(ends.len(), expected.len());
    for (end, expected) in ends.iter().flatten().zip(expected.iter().flatten()) {
        assert!((end - expected).abs() <= 1e-5, "{end} for {expected}");
    }
}

/// Position of a point of a body in a frame.
fn point(body: &PlaneBody, [u, v]: [f64; 2], k: usize) -> [f64; 2] {
    let (sin, cos) = body.angle.get(k).copied().unwrap_or(0.0).sin_cos();
    [body.x[k] + cos * u - sin * v, body.y[k] + sin * u + cos * v]
}

/// The lower of the two corners that hit is on the floor at each impact, to 1e-5 of the picture,
/// 2.8 m wide, and a turn of 1e-5 of the corner's 0.7 m.
#[test]
fn the_played_block_hits_with_a_marked_corner() {
    let record = run("tilted-block", "");
    let animation = &record.animations[0];
    let block = &plane(animation)[0];
    assert_eq!(animation.impacts.len(), 5);
    for time in &animation.impacts {
        let k = frame(animation, *time);
        let corners = [[-0.5, -0.5], [0.5, -0.5]].map(|corner| point(block, corner, k)[1]);
        let lowest = corners[0].min(corners[1]);
        assert!(lowest.abs() <= 4e-5, "{corners:?} at {time}");
    }
}

/// Both gaits fall with tail and left foot level, so both touch in the first impact; lengths are in cm,
/// and 1e-5 of the picture and of a turn at the end of a limb of 20 cm are below 1e-3.
#[test]
fn the_played_robot_lands_on_tail_and_foot() {
    let record = run("tail-runner", "");
    for animation in &record.animations {
        // Drawn from back to front: right leg, posterior part, anterior ball, left leg.
        let bodies = plane(animation);
        let k = frame(animation, animation.impacts[0]);
        for body in [&bodies[2], &bodies[5]] {
            let PlaneShape::Line { x, .. } = &body.outlines[0].shape else {
                unreachable!("a limb")
            };
            let end = x.iter().copied().fold(0.0, f64::max);
            let [_, height] = point(body, [end, 0.0], k);
            assert!(height.abs() <= 1e-3, "{}: {height}", animation.name);
        }
    }
}

/// Galperin (2003): 31 impacts. At each the ball is at the wall or at the block, never through either,
/// and 1e-5 of the picture, 3 m wide, is rounding.
#[test]
fn the_light_ball_is_where_it_hits() {
    let record = run("light-ball", "");
    let animation = &record.animations[0];
    let [ball, block] = [0, 1].map(|k| &plane(animation)[k].x);
    assert_eq!(animation.impacts.len(), 31);
    for (k, (ball, block)) in ball.iter().zip(block).enumerate() {
        let gaps = [*ball, block - ball];
        assert!(gaps.iter().all(|gap| *gap >= -4e-5), "frame {k}: {gaps:?}");
        if animation.impacts.contains(&animation.times[k]) {
            assert!(gaps[0].min(gaps[1]) <= 4e-5, "frame {k}: {gaps:?}");
        }
    }
    // Energy: the block leaves with what it brought, but for the ball's share.
    let speed = |x: &[f64]| {
        let last = x.len() - 1;
        let time = animation.times[last] - animation.times[last - 1];
        (x[last] - x[last - 1]) / time
    };
    let energy = speed(ball).powi(2) + 100.0 * speed(block).powi(2);
    // 3e-5 m of rounding in a second, at 100 times the mass.
    assert!((energy - 100.0).abs() <= 2e-2, "{energy}");
}
