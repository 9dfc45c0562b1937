//! Planar mechanisms: one evaluation, one step of flight, one search for a design.
//!
//! `step` cases are per step: a run of 100 steps is timed as 100 elements.

use carom_impact::Propagative;
use carom_mechanism::design::{DesignFamily, PairAngle, RootOptions, min_norm_newton};
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
use carom_motion::generalized::CollisionIntegrator;
use carom_scenarios::tail_runner::{
    Drive, LEFT_FOOT, Layout, Lengths, Stance, TAIL, TailRunner, TailRunners, UNKNOWNS,
};
use carom_variational::TimeGrid;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::DMatrix;
use std::hint::black_box;

const STEPS: usize = 100;

/// Seghete & Murphey, Table I, initial row.
const STANCE: Stance = [0.0, 12.38, 5.78, 5.13, 5.24, 1.99, 5.24, 0.0];
const LENGTHS: [f64; 4] = [7.0, 4.0, 8.0, 10.0];
const VELOCITY: [f64; 8] = [10.0, -20.0, 1.0, 2.0, -1.0, 0.5, 1.5, -0.7];

fn evaluations(c: &mut Criterion) -> Option<()> {
    let lengths = Lengths::from_table(LENGTHS);
    let robot = TailRunner::passive(lengths, Layout::default(), 0.0).ok()?;
    let mechanism = &robot.mechanism;
    let n = mechanism.dimension();
    let mut group = c.benchmark_group("mechanism/trex");
    let mut mass = DMatrix::zeros(n, n);
    group.bench_function("mass-matrix", |b| {
        b.iter(|| mechanism.mass_matrix(black_box(&STANCE), &mut mass));
    });
    let mut dynamics = Dynamics::new(n);
    let at = Motion {
        time: 0.0,
        configuration: &STANCE,
        velocity: &VELOCITY,
    };
    for (name, wanted) in [
        ("first-derivatives", Derivatives::First),
        ("second-derivatives", Derivatives::Second),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                dynamics.clear();
                mechanism.dynamics(black_box(&at), wanted, &mut dynamics);
            });
        });
    }
    let mut gaps = [0.0; 3];
    group.bench_function("gaps", |b| {
        b.iter(|| mechanism.gaps(black_box(&STANCE), &mut gaps));
    });
    group.finish();
    Some(())
}

fn flights(c: &mut Criterion) -> Option<()> {
    let lengths = Lengths::from_table(LENGTHS);
    let layout = Layout::default();
    let law = Propagative::default();
    let mut lifted = STANCE;
    lifted[1] += 100.0;
    let grid = TimeGrid::steps(1e-3, STEPS).ok()?;
    let mut group = c.benchmark_group("mechanism/trex-step");
    group.throughput(Throughput::Elements(STEPS as u64));
    let passive = TailRunner::passive(lengths, layout, 0.0).ok()?;
    let driven = TailRunner::driven(lengths, layout, &Drive::default(), &STANCE, 0.0).ok()?;
    for (name, robot) in [("passive", passive), ("driven", driven)] {
        let integrator = CollisionIntegrator::new(&robot.mechanism, &law).ok()?;
        let start = integrator.state(0.0, &lifted, &VELOCITY).ok()?;
        group.bench_function(name, |b| {
            b.iter(|| integrator.run(black_box(&start), &grid, None, &mut |_| ()));
        });
    }
    group.finish();
    Some(())
}

fn designs(c: &mut Criterion) -> Option<()> {
    let family = TailRunners::default();
    let z = TailRunners::unknowns_of(Lengths::from_table(LENGTHS), &STANCE);
    let mut group = c.benchmark_group("mechanism/trex-design");
    let point = family.at(&z).ok()?;
    group.bench_function("cosine-and-gradient", |b| {
        b.iter(|| PairAngle::new(black_box(&point), [TAIL, LEFT_FOOT]));
    });
    let equations = family.closed(Some(0.0));
    let (scales, options) = ([1.0; UNKNOWNS], RootOptions::default());
    group.bench_function("min-norm-newton", |b| {
        b.iter(|| min_norm_newton(&equations, black_box(&z), &scales, &options));
    });
    group.finish();
    Some(())
}

fn mechanism(c: &mut Criterion) {
    let ran = evaluations(c)
        .and_then(|()| flights(c))
        .and_then(|()| designs(c));
    assert!(ran.is_some(), "a case could not be set up");
}

criterion_group!(benches, mechanism);
criterion_main!(benches);
