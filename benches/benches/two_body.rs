//! Cost of one frictional impact of two bodies, from the inverse inertia matrix to the outcome.
#![allow(clippy::unwrap_used, clippy::panic)]

use carom_benches::RandomImpact;
use carom_impact::two_body::{ContactInertia, ContactResponse, ImpactOptions, solve_impact};
use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Jia & Wang, Eq. (13).
const ICOSAHEDRON_TETRAHEDRON: [f64; 9] = [
    11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
];

/// Bounds on the relative error of the outcome.
const TOLERANCES: [f64; 3] = [1e-8, 1e-10, 1e-12];

/// Impacts in one run of `random`.
const BATCH: u64 = 20_000;

fn options(tolerance: f64) -> ImpactOptions {
    ImpactOptions::default().with_tolerance(tolerance)
}

/// From the matrix to the outcome.
fn solve(impact: &RandomImpact, options: &ImpactOptions) -> ContactResponse {
    let w = ContactInertia::from_matrix(&impact.inertia).unwrap();
    solve_impact(
        &w,
        &impact.velocity,
        impact.friction,
        impact.restitution,
        options,
    )
    .unwrap()
}

fn icosahedron(velocity: [f64; 3], friction: f64) -> RandomImpact {
    RandomImpact {
        inertia: Matrix3::from_row_slice(&ICOSAHEDRON_TETRAHEDRON),
        velocity: velocity.into(),
        friction,
        restitution: 0.95,
    }
}

/// Impacts without curved sliding.
fn closed_forms(group: &mut Group<'_>) {
    let ball = RandomImpact {
        inertia: Matrix3::from_diagonal(&Vector3::new(3.5, 3.5, 1.0)),
        velocity: Vector3::new(0.3, 0.1, -1.0),
        friction: 0.2,
        restitution: 0.8,
    };
    for (name, impact) in [
        ("frictionless", icosahedron([-0.26, 0.39, -0.08], 0.0)),
        ("stick", icosahedron([0.0, 0.0, -1.0], 0.8)),
        ("renewed-slip", icosahedron([0.0, 0.0, -1.0], 0.25)),
        ("straight", ball),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| solve(black_box(&impact), &options(1e-12)));
        });
    }
}

/// The paper's figures.
fn figures(group: &mut Group<'_>) {
    let v = [-0.261976, 0.386329, -0.077174];
    let fig4c = [-0.261976, 0.386329, -0.827174];
    for (name, impact) in [
        ("fig4a", icosahedron(v, 0.8)),
        ("fig4c", icosahedron(fig4c, 0.25)),
    ] {
        for tolerance in TOLERANCES {
            group.bench_function(BenchmarkId::new(name, format!("{tolerance:e}")), |b| {
                b.iter(|| solve(black_box(&impact), &options(tolerance)));
            });
        }
    }
}

/// Independent impacts, one in four of them stiff, on two threads.
fn random(group: &mut Group<'_>) {
    let impacts: Vec<RandomImpact> = (0..BATCH)
        .map(|n| match n % 4 {
            3 => RandomImpact::stiff(n),
            _ => RandomImpact::new(n),
        })
        .collect();
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    group
        .sample_size(10)
        .throughput(Throughput::Elements(BATCH));
    for tolerance in TOLERANCES {
        let options = options(tolerance);
        let resolved = |impact: &RandomImpact| match solve(impact, &options) {
            ContactResponse::Impact(found) => found.impulse.z,
            _ => 0.0,
        };
        group.bench_function(BenchmarkId::new("random", format!("{tolerance:e}")), |b| {
            b.iter(|| threads.install(|| impacts.par_iter().map(resolved).sum::<f64>()));
        });
    }
}

/// Best of several short runs, in microseconds.
fn microseconds(mut run: impl FnMut() -> ContactResponse) -> f64 {
    let rounds = 20;
    let time = |_| {
        let start = Instant::now();
        for _ in 0..rounds {
            black_box(run());
        }
        start.elapsed().as_secs_f64() / f64::from(rounds)
    };
    1e6 * (0..9).map(time).fold(f64::INFINITY, f64::min)
}

/// Prints quantiles over random impacts that are curved, which criterion does not do.
fn quantiles(_: &mut Criterion) {
    let report = |tolerance: f64, mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let at = |q: f64| times.get((q * (times.len() - 1) as f64) as usize).copied();
        println!(
            "curved {tolerance:e}: {} impacts, median {:.2?} us, 10 % {:.2?}, 90 % {:.2?}, all {:.2?}",
            times.len(),
            at(0.5).unwrap_or_default(),
            at(0.1).unwrap_or_default(),
            at(0.9).unwrap_or_default(),
            at(1.0).unwrap_or_default(),
        );
    };
    for tolerance in TOLERANCES {
        let options = options(tolerance);
        let mut times = Vec::new();
        for impact in (0..1000).map(RandomImpact::new) {
            let is_curved = matches!(
                solve(&impact, &options),
                ContactResponse::Impact(found) if found.steps > 0
            );
            if !is_curved {
                continue;
            }
            times.push(microseconds(|| solve(black_box(&impact), &options)));
        }
        report(tolerance, times);
    }
}

fn two_body(c: &mut Criterion) {
    let mut group = c.benchmark_group("impact/two-body");
    closed_forms(&mut group);
    figures(&mut group);
    random(&mut group);
}

criterion_group!(benches, quantiles, two_body);
criterion_main!(benches);
