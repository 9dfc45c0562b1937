//! Answers among several: the order of contacts, contacts that are told twice, friction and masses of all sizes.

use crate::support::random::Random;
use crate::support::systems::*;
use carom_contact::{Contact, Diagnostics, ImpactLaw, ImpactOutcome, Warning};
use carom_impact::frictional::{AnitescuPotra, ConeSelection, MoreauNewton, Poisson};
use carom_metric::Covector;
use nalgebra::{DMatrix, DVector};

/// Distance of velocities that are equal, over the motion.
const EQUAL: f64 = 1e-7;

/// Row of the velocity (v, ω) of a point of a body along a direction.
fn row(direction: [f64; 3], [x, y, z]: [f64; 3]) -> Vec<f64> {
    let [a, b, c] = direction;
    vec![a, b, c, y * c - z * b, z * a - x * c, x * b - y * a]
}

/// A box that hits the floor with four corners, and a wall with four.
fn box_between_floor_and_wall(random: &mut Random) -> System {
    let half: Vec<f64> = (0..3).map(|_| 0.3 + 1.2 * random.unit()).collect();
    let mass = 0.5 + 2.5 * random.unit();
    let squares: Vec<f64> = half.iter().map(|h| h * h).collect();
    let total: f64 = squares.iter().sum();
    let inertia = squares.iter().map(|s| mass / 3.0 * (total - s));
    let diagonal = DVector::from_iterator(6, [mass; 3].into_iter().chain(inertia));
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let frictions = [random.unit(), random.unit()].map(|u| 0.1 + 1.1 * u);
    let mut contacts = Vec::new();
    for (s, t) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
        let floor = [s * half[0], t * half[1], -half[2]];
        let wall = [-half[0], s * half[1], t * half[2]];
        for (point, axes, friction) in [
            (floor, [z, x, y], frictions[0]),
            (wall, [x, y, z], frictions[1]),
        ] {
            let [normal, one, two] = axes.map(|axis| row(axis, point));
            contacts.push(contact(&normal, &[&one, &two], friction));
        }
    }
    let mut velocity = random.vector(6);
    velocity[0] = -velocity[0].abs();
    velocity[2] = -velocity[2].abs();
    System::new(DMatrix::from_diagonal(&diagonal), contacts, &velocity)
}

fn shuffle(contacts: &mut [Contact], random: &mut Random) {
    for i in (1..contacts.len()).rev() {
        contacts.swap(i, random.below(i + 1));
    }
}

fn resolve(system: &System, law: &dyn ImpactLaw) -> ImpactOutcome {
    system.pose(|problem| law.resolve(problem).unwrap())
}

fn distance(system: &System, one: &ImpactOutcome, other: &ImpactOutcome) -> f64 {
    let norm = |v: &DVector<f64>| v.dot(&(system.metric.mass_matrix() * v)).sqrt();
    let difference = &one.velocity_plus.0 - &other.velocity_plus.0;
    norm(&difference) / norm(&DVector::from_column_slice(&system.velocity))
}

fn family(outcome: &ImpactOutcome) -> (usize, ConeSelection) {
    match &outcome.diagnostics {
        Diagnostics::Cone(cone) => (cone.family, cone.selection),
        Diagnostics::Complementarity {
            member: Some(member),
            ..
        } => (member.family, member.selection),
        other => panic!("no family: {other:?}"),
    }
}

#[test]
fn a_box_between_floor_and_wall_does_not_know_the_order_of_its_corners() {
    let mut random = Random(31);
    let mut n_families = 0;
    for _ in 0..12 {
        let mut system = box_between_floor_and_wall(&mut random);
        let first = resolve(&system, &AnitescuPotra::default());
        n_families += usize::from(family(&first).0 > 0);
        assert_eq!(
            first.warnings().contains(&Warning::NotUnique),
            family(&first).0 > 0
        );
        for _ in 0..4 {
            shuffle(&mut system.contacts, &mut random);
            let other = resolve(&system, &AnitescuPotra::default());
            assert!(distance(&system, &first, &other) <= EQUAL);
            assert_eq!(family(&first), family(&other));
        }
    }
    assert!(n_families >= 3, "{n_families} families");
}

/// Corners that move alike are told apart by nothing: no search may prefer one.
#[test]
fn a_box_that_flies_into_a_corner_bounces_alike_in_any_order_of_its_corners() {
    let mut random = Random(36);
    for selection in [ConeSelection::Even, ConeSelection::First] {
        let law = Poisson {
            selection,
            ..Poisson::default()
        };
        for _ in 0..8 {
            let mut system = box_between_floor_and_wall(&mut random);
            system.velocity[3..].fill(0.0);
            let [floor, wall] = [random.unit(), random.unit()];
            for (i, contact) in system.contacts.iter_mut().enumerate() {
                contact.restitution = if i % 2 == 0 { floor } else { wall };
            }
            let first = resolve(&system, &law);
            for _ in 0..3 {
                shuffle(&mut system.contacts, &mut random);
                let other = resolve(&system, &law);
                assert!(distance(&system, &first, &other) <= EQUAL, "{selection:?}");
            }
        }
    }
}

#[test]
fn a_corner_told_twice_is_one_corner_whose_impulse_is_shared_evenly() {
    let mut random = Random(32);
    for _ in 0..20 {
        let mut system = box_between_floor_and_wall(&mut random);
        let law = MoreauNewton::default();
        let once = resolve(&system, &law);
        let of = random.below(8);
        let factor = random.decades(-3.0, 3.0);
        let mut copy = system.contacts[of].clone();
        for row in std::iter::once(&mut copy.normal).chain(&mut copy.tangents) {
            *row = Covector(&row.0 * factor);
        }
        system.contacts.push(copy);
        let twice = resolve(&system, &law);
        assert!(distance(&system, &once, &twice) <= EQUAL);
        for k in 0..3 {
            let (own, shared) = (twice.impulses[3 * of + k], twice.impulses[24 + k] * factor);
            assert!((own - shared).abs() <= 1e-9 * twice.impulses.amax());
        }
    }
}

/// A planar box in a corner, on two feet each: the pressures are not determined, and friction follows them.
#[test]
fn a_planar_body_with_a_family_answers_with_its_even_member_in_any_order() {
    let mut random = Random(33);
    let mut n_families = 0;
    for _ in 0..60 {
        let (half, mass) = (
            [0.3 + random.unit(), 0.3 + random.unit()],
            0.5 + random.unit(),
        );
        let inertia = mass / 3.0 * (half[0] * half[0] + half[1] * half[1]);
        let frictions = [random.unit(), random.unit()];
        let planar = |d: [f64; 2], [x, y]: [f64; 2]| [d[0], d[1], x * d[1] - y * d[0]];
        let mut contacts = Vec::new();
        for s in [-1.0, 1.0] {
            let (floor, wall) = ([s * half[0], -half[1]], [-half[0], s * half[1]]);
            let (up, right) = ([0.0, 1.0], [1.0, 0.0]);
            contacts.push(contact(
                &planar(up, floor),
                &[&planar(right, floor)],
                frictions[0],
            ));
            contacts.push(contact(
                &planar(right, wall),
                &[&planar(up, wall)],
                frictions[1],
            ));
        }
        let velocity = [-random.unit(), -random.unit(), random.signed()];
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![mass, mass, inertia]));
        let mut system = System::new(mass, contacts, &velocity);
        let first = resolve(&system, &AnitescuPotra::default());
        shuffle(&mut system.contacts, &mut random);
        let tangent = &mut system.contacts[0].tangents[0];
        *tangent = Covector(-&tangent.0);
        let other = resolve(&system, &AnitescuPotra::default());
        assert!(distance(&system, &first, &other) <= EQUAL);
        if family(&first).0 > 0 {
            n_families += 1;
            assert!(first.warnings().contains(&Warning::NotUnique));
            assert_eq!(family(&first).1, ConeSelection::Even);
        }
    }
    assert!(n_families >= 2, "{n_families} families");
}

#[test]
fn frictions_of_any_size_together_are_resolved_with_every_contact_on_its_own_terms() {
    let mut random = Random(34);
    for _ in 0..20 {
        let mut system = box_between_floor_and_wall(&mut random);
        for contact in &mut system.contacts {
            contact.friction = random.decades(-9.0, 8.0);
        }
        let outcome = resolve(&system, &AnitescuPotra::default());
        let Diagnostics::Cone(cone) = &outcome.diagnostics else {
            panic!("no round cones");
        };
        assert!(cone.residual <= 1e-9);
        let rows = system.contact_velocity(&outcome.velocity_plus);
        let contacts = system.contacts.iter().enumerate();
        for (i, contact) in contacts {
            let (l, u) = (&outcome.impulses.as_slice()[3 * i..], &rows[3 * i..]);
            let (drag, slip) = (l[1].hypot(l[2]), u[1].hypot(u[2]));
            assert!(u[0] >= -1e-9 && l[0] >= 0.0);
            assert!(drag <= contact.friction * l[0] * (1.0 + 1e-9) + 1e-12);
            // Friction of a contact that slides opposes it.
            if slip > 1e-3 && drag > 1e-6 {
                let cosine = (l[1] * u[1] + l[2] * u[2]) / (drag * slip);
                assert!(cosine <= -1.0 + 1e-9, "{cosine}");
            }
        }
    }
}

/// Constraints that say the same twice leave two normals opposed but for rounding: closed at once they still approach by a
/// trillionth, which they passed on to each other until the limit.
#[test]
fn opposed_contacts_that_are_closed_at_once_stay_closed() {
    let mass = nalgebra::DMatrix::from_row_slice(
        3,
        3,
        &[
            1.3794447635889608,
            1.043148155733376,
            0.4103449623732839,
            1.043148155733376,
            1.4452131401571133,
            0.48918537727436673,
            0.4103449623732839,
            0.48918537727436673,
            1.275258006886285,
        ],
    );
    let metric = carom_metric::KineticMetric::new(mass).unwrap();
    let normals = [
        [
            0.0010276077777431859,
            6.780066924265234e-06,
            0.0009266683300855343,
        ],
        [-2.4568123864757356, 0.6072275586567426, 2.3207766391592592],
        [7747.719053792611, -5443.756841284939, -6405.995196819601],
    ];
    let contacts = normals
        .iter()
        .map(|n| carom_contact::Contact::frictionless(carom_metric::Covector::from_slice(n)));
    let forms = [
        [
            -0.11218624120482858,
            -0.10969368590579763,
            0.1415183538236419,
        ],
        [
            0.0006919290759864864,
            0.0006765557871911624,
            -0.0008728402230496213,
        ],
        [0.0, 0.0, 0.0],
    ];
    let forms = forms
        .iter()
        .map(|n| carom_metric::Covector::from_slice(n))
        .collect();
    let contacts =
        carom_contact::ContactSet::constrained(&metric, contacts.collect(), forms).unwrap();
    let problem = carom_contact::ImpactProblem::new(
        &contacts,
        carom_metric::Tangent::from_slice(&[
            0.6974558654908254,
            0.5420591371421921,
            0.9730569425597335,
        ]),
    )
    .unwrap();
    let law = carom_impact::frictional::Sequential::default();
    let found = carom_contact::ImpactLaw::resolve(&law, &problem);
    let found = found.unwrap();
    let near = [0.974_040_788_5, 0.249_796_938_3, 0.965_776_650_5];
    let off = &found.velocity_plus.0 - nalgebra::DVector::from_column_slice(&near);
    assert!(off.norm() <= 2e-8);
}
