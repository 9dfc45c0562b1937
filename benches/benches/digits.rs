//! Cost of the estimate of correct digits in an answer.
//!
//! Shares come first: an answer that is checked with and without its digits, and the whole law, take turns in one loop, and the
//! best time of each counts. They mean something on a busy machine, where the times that follow do not.
#![allow(clippy::unwrap_used, missing_docs)]

use carom_contact::internal::{Candidate, Opening};
use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus, Rules,
};
use carom_impact::frictional::AnitescuPotra;
use carom_metric::{Covector, KineticMetric, Tangent};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{DMatrix, DVector, dmatrix};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Turns of a comparison, and answers in each.
const TURNS: usize = 200;
const ANSWERS: usize = 200;

fn contact(normal: &[f64], tangents: &[Vec<f64>]) -> Contact {
    let tangents: Vec<Covector> = { tangents.iter() }
        .map(|t| Covector::from_slice(t))
        .collect();
    Contact::new(Covector::from_slice(normal))
        .with_tangents(tangents)
        .with_friction(0.4)
}

/// A body in the plane on three points of the floor and one of a wall.
fn planar() -> (KineticMetric, Vec<Contact>, Tangent) {
    let floor = |x: f64| contact(&[0.0, 1.0, x], &[vec![1.0, 0.0, 0.3]]);
    let wall = contact(&[1.0, 0.0, 0.1], &[vec![0.0, 1.0, -0.5]]);
    let mass = dmatrix![1.0, 0.0, 0.1; 0.0, 1.0, 0.05; 0.1, 0.05, 0.4];
    let velocity = Tangent::from_slice(&[-0.4, -1.0, 0.3]);
    let metric = KineticMetric::new(mass).unwrap();
    (
        metric,
        vec![floor(-0.5), floor(0.5), floor(0.2), wall],
        velocity,
    )
}

/// A box on a box on the floor, with four corners each.
fn spatial() -> (KineticMetric, Vec<Contact>, Tangent) {
    let corners = [[0.5, 0.4], [0.5, -0.4], [-0.5, 0.4], [-0.5, -0.4]];
    let row = |upper: usize, [x, y]: [f64; 2], direction: usize| {
        let mut row = vec![0.0; 12];
        let lower = upper.checked_sub(1).map(|lower| (lower, -1.0, [x, y, 0.3]));
        for (body, sign, p) in [Some((upper, 1.0, [x, y, -0.3])), lower]
            .into_iter()
            .flatten()
        {
            let mut d = [0.0; 3];
            d[direction] = sign;
            for k in 0..3 {
                let (next, last) = ((k + 1) % 3, (k + 2) % 3);
                row[6 * body + k] = d[k];
                row[6 * body + 3 + k] = p[next] * d[last] - p[last] * d[next];
            }
        }
        row
    };
    let contacts = (0..2).flat_map(|upper| {
        corners.map(|at| contact(&row(upper, at, 2), &[row(upper, at, 0), row(upper, at, 1)]))
    });
    let masses = [1.0, 1.0, 1.0, 0.1, 0.15, 0.2, 1.5, 1.5, 1.5, 0.15, 0.2, 0.3];
    let mass = DMatrix::from_diagonal(&DVector::from_row_slice(&masses));
    let velocity = [
        0.3, -0.1, -1.0, 0.2, -0.3, 0.1, -0.2, 0.4, -1.5, 0.1, 0.2, -0.4,
    ];
    let metric = KineticMetric::new(mass).unwrap();
    (metric, contacts.collect(), Tangent::from_slice(&velocity))
}

/// Closes an answer of a law again, with other diagnostics: without those of the law there are no digits.
fn closed(
    problem: &ImpactProblem,
    outcome: &ImpactOutcome,
    diagnostics: &Diagnostics,
) -> ImpactOutcome {
    let contacts = problem.contacts();
    let on_units = contacts
        .all_rows()
        .map(|row| outcome.impulses[row.index()] * contacts.row_norm(row) * problem.scale());
    Candidate::new(problem, on_units.collect())
        .outcome(
            problem,
            &Rules::FRICTIONAL,
            &mut Opening::default(),
            ImpactStatus::Resolved,
            diagnostics.clone(),
        )
        .unwrap()
}

fn digits(c: &mut Criterion) {
    let law = AnitescuPotra::default();
    let mut group = c.benchmark_group("digits");
    println!("| case | law, µs | digits, µs | share |");
    println!("| --- | --- | --- | --- |");
    for (name, limit, (metric, contacts, velocity)) in [
        ("four-planar-contacts", 8, planar()),
        ("eight-contacts-in-space", 3, spatial()),
    ] {
        let contacts = ContactSet::new(&metric, contacts).unwrap();
        let problem = ImpactProblem::new(&contacts, velocity).unwrap();
        let outcome = law.resolve(&problem).unwrap();
        let told = closed(&problem, &outcome, &outcome.diagnostics);
        assert_eq!(told.audit.digits, outcome.audit.digits);
        let mut best = [Duration::MAX; 3];
        for _ in 0..TURNS {
            for (k, best) in best.iter_mut().enumerate() {
                let start = Instant::now();
                for _ in 0..ANSWERS {
                    black_box(match k {
                        0 => law.resolve(black_box(&problem)).unwrap(),
                        1 => closed(black_box(&problem), &outcome, &outcome.diagnostics),
                        _ => closed(black_box(&problem), &outcome, &Diagnostics::None),
                    });
                }
                *best = (*best).min(start.elapsed());
            }
        }
        let [law_alone, with, without] = best.map(|t| 1e6 * t.as_secs_f64() / ANSWERS as f64);
        let own = with - without;
        let share = 100.0 * own / law_alone;
        println!("| {name} | {law_alone:.2} | {own:.2} | {share:.1} % (limit {limit} %) |");
        group.bench_function(format!("{name}/with"), |b| {
            b.iter(|| closed(black_box(&problem), &outcome, &outcome.diagnostics));
        });
        group.bench_function(format!("{name}/without"), |b| {
            b.iter(|| closed(black_box(&problem), &outcome, &Diagnostics::None));
        });
    }
    group.finish();
}

criterion_group!(benches, digits);
criterion_main!(benches);
