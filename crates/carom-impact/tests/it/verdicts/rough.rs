//! A law whose exact answer penetrates or pulls says so.

use super::{Case, Random};
use carom_contact::{Contact, ImpactError};
use carom_impact::Rough;
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
        Err(ImpactError::InfeasibleLaw {
            contacts,
            found: Some(found),
            ..
        }) => {
            assert_eq!(contacts, [1]);
            assert!((found.velocity_plus.0[1] - 1.0).abs() < 1e-15);
        }
        other => panic!("{other:?}"),
    }
}

/// Six rows in four free directions: many impulses make the momentum, and some of them push on both normals. The
/// status does not ask which the solver met first, nor how the tangents are turned.
#[test]
fn a_rough_impact_is_answered_wherever_some_impulses_push() {
    let mut random = Random(22);
    let mut answered = 0;
    while answered < 100 {
        let mut case = Case::random(&mut random, 10.0, 2, 2);
        let n = 4;
        case.mass = random.mass(n, 10.0);
        for contact in &mut case.contacts {
            let rows = std::iter::once(&mut contact.normal).chain(&mut contact.tangents);
            rows.for_each(|row| *row = Covector::from_slice(&random.vector(n)));
        }
        // Impulses that push on both normals, and the velocity that they reverse.
        let mut momentum = DVector::zeros(n);
        for contact in &case.contacts {
            momentum += &contact.normal.0 * random.unit();
            for tangent in &contact.tangents {
                momentum += &tangent.0 * random.signed();
            }
        }
        let e = random.unit();
        let change = case.mass.clone().cholesky().unwrap().solve(&momentum);
        let velocity = -&change / (1.0 + e);
        if case
            .contacts
            .iter()
            .any(|c| c.normal.0.dot(&velocity) > -1e-3)
        {
            continue;
        }
        case.velocity = velocity.as_slice().to_vec();
        let law = Rough::new(e).unwrap();
        for turns in 0..3 {
            let outcome = case.resolve(&law).unwrap();
            let expected = &velocity * -e;
            let off = (&outcome.velocity_plus.0 - expected).amax();
            assert!(off <= 1e-9 * velocity.amax(), "{turns} {off:e}");
            let pull = outcome.impulses[0].min(outcome.impulses[3]);
            assert!(pull >= -1e-9 * outcome.impulses.amax(), "{turns} {pull:e}");
            for contact in &mut case.contacts {
                let (s, c) = (3.0 * random.signed()).sin_cos();
                let [x, y] = [0, 1].map(|t| contact.tangents[t].0.clone());
                contact.tangents[0].0 = &x * c + &y * s;
                contact.tangents[1].0 = &y * c - &x * s;
            }
        }
        answered += 1;
    }
}

/// A contact that its own tangents can lift only by pulling at the other: no impulses make the momentum without.
#[test]
fn a_rough_impact_is_refused_where_all_impulses_pull() {
    let row = |x: [f64; 2]| Covector::from_slice(&x);
    let contact = |normal, tangents: &[[f64; 2]]| {
        Contact::frictionless(row(normal))
            .with_tangents(tangents.iter().map(|t| row(*t)).collect::<Vec<_>>())
    };
    // The second coordinate is changed by the second normal alone, and must fall.
    let case = Case {
        mass: DMatrix::from_row_slice(2, 2, &[1.0, 0.6, 0.6, 1.0]),
        velocity: vec![-1.0, -0.1],
        contacts: vec![
            contact([1.0, 0.0], &[[1.0, 0.0], [-2.0, 0.0]]),
            contact([0.0, 1.0], &[[3.0, 0.0], [1.0, 0.0]]),
        ],
    };
    // M v = (-1.06, -0.7): reversed it pushes; with the first velocity faster the second pulls.
    assert!(case.resolve(&Rough::new(0.5).unwrap()).is_ok());
    let mut case = case;
    case.mass = DMatrix::from_row_slice(2, 2, &[1.0, -0.6, -0.6, 1.0]);
    for turned in [false, true] {
        if turned {
            for contact in &mut case.contacts {
                contact.tangents.reverse();
            }
        }
        match case.resolve(&Rough::new(0.5).unwrap()) {
            Err(ImpactError::InfeasibleLaw { contacts, .. }) => assert_eq!(contacts, [1]),
            other => panic!("{other:?}"),
        }
    }
}
