//! Solutions of the inclusion for given rates.

use crate::systems::*;
use carom_impact::ContactSet;
use carom_impact::frictional::{
    ImpactStepper, InclusionPath, RatePiece, StepWorkspace, TerminationBounds, integrate_inclusion,
};
use carom_metric::Tangent;

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
