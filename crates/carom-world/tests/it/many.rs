//! Forces of lasting contacts that differ by orders of magnitude, or are many.

use super::common::*;
use carom_geometry::{Polyhedron, Shape};
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_world::BodySpec;

/// A box of mass ratio up to 1e6 on another, at rest or turned: the floor carries both.
#[test]
fn a_heavy_box_rests_on_a_light_one() {
    for (ratio, friction) in [(3e4, 0.3), (3e4, 0.8), (1.0 / 3e4, 0.3), (1e6, 0.0)] {
        for turn in [0.0, 0.4] {
            let low = cuboid("low", [0.2, 0.15, 0.1], v(0.0, 0.0, 0.1));
            let shape = cuboid("", [0.1, 0.12, 0.1], v(0.0, 0.0, 0.0)).shape;
            let mut high = body("high", shape, ratio, v(0.04, 0.0, 0.3));
            high.configuration.rotation = So3::exp(&v(0.0, 0.0, turn));
            let duration = 0.1;
            let (_, end, _) = run(
                &spec(vec![low, high], vec![floor()], friction, 0.0),
                duration,
            );
            assert_eq!(end.ending, Ending::Completed, "{ratio} {turn}");
            let weight = (1.0 + ratio) * G * duration;
            near(&(end.balance.supports[2] / weight), &v(0.0, 0.0, 1.0), 1e-6);
            for (state, height) in end.states.iter().zip([0.1, 0.3]) {
                close(state.position.z, height, 1e-9);
            }
        }
    }
}

/// A disk of many corners, tilted, a millimeter above the floor.
fn disk(corners: usize, tilt: f64) -> BodySpec {
    let corner = |k: usize| {
        let angle = std::f64::consts::TAU * (k / 2) as f64 / corners as f64;
        let height = if k.is_multiple_of(2) { -0.0064 } else { 0.0064 };
        v(0.0375 * angle.cos(), 0.0375 * angle.sin(), height)
    };
    let vertices: Vec<_> = (0..2 * corners).map(corner).collect();
    let shape = Shape::Polyhedron(Polyhedron::new(&vertices).unwrap());
    let height = 0.0064 * tilt.cos() + 0.0375 * tilt.sin() + 0.001;
    let mut disk = body("disk", shape, 1.0, v(0.0, 0.0, height));
    disk.configuration.rotation = So3::exp(&v(tilt, 0.0, 0.0));
    disk
}

/// A disk of 128 corners falls on its edge, rattles along it and lies down on all of its corners.
#[test]
fn a_disk_of_many_corners_comes_to_rest() {
    let disk = moving(disk(128, 0.02), v(0.1, 0.0, 0.0), v(0.5, 0.3, 2.0));
    let (world, end, _) = run(&spec(vec![disk], vec![floor()], 0.3, 0.0), 0.12);
    assert_eq!(end.ending, Ending::Completed);
    let (velocity, spin) = world.velocity(0, &end.states[0]);
    assert!(velocity.norm() <= 1e-9 && spin.norm() * 0.0375 <= 1e-9);
    close(end.states[0].position.z, 0.0064, 1e-9);
    assert!(end.lowest_gap >= -1e-10);
}

/// A heavy box falls askew onto a light one on the floor. After an impact it leaves from a depth within the contact tolerance, by less
/// than the rounding of the gap: that is no touch until it comes back, and no ten thousand of them (the run ended with `event-limit`).
#[test]
fn a_heavy_box_comes_to_rest_on_a_light_one() {
    let low = cuboid("low", [0.3, 0.25, 0.1], v(0.0, 0.0, 0.1));
    let shape = cuboid("", [0.2, 0.2, 0.1], v(0.0, 0.0, 0.0)).shape;
    let up = body("up", shape, 3e4, v(0.05, 0.02, 0.35));
    let up = moving(up, v(0.0, 0.0, 0.0), v(0.3, 0.2, 0.1));
    let mut spec = spec(vec![low, up], vec![floor()], 0.3, 0.3);
    spec.time_step = 1e-3;
    let (_, end, _) = run(&spec, 0.2);
    assert_eq!(end.ending, Ending::Completed);
    assert!(end.lowest_gap >= -1e-9);
}
