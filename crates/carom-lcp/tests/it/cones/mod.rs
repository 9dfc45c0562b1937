//! Contacts with round friction cones.

pub mod heaps;
mod near;
pub mod scene;
mod settling;
pub mod siconos;
mod sparse;

use crate::common::Stream;
use carom_lcp::cone::{
    CONE_RESIDUAL, ConeMode, ConeProblem, ConeSelection, ConeStart, ConeWorkspace, cone_residual,
    contact_residual, single_contact,
};
use carom_lcp::{LcpError, LcpStatus};
use heaps::struck_tower;
use nalgebra::{DMatrix, DVector, Matrix3, Rotation2};
use scene::{FAMILIES, Posed, four_corners, heavy_on_light, random};

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (x, y) in found.iter().zip(expected) {
        assert!(
            (x - y).abs() <= tolerance,
            "{found:?} instead of {expected:?}"
        );
    }
}

/// A blow lifts what stands above, and what stands below keeps the size of its own velocities: rounding, or nothing.
#[test]
fn contacts_that_a_blow_does_not_reach_are_solved_on_their_own_terms() {
    let mut unreached = 0;
    for seed in 0..40 {
        let height = 0.02 * (seed % 13) as f64 - 0.13;
        for rounding in [0.0, 1e-18] {
            let posed = struck_tower(seed, height, rounding).pose();
            let problem = posed.problem();
            let mut workspace = ConeWorkspace::new();
            let answer = workspace.solve(&problem, ConeSelection::Even).unwrap();
            let told = contact_residual(&problem, workspace.impulse()).unwrap();
            assert!(told <= CONE_RESIDUAL, "{seed}: {answer:?}");
            let foot = workspace.impulse()[..12]
                .iter()
                .fold(0.0, |a: f64, b| a.max(b.abs()));
            unreached += usize::from(foot < 1e-15);
        }
    }
    assert!(unreached >= 8, "{unreached}");
}

/// A contact that slides straight on four corners loses $\mu |v_z|$ of its speed.
#[test]
fn a_box_that_slides_on_four_corners_keeps_its_direction() {
    let posed = four_corners([1.4, 0.67, -0.5, 0.0, 0.0, 0.0], 0.5).pose();
    let mut workspace = ConeWorkspace::new();
    let answer = workspace
        .solve(&posed.problem(), ConeSelection::Even)
        .unwrap();
    assert!(answer.residual <= 1e-12, "{answer:?}");
    let speed = 1.4f64.hypot(0.67);
    let kept = 1.0 - 0.25 / speed;
    let v = posed.velocity_plus(workspace.impulse());
    assert_close(
        v.as_slice(),
        &[1.4 * kept, 0.67 * kept, 0.0, 0.0, 0.0, 0.0],
        1e-12,
    );
    assert_close(&v.as_slice()[..2], &[1.1744937108, 0.562079133], 1e-9);
    assert!(workspace.modes().contains(&ConeMode::Slide));
}

/// A spinning box: the pressures are free, and with them the velocity after the impact.
#[test]
fn equally_compliant_corners_choose_the_even_member_of_a_family() {
    let posed = four_corners([1.4, 0.7, -0.5, 0.1, -0.2, 2.0], 0.3).pose();
    let mut workspace = ConeWorkspace::new();
    let answer = workspace
        .solve(&posed.problem(), ConeSelection::Even)
        .unwrap();
    assert!(answer.residual <= 1e-12 && answer.family >= 1, "{answer:?}");
    assert_eq!(answer.selection, ConeSelection::Even);
    let v = posed.velocity_plus(workspace.impulse());
    let expected = [1.3108960723, 0.6772774424, 0.0, 0.0, 0.0, 1.6647316547];
    assert_close(v.as_slice(), &expected, 1e-8);
}

#[test]
fn a_box_that_sticks_tips_about_its_edges() {
    let posed = four_corners([0.4, 0.1, -0.5, 0.2, 0.1, 0.3], 0.6).pose();
    let mut workspace = ConeWorkspace::new();
    workspace
        .solve(&posed.problem(), ConeSelection::Even)
        .unwrap();
    let v = posed.velocity_plus(workspace.impulse());
    assert_close(v.as_slice(), &[0.115, 0.0, 0.0575, 0.0, 0.115, 0.0], 1e-8);
}

/// One contact with three solutions: it sticks, slides a little or slides a lot.
#[test]
fn of_three_solutions_of_one_contact_the_one_that_slides_least_is_taken() {
    let delassus = [
        1.023, -0.828, -1.588, -0.828, 1.989, 1.42, -1.588, 1.42, 2.715,
    ];
    let velocity = [-0.044, 0.431, -0.219];
    let problem = ConeProblem::new(&delassus, &velocity, &[0.849], &[]).unwrap();
    let single = single_contact(&problem).unwrap();
    assert_eq!((single.mode, single.slip), (ConeMode::Stick, 0.0));
    assert_close(&single.impulse, &[1.8392418, -0.4414971, 1.3873451], 1e-7);
    assert!(cone_residual(&problem, &single.impulse).unwrap() <= 1e-12);
    // With a little less friction it cannot stick: the least slip that is left.
    let problem = ConeProblem::new(&delassus, &velocity, &[0.79], &[]).unwrap();
    let single = single_contact(&problem).unwrap();
    assert_eq!(single.mode, ConeMode::Slide);
    assert!(cone_residual(&problem, &single.impulse).unwrap() <= 1e-12);
}

/// No slip between 0 and the one found solves a contact, by the sign of $f$ on a fine grid.
#[test]
fn no_contact_slides_less_than_the_closed_form_says() {
    let mut stream = Stream(7);
    for _ in 0..2000 {
        let root = stream.matrix(3, 3);
        let g = &root * root.transpose();
        let b = DVector::from_vec(vec![
            -stream.uniform(0.01, 1.0),
            stream.normal(),
            stream.normal(),
        ]);
        let friction = stream.uniform(0.1, 5.0);
        let frictions = [friction];
        let problem = ConeProblem::new(g.as_slice(), b.as_slice(), &frictions, &[]).unwrap();
        let single = single_contact(&problem).unwrap();
        let residual = cone_residual(&problem, &single.impulse).unwrap();
        assert!(residual <= 1e-12, "{residual:e} for {g} {b} {friction}");
        if single.mode == ConeMode::Stick {
            continue;
        }
        let gn = g.fixed_view::<2, 1>(1, 0) / g[(0, 0)];
        let s = g.fixed_view::<2, 2>(1, 1) - g.fixed_view::<2, 1>(1, 0) * gn.transpose();
        let w = b.fixed_rows::<2>(1) - gn * b[0];
        let f = |a: f64| {
            let shifted = s + nalgebra::Matrix2::identity() * a;
            let l = -shifted.try_inverse().unwrap() * w;
            l.norm() + friction * (b[0] / g[(0, 0)] + gn.dot(&l))
        };
        for k in 0..100 {
            let a = single.slip * f64::from(k) / 100.0;
            assert!(f(a) > 0.0, "{a} of {}: {g} {b} {friction}", single.slip);
        }
    }
}

/// At least 99 of 100 are solved; what is not says so.
#[test]
fn random_bodies_are_solved_to_the_last_digits() {
    let (mut total, mut solved, mut families, mut even) = (0, 0, 0, 0);
    let mut workspace = ConeWorkspace::new();
    for family in FAMILIES {
        for seed in 0..125 {
            let posed = random(family, 1000 + seed).pose();
            let problem = posed.problem();
            let answer = workspace.solve(&problem, ConeSelection::Even).unwrap();
            let residual = cone_residual(&problem, workspace.impulse()).unwrap();
            assert_eq!(
                answer.status == LcpStatus::Solved,
                residual <= CONE_RESIDUAL
            );
            total += 1;
            if answer.status == LcpStatus::Solved {
                solved += 1;
                assert!(residual <= 1e-12, "{family} {seed}: {answer:?}");
                if answer.family > 0 {
                    families += 1;
                    even += usize::from(answer.selection == ConeSelection::Even);
                }
            }
        }
    }
    assert!(100 * solved >= 99 * total, "{solved} of {total}");
    assert!(20 * even >= 19 * families, "{even} even of {families}");
}

/// Friction coefficients from 0 to 10, each contact its own, a fifth of them without friction.
#[test]
fn contacts_of_any_friction_are_solved_together() {
    let mut workspace = ConeWorkspace::new();
    let mut stream = Stream(5);
    let (mut total, mut solved) = (0, 0);
    for family in FAMILIES {
        for seed in 0..40 {
            let mut scene = random(family, 3000 + seed);
            for friction in &mut scene.friction {
                *friction = match stream.below(5) {
                    0 => 0.0,
                    _ => stream.uniform(0.0, 10.0),
                };
            }
            let posed = scene.pose();
            let problem = posed.problem();
            workspace.solve(&problem, ConeSelection::Even).unwrap();
            let residual = cone_residual(&problem, workspace.impulse()).unwrap();
            total += 1;
            solved += usize::from(residual <= 1e-12);
        }
    }
    // Generic contacts with much friction need not be pointed, and then need no solution.
    assert!(100 * solved >= 97 * total, "{solved} of {total}");
}

/// A light body between the floor and one a million times as heavy: impulses are a million times
/// the velocities in units in which each contact alone has equal ones.
#[test]
fn heavy_bodies_on_light_ones_are_solved() {
    let mut workspace = ConeWorkspace::new();
    for ratio in [1e-6, 1e3, 1e6] {
        let mut solved = 0;
        for seed in 0..200 {
            let posed = heavy_on_light(seed, ratio).pose();
            let problem = posed.problem();
            let answer = workspace.solve(&problem, ConeSelection::Even).unwrap();
            let residual = cone_residual(&problem, workspace.impulse()).unwrap();
            assert_eq!(answer.status, LcpStatus::Solved, "{ratio} {seed}");
            assert!(residual <= 1e-11, "{ratio} {seed}: {residual:e}");
            solved += usize::from(residual <= 1e-12);
        }
        // Rounding of the data decides which ones: 187 to 190 of 200 at the largest ratio, all at the others.
        assert!(solved >= 185, "{ratio}: {solved} of 200");
    }
}

/// A contact without friction that opens leaves no residual.
#[test]
fn a_frictionless_contact_that_opens_is_solved_by_no_impulse() {
    let one = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let problem = ConeProblem::new(&one, &[2.0, 0.0, 0.0], &[0.0], &[]).unwrap();
    assert_eq!(cone_residual(&problem, &[0.0; 3]).unwrap(), 0.0);
    // And pushing a contact apart is one.
    assert!(cone_residual(&problem, &[1.0, 0.0, 0.0]).unwrap() > 0.1);
}

/// Scales and turns a problem and orders its contacts otherwise.
fn changed(posed: &Posed, order: &[usize], scales: &[f64], angles: &[f64]) -> Posed {
    let n = posed.before.len();
    let mut change = DMatrix::zeros(n, n);
    for (new, &old) in order.iter().enumerate() {
        let turn = Rotation2::new(angles[new]);
        let mut block = Matrix3::identity();
        block.fixed_view_mut::<2, 2>(1, 1).copy_from(turn.matrix());
        change
            .fixed_view_mut::<3, 3>(3 * new, 3 * old)
            .copy_from(&(block * scales[new]));
    }
    Posed {
        delassus: &change * &posed.delassus * change.transpose(),
        before: &change * &posed.before,
        friction: order.iter().map(|i| posed.friction[*i]).collect(),
        restitution: order.iter().map(|i| posed.restitution[*i]).collect(),
        inverse_rows: &posed.inverse_rows * change.transpose(),
        mass: posed.mass.clone(),
        velocity: posed.velocity.clone(),
    }
}

#[test]
fn the_even_member_does_not_know_units_axes_or_the_order_of_contacts() {
    let mut workspace = ConeWorkspace::new();
    let mut stream = Stream(11);
    let mut compared = 0;
    for family in [
        "box",
        "table",
        "floor and wall",
        "robot feet",
        "pile of two",
    ] {
        for seed in 0..40 {
            let posed = random(family, seed).pose();
            let answer = workspace
                .solve(&posed.problem(), ConeSelection::Even)
                .unwrap();
            if answer.selection != ConeSelection::Even {
                continue;
            }
            let v = posed.velocity_plus(workspace.impulse());
            let m = posed.friction.len();
            let mut order: Vec<usize> = (0..m).collect();
            for i in (1..m).rev() {
                order.swap(i, stream.below(i + 1));
            }
            let scales: Vec<f64> = (0..m)
                .map(|_| if stream.below(2) == 0 { 7.0 } else { 1.0 })
                .collect();
            let angles: Vec<f64> = (0..m).map(|_| stream.uniform(-3.0, 3.0)).collect();
            let other = changed(&posed, &order, &scales, &angles);
            let answer = workspace
                .solve(&other.problem(), ConeSelection::Even)
                .unwrap();
            assert_eq!(answer.selection, ConeSelection::Even, "{family} {seed}");
            let distance = posed.norm(&(other.velocity_plus(workspace.impulse()) - &v));
            let size = posed.norm(&posed.velocity);
            assert!(
                distance <= 1e-8 * size,
                "{family} {seed}: {distance:e}, {answer:?}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 150, "{compared}");
}

#[test]
fn kinetic_energy_falls_without_restitution() {
    let mut workspace = ConeWorkspace::new();
    for family in FAMILIES {
        for seed in 0..20 {
            let mut scene = random(family, 77 + seed);
            scene.restitution.fill(0.0);
            let posed = scene.pose();
            workspace
                .solve(&posed.problem(), ConeSelection::Even)
                .unwrap();
            let after = posed.norm(&posed.velocity_plus(workspace.impulse()));
            assert!(
                after <= posed.norm(&posed.velocity) * (1.0 + 1e-12),
                "{family} {seed}"
            );
        }
    }
}

/// A cap that binds leaves the contact approaching; friction stays within its smaller disc.
#[test]
fn a_capped_contact_pushes_with_its_cap_and_goes_on_approaching() {
    let delassus = [1.0, 0.3, 0.0, 0.3, 2.0, 0.1, 0.0, 0.1, 1.5];
    let velocity = [-1.0, 0.5, -0.7];
    let friction = [0.4];
    let free = ConeProblem::new(&delassus, &velocity, &friction, &[]).unwrap();
    let capped = free.with_caps(&[0.2]).unwrap();
    let mut workspace = ConeWorkspace::new();
    let answer = workspace.solve(&capped, ConeSelection::First).unwrap();
    assert!(answer.residual <= 1e-12, "{answer:?}");
    let l = workspace.impulse();
    assert!((l[0] - 0.2).abs() < 1e-15 && workspace.velocity()[0] < -0.5);
    assert!((l[1].hypot(l[2]) - 0.08).abs() < 1e-15);
    // Friction opposes the sliding.
    let u = workspace.velocity();
    assert!((l[1] * u[2] - l[2] * u[1]).abs() < 1e-15 && l[1] * u[1] + l[2] * u[2] < 0.0);
    // A cap beyond the impulse changes nothing.
    let wide = free.with_caps(&[1e3]).unwrap();
    workspace.solve(&wide, ConeSelection::First).unwrap();
    let impulse = workspace.impulse().to_vec();
    workspace.solve(&free, ConeSelection::First).unwrap();
    assert_close(workspace.impulse(), &impulse, 1e-15);
}

#[test]
fn many_contacts_with_caps_are_solved() {
    let mut workspace = ConeWorkspace::new();
    let (mut total, mut solved) = (0, 0);
    for family in ["box", "robot feet", "pile of two", "generic"] {
        for seed in 0..50 {
            let mut scene = random(family, 500 + seed);
            scene.restitution.fill(0.0);
            let posed = scene.pose();
            let mut stream = Stream(seed);
            let caps: Vec<f64> = posed
                .friction
                .iter()
                .map(|_| stream.uniform(0.0, 1.0))
                .collect();
            let problem = posed.problem().with_caps(&caps).unwrap();
            let answer = workspace.solve(&problem, ConeSelection::First).unwrap();
            total += 1;
            if answer.status == LcpStatus::Solved {
                solved += 1;
                let l = workspace.impulse().chunks(3).zip(&caps);
                for (l, cap) in l {
                    assert!(l[0] >= 0.0 && l[0] <= cap * (1.0 + 1e-12));
                }
            }
        }
    }
    assert!(100 * solved >= 99 * total, "{solved} of {total}");
}

#[test]
fn tangents_that_are_zero_or_parallel_are_legal() {
    // Without a second tangent, and with the first one twice (its impulses add up).
    let plane = [1.0, 0.2, 0.0, 0.2, 2.0, 0.0, 0.0, 0.0, 0.0];
    let twice = [1.0, 0.2, 0.2, 0.2, 2.0, 2.0, 0.2, 2.0, 2.0];
    let smooth = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (delassus, velocity) in [
        (plane, [-1.0, 0.9, 0.0]),
        (twice, [-1.0, 0.9, 0.9]),
        (smooth, [-1.0, 0.0, 0.0]),
    ] {
        for friction in [0.0, 0.3, 2.0] {
            let frictions = [friction];
            let problem = ConeProblem::new(&delassus, &velocity, &frictions, &[]).unwrap();
            let mut workspace = ConeWorkspace::new();
            let answer = workspace.solve(&problem, ConeSelection::Even).unwrap();
            assert!(
                answer.residual <= 1e-12,
                "{delassus:?} {friction} {answer:?}"
            );
        }
    }
}

#[test]
fn newtons_method_finds_its_solution_again() {
    let posed = random("pile of two", 3).pose();
    let mut workspace = ConeWorkspace::new();
    workspace
        .solve(&posed.problem(), ConeSelection::First)
        .unwrap();
    let impulse = workspace.impulse().to_vec();
    let answer = workspace.solve_from(&posed.problem(), &impulse).unwrap();
    assert_eq!(
        (answer.status, answer.start),
        (LcpStatus::Solved, ConeStart::Given)
    );
    assert_close(workspace.impulse(), &impulse, 1e-12);
}

#[test]
fn what_is_no_contact_problem_is_refused() {
    let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let refused = |g: &[f64], b: &[f64], mu: &[f64], e: &[f64]| {
        ConeProblem::new(g, b, mu, e).unwrap_err().kind()
    };
    assert_eq!(
        refused(&one, &[-1.0, 0.0], &[0.5], &[]),
        "dimension-mismatch"
    );
    assert_eq!(
        refused(&one, &[-1.0, f64::NAN, 0.0], &[0.5], &[]),
        "non-finite"
    );
    assert_eq!(
        refused(&one, &[-1.0, 0.0, 0.0], &[-0.5], &[]),
        "out-of-range"
    );
    assert_eq!(
        refused(&one, &[-1.0, 0.0, 0.0], &[0.5], &[1.5]),
        "out-of-range"
    );
    let still = [0.0; 9];
    assert_eq!(
        refused(&still, &[-1.0, 0.0, 0.0], &[0.5], &[]),
        "non-positive-diagonal"
    );
    let problem = ConeProblem::new(&one, &[-1.0, 0.0, 0.0], &[0.5], &[]).unwrap();
    assert!(matches!(
        cone_residual(&problem, &[1.0]),
        Err(LcpError::DimensionMismatch { .. })
    ));
    assert_eq!(
        problem.with_caps(&[-1.0]).unwrap_err().kind(),
        "out-of-range"
    );
}

/// A contact that misses a thousandth of its velocity, beside one that is a million times as fast.
#[test]
fn a_slow_contact_beside_a_fast_one_is_judged_on_its_own_terms() {
    let mut delassus = [0.0; 36];
    (0..6).for_each(|i| delassus[7 * i] = 1.0);
    let velocity = [-1e6, 0.0, 0.0, -1.0, 0.0, 0.0];
    let problem = ConeProblem::new(&delassus, &velocity, &[0.5, 0.5], &[]).unwrap();
    let solution = [1e6, 0.0, 0.0, 1.0, 0.0, 0.0];
    assert_eq!(contact_residual(&problem, &solution).unwrap(), 0.0);
    let missed = [1e6, 0.0, 0.0, 0.999, 0.0, 0.0];
    assert!(cone_residual(&problem, &missed).unwrap() <= 1.1e-9);
    let own = contact_residual(&problem, &missed).unwrap();
    // 0.001 m/s of 1 m/s + 0.999 m/s.
    assert!((own - 0.001 / 1.999).abs() <= 1e-12, "{own}");
}

/// Friction that is turned by an angle misses by that angle, less what a slow slip hides.
#[test]
fn friction_that_does_not_oppose_the_sliding_is_seen_at_any_coefficient() {
    for friction in [1e-9, 1.0, 1e3] {
        let mut delassus = [0.0; 9];
        delassus[0] = 1.0;
        // Tangential impulses hardly move the contact.
        (delassus[4], delassus[8]) = (1e-12, 1e-12);
        let velocity = [-1.0, 1.0, 0.0];
        let frictions = [friction];
        let problem = ConeProblem::new(&delassus, &velocity, &frictions, &[]).unwrap();
        let against = contact_residual(&problem, &[1.0, -friction, 0.0]).unwrap();
        assert!(against <= 1e-9, "{against}");
        let (sin, cos) = 1e-3f64.sin_cos();
        let turned = [1.0, -friction * cos, -friction * sin];
        let turned = contact_residual(&problem, &turned).unwrap();
        assert!((turned - 1e-3 / 11.0).abs() <= 1e-6, "{turned}");
    }
}
