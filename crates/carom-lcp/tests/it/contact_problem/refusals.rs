//! Problems without an answer, or with several, and bad data.

use super::statics::{Rows, balanced};
use crate::common::Stream;
use carom_lcp::LcpError;
use carom_lcp::contact_problem::{
    Block, ContactProblem, Kind, Member, Operator, Rank, Refusal, Workspace, solve,
};
use nalgebra::{DMatrix, DVector};

/// A ball between two walls that both throw it back: the proof is recomputed.
#[test]
fn targets_that_contradict_each_other_are_refused_with_a_proof() {
    for kind in [Kind::Normal, Kind::Round] {
        let width = kind.width();
        let mut rows = DMatrix::zeros(2 * width, 3);
        rows[(0, 0)] = 1.0;
        rows[(width, 0)] = -1.0;
        for k in 1..width {
            rows[(k, k)] = 1.0;
            rows[(width + k, k)] = 1.0;
        }
        let mut problem = Rows {
            rows,
            mass: DMatrix::identity(3, 3) * 2.0,
            blocks: vec![Block::new(kind, 0.3); 2],
            velocity: DVector::from_vec(vec![-1.0, 0.2, 0.0]),
        };
        problem.blocks[0].target = 0.5;
        let mut workspace = Workspace::default();
        let Err(Refusal::NoAnswer { normal_impulses }) = problem.solve(&mut workspace) else {
            panic!("a refusal with a proof");
        };
        let momentum = normal_impulses[0] - normal_impulses[1];
        assert!(normal_impulses[0] > 0.0 && momentum.abs() <= 1e-12 * normal_impulses[0]);
        // Without the target the ball rests at the wall.
        problem.blocks[0].target = 0.0;
        assert!(problem.solve(&mut workspace).is_ok());
    }
}

/// Planar contacts of a body with random rows, of which some must separate.
fn thrown(seed: u64) -> Rows {
    let mut s = Stream(seed);
    let m = 2 + s.below(4);
    let root = s.matrix(3, 3);
    let mut rows = Rows {
        rows: s.matrix(2 * m, 3),
        mass: &root * root.transpose() + 0.1 * DMatrix::identity(3, 3),
        blocks: (0..m)
            .map(|_| Block::new(Kind::Planar, s.uniform(0.1, 4.0)))
            .collect(),
        velocity: s.vector(3),
    };
    let (_, before) = rows.pose();
    for (i, block) in rows.blocks.iter_mut().enumerate() {
        block.target = s.uniform(0.0, 1.0) * (-before[2 * i]).max(0.0);
    }
    rows
}

/// Largest violation of the conditions of planar contacts, relative to velocities and impulses.
fn missed(rows: &Rows, impulse: &[f64]) -> f64 {
    let (delassus, before) = rows.pose();
    let l = DVector::from_column_slice(impulse);
    let u = &before + &delassus * &l;
    let size = before.amax().max(l.amax()).max(u.amax());
    let missed = rows.blocks.iter().enumerate().map(|(i, block)| {
        let (n, t) = (l[2 * i], l[2 * i + 1]);
        let (w, slip) = (u[2 * i] - block.target, u[2 * i + 1]);
        let held = (t + slip.signum() * block.friction * n)
            .abs()
            .min(slip.abs());
        let outside = t.abs() - block.friction * n;
        [-n, -w, n.min(w), held, outside]
    });
    missed.flatten().fold(0.0, f64::max) / size
}

/// Several isolated answers of planar contacts are told, that of the least energy first, whether the even member or the first
/// answer is wanted. No problem without a proof is refused otherwise.
#[test]
fn several_answers_of_planar_contacts_are_told() {
    let mut workspace = Workspace::default();
    let (mut ambiguous, mut proven, mut any) = (0, 0, 0);
    for seed in 0..1500 {
        let rows = thrown(seed);
        let (delassus, before) = rows.pose();
        let operator = Operator::Dense(delassus.as_slice());
        let problem = ContactProblem::new(operator, &rows.blocks, before.as_slice()).unwrap();
        match solve(&problem, Member::Even, &mut workspace) {
            Ok(solution) => assert!(missed(&rows, &solution.impulse) <= 1e-9, "{seed}"),
            Err(Refusal::Ambiguous(answers)) => {
                ambiguous += 1;
                assert!(answers.len() > 1, "{seed}");
                for answer in &answers {
                    assert!(missed(&rows, &answer.impulse) <= 1e-9, "{seed}");
                }
                let energy = |k: usize| {
                    let l = DVector::from_column_slice(&answers[k].impulse);
                    l.dot(&(&before + 0.5 * &delassus * &l))
                };
                let change = |k: usize| {
                    let [a, b] = [&answers[k], &answers[k - 1]].map(|a| a.velocity.iter());
                    a.zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
                };
                for k in 1..answers.len() {
                    assert!(energy(k) >= energy(k - 1) - 1e-12, "{seed}");
                    assert!(change(k) > 1e-7, "{seed}");
                }
                let Err(Refusal::Ambiguous(again)) = solve(&problem, Member::First, &mut workspace)
                else {
                    panic!("{seed}: the first answer is not told to be one of several");
                };
                assert_eq!(again, answers, "{seed}");
            }
            Err(Refusal::NoAnswer { normal_impulses }) => {
                proven += 1;
                let normals = rows.rows.clone().remove_rows_at(&odd(rows.blocks.len()));
                let l = DVector::from_vec(normal_impulses);
                let targets = rows.blocks.iter().map(|block| block.target);
                let gain: f64 = l.iter().zip(targets).map(|(l, t)| l * t).sum();
                let momentum = normals.transpose() * &l;
                assert!(l.min() >= 0.0 && gain > 0.0, "{seed}");
                assert!(
                    momentum.amax() <= 1e-10 * l.amax() * normals.amax(),
                    "{seed}"
                );
            }
            Err(refusal) => {
                any += 1;
                assert!(matches!(refusal, Refusal::NotConverged { .. }), "{refusal}");
            }
        }
    }
    println!("{ambiguous} ambiguous, {proven} without an answer, {any} without a proof");
    assert!(ambiguous >= 10 && proven >= 50);
}

fn odd(n: usize) -> Vec<usize> {
    (0..n).map(|i| 2 * i + 1).collect()
}

#[test]
fn ranks_of_one_contact_and_of_a_box_flat_on_four_corners() {
    let mut workspace = Workspace::default();
    let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let blocks = [Block::new(Kind::Round, 0.5)];
    let problem = ContactProblem::new(Operator::Dense(&one), &blocks, &[-1.0, 0.6, 0.8]).unwrap();
    let solution = solve(&problem, Member::Even, &mut workspace).unwrap();
    assert_eq!((solution.rank, solution.rests), (Rank::Unique, false));
    assert!((solution.impulse[0] - 1.0).abs() < 1e-15 && (solution.impulse[1] + 0.3).abs() < 1e-15);
    let mut rows = balanced("box on corners", 1, 0.9);
    rows.velocity = DVector::from_column_slice(&[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    let solution = rows.solve(&mut workspace).unwrap();
    assert_eq!(
        (solution.rank, solution.rests),
        (Rank::SharedImpulses, true)
    );
    // Corners of equal distance share evenly.
    for l in solution.impulse.chunks_exact(3) {
        assert!((l[0] - solution.impulse[0]).abs() <= 1e-10 * solution.impulse[0]);
    }
}

/// The rank of a long column is not computed, and told as unknown.
#[test]
fn the_rank_of_a_large_heap_is_left_open() {
    for (n, expected) in [(60, Rank::Unique), (600, Rank::Unknown)] {
        let blocks = vec![Block::new(Kind::Normal, 0.0); n];
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 1.0 + f64::from(u8::from(i > 0)),
            1 => -1.0,
            _ => 0.0,
        };
        let delassus = DMatrix::from_fn(n, n, entry);
        let mut velocity = vec![0.0; n];
        velocity[n - 1] = -1.0;
        let operator = Operator::Dense(delassus.as_slice());
        let problem = ContactProblem::new(operator, &blocks, &velocity).unwrap();
        let mut workspace = Workspace::default();
        let solution = solve(&problem, Member::Even, &mut workspace).unwrap();
        assert!(solution.rests && solution.rank == expected);
        assert!((solution.impulse[0] - 1.0).abs() <= 1e-9);
    }
}

#[test]
fn bad_data_are_told() {
    let one = [1.0];
    let pose = |block: Block, b: f64| {
        ContactProblem::new(Operator::Dense(&one), &[block], &[b]).map(|_| ())
    };
    let normal = Block::new(Kind::Normal, 0.0);
    assert_eq!(pose(normal, -1.0), Ok(()));
    assert!(matches!(
        pose(normal, f64::NAN),
        Err(LcpError::NonFinite { .. })
    ));
    for block in [
        Block {
            friction: -0.1,
            ..normal
        },
        Block {
            floor: -1.0,
            ..normal
        },
        Block {
            floor: 2.0,
            cap: 1.0,
            ..normal
        },
        Block {
            target: f64::INFINITY,
            ..normal
        },
        Block {
            compliance: f64::NAN,
            ..normal
        },
        Block {
            kind: Kind::Box(-1.0),
            ..normal
        },
    ] {
        assert!(
            matches!(pose(block, -1.0), Err(LcpError::OutOfRange { .. })),
            "{block:?}"
        );
    }
    let planar = Block::new(Kind::Planar, 0.5);
    assert!(matches!(
        pose(planar, -1.0),
        Err(LcpError::DimensionMismatch { .. })
    ));
    let flat = ContactProblem::new(Operator::Dense(&[0.0]), &[normal], &[-1.0]).map(|_| ());
    assert!(matches!(flat, Err(LcpError::NonPositiveDiagonal { .. })));
    let astray = [Block::new(Kind::Against([0.6, 0.7]), 0.5)];
    let nine = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let found = ContactProblem::new(Operator::Dense(&nine), &astray, &[-1.0, 0.0, 0.0]);
    assert!(matches!(
        found.map(|_| ()),
        Err(LcpError::OutOfRange { .. })
    ));
}

/// A ball between two walls that approach each other has no answer, however large the impulses become at which a search begins.
#[test]
fn a_squeezed_ball_is_refused() {
    let mut workspace = Workspace::default();
    for push in [0.0, 1e3, 1e8, 1e10, 1e12] {
        let mut blocks = [Block::new(Kind::Normal, 0.0); 2];
        for block in &mut blocks {
            block.preload[0] = push;
        }
        let delassus = [1.0, -1.0, -1.0, 1.0];
        let operator = Operator::Dense(&delassus);
        let problem = ContactProblem::new(operator, &blocks, &[-1.0, -1.0]).unwrap();
        for member in [Member::Any, Member::Even] {
            let answer = solve(&problem, member, &mut workspace);
            assert!(
                matches!(answer, Err(Refusal::NotConverged { .. })),
                "{push} {member:?} {answer:?}"
            );
        }
    }
}

/// Friction against given directions can jam contacts. Told answers keep the conditions in units of the velocities.
#[test]
fn told_answers_of_contacts_that_may_jam_keep_their_conditions() {
    let mut workspace = Workspace::default();
    let (mut told, mut refused) = (0, 0);
    for seed in 0..2000 {
        let mut s = Stream(seed);
        let m = 2 + (seed % 3) as usize;
        let rows = DMatrix::from_fn(3 * m, 4, |_, _| s.uniform(-1.0, 1.0));
        let blocks: Vec<Block> = (0..m)
            .map(|_| {
                let angle: f64 = s.uniform(0.0, 6.0);
                Block::new(
                    Kind::Against([angle.cos(), angle.sin()]),
                    s.uniform(0.0, 4.0),
                )
            })
            .collect();
        let velocity = s.vector(4);
        let (delassus, before) = (&rows * rows.transpose(), &rows * &velocity);
        let operator = Operator::Dense(delassus.as_slice());
        let problem = ContactProblem::new(operator, &blocks, before.as_slice()).unwrap();
        let Ok(solution) = solve(&problem, Member::Any, &mut workspace) else {
            refused += 1;
            continue;
        };
        told += 1;
        let after = &before + &delassus * DVector::from_column_slice(&solution.impulse);
        for (i, block) in blocks.iter().enumerate() {
            let (l, u) = (&solution.impulse[3 * i..], after[3 * i]);
            assert!(l[0] >= 0.0 && u >= -1e-2, "{seed}: {l:?} {u}");
            assert!(l[0] <= 1e-2 || u <= 1e-2, "{seed}: {} {u}", l[0]);
            let Kind::Against(slip) = block.kind else {
                unreachable!()
            };
            let push = (0..2).map(|k| l[1 + k] + block.friction * l[0] * slip[k]);
            assert!(push.fold(0.0, |a: f64, x| a.max(x.abs())) <= 1e-9 * l[0].max(1.0));
        }
    }
    assert!(told > 100 && refused > 100, "{told} {refused}");
}
