//! Derivatives of whole runs beside the runs alone: `bouncing-body` of ten seconds, 12 × 12 with
//! restitution and gravity; the double pendulum between its walls, 4 × 4.

use carom_geometry::{Ellipsoid, HalfSpace, MassProperties};
use carom_impact::Propagative;
use carom_lie::So3;
use carom_mechanism::MechanismError;
use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism};
use carom_motion::flying::{Collider, ImpactRule, Trajectory};
use carom_motion::generalized::CollisionIntegrator;
use carom_variational::{
    DifferentiableFlight, ExactFlight, FreeFlight, RigidBody, State, TimeGrid,
};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Vector3;

fn bouncing_body<F: DifferentiableFlight>(c: &mut Criterion, name: &str, flight: &F) -> Option<()> {
    let shape = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros()).ok()?;
    let body = RigidBody::new(&MassProperties::ellipsoid(&shape, 1.0).ok()?);
    let plane = HalfSpace::new(Vector3::z(), 0.0).ok()?;
    let collider = Collider::new(&body, &shape, &plane, flight, ImpactRule::ELASTIC).ok()?;
    let start = State {
        position: Vector3::new(0.0, 0.0, 10.0),
        rotation: So3::identity(),
        linear_momentum: Vector3::new(2.0, 2.0, 10.0),
        angular_momentum: Vector3::new(4.0, -4.0, 4.0),
    };
    let grid = TimeGrid::steps(0.01, 1000).ok()?;
    let mut group = c.benchmark_group(format!("sensitivity/bouncing-body/{name}"));
    group.bench_function("run", |b| {
        b.iter(|| Trajectory::record(&collider, &start, &grid, None))
    });
    group.bench_function("with-derivative", |b| {
        b.iter(|| {
            let run = Trajectory::record(&collider, &start, &grid, None).ok()?;
            collider.sensitivity(&run).ok()
        })
    });
    group.finish();
    Some(())
}

fn double_pendulum() -> Result<PlanarMechanism, MechanismError> {
    let mut builder = PlanarBuilder::new([0.0, -9.81]);
    let upper = builder.hinge(Link::GROUND, [0.0, 0.0], -std::f64::consts::FRAC_PI_2);
    let lower = builder.hinge(upper, [1.0, 0.0], 0.0);
    for (link, length) in [(upper, 1.0), (lower, 0.8)] {
        builder.body(link, Inertia::rod(length, [0.0, 0.0], [length, 0.0]));
        for side in [-1.0, 1.0] {
            let wall = Line::new([side * 0.6, 0.0], [-side, 0.0])?;
            builder.contact(link, LineContact::point("wall", [length, 0.0], wall));
        }
    }
    builder.build()
}

fn pendulum(c: &mut Criterion) -> Option<()> {
    let system = double_pendulum().ok()?;
    let law = Propagative::default();
    let integrator = CollisionIntegrator::differentiable(&system, &law).ok()?;
    let start = integrator.state(0.0, &[0.6, -0.6], &[0.0, 0.0]).ok()?;
    let grid = TimeGrid::steps(1e-3, 1000).ok()?;
    let mut group = c.benchmark_group("sensitivity/double-pendulum-walls");
    group.bench_function("run", |b| {
        b.iter(|| integrator.run(&start, &grid, None, &mut |_| ()))
    });
    group.bench_function("with-derivative", |b| {
        b.iter(|| integrator.run_with_sensitivity(&start, &grid, None, &[], &mut |_| ()))
    });
    group.finish();
    Some(())
}

fn benches(c: &mut Criterion) {
    let gravity = Vector3::new(0.0, 0.0, -9.80665);
    let done = [
        bouncing_body(c, "lgvi", &FreeFlight::lgvi(gravity)),
        bouncing_body(c, "lgvi4", &FreeFlight::suzuki4(gravity)),
        bouncing_body(c, "exact", &ExactFlight::new(gravity)),
        pendulum(c),
    ];
    assert!(done.iter().all(Option::is_some), "a system was refused");
}

criterion_group!(all, benches);
criterion_main!(all);
