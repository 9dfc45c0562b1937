//! Heaps in their last moments before they rest, where hardly any contact slides and many can carry.

use super::scene::Scene;
use carom_lcp::cone::{
    SparseConeOptions, SparseConeProblem, SparseConeWorkspace, sparse_cone_residual,
};
use nalgebra::{Matrix3, Vector3};

const RADIUS: f64 = 0.1;

/// A problem and the impulses of the step before it.
struct Settling {
    problem: SparseConeProblem,
    start: Vec<f64>,
}

fn read(text: &str) -> Vec<Settling> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut problems = Vec::new();
    while let Some(count) = lines.next() {
        let mut scene = Scene::default();
        for _ in 0..50 {
            // A ball: 2/5 r^2.
            scene.body(1.0, [(0.6 * RADIUS * RADIUS).sqrt(); 3]);
        }
        let (mut velocity, mut start) = (Vec::new(), Vec::new());
        for line in lines.by_ref().take(count.parse().unwrap()) {
            let words: Vec<f64> = line.split(' ').map(|x| x.parse().unwrap()).collect();
            let normal = Vector3::new(words[2], words[3], words[4]);
            let tangent = Vector3::new(words[5], words[6], words[7]);
            let axes = Matrix3::from_columns(&[tangent, normal.cross(&tangent), normal]);
            let at = |sign: f64| (sign * RADIUS * normal).into();
            let second = (words[1] >= 0.0).then(|| (words[1] as usize, at(1.0)));
            scene.contact((words[0] as usize, at(-1.0)), second, axes, 0.5);
            velocity.extend_from_slice(&words[8..11]);
            start.extend_from_slice(&words[11..14]);
        }
        scene.velocity = nalgebra::DVector::zeros(300);
        let mut problem = scene.sparse(&[]);
        problem.set_velocity(&velocity).unwrap();
        problems.push(Settling { problem, start });
    }
    problems
}

#[test]
fn heaps_that_settle_are_solved_within_a_few_hundred_steps() {
    let problems = read(include_str!("../data/settling-balls.txt"));
    assert_eq!(problems.len(), 4);
    let options = SparseConeOptions::new(1e-9, 1e-9).unwrap();
    for Settling { problem, start } in &problems {
        for start in [&start[..], &[]] {
            let mut workspace = SparseConeWorkspace::new();
            let answer = workspace.solve_from(problem, start, &options).unwrap();
            assert!(answer.residual <= 1e-9, "{answer:?}");
            let n_steps = answer.n_newton_steps + answer.n_interior_steps;
            assert!(n_steps <= 1200, "{answer:?}");
        }
    }
}

/// Newton's method, interior points and proximal points end above 1e-9 here, from any start.
#[test]
fn degenerate_heaps_are_solved_by_way_of_perturbed_problems() {
    let problems = read(include_str!("../data/degenerate-balls.txt"));
    assert_eq!(problems.len(), 3);
    let options = SparseConeOptions::new(1e-9, 1e-9).unwrap();
    for Settling { problem, start } in &problems {
        let mut workspace = SparseConeWorkspace::new();
        let answer = workspace.solve_from(problem, start, &options).unwrap();
        assert!(answer.residual <= 1e-9, "{answer:?}");
        let residual = sparse_cone_residual(problem, workspace.impulse()).unwrap();
        assert!(residual <= 1e-9, "{residual:e}");
    }
}
