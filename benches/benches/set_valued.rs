//! Cost of samples of a set-valued impact.
//!
//! Halm & Posa, Table 3, print 2.1 ms for a sample of the rocking block and 11 ms for one of the disk
//! stack (MATLAB and PATH, 2.4 GHz).
#![allow(clippy::unwrap_used)]

use carom_benches::frictional::{FrictionalSystem, disk_stack, rocking_block};
use carom_contact::{ContactSet, ImpactLaw, ImpactProblem};
use carom_impact::frictional::{
    AnitescuPotra, Sampler, Sequential, SetValued, TerminationBounds, all_simultaneous,
};
use carom_impact::internal::Draw;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// Samples in one run.
const BATCH: u64 = 1000;

fn samples(c: &mut Criterion, name: &str, system: FrictionalSystem, h: f64) {
    let (metric, contacts, velocity) = system;
    let contacts = ContactSet::new(&metric, contacts).unwrap();
    let problem = ImpactProblem::new(&contacts, velocity).unwrap();
    let law = SetValued::default()
        .with_impulse_step(Some(h))
        .with_max_steps(10);
    let mut group = c.benchmark_group("impact/set-valued");
    group.throughput(Throughput::Elements(BATCH));
    let sampler = Sampler::new(&problem, &law).unwrap();
    let mut draw = Draw::default();
    group.bench_function(format!("{name}-samples"), |b| {
        b.iter(|| {
            for sample in 0..BATCH {
                sampler.draw(black_box(sample), &mut draw).unwrap();
            }
        });
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function(format!("{name}-simultaneous"), |b| {
        b.iter(|| {
            AnitescuPotra::default()
                .resolve(black_box(&problem))
                .unwrap()
        });
    });
    group.bench_function(format!("{name}-sequential"), |b| {
        b.iter(|| Sequential::default().resolve(black_box(&problem)).unwrap());
    });
    group.bench_function(format!("{name}-all-modes"), |b| {
        b.iter(|| all_simultaneous(black_box(&problem)).unwrap());
    });
    group.bench_function(format!("{name}-bounds"), |b| {
        b.iter(|| TerminationBounds::new(black_box(&problem), h, None).unwrap());
    });
    group.finish();
}

fn all(c: &mut Criterion) {
    samples(c, "rocking-block", rocking_block().unwrap(), 0.3);
    samples(c, "disk-stack", disk_stack().unwrap(), 1.0);
}

criterion_group!(benches, all);
criterion_main!(benches);
