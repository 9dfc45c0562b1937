//! Capsules and cylinders on a plane against closed forms.

use super::common::*;
use carom_geometry::{Cylinder, Rounded, Segment, Shape};
use carom_motion::hybrid::Ending;
use carom_world::World;
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

#[test]
fn a_cylinder_meets_no_bodies() {
    let can = body(
        "can",
        cylinder(&Vector3::z_axis(), 0.1, 0.2),
        2.0,
        v(0.0, 0.0, 0.2),
    );
    let other = ball("ball", 0.1, 1.0, v(1.0, 0.0, 0.1));
    let error = World::new(&spec(vec![can, other], vec![floor()], 0.5, 0.0)).unwrap_err();
    assert_eq!(error.kind(), "cylinder-pair");
    assert!(error.to_string().contains("`ball`"), "{error}");
}
