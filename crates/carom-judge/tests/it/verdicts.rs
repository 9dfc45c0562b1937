//! Outcomes that somebody else computed: fits, laws and sets.

use carom_contact::{
    Contact, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, SetValuedLaw, audit,
};
use carom_impact::frictional::{CounterRng, MoreauNewton, SetValued};
use carom_impact::{
    EnergeticRestitution, LAWS, Law, Plastic, PlasticRule, Propagative, Routh, Rules, TwoBody,
};
use carom_judge::{
    EnergyChange, JudgeOptions, Judgement, LawMatch, LawVerdict, Membership, OutsideReason, judge,
    judge_with,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

fn posed<T>(
    mass: DMatrix<f64>,
    contacts: Vec<Contact>,
    forms: &[&[f64]],
    velocity: &[f64],
    f: impl FnOnce(&ImpactProblem) -> T,
) -> T {
    let metric = KineticMetric::new(mass).unwrap();
    let forms = forms
        .iter()
        .map(|form| Covector::from_slice(form))
        .collect();
    let contacts = ContactSet::constrained(&metric, contacts, forms).unwrap();
    f(&ImpactProblem::new(&contacts, Tangent::from_slice(velocity)).unwrap())
}

fn judged(problem: &ImpactProblem, after: &[f64]) -> Judgement {
    judge(
        problem,
        &Tangent::from_slice(after),
        &JudgeOptions::default(),
    )
    .unwrap()
}

fn entry<'j>(judgement: &'j Judgement, law: &str) -> &'j LawMatch {
    let found = judgement.laws.iter().find(|entry| entry.law == law);
    found.unwrap_or_else(|| panic!("no answer of {law}: {:?}", judgement.refused))
}

fn ball_contacts(n: usize, restitution: f64) -> Vec<Contact> {
    let normal = |i: usize| {
        let mut u = vec![0.0; n];
        (u[i], u[i + 1]) = (-1.0, 1.0);
        Contact::frictionless(Covector::from_slice(&u)).with_restitution(restitution)
    };
    (0..n - 1).map(normal).collect()
}

fn cradle<T>(restitution: f64, f: impl FnOnce(&ImpactProblem) -> T) -> T {
    let contacts = ball_contacts(3, restitution);
    posed(DMatrix::identity(3, 3), contacts, &[], &[1.0, 0.0, 0.0], f)
}

/// A rigid block on two corners.
fn block(friction: f64) -> (DMatrix<f64>, Vec<Contact>) {
    let corner = |x: f64| {
        Contact::new(Covector::from_slice(&[0.0, 1.0, x]))
            .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, 1.0])])
            .with_friction(friction)
    };
    let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 5.0 / 12.0]);
    (mass, vec![corner(-0.5), corner(0.5)])
}

/// A ball on a plane, in space: its contact's tangents couple to spin.
fn ball(friction: f64, restitution: f64) -> (DMatrix<f64>, Vec<Contact>) {
    let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 1.0, 0.4, 0.4, 0.4]);
    let contact = Contact::new(Covector::from_slice(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
        .with_tangents(vec![
            Covector::from_slice(&[1.0, 0.0, 0.0, 0.0, -1.0, 0.0]),
            Covector::from_slice(&[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
        ])
        .with_friction(friction)
        .with_restitution(restitution);
    (mass, vec![contact])
}

/// An engine at restitution 1 and a speed of 1 m/s: energy 1.1104, printed with 1 %.
#[test]
fn an_engine_that_gains_energy_is_found_out() {
    cradle(1.0, |problem| {
        let judgement = judged(problem, &[-0.386_414, 0.693_207, 0.693_207]);
        assert_eq!(judgement.energy_change(), EnergyChange::Gained);
        let ratio = judgement.energy_ratio.unwrap();
        // Energy 0.5551 J after and 0.5 J before, less 1/6 J of the center of mass, which contacts do not see.
        assert!((ratio - 1.165_581).abs() <= 1e-6);
        let [minus, plus] = judgement.relative_energies_j;
        assert!((minus - 1.0 / 3.0).abs() <= 1e-15 && (plus - 1.165_581 / 3.0).abs() <= 1e-6);
        assert_eq!(judgement.matches().count(), 0);
        // All balls stay on one line: momentum is kept, contacts push.
        assert!(judgement.explanation.momentum_residual <= 1e-6);
        assert!(judgement.explanation.pull_residual <= 1e-6);
        assert!(judgement.explanation.friction_residual <= 1e-6);
        let verdict = judgement.verdict();
        assert!(verdict.contains("No law here gives it"), "{verdict}");
    });
}

/// Newton's restitution 1 at both contacts of equal balls: (-1, 2, 2)/3 in closed form.
#[test]
fn moreau_newton_is_recognized_with_the_restitution_given() {
    cradle(1.0, |problem| {
        let third = 1.0 / 3.0;
        let judgement = judged(problem, &[-third, 2.0 * third, 2.0 * third]);
        let found = entry(&judgement, "moreau-newton");
        assert!(found.distance <= 1e-14);
        let restitution = found.restitution.unwrap();
        assert!(!restitution.is_fitted && restitution.value == 1.0);
        assert_eq!(judgement.energy_change(), EnergyChange::Kept);
        assert!(!entry(&judgement, "propagative").matches);
    });
    // Unknown to the problem, the same restitution is fitted.
    cradle(0.0, |problem| {
        let e = 0.37;
        let after = [(1.0 - 2.0 * e) / 3.0, (1.0 + e) / 3.0, (1.0 + e) / 3.0];
        let judgement = judged(problem, &after);
        let fit = entry(&judgement, "moreau-newton").restitution.unwrap();
        assert!(fit.is_fitted && (fit.value - e).abs() <= 1e-12, "{fit:?}");
    });
}

/// Two balls fall on two floors, each with a restitution of its own; a third contact opens and has none.
#[test]
fn restitutions_of_contacts_are_read_off_before_one_for_all_is_tried() {
    let row = Covector::from_slice;
    let contacts: Vec<Contact> = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]
        .iter()
        .map(|normal| Contact::frictionless(row(normal)))
        .collect();
    let mass = DMatrix::from_diagonal(&dvector![1.0, 2.0, 3.0]);
    posed(mass, contacts, &[], &[-1.0, -1.0, 0.5], |problem| {
        let judgement = judged(problem, &[0.25, 0.75, 0.5]);
        let found = entry(&judgement, "moreau-newton");
        assert!(found.matches && found.restitution.is_none());
        let ratios = found.restitutions.as_ref().unwrap();
        assert_eq!(ratios.as_slice(), [Some(0.25), Some(0.75), None]);
        // Equal ratios are one.
        let judgement = judged(problem, &[0.25, 0.25, 0.5]);
        let found = entry(&judgement, "moreau-newton");
        let fit = found.restitution.unwrap();
        assert!(fit.is_fitted && fit.value == 0.25);
        assert_eq!(
            found.restitutions.as_ref().unwrap().as_slice(),
            [Some(0.25), Some(0.25), None]
        );
    });
}

/// A ball stops at a wall. Another that no contact touches changes its velocity, beside a fast one that leaves a wall.
#[test]
fn a_fast_body_that_leaves_its_contact_hides_no_impossible_change() {
    let wall = |k: usize| {
        let mut normal = DVector::zeros(3);
        normal[k] = 1.0;
        Contact::frictionless(Covector(normal))
    };
    for speed in [1.0, 1e4, 1e9] {
        let contacts = vec![wall(0), wall(2)];
        let velocity = [-1.0, 0.0, speed];
        posed(
            DMatrix::identity(3, 3),
            contacts,
            &[],
            &velocity,
            |problem| {
                let judgement = judged(problem, &[0.0, 1e-3, speed]);
                let residual = judgement.explanation.momentum_residual;
                assert!((residual - 1e-3).abs() <= 1e-15, "{speed:e} {residual:e}");
                let set = judgement.outcome_set.as_ref().unwrap();
                let reason = match &set.membership {
                    Membership::Outside { reason, .. } => reason.name(),
                    other => panic!("{speed:e} {other:?}"),
                };
                assert_eq!(reason, OutsideReason::Momentum.name());
                assert_eq!(judgement.matches().count(), 0);
            },
        );
    }
}

/// Distances are told whole where they decide less the rounding of a fast frame: on M = [[2, 1], [1, 2]] a wall stops
/// the first coordinate, whose velocity is told 4e-7 too large.
#[test]
fn distances_in_a_fast_frame_are_told_whole() {
    let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
    let speed = 1e9;
    let mass = dmatrix![2.0, 1.0; 1.0, 2.0];
    posed(mass, vec![wall], &[], &[-1.0, speed], |problem| {
        let judgement = judged(problem, &[4e-7, speed - 0.5]);
        // Norms: 4e-7 sqrt 2 of the error, 1 / sqrt (2/3) of the motion, 2^-50 1e9 sqrt 2 of the rounding.
        let expected = 4e-7 * (4.0 / 3.0f64).sqrt();
        let found = entry(&judgement, "plastic");
        // The frame is taken away up to its rounding, which rows see.
        assert!(
            (found.distance - expected).abs() <= 1e-8,
            "{:e}",
            found.distance
        );
        assert!(found.matches);
        let set = judgement.outcome_set.as_ref().unwrap();
        assert!(matches!(set.membership, Membership::Inside(_)));
        assert!((set.distance - expected).abs() <= 1e-8);
        let rounding = 1e9 * 2f64.powi(-50) * (4.0 / 3.0f64).sqrt();
        assert!((judgement.rounding / rounding - 1.0).abs() <= 1e-6);
    });
}

#[test]
fn the_restitution_of_a_propagative_event_is_fitted() {
    let (mass, _) = block(0.0);
    // Two corners without friction, coupled through the turning block.
    let contacts = [-0.5, 0.4].map(|x| Contact::frictionless(Covector::from_slice(&[0.0, 1.0, x])));
    posed(mass, contacts.to_vec(), &[], &[0.1, -1.0, 0.3], |problem| {
        for plastic in [
            PlasticRule::Cone,
            PlasticRule::ProjectAll {
                allow_adhesion: true,
            },
        ] {
            let law = Propagative::default()
                .with_restitution(EnergeticRestitution::new(0.7).unwrap())
                .with_plastic(plastic);
            let outcome = law.resolve(problem).unwrap();
            let judgement = judged(problem, outcome.velocity_plus.0.as_slice());
            let found = entry(&judgement, "propagative");
            assert!(found.distance <= 1e-13, "{found:?}");
            let fit = found.restitution.unwrap();
            assert!(fit.is_fitted && (fit.value - 0.7).abs() <= 1e-12, "{fit:?}");
        }
    });
}

/// Random problems of every kind: whatever a law answers is recognized as that law's, and its
/// faults are those of its audit.
#[test]
fn every_law_recognizes_its_own_outcome() {
    let mut tried = std::collections::BTreeMap::new();
    for sample in 0..60 {
        let mut rng = CounterRng::new(11, sample, 0);
        let mut draw = || 2.0 * rng.next_uniform() - 1.0;
        let n = 4;
        let root = DMatrix::from_fn(n, n, |_, _| draw());
        let mass = &root * root.transpose() + DMatrix::identity(n, n) * 0.2;
        let tangents = (sample % 3) as usize;
        let mut covector = || Covector(DVector::from_fn(n, |_, _| draw()));
        let m = if tangents == 2 {
            1
        } else {
            1 + sample as usize % 2
        };
        let contacts: Vec<Contact> = (0..m)
            .map(|_| {
                Contact::new(covector())
                    .with_tangents((0..tangents).map(|_| covector()).collect::<Vec<_>>())
                    .with_friction(if tangents == 0 { 0.0 } else { 0.4 })
                    .with_restitution(if sample % 5 == 0 { 0.6 } else { 0.0 })
            })
            .collect();
        let form = covector();
        let forms: Vec<&[f64]> = if sample % 4 == 3 {
            vec![form.0.as_slice()]
        } else {
            Vec::new()
        };
        let mut velocity = covector().0;
        if !forms.is_empty() {
            velocity -= &form.0 * (form.0.dot(&velocity) / form.0.norm_squared());
        }
        posed(mass, contacts, &forms, velocity.as_slice(), |problem| {
            for law in Law::all() {
                let name = law.name();
                let Ok(outcome) = law.resolve(problem) else {
                    continue;
                };
                let options = JudgeOptions::default().with_samples(32);
                let judgement = judge(problem, &outcome.velocity_plus, &options).unwrap();
                let Some(found) = judgement.laws.iter().find(|entry| entry.law == name) else {
                    // Laws of constraints or tangents have nothing to say without them.
                    assert!(name.starts_with("nonholonomic"), "{name}");
                    continue;
                };
                assert!(found.matches, "{sample} {name}: {found:?}");
                assert_eq!(found.verdict, LawVerdict::Match);
                if ["anitescu-potra", "sequential", "set-valued"].contains(&name) {
                    let set = judgement.outcome_set.as_ref().unwrap();
                    let Membership::Inside(witness) = &set.membership else {
                        panic!("{sample} {name}: {set:?}");
                    };
                    witness.check(problem, &outcome.velocity_plus).unwrap();
                }
                let fit = &judgement.explanation;
                assert!(fit.momentum_residual <= 1e-9, "{sample} {name}: {fit:?}");
                let residual = audit(
                    problem,
                    &outcome.velocity_plus,
                    &fit.impulses,
                    &fit.constraint_impulses,
                )
                .unwrap()
                .momentum_residual;
                assert!((residual - fit.momentum_residual).abs() <= 1e-9);
                if outcome.audit.friction_residual <= 1e-9
                    && outcome.audit.adhesion_residual <= 1e-9
                {
                    assert!(fit.friction_residual <= 1e-7, "{sample} {name}: {fit:?}");
                }
                *tried.entry(name).or_insert(0) += 1;
            }
        });
    }
    assert!(tried.len() == LAWS.len(), "{tried:?}");
}

/// A point mass and a plane: the admissible momentum changes are a circular cone, and the
/// projection onto one is elementary.
#[test]
fn impulses_are_projected_onto_the_round_friction_cone() {
    let friction: f64 = 0.5;
    let contact = Contact::new(Covector::from_slice(&[0.0, 0.0, 1.0]))
        .with_tangents(vec![
            Covector::from_slice(&[1.0, 0.0, 0.0]),
            Covector::from_slice(&[0.0, 1.0, 0.0]),
        ])
        .with_friction(friction);
    let before = [0.3, -0.2, -1.0];
    posed(
        DMatrix::identity(3, 3),
        vec![contact],
        &[],
        &before,
        |problem| {
            for k in 0..40 {
                let mut rng = CounterRng::new(3, k, 0);
                let change = [(); 3].map(|()| 3.0 * rng.next_uniform() - 1.5);
                let after: Vec<f64> = before.iter().zip(change).map(|(v, d)| v + d).collect();
                let fit = judged(problem, &after).explanation;
                let [x, y, z] = change;
                let t = x.hypot(y);
                let distance = if t <= friction * z {
                    0.0
                } else if z <= -friction * t {
                    t.hypot(z)
                } else {
                    (t - friction * z) / friction.hypot(1.0)
                };
                let norm = (0.3f64 * 0.3 + 0.2 * 0.2 + 1.0).sqrt();
                let error = fit.friction_residual - distance / norm;
                assert!(error.abs() <= 1e-12, "{change:?}: off by {error:e}");
                let pull = (-z).max(0.0) / norm;
                assert!((fit.pull_residual - pull).abs() <= 1e-12);
                // Three rows span all of space.
                assert!(fit.momentum_residual <= 1e-12);
            }
        },
    );
}

/// Momentum that the rows cannot give, pulling and penetration, each alone. The floor does not see the first
/// coordinate: both are measured by the motion in the second.
#[test]
fn faults_are_told_apart() {
    let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
    let mass = dmatrix![2.0, 0.0; 0.0, 2.0];
    posed(mass, vec![floor], &[], &[0.6, -0.8], |problem| {
        let sideways = judged(problem, &[0.7, 0.8]);
        assert!((sideways.explanation.momentum_residual - 0.1 / 0.8).abs() <= 1e-14);
        assert!((sideways.explanation.friction_residual - 0.1 / 0.8).abs() <= 1e-14);
        assert_eq!(sideways.audit.penetration_residual, 0.0);

        let through = judged(problem, &[0.6, -0.3]);
        assert!((through.audit.penetration_residual - 0.3 / 0.8).abs() <= 1e-14);
        assert!(through.verdict().contains("Leaves contact 0 approaching."));
        assert!(through.explanation.friction_residual <= 1e-14);

        let pulled = judged(problem, &[0.6, -0.9]);
        assert!((pulled.explanation.pull_residual - 0.1 / 0.8).abs() <= 1e-14);
        assert!(pulled.explanation.momentum_residual <= 1e-14);
        assert!((pulled.explanation.impulses[0] + 0.2).abs() <= 1e-14);
        assert_eq!(pulled.explanation.admissible_impulses[0], 0.0);
        assert!(pulled.verdict().contains("Pulls on a contact."));
    });
}

/// A skate: what its blade holds is momentum that constraints change, and slipping is a violation.
#[test]
fn constraints_explain_and_are_checked() {
    let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
    let mass = dmatrix![1.0, 0.0; 0.0, 1.0];
    posed(
        mass,
        vec![wall],
        &[&[1.0, -1.0]],
        &[-1.0, -1.0],
        |problem| {
            let elastic = judged(problem, &[1.0, 1.0]);
            assert!(elastic.explanation.momentum_residual <= 1e-14);
            assert!(entry(&elastic, "nonholonomic-elastic").matches);
            let (impulses, multipliers) = (
                &elastic.explanation.impulses,
                &elastic.explanation.constraint_impulses,
            );
            // 2 = Λ + λ, 2 = -λ.
            assert!((impulses[0] - 4.0).abs() <= 1e-13);
            assert!((multipliers[0] + 2.0).abs() <= 1e-13);

            let slipped = judged(problem, &[1.0, 0.5]);
            let expected = 0.5 / 2f64.sqrt() / 2f64.sqrt();
            assert!((slipped.audit.constraint_residual - expected).abs() <= 1e-14);
            assert!(slipped.explanation.momentum_residual <= 1e-14);
            assert!(slipped.audit.momentum_residual <= 1e-14);
            assert!(slipped.verdict().contains("Violates a constraint."));
        },
    );
}

/// Two corners without friction, the second pushed open by the first: the set of outcomes is a
/// broken line, and every chain of steps ends on it.
#[test]
fn two_smooth_contacts_have_an_exact_set() {
    for (x, y) in [(-0.9, 0.8), (0.5, 0.7), (0.2, 0.9)] {
        let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 0.4]);
        let contacts = [x, y].map(|x| Contact::frictionless(Covector::from_slice(&[0.0, 1.0, x])));
        posed(mass, contacts.to_vec(), &[], &[0.2, -1.0, 0.1], |problem| {
            let options = JudgeOptions::default();
            let law = SetValued::default().with_samples(50);
            let mut lifts = Vec::new();
            for end in law.resolve_all(problem).unwrap().outcomes {
                let after = end.velocity_plus;
                let set = judge(problem, &after, &options).unwrap().outcome_set;
                let set = set.unwrap();
                // A sample has ended when contacts approach no faster than 1e-10.
                assert!(set.distance <= 1e-9, "{x} {y}: {set:?}");
                let Membership::Inside(witness) = &set.membership else {
                    panic!("{x} {y}: {set:?}");
                };
                witness.check(problem, &after).unwrap();
                lifts.push(after.0[2]);
            }
            // A velocity off the line is not in the set: a path's end, raised a little.
            let middle = lifts.iter().sum::<f64>() / lifts.len() as f64;
            let after = Tangent::from_slice(&[0.2, 0.5, middle]);
            let set = judge(problem, &after, &options)
                .unwrap()
                .outcome_set
                .unwrap();
            assert!(set.distance > 0.05);
            let Membership::Outside { margin, .. } = set.membership else {
                panic!("{set:?}");
            };
            assert!(
                margin > 1e-3 && margin <= set.distance * (1.0 + 1e-12),
                "{set:?}"
            );
        });
    }
}

/// The block dropped flat with friction: in an elastic bounce all corners open, so nothing was closed when it ended.
#[test]
fn an_elastic_bounce_is_outside_of_the_set() {
    let (mass, contacts) = block(1.0);
    posed(mass, contacts, &[], &[0.0, -1.0, 0.0], |problem| {
        let set = judged(problem, &[0.0, 1.0, 0.0]).outcome_set.unwrap();
        let Membership::Outside { reason, margin } = set.membership else {
            panic!("{set:?}");
        };
        assert_eq!(reason, OutsideReason::AllOpen);
        assert!(set.distance >= margin && margin > 0.5);
    });
}

#[test]
fn a_spatial_impact_is_recognized_with_its_law_of_restitution() {
    use carom_two_body::{ImpactOptions, RestitutionLaw};
    // An oblong body: normal and tangents couple, so that the laws of restitution differ.
    let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 1.0, 0.3, 0.2, 0.25]);
    let contact = Contact::new(Covector::from_slice(&[0.0, 0.0, 1.0, 0.4, -0.5, 0.0]))
        .with_tangents(vec![
            Covector::from_slice(&[1.0, 0.0, 0.0, 0.0, -0.6, -0.4]),
            Covector::from_slice(&[0.0, 1.0, 0.0, 0.6, 0.0, 0.5]),
        ])
        .with_friction(0.3)
        .with_restitution(0.8);
    let before = [0.5, -0.3, -1.0, 0.2, 0.1, -0.4];
    posed(mass, vec![contact], &[], &before, |problem| {
        for restitution_law in [
            RestitutionLaw::Energetic,
            RestitutionLaw::Poisson,
            RestitutionLaw::Newton,
        ] {
            let law = Routh::default()
                .with_options(ImpactOptions::default().with_restitution_law(restitution_law));
            let outcome = law.resolve(problem).unwrap();
            let judgement = judged(problem, outcome.velocity_plus.0.as_slice());
            for name in ["routh", "two-body"] {
                let found = entry(&judgement, name);
                assert!(found.matches && found.distance <= 1e-14);
                assert_eq!(
                    found.restitution.map(|fit| (fit.value, fit.is_fitted)),
                    Some((0.8, false))
                );
                assert!(found.detail.starts_with(restitution_law.name()));
            }
        }
    });
}

/// Kilograms to tons, meters to millimeters: nothing about an outcome changes.
#[test]
fn distances_do_not_depend_on_units() {
    let (mass, contacts) = ball(0.3, 0.5);
    let before = [1.0, 0.4, -2.0, 0.3, -0.1, 0.7];
    let after = [0.8, 0.3, 1.1, 0.5, -0.4, 0.7];
    let reference = posed(mass.clone(), contacts.clone(), &[], &before, |problem| {
        judged(problem, &after)
    });
    let scaled = |v: &[f64]| v.iter().map(|x| x * 1e-3).collect::<Vec<f64>>();
    let other = posed(mass * 1e3, contacts, &[], &scaled(&before), |problem| {
        judged(problem, &scaled(&after))
    });
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12;
    let (a, b) = (&reference.explanation, &other.explanation);
    assert!(close(a.momentum_residual, b.momentum_residual));
    assert!(close(a.friction_residual, b.friction_residual));
    assert!(close(
        reference.energy_ratio.unwrap(),
        other.energy_ratio.unwrap()
    ));
    assert_eq!(reference.laws.len(), other.laws.len());
    for (a, b) in reference.laws.iter().zip(&other.laws) {
        // Golden sections of a smooth minimum end within the root of the rounding.
        assert!(
            (a.distance - b.distance).abs() <= 1e-7,
            "{a:?} against {b:?}"
        );
    }
}

#[test]
fn bad_input_is_refused() {
    cradle(0.0, |problem| {
        let after = |v: &[f64]| {
            judge(problem, &Tangent::from_slice(v), &JudgeOptions::default()).unwrap_err()
        };
        assert!(matches!(after(&[1.0]), ImpactError::Metric(_)));
        assert!(matches!(
            after(&[1.0, f64::NAN, 0.0]),
            ImpactError::Metric(_)
        ));
        assert!(matches!(after(&[1e300, 0.0, 0.0]), ImpactError::Overflow));
        for tolerance in [0.0, -1.0, 1.0, f64::NAN] {
            let options = JudgeOptions::default().with_tolerance(tolerance);
            let after = Tangent::from_slice(&[0.0, 0.0, 1.0]);
            assert!(matches!(
                judge(problem, &after, &options),
                Err(ImpactError::InvalidOption { .. })
            ));
        }
    });
}

#[test]
fn a_problem_in_which_nothing_happens_is_judged_too() {
    let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
    let mass = DMatrix::identity(2, 2);
    posed(
        mass.clone(),
        vec![floor.clone()],
        &[],
        &[1.0, 1.0],
        |problem| {
            let same = judged(problem, &[1.0, 1.0]);
            assert_eq!(
                same.verdict(),
                "Keeps its energy. Nothing approaches, and nothing happens."
            );
            let other = judged(problem, &[1.0, 1.5]);
            assert!(other.verdict().contains("no law changes the velocity"));
        },
    );
    // From rest, and without any contact.
    posed(mass.clone(), vec![floor], &[], &[0.0, 0.0], |problem| {
        let judgement = judged(problem, &[0.0, 1.0]);
        assert_eq!(judgement.energy_ratio, None);
        assert!(judgement.verdict().starts_with("Starts at rest"));
    });
    posed(mass, Vec::new(), &[], &[1.0, 0.0], |problem| {
        let judgement = judged(problem, &[0.0, 0.0]);
        assert!((judgement.explanation.momentum_residual - 1.0).abs() <= 1e-15);
    });
}

/// A wedge that no chain of elastic impacts leaves: refused by the propagative law, not by the
/// others.
#[test]
fn laws_that_do_not_answer_say_why() {
    let walls = [[1.0, 0.0], [-1.0, 0.0]].map(|u| Contact::frictionless(Covector::from_slice(&u)));
    let mass = DMatrix::identity(2, 2);
    posed(mass, walls.to_vec(), &[], &[-1.0, 0.5], |problem| {
        let judgement = judged(problem, &[0.0, 0.5]);
        let refused = &judgement.refused[0];
        assert_eq!(refused.law, "propagative");
        assert_eq!(refused.kind, "no-elastic-outcome");
        assert!(entry(&judgement, "plastic").matches);
        let cone = Plastic::default().resolve(problem).unwrap();
        assert!((cone.velocity_plus.0[0]).abs() <= 1e-15);
    });
}

/// A law that is asked for by name answers or is refused; it is never left out in silence, and it knows its answer.
/// A law whose fit of restitution did not end is not said to differ.
#[test]
fn a_fit_that_the_budget_of_work_ends_is_unknown() {
    let (mass, contacts) = block(0.5);
    let ask = |max_work| {
        let options = JudgeOptions::default()
            .with_max_work(max_work)
            .with_laws(Some(vec![MoreauNewton::default().into()]));
        let after = Tangent::from_slice(&[0.7, 0.3, 0.4]);
        let contacts = contacts.clone();
        let judged = |problem: &ImpactProblem| judge(problem, &after, &options).unwrap();
        posed(mass.clone(), contacts, &[], &[0.3, -1.0, 0.1], judged)
    };
    let whole = ask(JudgeOptions::default().max_work);
    let law = entry(&whole, "moreau-newton");
    assert_eq!((law.verdict, law.is_limited), (LawVerdict::NoMatch, false));
    let part = ask(100_000);
    let law = entry(&part, "moreau-newton");
    assert_eq!((law.verdict, law.is_limited), (LawVerdict::Unknown, true));
}

#[test]
fn laws_asked_for_by_name_say_something() {
    let normals: [&[f64]; 2] = [&[1.0, 0.0], &[-0.3, 1.0]];
    let contacts = normals.map(|u| Contact::frictionless(Covector::from_slice(u)));
    let mass = dmatrix![2.0, 0.3; 0.3, 1.0];
    posed(mass, contacts.to_vec(), &[], &[-1.0, -0.8], |problem| {
        let of_constraints = Law::all().filter(|law| law.info().name.starts_with("nonholonomic"));
        let mut n_matched = 0;
        for law in of_constraints {
            let name = law.info().name;
            let options = JudgeOptions::default().with_laws(Some(vec![law.clone()]));
            let Ok(outcome) = law.as_law().resolve(problem) else {
                continue;
            };
            let judgement = judge(problem, &outcome.velocity_plus, &options).unwrap();
            let entry = entry(&judgement, name);
            assert_eq!(entry.verdict, LawVerdict::Match, "{entry:?}");
            assert!(entry.distance <= 1e-9, "{entry:?}");
            n_matched += 1;
        }
        assert!(n_matched >= 4);
        for law in [Law::from(Routh::default()), TwoBody::default().into()] {
            let name = law.info().name;
            let options = JudgeOptions::default().with_laws(Some(vec![law]));
            let judgement = judge(problem, problem.velocity_minus(), &options).unwrap();
            let refusals: Vec<_> = judgement.refused.iter().map(|r| r.law).collect();
            assert_eq!(refusals, [name]);
        }
    });
}

/// A change that no contact touches may be rounding: it makes no gain of energy, and no momentum from nowhere.
#[test]
fn rounding_of_what_no_contact_touches_is_no_change() {
    let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0, 0.0]));
    for contacts in [vec![floor], Vec::new()] {
        let is_impact = !contacts.is_empty();
        let before = [1.0, -1.0, 1e-18];
        posed(DMatrix::identity(3, 3), contacts, &[], &before, |problem| {
            let bounced = if is_impact { 0.0 } else { -1.0 };
            let judgement = judged(problem, &[1.0 + 1e-16, bounced, 3e-18]);
            let expected = if is_impact {
                EnergyChange::Lost
            } else {
                EnergyChange::Kept
            };
            assert_eq!(judgement.energy_change(), expected);
            assert!(judgement.explanation.friction_residual <= 1e-15);
            assert!(entry(&judgement, "plastic").matches);
            assert!(judgement.outcome_set.unwrap().membership.contains() == Some(true));
        });
    }
}

/// Answers a contact with an impulse of its own, in N s.
#[derive(Debug)]
struct Piston(f64);

impl ImpactLaw for Piston {
    fn name(&self) -> &'static str {
        "piston"
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let mut impulses = vec![0.0; problem.contacts().n_rows()];
        impulses[0] = self.0;
        problem.outcome(&impulses, &Rules::FRICTIONAL)
    }
}

/// A law from outside is asked in the units of the problem, beside the others, and is refused with its reason.
#[test]
fn laws_from_outside_are_compared_under_their_names() {
    let floor = Contact::frictionless(Covector::from_slice(&[0.0, 2.0]));
    for unit in [1e-150, 1.0, 1e3, 1e150] {
        let before = [3.0 * unit, -2.0 * unit];
        posed(
            DMatrix::identity(2, 2),
            vec![floor.clone()],
            &[],
            &before,
            |problem| {
                let options = JudgeOptions::default().with_samples(0);
                let after = Tangent::from_slice(&[3.0 * unit, unit]);
                let ask = |impulse: f64| {
                    let law = Piston(impulse * unit);
                    judge_with(problem, &after, &options, &[&law, &Piston(-unit)]).unwrap()
                };
                let plain = judge(problem, &after, &options).unwrap();
                let judgement = ask(1.5);
                assert_eq!(judgement.laws[..plain.laws.len()], plain.laws);
                assert_eq!(judgement.laws.len(), plain.laws.len() + 1);
                let piston = entry(&judgement, "piston");
                assert_eq!(piston.verdict, LawVerdict::Match, "{piston:?}");
                assert!(piston.distance <= 1e-14);
                let refused = judgement.refused.last().unwrap();
                assert_eq!((refused.law, &*refused.kind), ("piston", "inaccurate"));
                assert_eq!(entry(&ask(1.2), "piston").verdict, LawVerdict::NoMatch);
            },
        );
    }
}
