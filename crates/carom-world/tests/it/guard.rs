//! Lasting contact: what friction takes, what the error of the step is, and steps that follow the rates of the contacts.

use super::common::*;
use carom_geometry::{Ellipsoid, Shape};
use carom_motion::hybrid::{Ending, Limits};
use carom_world::{BodySpec, FlightRule, Serial, Stepping, Surface, World, WorldSpec};

fn egg(position_z: f64, spin: nalgebra::Vector3<f64>) -> BodySpec {
    let shape = Shape::Ellipsoid(Ellipsoid::new([0.2, 0.15, 0.1], v(0.0, 0.0, 0.0)).unwrap());
    moving(
        body("egg", shape, 1.0, v(0.0, 0.0, position_z)),
        v(0.1, 0.0, 0.0),
        spin,
    )
}

/// An egg that rocks on the floor; lengths and times as on Earth, but for the step.
fn rocking(gravity: f64, friction: f64, time_step: f64) -> WorldSpec {
    let pace = (gravity / 10.0).sqrt();
    let egg = egg(0.1, v(pace, 2.0 * pace, 0.0));
    let mut spec = spec(vec![egg], vec![floor()], friction, 0.5);
    spec.gravity = v(0.0, 0.0, -gravity);
    spec.time_step = time_step;
    spec
}

/// Without friction nothing is lost, and the error of the energy does not grow as steps become finer: as long as the rates of the
/// contacts make them short, it stays, and from then on it falls with the square of the step.
#[test]
fn a_frictionless_contact_takes_no_energy() {
    let errors = [4e-3, 2e-3, 1e-3, 2.5e-4, 1.25e-4].map(|time_step| {
        let (world, end, _) = run(&rocking(10.0, 0.0, time_step), 1.0);
        assert_eq!(end.ending, Ending::Completed);
        assert!(end.balance.contact_loss.abs() <= 1e-14);
        let energy = |states: &[carom_variational::State]| world.energy(0, &states[0]);
        let start = energy(world.initial_states());
        let change = energy(&end.states) - start;
        let error = end.balance.energy_error;
        assert!(error >= change.abs() * (1.0 - 1e-9) && error > 0.0);
        assert!(error <= 1e-3 * start, "{time_step}: {error:e}");
        error
    });
    for pair in errors.windows(2) {
        assert!(pair[1] <= 1.2 * pair[0], "{errors:?}");
    }
    let ratio = errors[3] / errors[4];
    assert!((ratio - 4.0).abs() <= 0.5, "{errors:?}");
}

/// Friction takes its force times the way that slips; rolling takes nothing.
#[test]
fn friction_takes_force_times_way() {
    let cube = moving(
        cuboid("cube", [0.1; 3], v(0.0, 0.0, 0.1)),
        v(1.0, 0.0, 0.0),
        v(0.0, 0.0, 0.0),
    );
    let (_, end, _) = run(&spec(vec![cube], vec![floor()], 0.2, 0.0), 1.0);
    // It stops: all of its kinetic energy.
    close(end.balance.contact_loss, 0.5, 1e-12);
    assert!(end.balance.energy_error <= 1e-12);
    let ball = moving(
        ball("ball", 0.1, 1.0, v(0.0, 0.0, 0.1)),
        v(0.0, 1.0, 0.0),
        v(-10.0, 0.0, 0.0),
    );
    let (_, end, _) = run(&spec(vec![ball], vec![floor()], 0.2, 0.0), 1.0);
    assert!(end.balance.contact_loss.abs() <= 1e-12 && end.balance.energy_error <= 1e-12);
}

/// Eggs of many shapes and spins at steps within which gravity moves them by a tenth of their size to twice their size: the
/// rates of the contacts make the steps short. The energy rises by no more than a few thousandths; where eggs bounce on their tips
/// many times within a step of the grid, it falls by a few hundredths.
#[test]
fn a_coarse_step_adds_no_energy() {
    for k in 0..12u32 {
        let turn = |step: f64| (f64::from(k) * step).fract();
        let axes = [0.618, 0.414, 0.732].map(|step| 0.05 + 0.35 * turn(step));
        let size = axes.iter().copied().fold(0.0, f64::max);
        let (time_step, friction) = (1e-3, if k % 2 == 0 { 0.3 } else { 0.0 });
        let gravity = [0.1, 0.5, 1.0, 2.0][k as usize % 4] * size / (time_step * time_step);
        let spin = (gravity / size).sqrt() * [0.03, 0.3, 0.9][k as usize % 3];
        let shape = Shape::Ellipsoid(Ellipsoid::new(axes, v(0.0, 0.0, 0.0)).unwrap());
        let egg = moving(
            body("egg", shape, 1.0, v(0.0, 0.0, 1.0001 * axes[2])),
            v(0.0, 0.0, 0.0),
            v(spin, 0.7 * spin, 0.0),
        );
        let mut spec = spec(vec![egg], vec![floor()], friction, 0.0);
        spec.gravity = v(0.0, 0.0, -gravity);
        spec.time_step = time_step;
        let (world, end, _) = run(&spec, 0.02);
        assert_eq!(end.ending, Ending::Completed, "{k}");
        let energy = |states: &[carom_variational::State]| world.energy(0, &states[0]);
        let start = energy(world.initial_states());
        let taken = end.balance.impact_loss + end.balance.contact_loss;
        let change = energy(&end.states) + taken - start;
        let scale = start + gravity * size;
        assert!(
            change <= 5e-3 * scale && change >= -3e-2 * scale,
            "{k}: {change:e} of {start:e}"
        );
    }
}

/// Balls and boxes are moved exactly by any step.
#[test]
fn a_step_is_not_too_large_where_it_is_exact() {
    let ball = moving(
        ball("ball", 0.1, 1.0, v(0.0, 0.0, 0.1)),
        v(3.0, 0.0, 0.0),
        v(0.0, 5.0, 0.0),
    );
    let cube = moving(
        cuboid("cube", [0.1; 3], v(0.0, 2.0, 0.1)),
        v(40.0, 0.0, 0.0),
        v(0.0, 0.0, 0.0),
    );
    let mut spec = spec(vec![ball, cube], vec![floor()], 0.3, 0.0);
    spec.gravity = v(0.0, 0.0, -1e6);
    spec.time_step = 2e-3;
    let (_, end, _) = run(&spec, 0.1);
    assert_eq!(end.ending, Ending::Completed);
    assert!(end.balance.energy_error <= 1e-12 * 1e6);
}

/// A duration or a sample time that is no time ends a run at its start, and is named with its range.
#[test]
fn limits_and_sample_times_are_checked() {
    let world = carom_world::World::new(&rocking(10.0, 0.3, 2e-3)).unwrap();
    let refused = |duration: f64, samples: &[f64]| {
        let (end, log) = run_with(&world, &moreau, limits(duration), samples);
        assert!(end.time == 0.0 && log.samples.is_empty() && log.impacts.is_empty());
        match end.ending {
            Ending::Stopped(error) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    for duration in [-1.0, f64::NAN] {
        let expected = format!("duration {duration} must be at least 0");
        assert_eq!(refused(duration, &[]), expected);
    }
    for samples in [
        &[-1.0][..],
        &[f64::NAN],
        &[0.0, f64::INFINITY],
        &[0.0, 0.2, 0.1],
    ] {
        let text = refused(1.0, samples);
        assert!(
            text.ends_with("must be finite, at least 0 and ascending"),
            "{text}"
        );
    }
}

/// Numbers, names and pairs of a specification are named where they are senseless.
#[test]
fn names_pairs_and_numbers_of_a_world_are_checked() {
    let balls = || {
        let place = |x| v(x, 0.0, 1.0);
        vec![
            ball("a", 0.1, 1.0, place(0.0)),
            ball("b", 0.1, 1.0, place(1.0)),
        ]
    };
    let refused = |change: &dyn Fn(&mut WorldSpec)| {
        let mut spec = spec(balls(), vec![floor()], 0.1, 0.5);
        change(&mut spec);
        World::new(&spec).unwrap_err().to_string()
    };
    let surface = |friction: f64| Surface::new(friction, 0.5);
    let indices = "must be two different indices of bodies and planes, below 3";
    for pair in [[0, 3], [3, 0], [usize::MAX, 1], [1, 1]] {
        let text = refused(&|spec| spec.pairs = vec![(pair, surface(0.1))]);
        assert_eq!(text, format!("pair [{}, {}] {indices}", pair[0], pair[1]));
    }
    let twice = |second: f64| vec![([0, 1], surface(0.1)), ([1, 0], surface(second))];
    let text = refused(&|spec| spec.pairs = twice(0.2));
    assert_eq!(text, "pair [1, 0] must be listed once, or with one surface");
    let mut one = spec(balls(), vec![floor()], 0.1, 0.5);
    one.pairs = twice(0.1);
    assert!(World::new(&one).is_ok());
    for name in ["b", "floor"] {
        let text = refused(&|spec| name.clone_into(&mut spec.bodies[0].name));
        let expected = format!("name `{name}` must be unique among bodies and planes");
        assert_eq!(text, expected);
    }
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let text = refused(&|spec| spec.gravity.y = x);
        assert_eq!(text, format!("gravity {x} must be finite"));
    }
    for x in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        let text = refused(&|spec| spec.time_step = x);
        assert_eq!(text, format!("time step {x} must be positive and finite"));
    }
    for x in [f64::NAN, f64::INFINITY, -1.0] {
        let text = refused(&|spec| spec.surface.friction = x);
        assert_eq!(text, format!("friction {x} must be at least 0 and finite"));
    }
    for x in [f64::NAN, -1.0, 2.0] {
        let text = refused(&|spec| spec.surface.restitution = x);
        assert_eq!(text, format!("restitution {x} must be in [0, 1]"));
    }
}

/// A run without a limit of time ends when nothing moves any more, event-driven or in steps, exactly or discretely.
#[test]
fn a_run_without_end_ends_at_rest() {
    let balls = vec![
        ball("a", 0.1, 1.0, v(0.0, 0.0, 1.0)),
        cuboid("b", [0.1, 0.2, 0.1], v(1.0, 0.0, 0.5)),
    ];
    let limits = Limits::duration(f64::INFINITY);
    for flight in [FlightRule::Exact, FlightRule::Lgvi] {
        let mut spec = spec(balls.clone(), vec![floor()], 0.3, 0.5);
        spec.flight = flight;
        let world = World::new(&spec).unwrap();
        let (end, log) = run_with(&world, &moreau, limits, &[0.5, 100.0]);
        assert_eq!((end.ending, log.samples.len()), (Ending::AtRest, 2));
        assert!(end.time.is_finite() && end.states.iter().all(|s| s.position.z < 0.2));
        assert!(end.balance.supports.iter().all(|s| s.norm().is_finite()));
        let stepping = Stepping::default();
        let end = world.run_in_steps(&stepping, &limits, &[], &Serial, &mut |_| ());
        assert_eq!(end.ending, Ending::AtRest);
        assert!(end.time > 0.5 && end.time < 60.0, "{}", end.time);
    }
    // Nothing falls, and nothing meets.
    let mut spec = spec(balls, vec![], 0.3, 0.5);
    spec.gravity = v(0.0, 0.0, 0.0);
    let (end, _) = run_with(&World::new(&spec).unwrap(), &moreau, limits, &[]);
    assert_eq!(end.ending, Ending::AtRest);
    spec.bodies[0].velocity = v(-1.0, 0.0, 0.0);
    let (end, _) = run_with(&World::new(&spec).unwrap(), &moreau, limits, &[]);
    assert_eq!(end.ending, Ending::NeverHits);
}
