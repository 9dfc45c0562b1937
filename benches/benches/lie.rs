//! Rotations and rigid motions: the maps that integrators call in every step.

use carom_lie::{Se3, So3};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Vector3, Vector6};
use std::hint::black_box;

fn rotations(c: &mut Criterion) {
    let mut group = c.benchmark_group("lie/so3");
    let phi = Vector3::new(0.3, -0.4, 0.9);
    let (rotation, f) = (So3::exp(&phi), phi * 0.01);
    group.bench_function("exp", |b| b.iter(|| So3::exp(black_box(&phi))));
    group.bench_function("log", |b| b.iter(|| black_box(&rotation).log()));
    group.bench_function("cayley", |b| b.iter(|| So3::cayley(black_box(&f))));
    group.bench_function("compose-cayley", |b| {
        b.iter(|| black_box(&rotation).compose_cayley(black_box(&f)))
    });
    group.bench_function("rotate-back", |b| {
        b.iter(|| black_box(&rotation).rotate_back(black_box(&phi)))
    });
    group.bench_function("left-jacobian", |b| {
        b.iter(|| So3::left_jacobian(black_box(&phi)))
    });
    group.bench_function("from-matrix", |b| {
        let matrix = rotation.matrix();
        b.iter(|| So3::from_matrix(black_box(&matrix)))
    });
    group.finish();
}

fn motions(c: &mut Criterion) {
    let mut group = c.benchmark_group("lie/se3");
    let twist = Vector6::new(1.0, -2.0, 0.5, 0.3, -0.4, 0.9);
    let motion = Se3::exp(&twist);
    group.bench_function("exp", |b| b.iter(|| Se3::exp(black_box(&twist))));
    group.bench_function("log", |b| b.iter(|| black_box(&motion).log()));
    group.bench_function("left-jacobian", |b| {
        b.iter(|| Se3::left_jacobian(black_box(&twist)))
    });
    group.finish();
}

criterion_group!(benches, rotations, motions);
criterion_main!(benches);
