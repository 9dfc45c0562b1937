//! Single answers: all contacts at once, or one at a time.

use crate::support::systems::*;
use carom_contact::{
    Contact, ContactSet, Diagnostics, FrictionCone, ImpactError, ImpactLaw, ImpactProblem,
    ImpactStatus,
};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Sequential, all_simultaneous};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, dvector};

/// Contact velocities of all outcomes, in order of their first modes.
fn outcomes(system: &System) -> Vec<Vec<f64>> {
    let all = system.pose(|problem| all_simultaneous(problem).unwrap());
    let rows = |s: &carom_impact::frictional::ModeSolution| {
        system.contact_velocity(&s.outcome.velocity_plus)
    };
    all.iter().map(rows).collect()
}

#[track_caller]
fn assert_contains(outcomes: &[Vec<f64>], expected: &[f64], tolerance: f64) {
    let is_it = |o: &Vec<f64>| {
        o.len() == expected.len()
            && o.iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() <= tolerance)
    };
    assert!(
        outcomes.iter().any(is_it),
        "{expected:?} not in {outcomes:?}"
    );
}

/// Halm & Posa, Section 5.1: a flat drop comes to rest, and only so.
#[test]
fn the_block_rests_if_both_corners_act_at_once() {
    let outcomes = outcomes(&rocking_block());
    assert_eq!(outcomes.len(), 1);
    assert_contains(&outcomes, &[0.0; 4], 1e-12);
}

/// Section 5.2: lift, stick and slide of the trailing foot.
#[test]
fn the_compass_gait_has_three_simultaneous_outcomes() {
    let system = compass_gait();
    let outcomes = outcomes(&system);
    assert_eq!(outcomes.len(), 3);
    for (vn_b, vt_b) in [
        (0.0995551756, 0.1980196039),
        (0.0, 0.0),
        (0.0, 0.1284904325),
    ] {
        assert_contains(&outcomes, &[0.0, 0.0, vn_b, vt_b], 1e-9);
    }
    let one = system.pose(|problem| AnitescuPotra::default().resolve(problem).unwrap());
    assert_contains(
        &outcomes,
        &system.contact_velocity(&one.velocity_plus),
        1e-12,
    );
}

#[test]
fn the_box_and_the_stack_rest_if_all_contacts_act_at_once() {
    for system in [box_and_wall(), disk_stack(1.0)] {
        let outcomes = outcomes(&system);
        assert_eq!(outcomes.len(), 1);
        assert!(outcomes[0].iter().all(|v| v.abs() <= 1e-10));
        let one = system.pose(|problem| AnitescuPotra::default().resolve(problem).unwrap());
        assert!(one.velocity_plus.0.amax() <= 1e-12);
    }
}

#[test]
fn one_contact_after_the_other() {
    let first = |order: &[usize]| Sequential::default().with_order(order.to_vec());
    let run = |system: &System, order: &[usize]| {
        let outcome = system.pose(|problem| first(order).resolve(problem).unwrap());
        let Diagnostics::Sequential { sequence, .. } = outcome.diagnostics else {
            panic!("not a sequential outcome");
        };
        (system.contact_velocity(&outcome.velocity_plus), sequence)
    };
    // A, then B: 0.21 of the speed of the drop.
    let (rows, sequence) = run(&rocking_block(), &[0, 1]);
    let lift = 0.21 * (2.0f64 * 9.81 * 0.01).sqrt();
    assert_all_close(&rows, &[lift, 0.0, 0.0, 0.0], 1e-12, "block, A first");
    assert_eq!(sequence, [0, 1]);
    let (rows, sequence) = run(&rocking_block(), &[1, 0]);
    assert_all_close(&rows, &[0.0, 0.0, lift, 0.0], 1e-12, "block, B first");
    assert_eq!(sequence, [1, 0]);
    for order in [[0, 1], [1, 0]] {
        let (rows, sequence) = run(&compass_gait(), &order);
        assert_all_close(
            &rows,
            &[0.0, 0.0, 0.0995551756, 0.1980196039],
            1e-9,
            "compass",
        );
        assert_eq!(sequence, [0]);
        let (rows, sequence) = run(&box_and_wall(), &order);
        let end = [0.0, 0.3057648058, 0.1056422865, 0.0725421704];
        assert_all_close(&rows, &end, 1e-9, "box");
        // The floor is not hit first.
        assert_eq!(sequence, [1, 0]);
    }
}

/// Two walls of a wedge so narrow that impacts in turn close it by a few millionths each: they lead to
/// rest across it, and what moves along it stays.
#[test]
fn contacts_that_hinder_each_other_end_where_their_impacts_in_turn_lead() {
    let slope = 1e-3;
    let wedge = System::new(
        DMatrix::identity(3, 3),
        vec![
            contact(&[1.0, slope, 0.0], &[], 0.0),
            contact(&[-1.0, slope, 0.0], &[], 0.0),
        ],
        &[0.3, -1.0, 0.7],
    );
    let outcome = wedge.pose(|problem| Sequential::default().resolve(problem).unwrap());
    let Diagnostics::Sequential {
        sequence,
        closed_at_once,
        ..
    } = outcome.diagnostics
    else {
        panic!("not a sequential outcome");
    };
    assert_eq!(closed_at_once, [0, 1]);
    assert!(sequence.len() <= 2000, "{}", sequence.len());
    // Velocities of the walls are known to 1e-12 of their terms, what moves into the wedge by their slope less.
    assert_all_close(
        outcome.velocity_plus.0.as_slice(),
        &[0.0, 0.0, 0.7],
        1e-9,
        "wedge",
    );
    // Impulses of momentum 1 against walls of that slope.
    let total: f64 = outcome.impulses.iter().sum();
    assert!((total * slope - 1.0).abs() <= 1e-9, "{total}");
}

#[test]
fn an_order_that_names_no_contact_is_refused_and_one_that_forgets_some_is_completed() {
    let law = |order: Vec<usize>| Sequential::default().with_order(order);
    let error = rocking_block().pose(|p| law(vec![2]).resolve(p).unwrap_err());
    assert_eq!(error.kind(), "invalid-contact");
    let outcome = rocking_block().pose(|p| law(vec![1]).resolve(p).unwrap());
    assert!(outcome.audit.penetration_residual <= 1e-12);
}

/// Newton's restitution on every contact reverses a flat drop.
#[test]
fn moreau_newton_reverses_a_flat_drop() {
    let mut system = rocking_block();
    for contact in &mut system.contacts {
        contact.restitution = 0.5;
    }
    let outcome = system.pose(|problem| MoreauNewton::default().resolve(problem).unwrap());
    let expected: Vec<f64> = system.velocity.iter().map(|v| -0.5 * v).collect();
    assert_all_close(
        outcome.velocity_plus.0.as_slice(),
        &expected,
        1e-13,
        "velocity",
    );
    assert!(outcome.audit.friction_residual <= 1e-13);
}

/// A point on an incline-free floor: friction takes mu times the normal impulse, or all.
#[test]
fn a_point_slides_or_sticks() {
    let floor = |mu| vec![contact(&[0.0, 1.0], &[&[1.0, 0.0]], mu)];
    for (mu, slide) in [(0.5, 2.0), (2.0, 0.0)] {
        let system = System::new(DMatrix::identity(2, 2), floor(mu), &[3.0, -2.0]);
        for law in [
            &AnitescuPotra::default() as &dyn ImpactLaw,
            &MoreauNewton::default(),
            &Sequential::default(),
        ] {
            let outcome = system.pose(|problem| law.resolve(problem).unwrap());
            assert_all_close(
                outcome.velocity_plus.0.as_slice(),
                &[slide, 0.0],
                1e-14,
                law.name(),
            );
            assert_all_close(
                outcome.impulses.as_slice(),
                &[2.0, slide - 3.0],
                1e-14,
                law.name(),
            );
        }
    }
}

/// In space the polygon with its corner against the sliding direction is exact.
#[test]
fn a_point_in_space_slides_against_a_corner_of_the_polygon() {
    let (t1, t2) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let floor = vec![contact(&[0.0, 0.0, 1.0], &[&t1, &t2], 0.5)];
    let system = System::new(DMatrix::identity(3, 3), floor, &[0.0, 3.0, -2.0]);
    let law = |friction_cone| AnitescuPotra::default().with_friction_cone(friction_cone);
    for cone in [
        FrictionCone::Round,
        FrictionCone::Polygon(4),
        FrictionCone::Polygon(8),
    ] {
        let outcome = system.pose(|p| law(cone).resolve(p).unwrap());
        assert_all_close(
            outcome.velocity_plus.0.as_slice(),
            &[0.0, 2.0, 0.0],
            1e-14,
            "velocity",
        );
    }
    let error = system.pose(|p| law(FrictionCone::Polygon(2)).resolve(p).unwrap_err());
    assert!(matches!(
        error,
        ImpactError::InvalidOption {
            what: "friction_cone (friction_directions)",
            ..
        }
    ));
}

#[test]
fn separating_contacts_change_nothing() {
    let system = rocking_block();
    let up = [0.3, 1.0, 0.1];
    for law in [
        &AnitescuPotra::default() as &dyn ImpactLaw,
        &MoreauNewton::default(),
        &Sequential::default(),
        &carom_impact::frictional::SetValued::default(),
    ] {
        let outcome = system.pose_at(&up, |problem| law.resolve(problem).unwrap());
        assert_eq!(outcome.status, ImpactStatus::Separating);
        assert_eq!(outcome.velocity_plus.0.as_slice(), up);
        let none = System {
            contacts: vec![],
            ..system.clone()
        };
        let outcome = none.pose(|problem| law.resolve(problem).unwrap());
        assert_eq!(outcome.status, ImpactStatus::Separating);
    }
}

/// A far body that no contact sees, however fast, changes nothing: its rounding is all that a tangent sees here.
#[test]
fn a_fast_far_body_does_not_disturb_a_single_impact() {
    let contact = |normal: [f64; 3], tangent: [f64; 3]| {
        Contact::new(Covector::from_slice(&normal))
            .with_tangents(vec![Covector::from_slice(&tangent)])
            .with_friction(0.5)
            .with_restitution(0.5)
    };
    let contacts = vec![
        contact([0.0, -2.0, 0.0], [2.0, 0.0, 0.0]),
        contact([-1.0, 1.0, 0.0], [2.0, -2.0, 0.0]),
    ];
    let metric = KineticMetric::new(DMatrix::from_diagonal(&dvector![2.0, 2.0, 1.0])).unwrap();
    let contacts = ContactSet::new(&metric, contacts).unwrap();
    for far in [0.0, 1.0, 1e3, 1e6, 1e9] {
        let velocity = Tangent::from_slice(&[0.0, 1.0, far]);
        let problem = ImpactProblem::new(&contacts, velocity).unwrap();
        let outcome = Sequential::default().resolve(&problem).unwrap();
        let expected = dvector![0.0, 0.0, far];
        assert!(
            (&outcome.velocity_plus.0 - expected).amax() < 1e-12,
            "{far}"
        );
    }
}

/// Nearly equal rows, masses that differ by seven decades: an answer of which no impulse is left has nothing to correct. The
/// law answers or refuses.
#[test]
fn an_answer_without_impulses_is_not_corrected() {
    let normals = [[-1.0, 2.0], [-0.9999999701976776, 2.0], [-1.0, -2.0]];
    let contacts = normals.iter().map(|n| contact(n, &[], 0.0)).collect();
    let mass = DMatrix::from_diagonal(&nalgebra::dvector![32768.0, 0.001953125]);
    let planar = System::new(mass, contacts, &[-4.0, -2.0]);
    let normals = [[2.0, 3.0, 2.0], [1.9990234375, 3.0, 2.0]];
    let contacts = normals.iter().map(|n| contact(n, &[], 0.0)).collect();
    let mass = nalgebra::dmatrix![
        524288.0, 33554432.0, 8192.0;
        33554432.0, 2147745792.0, 0.0;
        8192.0, 0.0, 1048704.0000038147];
    let three = System::new(mass, contacts, &[3.0, -4.0, 3.0]);
    for system in [planar, three] {
        match system.pose(|problem| AnitescuPotra::default().resolve(problem)) {
            Ok(found) => assert!(found.velocity_plus.0.iter().all(|v| v.is_finite())),
            Err(error) => assert!(
                ["inaccurate", "ill-conditioned"].contains(&error.kind()),
                "{error}"
            ),
        }
    }
}

/// Two thin cards lean against each other. Moments about each foot and about the tip leave one balance: the push $W\tan(\alpha)/2$ at
/// the tip, so that friction at the feet must be $\mu \ge \tan(\alpha)/2$; whatever the friction at the tip is, and in any order
/// of the contacts.
#[test]
fn cards_that_lean_stand_above_half_the_tangent_of_their_angle() {
    for angle in [0.1f64, 0.35, 0.7, 1.0] {
        let (sine, cosine) = angle.sin_cos();
        let row = |sides: &[(usize, [f64; 2], [f64; 2])]| {
            let mut row = vec![0.0; 6];
            for (card, [x, y], [dx, dy]) in sides {
                let moment = sine * x * dy - cosine * y * dx;
                row[3 * card..][..3].copy_from_slice(&[*dx, *dy, moment]);
            }
            row
        };
        let touch = |normal: Vec<f64>, tangent: Vec<f64>, friction: f64| {
            Contact::new(Covector::from_slice(&normal))
                .with_tangents(vec![Covector::from_slice(&tangent)])
                .with_friction(friction)
        };
        let foot = |card: usize, x: f64, friction: f64| {
            let at = |d| row(&[(card, [x, -0.5], d)]);
            touch(at([0.0, 1.0]), at([1.0, 0.0]), friction)
        };
        let tip = |d: [f64; 2]| row(&[(0, [0.5, 0.5], [-d[0], -d[1]]), (1, [-0.5, 0.5], d)]);
        for (share, stands) in [(1.02, true), (1.001, true), (0.999, false), (0.94, false)] {
            let friction = share * sine / cosine / 2.0;
            let mut contacts = vec![
                foot(0, -0.5, friction),
                touch(tip([1.0, 0.0]), tip([0.0, 1.0]), 0.4),
                foot(1, 0.5, friction),
            ];
            for _ in 0..2 {
                contacts.reverse();
                let mass =
                    DMatrix::from_diagonal(&dvector![1.0, 1.0, 1.0 / 12.0, 1.0, 1.0, 1.0 / 12.0]);
                let weight = [0.0, -1.0, 0.0, 0.0, -1.0, 0.0];
                let system = System::new(mass, contacts.clone(), &weight);
                let outcome = system.pose(|p| AnitescuPotra::default().resolve(p).unwrap());
                let left = (outcome.audit.energy_plus_j / outcome.audit.energy_minus_j).sqrt();
                if stands {
                    assert!(left <= 1e-9, "{angle} {share}: {left}");
                } else {
                    assert!(left >= 1e-5, "{angle} {share}: {left}");
                }
            }
        }
    }
}
