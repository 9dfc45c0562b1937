//! Seeded families of problems: all that have a solution are solved.

use crate::common::*;
use carom_lcp::{
    Attempt, ContactLcp, Lcp, LcpSolver, LcpStatus, Lemke, LemkeOptions, LemkeWorkspace,
    SOLVED_ERROR,
};

/// Solves and returns residual and attempt.
fn solved(lcp: &Lcp, name: &str) -> (f64, Attempt) {
    let mut workspace = LemkeWorkspace::new();
    let report = Lemke::default()
        .solve_into(lcp.view(), &mut workspace)
        .unwrap();
    assert_eq!(report.status, LcpStatus::Solved, "{name}: {report:?}");
    // A thousand times below what counts as solved.
    assert!(report.certificate.residual <= 1e-12, "{name}: {report:?}");
    assert!(
        report.certificate.backward_error <= SOLVED_ERROR,
        "{name}: {report:?}"
    );
    (report.certificate.residual, report.attempt)
}

#[test]
fn positive_definite_problems_of_every_size_are_solved() {
    for n in [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 64, 100] {
        for seed in 0..(400 / n as u64).max(3) {
            solved(&pd_skew(1000 * n as u64 + seed, n), "pd_skew");
            solved(&p_matrix(seed, n.min(24)), "p_matrix");
            solved(&strictly_copositive(seed, n), "copositive");
            solved(&delassus_chain(seed, n), "chain");
        }
    }
}

/// Integers tie at every step; rank deficiency makes every basis near a singular one.
#[test]
fn degenerate_integer_problems_are_solved() {
    for n in [2, 3, 4, 6, 8, 12, 16, 24, 32, 48] {
        for seed in 0..(600 / n as u64) {
            let rank = 1 + (seed as usize) % n;
            solved(&integer_psd(seed, n, rank), "integer_psd");
        }
    }
}

/// Plates on plates with four corners each, friction polygons: up to 32 contacts, n = 192.
#[test]
fn piles_with_friction_are_solved() {
    for (plates, seeds) in [(1, 40), (2, 20), (4, 8), (8, 3)] {
        for seed in 0..seeds {
            for speed in [1.0, 1e-10] {
                let contacts = pile(seed, plates, 1.0, speed);
                let friction = ContactLcp::new(&contacts.rows(), 4).unwrap();
                solved(friction.lcp(), "pile");
            }
        }
    }
}

/// An open contact's impulse is zero, not rounding: its cone row has no other terms, so the noise
/// would be all of it.
#[test]
fn every_row_of_a_pile_holds_by_itself() {
    for (plates, seeds) in [(1, 40), (2, 10), (8, 3)] {
        for seed in 0..seeds {
            let friction = ContactLcp::new(&pile(seed, plates, 1.0, 1.0).rows(), 4).unwrap();
            let lcp = friction.lcp();
            let z = Lemke::default().solve(lcp).unwrap().z;
            for (i, q) in lcp.vector().iter().enumerate() {
                let terms = lcp.matrix().row(i).transpose().component_mul(&z);
                let (w, size) = (q + terms.sum(), q.abs() + terms.abs().sum());
                let excess = if z[i] > 0.0 { w.abs() } else { -w };
                // The bound of the solver, and the rounding of sums in another order.
                assert!(
                    excess <= 1.1e-12 * size,
                    "{plates} plates, seed {seed}, row {i}: {excess:e} of {size:e}"
                );
            }
        }
    }
}

/// Masses over twelve decades and velocities of 1e-10.
#[test]
fn badly_scaled_contacts_are_solved() {
    for (plates, seeds) in [(1, 40), (2, 20), (4, 6)] {
        for seed in 0..seeds {
            let contacts = pile(seed, plates, 12.0, 1e-10);
            let friction = ContactLcp::new(&contacts.rows(), 4).unwrap();
            solved(
                friction.lcp(),
                &format!("badly scaled, {plates} plates, seed {seed}"),
            );
        }
    }
}

/// Units change nothing: rows and columns over eight decades have the same complementary bases.
#[test]
fn the_answer_does_not_depend_on_units() {
    let lemke = Lemke::default().with_options(LemkeOptions::default().with_refine_above(0.0));
    for n in [2, 4, 8, 16] {
        for seed in 0..50 {
            let plain = pd_skew(seed, n);
            let z = lemke.solve(&plain).unwrap().z;
            let other = rescaled(&plain, seed, 8.0);
            let other_z = lemke.solve(&other).unwrap().z;
            let positive =
                |z: &nalgebra::DVector<f64>| -> Vec<bool> { z.iter().map(|z| *z > 0.0).collect() };
            assert_eq!(positive(&z), positive(&other_z), "n = {n}, seed {seed}");
        }
    }
}

#[test]
fn powers_of_two_change_not_a_bit() {
    for seed in 0..20 {
        let plain = pd_skew(seed, 9);
        let z = Lemke::default().solve(&plain).unwrap().z;
        for (m, q) in [(2f64.powi(300), 1.0), (2f64.powi(-200), 2f64.powi(60))] {
            let scaled = Lcp::new(plain.matrix() * m, plain.vector() * q).unwrap();
            let solution = Lemke::default().solve(&scaled).unwrap();
            assert_eq!(solution.z * (m / q), z);
        }
    }
}

/// Murty 1978 and Fathi 1979: the path visits exponentially many bases.
/// Up to ten rows have code of their own; a start from the basis of all $w$ asks for the same path
/// from the general code.
#[test]
fn small_problems_take_the_path_of_the_general_code() {
    let mut workspace = LemkeWorkspace::new();
    let mut solve = |lcp: &Lcp, is_small: bool| {
        let slack = vec![false; lcp.dim()];
        let options = LemkeOptions::default().with_start((!is_small).then_some(slack));
        let report = Lemke::default()
            .with_options(options)
            .solve_into(lcp.view(), &mut workspace);
        let report = report.unwrap();
        let path = (report.status, report.n_pivots, report.attempt);
        (path, workspace.basis().to_vec(), workspace.z().to_vec())
    };
    for n in 1..=10 {
        for seed in 0..300 {
            let rank = 1 + (seed as usize) % n;
            let problems = [
                pd_skew(seed, n),
                p_matrix(seed, n),
                dense(seed, n),
                strictly_copositive(seed, n),
                z_matrix(seed, n),
                integer_psd(seed, n, rank),
                integer_dense(seed, n),
                delassus_chain(seed, n),
            ];
            for (family, lcp) in problems.iter().enumerate() {
                let small = solve(lcp, true);
                let general = solve(lcp, false);
                let name = format!("family {family}, n = {n}, seed {seed}");
                assert_eq!((small.0, &small.1), (general.0, &general.1), "{name}");
                // Both are rounded; what an ill-conditioned basis makes of that may differ.
                let size = general.2.iter().copied().fold(0.0, f64::max);
                for (a, b) in small.2.iter().zip(&general.2) {
                    assert!(
                        (a - b).abs() <= 1e-9 * size,
                        "{name}: {small:?} {general:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn exponential_problems_take_two_to_the_n_pivots_or_a_clean_limit() {
    let precise = Lemke::default().with_options(LemkeOptions::default().with_refine_above(0.0));
    for n in 1..=12 {
        for lcp in [murty(n), fathi(n)] {
            let solution = precise.solve(&lcp).unwrap();
            assert_eq!(solution.status, LcpStatus::Solved);
            assert!(
                solution.n_pivots <= 1 << n,
                "n = {n}: {}",
                solution.n_pivots
            );
            let error = (solution.z[0] - 1.0).abs() + solution.z.rows(1, n - 1).amax();
            assert!(error <= 1e-15);
        }
    }
    let limited =
        Lemke::default().with_options(LemkeOptions::default().with_max_pivots(Some(1000)));
    for n in [11, 12, 16] {
        let solution = limited.solve(&murty(n)).unwrap();
        assert_eq!(solution.status, LcpStatus::IterationLimit);
        assert_eq!(solution.n_pivots, 1000);
        assert!(solution.certificate.residual > 1e-9);
    }
    // From n = 17 on ties are broken by a generic vector, which finds a short way.
    let solution = Lemke::default().solve(&murty(64)).unwrap();
    assert_eq!(solution.status, LcpStatus::Solved);
}

#[test]
fn an_unchanged_basis_costs_no_pivot_and_a_small_change_few() {
    let lemke = Lemke::default();
    let mut workspace = LemkeWorkspace::new();
    for seed in 0..20 {
        let lcp = pd_skew(seed, 40);
        let cold = lemke.solve_into(lcp.view(), &mut workspace).unwrap();
        let basis = workspace.basis().to_vec();
        let options = LemkeOptions::default().with_start(Some(basis));
        let from_basis = Lemke::default().with_options(options);
        let warm = from_basis.solve_into(lcp.view(), &mut workspace).unwrap();
        assert_eq!((warm.status, warm.n_pivots), (LcpStatus::Solved, 0));
        assert_eq!(warm.attempt, Attempt::Immediate);

        let moved = Lcp::new(
            lcp.matrix().clone(),
            lcp.vector() * 1.0 + Stream(seed).vector(40) * 0.05,
        );
        let moved = moved.unwrap();
        let warm = from_basis.solve_into(moved.view(), &mut workspace).unwrap();
        assert_eq!(warm.status, LcpStatus::Solved);
        assert!(
            warm.n_pivots < cold.n_pivots,
            "{} of {}",
            warm.n_pivots,
            cold.n_pivots
        );
        let z = workspace.z().to_vec();
        lemke.solve_into(moved.view(), &mut workspace).unwrap();
        let pairs = z.iter().zip(workspace.z());
        // The solution is unique; the condition number is about 100.
        assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) <= 1e-12);
    }
}
