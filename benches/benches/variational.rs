//! Flights and runs of the Lie group variational collision integrator.
//!
//! `step` cases are per step: a loop of 1000 steps is timed as 1000 elements.

use carom_geometry::{Cuboid, Ellipsoid, HalfSpace, MassProperties, Shape, SupportMap};
use carom_lie::So3;
use carom_motion::flying::{Collider, ImpactRule};
use carom_variational::{ExactFlight, Flight, FreeFlight, RigidBody, State, TimeGrid, increment};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::{Matrix3, Vector3};
use std::hint::black_box;

const STEPS: usize = 1000;

fn gravity() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -9.80665)
}

fn body(moments: [f64; 3]) -> Option<RigidBody> {
    let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
    Some(RigidBody::new(&MassProperties::new(1.0, inertia).ok()?))
}

fn start(height: f64) -> State {
    State {
        position: Vector3::new(0.0, 0.0, height),
        rotation: So3::identity(),
        linear_momentum: Vector3::new(2.0, 2.0, 10.0),
        angular_momentum: Vector3::new(4.0, -4.0, 4.0),
    }
}

fn flights(c: &mut Criterion) -> Option<()> {
    let body = body([5.0, 4.0, 2.6])?;
    let mut group = c.benchmark_group("variational/increment");
    for h in [0.01, 0.1, 0.4] {
        let a = Vector3::new(4.0, -4.0, 4.0) * h;
        group.bench_function(format!("{h}"), |b| {
            b.iter(|| increment(black_box(&body), black_box(&a)))
        });
    }
    group.finish();
    let mut group = c.benchmark_group("variational/free-flight-step");
    group.throughput(Throughput::Elements(STEPS as u64));
    for (name, flight) in [
        ("lgvi", FreeFlight::lgvi(gravity())),
        ("suzuki4", FreeFlight::suzuki4(gravity())),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| (0..STEPS).try_fold(start(10.0), |s, _| flight.advance(&body, &s, 0.01)))
        });
    }
    let flight = ExactFlight::new(gravity());
    group.bench_function("exact", |b| {
        b.iter(|| (0..STEPS).try_fold(start(10.0), |s, _| flight.advance(&body, &s, 0.01)))
    });
    group.finish();
    Some(())
}

/// Steps with the guaranteed contact check: high above the plane, and so near that the support map
/// is asked at every step (gravity is off, so that the body stays there).
fn checked_steps(c: &mut Criterion) -> Option<()> {
    let body = body([5.0, 4.0, 2.6])?;
    let shape = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros()).ok()?;
    let plane = HalfSpace::new(Vector3::z(), 0.0).ok()?;
    let flight = FreeFlight::lgvi(Vector3::zeros());
    let collider = Collider::new(&body, &shape, &plane, &flight, ImpactRule::ELASTIC).ok()?;
    let grid = TimeGrid::steps(0.01, STEPS).ok()?;
    let mut group = c.benchmark_group("variational/checked-step");
    group.throughput(Throughput::Elements(STEPS as u64));
    for (name, height) in [("far", 100.0), ("near", 4.5)] {
        let mut at = start(height);
        at.linear_momentum = Vector3::zeros();
        let end = collider.run(&at, &grid, None, &mut |_| ()).ok()?;
        assert_eq!(end.n_impacts, 0);
        // Inside the bounding ball only the certificate by the support map helps.
        assert!((name == "near") == (height < shape.bounding_radius() + 1.0));
        group.bench_function(name, |b| {
            b.iter(|| collider.run(black_box(&at), &grid, None, &mut |_| ()))
        });
    }
    group.finish();
    Some(())
}

/// The paper's cube over 100 000 steps with its impacts, and the others over 10 000.
fn runs(c: &mut Criterion) -> Option<()> {
    let mut group = c.benchmark_group("variational/run");
    group.sample_size(20);
    let plane = HalfSpace::new(Vector3::z(), 0.0).ok()?;
    let flight = FreeFlight::lgvi(gravity());
    let cube = (
        body([2.0; 3])?,
        Shape::Cuboid(Cuboid::new([3f64.sqrt(); 3]).ok()?),
    );
    let ellipsoid = (
        body([5.0, 4.0, 2.6])?,
        Shape::Ellipsoid(Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros()).ok()?),
    );
    for (name, (body, shape)) in [("cube-100000", cube), ("ellipsoid-100000", ellipsoid)] {
        let collider = Collider::new(&body, &shape, &plane, &flight, ImpactRule::ELASTIC).ok()?;
        let grid = TimeGrid::steps(0.01, 100_000).ok()?;
        group.bench_function(name, |b| {
            b.iter(|| collider.run(&start(10.0), &grid, None, &mut |_| ()))
        });
    }
    group.finish();
    Some(())
}

fn all(c: &mut Criterion) {
    let done = flights(c)
        .and_then(|()| checked_steps(c))
        .and_then(|()| runs(c));
    assert!(done.is_some(), "the systems of the benchmarks are valid");
}

criterion_group!(benches, all);
criterion_main!(benches);
