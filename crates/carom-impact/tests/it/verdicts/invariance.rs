//! Invariance of verdicts: units of rows, far bodies, the order in which things are listed.

use super::{Case, Random};
use carom_contact::{Contact, ContactSet, FrictionCone, ImpactLaw, ImpactProblem};
use carom_impact::frictional::{
    AnitescuPotra, MoreauNewton, Sampler, SamplingProbe, Sequential, SetValued, summarize,
};
use carom_impact::{Nonholonomic, Plastic, Propagative, Restitution, Rough};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;

fn laws() -> Vec<Box<dyn ImpactLaw>> {
    vec![
        Box::new(Propagative::default()),
        Box::new(Plastic::default()),
        Box::new(AnitescuPotra::default()),
        Box::new(MoreauNewton::default()),
        Box::new(Sequential::default()),
        Box::new(Nonholonomic::new(Restitution::Newton(0.3)).unwrap()),
        Box::new(Rough::new(0.5).unwrap()),
    ]
}

/// Answers of two cases, as status or error and the first `n` velocities.
fn agree(law: &dyn ImpactLaw, a: &Case, b: &Case, tolerance: f64, what: &str) {
    let n = a.velocity.len();
    let speed = a.velocity.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
    match (a.resolve(law), b.resolve(law)) {
        (Ok(a), Ok(b)) => {
            assert_eq!(a.status, b.status, "{what}");
            let size = f64::max(a.velocity_plus.0.amax(), speed);
            for k in 0..n {
                let off = (a.velocity_plus.0[k] - b.velocity_plus.0[k]).abs();
                assert!(off <= tolerance * size, "{what}: off by {off:e} in {k}");
            }
        }
        (a, b) => assert_eq!(
            a.err().map(|e| e.kind()),
            b.err().map(|e| e.kind()),
            "{what}"
        ),
    }
}

#[test]
fn units_of_rows_change_no_velocity() {
    let mut random = Random(11);
    let laws = laws();
    for k in 0..400 {
        let tangents = random.below(3);
        let mut case = Case::random(&mut random, 100.0, 2, tangents);
        for contact in &mut case.contacts {
            contact.friction *= random.decades(-1.0, 1.5);
        }
        let mut scaled = case.clone();
        for contact in &mut scaled.contacts {
            let c = random.decades(-3.0, 3.0);
            contact.normal.0 *= c;
            contact.tangents.iter_mut().for_each(|row| row.0 *= c);
        }
        for law in &laws {
            let what = format!("{k} {}", law.name());
            agree(law.as_ref(), &case, &scaled, 1e-7, &what);
        }
    }
}

/// A body elsewhere, given before or after the others.
fn with_bystander(case: &Case, momentum: f64, is_first: bool) -> Case {
    let n = case.velocity.len();
    let at = |k: usize| if is_first { k + 2 } else { k };
    let place = |row: &Covector| {
        let mut entries = vec![0.0; n + 2];
        (0..n).for_each(|k| entries[at(k)] = row.0[k]);
        Covector::from_slice(&entries)
    };
    let mut far = case.clone();
    far.mass = DMatrix::identity(n + 2, n + 2);
    far.velocity = vec![momentum; n + 2];
    for i in 0..n {
        far.velocity[at(i)] = case.velocity[i];
        (0..n).for_each(|j| far.mass[(at(i), at(j))] = case.mass[(i, j)]);
    }
    for contact in &mut far.contacts {
        contact.normal = place(&contact.normal);
        contact.tangents = contact.tangents.iter().map(place).collect();
    }
    far
}

#[test]
fn a_far_body_of_any_momentum_changes_nothing() {
    let mut random = Random(12);
    let laws = laws();
    for k in 0..200 {
        let (n_contacts, tangents) = (1 + random.below(3), random.below(2));
        let case = Case::random(&mut random, 10.0, n_contacts, tangents);
        let momentum = random.decades(0.0, 17.0);
        for law in &laws {
            let what = format!("{k} {} beside {momentum:e}", law.name());
            let last = with_bystander(&case, momentum, false);
            agree(law.as_ref(), &case, &last, 1e-9, &what);
            let mut first = with_bystander(&case, momentum, true);
            let outcome = case.resolve(law.as_ref());
            let other = first.resolve(law.as_ref());
            match (outcome, other) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(a.status, b.status, "{what}");
                    let n = case.velocity.len();
                    let own = b.velocity_plus.0.rows(2, n);
                    let off = (own - &a.velocity_plus.0).amax();
                    let size = case.velocity.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
                    assert!(off <= 1e-9 * size, "{what}: {off:e}");
                }
                (a, b) => assert_eq!(a.err().map(|e| e.kind()), b.err().map(|e| e.kind())),
            }
            first.velocity.clear();
        }
    }
}

#[test]
fn a_slow_approach_beside_a_fast_body_is_an_impact() {
    let case = Case {
        mass: DMatrix::identity(2, 2),
        velocity: vec![-1e-3, 1e17],
        contacts: vec![carom_contact::Contact::frictionless(Covector::from_slice(
            &[1.0, 0.0],
        ))],
    };
    let outcome = case.resolve(&Plastic::default()).unwrap();
    assert_eq!(outcome.status.name(), "resolved");
    assert_eq!(outcome.velocity_plus.0.as_slice(), [0.0, 1e17]);
}

/// The default step is one number on rows of unit kinetic length.
#[test]
fn units_of_rows_change_no_sample() {
    let mut random = Random(13);
    let law = SetValued::default().with_samples(4);
    for k in 0..60 {
        let tangents = random.below(2);
        let case = Case::random(&mut random, 100.0, 2, tangents);
        let mut scaled = case.clone();
        for contact in &mut scaled.contacts {
            let c = random.decades(-3.0, 3.0);
            contact.normal.0 *= c;
            contact.tangents.iter_mut().for_each(|row| row.0 *= c);
        }
        agree(&law, &case, &scaled, 1e-7, &format!("{k}"));
    }
}

/// The body, given last, sliding off a wall of its own.
fn with_sliding_bystander(case: &Case, momentum: f64) -> Case {
    let n = case.velocity.len();
    let mut far = with_bystander(case, momentum, false);
    let mut normal = vec![0.0; n + 2];
    normal[n] = 1.0;
    far.contacts
        .push(Contact::frictionless(Covector::from_slice(&normal)).with_restitution(1.0));
    far
}

#[test]
fn a_far_body_with_a_contact_of_its_own_changes_nothing() {
    let mut random = Random(14);
    let polygon = FrictionCone::Polygon(6);
    let laws: [&dyn ImpactLaw; 6] = [
        &AnitescuPotra::default(),
        &MoreauNewton::default(),
        &Sequential::default(),
        &SetValued::default().with_samples(2),
        &AnitescuPotra::default().with_friction_cone(polygon),
        &SetValued::default()
            .with_samples(2)
            .with_friction_cone(polygon),
    ];
    for k in 0..60 {
        let (n_contacts, tangents) = (1 + random.below(3), random.below(3));
        let case = Case::random(&mut random, 10.0, n_contacts, tangents);
        let momentum = random.decades(10.0, 17.0);
        let far = with_sliding_bystander(&case, momentum);
        for law in laws {
            let what = format!("{k} {} beside {momentum:e}", law.name());
            agree(law, &case, &far, 1e-9, &what);
        }
    }
}

/// Statistics of samples do not depend on a body that the impact does not reach.
#[test]
fn a_far_body_changes_no_statistics_of_samples() {
    let mut random = Random(15);
    let case = Case::random(&mut random, 10.0, 2, 1);
    let law = SetValued::default().with_samples(64);
    let told = |case: &Case| {
        case.pose(|problem| {
            let sampler = Sampler::new(problem, &law).unwrap();
            let summary = summarize(&sampler, &|_, _| {}).unwrap();
            let probe = SamplingProbe::new(&sampler, &summary).unwrap();
            (summary, probe)
        })
    };
    let (summary, probe) = told(&case);
    let (beside, beside_probe) = told(&with_sliding_bystander(&case, 1e16));
    assert_eq!(summary.histogram, beside.histogram);
    assert_eq!(summary.at_rest, beside.at_rest);
    let (coverage, beside_coverage) = (summary.coverage.unwrap(), beside.coverage.unwrap());
    assert_eq!(coverage.cells, beside_coverage.cells);
    assert_eq!(probe.ambiguous_steps, beside_probe.ambiguous_steps);
    let mut gaps = probe.gap_to_extremes.iter();
    let beside_gaps = &beside_probe.gap_to_extremes;
    for gap in beside_gaps.iter().take(probe.gap_to_extremes.len()) {
        assert!((gap - gaps.next().unwrap()).abs() <= 1e-9);
    }
    assert_eq!(beside_gaps.last(), Some(&0.0));
}

/// A constraint shares nothing with a body that it does not hold: not even rounding.
#[test]
fn a_far_body_changes_nothing_under_constraints() {
    let metric = |n| KineticMetric::new(DMatrix::identity(n, n)).unwrap();
    let own = [0.5, -0.3, 0.7];
    for law in [Restitution::Elastic, Restitution::Newton(0.3)] {
        let plus = |far: Option<f64>| {
            // The constraint w = -(0.6 u + 0.8 v) for coordinates (far, u, v, w).
            let far: Vec<f64> = far.into_iter().collect();
            let at = |entries: [f64; 3]| {
                let mut row = vec![0.0; far.len()];
                row.extend(entries);
                row
            };
            let mut velocity = far.clone();
            velocity.extend([own[0], own[1], -(0.6 * own[0] + 0.8 * own[1])]);
            let metric = metric(velocity.len());
            let wall = Contact::frictionless(Covector::from_slice(&at([-0.9, 0.1, 0.3])));
            let form = Covector::from_slice(&at([0.6, 0.8, 1.0]));
            let contacts = ContactSet::constrained(&metric, vec![wall], vec![form]).unwrap();
            let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&velocity)).unwrap();
            let outcome = Nonholonomic::new(law).unwrap().resolve(&problem).unwrap();
            outcome.velocity_plus.0.as_slice()[far.len()..].to_vec()
        };
        let alone = plus(None);
        for momentum in [1e12, 1e17] {
            for (a, b) in alone.iter().zip(plus(Some(momentum))) {
                assert!((a - b).abs() <= 1e-14, "{law:?} {momentum:e}: {a} and {b}");
            }
        }
    }
}

/// Nothing happens where nothing approaches, not even to the rounding of a constraint.
#[test]
fn a_separating_velocity_stays_to_the_bit() {
    let metric = KineticMetric::new(DMatrix::identity(3, 3)).unwrap();
    let wall = Contact::frictionless(Covector::from_slice(&[0.8, 0.4, 2.3]));
    let forms = vec![
        Covector::from_slice(&[0.0, -1.0, 0.0]),
        Covector::from_slice(&[1.0, -1.0, 0.0]),
    ];
    let contacts = ContactSet::constrained(&metric, vec![wall], forms).unwrap();
    let velocity = Tangent::from_slice(&[-1e-28, 1.7e-29, 1.3]);
    let problem = ImpactProblem::new(&contacts, velocity.clone()).unwrap();
    let outcome = MoreauNewton::default().resolve(&problem).unwrap();
    assert_eq!(outcome.status.name(), "separating");
    assert_eq!(outcome.velocity_plus, velocity);
}

/// Two walls that meet at a thousandth of a radian take a thousand times the impulse that stops a
/// contact alone.
#[test]
fn samples_of_a_steep_wedge_end() {
    let angle: f64 = 1e-3;
    let wall = |side: f64| Contact::new(Covector::from_slice(&[side * angle.cos(), angle.sin()]));
    let case = Case {
        mass: DMatrix::identity(2, 2),
        velocity: vec![0.0, -1.0],
        contacts: vec![wall(1.0), wall(-1.0)],
    };
    let outcome = case.resolve(&SetValued::default()).unwrap();
    let impulse = outcome.impulses[0] + outcome.impulses[1];
    assert!((impulse * angle.sin() - 1.0).abs() < 1e-9, "{impulse}");
    assert!(outcome.velocity_plus.0.amax() < 1e-6);
}

/// A constraint on coordinates that no contact reaches: rounding of the impact before is no violation.
#[test]
fn rounding_of_what_no_contact_touches_violates_no_constraint() {
    let metric = KineticMetric::new(DMatrix::identity(4, 4)).unwrap();
    let row = Covector::from_slice;
    let wall = Contact::frictionless(row(&[1.0, 0.0, 0.0, 0.0]));
    let form = row(&[0.0, 1.0, -1.0, 0.0]);
    let contacts = ContactSet::constrained(&metric, vec![wall], vec![form]).unwrap();
    let pose = |rest: f64| {
        let velocity = Tangent::from_slice(&[-1.0, rest, 0.0, 1.0]);
        ImpactProblem::new(&contacts, velocity)
    };
    for law in laws() {
        let problem = pose(1e-17).unwrap();
        let outcome = law.resolve(&problem).unwrap();
        assert_eq!(outcome.status.name(), "resolved", "{}", law.name());
    }
    assert_eq!(pose(1e-9).unwrap_err().kind(), "constraint-violated");
}

/// Balls in a train: what passes between them is not rounded to the speed of the train, which stays to the last bit.
#[test]
fn an_impact_in_a_fast_train_is_that_in_one_at_rest() {
    let case = |train: f64| Case {
        mass: DMatrix::from_diagonal(&nalgebra::dvector![1.0, 3.0, 1.0, 2.0]),
        velocity: vec![train + 1.0, train, train - 0.5, train],
        contacts: [[-1.0, 1.0, 0.0, 0.0], [0.0, -1.0, 1.0, 0.0]]
            .iter()
            .map(|row| Contact::frictionless(Covector::from_slice(row)))
            .collect(),
    };
    // A power of two: the speeds are exact.
    for train in [2f64.powi(17), 2f64.powi(30)] {
        for law in laws() {
            let rest = case(0.0).resolve(law.as_ref()).unwrap();
            let moving = case(train).resolve(law.as_ref()).unwrap();
            let own = moving.velocity_plus.0.add_scalar(-train);
            // Contacts that approach by less than 64 units of rounding of the train graze, and chains end with them.
            let limit = 512.0 * f64::EPSILON * train;
            let off = (own - &rest.velocity_plus.0).amax();
            assert!(off <= limit, "{} {off:e}", law.name());
            let off = (&moving.impulses - &rest.impulses).amax();
            assert!(off <= limit, "{} {off:e}", law.name());
            assert_eq!(moving.velocity_plus.0[3], train);
        }
    }
}
