//! Sparse problems, against conditions that are recomputed from dense matrices.

use super::heaps::{HEAPS, heap};
use super::scene::{FAMILIES, Posed, Scene, four_corners, random};
use super::siconos;
use crate::common::Stream;
use carom_lcp::cone::{
    BodyRows, ConeMode, ConeProblem, ConeSelection, ConeWorkspace, SparseConeOptions,
    SparseConeProblem, SparseConeStage, SparseConeWorkspace, SparseContact, sparse_cone_residual,
};
use carom_lcp::{LcpError, LcpStatus};
use nalgebra::DVector;

/// Violations of Signorini's and Coulomb's conditions, each over the size of its contact: normal
/// impulses below their floors, approach, complementarity, the cone, and friction that does not
/// oppose sliding.
fn violation(posed: &Posed, before: &DVector<f64>, floors: &[f64], impulse: &[f64]) -> f64 {
    let after = before + &posed.delassus * DVector::from_column_slice(impulse);
    let size = |i: usize| {
        let g = (0..3)
            .map(|k| posed.delassus[(3 * i + k, 3 * i + k)])
            .fold(0.0, f64::max);
        let root = g.sqrt();
        let norm = |x: &[f64]| DVector::from_column_slice(x).norm();
        let rows = 3 * i..3 * i + 3;
        let speed = norm(&before.as_slice()[rows.clone()]) / root;
        (root, speed.max(root * norm(&impulse[rows])))
    };
    let m = posed.friction.len();
    let scale = (0..m).map(|i| size(i).1).fold(0.0, f64::max);
    if scale == 0.0 {
        return 0.0;
    }
    let mut worst = 0.0f64;
    for (i, friction) in posed.friction.iter().enumerate() {
        let (root, _) = size(i);
        // Impulses and velocities in units of the square root of an energy.
        let l: Vec<f64> = (0..3).map(|k| impulse[3 * i + k] * root).collect();
        let u: Vec<f64> = (0..3).map(|k| after[3 * i + k] / root).collect();
        let above = l[0] - floors.get(i).copied().unwrap_or(0.0) * root;
        let (push, slide) = (l[1].hypot(l[2]), u[1].hypot(u[2]));
        let most = friction * l[0];
        let mut missed = vec![-above, -u[0], above.min(u[0]), push - most];
        // Dissipation that friction misses, over the slip: both vanish where it sticks.
        missed.push((most * slide + l[1] * u[1] + l[2] * u[2]) / slide.max(most).max(1e-300));
        worst = missed.into_iter().fold(worst, f64::max);
    }
    worst / scale
}

fn check(posed: &Posed, before: &DVector<f64>, floors: &[f64], impulse: &[f64], name: &str) {
    let violation = violation(posed, before, floors, impulse);
    assert!(violation <= 1e-11, "{name}: {violation:e}");
}

fn solve(problem: &SparseConeProblem, name: &str) -> SparseConeWorkspace {
    let mut workspace = SparseConeWorkspace::new();
    let answer = workspace.solve(problem).unwrap();
    assert_eq!(answer.status, LcpStatus::Solved, "{name}: {answer:?}");
    assert!(answer.residual <= 1e-12, "{name}: {answer:?}");
    let again = sparse_cone_residual(problem, workspace.impulse()).unwrap();
    assert!(again <= 1e-12, "{name}: {again:e}");
    workspace
}

#[test]
fn heaps_of_all_kinds_keep_the_conditions_of_contact() {
    for kind in HEAPS {
        for (n, seeds) in [(1, 4), (5, 6), (24, 6), (70, 3)] {
            for seed in 0..seeds {
                let scene = heap(kind, n, seed);
                let name = format!("{kind} {n} {seed}");
                let workspace = solve(&scene.sparse(&[]), &name);
                let posed = scene.pose();
                check(&posed, &posed.before, &[], workspace.impulse(), &name);
            }
        }
    }
}

#[test]
fn two_hundred_contacts_of_a_stack_and_of_a_jam_are_solved() {
    for kind in ["stack", "jam"] {
        let scene = heap(kind, 200, 3);
        let workspace = solve(&scene.sparse(&[]), kind);
        let posed = scene.pose();
        check(&posed, &posed.before, &[], workspace.impulse(), kind);
    }
}

/// The expansion of Poisson's hypothesis: what compression took is given back at least.
#[test]
fn expansion_above_floors_keeps_the_conditions_of_contact() {
    for kind in HEAPS {
        for (n, seed) in [(1, 0), (6, 1), (24, 2), (24, 3), (60, 4)] {
            let scene = heap(kind, n, seed);
            let name = format!("{kind} {n} {seed}");
            let compressed = solve(&scene.sparse(&[]), &name);
            let mut stream = Stream(seed);
            let pushes = compressed.impulse().iter().step_by(3);
            let floors: Vec<f64> = pushes
                .map(|l| stream.uniform(0.0, 1.0) * l.max(0.0))
                .collect();
            let mut problem = scene.sparse(&[]);
            problem.set_velocity(compressed.velocity()).unwrap();
            problem.set_floors(&floors).unwrap();
            let workspace = solve(&problem, &name);
            let before = DVector::from_column_slice(compressed.velocity());
            check(&scene.pose(), &before, &floors, workspace.impulse(), &name);
        }
    }
}

/// Both ways to give a matrix and the dense solver lead to one velocity, where it is unique.
#[test]
fn bodies_blocks_and_dense_matrices_lead_to_one_velocity() {
    for family in FAMILIES {
        for seed in 0..6 {
            let mut scene = random(family, seed);
            scene.restitution.fill(0.0);
            // Beyond that some contacts have several isolated solutions.
            scene
                .friction
                .iter_mut()
                .for_each(|friction| *friction = friction.min(0.5));
            let posed = scene.pose();
            let mut dense = ConeWorkspace::new();
            let answer = dense.solve(&posed.problem(), ConeSelection::Even).unwrap();
            if answer.family > 0 || answer.status != LcpStatus::Solved {
                continue;
            }
            let name = format!("{family} {seed}");
            let of_bodies = solve(&scene.sparse(&[]), &name);
            let blocks = SparseConeProblem::of_dense(&posed.problem()).unwrap();
            let of_blocks = solve(&blocks, &name);
            let expected = posed.velocity_plus(dense.impulse());
            for workspace in [&of_bodies, &of_blocks] {
                let found = posed.velocity_plus(workspace.impulse());
                let difference = posed.norm(&(found - &expected));
                assert!(
                    difference <= 1e-8 * posed.norm(&posed.velocity),
                    "{name}: {difference:e}"
                );
            }
        }
    }
}

#[test]
fn a_box_that_slides_on_four_corners_keeps_its_direction() {
    let scene = four_corners([1.4, 0.67, -0.5, 0.0, 0.0, 0.0], 0.5);
    let workspace = solve(&scene.sparse(&[]), "box");
    let v = scene.pose().velocity_plus(workspace.impulse());
    let kept = 1.0 - 0.25 / 1.4f64.hypot(0.67);
    let expected = [1.4 * kept, 0.67 * kept, 0.0, 0.0, 0.0, 0.0];
    for (x, y) in v.iter().zip(expected) {
        assert!((x - y).abs() <= 1e-12, "{v}");
    }
    assert_eq!(workspace.modes(), [ConeMode::Slide; 4]);
}

/// A ball that presses with twice its weight, and whose floor gives back a half.
#[test]
fn a_ball_rebounds_with_half_its_speed_above_a_floor_of_half_its_impulse() {
    let mut scene = Scene::default();
    let ball = scene.body(2.0, [0.3; 3]);
    scene.contact((ball, [0.0, 0.0, -0.5]), None, super::scene::upright(), 0.4);
    scene.velocity = DVector::zeros(6);
    let workspace = solve(&scene.sparse(&[1.5]), "ball");
    assert!((workspace.impulse()[0] - 1.5).abs() <= 1e-12);
    assert!((workspace.velocity()[0] - 0.75).abs() <= 1e-12);
}

#[test]
fn a_warm_start_is_the_answer_or_near_it() {
    let scene = heap("balls", 60, 5);
    let mut problem = scene.sparse(&[]);
    let mut workspace = SparseConeWorkspace::new();
    let options = SparseConeOptions::default();
    let cold = workspace.solve_from(&problem, &[], &options).unwrap();
    let start = workspace.impulse().to_vec();
    let warm = workspace.solve_from(&problem, &start, &options).unwrap();
    assert!(warm.n_newton_steps <= 2, "{warm:?}");
    // A thousandth more speed: the modes stay, and so do the symbolic factors.
    let faster: Vec<f64> = problem.velocity().iter().map(|u| 1.001 * u).collect();
    problem.set_velocity(&faster).unwrap();
    let next = workspace.solve_from(&problem, &start, &options).unwrap();
    assert_eq!(next.stage, SparseConeStage::Newton);
    assert!(
        next.residual <= 1e-12 && next.n_newton_steps <= cold.n_newton_steps,
        "{next:?}"
    );
    assert_eq!(next.n_symbolic, 0, "{next:?}");
}

#[test]
fn answers_do_not_depend_on_what_was_solved_before() {
    let (first, second) = (
        heap("balls", 30, 1).sparse(&[]),
        heap("stack", 24, 2).sparse(&[]),
    );
    let mut used = SparseConeWorkspace::new();
    used.solve(&first).unwrap();
    used.solve(&second).unwrap();
    let mut fresh = SparseConeWorkspace::new();
    fresh.solve(&second).unwrap();
    assert_eq!(used.impulse(), fresh.impulse());
}

#[test]
fn units_of_mass_and_length_scale_the_impulses_alone() {
    let scene = heap("wall of boxes", 24, 4);
    let posed = scene.pose();
    let plain = solve(
        &SparseConeProblem::of_dense(&posed.problem()).unwrap(),
        "plain",
    );
    // Powers of four and two: not a bit is rounded otherwise.
    let (mass, length) = (4f64.powi(-10), 1024.0);
    let delassus = &posed.delassus / mass;
    let before = &posed.before * length;
    let scaled = ConeProblem::new(delassus.as_slice(), before.as_slice(), &posed.friction, &[]);
    let scaled = solve(
        &SparseConeProblem::of_dense(&scaled.unwrap()).unwrap(),
        "scaled",
    );
    for (a, b) in plain.velocity().iter().zip(scaled.velocity()) {
        assert_eq!(a * length, *b);
    }
}

#[test]
fn bodies_change_their_velocities_by_what_the_impulses_make() {
    let scene = heap("balls", 12, 6);
    let problem = scene.sparse(&[]);
    let workspace = solve(&problem, "balls");
    let mut changes = Vec::new();
    problem
        .body_changes(workspace.impulse(), &mut changes)
        .unwrap();
    let posed = scene.pose();
    let expected = posed.velocity_plus(workspace.impulse()) - &posed.velocity;
    for (x, y) in changes.as_flattened().iter().zip(expected.iter()) {
        assert!((x - y).abs() <= 1e-12, "{x} {y}");
    }
}

#[test]
fn faults_of_a_problem_are_told() {
    let mut problem = SparseConeProblem::of_bodies();
    let mut mass = [[0.0; 6]; 6];
    assert!(matches!(
        problem.push_body(&mass),
        Err(LcpError::NonPositiveDiagonal { .. })
    ));
    for (i, row) in mass.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    let body = problem.push_body(&mass).unwrap();
    let mut rows = [[0.0; 6]; 3];
    let contact = |rows, velocity, friction, floor, second| SparseContact {
        first: BodyRows { body, rows },
        second,
        velocity,
        friction,
        floor,
    };
    let still = [0.0; 3];
    let flat = problem.push_contact(&contact(rows, still, 0.5, 0.0, None));
    assert!(matches!(flat, Err(LcpError::NonPositiveDiagonal { .. })));
    rows[0][2] = 1.0;
    for (friction, floor) in [
        (-0.1, 0.0),
        (f64::NAN, 0.0),
        (0.1, -1.0),
        (0.1, f64::INFINITY),
    ] {
        let fault = problem.push_contact(&contact(rows, still, friction, floor, None));
        assert!(
            matches!(fault, Err(LcpError::OutOfRange { .. })),
            "{fault:?}"
        );
    }
    let nan = problem.push_contact(&contact(rows, [f64::NAN, 0.0, 0.0], 0.5, 0.0, None));
    assert!(matches!(nan, Err(LcpError::NonFinite { .. })));
    let absent = BodyRows { body: 7, rows };
    let fault = problem.push_contact(&contact(rows, still, 0.5, 0.0, Some(absent)));
    assert!(matches!(
        fault,
        Err(LcpError::OutOfRange { what: "body", .. })
    ));
    assert_eq!(problem.n_contacts(), 0);
    problem
        .push_contact(&contact(rows, [-1.0, 0.0, 0.0], 0.5, 0.0, None))
        .unwrap();
    let mut workspace = SparseConeWorkspace::new();
    let options = SparseConeOptions::default();
    let fault = workspace.solve_from(&problem, &[0.0; 2], &options);
    assert!(matches!(fault, Err(LcpError::DimensionMismatch { .. })));
    assert!(SparseConeOptions::new(1e-3, 1e-3).is_err());
    assert!(SparseConeOptions::new(1e-9, 1e-12).is_err());
    assert!(SparseConeOptions::new(1e-9, 1e-7).is_ok());
    let below = SparseConeProblem::of_blocks(&[(1, 0, [[1.0; 3]; 3])], &[0.0; 6], &[0.1; 2]);
    assert!(matches!(below, Err(LcpError::OutOfRange { .. })));
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
    for path in names {
        let given = siconos::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let workspace = solve(&given.problem().unwrap(), &path.display().to_string());
        assert_eq!(workspace.impulse().len(), 3 * given.friction.len());
    }
}
