//! Contacts that last from step to step: warm starts, and prescribed slip directions.

use carom_lcp::LcpStatus;
use carom_lcp::cone::{
    ConeProblem, ConeSelection, ConeWorkspace, SparseConeProblem, cone_residual,
    cone_velocity_error, contact_residual, sparse_cone_residual,
};

/// Rows of unit masses of a plate with corners at (±1, ±0.5) and the height 0.1: normals and two tangents each.
fn plate() -> Vec<f64> {
    let corners = [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)];
    let row = |i: usize| {
        let (x, y) = corners[i / 3];
        match i % 3 {
            0 => [0.0, 0.0, 1.0, y, -x, 0.0],
            1 => [1.0, 0.0, 0.0, 0.0, -0.1, -y],
            _ => [0.0, 1.0, 0.0, 0.1, 0.0, x],
        }
    };
    let weight = [1.0, 1.0, 1.0, 12.0, 3.0, 2.4];
    let product = |a: [f64; 6], b: [f64; 6]| (0..6).map(|k| a[k] * weight[k] * b[k]).sum();
    (0..144)
        .map(|at| product(row(at / 12), row(at % 12)))
        .collect()
}

/// Velocities of the corners of the plate for a velocity of its center and a spin about the vertical.
fn velocities(down: f64, along: f64, spin: f64) -> Vec<f64> {
    let corners = [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)];
    let of = |(x, y): (f64, f64)| [-down, along - spin * y, spin * x];
    corners.into_iter().flat_map(of).collect()
}

/// One contact with a prescribed direction has the closed form $\lambda_n = -b_n/(G_{nn} - \mu G_{nt} d)$.
#[test]
fn a_prescribed_direction_of_one_contact_has_a_closed_form() {
    let delassus = [2.0, 0.4, -0.3, 0.4, 3.0, 0.2, -0.3, 0.2, 2.5];
    let velocity = [-1.0, 0.5, 2.0];
    let slips = [Some([0.6, -0.8])];
    let problem = ConeProblem::new(&delassus, &velocity, &[0.7], &[])
        .unwrap()
        .with_slips(&slips)
        .unwrap();
    let push = 1.0 / (2.0 - 0.7 * (0.4 * 0.6 + 0.3 * 0.8));
    let mut workspace = ConeWorkspace::new();
    for is_near in [false, true] {
        let answer = if is_near {
            workspace.solve_near(&problem, &[0.0; 3], 1e-14)
        } else {
            workspace.solve(&problem, ConeSelection::Even)
        };
        assert_eq!(answer.unwrap().status, LcpStatus::Solved);
        let expected = [push, -0.7 * push * 0.6, 0.7 * push * 0.8];
        for (l, e) in workspace.impulse().iter().zip(expected) {
            assert!((l - e).abs() <= 1e-15);
        }
    }
}

/// Prescribed directions that are the slip that results are no other problem: the answer is that of Coulomb's law. Three
/// of the corners are told their directions, one is left free.
#[test]
fn the_direction_that_results_may_be_prescribed() {
    let delassus = plate();
    let velocity = velocities(1.0, 2.0, 0.7);
    let friction = [0.2; 4];
    let problem = ConeProblem::new(&delassus, &velocity, &friction, &[]).unwrap();
    let mut workspace = ConeWorkspace::new();
    workspace.solve(&problem, ConeSelection::Even).unwrap();
    let coulomb = workspace.impulse().to_vec();
    let slips: Vec<Option<[f64; 2]>> = workspace
        .velocity()
        .chunks_exact(3)
        .enumerate()
        .map(|(i, u)| {
            let length = u[1].hypot(u[2]);
            assert!(length > 0.1);
            (i > 0).then_some([u[1] / length, u[2] / length])
        })
        .collect();
    let problem = problem.with_slips(&slips).unwrap();
    let answer = workspace.solve_near(&problem, &coulomb, 1e-14).unwrap();
    assert_eq!(answer.status, LcpStatus::Solved);
    for (a, b) in workspace.impulse().iter().zip(&coulomb) {
        assert!((a - b).abs() <= 1e-13, "{a} {b}");
    }
    assert!(cone_velocity_error(&problem, &coulomb).unwrap() <= 1e-13);
    for residual in [cone_residual, contact_residual] {
        assert!(residual(&problem, &coulomb).unwrap() <= 1e-13);
        let wrong: Vec<f64> = coulomb.iter().map(|l| 1.1 * l).collect();
        assert!(residual(&problem, &wrong).unwrap() >= 1e-3);
    }
    assert!(SparseConeProblem::of_dense(&problem).is_err());
}

/// Friction along a prescribed direction acts although the contact would stick, and turns the motion around.
#[test]
fn a_prescribed_direction_does_not_let_a_contact_stick() {
    let delassus = plate();
    let velocity = velocities(1.0, 0.0, 0.0);
    let slips = [Some([1.0, 0.0]); 4];
    let problem = ConeProblem::new(&delassus, &velocity, &[0.5; 4], &[])
        .unwrap()
        .with_slips(&slips)
        .unwrap();
    let mut workspace = ConeWorkspace::new();
    workspace.solve_near(&problem, &[0.0; 12], 1e-14).unwrap();
    let impulse = workspace.impulse();
    let push: f64 = impulse.iter().step_by(3).sum();
    let drag: f64 = impulse.iter().skip(1).step_by(3).sum();
    assert!((push - 1.0).abs() <= 1e-14 && (drag + 0.5).abs() <= 1e-14);
}

/// Four corners that carry a plate take the impulses nearest to the start: a start that solves the problem
/// stays, whatever its shares are.
#[test]
fn a_start_that_is_a_solution_stays() {
    let delassus = plate();
    let velocity = velocities(1.0, 0.0, 0.0);
    let problem = ConeProblem::new(&delassus, &velocity, &[0.5; 4], &[]).unwrap();
    let mut workspace = ConeWorkspace::new();
    for uneven in [0.0, 0.1, 0.25] {
        let shares = [0.25 + uneven, 0.25 - uneven, 0.25 - uneven, 0.25 + uneven];
        let start: Vec<f64> = shares.iter().flat_map(|n| [*n, 0.0, 0.0]).collect();
        let answer = workspace.solve_near(&problem, &start, 1e-13).unwrap();
        assert_eq!(answer.status, LcpStatus::Solved);
        for (a, b) in workspace.impulse().iter().zip(&start) {
            assert!((a - b).abs() <= 1e-14, "{uneven}");
        }
    }
}

/// Directions that are not unit vectors are refused.
#[test]
fn a_direction_has_unit_length() {
    let delassus = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let problem = ConeProblem::new(&delassus, &[-1.0, 0.0, 0.0], &[0.5], &[]).unwrap();
    for slip in [[0.0, 0.0], [1.0, 1e-3], [f64::NAN, 0.0]] {
        assert!(problem.with_slips(&[Some(slip)]).is_err());
    }
    assert!(problem.with_slips(&[]).is_err());
}

/// A workspace that has solved other problems, of other sizes, jams and impulses that are no numbers among them, gives the
/// same bits as a new one.
#[test]
fn what_a_workspace_solved_before_changes_no_answer() {
    let delassus = plate();
    let one = [2.0, 0.4, -0.3, 0.4, 3.0, 0.2, -0.3, 0.2, 2.5];
    let mut used = ConeWorkspace::new();
    for k in 0..200 {
        let x = f64::from(k);
        let velocity = velocities(
            (0.7 * x).sin() + 0.3,
            (1.3 * x).cos() * 4.0,
            (2.1 * x).sin() * 3.0,
        );
        let friction = [0.1, 0.5, 0.9, 1.5].map(|mu| mu * (1.0 + (0.3 * x).sin()));
        let slips = [None, Some([0.6, -0.8]), None, Some([0.0, 1.0])];
        let free = ConeProblem::new(&delassus, &velocity, &friction, &[]).unwrap();
        let dragged = free.with_slips(&slips).unwrap();
        let small = ConeProblem::new(&one, &velocity[..3], &friction[..1], &[]).unwrap();
        let start = [0.1 * x; 12];
        for problem in [free, small, dragged] {
            let start = &start[..problem.dim()];
            let mut new = ConeWorkspace::new();
            let expected = new.solve_near(&problem, start, 1e-14).unwrap();
            let found = used.solve_near(&problem, start, 1e-14).unwrap();
            assert_eq!(found, expected, "{k}");
            assert_eq!(used.impulse(), new.impulse(), "{k}");
        }
        // An attempt that fails leaves nothing behind.
        let small = ConeProblem::new(&one, &velocity[..3], &friction[..1], &[]).unwrap();
        assert!(
            used.solve_near(&small, &[f64::NAN; 3], 1e-14).is_err()
                || used.impulse()[0].is_finite()
        );
    }
}

/// An impulse that is no number has no residual, wherever it stands among good ones that have nothing to do with it.
#[test]
fn one_impulse_that_is_no_number_spoils_the_residual() {
    let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let blocks = [0, 1, 2].map(|i| (i, i, unit));
    let velocity = [-1.0, 0.0, 0.0].repeat(3);
    let problem = SparseConeProblem::of_blocks(&blocks, &velocity, &[0.5; 3]).unwrap();
    let solution = [1.0, 0.0, 0.0].repeat(3);
    assert!(sparse_cone_residual(&problem, &solution).unwrap() <= 1e-15);
    for at in 0..9 {
        let mut impulse = solution.clone();
        impulse[at] = f64::NAN;
        let residual = sparse_cone_residual(&problem, &impulse);
        assert!(!residual.is_ok_and(|r| r <= 1e300), "{at}");
    }
}
