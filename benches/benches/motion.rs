//! Worlds of rigid bodies: impacts of many spheres, steps of a box at rest, slender bodies, large hulls.
//!
//! Ratios come first: the two that are compared take turns, and the best time of each counts. They mean
//! something on a busy machine, where single times do not.
#![allow(clippy::unwrap_used, missing_docs)]

use carom_benches::worlds::{ball, body, elastic, gas, laws, limits, plane};
use carom_geometry::{Cuboid, Ellipsoid, MassProperties, Shape, TriangleMesh};
use carom_lie::So3;
use carom_motion::hybrid::Limits;
use carom_numeric::random::CounterRng;
use carom_variational::{Flight, FreeFlight, RigidBody, State};
use carom_world::{Event, OnZeno, PlaneSpec, World};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;
use parry3d_f64::math::Vector;
use parry3d_f64::transformation::try_convex_hull;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Turns of a comparison.
const TURNS: usize = 5;

/// Time of each impact in a run, after as many again for the start.
fn per_impact(world: &World, impacts: usize) -> Duration {
    let (mut count, mut begin, mut end) = (0, None, None);
    let ended = world.run(
        &laws(OnZeno::Continue),
        &limits(2 * impacts),
        &[],
        &mut |event| {
            if let Event::Impact(_) = event {
                count += 1;
                if count == impacts {
                    begin = Some(Instant::now());
                } else if count == 2 * impacts {
                    end = Some(Instant::now());
                }
            }
        },
    );
    assert_eq!(ended.n_impacts, 2 * impacts);
    (end.unwrap() - begin.unwrap()) / impacts as u32
}

/// The best times of two that take turns.
fn best(mut one: impl FnMut() -> Duration, mut two: impl FnMut() -> Duration) -> [Duration; 2] {
    let mut best = [Duration::MAX; 2];
    for _ in 0..TURNS {
        best[0] = best[0].min(one());
        best[1] = best[1].min(two());
    }
    best
}

fn print(what: &str, [one, two]: [Duration; 2]) {
    let ratio = one.as_secs_f64() / two.as_secs_f64();
    println!("{what}: {one:?} and {two:?}, ratio {ratio:.2}");
}

/// Elastic spheres, a third of the density of a cubic packing, in a box.
fn spheres() {
    let (few, many) = (gas(10, 1.5).unwrap(), gas(20, 1.5).unwrap());
    let times = best(|| per_impact(&many, 160_000), || per_impact(&few, 20_000));
    print("an impact among 8000 and 1000 spheres (goal 1.6)", times);
    let rate = 1.0 / times[1].as_secs_f64();
    println!("impacts among 1000 spheres in a second (goal 1e5): {rate:.3e}");
}

fn cuboid(half: [f64; 3]) -> Shape {
    Shape::Cuboid(Cuboid::new(half).unwrap())
}

/// A box of a world with a floor, and the world's steps in 2 s.
fn on_floor(velocity: f64) -> (World, f64) {
    let mut block = body("box", cuboid([0.1, 0.15, 0.2]), Vector3::new(0.0, 0.0, 0.2)).unwrap();
    block.velocity.x = velocity;
    let mut spec = elastic(
        vec![block],
        vec![plane("floor", Vector3::z(), 0.0).unwrap()],
    );
    spec.gravity = Vector3::new(0.0, 0.0, -9.80665);
    (spec.surface.friction, spec.surface.restitution) = (0.1, 0.0);
    (World::new(&spec).unwrap(), 2000.0)
}

fn per_step((world, steps): &(World, f64)) -> Duration {
    let begin = Instant::now();
    let _ = black_box(world.run(
        &laws(OnZeno::Rest),
        &Limits::duration(2.0),
        &[],
        &mut |_| (),
    ));
    begin.elapsed().div_f64(*steps)
}

fn free_step() -> Duration {
    let properties: MassProperties = cuboid([0.1, 0.15, 0.2]).mass_properties(1.0).unwrap();
    let body = RigidBody::new(&properties);
    let flight = FreeFlight::lgvi(Vector3::new(0.0, 0.0, -9.80665));
    let start = State {
        position: Vector3::zeros(),
        rotation: So3::identity(),
        linear_momentum: Vector3::zeros(),
        angular_momentum: body.inertia() * Vector3::new(2.0, 3.0, 1.0),
    };
    let begin = Instant::now();
    black_box(
        (0..2000)
            .try_fold(start, |s, _| flight.advance(&body, &s, 1e-3))
            .unwrap(),
    );
    begin.elapsed() / 2000
}

/// An ellipsoid that tumbles in an elastic box.
fn tumbling(thin: f64) -> World {
    let shape = Shape::Ellipsoid(Ellipsoid::new([1.0, thin, thin], Vector3::zeros()).unwrap());
    let mut ellipsoid = body("ellipsoid", shape, Vector3::zeros()).unwrap();
    ellipsoid.velocity = Vector3::new(1.0, 0.7, 0.4);
    ellipsoid.angular_velocity = Vector3::new(0.0, 1.0, 0.6);
    World::new(&elastic(vec![ellipsoid], walls(2.0))).unwrap()
}

/// Six planes at a distance from the origin.
fn walls(distance: f64) -> Vec<PlaneSpec> {
    let sides = (0..3).flat_map(|k| [1.0, -1.0].map(|s| (k, s)));
    let wall = |(k, s)| plane(&format!("{k} {s}"), Vector3::ith(k, s), distance).unwrap();
    sides.map(wall).collect()
}

/// The hull of points, and parry's.
fn hulls(what: &str, points: &[Vector3<f64>]) {
    let peer: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    let timed = |run: &dyn Fn() -> usize| {
        let begin = Instant::now();
        black_box(run());
        begin.elapsed()
    };
    let times = best(
        || timed(&|| TriangleMesh::hull(points).unwrap().triangles().len()),
        || timed(&|| try_convex_hull(&peer).unwrap().1.len()),
    );
    print(what, times);
}

fn large_hulls() {
    let mut random = CounterRng::new(1, 0, 0);
    let mut uniform = || 2.0 * random.next_uniform() - 1.0;
    let inside: Vec<Vector3<f64>> = (0..20_000)
        .map(|_| Vector3::from_fn(|_, _| uniform()))
        .collect();
    let sphere: Vec<Vector3<f64>> = inside.iter().map(Vector3::normalize).collect();
    hulls(
        "the hull of 20 000 points of a sphere, and parry's (goal 1.5)",
        &sphere,
    );
    hulls("the hull of 20 000 points of a box, and parry's", &inside);
}

fn ratios() {
    spheres();
    let (rest, slides) = (on_floor(0.0), on_floor(10.0));
    print(
        "a step of a box at rest, and a free one (goal 5 µs, 30)",
        best(|| per_step(&rest), free_step),
    );
    print(
        "a step of a box that slides, and a free one",
        best(|| per_step(&slides), free_step),
    );
    let (needle, body) = (tumbling(1e-3), tumbling(0.5));
    print(
        "an impact of an ellipsoid 1:1000, and 1:2 (goal 3)",
        best(|| per_impact(&needle, 500), || per_impact(&body, 500)),
    );
    large_hulls();
}

fn all(c: &mut Criterion) {
    ratios();
    let balls = vec![
        ball("a", 0.5, Vector3::zeros(), Vector3::x()).unwrap(),
        ball("b", 0.5, Vector3::x() * 1.5, Vector3::y() * 0.3).unwrap(),
    ];
    let two = World::new(&elastic(balls, walls(2.5))).unwrap();
    c.bench_function("motion/run/two-spheres-1000-impacts", |b| {
        b.iter(|| two.run(&laws(OnZeno::Continue), &limits(1000), &[], &mut |_| ()))
    });
}

criterion_group!(benches, all);
criterion_main!(benches);
