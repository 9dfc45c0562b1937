//! If a law has no answer, solvers may find huge impulses that cancel: none of them is an answer.

use super::{Case, Random};
use carom_contact::{Contact, FrictionCone, ImpactError};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton};
use carom_metric::Covector;
use nalgebra::{DMatrix, dmatrix};

/// More restitutions than degrees of freedom: contacts that are asked to rebound against each other.
fn crowded(random: &mut Random) -> Case {
    let tangents = 1 + random.below(2);
    let mut case = Case::random(random, 10.0, 5, tangents);
    for contact in &mut case.contacts {
        contact.friction = 5.0 * random.unit();
        contact.restitution = random.unit();
    }
    case
}

/// The largest velocity that a contact misses which pushes, or approaches, over the size of all velocities.
fn missed(case: &Case, velocity_plus: &[f64], impulses: &[f64]) -> f64 {
    let size = case.velocity.iter().chain(velocity_plus);
    let size = size.fold(0.0, |sum: f64, v| sum.hypot(*v));
    let strongest = impulses
        .iter()
        .fold(0.0, |largest: f64, l| largest.max(l.abs()));
    let mut row = 0;
    let mut worst = 0.0f64;
    for contact in &case.contacts {
        let along = |v: &[f64]| -> f64 {
            let products = contact.normal.0.iter().zip(v);
            products.map(|(n, v)| n * v).sum::<f64>() / contact.normal.0.norm()
        };
        let (before, after) = (along(&case.velocity), along(velocity_plus));
        worst = worst.max(-after / size);
        if impulses[row] > 1e-6 * strongest {
            // Only a contact that approached rebounds.
            let target = contact.restitution * (-before).max(0.0);
            worst = worst.max((after - target).abs() / size);
        }
        row += 1 + contact.tangents.len();
    }
    worst
}

#[test]
fn moreau_newton_answers_where_it_has_an_answer() {
    let mut resolved = 0;
    for seed in 0..100 {
        let case = crowded(&mut Random(seed));
        match case.resolve(&MoreauNewton::default()) {
            Ok(outcome) => {
                let velocity = outcome.velocity_plus.0.as_slice();
                let missed = missed(&case, velocity, outcome.impulses.as_slice());
                assert!(missed < 1e-6, "seed {seed}: {missed:e}");
                resolved += 1;
            }
            Err(ImpactError::InfeasibleLaw { .. } | ImpactError::Inaccurate { .. }) => {}
            Err(error) => assert!(!error.to_string().contains("ray"), "seed {seed}: {error}"),
        }
    }
    assert!(resolved > 20, "{resolved}");
}

/// Both contacts approach and rebound, and no choice of opening, sticking and sliding gives that: none of
/// the sixteen has a solution: the law has no answer, and the contacts at fault are named.
#[test]
fn a_law_without_an_answer_is_infeasible() {
    let contact = |normal, tangent, friction, restitution| {
        Contact::new(Covector::from_slice(normal))
            .with_tangents(vec![Covector::from_slice(tangent)])
            .with_friction(friction)
            .with_restitution(restitution)
    };
    let case = Case {
        mass: DMatrix::identity(2, 2),
        velocity: vec![0.0, 2.0],
        contacts: vec![
            contact(&[1.0, -3.0], &[-2.0, 3.0], 2.0, 0.5),
            contact(&[3.0, -3.0], &[-1.0, 1.0], 0.5, 1.0),
        ],
    };
    let error = case.resolve(&MoreauNewton::default()).unwrap_err();
    assert_eq!(error.kind(), "infeasible-law", "{error}");
}

/// A plane impact in which no choice of opening, sticking and sliding gives the rebound of the second contact. Lemke's method
/// ended at impulses of a million times the momentum in some units of the rows: relative to their terms, the contacts did what
/// the law asks for.
#[test]
fn a_law_without_an_answer_is_infeasible_in_any_units() {
    let mut random = Random(7);
    for k in 0..500 {
        let mut contact = |normal: [f64; 3], tangent: [f64; 3]| {
            let unit = random.decades(-6.0, 6.0);
            Contact::new(Covector::from_slice(&normal.map(|x| unit * x)))
                .with_tangents(vec![Covector::from_slice(&tangent.map(|x| unit * x))])
                .with_friction(0.5)
                .with_restitution(0.5)
        };
        let case = Case {
            mass: DMatrix::identity(3, 3) * 2.0,
            velocity: vec![1.0, -2.0, -2.0],
            contacts: vec![
                contact([-1.0, -2.0, -1.0], [-1.0, -2.0, 0.0]),
                contact([1.0, 2.0, 2.0], [2.0, -1.0, 1.0]),
            ],
        };
        let error = case.resolve(&MoreauNewton::default()).unwrap_err();
        assert_eq!(error.kind(), "infeasible-law", "{k}: {error}");
    }
}

/// Friction that cancels the normal impulse of its contact, along a tangent that is parallel to the normal.
/// In some units rounding left $10^{-16}$ of the effect, and impulses of $10^{16}$ seemed to be an answer.
#[test]
fn friction_that_cancels_a_normal_impulse_is_no_answer_in_any_units() {
    let mut random = Random(11);
    for k in 0..500 {
        let units = [0, 1].map(|_| random.decades(-2.0, 2.0));
        let mass = random.decades(-3.0, 3.0);
        let row = |row: [f64; 2]| Covector::from_slice(&[row[0] * units[0], row[1] * units[1]]);
        let contact = |normal: [f64; 2], tangent: [f64; 2]| {
            Contact::new(row(normal))
                .with_tangents(vec![row(tangent)])
                .with_friction(0.5)
                .with_restitution(0.5)
        };
        let squares = units.map(|unit| 2.0 * mass * unit * unit);
        let pose = |velocity: [f64; 2], contacts: Vec<Contact>| Case {
            mass: DMatrix::from_diagonal(&squares.to_vec().into()),
            velocity: vec![velocity[0] / units[0], velocity[1] / units[1]],
            contacts,
        };
        let cases = [
            pose(
                [1.0, 0.0],
                vec![
                    contact([0.0, 2.0], [1.0, -2.0]),
                    contact([-1.0, 0.0], [2.0, 0.0]),
                ],
            ),
            pose(
                [1.0, -2.0],
                vec![
                    contact([-1.0, 1.0], [2.0, -2.0]),
                    contact([1.0, -2.0], [-2.0, -1.0]),
                ],
            ),
        ];
        for case in cases {
            let error = case.resolve(&MoreauNewton::default()).unwrap_err();
            assert_eq!(error.kind(), "infeasible-law", "{k}: {error}");
        }
    }
}

/// Three walls of a plane, nearly parallel in the metric, two of them against each other. The outcome is rest, but the rounded
/// matrix of the three dependent rows has none: the law answers near rest or refuses.
#[test]
fn rounding_of_dependent_rows_makes_no_other_answer() {
    let wall = |normal: &[f64]| Contact::frictionless(Covector::from_slice(normal));
    let case = Case {
        mass: dmatrix![0.9404933769031316, 1.922315990984335; 1.922315990984335, 3.929106637002337],
        velocity: vec![-1.2605881857655243, 0.6841405042905754],
        contacts: vec![
            wall(&[0.7012799610625954, 0.6620945523023732]),
            wall(&[-0.41120178373511734, 0.8325218962221884]),
            wall(&[0.28076329566443714, -0.6534456389243849]),
        ],
    };
    let Ok(outcome) = case.resolve(&AnitescuPotra::default()) else {
        return;
    };
    // Impulses of ten million times the momentum, to sixteen digits, leave the ninth digit of what they stop,
    // and the slope of the walls to each other, 4e-6, a thousandth of the velocity.
    assert!(
        outcome.velocity_plus.0.amax() < 1e-3,
        "{}",
        outcome.velocity_plus.0
    );
}

/// A point between two almost parallel walls, of which the one that it hits asks for all of its speed back: with normals (1, s)
/// and (-1, s) it leaves with (1, 1/s)/2. Rounding of the Delassus matrix, amplified by 1/s squared, is in the digits that the
/// answer does not promise.
#[test]
fn a_wedge_is_left_as_its_walls_ask_to_the_digits_told() {
    let wall = |normal: &[f64], restitution| {
        Contact::frictionless(Covector::from_slice(normal)).with_restitution(restitution)
    };
    for slope in [1e-3, 3e-4, 1.7e-4] {
        let case = Case {
            mass: DMatrix::identity(2, 2),
            velocity: vec![-1.0, 0.0],
            contacts: vec![wall(&[1.0, slope], 1.0), wall(&[-1.0, slope], 0.0)],
        };
        let outcome = case.resolve(&MoreauNewton::default()).unwrap();
        let digits = outcome.audit.digits.unwrap();
        assert!(digits >= 4.0, "{slope}: {digits} digits");
        let expected = [0.5, 0.5 / slope];
        let tolerance = 10f64.powf(1.0 - digits) * expected[1];
        for (x, y) in outcome.velocity_plus.0.iter().zip(expected) {
            assert!((x - y).abs() < tolerance, "{slope}: {x} instead of {y}");
        }
    }
}

/// Two walls that oppose each other within 1e-7 in the metric (masses 9e13 and 2) stop a body. A correction once took a friction
/// impulse at an open contact, and the body kept a five-thousandth of its momentum: more than its digits said.
#[test]
fn what_a_body_between_steep_walls_keeps_is_within_its_digits() {
    let contact = |normal: [f64; 2], tangents: [[f64; 2]; 2], friction| {
        Contact::new(Covector::from_slice(&normal))
            .with_tangents(tangents.map(|t| Covector::from_slice(&t)).to_vec())
            .with_friction(friction)
    };
    let case = Case {
        mass: dmatrix![91_520_665_362_736.98, 203_327.981_629_209_16;
            203_327.981_629_209_16, 1.923_595_142_833_936_4],
        velocity: vec![-0.578_289_912_505_825_7, 0.554_376_830_763_541_4],
        contacts: vec![
            contact(
                [-0.631_403_164_444_184_1, -0.000_212_532_531_620_983_35],
                [
                    [-0.353_875_410_075_331_35, -5.251_310_094_079_995e-6],
                    [-0.578_918_415_461_037_6, 0.115_591_446_317_415_77],
                ],
                0.707_776_341_570_098_8,
            ),
            contact(
                [-0.972_683_459_653_758_8, 2.0],
                [
                    [-0.646_733_656_991_370_3, 0.712_589_322_725_813_1],
                    [-0.565_817_422_054_466_2, 0.247_334_797_976_619_7],
                ],
                0.0,
            ),
            contact(
                [2.0, -1.0],
                [
                    [3.0, -0.327_496_982_301_637_5],
                    [0.384_350_550_094_742, -0.175_258_909_940_003_95],
                ],
                0.268_480_941_291_601_5,
            ),
        ],
    };
    let law = AnitescuPotra::default().with_friction_cone(FrictionCone::Polygon(6));
    let audit = case.resolve(&law).unwrap().audit;
    let kept = (audit.energy_plus_j / audit.energy_minus_j).sqrt();
    let digits = audit.digits.unwrap();
    assert!(
        kept <= 1e-6 && kept <= 10f64.powf(1.0 - digits),
        "{kept} {digits}"
    );
}
