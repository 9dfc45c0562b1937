//! Cost of an impact under each law, as a ratio to `plastic` at the same contacts: the table of the chapter on laws.
#![allow(clippy::unwrap_used, missing_docs)]

use carom_contact::{Contact, ContactSet, ImpactLaw, ImpactProblem};
use carom_impact::{Law, Plastic};
use carom_metric::{Covector, KineticMetric, Tangent};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{DMatrix, DVector};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Problems of a table's cell, and passes over them, of which the fastest counts.
const PROBLEMS: usize = 200;
const PASSES: usize = 50;

/// Next number of a sequence, in \[-1, 1\].
fn next(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn contact(normal: &[f64], tangents: &[&[f64]], friction: f64, restitution: f64) -> Contact {
    let tangents: Vec<Covector> = { tangents.iter() }
        .map(|t| Covector::from_slice(t))
        .collect();
    Contact::new(Covector::from_slice(normal))
        .with_tangents(tangents)
        .with_friction(friction)
        .with_restitution(restitution)
}

/// Contact of a body in space at the point `r` with a floor.
fn on_floor(r: [f64; 3], friction: f64, restitution: f64) -> Contact {
    let row = |n: [f64; 3]| {
        let [x, y, z] = n;
        let [a, b, c] = r;
        [x, y, z, b * z - c * y, c * x - a * z, a * y - b * x]
    };
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(row);
    contact(&z, &[&x, &y], friction, restitution)
}

/// Time of one impact under a law (µs), at velocities around `velocity`; velocities of rolling wheels change together.
fn cost(law: &dyn ImpactLaw, contacts: &ContactSet, velocity: &[f64]) -> f64 {
    let mut state = 7;
    let is_bound = !contacts.constraint_forms().is_empty();
    let problems = (0..PROBLEMS).map(|_| {
        let all = next(&mut state);
        let own = |v: &f64| v + 0.2 * if is_bound { all } else { next(&mut state) };
        let velocity: Vec<f64> = velocity.iter().map(own).collect();
        ImpactProblem::new(contacts, Tangent::from_slice(&velocity)).unwrap()
    });
    let problems: Vec<_> = problems.collect();
    let mut best = Duration::MAX;
    for _ in 0..PASSES {
        let start = Instant::now();
        for problem in &problems {
            let _ = black_box(law.resolve(black_box(problem)));
        }
        best = best.min(start.elapsed());
    }
    1e6 * best.as_secs_f64() / PROBLEMS as f64
}

fn row(place: &str, names: &[&str], contacts: &ContactSet, velocity: &[f64]) {
    let plastic = cost(&Plastic::default(), contacts, velocity);
    println!("| {place} | plastic | {plastic:.2} µs |");
    for name in names {
        let ratio = cost(&Law::named(name).unwrap(), contacts, velocity) / plastic;
        println!("| {place} | {name} | {ratio:.2} |");
    }
}

fn laws(_: &mut Criterion) {
    let metric = |masses: &[f64]| {
        KineticMetric::new(DMatrix::from_diagonal(&DVector::from_row_slice(masses))).unwrap()
    };
    let several = [
        "propagative",
        "moreau-newton",
        "poisson",
        "anitescu-potra",
        "sequential",
        "set-valued",
    ];
    let planar = metric(&[1.0, 1.0, 0.4]);
    let foot = |x: f64| contact(&[0.0, 1.0, x], &[&[1.0, 0.0, 1.0]], 0.7, 0.5);
    let velocity = [0.3, -1.0, 0.1];
    let feet = ContactSet::new(&planar, vec![foot(-0.6), foot(0.5)]).unwrap();
    row("two feet", &several, &feet, &velocity);
    let feet = ContactSet::new(&planar, vec![foot(-0.6)]).unwrap();
    row("one foot", &["routh"], &feet, &velocity);
    let body = metric(&[2.0, 2.0, 2.0, 0.2, 0.3, 0.4]);
    let point = ContactSet::new(&body, vec![on_floor([-0.1, 0.0, -0.5], 0.3, 0.8)]).unwrap();
    let velocity = [1.0, 0.0, -2.0, 0.0, 0.0, 3.0];
    row("a point in space", &["routh"], &point, &velocity);
    let body = metric(&[1.0, 1.0, 1.0, 0.1, 0.1, 0.15]);
    let corners = [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]];
    let corners = corners.map(|[x, y]| on_floor([x, y, -0.3], 0.5, 0.5));
    let corners = ContactSet::new(&body, corners.to_vec()).unwrap();
    let velocity = [0.5, 0.0, -1.0, 0.0, 0.0, 0.0];
    row("four corners", &several, &corners, &velocity);
    let wheel = metric(&[1.0, 1.0]);
    let rolling = vec![Covector::from_slice(&[1.0, -1.0])];
    let wall = vec![contact(&[1.0, 0.0], &[], 0.0, 0.0)];
    let wheel = ContactSet::constrained(&wheel, wall, rolling).unwrap();
    let names = [
        "nonholonomic-elastic",
        "nonholonomic-newton",
        "nonholonomic-projected",
    ];
    row("a wheel at a wall", &names, &wheel, &[-1.0, -1.0]);
    let ball = metric(&[1.0, 1.0, 1.0]);
    let rough = contact(&[0.0, 1.0, 0.0], &[&[1.0, 0.0, 1.0]], 0.0, 0.0);
    let rough = ContactSet::new(&ball, vec![rough]).unwrap();
    row(
        "a rough ball",
        &["nonholonomic-rough"],
        &rough,
        &[1.0, -1.0, 0.0],
    );
}

criterion_group!(benches, laws);
criterion_main!(benches);
