//! Heaps in time stepping: balls that fall into a box, dominoes, a pyramid at rest, ten heaps beside one.
//!
//! Ratios come first: the two that are compared take turns, and the best time of each counts.
#![allow(clippy::unwrap_used, missing_docs)]

use carom_benches::worlds::{ball, body, elastic, plane};
use carom_geometry::{Cuboid, Shape};
use carom_motion::hybrid::{Ending, Limits};
use carom_numeric::random::CounterRng;
use carom_world::{BodySpec, PlaneSpec, Serial, StepCounts, Stepping, World};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use std::time::{Duration, Instant};

/// Turns of a comparison.
const TURNS: usize = 3;

/// Radius of the balls (m).
const RADIUS: f64 = 0.1;

/// Distance of balls on the grid from which they fall (m).
const SPACING: f64 = 0.24;

fn world(bodies: Vec<BodySpec>, planes: Vec<PlaneSpec>, time_step: f64, e: f64) -> World {
    let mut spec = elastic(bodies, planes).with_time_step(time_step);
    spec.gravity = Vector3::new(0.0, 0.0, -9.80665);
    (spec.surface.friction, spec.surface.restitution) = (0.5, e);
    World::new(&spec).unwrap()
}

fn floor() -> PlaneSpec {
    plane("floor", Vector3::z(), 0.0).unwrap()
}

fn ball_at(place: Vector3<f64>) -> BodySpec {
    ball(&format!("{place:?}"), RADIUS, place, Vector3::zeros()).unwrap()
}

/// Balls on a jittered grid in a box with `side` of them along each wall.
fn pit(count: usize, side: usize) -> World {
    let mut random = CounterRng::new(1, 0, 0);
    let mut jitter = || (SPACING - 2.05 * RADIUS) * (random.next_uniform() - 0.5);
    let half = 0.5 * SPACING * side as f64;
    let bodies = (0..count).map(|k| {
        let cell = [k % side, k / side % side, k / side / side];
        let corner = Vector3::from(cell.map(|i| (i as f64 + 0.5) * SPACING));
        let jitter = Vector3::from_fn(|_, _| jitter());
        ball_at(corner + jitter - Vector3::new(half, half, 0.0))
    });
    let wall = |name: &str, normal: Vector3<f64>| plane(name, normal, half).unwrap();
    let planes = vec![
        floor(),
        wall("left", Vector3::x()),
        wall("right", -Vector3::x()),
        wall("front", Vector3::y()),
        wall("back", -Vector3::y()),
    ];
    world(bodies.collect(), planes, 2e-3, 0.5)
}

/// Piles of fifteen balls, far from each other, on a floor.
fn piles(count: usize) -> World {
    let all = (0..15 * count).map(|k| {
        let (pile, i) = ((k / 15) as f64, (k % 15) as f64);
        let aside = 0.02 * Vector3::new((1.7 * i).sin(), (2.3 * i).cos(), 0.0);
        ball_at(aside + Vector3::new(10.0 * pile, 0.0, 0.15 + 0.22 * i))
    });
    world(all.collect(), vec![floor()], 2e-3, 0.5)
}

fn cuboid(half: [f64; 3], place: Vector3<f64>) -> BodySpec {
    let shape = Shape::Cuboid(Cuboid::new(half).unwrap());
    body(&format!("{place:?}"), shape, place).unwrap()
}

/// A row of dominoes of which the first falls.
fn dominoes(count: usize) -> World {
    let all = (0..count).map(|i| {
        let mut one = cuboid([0.01, 0.05, 0.1], Vector3::new(0.06 * i as f64, 0.0, 0.1));
        one.angular_velocity.y = if i == 0 { 4.0 } else { 0.0 };
        one
    });
    world(all.collect(), vec![floor()], 1e-3, 0.5)
}

/// A pyramid of cubes at rest.
fn pyramid(layers: usize) -> World {
    let places = (0..layers).flat_map(|layer| (0..layers - layer).map(move |i| (layer, i)));
    let all = places.map(|(layer, i)| {
        let (layer, i) = (layer as f64, i as f64);
        let x = 0.22 * i + 0.11 * layer;
        cuboid([0.1; 3], Vector3::new(x, 0.0, 0.1 + 0.2 * layer))
    });
    world(all.collect(), vec![floor()], 2e-3, 0.3)
}

/// Time of a run on one thread, and what its steps did.
fn run(world: &World, duration: f64) -> (Duration, StepCounts) {
    let begin = Instant::now();
    let limits = Limits::duration(duration);
    let end = world.run_in_steps(&Stepping::default(), &limits, &[], &Serial, &mut |_| ());
    assert!(matches!(end.ending, Ending::Completed), "{:?}", end.ending);
    (begin.elapsed(), end.stepping.unwrap())
}

fn best(world: &World, duration: f64) -> Duration {
    (0..TURNS)
        .map(|_| run(world, duration).0)
        .min()
        .unwrap_or_default()
}

fn tell(what: &str, world: &World, duration: f64) {
    let (_, counts) = run(world, duration);
    println!(
        "{what}, {duration} s: {:?}, {:.1} Newton steps a step, at most {} contacts, {} of {} problems above the tolerance",
        best(world, duration),
        counts.newton_steps as f64 / counts.n_steps as f64,
        counts.max_contacts,
        counts.n_inaccurate,
        counts.n_problems,
    );
}

/// Ten runs of one heap and a run of ten heaps: both take as long, so that a busy machine interrupts both as often.
fn far() {
    let (one, ten) = (piles(1), piles(10));
    let mut times = [Duration::MAX; 2];
    for _ in 0..TURNS {
        let alone = (0..10).map(|_| run(&one, 1.0).0).sum();
        times[0] = times[0].min(run(&ten, 1.0).0);
        times[1] = times[1].min(alone);
    }
    let [ten, one] = times;
    let ratio = 10.0 * ten.as_secs_f64() / one.as_secs_f64();
    println!(
        "ten far heaps and one (goal 11): {ten:?} and {:?}, ratio {ratio:.2}",
        one / 10
    );
}

fn heaps(c: &mut Criterion) {
    far();
    tell("a pyramid of 15 cubes at rest (goal 2)", &pyramid(5), 1.0);
    tell("50 balls", &pit(50, 4), 1.5);
    tell("300 balls", &pit(300, 8), 0.6);
    tell("1000 balls", &pit(1000, 11), 0.4);
    tell("20 dominoes (goal 2 s)", &dominoes(20), 1.2);
    let rest = pyramid(5);
    c.bench_function("heaps/rest/pyramid of 15, 50 steps", |b| {
        b.iter(|| run(&rest, 0.1));
    });
}

criterion_group!(benches, heaps);
criterion_main!(benches);
