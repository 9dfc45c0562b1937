//! Bodies of all sizes: searches end, and what the coordinates cannot tell is refused.

use super::common::*;
use carom_geometry::{Cuboid, Ellipsoid, Shape};
use carom_motion::hybrid::{Ending, Limits};
use carom_world::{BodySpec, FlightRule, MotionError, RunEnd, World};

fn egg(size: f64, height: f64) -> BodySpec {
    let axes = [size, 0.7 * size, 0.5 * size];
    let shape = Shape::Ellipsoid(Ellipsoid::new(axes, v(0.0, 0.0, 0.0)).unwrap());
    body("egg", shape, 1.0, v(0.0, 0.0, height))
}

fn brick(size: f64, height: f64) -> BodySpec {
    let shape = Shape::Cuboid(Cuboid::new([size, 0.8 * size, 0.5 * size]).unwrap());
    body("brick", shape, 1.0, v(0.0, 0.0, height))
}

fn small_ball(size: f64, height: f64) -> BodySpec {
    ball("ball", 0.5 * size, 1.0, v(0.0, 0.0, height))
}

/// A body falls by 1.4 m onto a plane or a fixed box, whatever its size: $t = \sqrt{2h/g}$.
#[test]
fn a_body_of_any_size_falls_to_the_floor() {
    let table = fixed(cuboid("table", [1.0, 1.0, 0.5], v(0.0, 0.0, -0.5)));
    for size in [1e-12, 1e-9, 1e-5, 1.0, 1e6] {
        for make in [egg, brick, small_ball] {
            for on_table in [false, true] {
                // The places of the table and of a body on it are rounded by a tenth of a femtometer.
                if on_table && !(1e-6..0.1).contains(&size) {
                    continue;
                }
                let falling = make(size, 1.4 + 0.5 * size);
                let spec = if on_table {
                    spec(vec![falling, table.clone()], vec![], 0.3, 0.5)
                } else {
                    spec(vec![falling], vec![floor()], 0.3, 0.5)
                };
                let world = World::new(&spec).unwrap();
                let limits = Limits::duration(1.0).with_impacts(1);
                let (end, log) = run_with(&world, &moreau, limits, &[]);
                assert_eq!(end.ending, Ending::MaxImpacts, "{size}");
                close(log.impacts[0].time, (2.8 / G).sqrt(), 1e-9);
            }
        }
    }
}

/// Two bodies meet head on at the origin, where their coordinates are fine; one of them spins.
#[test]
fn bodies_of_any_size_meet() {
    for size in [1e-9_f64, 1e-3, 1e6] {
        for make in [egg, brick, small_ball] {
            let distance = 0.7 + 3.0 * size;
            let spin = v(0.1, 0.2, 0.0) / size.max(1e-3);
            let mut first = moving(make(size, -distance), v(0.0, 0.0, 1.0), spin);
            first.name = "first".to_owned();
            let second = moving(make(size, distance), v(0.0, 0.0, -1.0), v(0.0, 0.0, 0.0));
            let mut spec = spec(vec![first, second], vec![], 0.0, 0.8);
            spec.gravity = v(0.0, 0.0, 0.0);
            let world = World::new(&spec).unwrap();
            let limits = Limits::duration(2.0 * distance).with_impacts(1);
            let (end, log) = run_with(&world, &moreau, limits, &[]);
            assert_eq!(end.ending, Ending::MaxImpacts, "{size}");
            let time = log.impacts[0].time;
            assert!(time >= distance - size && time <= distance - 0.4 * size);
        }
    }
}

/// The run stops within 0.01 s from `begins` (s) on, since a body rotates too far to be followed.
#[track_caller]
fn assert_is_given_up(end: &RunEnd, begins: f64) {
    let Ending::Stopped(error) = &end.ending else {
        panic!("{:?}", end.ending);
    };
    assert_eq!(error.kind(), "flight-too-long");
    let time = end.time;
    assert!(time >= begins && time <= begins + 0.01, "{time}");
}

/// A body that tumbles by more than can be followed is given up by name, as soon as nothing is left on its way before: while
/// it falls, or after an impact.
#[test]
fn a_spin_without_end_is_not_followed() {
    let spinning = moving(egg(1e-9, 1.4), v(0.0, 0.0, 0.0), v(1e9, 3e8, 0.0));
    let falling = |make: fn(f64, f64) -> BodySpec| {
        moving(make(1e-9, 1.4), v(0.0, 0.0, 0.0), v(3.0, 2.0, 0.0))
    };
    for (body, begins) in [
        (spinning, 0.0),
        (falling(egg), 0.53),
        (falling(brick), 0.53),
    ] {
        let (_, end, _) = run(&spec(vec![body], vec![floor()], 0.3, 0.5), 3.0);
        assert_is_given_up(&end, begins);
    }
}

/// Two bodies side by side that spin too fast to be followed are given up as soon as neither can meet anything, in the air and
/// after their impacts.
#[test]
fn spins_without_end_are_not_followed_side_by_side() {
    let pair = |make: fn(f64, f64) -> BodySpec, size: f64, height: f64, spin| {
        let (mut first, mut second) = (make(size, height), make(size, height));
        (first.name, second.name) = ("first".to_owned(), "second".to_owned());
        second.configuration.translation.x = 5.0 * size;
        vec![
            moving(first, v(0.0, 0.0, 0.0), spin),
            moving(second, v(0.0, 0.0, 0.0), spin),
        ]
    };
    for (bodies, begins, duration) in [
        (pair(egg, 1e6, 2e6, v(300.0, 500.0, -2000.0)), 0.0, 640.0),
        (pair(egg, 1e-9, 1.4, v(3.0, 2.0, 0.0)), 0.53, 3.0),
        (pair(brick, 1e-8, 0.02, v(3.0, 2.0, 0.0)), 0.06, 3.0),
    ] {
        let (_, end, _) = run(&spec(bodies, vec![floor()], 0.5, 0.5), duration);
        assert_is_given_up(&end, begins);
    }
}

/// A body that would rotate by hundreds of revolutions within a step of lasting contact is given up: each of the many flights of
/// such a step would take as long as a second.
#[test]
fn a_step_of_lasting_contact_does_not_rotate_without_end() {
    let falling = moving(brick(1e-8, 1.4), v(0.0, 0.0, 0.0), v(3.0, 2.0, 0.0));
    let (_, end, _) = run(&spec(vec![falling], vec![floor()], 0.5, 0.0), 3.0);
    assert_is_given_up(&end, 0.53);
}

/// A body cannot lie on a floor if its coordinates are rounded by more than contacts are deep.
#[test]
fn places_whose_rounding_is_more_than_a_contact_are_refused() {
    for far in [1.7e308, 1e100, 1e12, 1e7] {
        for place in [v(far, 0.0, 0.1), v(0.0, -far, 0.1)] {
            let mut resting = cuboid("far", [0.1; 3], place);
            let spec_of = |body: &BodySpec| spec(vec![body.clone()], vec![floor()], 0.3, 0.0);
            let error = World::new(&spec_of(&resting)).unwrap_err();
            assert_eq!(error.kind(), "coarse-coordinates");
            resting.configuration.translation = v(1e3, 0.0, 0.1);
            assert!(World::new(&spec_of(&resting)).is_ok());
        }
    }
}

/// A body that slides so far that its coordinates are rounded by more is given up on its way.
#[test]
fn a_body_that_slides_too_far_stops() {
    for speed in [1e9, 1e12] {
        let sliding = moving(
            cuboid("sliding", [0.1; 3], v(0.0, 0.0, 0.1)),
            v(speed, 0.0, 0.0),
            v(0.0, 0.0, 0.0),
        );
        let (_, end, _) = run(&spec(vec![sliding], vec![floor()], 0.0, 0.0), 1.0);
        let Ending::Stopped(error) = end.ending else {
            panic!("{:?}", end.ending);
        };
        assert_eq!(error.kind(), "coarse-coordinates");
        assert!(end.time < 1.0);
    }
}

/// A cube turns steadily, so it does not tumble; turning by a million radians and more in a step, near a floor, it is
/// given up by name, and so is a speed whose energy is no number.
#[test]
fn speeds_without_end_are_refused() {
    let cube = |speed: f64, spin: f64| {
        let cube = cuboid("cube", [0.1; 3], v(0.0, 0.0, 0.5));
        moving(cube, v(speed, 0.0, 0.0), v(spin, 0.0, 0.0))
    };
    for spin in [1e12, 1e30] {
        let spec = spec(vec![cube(0.0, spin)], vec![floor()], 0.3, 0.5);
        let (_, end, _) = run(&spec, 1.0);
        let Ending::Stopped(error) = end.ending else {
            panic!("{:?}", end.ending);
        };
        assert_eq!(error.kind(), "contact-search-limit");
    }
    let spec = spec(vec![cube(1e200, 0.0)], vec![floor()], 0.3, 0.5);
    assert_eq!(World::new(&spec).unwrap_err().kind(), "invalid-value");
}

/// A ball of a nanometer that falls by a billion radii comes to rest, as deep as the rounding of its fall.
#[test]
fn a_small_ball_comes_to_rest() {
    for flight in [FlightRule::Exact, FlightRule::Lgvi] {
        for (restitution, spin) in [(0.5, 0.0), (0.5, 2.0), (0.62, 1.0), (0.0, 2.0)] {
            let falling = moving(small_ball(1.4e-9, 1.4), v(0.0, 0.0, 0.0), v(spin, 0.0, 0.0));
            let mut spec = spec(vec![falling], vec![floor()], 0.3, restitution);
            spec.flight = flight;
            let world = World::new(&spec).unwrap();
            let (end, _) = run_with(&world, &moreau, limits(3.0), &[]);
            assert_eq!(end.ending, Ending::Completed, "{restitution} {spin}");
            close(end.states[0].position.z, 0.7e-9, 1e-15);
        }
    }
}

/// A tiny body that tumbles on after its impact turns by thousands of turns in a step: the error says so, at once.
#[test]
fn a_step_in_which_a_tiny_body_turns_too_far_is_too_large() {
    for make in [egg, brick] {
        let falling = moving(make(1e-9, 1.4), v(0.0, 0.0, 0.0), v(2.0, 1.0, 0.0));
        let mut spec = spec(vec![falling], vec![floor()], 0.3, 0.5);
        spec.flight = FlightRule::Lgvi;
        let world = World::new(&spec).unwrap();
        let (end, _) = run_with(&world, &moreau, limits(2.0), &[]);
        let Ending::Stopped(MotionError::Flight { source, .. }) = end.ending else {
            panic!("{:?}", end.ending);
        };
        assert_eq!(source.kind(), "step-too-large", "{source}");
    }
}
