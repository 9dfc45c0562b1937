//! A law whose exact answer penetrates or pulls says so.

use super::{Case, Random};
use carom_impact::{Contact, ImpactError, Rough};
use carom_metric::Covector;
use nalgebra::{DMatrix, DVector};

#[test]
fn a_rough_impact_is_refused_exactly_where_it_penetrates_or_pulls() {
    let mut random = Random(21);
    let (mut refused, mut answered) = (0, 0);
    while refused + answered < 120 {
        let n_contacts = 2 + random.below(2);
        let case = Case::random(&mut random, 10.0, n_contacts, 0);
        let n = case.velocity.len();
        let v = DVector::from_column_slice(&case.velocity);
        let closing: Vec<&Contact> = case
            .contacts
            .iter()
            .filter(|c| c.normal.0.dot(&v) < 0.0)
            .collect();
        if closing.is_empty() || closing.len() >= n {
            continue;
        }
        let e = random.unit();
        // (1 + e) times the projection onto the rows of the closing contacts.
        let rows = DMatrix::from_fn(closing.len(), n, |i, k| closing[i].normal.0[k]);
        let responses = case
            .mass
            .clone()
            .cholesky()
            .unwrap()
            .solve(&rows.transpose());
        let impulses = (&rows * &responses)
            .lu()
            .solve(&(-(1.0 + e) * &rows * &v))
            .unwrap();
        let plus = &v + responses * &impulses;
        let rate = |c: &Contact| c.normal.0.dot(&plus);
        let smallest = case.contacts.iter().map(rate).fold(f64::INFINITY, f64::min);
        let is_bad = smallest < 0.0 || impulses.min() < 0.0;
        match case.resolve(&Rough::new(e).unwrap()) {
            Ok(_) => {
                assert!(!is_bad, "{case:?}");
                answered += 1;
            }
            Err(ImpactError::InfeasibleLaw { contacts, .. }) => {
                assert!(is_bad, "{case:?}");
                for (i, contact) in case.contacts.iter().enumerate() {
                    assert!(rate(contact) >= 0.0 || contacts.contains(&i));
                }
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 20 && answered > 20, "{refused} {answered}");
}

#[test]
fn the_contact_that_the_law_leaves_closing_is_named() {
    let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];
    let case = Case {
        mass: DMatrix::identity(3, 3),
        velocity: vec![1.0, 0.0, 0.0],
        contacts: normals
            .iter()
            .map(|u| Contact::frictionless(Covector::from_slice(u)))
            .collect(),
    };
    match case.resolve(&Rough::new(1.0).unwrap()) {
        Err(ImpactError::InfeasibleLaw { contacts, found }) => {
            assert_eq!(contacts, [1]);
            assert!((found.velocity_plus.0[1] - 1.0).abs() < 1e-15);
        }
        other => panic!("{other:?}"),
    }
}
