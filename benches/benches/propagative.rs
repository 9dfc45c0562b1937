//! Cost of one impact under the propagative law.
#![allow(clippy::unwrap_used)]

use carom_benches::{RandomPair, break_shot, chain_contacts, line_metric, rack, wedge_masses};
use carom_contact::{
    Contact, ContactIndex, ContactSet, ImpactLaw, ImpactOutcome, ImpactProblem, SetValuedLaw,
};
use carom_impact::Propagative;
use carom_metric::{Covector, KineticMetric, Tangent};
use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use nalgebra::dmatrix;
use rayon::prelude::*;
use std::hint::black_box;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Masses of a chain of four balls with no symmetry.
const UNEQUAL: [f64; 4] = [1.0, 0.7, 1.6, 0.9];

/// Velocities with which all its contacts approach.
const APPROACHES: [[f64; 4]; 3] = [
    [1.0, 0.5, -0.5, -1.0],
    [3.0, 1.0, 0.0, -2.0],
    [1.0, 0.1, 0.05, -4.0],
];

/// Problems in one run of `random-two-contact`.
const BATCH: u64 = 100_000;

/// The three-ball cradle from nothing to its audited outcome.
fn cradle() -> ImpactOutcome {
    let metric = KineticMetric::new(dmatrix![1.0, 0.0, 0.0; 0.0, 1.0, 0.0; 0.0, 0.0, 1.0]).unwrap();
    let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];
    let contacts = normals
        .iter()
        .map(|u| Contact::frictionless(Covector::from_slice(u)))
        .collect();
    let contacts = ContactSet::new(&metric, contacts).unwrap();
    let velocity = Tangent::from_slice(black_box(&[1.0, 0.0, 0.0]));
    let problem = ImpactProblem::new(&contacts, velocity).unwrap();
    Propagative::default().resolve(&problem).unwrap()
}

fn two_contacts(group: &mut Group<'_>) {
    let law = Propagative::default();
    group.bench_function("two-contacts", |b| b.iter(cradle));

    let metric = line_metric(&[1.0; 3]).unwrap();
    let contacts = ContactSet::new(&metric, chain_contacts(3)).unwrap();
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, 0.0])).unwrap();
    group.bench_function("two-contacts-resolve-only", |b| {
        b.iter(|| law.resolve(black_box(&problem)).unwrap());
    });

    let metric = line_metric(&wedge_masses(1e-6)).unwrap();
    let contacts = ContactSet::new(&metric, chain_contacts(3)).unwrap();
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, -0.3])).unwrap();
    group.bench_function("steep-wedge", |b| {
        b.iter(|| law.resolve(black_box(&problem)).unwrap());
    });
}

fn three_contacts(group: &mut Group<'_>) {
    let law = Propagative::default();
    let metric = line_metric(&UNEQUAL).unwrap();
    let contacts = ContactSet::new(&metric, chain_contacts(4)).unwrap();
    for (k, velocity) in APPROACHES.iter().enumerate() {
        let problem = ImpactProblem::new(&contacts, Tangent::from_slice(velocity)).unwrap();
        group.bench_function(BenchmarkId::new("three-contacts-all-outcomes", k), |b| {
            b.iter(|| law.resolve_all(black_box(&problem)).unwrap());
        });
        group.bench_function(
            BenchmarkId::new("three-contacts-all-outcomes-with-setup", k),
            |b| {
                b.iter(|| {
                    let metric = line_metric(&UNEQUAL).unwrap();
                    let contacts = ContactSet::new(&metric, chain_contacts(4)).unwrap();
                    let velocity = Tangent::from_slice(black_box(velocity));
                    let problem = ImpactProblem::new(&contacts, velocity).unwrap();
                    law.resolve_all(&problem).unwrap()
                });
            },
        );
    }
}

fn many_contacts(group: &mut Group<'_>) {
    let law = Propagative::default();
    let (metric, contacts) = rack(5).unwrap();
    let velocity = break_shot(metric.dim(), 0.1);
    let set = ContactSet::new(&metric, contacts.clone()).unwrap();
    let problem = ImpactProblem::new(&set, velocity.clone()).unwrap();
    group.bench_function("rack-15", |b| {
        b.iter(|| {
            let contacts = ContactSet::new(&metric, contacts.clone()).unwrap();
            let problem = ImpactProblem::new(&contacts, velocity.clone()).unwrap();
            law.resolve(&problem).unwrap()
        });
    });
    group.bench_function("rack-15-resolve-only", |b| {
        b.iter(|| law.resolve(black_box(&problem)).unwrap());
    });
}

/// Independent problems, set-up included, on all the threads there are.
fn random_two_contact(group: &mut Group<'_>) {
    let law = Propagative::default();
    let problems: Vec<_> = (0..BATCH).map(RandomPair::new).collect();
    let impacts = |pair: &RandomPair| {
        let metric = pair.metric().unwrap();
        let contacts = pair.contacts(metric).unwrap();
        let problem = ImpactProblem::new(&contacts, pair.tangent()).unwrap();
        law.resolve(&problem).unwrap().audit.energy_plus_j
    };
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    group
        .sample_size(20)
        .throughput(Throughput::Elements(BATCH));
    group.bench_function("random-two-contact", |b| {
        b.iter(|| threads.install(|| problems.par_iter().map(impacts).sum::<f64>()));
    });
}

fn propagative(c: &mut Criterion) {
    let mut group = c.benchmark_group("impact/propagative");
    two_contacts(&mut group);
    three_contacts(&mut group);
    many_contacts(&mut group);
    random_two_contact(&mut group);
}

fn reflect(c: &mut Criterion) {
    let metric = line_metric(&[1.0; 3]).unwrap();
    let contacts = ContactSet::new(&metric, chain_contacts(3)).unwrap();
    let mut workspace = [0.0; 3];
    c.benchmark_group("impact/single")
        .bench_function("reflect-in-place", |b| {
            b.iter(|| {
                let mut velocity = black_box([1.0, 0.0, 0.0]);
                contacts.reflect_in_place(ContactIndex::new(0), &mut velocity, &mut workspace);
                velocity
            });
        });
}

criterion_group!(benches, propagative, reflect);
criterion_main!(benches);
