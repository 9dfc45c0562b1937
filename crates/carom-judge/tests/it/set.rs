//! Membership in the set of inelastic frictional outcomes: witnesses and proofs.

use crate::support::systems::{
    System, box_and_wall, compass_gait, contact, disk_stack, rocking_block,
};
use carom_contact::{Contact, ContactSet, FrictionCone, ImpactLaw, ImpactProblem, SetValuedLaw};
use carom_impact::frictional::{
    AnitescuPotra, BranchPolicy, CapDistribution, CounterRng, Sequential, SetValued,
    all_simultaneous,
};
use carom_judge::{
    JudgeOptions, LawVerdict, Membership, OutsideReason, SetVerdict, Witness, WitnessCone, judge,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};

/// A box in space on four corners, its sides 1 m, `depth` and `height`.
fn box_in_space(depth: f64, height: f64, velocity: &[f64; 6]) -> System {
    let (a, b, c) = (1.0, depth, height);
    let inertia = [b * b + c * c, a * a + c * c, a * a + b * b].map(|x| x / 12.0);
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![
        1.0, 1.0, 1.0, inertia[0], inertia[1], inertia[2],
    ]));
    let corner = |sx: f64, sy: f64| {
        // The velocity of a corner is v + omega x r.
        let (x, y, z) = (0.5 * sx * a, 0.5 * sy * b, -0.5 * c);
        contact(
            &[0.0, 0.0, 1.0, y, -x, 0.0],
            &[&[1.0, 0.0, 0.0, 0.0, z, -y], &[0.0, 1.0, 0.0, -z, 0.0, x]],
            0.5,
        )
    };
    let contacts = vec![
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ];
    System::new(mass, contacts, velocity)
}

/// The systems, and the fraction of their members that must be recognized.
fn systems() -> Vec<(&'static str, System, f64)> {
    vec![
        ("rocking block", rocking_block(), 1.0),
        ("compass gait", compass_gait(), 1.0),
        ("box and wall", box_and_wall(), 1.0),
        ("disk stack", disk_stack(1.0), 0.96),
        (
            "flat box",
            box_in_space(1.5, 2.0, &[0.4, 0.1, -0.5, 0.2, 0.1, 0.3]),
            0.96,
        ),
        (
            "tilted box",
            box_in_space(0.8, 0.5, &[0.7, -0.3, -1.0, 0.8, -0.5, 0.2]),
            0.96,
        ),
    ]
}

/// Members drawn with other seeds, steps and caps than the search uses.
fn members(
    system: &System,
    problem: &ImpactProblem,
    friction_cone: FrictionCone,
    count: u64,
) -> Vec<Tangent> {
    let uniform = SetValued::default()
        .with_friction_cone(friction_cone)
        .with_impulse_step(Some(system.impulse_step))
        .with_samples(count / 2)
        .with_seed(4711)
        .with_max_steps(100);
    let mixed = uniform
        .clone()
        .with_impulse_step(Some(0.37 * system.impulse_step))
        .with_seed(815)
        .with_branch(BranchPolicy::RandomCovering { spread: 4.0 })
        .with_caps(CapDistribution::Mixed { off: 0.3 });
    [uniform, mixed]
        .iter()
        .flat_map(|law| law.resolve_all(problem).unwrap().outcomes)
        .map(|outcome| outcome.velocity_plus)
        .collect()
}

/// Polygons in space, exact cones in the plane.
fn options(system: &System) -> JudgeOptions {
    JudgeOptions::default().with_friction_cone(cone(system))
}

fn cone(system: &System) -> FrictionCone {
    let is_spatial = system.contacts.iter().any(|c| c.tangents.len() == 2);
    FrictionCone::Polygon(if is_spatial { 4 } else { 2 })
}

fn judged(system: &System, problem: &ImpactProblem, after: &Tangent) -> SetVerdict {
    let judgement = judge(problem, after, &options(system)).unwrap();
    judgement.outcome_set.unwrap()
}

/// The definition of a chain of steps, from the mass matrix and the rows as they were given.
fn assert_chain(system: &System, after: &Tangent, witness: &Witness, what: &str) {
    let Witness::Steps { cone, steps } = witness else {
        panic!("{what}: {witness:?}");
    };
    let WitnessCone::Polygon(k) = *cone else {
        panic!("{what}: {cone:?}");
    };
    let inverse = system.metric.mass_matrix().clone().try_inverse().unwrap();
    let speed = 2.0 * system.velocity.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut velocity = DVector::from_column_slice(&system.velocity);
    for impulses in steps {
        let mut row = 0;
        let mut momentum = DVector::zeros(velocity.len());
        for Contact {
            normal, tangents, ..
        } in &system.contacts
        {
            for covector in std::iter::once(normal).chain(tangents) {
                momentum += &covector.0 * impulses[row];
                row += 1;
            }
        }
        velocity += &inverse * momentum;
        let mut row = 0;
        for contact in &system.contacts {
            let normal = impulses[row];
            let tau = &impulses.as_slice()[row + 1..row + 1 + contact.tangents.len()];
            row += 1 + contact.tangents.len();
            assert!(normal >= -1e-9, "{what}: pulls {normal}");
            if normal > 1e-9 {
                let b = contact.normal.0.dot(&velocity);
                assert!(b <= 1e-8 * speed, "{what}: pushes while it opens, {b}");
            }
            let limit = contact.friction * normal;
            let sliding: Vec<f64> = contact
                .tangents
                .iter()
                .map(|t| t.0.dot(&velocity))
                .collect();
            let directions: Vec<Vec<f64>> = (0..k)
                .map(|j| {
                    let angle = std::f64::consts::TAU * j as f64 / k as f64;
                    [angle.cos(), angle.sin()][..tau.len()].to_vec()
                })
                .collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let most = directions
                .iter()
                .map(|d| -dot(d, &sliding))
                .fold(0.0, f64::max);
            let lack = dot(tau, &sliding) + limit * most;
            assert!(
                lack <= 1e-8 * limit.max(1e-3) * speed,
                "{what}: dissipates less by {lack}"
            );
            // Within the polygon: no direction between two corners reaches farther than they do.
            let half = std::f64::consts::PI / k as f64;
            let reach = if tau.len() == 1 {
                tau[0].abs()
            } else {
                (0..k)
                    .map(|j| half * (2 * j + 1) as f64)
                    .map(|a| dot(tau, &[a.cos(), a.sin()]) / half.cos())
                    .fold(0.0, f64::max)
            };
            assert!(
                reach <= limit + 1e-8 * limit.max(1.0),
                "{what}: {reach} > {limit}"
            );
        }
    }
    for contact in &system.contacts {
        assert!(contact.normal.0.dot(&velocity) >= -1e-9 * speed);
    }
    let error = (velocity - &after.0).amax();
    assert!(error <= 1e-8 * speed, "{what}: ends {error} away");
}

/// Samples of other seeds, step sizes, caps and branches than those of the search.
#[test]
fn members_are_recognized_and_proven() {
    recognize(8);
}

/// Recognition of many samples: `cargo test --release -- --ignored --nocapture`.
#[test]
#[ignore = "a tally of 600 members"]
fn many_members_are_recognized_and_proven() {
    recognize(100);
}

fn recognize(count: u64) {
    for (name, system, share) in systems() {
        system.pose(|problem| {
            let members = members(&system, problem, cone(&system), count);
            let mut inside = 0;
            for (k, after) in members.iter().enumerate() {
                let set = judged(&system, problem, after);
                match &set.membership {
                    Membership::Inside(witness) => {
                        inside += 1;
                        let what = format!("{name} {k}");
                        witness.check(problem, after).unwrap();
                        assert_chain(&system, after, witness, &what);
                    }
                    Membership::Outside { reason, margin } => {
                        panic!("{name} {k}: outside, {reason:?} {margin}")
                    }
                    _ => {}
                }
            }
            let found = inside as f64 / members.len() as f64;
            println!("{name}: {inside} of {}", members.len());
            assert!(found >= share, "{name}: {inside} of {}", members.len());
        });
    }
}

/// Recognition in round cones, where directions of sliding are not given in advance.
#[test]
fn members_in_round_cones_are_recognized_and_proven() {
    recognize_round(6, 5.0 / 6.0);
}

/// Recognition of many samples: `cargo test --release -- --ignored --nocapture`.
#[test]
#[ignore = "a tally of 200 members"]
fn many_members_in_round_cones_are_recognized_and_proven() {
    recognize_round(100, 0.96);
}

fn recognize_round(count: u64, share: f64) {
    for (name, system, _) in systems().split_off(4) {
        system.pose(|problem| {
            let members = members(&system, problem, FrictionCone::Round, count);
            let mut inside = 0;
            for (k, after) in members.iter().enumerate() {
                let judgement = judge(problem, after, &JudgeOptions::default()).unwrap();
                let set = judgement.outcome_set.unwrap();
                match &set.membership {
                    Membership::Inside(witness) => {
                        inside += 1;
                        witness.check(problem, after).unwrap();
                    }
                    Membership::Outside { reason, margin } => {
                        panic!("{name} {k}: outside, {reason:?} {margin}")
                    }
                    _ => {
                        println!("{name} {k}: {:e} away", set.distance);
                    }
                }
            }
            let found = inside as f64 / members.len() as f64;
            println!("{name}: {inside} of {}", members.len());
            assert!(found >= share, "{name}: {inside} of {}", members.len());
        });
    }
}

/// Contacts in space at which every velocity of every row is free: members of random systems lie in thin sets, and a
/// chain that ends at one exactly is nearly singular.
#[test]
fn members_of_random_systems_in_round_cones_are_recognized() {
    let mut missed = Vec::new();
    for k in 0..24 {
        let mut rng = CounterRng::new(7, k, 0);
        let mut draw = || 2.0 * rng.next_uniform() - 1.0;
        let n = 6;
        let root = DMatrix::from_fn(n, n, |_, _| draw());
        let mass = &root * root.transpose() + DMatrix::identity(n, n) * 0.3;
        let mut row = || (0..n).map(|_| draw()).collect::<Vec<f64>>();
        let contacts = (0..2).map(|i| contact(&row(), &[&row(), &row()], 0.3 + 0.4 * f64::from(i)));
        let contacts: Vec<Contact> = contacts.collect();
        let mut velocity = row();
        let closing = contacts[0]
            .normal
            .0
            .dot(&DVector::from_column_slice(&velocity));
        velocity.iter_mut().for_each(|v| *v *= -closing.signum());
        let system = System::new(mass, contacts, &velocity);
        system.pose(|problem| {
            let law = SetValued::default().with_samples(1).with_seed(100 + k);
            let after = law
                .resolve_all(problem)
                .unwrap()
                .outcomes
                .remove(0)
                .velocity_plus;
            let judgement = judge(problem, &after, &JudgeOptions::default()).unwrap();
            let set = judgement.outcome_set.unwrap();
            match &set.membership {
                Membership::Inside(witness) => witness.check(problem, &after).unwrap(),
                Membership::Outside { .. } => panic!("{k}: {set:?}"),
                _ => missed.push((k, set.distance)),
            }
        });
    }
    assert!(missed.len() <= 1, "{missed:?}");
}

fn simultaneous(system: &System) -> AnitescuPotra {
    AnitescuPotra::default().with_friction_cone(cone(system))
}

/// Round cones: the answers of the laws prove themselves.
#[test]
fn answers_in_round_cones_are_members() {
    for (name, system, _) in systems().split_off(4) {
        system.pose(|problem| {
            let mut answers = vec![
                ("anitescu-potra", AnitescuPotra::default().resolve(problem)),
                ("set-valued", SetValued::default().resolve(problem)),
            ];
            for order in [vec![0, 1, 2, 3], vec![2, 0, 3, 1]] {
                let law = Sequential::default().with_order(order);
                answers.push(("sequential", law.resolve(problem)));
            }
            for (law, answer) in answers {
                let after = answer.unwrap().velocity_plus;
                let judgement = judge(problem, &after, &JudgeOptions::default()).unwrap();
                let set = judgement.outcome_set.as_ref().unwrap();
                let Membership::Inside(witness) = &set.membership else {
                    panic!("{name}, {law}: {set:?}");
                };
                witness.check(problem, &after).unwrap();
                let found = judgement
                    .laws
                    .iter()
                    .find(|entry| entry.law == law)
                    .unwrap();
                assert_eq!(found.verdict, LawVerdict::Match, "{name}: {found:?}");
            }
        });
    }
}

/// Answers of the laws themselves are never in doubt.
#[test]
fn answers_of_the_laws_are_members_and_matches() {
    for (name, system, _) in systems() {
        system.pose(|problem| {
            let m = problem.contacts().len();
            let mut answers = vec![("anitescu-potra", simultaneous(&system).resolve(problem))];
            for k in 0..m {
                let order: Vec<usize> = (0..m).map(|i| (i + k) % m).collect();
                let law = Sequential::default()
                    .with_order(order.into_iter().rev().collect())
                    .with_friction_cone(cone(&system));
                answers.push(("sequential", law.resolve(problem)));
            }
            for seed in 0..3 {
                let law = SetValued::default()
                    .with_seed(seed)
                    .with_friction_cone(cone(&system));
                answers.push(("set-valued", law.resolve(problem)));
            }
            if name != "flat box" && name != "tilted box" {
                for solution in all_simultaneous(problem).unwrap() {
                    answers.push(("anitescu-potra", Ok(solution.outcome)));
                }
            }
            for (law, answer) in answers {
                let after = answer.unwrap().velocity_plus;
                let judgement = judge(problem, &after, &options(&system)).unwrap();
                let set = judgement.outcome_set.as_ref().unwrap();
                let Membership::Inside(witness) = &set.membership else {
                    panic!("{name}, {law}: {set:?}");
                };
                assert_chain(&system, &after, witness, name);
                let found = judgement
                    .laws
                    .iter()
                    .find(|entry| entry.law == law)
                    .unwrap();
                assert!(found.distance <= 1e-9, "{name}, {law}: {found:?}");
                assert_eq!(found.verdict, LawVerdict::Match);
            }
        });
    }
}

/// Velocities that no chain of steps makes, each with the reason that it shows most plainly.
#[test]
fn what_no_chain_makes_is_outside_for_the_right_reason() {
    for (name, system, _) in systems() {
        system.pose(|problem| {
            let rest = simultaneous(&system).resolve(problem).unwrap();
            let end = &rest.velocity_plus.0;
            let before = DVector::from_column_slice(&system.velocity);
            let lift = |speed: f64| {
                // The velocity change that opens every contact, by impulses that push.
                let mut opened = end.clone();
                let inverse = system.metric.mass_matrix().clone().try_inverse().unwrap();
                for contact in &system.contacts {
                    opened += &inverse * &contact.normal.0 * speed;
                }
                opened
            };
            let outside = |after: &DVector<f64>| {
                let set = judged(&system, problem, &Tangent(after.clone()));
                match set.membership {
                    Membership::Outside { reason, margin } => {
                        // Every member is that far: those that are known are.
                        assert!(set.distance >= margin, "{name}: {set:?}");
                        Some(reason)
                    }
                    _ => None,
                }
            };
            assert_eq!(outside(&before), Some(OutsideReason::Penetrates), "{name}");
            let faster = lift(100.0);
            assert_eq!(outside(&faster), Some(OutsideReason::Energy), "{name}");
        });
    }
    // A block that bounces, slides less than friction can make it, and moves by itself.
    let block = rocking_block();
    let speed = -block.velocity[1];
    block.pose(|problem| {
        let reason =
            |v: [f64; 3]| match judged(&block, problem, &Tangent::from_slice(&v)).membership {
                Membership::Outside { reason, .. } => Some(reason),
                _ => None,
            };
        assert_eq!(
            reason([0.0, 0.5 * speed, 0.0]),
            Some(OutsideReason::AllOpen)
        );
        assert_eq!(reason([0.0, 1.5 * speed, 0.0]), Some(OutsideReason::Energy));
    });
    // One corner of a smooth floor: nothing pushes sideways, and one contact only so much.
    let point = System::new(
        DMatrix::identity(3, 3),
        vec![contact(&[0.0, 1.0, 0.0], &[&[1.0, 0.0, 0.0]], 0.3)],
        &[1.0, -1.0, 0.2],
    );
    point.pose(|problem| {
        let reason =
            |v: [f64; 3]| match judged(&point, problem, &Tangent::from_slice(&v)).membership {
                Membership::Outside { reason, .. } => Some(reason),
                _ => None,
            };
        assert_eq!(reason([0.6, 0.0, 0.2]), Some(OutsideReason::FrictionCone));
        assert_eq!(reason([0.7, 0.0, 0.1]), Some(OutsideReason::Momentum));
        assert_eq!(reason([0.7, 0.0, 0.2]), None);
        assert_eq!(reason([0.7, 0.1, 0.2]), Some(OutsideReason::AllOpen));
    });
}

/// A system and a body elsewhere that flies with some speed.
fn with_body_elsewhere(system: &System, speed: f64) -> System {
    let n = system.velocity.len();
    let mass = system.metric.mass_matrix();
    let mass = DMatrix::from_fn(n + 1, n + 1, |i, j| match (i < n, j < n) {
        (true, true) => mass[(i, j)],
        _ => f64::from(i == j),
    });
    let wider = |row: &[f64]| [row, &[0.0]].concat();
    let contacts = system.contacts.iter().map(|given| {
        let tangents: Vec<Vec<f64>> = given
            .tangents
            .iter()
            .map(|t| wider(t.0.as_slice()))
            .collect();
        let tangents: Vec<&[f64]> = tangents.iter().map(Vec::as_slice).collect();
        contact(&wider(given.normal.0.as_slice()), &tangents, given.friction)
    });
    let velocity = [system.velocity.as_slice(), &[speed]].concat();
    System::new(mass, contacts.collect(), &velocity)
}

/// A body elsewhere that flies a million times as fast changes nothing about who is a member.
#[test]
fn a_fast_body_elsewhere_hides_no_member() {
    for (name, system, _) in systems() {
        let own = system.pose(|problem| members(&system, problem, cone(&system), 6));
        let speed = 1e6;
        let beside = with_body_elsewhere(&system, speed);
        beside.pose(|problem| {
            for (k, member) in own.iter().enumerate() {
                let after = Tangent::from_slice(&[member.0.as_slice(), &[speed]].concat());
                let set = judged(&beside, problem, &after);
                assert!(
                    matches!(set.membership, Membership::Inside(_)),
                    "{name} {k}: {set:?}"
                );
            }
        });
    }
}

/// Nor does it make a match of a velocity that is no answer: distances, fits and margins are those without it.
#[test]
fn a_fast_body_elsewhere_excuses_nothing() {
    let mut rng = CounterRng::new(77, 1, 0);
    for (name, system, _) in systems() {
        let member = system.pose(|problem| members(&system, problem, cone(&system), 2).remove(0));
        let n = system.velocity.len();
        let mut wrong: Vec<Vec<f64>> = vec![system.velocity.clone()];
        wrong.push(system.velocity.iter().map(|v| -1.01 * v).collect());
        for error in [1e-7, 1e-4, 1e-2] {
            let off = member
                .0
                .iter()
                .map(|v| v + error * (rng.next_uniform() - 0.5));
            wrong.push(off.collect());
        }
        let few = options(&system).with_samples(8);
        for after in wrong {
            let alone =
                system.pose(|problem| judge(problem, &Tangent::from_slice(&after), &few).unwrap());
            assert!(alone.outcome_set.as_ref().unwrap().membership.contains() != Some(true));
            for speed in [1e5, 1e15] {
                let beside = with_body_elsewhere(&system, speed);
                let after = Tangent::from_slice(&[after.as_slice(), &[speed]].concat());
                let found = beside.pose(|problem| judge(problem, &after, &few).unwrap());
                let what = format!("{name} beside {speed:e}: {}", found.verdict());
                let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                let (fit, own) = (&found.explanation, &alone.explanation);
                assert!(
                    is_near(fit.momentum_residual, own.momentum_residual),
                    "{what}"
                );
                assert!(is_near(fit.pull_residual, own.pull_residual), "{what}");
                assert!(
                    is_near(fit.friction_residual, own.friction_residual),
                    "{what}"
                );
                assert!(
                    is_near(
                        found.audit.penetration_residual,
                        alone.audit.penetration_residual
                    ),
                    "{what}"
                );
                assert!((&fit.impulses - &own.impulses).amax() <= 1e-9, "{what}");
                assert_eq!(found.energy_change(), alone.energy_change(), "{what}");
                for law in &alone.laws {
                    let same = found
                        .laws
                        .iter()
                        .find(|other| other.law == law.law)
                        .unwrap();
                    assert_eq!(same.verdict, law.verdict, "{what}: {}", law.law);
                    if law.law != "set-valued" {
                        assert!(is_near(same.distance, law.distance), "{what}: {}", law.law);
                        let own = same.velocity_plus.0.rows(0, n);
                        assert!((own - &law.velocity_plus.0).amax() <= 1e-7, "{what}");
                        assert_eq!(same.velocity_plus.0[n], speed, "{what}");
                    }
                }
                let sets = [&found, &alone].map(|j| &j.outcome_set.as_ref().unwrap().membership);
                match sets {
                    [
                        Membership::Outside { reason, margin },
                        Membership::Outside {
                            reason: own_reason,
                            margin: own_margin,
                        },
                    ] => {
                        assert_eq!(reason, own_reason, "{what}");
                        assert!(is_near(*margin, *own_margin), "{what}");
                    }
                    [found, own] => assert_eq!(found.name(), own.name(), "{what}"),
                }
            }
        }
    }
}

/// A witness with a fault is refused.
#[test]
fn false_witnesses_are_refused() {
    let system = rocking_block();
    system.pose(|problem| {
        let after = members(&system, problem, cone(&system), 8).remove(1);
        let set = judged(&system, problem, &after);
        let Membership::Inside(Witness::Steps { cone, steps }) = set.membership else {
            panic!("{set:?}");
        };
        let checked =
            |steps: Vec<DVector<f64>>| Witness::Steps { cone, steps }.check(problem, &after);
        checked(steps.clone()).unwrap();
        for row in 0..4 {
            let mut changed = steps.clone();
            changed[0][row] += 1e-3;
            assert!(checked(changed).is_err());
        }
        let mut pulling = steps.clone();
        pulling.push(DVector::from_vec(vec![-1e-3, 0.0, 0.0, 0.0]));
        pulling.push(DVector::from_vec(vec![1e-3, 0.0, 0.0, 0.0]));
        assert!(checked(pulling).is_err());
        assert!(checked(vec![DVector::zeros(3)]).is_err());
        assert!(Witness::Separating.check(problem, &after).is_err());
    });
}

/// A particle slides on a floor with friction 0.3: the residual of a step is that of its worst rule, in closed form.
#[test]
fn the_residual_of_a_witness_is_its_worst_rule_on_own_terms() {
    let row = Covector::from_slice;
    let floor = Contact::new(row(&[0.0, 0.0, 1.0]))
        .with_tangents(vec![row(&[1.0, 0.0, 0.0]), row(&[0.0, 1.0, 0.0])])
        .with_friction(0.3);
    let metric = KineticMetric::new(DMatrix::identity(3, 3)).unwrap();
    let contacts = ContactSet::new(&metric, vec![floor]).unwrap();
    let velocity = Tangent::from_slice(&[1.0, 0.0, -1.0]);
    let problem = ImpactProblem::new(&contacts, velocity).unwrap();
    let residual = |impulse: [f64; 3]| {
        let steps = vec![DVector::from_column_slice(&impulse)];
        let cone = WitnessCone::Round;
        let witness = Witness::Steps { cone, steps };
        witness.residual(&problem).unwrap().unwrap()
    };
    assert!(residual([1.0, -0.3, 0.0]) <= 1e-15);
    let small = 1e-5f64;
    // Pushes while it opens: small over the sum of 1 before, 1 made and small after.
    let opens = residual([1.0 + small, -0.3 * (1.0 + small), 0.0]);
    assert!((opens / (small / 2.0) - 1.0).abs() <= 1e-4, "{opens:e}");
    // Friction at an angle: the sliding turns, too, at a speed of 0.7 whose terms are 1, 0.7 and 0.3.
    let (s, c) = small.sin_cos();
    let turned = residual([1.0, -0.3 * c, -0.3 * s]);
    let expected = small * (1.0 + 0.3 / 0.7) / (1.0 + 10.0 * 2.0 / 0.7);
    assert!((turned / expected - 1.0).abs() <= 1e-3, "{turned:e}");
    assert!(Witness::Separating.residual(&problem).unwrap().is_none());
}
