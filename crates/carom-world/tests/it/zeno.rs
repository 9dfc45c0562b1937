//! Impacts that accumulate in a world: `on_zeno` is obeyed, also once the rebounds become rounding.

use super::common::*;
use carom_geometry::{Ellipsoid, Rounded, Segment, Shape};
use carom_impact::two_body::ImpactOptions;
use carom_motion::hybrid::Ending;
use carom_world::{Event, Laws, OnZeno, RunEnd, SingleLaw, World, WorldSpec};
use nalgebra::Vector3;

fn run_on_zeno(spec: &WorldSpec, on_zeno: OnZeno, duration: f64) -> (RunEnd, Vec<f64>) {
    let laws =
        Laws::new(SingleLaw::TwoBody(ImpactOptions::default()), &moreau).with_on_zeno(on_zeno);
    let world = World::new(spec).unwrap();
    let mut established = Vec::new();
    let end = world.run(&laws, &limits(duration), &[], &mut |event| {
        if let Event::Established { time, .. } = event {
            established.push(time);
        }
    });
    (end, established)
}

/// A ball that falls from rest; with its steps, restitution, and time of the accumulation.
fn balls() -> Vec<(WorldSpec, f64)> {
    let mut out = Vec::new();
    for (restitution, time_step) in [(0.3, 1e-3), (0.7, 1e-2), (0.8, 1e-3), (0.9, 1e-2)] {
        let height = 1.5;
        let ball = moving(
            ball("ball", 0.1, 2.0, v(0.0, 0.0, 0.1 + height)),
            v(0.0, 0.0, 0.0),
            v(0.0, 0.0, 7.0),
        );
        let mut spec = spec(vec![ball], vec![floor()], 0.3, restitution);
        spec.time_step = time_step;
        let speed = (2.0 * G * height).sqrt();
        let rest = speed / G * (1.0 + 2.0 * restitution / (1.0 - restitution));
        out.push((spec, rest));
    }
    out
}

/// The accumulation is the sum of the geometric series of intervals, to the rounding of the first impacts.
#[test]
fn a_run_stops_where_impacts_accumulate() {
    for (spec, rest) in balls() {
        let (end, established) = run_on_zeno(&spec, OnZeno::Stop, rest + 0.1);
        let Ending::Zeno { accumulation } = end.ending else {
            panic!("{:?}", end.ending);
        };
        close(accumulation, rest, 1e-13);
        close(end.time, rest, 1e-13);
        // Within the contact tolerance.
        close(end.states[0].position.z, 0.1, 1e-10);
        assert!(established.is_empty());
    }
}

/// The series ends no later than the time that was asked for.
#[test]
fn an_accumulation_is_never_beyond_the_end() {
    let (spec, rest) = balls().remove(3);
    let duration = rest - 1e-9;
    let (end, _) = run_on_zeno(&spec, OnZeno::Stop, duration);
    assert!(end.time <= duration, "{}", end.time);
}

/// A box that falls flat, and an ellipsoid: their rebounds become rounding before the series has ended.
#[test]
fn accumulations_of_bodies_without_closed_forms_are_extrapolated() {
    let (half, place) = ([0.2, 0.1, 0.15], v(0.0, 0.0, 0.15 + 1.2));
    let ellipsoid = Shape::Ellipsoid(Ellipsoid::new(half, v(0.0, 0.0, 0.0)).unwrap());
    // The corners of a box come down one after the other, once rounding has turned it.
    for (falling, tolerance) in [
        (cuboid("box", half, place), 1e-7),
        (body("egg", ellipsoid, 1.0, place), 1e-10),
    ] {
        for restitution in [0.4, 0.62, 0.8] {
            let spec = spec(vec![falling.clone()], vec![floor()], 0.0, restitution);
            let rest = (2.4f64 / G).sqrt() * (1.0 + restitution) / (1.0 - restitution);
            let (end, _) = run_on_zeno(&spec, OnZeno::Stop, rest + 0.1);
            let Ending::Zeno { accumulation } = end.ending else {
                panic!("{:?}", end.ending);
            };
            close(accumulation, rest, tolerance);
            close(end.time, rest, 1e-6);
        }
    }
}

#[test]
fn a_contact_lasts_from_where_impacts_accumulate() {
    for (spec, rest) in balls() {
        let (end, established) = run_on_zeno(&spec, OnZeno::Rest, rest + 0.1);
        assert_eq!(end.ending, Ending::Completed);
        assert_eq!(established.len(), 1);
        close(established[0], rest, 1e-5 * spec.time_step);
    }
}

#[test]
fn impacts_that_are_never_merged_end_in_the_limit_of_events() {
    for (spec, rest) in balls() {
        let (end, established) = run_on_zeno(&spec, OnZeno::Continue, rest + 0.1);
        let Ending::Stopped(error) = &end.ending else {
            panic!("{:?}", end.ending);
        };
        assert_eq!(error.kind(), "event-limit");
        assert!(established.is_empty());
        close(end.time, rest, 1e-6);
    }
}

/// An upright capsule.
fn capsule(radius: f64, half_length: f64) -> Shape {
    let core = Segment::new(half_length, &Vector3::z_axis(), v(0.0, 0.0, 0.0)).unwrap();
    Shape::Rounded(Box::new(
        Rounded::new(Shape::Segment(core), radius).unwrap(),
    ))
}

/// Time at which the rebounds of a body end that falls from rest by `height` (m).
fn rest_after(height: f64, restitution: f64) -> f64 {
    (2.0 * height / G).sqrt() * (1.0 + restitution) / (1.0 - restitution)
}

/// A ball that falls onto the top of another, fixed one. Gravity acts on one of the two, so the times of their impacts have no
/// closed form.
fn ball_on_ball(height: f64, restitution: f64, radius: f64) -> WorldSpec {
    let falling = ball("ball", radius, 2.0, v(0.0, 0.0, 2.0 * radius + height));
    let below = fixed(ball("below", radius, 1.0, v(0.0, 0.0, 0.0)));
    spec(vec![falling, below], vec![], 0.2, restitution)
}

#[test]
fn impacts_of_a_ball_on_a_fixed_ball_accumulate() {
    for (restitution, radius, height, time_step) in [
        (0.4, 1.0, 1.7, 1e-2),
        (0.7, 1.0, 1.7, 1e-2),
        (0.7, 0.01, 0.3, 1e-3),
        (0.9, 1.0, 1.7, 1e-3),
        (0.9, 10.0, 20.0, 1e-2),
        (0.96, 0.1, 0.5, 1e-3),
    ] {
        let mut spec = ball_on_ball(height, restitution, radius);
        spec.time_step = time_step;
        let rest = rest_after(height, restitution);
        let (end, _) = run_on_zeno(&spec, OnZeno::Stop, rest + 0.1);
        let Ending::Zeno { accumulation } = end.ending else {
            panic!("{restitution} {radius}: {:?}", end.ending);
        };
        close(accumulation, rest, 1e-9);
        close(end.time, rest, 1e-6 * rest);
        let (end, established) = run_on_zeno(&spec, OnZeno::Rest, rest + 0.1);
        assert_eq!(end.ending, Ending::Completed);
        assert_eq!(established.len(), 1);
        close(established[0], rest, 1e-6 * rest);
    }
}

/// Restitution coefficients near one: the rounding of the gap sustains rebounds whose intervals do not shrink any more.
#[test]
fn rebounds_that_rounding_sustains_have_accumulated() {
    let half = [0.15, 0.12, 0.1];
    let ellipsoid = Shape::Ellipsoid(Ellipsoid::new(half, v(0.0, 0.0, 0.0)).unwrap());
    for (name, shape, lowest) in [("egg", ellipsoid, 0.1), ("capsule", capsule(0.1, 0.1), 0.2)] {
        for restitution in [0.95, 0.98] {
            let falling = body(name, shape.clone(), 1.0, v(0.0, 0.0, lowest + 0.5));
            let spec = spec(vec![falling], vec![floor()], 0.3, restitution);
            let rest = rest_after(0.5, restitution);
            let (end, _) = run_on_zeno(&spec, OnZeno::Stop, rest + 0.1);
            let Ending::Zeno { accumulation } = end.ending else {
                panic!("{name} {restitution}: {:?}", end.ending);
            };
            close(accumulation, rest, 1e-6 * rest);
        }
    }
}
