//! Cost of contacts with round friction cones beside polygons of four directions.
//!
//! Ratios come first: cone and polygon take turns in one loop, and the best time of each counts. They
//! mean something on a busy machine, where the times that follow do not.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../crates/carom-lcp/tests/it/common/mod.rs"]
mod common;
#[path = "../../crates/carom-lcp/tests/it/scenes/scene.rs"]
#[allow(dead_code)]
mod scene;

use carom_contact::{Contact, ContactSet, FrictionCone, ImpactProblem};
use carom_impact::frictional::{Sampler, SetValued};
use carom_impact::internal::Draw;
use carom_judge::bounds::{OuterBounds, Relaxation};
use carom_lcp::contact_problem::{Member, Workspace, solve};
use carom_lcp::{ContactLcp, ContactRows, Lemke, LemkeOptions, LemkeWorkspace};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_numeric::block_lu::BlockLu;
use carom_numeric::random::CounterRng;
use criterion::{Criterion, criterion_group, criterion_main};
use faer::prelude::Solve as _;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{SparseColMat, Triplet};
use nalgebra::{DMatrix, DVector};
use scene::{Posed, Scene, four_corners, random, upright};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Turns of a comparison.
const TURNS: usize = 300;

/// Turns of the comparison of factorizations.
const FACTOR_TURNS: usize = 20;

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
fn cases() -> Vec<(&'static str, Posed, Member)> {
    let box_at = four_corners([1.4, 0.7, -0.5, 0.1, -0.2, 2.0], 0.3).pose();
    let mut pile = random("pile of two", 3);
    pile.restitution.fill(0.0);
    vec![
        ("one-contact", one().pose(), Member::Even),
        ("four-independent", independent().pose(), Member::Even),
        ("box-on-four-corners-even", box_at, Member::Even),
        ("eight-dependent", pile.pose(), Member::First),
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
    Lemke::default().with_options(LemkeOptions::default().with_proofs(false))
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
        let (blocks, lcp) = (posed.blocks(), polygons(&posed));
        let problem = posed.problem(&blocks);
        let (mut workspace, lemke) = (Workspace::default(), steps());
        let mut memory = LemkeWorkspace::new();
        let best = compare(
            || {
                for _ in 0..COUNT {
                    solve(black_box(&problem), selection, &mut workspace).unwrap();
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
    let law = |friction_cone| SetValued::default().with_friction_cone(friction_cone);
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
    let contact = |(x, y): (f64, f64)| {
        let tangents = vec![
            Covector::from_slice(&[1.0, 0.0, 0.0, 0.0, -1.0, -y]),
            Covector::from_slice(&[0.0, 1.0, 0.0, 1.0, 0.0, x]),
        ];
        Contact::new(Covector::from_slice(&[0.0, 0.0, 1.0, y, -x, 0.0]))
            .with_tangents(tangents)
            .with_friction(0.3)
    };
    Slab {
        metric: KineticMetric::new(DMatrix::from_diagonal(&DVector::from_column_slice(&mass)))
            .unwrap(),
        contacts: corners.map(contact).to_vec(),
        velocity: Tangent::from_slice(&[1.4, 0.7, -0.5, 0.1, -0.2, 2.0]),
    }
}

/// Neighbors of every ball of a heap of `count` balls on a grid, `side` of them along each wall, with every other ball of its layer
/// left out: some four contacts a ball, as in a settled heap.
fn neighbors(count: usize, side: usize) -> Vec<Vec<u32>> {
    let cell = |k: usize| [k % side, k / side % side, k / side / side];
    let touch = |a: [usize; 3], b: [usize; 3]| {
        let apart: [usize; 3] = std::array::from_fn(|k| a[k].abs_diff(b[k]));
        apart.iter().sum::<usize>() <= 1 || (apart == [1, 1, 1] && (a[0] + a[1]).is_multiple_of(2))
    };
    let one = |i: usize| -> Vec<u32> {
        (0..count)
            .filter(|j| *j != i && (touch(cell(i), cell(*j)) || touch(cell(*j), cell(i))))
            .map(|j| j as u32)
            .collect()
    };
    (0..count).map(one).collect()
}

/// The matrix $I + J^TCJ$ of the velocities of a heap's balls, with unsymmetric $C$ as sliding contacts have it: the
/// 6 x 6 blocks by row and column.
fn velocity_matrix(beside: &[Vec<u32>]) -> Vec<(usize, usize, [[f64; 6]; 6])> {
    let mut random = CounterRng::new(7, 0, 0);
    let mut out = Vec::new();
    let mut diagonal: Vec<[[f64; 6]; 6]> = beside
        .iter()
        .map(|_| std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j)))))
        .collect();
    for (i, list) in beside.iter().enumerate() {
        for j in list.iter().map(|j| *j as usize).filter(|j| *j > i) {
            let mut number = || random.next_uniform() - 0.5;
            let rows: [[[f64; 6]; 3]; 2] = [0; 2].map(|_| [0; 3].map(|_| [0; 6].map(|_| number())));
            let c: [[f64; 3]; 3] = std::array::from_fn(|k| {
                std::array::from_fn(|l| if k == l { 2.0 } else { number() })
            });
            let block = |a: usize, b: usize| -> [[f64; 6]; 6] {
                std::array::from_fn(|p| {
                    std::array::from_fn(|q| {
                        let pairs = (0..9).map(|n| (n / 3, n % 3));
                        pairs
                            .map(|(k, l)| rows[a][k][p] * c[k][l] * rows[b][l][q])
                            .sum()
                    })
                })
            };
            for (body, side) in [(i, 0), (j, 1)] {
                let own = block(side, side);
                for (to, from) in diagonal[body]
                    .iter_mut()
                    .flatten()
                    .zip(own.iter().flatten())
                {
                    *to += from;
                }
            }
            out.extend([(i, j, block(0, 1)), (j, i, block(1, 0))]);
        }
    }
    out.extend(
        diagonal
            .into_iter()
            .enumerate()
            .map(|(i, block)| (i, i, block)),
    );
    out
}

/// Factors of the matrices of heaps by the block factorization beside faer's sparse LU factorization: both with their
/// order kept from one matrix to the next, and both with the order found anew. Solutions are compared.
fn factorizations() {
    println!("LU factors and one solution, faer's time over that of blocks:");
    for (count, side) in [(50, 4), (300, 8), (1000, 12)] {
        let beside = neighbors(count, side);
        let blocks = velocity_matrix(&beside);
        let triplets: Vec<Triplet<usize, usize, f64>> = { blocks.iter() }
            .flat_map(|(i, j, block)| {
                (0..36)
                    .map(move |n| Triplet::new(6 * i + n / 6, 6 * j + n % 6, block[n / 6][n % 6]))
            })
            .collect();
        let matrix = SparseColMat::try_new_from_triplets(6 * count, 6 * count, &triplets).unwrap();
        let mut factors = BlockLu::<6>::default();
        let mut by_blocks = |anew: bool| {
            if anew {
                factors.analyze(count, |i, list| list.extend(&beside[i]));
            }
            factors.clear();
            for (i, j, block) in &blocks {
                *factors.entry(*i, *j).unwrap() = *block;
            }
            assert!(factors.factor());
            let mut x = vec![[1.0; 6]; count];
            factors.solve(&mut x);
            x
        };
        let kept = SymbolicLu::try_new(matrix.symbolic()).unwrap();
        let by_faer = |anew: bool| {
            let symbolic = if anew {
                SymbolicLu::try_new(matrix.symbolic()).unwrap()
            } else {
                kept.clone()
            };
            let lu = Lu::try_new_with_symbolic(symbolic, matrix.as_ref()).unwrap();
            let mut x = faer::Col::from_fn(6 * count, |_| 1.0);
            lu.solve_in_place(&mut x);
            x
        };
        let (ours, theirs) = (by_blocks(true), by_faer(true));
        let apart = { ours.iter().flatten().enumerate() }.map(|(k, x)| (x - theirs[k]).abs());
        let size = ours.iter().flatten().fold(0.0, |s: f64, x| s.max(x.abs()));
        let mut best = [f64::INFINITY; 4];
        for _ in 0..FACTOR_TURNS {
            for (k, best) in best.iter_mut().enumerate() {
                let start = Instant::now();
                match k {
                    0 | 1 => drop(black_box(by_blocks(k == 1))),
                    _ => drop(black_box(by_faer(k == 3))),
                }
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        println!(
            "  {count} balls, {} contacts: order kept {:.2} ({:.3} ms by blocks), order anew {:.2}; solutions differ by {:.0e}",
            beside.iter().map(Vec::len).sum::<usize>() / 2,
            best[2] / best[0],
            1e3 * best[0],
            best[3] / best[1],
            apart.fold(0.0, f64::max) / size,
        );
    }
}

fn cones(c: &mut Criterion) {
    ratios();
    factorizations();
    let mut group = c.benchmark_group("cone");
    for (name, posed, selection) in cases() {
        let (blocks, lcp) = (posed.blocks(), polygons(&posed));
        let problem = posed.problem(&blocks);
        let mut workspace = Workspace::default();
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
