//! The collision integrator in generalized coordinates.
//!
//! `step` cases are per step: a run of 1000 steps is timed as 1000 elements.

use carom_impact::Propagative;
use carom_mechanism::MechanicalSystem;
use carom_mechanism::systems::{Block, PendulumCradle};
use carom_motion::hybrid::Ending;
use carom_variational::TimeGrid;

use carom_motion::generalized::CollisionIntegrator;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const STEPS: usize = 1000;

/// Runs that cover a grid, with the number of impacts that they must have.
fn run<S: MechanicalSystem>(
    c: &mut Criterion,
    name: &str,
    system: &S,
    motion: (&[f64], &[f64]),
    grid: TimeGrid,
    impacts: usize,
) -> Option<()> {
    let law = Propagative::default();
    let integrator = CollisionIntegrator::new(system, &law).ok()?;
    let start = integrator.state(0.0, motion.0, motion.1).ok()?;
    let end = integrator.run(&start, &grid, None, &mut |_| ()).ok()?;
    assert_eq!((end.ending, end.n_impacts), (Ending::Completed, impacts));
    let mut group = c.benchmark_group("generalized");
    group.throughput(Throughput::Elements(grid.n_steps() as u64));
    group.bench_function(name, |b| {
        b.iter(|| integrator.run(black_box(&start), &grid, None, &mut |_| ()))
    });
    group.finish();
    Some(())
}

fn all(c: &mut Criterion) {
    let mut done = || -> Option<()> {
        let flight = TimeGrid::steps(0.001, STEPS).ok()?;
        let block = Block::new(0.5, 0.5, 1.0, [0.0, -9.81]).ok()?;
        let high: (&[f64], &[f64]) = (&[0.0, 50.0, 0.1], &[1.0, 0.0, 3.0]);
        run(c, "step/block", &block, high, flight, 0)?;
        let cradle = PendulumCradle::new(8, 1.0, 0.1, 1.0, 9.81).ok()?;
        let apart = [-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4];
        let quarter = TimeGrid::steps(0.0001, STEPS).ok()?;
        run(c, "step/cradle-8", &cradle, (&apart, &[0.0; 8]), quarter, 0)?;
        let lower = block.with_lower_corners();
        let dropped: (&[f64], &[f64]) = (&[0.0, 1.2, 0.1], &[0.0; 3]);
        let two = TimeGrid::duration(0.01, 2.0).ok()?;
        run(c, "run/block-5-impacts", &lower, dropped, two, 5)
    };
    assert!(done().is_some(), "the systems of the benchmarks are valid");
}

criterion_group!(benches, all);
criterion_main!(benches);
