//! Laws with several answers, and contacts that an impact does not reach.

use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_judge::{JudgeOptions, Judgement, LawMatch, LawVerdict, judge};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};

fn judged(
    mass: &DMatrix<f64>,
    contacts: &[Contact],
    forms: &[Covector],
    [before, after]: [&[f64]; 2],
) -> Judgement {
    let metric = KineticMetric::new(mass.clone()).unwrap();
    let contacts = ContactSet::constrained(&metric, contacts.to_vec(), forms.to_vec()).unwrap();
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(before)).unwrap();
    let options = JudgeOptions::default().with_samples(24);
    judge(&problem, &Tangent::from_slice(after), &options).unwrap()
}

fn entry<'j>(judgement: &'j Judgement, law: &str) -> &'j LawMatch {
    let found = judgement.laws.iter().find(|entry| entry.law == law);
    found.unwrap_or_else(|| panic!("no answer of {law}: {:?}", judgement.refused))
}

/// Three points of a body in the plane on one wall: sticking at the first stops it, and so does the frictionless third alone,
/// which leaves it moving along the wall. Moreau's law finds one of the two, and its conditions hold for both.
#[test]
fn both_answers_of_a_law_are_recognized() {
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![
        5.251_924_382_256_747,
        5.251_924_382_256_747,
        5.266_941_172_614_683,
    ]));
    let point = |arm: f64, slip: f64, friction: f64| {
        Contact::new(Covector::from_slice(&[-1.0, 0.0, arm]))
            .with_tangents(vec![Covector::from_slice(&[0.0, -1.0, slip])])
            .with_friction(friction)
    };
    let contacts = [
        point(
            0.283_686_289_171_599_77,
            0.942_620_628_351_189_8,
            0.992_609_888_826_031,
        ),
        point(
            0.210_876_452_133_505_34,
            0.130_823_085_907_423_78,
            0.332_289_450_908_371_6,
        ),
        point(0.874_403_870_786_028_5, 0.472_016_718_299_606_34, 0.0),
    ];
    let before = [
        0.773_113_906_096_244_2,
        0.574_686_708_517_198_3,
        -0.783_818_131_312_785_4,
    ];
    // The impulse of the third contact that stops its point.
    let third = contacts[2].normal.0.clone();
    let inverse = mass.clone().try_inverse().unwrap();
    let made = &inverse * &third;
    let start = DVector::from_column_slice(&before);
    let slides = &start - &made * (third.dot(&start) / third.dot(&made));
    for after in [&[0.0; 3][..], slides.as_slice()] {
        let judgement = judged(&mass, &contacts, &[], [&before, after]);
        for law in ["anitescu-potra", "moreau-newton"] {
            let found = entry(&judgement, law);
            assert_eq!(found.verdict, LawVerdict::Match, "{law} {after:?}");
            assert!(found.distance <= 1e-12);
        }
    }
}

/// Four balls in a row on a constraint: a contact that is told twice is struck after itself, and no order is added.
#[test]
fn a_contact_that_is_told_twice_adds_no_order() {
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![0.36, 1.26, 0.16, 4.0, 2.76]));
    let normal = |i: usize| {
        let mut row = vec![0.0; 5];
        (row[i], row[i + 1]) = (-1.0, 1.0);
        Contact::frictionless(Covector::from_slice(&row))
    };
    let contacts: Vec<Contact> = (0..4).map(normal).collect();
    let form = Covector::from_slice(&[-0.10, 0.30, -0.11, 0.58, -1.04]);
    let inverse = mass.clone().try_inverse().unwrap();
    let mut before = DVector::from_vec(vec![0.96, -0.84, 0.81, 0.77, 0.0]);
    let made = &inverse * &form.0;
    before -= &made * (form.0.dot(&before) / form.0.dot(&made));
    let after = [-0.487, 0.0156, 0.0156, 0.116, 0.116];
    let forms = [form];
    let pair = [before.as_slice(), &after[..]];
    let once = judged(&mass, &contacts, &forms, pair);
    let once = entry(&once, "sequential");
    for copied in 0..4 {
        for place in 0..5 {
            let mut twice = contacts.clone();
            let mut copy = contacts[copied].clone();
            copy.normal.0 *= 3.0;
            twice.insert(place, copy);
            let judgement = judged(&mass, &twice, &forms, pair);
            let found = entry(&judgement, "sequential");
            assert_eq!(found.verdict, once.verdict);
            assert!((found.distance - once.distance).abs() <= 1e-9);
        }
    }
}

/// A blade on a diagonal in a train that is ten million times as fast as it: what rounding of the speed of the train leaves of the
/// constraint is no violation, neither in the frame of the train.
#[test]
fn the_speed_of_a_train_violates_no_constraint_in_it() {
    for k in 0..40u32 {
        let [a, b] = [0.1 + 0.37 * f64::from(k), 0.2 + 0.61 * f64::from(k)];
        let ((sa, ca), (sb, cb)) = (a.sin_cos(), b.sin_cos());
        let turn = DMatrix::from_row_slice(
            3,
            3,
            &[ca, -sa * cb, sa * sb, sa, ca * cb, -ca * sb, 0.0, sb, cb],
        );
        let turned = |v: [f64; 3]| &turn * DVector::from_column_slice(&v);
        let contact = Contact::frictionless(Covector(turned([1.0, 0.0, 0.0])));
        let form = Covector(turned([1.0, 1.0, 0.0]));
        let before = turned([-0.01, 0.01, 1e5]);
        let after = turned([0.0, 0.0, 1e5]);
        let pair = [before.as_slice(), after.as_slice()];
        let judgement = judged(&DMatrix::identity(3, 3), &[contact], &[form], pair);
        assert!(entry(&judgement, "plastic").matches, "{k}");
    }
}
