//! Solutions of the inclusion for given rates.

use crate::support::systems::*;
use carom_contact::ContactSet;
use carom_impact::frictional::{
    ImpactStepper, InclusionPath, RatePiece, StepWorkspace, TerminationBounds,
    integrate_elastic_inclusion, integrate_inclusion,
};
use carom_metric::Tangent;
use nalgebra::{DMatrix, DVector};

fn pieces(pieces: &[([f64; 2], f64)]) -> Vec<RatePiece> {
    let piece = |(rates, length): &([f64; 2], f64)| RatePiece {
        rates: rates.to_vec(),
        length: *length,
    };
    pieces.iter().map(piece).collect()
}

fn follow(system: &System, list: &[([f64; 2], f64)]) -> InclusionPath {
    system.pose(|problem| integrate_inclusion(problem, &pieces(list), None).unwrap())
}

/// Reference values of an independent implementation; the first is the sequential closed form.
#[test]
fn known_paths_end_where_they_should() {
    let block = rocking_block();
    for (list, s, vn_a) in [
        (
            &[([1.0, 0.0], 9.0), ([0.0, 1.0], 9.0)][..],
            0.4894538844467372,
            0.09301838527947041,
        ),
        (
            &[([0.7, 0.3], 9.0)],
            0.4633882929673252,
            0.040887202320646375,
        ),
        (
            &[([0.3, 0.7], 0.1), ([0.9, 0.1], 9.0)],
            0.46831309810781463,
            0.0507368126016251,
        ),
    ] {
        let path = follow(&block, list);
        assert!((path.impulse - s).abs() <= 1e-12, "{} {s}", path.impulse);
        let rows = block.contact_velocity(&path.outcome.velocity_plus);
        assert_all_close(&rows, &[vn_a, 0.0, 0.0, 0.0], 1e-12, "block");
    }
    let wall = box_and_wall();
    for (list, s, end) in [
        (
            &[([0.1, 0.9], 9.0)][..],
            0.9509750595712468,
            [
                0.0,
                0.23499075724734858,
                0.08118972635695336,
                0.05575115003288888,
            ],
        ),
        (
            &[([0.0, 1.0], 0.6), ([1.0, 0.0], 0.2), ([0.5, 0.5], 9.0)],
            0.9782690616629831,
            [
                0.0,
                0.10416268966062939,
                0.03598839532760483,
                0.02471241765899081,
            ],
        ),
    ] {
        let path = follow(&wall, list);
        assert!((path.impulse - s).abs() <= 1e-12, "{} {s}", path.impulse);
        let rows = wall.contact_velocity(&path.outcome.velocity_plus);
        assert_all_close(&rows, &end, 1e-12, "box");
    }
}

/// Halm & Posa, Theorem 2 and Proposition 4 in its explicit form; the length agrees with the
/// impulses.
#[test]
fn energy_falls_along_a_path_and_its_length_is_bounded() {
    for system in [rocking_block(), compass_gait(), box_and_wall()] {
        let bound = system.pose(|p| TerminationBounds::new(p, 1.0, None).unwrap());
        for k in 0..=20 {
            let a = f64::from(k) / 20.0;
            let path = follow(&system, &[([a, 1.0 - a], 0.05), ([1.0 - a, a], 0.07)]);
            assert!(path.impulse <= bound.inclusion_impulse);
            let audit = &path.outcome.audit;
            assert!(audit.energy_change_j() < 0.0 && audit.penetration_residual <= 1e-9);
            assert!(audit.friction_residual <= 1e-12 && audit.momentum_residual <= 1e-12);
        }
    }
}

/// Steps with small caps follow the same path.
#[test]
fn steps_converge_to_the_path() {
    let system = box_and_wall();
    let exact = follow(&system, &[([0.1, 0.9], 9.0)]);
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    let stepper = ImpactStepper::new(&contacts, None).unwrap();
    for n in [100.0, 400.0] {
        let (caps, mut workspace) = ([0.1 / n, 0.9 / n], StepWorkspace::new());
        let mut velocity = Tangent::from_slice(&system.velocity);
        for _ in 0..2000 {
            let rows = system.contact_velocity(&velocity);
            if rows[0] >= -1e-9 && rows[2] >= -1e-9 {
                break;
            }
            velocity = stepper
                .step(&velocity, &caps, None, &mut workspace)
                .unwrap()
                .velocity;
        }
        // First order, though not monotone: 4e-4 and 3e-4.
        let error = (&velocity.0 - &exact.outcome.velocity_plus.0).amax();
        assert!(error <= 0.2 / n, "{n} {error}");
    }
}

#[test]
fn bad_pieces_are_refused() {
    let system = rocking_block();
    let refuse = |list: &[RatePiece]| {
        system.pose(|p| integrate_inclusion(p, list, None).unwrap_err().kind())
    };
    let piece = |rates: &[f64], length| RatePiece {
        rates: rates.to_vec(),
        length,
    };
    assert_eq!(refuse(&[]), "invalid-option");
    assert_eq!(refuse(&[piece(&[1.0], 1.0)]), "invalid-option");
    assert_eq!(refuse(&[piece(&[1.0, -1.0], 1.0)]), "invalid-option");
    assert_eq!(refuse(&[piece(&[1.0, 1.0], 0.0)]), "invalid-option");
    // Nobody pushes.
    assert_eq!(refuse(&[piece(&[0.0, 0.0], 1.0)]), "limit-exceeded");
}

/// Stronge's restitution on the stuck block: after the first corner alone has gone through
/// compression and restitution, the second; or both together. Closed forms of the reduced normal
/// dynamics $v_n' = H\lambda_n$, $H = [[20, 14], [14, 20]]/17$.
#[test]
fn a_corner_gives_back_the_share_of_its_work() {
    for (e, end, stores) in [
        (0.0, [0.21, 0.0], [0.425, 0.03825]),
        (0.3, [0.3819, 0.027], [0.425, 0.0034425]),
        (0.5, [0.5, 0.05], [0.425, 0.0]),
        (1.0, [1.0, 0.4], [0.425, 0.0]),
    ] {
        let mut system = rocking_block();
        system.velocity = vec![0.0, -1.0, 0.0];
        for contact in &mut system.contacts {
            contact.restitution = e;
        }
        let follow = |list: &[([f64; 2], f64)]| {
            system.pose(|p| integrate_elastic_inclusion(p, &pieces(list), None).unwrap())
        };
        let one_by_one = follow(&[([1.0, 0.0], 9.0), ([0.0, 1.0], 9.0)]);
        let rows = system.contact_velocity(&one_by_one.outcome.velocity_plus);
        assert!((rows[0] - end[0]).abs() <= 1e-12, "{e}: {rows:?}");
        assert!((rows[2] - end[1]).abs() <= 1e-12, "{e}: {rows:?}");
        assert_all_close(&one_by_one.compression_work, &stores, 1e-12, "stores");
        let given_back: Vec<f64> = stores.iter().map(|w| e * e * w).collect();
        assert_all_close(&one_by_one.restitution_work, &given_back, 1e-12, "returned");
        let together = follow(&[([1.0, 1.0], 9.0)]);
        let rows = system.contact_velocity(&together.outcome.velocity_plus);
        assert_all_close(&rows, &[e, 0.0, e, 0.0], 1e-12, "together");
        assert_all_close(&together.compression_work, &[0.25; 2], 1e-12, "together");
    }
}

/// The lost energy is the part that contacts do not give back, and the work of friction.
#[test]
fn restitution_never_gains_energy() {
    for system in [rocking_block(), compass_gait(), box_and_wall()] {
        for (k, e) in (0..=20).zip([0.0, 0.25, 0.5, 0.75, 1.0].into_iter().cycle()) {
            let mut system = system.clone();
            for contact in &mut system.contacts {
                contact.restitution = e;
            }
            let a = f64::from(k) / 20.0;
            let list = pieces(&[([a, 1.0 - a], 0.05), ([1.0 - a, a], 0.07)]);
            let path = system.pose(|p| integrate_elastic_inclusion(p, &list, None).unwrap());
            let lost: f64 = path
                .compression_work
                .iter()
                .zip(&path.restitution_work)
                .map(|(compression, restitution)| {
                    assert!((restitution - e * e * compression).abs() <= 1e-12);
                    compression - restitution
                })
                .sum();
            let audit = &path.outcome.audit;
            assert!(audit.energy_change_j() <= -lost + 1e-12, "{e}");
            assert!(audit.penetration_residual <= 1e-9);
        }
    }
}

/// Halm & Posa, Theorem 2 and Eq. (41): between events energy changes by the power of the contact
/// forces, and never grows.
#[test]
fn energy_falls_on_every_stretch() {
    for system in [rocking_block(), compass_gait(), box_and_wall()] {
        let metric = &system.metric;
        let rows: Vec<DVector<f64>> = system
            .contacts
            .iter()
            .flat_map(|c| [c.normal.0.clone(), c.tangents[0].0.clone()])
            .collect();
        let jacobian = DMatrix::from_columns(&rows).transpose();
        let inverse = metric.mass_matrix().clone().try_inverse().unwrap();
        let delassus = &jacobian * inverse * jacobian.transpose();
        let solver = delassus.clone().svd(true, true);
        for k in 1..20 {
            let a = f64::from(k) / 20.0;
            let path = follow(&system, &[([a, 1.0 - a], 0.05), ([1.0 - a, a], 0.07)]);
            for pair in path.events.windows(2) {
                let (b0, b1) = (
                    DVector::from_column_slice(&pair[0]),
                    DVector::from_column_slice(&pair[1]),
                );
                // Impulses that make this change, up to ones that do nothing.
                let impulse = solver.solve(&(&b1 - &b0), 1e-12).unwrap();
                assert!((&delassus * &impulse - (&b1 - &b0)).amax() <= 1e-10);
                // Work is exact for constant rates: mean velocity times impulse.
                let work = 0.5 * (b0 + b1).dot(&impulse);
                assert!(work <= 1e-14, "{work}");
            }
        }
    }
}
