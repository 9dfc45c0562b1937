//! Proven bounds of all outcomes.

use crate::support::systems::*;
use carom_impact::frictional::{
    AnitescuPotra, BranchPolicy, CapDistribution, FrictionCone, Sampler, Sequential, SetValued,
    all_simultaneous,
};
use carom_impact::internal::Draw;
use carom_impact::{ImpactError, ImpactLaw, ImpactProblem, Routh};
use carom_judge::bounds::{
    BoundCertificate, BoundMethod, BoundedSet, OuterBound, OuterBounds, Relaxation, outer_bound,
};
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};

/// The rows of every contact in order, normal first.
fn rows(system: &System) -> Vec<Vec<f64>> {
    let contacts = system.contacts.iter();
    contacts
        .flat_map(|c| std::iter::once(&c.normal).chain(&c.tangents))
        .map(|row| row.0.as_slice().to_vec())
        .collect()
}

/// Every proof holds, and proves no less than the bound told.
fn check(problem: &ImpactProblem, direction: &[f64], relaxation: Relaxation) -> [f64; 2] {
    let bound = outer_bound(problem, direction, relaxation).unwrap();
    check_proofs(problem, direction, &bound, BoundedSet::Steps);
    if let Some(paths) = &bound.paths {
        check_proofs(problem, direction, paths, BoundedSet::Paths);
    }
    bound.outer
}

fn check_proofs(problem: &ImpactProblem, direction: &[f64], bound: &OuterBound, set: BoundedSet) {
    let opposite: Vec<f64> = direction.iter().map(|c| -c).collect();
    for (proofs, direction, told) in [
        (&bound.max, direction, bound.outer[1]),
        (&bound.min, &opposite[..], -bound.outer[0]),
    ] {
        if bound.method == BoundMethod::Exact {
            assert!(proofs.is_empty());
            continue;
        }
        assert_eq!(proofs.len(), problem.contacts().len());
        for (last, proof) in proofs.iter().enumerate() {
            assert_eq!(proof.last(), last);
            let proven = proof.verify_for(problem, direction, set).unwrap().unwrap();
            assert!(proven <= told, "{proven} {told}");
        }
    }
}

/// Samples of all kinds stay inside.
fn samples_stay_inside(system: &System, relaxation: Relaxation) {
    system.pose(|problem| {
        let law = SetValued::default()
            .with_impulse_step(Some(system.impulse_step))
            .with_samples(200);
        let bounds = OuterBounds::new(problem).unwrap();
        let rows = rows(system);
        let outer: Vec<[f64; 2]> = rows
            .iter()
            .map(|row| bounds.bound(row, relaxation).unwrap().outer)
            .collect();
        let sampler = Sampler::new(problem, &law).unwrap();
        let (mut draw, mut found) = (Draw::default(), Vec::new());
        for sample in 0..200 {
            sampler.draw(sample, &mut draw).unwrap();
            if draw.is_ended {
                sampler.contact_velocity(&draw, &mut found);
                for (x, [low, high]) in found.iter().zip(&outer) {
                    assert!(*x >= low - 1e-9 && *x <= high + 1e-9, "{x} in {low} {high}");
                }
            }
        }
    });
}

/// A body that leaves the floor beside one that lands: its contact cannot close last, and must not
/// widen the bounds of the other's.
#[test]
fn a_contact_that_cannot_close_last_widens_no_bound() {
    let corner = |first: usize, x: f64| {
        let (mut normal, mut tangent) = ([0.0; 6], [0.0; 6]);
        normal[first + 1] = 1.0;
        normal[first + 2] = x;
        tangent[first] = 1.0;
        tangent[first + 2] = 0.5;
        contact(&normal, &[&tangent], 0.4)
    };
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 0.2, 1.0, 1.0, 0.2]));
    let velocity = [0.3, -1.0, 0.5, 0.2, 2.0, 0.1];
    let contacts = vec![corner(0, -0.5), corner(0, 0.5), corner(3, 0.4)];
    let system = System::new(mass, contacts, &velocity);
    system.pose(|problem| {
        for row in rows(&system).into_iter().take(4) {
            check(problem, &row, Relaxation::Cone);
            let bound = outer_bound(problem, &row, Relaxation::Cone).unwrap();
            let proven = |proof: &BoundCertificate| proof.verify(problem, &row).unwrap().unwrap();
            let proven: Vec<f64> = bound.max.iter().map(proven).collect();
            assert!(proven[2] < proven[0].max(proven[1]), "{proven:?}");
        }
    });
}

/// Upper bounds of the normal velocities by Theorem 1, against an independent solution of the conic
/// programs.
#[test]
fn theorem_one_bounds_planar_systems() {
    for (system, expected) in [
        (rocking_block(), [0.5425, 0.5425]),
        (compass_gait(), [0.9881, 1.0143]),
        (box_and_wall(), [1.2234, 1.2234]),
    ] {
        system.pose(|problem| {
            for (contact, expected) in system.contacts.iter().zip(expected) {
                let outer = check(problem, contact.normal.0.as_slice(), Relaxation::Cone);
                assert!((outer[1] - expected).abs() <= 6e-5, "{outer:?} {expected}");
                assert!(outer[0] <= 1e-6);
            }
        });
        samples_stay_inside(&system, Relaxation::Cone);
    }
}

/// Theorem 2 for paths, against an independent solution of its semidefinite program: tighter by a factor of three,
/// and the block does not slide. Steps are more than paths, and their bounds wider.
#[test]
fn theorem_two_bounds_the_rocking_block() {
    let system = rocking_block();
    system.pose(|problem| {
        for contact in &system.contacts {
            let both = |row: &[f64]| {
                let steps = check(problem, row, Relaxation::Moment);
                let bound = outer_bound(problem, row, Relaxation::Moment).unwrap();
                let paths = bound.paths.map_or(steps, |paths| paths.outer);
                assert!(steps[0] <= paths[0] && paths[1] <= steps[1]);
                (steps, paths)
            };
            let (steps, paths) = both(contact.normal.0.as_slice());
            assert!(paths[1] <= 0.1910, "{paths:?}");
            assert!(steps[1] <= 0.1910, "{steps:?}");
            let (_, slide) = both(contact.tangents[0].0.as_slice());
            assert!(slide[0] >= -1e-3 && slide[1] <= 1e-3, "{slide:?}");
        }
    });
    samples_stay_inside(&system, Relaxation::Moment);
}

#[test]
fn theorem_two_bounds_other_planar_systems() {
    for (system, expected) in [
        (compass_gait(), [[0.8066, 0.8066], [0.7065, 0.7065]]),
        (box_and_wall(), [[0.4232, 0.3488], [1.2191, 1.2191]]),
    ] {
        system.pose(|problem| {
            for (contact, [steps, paths]) in system.contacts.iter().zip(expected) {
                let normal = contact.normal.0.as_slice();
                let bound = outer_bound(problem, normal, Relaxation::Moment).unwrap();
                let of_paths = bound.paths.as_ref().map_or(bound.outer, |b| b.outer);
                assert!(of_paths[1] <= paths * 1.02 + 1e-3, "{of_paths:?} {paths}");
                assert!(bound.outer[1] <= steps + 1e-3, "{bound:?} {steps}");
            }
        });
        samples_stay_inside(&system, Relaxation::Moment);
    }
}

/// Random planar body, its rows at points and angles drawn with the number `k`, and a direction.
fn planar_body(k: u64) -> (System, Vec<f64>) {
    let mut rng = CounterRng::new(1234, k, 0);
    let mut draw = |a: f64, b: f64| a + (b - a) * rng.next_uniform();
    let count = 2 + draw(0.0, 2.99) as usize;
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, draw(0.1, 1.0)]));
    let contacts = (0..count).map(|_| {
        let (x, y) = (draw(-1.0, 1.0), draw(-1.0, 1.0));
        let (s, c) = draw(0.3, 2.8).sin_cos();
        let tangent = [-s, c, x * c + y * s];
        contact(&[c, s, x * s - y * c], &[&tangent], draw(0.0, 1.2))
    });
    let contacts: Vec<_> = contacts.collect();
    let mut velocity: Vec<f64> = (0..3).map(|_| draw(-4.0, 4.0)).collect();
    let normal = &contacts[0].normal.0;
    if normal.dot(&DVector::from_column_slice(&velocity)) > 0.0 {
        velocity.iter_mut().for_each(|v| *v = -*v);
    }
    let direction = match k % 2 {
        0 => normal.as_slice().to_vec(),
        _ => vec![draw(-1.0, 1.0), draw(-1.0, 1.0), draw(-1.0, 1.0)],
    };
    (System::new(mass, contacts, &velocity), direction)
}

/// The search for a proof of Theorem 2 reaches its optimum, also where one in ten searches by cuts ended near Theorem 1:
/// lower bounds by both.
#[test]
fn theorem_two_is_searched_to_the_end() {
    for (k, cone, moment) in [(28, 0.0773, 0.5497), (33, -1.8489, -1.5735)] {
        let (system, direction) = planar_body(k);
        system.pose(|problem| {
            let [low, _] = check(problem, &direction, Relaxation::Cone);
            assert!((low - cone).abs() <= 1e-4, "{k}: {low}");
            let [low, _] = check(problem, &direction, Relaxation::Moment);
            assert!((low - moment).abs() <= 1e-4, "{k}: {low}");
        });
    }
}

/// A function that falls along paths but not in steps proves nothing about steps.
#[test]
fn theorem_two_for_steps_needs_a_convex_function() {
    let system = box_and_wall();
    system.pose(|problem| {
        let direction = system.contacts[0].normal.0.as_slice();
        let bound = outer_bound(problem, direction, Relaxation::Moment).unwrap();
        let paths = bound.paths.map_or(Vec::new(), |paths| paths.max);
        let mut refused = 0;
        for proof in &paths {
            let BoundCertificate::Moment(moment) = proof else {
                continue;
            };
            let p = DMatrix::from_fn(3, 3, |i, j| moment.p[i][j]);
            let is_convex = p.symmetric_eigenvalues().min() > 0.0;
            let of_steps = proof.verify(problem, direction).unwrap();
            assert_eq!(of_steps.is_some(), is_convex);
            refused += usize::from(of_steps.is_none());
        }
        assert!(refused > 0);
        for proof in &bound.max {
            if let BoundCertificate::Moment(moment) = proof {
                let p = DMatrix::from_fn(3, 3, |i, j| moment.p[i][j]);
                assert!(p.symmetric_eigenvalues().min() > 0.0);
            }
        }
    });
}

/// One contact in the plane: the set is the segment between Routh's outcome and that of one step.
#[test]
fn one_planar_contact_is_known_exactly() {
    let (mut wide, mut jammed) = (0, 0);
    for sample in 0..400 {
        let mut rng = CounterRng::new(11, sample, 0);
        let mut draw = || 2.0 * rng.next_uniform() - 1.0;
        let mut row = || DVector::from_fn(3, |_, _| draw());
        let (normal, tangent, velocity) = (row(), row(), row());
        let mass = DVector::from_fn(3, |_, _| 10f64.powf(draw()));
        let floor = contact(
            normal.as_slice(),
            &[tangent.as_slice()],
            2.0 * (draw() + 1.0),
        );
        let system = System::new(
            DMatrix::from_diagonal(&mass),
            vec![floor],
            velocity.as_slice(),
        );
        system.pose(|problem| {
            if !problem.is_approaching() {
                jammed += usize::from(presses_itself_closed(&system));
                return;
            }
            let speed = (2.0 * problem.energy_minus_j()).sqrt();
            let mut ends: Vec<DVector<f64>> = all_simultaneous(problem)
                .unwrap()
                .into_iter()
                .map(|solution| solution.outcome.velocity_plus.0)
                .collect();
            ends.push(Routh::default().resolve(problem).unwrap().velocity_plus.0);
            for k in 0..3 {
                let mut c = [0.0; 3];
                c[k] = 1.0;
                let bound = outer_bound(problem, &c, Relaxation::Cone).unwrap();
                assert_eq!(bound.method, BoundMethod::Exact);
                let along = ends.iter().map(|end| end[k]);
                let low = along.clone().fold(f64::INFINITY, f64::min);
                let high = along.fold(f64::NEG_INFINITY, f64::max);
                let scale = 1e-9 * speed / mass[k].sqrt();
                assert_all_close(&bound.outer, &[low, high], scale, "Routh to one step");
                wide += usize::from(high - low > 1e-3 * speed / mass[k].sqrt());
            }
            samples_of_all_kinds_stay_inside(&system, problem);
        });
    }
    assert!(wide >= 6 && jammed > 0, "{wide} {jammed}");
}

/// A contact that slides, leaves, and could be pressed closed by friction (Painlevé): a step may stop it. Bounds hold
/// for that outcome, too. The result is true if there is such a step.
fn presses_itself_closed(system: &System) -> bool {
    let inverse = DMatrix::from_diagonal(&system.metric.mass_matrix().diagonal().map(|m| 1.0 / m));
    let [normal, tangent] =
        [&system.contacts[0].normal, &system.contacts[0].tangents[0]].map(|row| row.0.clone());
    let rows = DMatrix::from_columns(&[normal.clone(), tangent.clone()]);
    let gram = rows.transpose() * &inverse * &rows;
    let before = rows.transpose() * DVector::from_column_slice(&system.velocity);
    let impulse = -gram.clone().lu().solve(&before).unwrap();
    let friction = system.contacts[0].friction;
    if impulse[0] <= 0.0 || impulse[1].abs() > friction * impulse[0] {
        system.pose(|problem| {
            let bound = outer_bound(problem, &[1.0, 0.0, 0.0], Relaxation::Cone).unwrap();
            assert_eq!(bound.outer, [system.velocity[0]; 2]);
        });
        return false;
    }
    // Sticking is a step: both velocities are zero after it.
    let after = DVector::from_column_slice(&system.velocity) + &inverse * &rows * &impulse;
    system.pose(|problem| {
        for k in 0..3 {
            let mut c = [0.0; 3];
            c[k] = 1.0;
            let bound = outer_bound(problem, &c, Relaxation::Cone).unwrap();
            let (low, high) = (
                f64::min(after[k], system.velocity[k]),
                f64::max(after[k], system.velocity[k]),
            );
            assert_all_close(&bound.outer, &[low, high], 1e-9, "before, and stopped");
            let paths = bound.paths.unwrap();
            assert_eq!(paths.outer, [system.velocity[k]; 2]);
        }
    });
    true
}

/// Samples with caps and branches of every kind, and simultaneous and sequential answers, are within the bounds
/// along every row.
fn samples_of_all_kinds_stay_inside(system: &System, problem: &ImpactProblem) {
    let metric = problem.contacts().metric();
    let speed = (2.0 * problem.energy_minus_j()).sqrt();
    let is_planar = system.contacts.iter().all(|c| c.tangents.len() <= 1);
    let mut members: Vec<DVector<f64>> = Vec::new();
    for (caps, branch) in [
        (CapDistribution::Uniform, BranchPolicy::Fixed),
        (
            CapDistribution::Mixed { off: 0.3 },
            BranchPolicy::RandomCovering { spread: 6.0 },
        ),
    ] {
        let law = SetValued::default()
            .with_samples(12)
            .with_caps(caps)
            .with_branch(branch);
        let sampler = Sampler::new(problem, &law).unwrap();
        let mut draw = Draw::default();
        for sample in 0..law.samples {
            sampler.draw(sample, &mut draw).unwrap();
            if draw.is_ended {
                members.push(sampler.outcome(&draw).unwrap().velocity_plus.0);
            }
        }
    }
    if let Ok(outcome) = AnitescuPotra::default().resolve(problem) {
        members.push(outcome.velocity_plus.0);
    }
    for first in 0..problem.contacts().len() {
        let m = problem.contacts().len();
        let law = Sequential::default().with_order((0..m).map(|k| (first + k) % m).collect());
        if let Ok(outcome) = law.resolve(problem) {
            members.push(outcome.velocity_plus.0);
        }
    }
    if problem.contacts().len() == 1 {
        members.push(Routh::default().resolve(problem).unwrap().velocity_plus.0);
    }
    let bounds = OuterBounds::new(problem).unwrap();
    for (k, row) in rows(system).into_iter().enumerate() {
        let relaxations = [Relaxation::Cone, Relaxation::Moment];
        // The semidefinite programs are slow: along the first normal only.
        let is_planar = is_planar && k == 0 && system.contacts.len() <= 2;
        let length = metric
            .norm(&carom_metric::Covector::from_slice(&row))
            .unwrap();
        for relaxation in relaxations.into_iter().take(if is_planar { 2 } else { 1 }) {
            let [low, high] = bounds.bound(&row, relaxation).unwrap().outer;
            for member in &members {
                let x = DVector::from_column_slice(&row).dot(member);
                let rounding = 1e-7 * length * speed;
                assert!(
                    x >= low - rounding && x <= high + rounding,
                    "{x} {low} {high}"
                );
            }
        }
    }
}

/// Random contacts in the plane and in space: repeated ones in other units, facing ones, mixed friction, masses of
/// different size.
#[test]
fn no_answer_of_an_inelastic_law_passes_a_bound() {
    for sample in 0..24 {
        let mut rng = CounterRng::new(29, sample, 0);
        let mut draw = || 2.0 * rng.next_uniform() - 1.0;
        let is_spatial = sample % 3 == 2;
        let (n, n_tangents) = if is_spatial { (5, 2) } else { (3, 1) };
        let m = 1 + sample as usize / 3 % 4;
        let ratio = [0.5, 1.0, 2.0][sample as usize % 3];
        let mass = DVector::from_fn(n, |_, _| 10f64.powf(ratio * draw()));
        let mut contacts: Vec<carom_impact::Contact> = Vec::new();
        for i in 0..m {
            let kind = draw();
            let mut new = match contacts.first() {
                Some(first) if i > 0 && kind < -0.4 => {
                    let sign = if kind < -0.7 { -2.0 } else { 3.0 };
                    let mut new = first.clone();
                    new.normal.0 *= sign;
                    new.tangents.iter_mut().for_each(|t| t.0 *= sign.abs());
                    new
                }
                _ => {
                    let mut row = || (0..n).map(|_| draw()).collect::<Vec<f64>>();
                    let normal = row();
                    let tangents: Vec<Vec<f64>> = (0..n_tangents).map(|_| row()).collect();
                    let tangents: Vec<&[f64]> = tangents.iter().map(Vec::as_slice).collect();
                    contact(&normal, &tangents, 0.0)
                }
            };
            new.friction = [0.0, 0.3, 0.8, 1.5][(4.0 * (0.5 + 0.5 * draw())) as usize % 4];
            contacts.push(new);
        }
        let velocity: Vec<f64> = (0..n).map(|_| draw()).collect();
        let system = System::new(DMatrix::from_diagonal(&mass), contacts, &velocity);
        system.pose(|problem| samples_of_all_kinds_stay_inside(&system, problem));
    }
}

/// A body that slides along a slope that its contact's rows see: the outcome of one step is beyond Routh's.
#[test]
fn one_step_may_pass_the_outcome_of_infinitesimal_ones() {
    let floor = contact(&[0.556, 0.831, -0.392], &[&[0.831, -0.556, -0.711]], 0.22);
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 0.25]));
    let system = System::new(mass, vec![floor], &[0.0, -1.0, 1.3]);
    system.pose(|problem| {
        let row = system.contacts[0].tangents[0].0.as_slice();
        let bound = outer_bound(problem, row, Relaxation::Cone).unwrap();
        let along = |velocity: &DVector<f64>| DVector::from_column_slice(row).dot(velocity);
        let one_step = AnitescuPotra::default().resolve(problem).unwrap();
        let routh = Routh::default().resolve(problem).unwrap();
        let (step, limit) = (
            along(&one_step.velocity_plus.0),
            along(&routh.velocity_plus.0),
        );
        assert!((step - limit).abs() > 0.2);
        let hull = [f64::min(step, limit), f64::max(step, limit)];
        assert_all_close(&bound.outer, &hull, 1e-12, "both answers");
        assert_all_close(&bound.paths.unwrap().outer, &[limit; 2], 1e-12, "Routh's");
    });
}

/// Two frictionless contacts: the ends of the set are the two orders of the pushes and both at once.
#[test]
fn two_frictionless_contacts_are_known_exactly() {
    for (second, velocity) in [
        ([0.8, 0.6], [-1.0, -0.5]),
        ([0.8, 0.6], [-1.0, 0.9]),
        ([0.3, 0.95], [-1.0, -1.2]),
        ([-0.5, 0.8], [-1.0, -0.5]),
        ([0.9, 0.43], [-0.2, -3.0]),
    ] {
        let wall = |n: &[f64; 2]| contact(n, &[], 0.0);
        let contacts = vec![wall(&[1.0, 0.0]), wall(&second)];
        let system = System::new(DMatrix::identity(2, 2), contacts, &velocity);
        system.pose(|problem| {
            let order = |order: [usize; 2]| Sequential::default().with_order(order.to_vec());
            let ends = [
                order([0, 1]).resolve(problem).unwrap(),
                order([1, 0]).resolve(problem).unwrap(),
                AnitescuPotra::default().resolve(problem).unwrap(),
            ];
            for angle in 0..8 {
                let (sin, cos) = f64::from(angle).sin_cos();
                let bound = outer_bound(problem, &[cos, sin], Relaxation::Cone).unwrap();
                assert_eq!(bound.method, BoundMethod::Exact);
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for end in &ends {
                    let x = cos * end.velocity_plus.0[0] + sin * end.velocity_plus.0[1];
                    (low, high) = (f64::min(low, x), f64::max(high, x));
                }
                assert_all_close(&bound.outer, &[low, high], 1e-9, "ends");
            }
        });
    }
}

/// In space: a box on four corners, with round cones.
#[test]
fn a_box_in_space_stays_inside_its_bounds() {
    let (x, y, z) = (1.0f64, 1.5f64, 2.0f64);
    let inertia = [y * y + z * z, x * x + z * z, x * x + y * y].map(|s| s / 12.0);
    let mass = DVector::from_vec(vec![1.0, 1.0, 1.0, inertia[0], inertia[1], inertia[2]]);
    let corner = |x: f64, y: f64| {
        let z = -1.0;
        contact(
            &[0.0, 0.0, 1.0, y, -x, 0.0],
            &[&[1.0, 0.0, 0.0, 0.0, z, -y], &[0.0, 1.0, 0.0, -z, 0.0, x]],
            0.4,
        )
    };
    let corners = [(-0.5, -0.75), (0.5, -0.75), (-0.5, 0.75), (0.5, 0.75)];
    let corners = corners.map(|(x, y)| corner(x, y)).to_vec();
    let mut system = System::new(
        DMatrix::from_diagonal(&mass),
        corners,
        &[0.4, 0.3, -1.0, 0.3, -0.2, 1.0],
    );
    system.impulse_step = 0.3;
    system.pose(|problem| {
        for row in rows(&system).iter().take(3) {
            check(problem, row, Relaxation::Cone);
        }
        let refused = outer_bound(problem, &[1.0; 6], Relaxation::Moment).unwrap_err();
        assert!(matches!(refused, ImpactError::InvalidOption { .. }));
    });
    samples_stay_inside(&system, Relaxation::Cone);
}

#[test]
fn a_proof_with_a_wrong_sign_proves_nothing() {
    let system = rocking_block();
    system.pose(|problem| {
        let direction = system.contacts[0].normal.0.as_slice();
        let bound = outer_bound(problem, direction, Relaxation::Cone).unwrap();
        let BoundCertificate::Cone(cone) = &bound.max[0] else {
            panic!("{bound:?}");
        };
        let mut wrong = cone.clone();
        wrong.nu[1] = -0.1;
        let refused = BoundCertificate::Cone(wrong).verify(problem, direction);
        assert_eq!(refused.unwrap(), None);
        let mut wrong = cone.clone();
        wrong.w[1] -= 10.0;
        let refused = BoundCertificate::Cone(wrong).verify(problem, direction);
        assert_eq!(refused.unwrap(), None);
    });
}

#[test]
fn a_direction_has_the_length_of_the_velocity() {
    let system = rocking_block();
    system.pose(|problem| {
        for direction in [&[1.0, 0.0][..], &[0.0, 0.0, 0.0], &[f64::NAN, 0.0, 1.0]] {
            let error = outer_bound(problem, direction, Relaxation::Cone).unwrap_err();
            assert!(error.to_string().contains("bounds"), "{error}");
        }
        let cone = FrictionCone::Round;
        assert_eq!(cone.directions(), None);
    });
}

/// Less work makes bounds wider and says so; what is told is proven with any budget, and the same budget ends at the same
/// place.
#[test]
fn bounds_end_with_their_budget_and_stay_proofs() {
    let system = box_and_wall();
    let rows = rows(&system);
    // A normal and a tangent.
    let all: Vec<&[f64]> = rows.iter().take(2).map(Vec::as_slice).collect();
    system.pose(|problem| {
        let bounds = OuterBounds::new(problem).unwrap();
        let within = |work: u64| -> Vec<OuterBound> {
            let found = bounds.bound_all(&all, Relaxation::Moment, work);
            found.into_iter().map(Result::unwrap).collect()
        };
        let whole = within(u64::MAX);
        assert!(whole.iter().all(|bound| !bound.is_limited));
        let mut width = f64::INFINITY;
        for work in [0, 1_000_000, 10_000_000] {
            let found = within(work);
            assert_eq!(found, within(work));
            let mut sum = 0.0;
            for ((row, bound), whole) in all.iter().zip(&found).zip(&whole) {
                check_proofs(problem, row, bound, BoundedSet::Steps);
                assert!(bound.is_limited || bound == whole);
                sum += bound.outer[1] - bound.outer[0];
            }
            assert!(sum <= width * (1.0 + 1e-9), "{work}: {sum} {width}");
            width = sum;
            if work == 0 {
                assert!(found.iter().all(|bound| bound.is_limited));
                assert!(
                    found
                        .iter()
                        .all(|bound| bound.method == BoundMethod::Energy)
                );
            }
        }
    });
}
