//! Contacts of time stepping that yield a little: loads that rest, and what springs leave.

use super::common::{G, ball, body, close, cuboid, floor, limits, spec, v};
use carom_geometry::{Cuboid, Shape};
use carom_motion::hybrid::Ending;
use carom_world::{MotionError, RunEnd, Serial, Stepping, World, WorldSpec};

fn run(spec: &WorldSpec, duration: f64, deflection: f64) -> (World, RunEnd) {
    let world = World::new(spec).unwrap();
    let stepping = Stepping::default().with_deflection(deflection).unwrap();
    let end = world.run_in_steps(&stepping, &limits(duration), &[], &Serial, &mut |_| ());
    assert_eq!(end.ending, Ending::Completed);
    (world, end)
}

/// Largest way of a body (m).
fn moved(world: &World, end: &RunEnd) -> f64 {
    let pairs = end.states.iter().zip(world.initial_states());
    let ways = pairs.map(|(now, then)| (now.position - then.position).norm());
    ways.fold(0.0, f64::max)
}

/// A box of the given mass, `gap` above one of 1 kg.
fn on_a_light_one(mass: f64, gap: f64) -> WorldSpec {
    let half = [0.1, 0.1, 0.05];
    let shape = Shape::Cuboid(Cuboid::new(half).unwrap());
    let boxes = vec![
        cuboid("light", half, v(0.0, 0.0, 0.05)),
        body("heavy", shape, mass, v(0.0, 0.0, 0.15 + gap)),
    ];
    spec(boxes, vec![floor()], 0.5, 0.0).with_time_step(2e-3)
}

/// The balance is asked for first: springs that had to take the load would sink by 1e-6 m.
#[test]
fn a_stack_that_stands_does_not_sink() {
    let boxes = (0..10).map(|k| {
        let up = 0.05 + 0.1 * f64::from(k);
        cuboid(&format!("b{k}"), [0.1, 0.1, 0.05], v(0.0, 0.0, up))
    });
    let spec = spec(boxes.collect(), vec![floor()], 0.5, 0.0).with_time_step(2e-3);
    let (world, end) = run(&spec, 1.0, 5e-6);
    assert!(moved(&world, &end) <= 1e-10);
    let counts = end.stepping.unwrap();
    assert!(counts.newton_steps <= counts.n_steps);
    close(end.balance.supports[10].z, 10.0 * G, 1e-8);
}

#[test]
fn heavy_bodies_rest_on_a_light_one() {
    for (mass, most) in [(1e2, 1e-10), (1e4, 1e-10), (1e6, 1e-6)] {
        let (world, end) = run(&on_a_light_one(mass, 0.0), 0.5, 5e-6);
        let moved = moved(&world, &end);
        assert!(moved <= most, "{mass:e}: {moved:e}");
        let counts = end.stepping.unwrap();
        assert!(counts.newton_steps <= counts.n_steps, "{mass:e}");
    }
}

#[test]
fn a_heavy_body_that_drops_on_a_light_one_stays_above_it() {
    let (_, end) = run(&on_a_light_one(1e5, 2e-3), 0.5, 5e-6);
    assert!(end.lowest_gap >= -1e-3, "{:e}", end.lowest_gap);
    close(end.states[1].position.z, 0.15, 1e-3);
}

/// A box on a slope, a thousandth below and above its friction: it stays, or slides with $g\cos\alpha$ times that thousandth.
#[test]
fn a_slope_holds_up_to_its_friction() {
    let friction = 0.5f64;
    for (steep, slides) in [(0.999, false), (1.001, true)] {
        let angle = (steep * friction).atan();
        let mut spec = spec(
            vec![cuboid("box", [0.1, 0.1, 0.05], v(0.0, 0.0, 0.05))],
            vec![floor()],
            friction,
            0.0,
        )
        .with_time_step(2e-3);
        spec.gravity = v(G * angle.sin(), 0.0, -G * angle.cos());
        let (world, end) = run(&spec, 1.0, 5e-6);
        let way = 0.5 * G * angle.cos() * (steep - 1.0) * friction;
        if slides {
            // The springs take the weight within the first steps.
            close(end.states[0].position.x, way, 0.1 * way);
        } else {
            assert!(moved(&world, &end) <= 1e-10);
        }
    }
}

/// A ball that drops to the floor, and stays in it by what its contact yields.
#[test]
fn softer_contacts_are_deeper() {
    let at = v(0.0, 0.0, 0.1 + 1e-3);
    let spec = spec(vec![ball("b", 0.1, 1.0, at)], vec![floor()], 0.5, 0.0);
    let spec = spec.with_time_step(2e-3);
    let depth = |deflection: f64| -run(&spec, 0.5, deflection).1.lowest_gap;
    let [rigid, usual, soft] = [0.0, 5e-6, 1e-4].map(depth);
    assert!(rigid <= 1e-12, "{rigid:e}");
    assert!(usual > 1e-8 && soft > 2.0 * usual, "{usual:e} {soft:e}");
    assert!(soft <= 1e-4, "{soft:e}");
}

#[test]
fn deflections_out_of_range_are_refused() {
    for deflection in [-1e-9, 1.1e-3, f64::NAN, f64::INFINITY] {
        let error = Stepping::default().with_deflection(deflection).unwrap_err();
        let MotionError::InvalidValue { what, allowed, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((what.as_str(), allowed), ("deflection", "in [0, 1e-3]"));
    }
}
