//! Impacts without an answer, with their proof, and impacts with several isolated answers.

use crate::support::systems::System;
use carom_contact::{Contact, ImpactError, ImpactLaw, ImpactOutcome, Warning};
use carom_impact::frictional::{ConeSelection, MoreauNewton, Poisson};
use carom_metric::Covector;
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};

fn contact(normal: &[f64], tangents: &[&[f64]], friction: f64) -> Contact {
    let rows = tangents.iter().map(|t| Covector::from_slice(t));
    Contact::new(Covector::from_slice(normal))
        .with_tangents(rows.collect::<Vec<_>>())
        .with_friction(friction)
        .with_restitution(1.0)
}

/// Two rows with one normal and different tangents: with the first one closed the point slips along the second, and the reverse.
fn doubled() -> System {
    let contacts = vec![
        contact(&[-1.0, 0.0], &[&[0.0, -2.0]], 1.0),
        contact(&[-1.0, 0.0], &[&[2.0, -2.0]], 2.0),
    ];
    System::new(DMatrix::identity(2, 2), contacts, &[1.0, -1.0])
}

/// Two systems beside each other.
fn beside(a: &System, b: &System) -> System {
    let n = a.velocity.len();
    let padded = |row: &Covector, first: usize| {
        let mut wide = DVector::zeros(n + b.velocity.len());
        wide.rows_mut(first, row.0.len()).copy_from(&row.0);
        Covector(wide)
    };
    let of = |system: &System, first: usize| {
        let wide = |c: &Contact| {
            let tangents = c.tangents.iter().map(|t| padded(t, first));
            c.clone()
                .with_normal(padded(&c.normal, first))
                .with_tangents(tangents.collect::<Vec<_>>())
        };
        system.contacts.iter().map(wide).collect::<Vec<_>>()
    };
    let velocity = [a.velocity.clone(), b.velocity.clone()].concat();
    let mass = DMatrix::identity(velocity.len(), velocity.len());
    System::new(mass, [of(a, 0), of(b, n)].concat(), &velocity)
}

fn outcomes(system: &System, law: &dyn ImpactLaw) -> Vec<ImpactOutcome> {
    match system.pose(|problem| law.resolve(problem)) {
        Err(ImpactError::Ambiguous { outcomes }) => outcomes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn isolated_outcomes_are_all_told_and_the_first_has_the_least_energy() {
    let system = doubled();
    let law = MoreauNewton::default();
    let all = outcomes(&system, &law);
    let velocities = [[-1.0, 0.0], [-1.0, -1.0]];
    assert_eq!(all.len(), 2);
    for (outcome, expected) in all.iter().zip(velocities) {
        let missed = &outcome.velocity_plus.0 - DVector::from_column_slice(&expected);
        assert!(missed.amax() <= 1e-14);
        assert!(outcome.warnings().contains(&Warning::NotUnique));
    }
    let first = law.with_selection(ConeSelection::First);
    let outcome = system.pose(|problem| first.resolve(problem)).unwrap();
    assert_eq!(outcome.velocity_plus, all[0].velocity_plus);
    assert!(outcome.warnings().contains(&Warning::NotUnique));
    // Outcomes of independent parts combine.
    let pairs = outcomes(&beside(&system, &system), &law);
    assert_eq!(pairs.len(), 4);
    let energies: Vec<f64> = pairs.iter().map(|o| o.audit.energy_plus_j).collect();
    let expected = [1.0, 1.5, 1.5, 2.0];
    let same = energies.iter().zip(expected);
    assert!(same.into_iter().all(|(a, b)| (a - b).abs() <= 1e-14));
}

/// Compressions that differ lead to outcomes that differ.
#[test]
fn isolated_compressions_are_expanded_one_by_one() {
    let rows = [
        (([-1.0, 2.0, 2.0], [0.0, 1.0, 2.0]), 2.0, 0.0),
        (([-2.0, 0.0, -2.0], [-1.0, 1.0, 0.0]), 0.5, 1.0),
        (([-1.0, -1.0, -2.0], [1.0, -2.0, -1.0]), 2.0, 0.5),
    ];
    let contacts = rows.map(|((normal, tangent), friction, restitution)| {
        contact(&normal, &[&tangent], friction).with_restitution(restitution)
    });
    let system = System::new(
        DMatrix::identity(3, 3),
        contacts.to_vec(),
        &[2.0, -2.0, 1.0],
    );
    let all = outcomes(&system, &Poisson::default());
    assert!(all.len() >= 2);
    for (k, outcome) in all.iter().enumerate() {
        assert!(outcome.audit.energy_plus_j <= outcome.audit.energy_minus_j);
        for other in &all[..k] {
            let far = &outcome.velocity_plus.0 - &other.velocity_plus.0;
            assert!(far.amax() > 1e-6);
        }
    }
    let first = Poisson::default().with_selection(ConeSelection::First);
    let outcome = system.pose(|problem| first.resolve(problem)).unwrap();
    let known = all
        .iter()
        .any(|o| (&o.velocity_plus.0 - &outcome.velocity_plus.0).amax() <= 1e-9);
    assert!(known && outcome.warnings().contains(&Warning::NotUnique));
}

/// Bodies between walls that all throw them back: the proof is recomputed from the rows as given.
#[test]
fn rebounds_that_contradict_each_other_are_refused_with_a_proof() {
    let law = MoreauNewton::default();
    let mut proven = 0;
    for k in 0..200 {
        let mut rng = CounterRng::new(5, k, 0);
        let mut number = || 2.0 * rng.next_uniform() - 1.0;
        let (n, m, tangents) = (3, 2 + (k % 4) as usize, (k % 3) as usize);
        let contacts: Vec<Contact> = (0..m)
            .map(|_| {
                let mut row = || (0..n).map(|_| number()).collect::<Vec<f64>>();
                let rows: Vec<Vec<f64>> = (0..=tangents).map(|_| row()).collect();
                let others: Vec<&[f64]> = rows[1..].iter().map(Vec::as_slice).collect();
                let scale = 10f64.powi((k % 5) as i32 - 2);
                let normal: Vec<f64> = rows[0].iter().map(|x| scale * x).collect();
                contact(&normal, &others, if tangents > 0 { 0.3 } else { 0.0 })
            })
            .collect();
        let mut velocity = DVector::from_fn(n, |_, _| number());
        if k % 2 == 0 && m > 2 {
            // The last contact balances the others.
            let others = contacts[..m - 1].iter().map(|c| c.normal.0.clone());
            velocity = -others.sum::<DVector<f64>>();
        }
        let mut contacts = contacts;
        if k % 2 == 0 && m > 2 {
            let others = contacts[..m - 1].iter().map(|c| c.normal.0.clone());
            contacts[m - 1].normal = Covector(-others.sum::<DVector<f64>>());
        }
        let system = System::new(DMatrix::identity(n, n), contacts, velocity.as_slice());
        let error = system.pose(|problem| law.resolve(problem)).err();
        let Some(ImpactError::InfeasibleLaw {
            proof: Some(proof), ..
        }) = error
        else {
            continue;
        };
        proven += 1;
        let width = tangents + 1;
        let (mut momentum, mut terms, mut gain) = (DVector::zeros(n), 0.0f64, 0.0);
        for (i, contact) in system.contacts.iter().enumerate() {
            let l = &proof.as_slice()[i * width..][..width];
            assert!(l[0] >= 0.0 && l[1..].iter().all(|t| *t == 0.0), "{k}");
            momentum += &contact.normal.0 * l[0];
            terms = terms.max((&contact.normal.0 * l[0]).amax());
            gain += l[0] * (-contact.normal.0.dot(&velocity)).max(0.0);
        }
        assert!(gain > 0.0 && momentum.amax() <= 1e-12 * terms, "{k}");
    }
    assert!(proven >= 20, "{proven}");
}
