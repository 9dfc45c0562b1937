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
        other => panic!("no family: {other:?}"),
    }
}

#[test]
fn a_box_between_floor_and_wall_does_not_know_the_order_of_its_corners() {
    let mut random = Random(31);
    let mut n_families = 0;
    for _ in 0..24 {
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
        let law = Poisson::default().with_selection(selection);
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
    for _ in 0..120 {
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
    let (mut random, mut n_refused) = (Random(34), 0);
    for _ in 0..20 {
        let mut system = box_between_floor_and_wall(&mut random);
        for contact in &mut system.contacts {
            contact.friction = random.decades(-9.0, 8.0);
        }
        let Ok(outcome) = system.pose(|problem| AnitescuPotra::default().resolve(problem)) else {
            n_refused += 1;
            continue;
        };
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
    assert!(n_refused <= 2, "{n_refused} refused");
}
