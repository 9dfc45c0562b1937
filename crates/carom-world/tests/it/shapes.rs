//! Capsules and cylinders on planes and bodies against closed forms.

use super::common::*;
use carom_geometry::{Cuboid, Cylinder, Rounded, Segment, Shape};
use carom_lie::{Se3, So3};
use carom_motion::hybrid::Ending;
use carom_world::BodySpec;
use nalgebra::{UnitVector3, Vector3};

fn cylinder(axis: &UnitVector3<f64>, radius: f64, half_length: f64) -> Shape {
    Shape::Cylinder(Cylinder::new(radius, half_length, axis, Vector3::zeros()).unwrap())
}

fn capsule(axis: &UnitVector3<f64>, radius: f64, half_length: f64) -> Shape {
    let core = Shape::Segment(Segment::new(half_length, axis, Vector3::zeros()).unwrap());
    Shape::Rounded(Box::new(Rounded::new(core, radius).unwrap()))
}

/// A can lets itself be placed on an end, and a roller on its side: neither moves.
#[test]
fn cylinders_rest_on_an_end_and_on_the_side() {
    let standing = body(
        "standing",
        cylinder(&Vector3::z_axis(), 0.1, 0.2),
        2.0,
        v(0.0, 0.0, 0.2),
    );
    let lying = body(
        "lying",
        cylinder(&Vector3::y_axis(), 0.1, 0.2),
        2.0,
        v(1.0, 0.0, 0.1),
    );
    let mut world = spec(vec![standing, lying], vec![floor()], 0.5, 0.0);
    world
        .pairs
        .push(([0, 1], world.surface.with_collide(false)));
    let (_, end, log) = run(&world, 1.0);
    assert_eq!((end.ending, log.impacts.len()), (Ending::Completed, 0));
    near(&end.states[0].position, &v(0.0, 0.0, 0.2), 1e-11);
    near(&end.states[1].position, &v(1.0, 0.0, 0.1), 1e-11);
}

/// Rolling down a plane of slope α a body of inertia $J$ about its axis accelerates by $g\sin\alpha/(1 + J/mr^2)$: two
/// thirds of $g\sin\alpha$ for a cylinder.
#[test]
fn cylinders_and_capsules_roll_down_a_plane() {
    let (angle, radius, half) = (0.2_f64, 0.1, 0.3);
    let n = v(angle.sin(), 0.0, angle.cos());
    let down = v(angle.cos(), 0.0, -angle.sin());
    for shape in [
        cylinder(&Vector3::y_axis(), radius, half),
        capsule(&Vector3::y_axis(), radius, half),
    ] {
        let roller = body("roller", shape, 1.5, n * radius);
        let inertia = roller.mass.as_ref().unwrap().inertia().m22;
        let a = G * angle.sin() / (1.0 + inertia / (1.5 * radius * radius));
        let (_, end, _) = run(
            &spec(vec![roller], vec![plane("slope", n, 0.0)], 0.9, 0.0),
            1.0,
        );
        assert_eq!(end.ending, Ending::Completed);
        let place = &end.states[0].position;
        close(down.dot(place), 0.5 * a, 1e-6);
        close(n.dot(place), radius, 1e-10);
        close(place.y, 0.0, 1e-10);
    }
}

/// A capsule that falls level hits with both ends at once, and its center bounces as a ball's would.
#[test]
fn a_level_capsule_bounces_without_turning() {
    let pill = body(
        "pill",
        capsule(&Vector3::x_axis(), 0.1, 0.3),
        1.0,
        v(0.0, 0.0, 1.1),
    );
    let (_, end, log) = run(&spec(vec![pill], vec![floor()], 0.0, 0.5), 0.6);
    assert_eq!(log.impacts[0].contacts.len(), 2);
    close(log.impacts[0].time, (2.0 / G).sqrt(), 1e-12);
    let since = 0.6 - log.impacts[0].time;
    let speed = 0.5 * (2.0 * G).sqrt();
    close(
        end.states[0].position.z,
        0.1 + speed * since - 0.5 * G * since * since,
        1e-11,
    );
}

fn fixed(name: &str, half_extents: [f64; 3], turn: f64, place: Vector3<f64>) -> BodySpec {
    let shape = Shape::Cuboid(Cuboid::new(half_extents).unwrap());
    let pose = Se3::new(So3::exp(&v(0.0, turn, 0.0)), place);
    BodySpec::new(name, None, shape, pose)
}

/// A cylinder rolls down the face of a box as down a plane.
#[test]
fn cylinders_roll_down_a_box() {
    let (angle, radius) = (0.2_f64, 0.1);
    let n = v(angle.sin(), 0.0, angle.cos());
    let down = v(angle.cos(), 0.0, -angle.sin());
    let slope = fixed("slope", [20.0, 1.0, 0.5], angle, n * -0.5);
    let roller = body(
        "roller",
        cylinder(&Vector3::y_axis(), radius, 0.3),
        1.5,
        n * radius,
    );
    let (_, end, _) = run(&spec(vec![roller, slope], vec![], 0.9, 0.0), 1.0);
    assert_eq!(end.ending, Ending::Completed);
    let place = &end.states[0].position;
    close(down.dot(place), 0.5 * G * angle.sin() / 1.5, 1e-6);
    close(n.dot(place), radius, 1e-8);
    close(place.y, 0.0, 1e-9);
}

/// Five coins, each a little beside the one below, rest on a table.
#[test]
fn coins_rest_on_each_other() {
    let table = fixed("table", [1.0, 1.0, 0.2], 0.0, v(0.0, 0.0, -0.2));
    let mut bodies = vec![table];
    for k in 0..5 {
        let off = 0.01 * f64::from(k % 2);
        let place = v(off, 0.3 * off, 0.02 + 0.04 * f64::from(k));
        bodies.push(body(
            &format!("coin{k}"),
            cylinder(&Vector3::z_axis(), 0.1, 0.02),
            0.5,
            place,
        ));
    }
    let world = spec(bodies, vec![], 0.4, 0.0);
    let starts: Vec<_> = world
        .bodies
        .iter()
        .map(|b| b.configuration.translation)
        .collect();
    let (_, end, _) = run(&world, 0.5);
    assert_eq!(end.ending, Ending::Completed);
    for (state, start) in end.states.iter().zip(&starts) {
        near(&state.position, start, 1e-6);
    }
}

/// A coin over the edge of a table stays if its center is on it, and falls if not.
#[test]
fn a_coin_falls_by_its_center() {
    for (inside, stays) in [(1e-3, true), (-1e-3, false)] {
        let table = fixed("table", [1.0, 1.0, 0.2], 0.0, v(0.0, 0.0, -0.2));
        let coin = body(
            "coin",
            cylinder(&Vector3::z_axis(), 0.1, 0.02),
            0.5,
            v(1.0 - inside, 0.0, 0.02),
        );
        let (_, end, _) = run(&spec(vec![coin, table], vec![], 0.5, 0.0), 0.4);
        assert_eq!(end.ending, Ending::Completed);
        let sinks = 0.02 - end.states[0].position.z;
        assert_eq!(sinks <= 1e-9, stays, "{inside}: {sinks:e}");
    }
}

/// A ball dropped on the side of a fixed cylinder, on its end and on its rim, without friction: the normals are across the axis, along
/// it, and across the rim through the center of the ball.
#[test]
fn a_ball_bounces_off_side_end_and_rim() {
    let post = |axis: &UnitVector3<f64>| {
        let shape = cylinder(axis, 0.3, 0.5);
        BodySpec::new("post", None, shape, Se3::identity())
    };
    let (r, s) = (0.1, 0.6_f64.asin());
    for (axis, x, normal, height) in [
        (Vector3::y_axis(), 0.4 * 0.6, v(0.6, 0.0, 0.8), 0.4 * 0.8),
        (Vector3::z_axis(), 0.2, Vector3::z(), 0.6),
        (
            Vector3::z_axis(),
            0.3 + r * s.sin(),
            v(0.6, 0.0, 0.8),
            0.5 + r * s.cos(),
        ),
    ] {
        let ball = ball("ball", r, 1.0, v(x, 0.0, height + 0.5));
        let (_, end, log) = run(&spec(vec![ball, post(&axis)], vec![], 0.0, 1.0), 0.35);
        assert_eq!(end.n_impacts, 1, "{axis:?} {x}");
        let impact = &log.impacts[0];
        close(impact.time, (1.0 / G).sqrt(), 1e-10);
        near(&impact.contacts[0].normal, &normal, 1e-8);
        let before = v(0.0, 0.0, -G * impact.time);
        let after = before - normal * (2.0 * before.dot(&normal));
        let velocity = impact.states[0].1.linear_momentum;
        near(&velocity, &after, 1e-8);
    }
}
