//! Constants of the termination theorem and of the covering lemma.

use crate::support::systems::*;
use carom_contact::{ContactSet, ImpactError};
use carom_impact::frictional::{
    CounterRng, Draw, NetBound, Sampler, SetValued, StepLipschitz, TerminationBounds, all_steps,
};
use nalgebra::DMatrix;

#[track_caller]
fn assert_relative(actual: f64, expected: f64, what: &str) {
    let off = (actual / expected - 1.0).abs();
    // The reference prints ten digits.
    assert!(off <= 1e-8, "{what}: {actual}, expected {expected}");
}

/// Reference values of an independent implementation, in the order of the fields.
#[test]
fn the_constants_of_four_systems() {
    let cases = [
        (
            "block",
            rocking_block(),
            [1.0, 0.8858893836, 1.0, 64.0, 40.0, 22.736563391],
        ),
        (
            "compass",
            compass_gait(),
            [
                std::f64::consts::FRAC_1_SQRT_2,
                1.0985320791,
                2.1162198289,
                1036.0,
                68.0,
                669.14367411,
            ],
        ),
        (
            "box",
            box_and_wall(),
            [
                0.5723348421,
                3.4944578820,
                1.4860934593,
                24.0,
                12.0,
                32.494755929,
            ],
        ),
        (
            "disks",
            disk_stack(1.0),
            [
                0.3461041425,
                5.7786075179,
                2.8675906631,
                100.0,
                72.0,
                89.955831739,
            ],
        ),
    ];
    for (name, system, [rho, length, r, c, c_m, psi]) in cases {
        let bounds = system.pose(|p| TerminationBounds::new(p, system.impulse_step, None).unwrap());
        assert_relative(bounds.pointedness, rho, name);
        assert_relative(bounds.inclusion_impulse, length, name);
        assert_relative(bounds.euclidean_r, r, name);
        assert_eq!((bounds.euclidean_c, bounds.kinetic_c), (c, c_m), "{name}");
        assert_relative(bounds.psi, psi, name);
    }
}

/// A point between two walls: the impulses of both can balance each other.
#[test]
fn a_jam_has_no_bound_and_its_samples_stop_at_the_limit() {
    let t = [0.0, 1.0, 0.2];
    let walls = vec![
        contact(&[1.0, 0.0, 0.0], &[&t], 0.5),
        contact(&[-1.0, 0.0, 0.0], &[&[0.0, 1.0, -0.2]], 0.5),
    ];
    let system = System::new(DMatrix::identity(3, 3), walls, &[-1.0, 0.3, 0.1]);
    let error = system.pose(|p| TerminationBounds::new(p, 1.0, None).unwrap_err());
    assert_eq!(error, ImpactError::NotPointed);
    // The steps themselves still work.
    let law = SetValued {
        impulse_step: Some(1.0),
        max_steps: 20,
        ..SetValued::default()
    };
    system.pose(|problem| {
        let sampler = Sampler::new(problem, &law).unwrap();
        let mut draw = Draw::default();
        for sample in 0..64 {
            sampler.draw(sample, &mut draw).unwrap();
            assert!(draw.steps <= 20);
        }
    });
}

#[test]
fn a_bound_needs_a_step() {
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = rocking_block().pose(|p| TerminationBounds::new(p, h, None).unwrap_err());
        assert_eq!(error.kind(), "invalid-option");
    }
}

/// Lemma 1: reference values, and the vacuous end.
#[test]
fn how_likely_samples_make_a_net() {
    let net = |dimension, lipschitz, side, epsilon| NetBound {
        dimension,
        lipschitz,
        side,
        epsilon,
    };
    for (bound, samples, expected) in [
        (net(2, 1.0, 1.0, 0.5), 50.0, 0.9750760778),
        (net(2, 1.0, 1.0, 0.5), 100.0, 0.9999309776),
        (net(1, 2.0, 0.3, 0.05), 100.0, 0.9980032433),
    ] {
        assert_relative(bound.probability(samples), expected, "probability");
    }
    assert_eq!(net(40, 1.0, 1.0, 1e-3).probability(1e6), 0.0);
    // Both agree where both say something: N samples fail with exactly the probability asked for.
    let bound = net(2, 1.0, 1.0, 0.5);
    let samples = 10f64.powf(bound.log10_samples(0.01));
    assert!((bound.probability(samples) - 0.99).abs() < 1e-9);
}

/// Lemma 1 by experiment: 50 uniform samples of the unit square are a net of radius 1/2 at least as
/// often as the bound says.
#[test]
fn samples_make_a_net_as_often_as_promised() {
    let bound = NetBound {
        dimension: 2,
        lipschitz: 1.0,
        side: 1.0,
        epsilon: 0.5,
    };
    let (trials, samples) = (1000u64, 50);
    let is_net = |trial: u64| {
        let mut rng = CounterRng::new(11, trial, 0);
        let points: Vec<[f64; 2]> = (0..samples)
            .map(|_| [rng.next_uniform(), rng.next_uniform()])
            .collect();
        (0..=40).all(|i| {
            (0..=40).all(|j| {
                let at = [f64::from(i) / 40.0, f64::from(j) / 40.0];
                points
                    .iter()
                    .any(|p| (p[0] - at[0]).hypot(p[1] - at[1]) <= bound.epsilon)
            })
        })
    };
    let nets = (0..trials).filter(|trial| is_net(*trial)).count();
    let promised = bound.probability(f64::from(samples));
    assert!((promised - 0.9750760778).abs() <= 1e-9);
    assert!(
        nets as f64 / trials as f64 >= promised,
        "{nets} of {trials}"
    );
    // Three samples seldom are one: the experiment can fail.
    let few = (0..trials).filter(|trial| {
        let mut rng = CounterRng::new(11, *trial, 0);
        let points: Vec<[f64; 2]> = (0..3)
            .map(|_| [rng.next_uniform(), rng.next_uniform()])
            .collect();
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
            .iter()
            .all(|at| {
                points
                    .iter()
                    .any(|p| (p[0] - at[0]).hypot(p[1] - at[1]) <= 0.5)
            })
    });
    assert!(few.count() < 100);
}

/// Exact constants of an independent implementation that visits the same cones, and what Eq. (171)
/// then asks for at radius and failure probability 0.05.
#[test]
fn how_much_a_step_can_stretch() {
    // Steps of the box have several solutions from some velocities; then this is the constant of each
    // solution by itself.
    for (name, system, constant, cones, log10_samples, is_multivalued) in [
        (
            "block",
            rocking_block(),
            8.96781598332558,
            126,
            221.81611290196287,
            false,
        ),
        (
            "box",
            box_and_wall(),
            14.23464860327477,
            100,
            80.95318325682773,
            true,
        ),
    ] {
        let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
        let step = StepLipschitz::new(&contacts, None).unwrap();
        assert!(
            (step.constant - constant).abs() <= 1e-9,
            "{name}: {}",
            step.constant
        );
        assert_eq!(
            (step.cones, step.is_multivalued),
            (cones, is_multivalued),
            "{name}"
        );
        let net = step.net(system.max_steps, system.impulse_step, 0.05);
        let log10 = net.log10_samples(0.05);
        assert!((log10 - log10_samples).abs() <= 1e-6, "{name}: {log10}");
    }
    // Two of the box's solutions, found by trying all modes.
    let system = box_and_wall();
    let caps = [0.09065515, 1.0];
    let found = system.pose_at(&[0.13250127, -0.15942789, -1.0], |problem| {
        all_steps(problem, &caps).unwrap()
    });
    assert!(found.len() > 1);
    // Three outcomes from one velocity: no constant.
    let system = compass_gait();
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    assert!(StepLipschitz::new(&contacts, None).unwrap().is_multivalued);
    let system = disk_stack(1.0);
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    let error = StepLipschitz::new(&contacts, None).unwrap_err();
    assert_eq!(error.kind(), "enumeration-limit");
}
