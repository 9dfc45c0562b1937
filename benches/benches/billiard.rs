//! Cost of one impact of a nonholonomic billiard.
#![allow(clippy::unwrap_used)]

use carom_motion::billiard::ensemble::perturbation;
use carom_motion::hybrid::Limits;

use carom_contact::{Contact, ContactSet, ImpactLaw, ImpactProblem};
use carom_impact::{Nonholonomic, Restitution};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_motion::billiard::penny::{PennyBilliard, PennyState, RollingPenny};
use carom_motion::billiard::{Ellipse, Superellipse, Table};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::{DMatrix, dvector};
use std::hint::black_box;

/// Impacts in one measured run.
const IMPACTS: usize = 1000;

fn start() -> PennyState {
    PennyState {
        phi: std::f64::consts::FRAC_PI_2,
        theta_dot: 10.0,
        phi_dot: 0.2,
        ..PennyState::default()
    }
}

fn on<T: Table>(table: T) -> PennyBilliard<T> {
    let penny = RollingPenny::thin_disk(0.01, 0.0025).unwrap();
    PennyBilliard::new(penny, table, Restitution::Elastic).unwrap()
}

/// Orbits of the paper's penny, time per impact.
fn orbits(c: &mut Criterion) {
    let mut group = c.benchmark_group("billiard/penny");
    group.throughput(Throughput::Elements(IMPACTS as u64));
    let mut measure = |name: &str, follow: &dyn Fn() -> f64| {
        group.bench_function(name, |b| b.iter(follow));
    };
    let sum = |billiard: &PennyBilliard<Ellipse>, from: PennyState| {
        let mut sum = 0.0;
        let _ = billiard
            .follow(black_box(from), Limits::impacts(IMPACTS), |e| sum += e.time)
            .unwrap();
        sum
    };
    let circle = on(Ellipse::circle(0.2).unwrap());
    let ellipse = on(Ellipse::new(0.15, 0.2).unwrap());
    let narrow = on(Ellipse::new(0.02, 0.2).unwrap());
    let rattle = PennyState {
        y: (0.2f64 * 0.2 - 0.01 * 0.01).sqrt() - 1e-6,
        phi: 0.0,
        theta_dot: 5.0,
        phi_dot: 10.0,
        ..PennyState::default()
    };
    measure("circle-1000-impacts", &|| sum(&circle, start()));
    measure("ellipse-1000-impacts", &|| sum(&ellipse, start()));
    measure("narrow-ellipse-1000-impacts", &|| sum(&narrow, start()));
    measure("rattle-1000-impacts", &|| sum(&circle, rattle));
    let superellipse = on(Superellipse::new(0.15, 0.2, 4.0).unwrap());
    measure("superellipse-1000-impacts", &|| {
        let mut sum = 0.0;
        let _ = superellipse
            .follow(black_box(start()), Limits::impacts(IMPACTS), |e| {
                sum += e.time
            })
            .unwrap();
        sum
    });
    measure("lyapunov-1000-impacts", &|| {
        ellipse
            .lyapunov(black_box(start()), IMPACTS)
            .unwrap()
            .0
            .per_impact[0]
    });
    group.finish();
}

/// A hundred starts to t = 20 s.
fn cloud(c: &mut Criterion) {
    let ellipse = on(Ellipse::new(0.15, 0.2).unwrap());
    c.bench_function("billiard/penny/cloud-100-starts-20-s", |b| {
        b.iter(|| {
            (0..100)
                .map(|k| {
                    let [theta_dot, phi_dot] = perturbation(black_box(2019), k, 0.005);
                    let from = PennyState {
                        theta_dot: 10.0 + theta_dot,
                        phi_dot: 0.2 + phi_dot,
                        ..start()
                    };
                    let run = ellipse.run(from, Limits::duration(20.0)).unwrap();
                    run.final_state(ellipse.penny()).x
                })
                .sum::<f64>()
        });
    });
}

/// The law for any system, from the contact set on.
fn law(c: &mut Criterion) {
    let mass = DMatrix::from_diagonal(&dvector![0.0025, 0.0025, 1.25e-7, 6.25e-8]);
    let metric = KineticMetric::new(mass).unwrap();
    let (sin, cos) = 0.7f64.sin_cos();
    let side = 0.01 * (-0.6 * sin + 0.8 * cos);
    let wall = Contact::frictionless(Covector::from_slice(&[-0.6, -0.8, 0.0, -side]));
    let forms = [
        Covector::from_slice(&[1.0, 0.0, -0.01 * cos, 0.0]),
        Covector::from_slice(&[0.0, 1.0, -0.01 * sin, 0.0]),
    ];
    let contacts = ContactSet::constrained(&metric, vec![wall], forms.to_vec()).unwrap();
    let velocity = Tangent::from_slice(&[0.1 * cos, 0.1 * sin, 10.0, 0.2]);
    let problem = ImpactProblem::new(&contacts, velocity).unwrap();
    let law = Nonholonomic::new(Restitution::Elastic).unwrap();
    c.bench_function("impact/nonholonomic/penny-resolve-only", |b| {
        b.iter(|| law.resolve(black_box(&problem)).unwrap());
    });
}

criterion_group!(benches, orbits, cloud, law);
criterion_main!(benches);
