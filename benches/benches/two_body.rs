//! What one frictional impact of two bodies costs, inverse inertia matrix to outcome.
#![allow(clippy::unwrap_used, clippy::panic)]

use carom_benches::RandomImpact;
use carom_impact::two_body::{
    ContactInertia, ContactResponse, FinalMode, ImpactOptions, solve_impact,
};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Matrix3, Vector3};
use std::hint::black_box;

/// Jia & Wang, Eq. (13).
const ICOSAHEDRON_TETRAHEDRON: [f64; 9] = [
    11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
];

fn options(tolerance: f64) -> ImpactOptions {
    ImpactOptions {
        tolerance,
        ..ImpactOptions::default()
    }
}

/// From the matrix to the outcome.
fn solve(
    w: &Matrix3<f64>,
    v: &Vector3<f64>,
    mu: f64,
    e: f64,
    o: &ImpactOptions,
) -> ContactResponse {
    let w = ContactInertia::from_matrix(w).unwrap();
    solve_impact(&w, v, mu, e, o).unwrap()
}

fn paper(c: &mut Criterion) {
    let mut group = c.benchmark_group("impact/two-body");
    let w = Matrix3::from_row_slice(&ICOSAHEDRON_TETRAHEDRON);
    let cases = [
        ("frictionless", [-0.261976, 0.386329, -0.077174], 0.0),
        ("stick", [0.0, 0.0, -1.0], 0.8),
        ("resumed", [0.0, 0.0, -1.0], 0.25),
        ("fig4a", [-0.261976, 0.386329, -0.077174], 0.8),
        ("fig4c", [-0.261976, 0.386329, -0.827174], 0.25),
    ];
    for (name, v, mu) in cases {
        let v = Vector3::from(v);
        for tolerance in [1e-10, 1e-12] {
            let options = options(tolerance);
            group.bench_function(format!("{name}/{tolerance:e}"), |b| {
                b.iter(|| solve(black_box(&w), black_box(&v), mu, 0.95, &options));
            });
        }
    }
    let straight = Matrix3::from_diagonal(&Vector3::new(3.5, 3.5, 1.0));
    let v = Vector3::new(0.3, 0.1, -1.0);
    group.bench_function("ball-on-half-space", |b| {
        b.iter(|| {
            solve(
                black_box(&straight),
                black_box(&v),
                0.2,
                0.8,
                &options(1e-12),
            )
        });
    });
    group.finish();
}

fn main_() {
    // Median over random curved impacts: each timed by itself, minimum of several runs.
    for tolerance in [1e-9, 1e-10, 1e-12] {
        let options = options(tolerance);
        let mut times = Vec::new();
        let mut steps = 0;
        for index in 0..2000 {
            let RandomImpact {
                inertia,
                velocity,
                friction,
                restitution,
            } = RandomImpact::new(index);
            let ContactResponse::Impact(impact) =
                solve(&inertia, &velocity, friction, restitution, &options)
            else {
                continue;
            };
            if impact.steps == 0 {
                continue;
            }
            steps += impact.steps;
            let mut best = f64::INFINITY;
            for _ in 0..7 {
                let start = std::time::Instant::now();
                for _ in 0..20 {
                    black_box(solve(
                        black_box(&inertia),
                        black_box(&velocity),
                        friction,
                        restitution,
                        &options,
                    ));
                }
                best = best.min(start.elapsed().as_secs_f64() / 20.0);
            }
            times.push(best);
        }
        times.sort_by(f64::total_cmp);
        let at = |q: f64| 1e6 * times[(q * (times.len() - 1) as f64) as usize];
        println!(
            "tol {tolerance:e}: n {} steps/impact {:.2} us: 10% {:.2} median {:.2} 90% {:.2} max {:.2}",
            times.len(),
            steps as f64 / times.len() as f64,
            at(0.1),
            at(0.5),
            at(0.9),
            at(1.0)
        );
    }
    let _ = FinalMode::Slip;
}

fn all(c: &mut Criterion) {
    main_();
    paper(c);
}

criterion_group!(benches, all);
criterion_main!(benches);
