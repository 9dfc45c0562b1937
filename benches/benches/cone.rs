//! Cost of contacts with round friction cones beside polygons of four directions.
//!
//! Ratios come first: cone and polygon take turns in one loop, and the best time of each counts. They
//! mean something on a busy machine, where the times that follow do not.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../crates/carom-lcp/tests/it/common/mod.rs"]
mod common;
#[path = "../../crates/carom-lcp/tests/it/cones/scene.rs"]
#[allow(dead_code)]
mod scene;

use carom_contact::{Contact, ContactSet, FrictionCone, ImpactProblem};
use carom_impact::frictional::{Draw, Sampler, SetValued};
use carom_judge::bounds::{OuterBounds, Relaxation};
use carom_lcp::cone::{ConeSelection, ConeWorkspace};
use carom_lcp::{ContactLcp, ContactRows, Lemke, LemkeOptions, LemkeWorkspace};
use carom_metric::{Covector, KineticMetric, Tangent};
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{DMatrix, DVector};
use scene::{Posed, Scene, four_corners, random, upright};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Turns of a comparison.
const TURNS: usize = 300;

/// Four bodies, each on one corner.
fn independent() -> Scene {
    let mut scene = Scene::default();
    for x in [0.3, -0.2, 0.5, 0.1] {
        let body = scene.body(1.0, [0.5, 0.75, 1.0]);
        scene.contact((body, [x, 0.4, -1.0]), None, upright(), 0.4);
    }
    scene.velocity = DVector::from_fn(24, |i, _| match i % 6 {
        2 => -1.0,
        k => 0.1 * (k as f64 - 2.5) + 0.05 * (i / 6) as f64,
    });
    scene
}

fn one() -> Scene {
    let mut scene = Scene::default();
    let body = scene.body(1.0, [0.5, 0.75, 1.0]);
    scene.contact((body, [0.3, 0.4, -1.0]), None, upright(), 0.3);
    scene.velocity = DVector::from_column_slice(&[1.4, 0.7, -0.5, 0.1, -0.2, 2.0]);
    scene
}

/// Name, problem, and whether the even member of a family is wanted.
fn cases() -> Vec<(&'static str, Posed, ConeSelection)> {
    let box_at = four_corners([1.4, 0.7, -0.5, 0.1, -0.2, 2.0], 0.3).pose();
    let mut pile = random("pile of two", 3);
    pile.restitution.fill(0.0);
    vec![
        ("one-contact", one().pose(), ConeSelection::Even),
        (
            "four-independent",
            independent().pose(),
            ConeSelection::Even,
        ),
        ("box-on-four-corners-even", box_at, ConeSelection::Even),
        ("eight-dependent", pile.pose(), ConeSelection::First),
    ]
}

/// The contacts with polygons of four directions.
fn polygons(posed: &Posed) -> ContactLcp {
    let rows = ContactRows {
        delassus: &posed.delassus,
        velocity: &posed.before,
        n_tangents: 2,
        friction: &posed.friction,
        restitution: &posed.restitution,
    };
    ContactLcp::new(&rows, 4).unwrap()
}

/// The method as the laws use it, which judge impulses and velocities themselves.
fn steps() -> Lemke {
    Lemke {
        options: LemkeOptions {
            proofs: false,
            ..LemkeOptions::default()
        },
    }
}

/// Best times of two functions that take turns.
fn compare(mut left: impl FnMut(), mut right: impl FnMut(), turns: usize) -> [Duration; 2] {
    let mut best = [Duration::MAX; 2];
    for _ in 0..turns {
        let start = Instant::now();
        left();
        best[0] = best[0].min(start.elapsed());
        let start = Instant::now();
        right();
        best[1] = best[1].min(start.elapsed());
    }
    best
}

fn micro(time: Duration, count: usize) -> f64 {
    1e6 * time.as_secs_f64() / count as f64
}

fn ratios() {
    const COUNT: usize = 50;
    println!("| case | cone, µs | polygon, µs | ratio |");
    println!("| --- | --- | --- | --- |");
    let print = |name: &str, [cone, polygon]: [Duration; 2], count: usize| {
        let (cone, polygon) = (micro(cone, count), micro(polygon, count));
        let ratio = cone / polygon;
        println!("| {name} | {cone:.2} | {polygon:.2} | {ratio:.2} |");
    };
    for (name, posed, selection) in cases() {
        let (problem, lcp) = (posed.problem(), polygons(&posed));
        let (mut workspace, lemke) = (ConeWorkspace::new(), steps());
        let mut memory = LemkeWorkspace::new();
        let best = compare(
            || {
                for _ in 0..COUNT {
                    workspace.solve(black_box(&problem), selection).unwrap();
                }
            },
            || {
                for _ in 0..COUNT {
                    let lcp = black_box(&lcp).lcp().view();
                    lemke.solve_into(lcp, &mut memory).unwrap();
                }
            },
            TURNS,
        );
        print(name, best, COUNT);
    }
    let system = slab();
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    let problem = ImpactProblem::new(&contacts, system.velocity.clone()).unwrap();
    let law = |friction_cone| SetValued {
        friction_cone,
        ..SetValued::default()
    };
    let (round, flat) = (law(FrictionCone::Round), law(FrictionCone::Polygon(4)));
    let round = Sampler::new(&problem, &round).unwrap();
    let flat = Sampler::new(&problem, &flat).unwrap();
    let mut draws = [Draw::default(), Draw::default()];
    let [left, right] = &mut draws;
    let best = compare(
        || (0..64).for_each(|k| round.draw(black_box(k), left).unwrap()),
        || (0..64).for_each(|k| flat.draw(black_box(k), right).unwrap()),
        20,
    );
    print("set-valued-sample", best, 64);
    let bounds = OuterBounds::new(&problem).unwrap();
    let normal = system.contacts[0].normal.0.as_slice();
    let best = compare(
        || drop(bounds.bound(black_box(normal), Relaxation::Cone).unwrap()),
        || (),
        50,
    );
    println!(
        "a direction's bound, one side: {:.2} ms; one conic program of its four: {:.3} ms",
        1e-3 * micro(best[0], 2),
        1e-3 * micro(best[0], 8),
    );
}

struct Slab {
    metric: KineticMetric,
    contacts: Vec<Contact>,
    velocity: Tangent,
}

/// A box on four corners that turns.
fn slab() -> Slab {
    let inertia = [6.25 / 12.0, 5.0 / 12.0, 3.25 / 12.0];
    let mass = [1.0, 1.0, 1.0, inertia[0], inertia[1], inertia[2]];
    let corners = [(-0.5, -0.75), (0.5, -0.75), (-0.5, 0.75), (0.5, 0.75)];
    let contact = |(x, y): (f64, f64)| Contact {
        normal: Covector::from_slice(&[0.0, 0.0, 1.0, y, -x, 0.0]),
        tangents: vec![
            Covector::from_slice(&[1.0, 0.0, 0.0, 0.0, -1.0, -y]),
            Covector::from_slice(&[0.0, 1.0, 0.0, 1.0, 0.0, x]),
        ],
        friction: 0.3,
        restitution: 0.0,
    };
    Slab {
        metric: KineticMetric::new(DMatrix::from_diagonal(&DVector::from_column_slice(&mass)))
            .unwrap(),
        contacts: corners.map(contact).to_vec(),
        velocity: Tangent::from_slice(&[1.4, 0.7, -0.5, 0.1, -0.2, 2.0]),
    }
}

fn cones(c: &mut Criterion) {
    ratios();
    let mut group = c.benchmark_group("cone");
    for (name, posed, selection) in cases() {
        let (problem, lcp) = (posed.problem(), polygons(&posed));
        let mut workspace = ConeWorkspace::new();
        group.bench_function(format!("{name}/round"), |b| {
            b.iter(|| workspace.solve(black_box(&problem), selection).unwrap());
        });
        let (lemke, mut memory) = (steps(), LemkeWorkspace::new());
        group.bench_function(format!("{name}/polygon-4"), |b| {
            b.iter(|| {
                let lcp = black_box(&lcp).lcp().view();
                lemke.solve_into(lcp, &mut memory).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, cones);
criterion_main!(benches);
