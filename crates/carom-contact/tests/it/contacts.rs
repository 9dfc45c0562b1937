//! Contacts and velocities that are refused, and what is known of a set of contacts before any law is asked.

use crate::common::{System, assert_close};
use carom_contact::{Contact, ContactSet, ImpactError, ImpactProblem, Rules};
use carom_metric::{Covector, KineticMetric, MetricError, Tangent};
use nalgebra::{DMatrix, dmatrix};
use std::sync::Arc;

#[test]
fn the_margin_is_the_distance_of_the_hull_of_the_normals() {
    let margin = |system: &System| system.contacts().margin().unwrap().clone();
    // Three balls on a line.
    let balls = System::diagonal(&[1.0, 2.0, 1.0], &[[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]);
    let found = margin(&balls);
    assert_close(found.distance, 1.0 / 3f64.sqrt(), 1e-12, "three balls");
    assert!(found.weights.iter().all(|w| (w - 0.5).abs() <= 1e-12));
    assert!(found.jammed().is_empty());
    // Two unit normals of a given cosine in the Euclidean plane.
    for c in [-0.99f64, -0.5, 0.0, 0.7] {
        let plane = System::diagonal(&[1.0, 1.0], &[[1.0, 0.0], [c, (1.0 - c * c).sqrt()]]);
        let expected = (0.5 * (1.0 + c)).sqrt();
        assert_close(margin(&plane).distance, expected, 1e-12, "two contacts");
    }
}

/// A structure that keeps a problem.
struct Stored {
    problem: ImpactProblem,
}

#[test]
fn a_problem_is_stored_and_sent_to_a_thread() {
    let stored = {
        let metric = KineticMetric::new(dmatrix![4.0, 0.0; 0.0, 4.0]).unwrap();
        let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]));
        let contacts = ContactSet::new(metric, vec![floor]).unwrap();
        let problem = contacts.problem(Tangent::from_slice(&[1.0, -3.0]));
        Stored {
            problem: problem.unwrap(),
        }
    };
    let sent = stored.problem.clone();
    let stop = |problem: &ImpactProblem| problem.outcome(&[12.0], &Rules::FRICTIONLESS).unwrap();
    let there = std::thread::spawn(move || stop(&sent)).join().unwrap();
    assert_eq!(there, stop(&stored.problem));
    assert_eq!(there.velocity_plus, Tangent::from_slice(&[1.0, 0.0]));
}

#[test]
fn handles_share_what_they_are_given() {
    let metric = Arc::new(KineticMetric::new(DMatrix::identity(2, 2)).unwrap());
    let floor = || vec![Contact::new(Covector::from_slice(&[0.0, 2.0]))];
    let copied = ContactSet::new(metric.as_ref(), floor()).unwrap();
    assert!(!Arc::ptr_eq(copied.metric(), &metric));
    let shared = ContactSet::new(Arc::clone(&metric), floor()).unwrap();
    assert!(Arc::ptr_eq(shared.metric(), &metric));
    let is_same = |a: &ContactSet, b: &ContactSet| std::ptr::eq(a.contacts(), b.contacts());
    assert!(is_same(&shared, &shared.clone()));
    let problem = shared.problem(Tangent::from_slice(&[0.0, -1.0])).unwrap();
    assert!(is_same(&shared, problem.contacts()));
    let detached = shared.detached();
    assert!(!is_same(&shared, &detached) && Arc::ptr_eq(detached.metric(), &metric));
    assert_eq!(detached.contacts(), shared.contacts());
}

#[test]
fn unusable_contacts_are_refused_by_name() {
    let metric = KineticMetric::new(DMatrix::identity(2, 2)).unwrap();
    let good = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
    let normal = |u: &[f64]| Contact::frictionless(Covector::from_slice(u));
    let build = |bad: Contact| ContactSet::new(&metric, vec![good.clone(), bad]).unwrap_err();
    match build(normal(&[0.0, 0.0])) {
        ImpactError::Contact {
            contact: 1,
            source: MetricError::ZeroNormal { .. },
        } => {}
        other => panic!("{other:?}"),
    }
    match build(normal(&[0.0, f64::NAN])) {
        ImpactError::Contact {
            contact: 1,
            source:
                MetricError::NonFinite {
                    what: "normal",
                    index: 1,
                    value,
                },
        } => assert!(value.is_nan()),
        other => panic!("{other:?}"),
    }
    let mismatch = MetricError::DimensionMismatch {
        what: "normal",
        expected: 2,
        found: 3,
    };
    let expected = ImpactError::Contact {
        contact: 1,
        source: mismatch,
    };
    assert_eq!(build(normal(&[0.0, 1.0, 2.0])), expected);
    let kinds = [
        (good.clone().with_friction(-0.1), "invalid-friction"),
        (good.clone().with_friction(f64::NAN), "invalid-friction"),
        (good.clone().with_restitution(1.2), "invalid-restitution"),
        (
            good.clone().with_tangents(vec![good.normal.clone(); 3]),
            "too-many-tangents",
        ),
        (normal(&[0.0, 0.0]), "zero-normal"),
        (normal(&[f64::INFINITY, 0.0]), "non-finite"),
        (normal(&[1.0]), "dimension-mismatch"),
    ];
    for (contact, kind) in kinds {
        assert_eq!(build(contact).kind(), kind);
    }
}

#[test]
fn unusable_velocities_are_refused() {
    let system = System::diagonal(&[1.0; 2], &[[-1.0, 1.0]]);
    let contacts = system.contacts();
    let pose = |v: &[f64]| ImpactProblem::new(&contacts, Tangent::from_slice(v)).unwrap_err();
    assert_eq!(pose(&[0.0, f64::NAN]).kind(), "non-finite");
    assert_eq!(pose(&[f64::INFINITY, 0.0]).kind(), "non-finite");
    let mismatch = MetricError::DimensionMismatch {
        what: "velocity",
        expected: 2,
        found: 1,
    };
    assert_eq!(pose(&[0.0]), ImpactError::Metric(mismatch));
    assert_eq!(pose(&[1e200, 0.0]).kind(), "overflow");
    let singular = KineticMetric::new(dmatrix![1.0, 2.0; 2.0, 4.0]).unwrap_err();
    assert_eq!(ImpactError::from(singular).kind(), "not-positive-definite");
}

#[test]
fn rounding_of_a_part_that_no_contact_touches_violates_no_constraint() {
    let metric = KineticMetric::new(DMatrix::identity(4, 4)).unwrap();
    let form = Covector::from_slice(&[0.0, 1.0, -1.0, 0.0]);
    let contact = Contact::frictionless(Covector::from_slice(&[1.0, 0.0, 0.0, 0.0]));
    let contacts = ContactSet::constrained(&metric, vec![contact], vec![form]).unwrap();
    let problem =
        |slip: f64| ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0, slip, 0.0, 1.0]));
    assert!(problem(1e-17).is_ok());
    assert_eq!(problem(1e-9).unwrap_err().kind(), "constraint-violated");
}
