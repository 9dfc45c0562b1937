//! Many contacts: heaps of bodies, and problems of Siconos' collection.

use crate::scenes::heaps::{HEAPS, heap};
use crate::scenes::scene::Scene;
use crate::scenes::siconos;
use carom_lcp::contact_problem::{
    Block, ContactProblem, Kind, Member, Operator, Refusal, Solution, Workspace, solve,
};

fn blocks(scene: &Scene) -> Vec<Block> {
    let friction = scene.friction.iter();
    friction.map(|f| Block::new(Kind::Round, *f)).collect()
}

/// Solves a scene by its bodies and by its Delassus matrix.
fn both(scene: &Scene, blocks: &[Block], member: Member) -> [Result<Solution, Refusal>; 2] {
    let (posed, bodies) = (scene.pose(), scene.bodies());
    let operators = [
        Operator::Bodies(&bodies),
        Operator::Dense(posed.delassus.as_slice()),
    ];
    operators.map(|operator| {
        let problem = ContactProblem::new(operator, blocks, posed.before.as_slice()).unwrap();
        solve(&problem, member, &mut Workspace::default()).cloned()
    })
}

#[test]
fn heaps_of_all_kinds_are_solved_by_bodies_and_by_their_matrix() {
    let (mut total, mut missed) = (0, 0);
    for kind in HEAPS {
        for (n, seeds) in [(1, 4), (5, 6), (24, 6), (70, 3), (200, 1)] {
            for seed in 0..seeds {
                let scene = heap(kind, n, seed);
                for found in both(&scene, &blocks(&scene), Member::Any) {
                    total += 1;
                    let residual = match &found {
                        Ok(solution) => solution.residual,
                        Err(Refusal::NotConverged { residual, .. }) => *residual,
                        Err(refusal) => panic!("{kind} {n} {seed}: {refusal}"),
                    };
                    if residual > 1e-12 {
                        println!("{kind} {n} {seed}: {residual:e}");
                        missed += 1;
                    }
                }
            }
        }
    }
    println!("{missed} of {total} heaps miss 1e-12");
    assert!(100 * missed <= total, "{missed} of {total}");
}

/// A spring that takes the whole momentum is an answer whatever the rigid bodies do.
#[test]
fn compliant_heaps_are_solved_and_press_with_their_springs() {
    for kind in HEAPS {
        for (n, seed) in [(5, 0), (24, 1), (70, 2)] {
            let scene = heap(kind, n, seed);
            let mut soft = blocks(&scene);
            for block in &mut soft {
                block.compliance = 0.02;
                block.preload = [0.1, 0.0, 0.0];
            }
            for found in both(&scene, &soft, Member::Any) {
                let solution = found.unwrap();
                assert!(solution.residual <= 1e-12, "{kind} {n} {seed}");
                let contacts = solution
                    .impulse
                    .chunks_exact(3)
                    .zip(solution.velocity.chunks_exact(3));
                for (l, u) in contacts {
                    let w = u[0] + 0.02 * (l[0] - 0.1);
                    assert!(
                        l[0] >= 0.0 && w >= -1e-10 && (l[0] * w).abs() <= 1e-9,
                        "{kind} {n} {seed}: {l:?} {w}"
                    );
                }
            }
        }
    }
}

/// Siconos' own problems that are small enough to be kept here.
#[test]
fn problems_of_siconos_are_solved_to_twelve_digits() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/siconos");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|e| e == "dat"));
    names.sort();
    assert!(names.len() >= 30, "{names:?}");
    let mut workspace = Workspace::default();
    for path in names {
        let given = siconos::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let (matrix, blocks, velocity) = given.dense();
        let problem = ContactProblem::new(Operator::Dense(&matrix), &blocks, &velocity).unwrap();
        for member in [Member::Any, Member::Even] {
            let solution = solve(&problem, member, &mut workspace).unwrap();
            assert!(
                solution.residual <= 1e-12,
                "{}: {solution:?}",
                path.display()
            );
        }
    }
}
