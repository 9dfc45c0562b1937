//! Compression and expansion of all contacts at once.

use crate::support::random::Random;
use crate::support::systems::*;
use carom_contact::{
    Contact, Diagnostics, FrictionCone, ImpactError, ImpactLaw, ImpactOutcome, ImpactStatus,
    PoissonDiagnostics, Warning,
};
use carom_impact::frictional::{MoreauNewton, Poisson};
use nalgebra::{DMatrix, DVector};

fn phases(outcome: &ImpactOutcome) -> &PoissonDiagnostics {
    match &outcome.diagnostics {
        Diagnostics::Poisson(phases) => phases,
        other => panic!("no phases: {other:?}"),
    }
}

fn with_restitution(mut contact: Contact, restitution: f64) -> Contact {
    contact.restitution = restitution;
    contact
}

fn resolve(system: &System) -> ImpactOutcome {
    system.pose(|problem| Poisson::default().resolve(problem).unwrap())
}

/// Unit masses on a line, a floor under the first: normals from each to the next.
fn tower(restitution: &[f64], velocity: &[f64]) -> System {
    let n = velocity.len();
    let contacts = restitution.iter().enumerate().map(|(i, e)| {
        let mut normal = vec![0.0; n];
        normal[i] = 1.0;
        if i > 0 {
            normal[i - 1] = -1.0;
        }
        with_restitution(contact(&normal, &[], 0.0), *e)
    });
    System::new(DMatrix::identity(n, n), contacts.collect(), velocity)
}

#[test]
fn a_ball_leaves_the_floor_with_the_fraction_e_of_its_speed() {
    for e in [0.0, 0.3, 1.0] {
        let outcome = resolve(&tower(&[e], &[-2.0]));
        assert_all_close(outcome.velocity_plus.0.as_slice(), &[2.0 * e], 1e-12, "v+");
        assert_all_close(
            phases(&outcome).compression.as_slice(),
            &[2.0],
            1e-12,
            "compression",
        );
        assert!(phases(&outcome).scale == 1.0 && phases(&outcome).residual <= 1e-12);
    }
}

/// The second contact is at rest; its impulses and the friction of the first are rounding, on coordinates that nothing moves.
#[test]
fn rounding_impulses_beside_an_impact_are_no_huge_impulses() {
    let contacts = vec![
        contact(&[0.0, 0.0, 1.0], &[&[-2.0, -2.0, 0.0]], 0.5),
        contact(&[0.0, -1.0, 0.0], &[&[2.0, 0.0, 0.0]], 0.5),
    ];
    let contacts = contacts.into_iter().map(|c| with_restitution(c, 0.5));
    let mass = DMatrix::identity(3, 3) * 2.0;
    let outcome = resolve(&System::new(mass, contacts.collect(), &[0.0, 0.0, -1.0]));
    assert_all_close(
        outcome.velocity_plus.0.as_slice(),
        &[0.0, 0.0, 0.5],
        1e-14,
        "v+",
    );
}

/// The cradle of three: (-1/3, 2/3, 2/3), as Moreau's law.
#[test]
fn the_first_ball_of_a_cradle_rebounds_and_the_others_leave_together() {
    let row = |i: usize| {
        let mut normal = [0.0; 3];
        (normal[i], normal[i + 1]) = (-1.0, 1.0);
        with_restitution(contact(&normal, &[], 0.0), 1.0)
    };
    let system = System::new(
        DMatrix::identity(3, 3),
        vec![row(0), row(1)],
        &[1.0, 0.0, 0.0],
    );
    let outcome = resolve(&system);
    let expected = [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    assert_all_close(outcome.velocity_plus.0.as_slice(), &expected, 1e-12, "v+");
}

/// The lower of two balls rests on the floor; both contacts are compressed by one.
#[test]
fn a_floor_that_is_hit_through_a_resting_ball_gives_back() {
    let outcome = resolve(&tower(&[0.5, 0.5], &[0.0, -1.0]));
    assert_all_close(
        outcome.velocity_plus.0.as_slice(),
        &[0.0, 0.5],
        1e-12,
        "equal",
    );
    // The floor gives back 0.8, the balls 0.3, and 0.1 more keeps them apart.
    let outcome = resolve(&tower(&[0.8, 0.3], &[0.0, -1.0]));
    assert_all_close(
        outcome.velocity_plus.0.as_slice(),
        &[0.4, 0.4],
        1e-12,
        "mixed",
    );
    assert_all_close(outcome.impulses.as_slice(), &[1.8, 1.4], 1e-12, "impulses");
}

/// A ball that fits between two walls has no answer of Moreau's law.
#[test]
fn walls_that_face_each_other_stop_a_ball() {
    for e in [0.25, 1.0] {
        let wall = |side: f64| with_restitution(contact(&[side], &[], 0.0), e);
        let system = System::new(
            DMatrix::identity(1, 1) * 3.0,
            vec![wall(1.0), wall(-1.0)],
            &[-2.0],
        );
        let outcome = resolve(&system);
        assert_all_close(outcome.velocity_plus.0.as_slice(), &[0.0], 1e-12, "v+");
        assert_all_close(
            outcome.impulses.as_slice(),
            &[6.0 * (1.0 + e), 6.0 * e],
            1e-10,
            "impulses",
        );
        assert!(system.pose(|p| MoreauNewton::default().resolve(p).is_err()));
    }
}

/// A block that turns about its left foot until the right one hits.
fn block(restitution: f64, friction: f64) -> (System, f64, [f64; 2]) {
    let (b, h) = (0.3f64, 1.0f64);
    let inertia = (b * b + h * h) / 3.0;
    let foot = |x: f64| {
        let (normal, tangent) = ([0.0, 1.0, x], [1.0, 0.0, h]);
        with_restitution(contact(&normal, &[&tangent], friction), restitution)
    };
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, inertia]));
    let system = System::new(mass, vec![foot(-b), foot(b)], &[h, -b, -1.0]);
    let sine = b / b.hypot(h);
    (system, 1.0 - 1.5 * sine * sine, [b, h])
}

/// Housner 1963: $\omega^+ = \omega^- (1 - \tfrac32\sin^2\alpha)$ about the other foot.
#[test]
fn a_rocking_block_loses_what_housner_says() {
    let (system, kept, [b, h]) = block(0.0, 2.0);
    let outcome = resolve(&system);
    let expected = [kept * h, kept * b, -kept];
    assert_all_close(outcome.velocity_plus.0.as_slice(), &expected, 1e-12, "v+");
    assert!(
        outcome.impulses[0].abs() <= 1e-12,
        "the foot at rest lifts off"
    );
}

/// A ball in space: the tangential impulse is at most $\mu$ times the normal one, or stops the slip.
#[test]
fn a_ball_that_slides_on_a_floor_keeps_coulombs_law_in_both_phases() {
    let rows: [&[f64]; 2] = [&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]];
    let floor = with_restitution(contact(&[0.0, 0.0, 1.0], &rows, 0.5), 0.5);
    let system = System::new(DMatrix::identity(3, 3), vec![floor], &[3.0, 4.0, -2.0]);
    let outcome = resolve(&system);
    // Friction takes half of (1 + e) times the normal impulse, against the sliding.
    let expected = [3.0 - 0.6 * 1.5, 4.0 - 0.8 * 1.5, 1.0];
    assert_all_close(outcome.velocity_plus.0.as_slice(), &expected, 1e-12, "v+");
    let polygon = Poisson::default().with_friction_cone(FrictionCone::Polygon(64));
    let outcome = system.pose(|p| polygon.resolve(p).unwrap());
    // Friction, 1.5 N s, acts along one of 64 directions: up to half an angle between them off.
    let off = 1.5 * std::f64::consts::PI / 64.0;
    assert_all_close(
        outcome.velocity_plus.0.as_slice(),
        &expected,
        off,
        "polygon",
    );
}

/// A table (height, two small turns; unit inertia) falls on its four feet: what each takes is free in one direction.
fn table(restitution: [f64; 4]) -> System {
    let feet = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
    let contacts = feet.iter().zip(restitution).map(|([x, y], e)| {
        let normal = [1.0, *y, -x];
        with_restitution(contact(&normal, &[], 0.0), e)
    });
    System::new(
        DMatrix::identity(3, 3),
        contacts.collect(),
        &[-1.0, 0.0, 0.0],
    )
}

#[test]
fn free_impulses_of_compression_are_told_where_they_move_the_table() {
    for (restitution, is_told) in [
        ([0.5; 4], false),
        ([0.0; 4], false),
        ([1.0, 0.2, 0.5, 0.5], true),
    ] {
        let outcome = resolve(&table(restitution));
        let even = phases(&outcome).compression.as_slice();
        assert_all_close(even, &[0.25; 4], 1e-9, "compression");
        assert_eq!(
            outcome.warnings().contains(&Warning::NotUnique),
            is_told,
            "{restitution:?}"
        );
        assert_eq!(phases(&outcome).family, usize::from(is_told));
    }
    // All feet leave: v+ is that of the impulses that are given back, a quarter of each coefficient.
    let outcome = resolve(&table([1.0, 0.2, 0.5, 0.5]));
    let expected = [2.2 / 4.0, 0.2 / 4.0, -0.8 / 4.0];
    assert_all_close(outcome.velocity_plus.0.as_slice(), &expected, 1e-9, "v+");
}

#[test]
fn nothing_happens_to_contacts_that_open() {
    let outcome = resolve(&tower(&[0.5, 0.5], &[0.0, 1.0]));
    assert_eq!(outcome.status, ImpactStatus::Separating);
}

/// Frictionless contacts with one e that compression closes: $v^+ = v_c + e(v_c - v^-)$.
#[test]
fn without_friction_closed_contacts_answer_as_in_moreaus_law() {
    let mut random = Random(5);
    for _ in 0..20 {
        let e = random.unit();
        let system = tower(
            &[e; 4],
            &[-1.0, -1.5, -2.5, -4.0].map(|v| v * (0.9 + 0.1 * random.unit())),
        );
        let outcome = resolve(&system);
        let moreau = system.pose(|p| MoreauNewton::default().resolve(p).unwrap());
        let expected = moreau.velocity_plus.0.as_slice();
        if moreau.impulses.iter().all(|l| *l > 0.0)
            && phases(&outcome).compression.iter().all(|l| *l > 0.0)
        {
            assert_all_close(outcome.velocity_plus.0.as_slice(), expected, 1e-10, "v+");
        }
    }
}

/// Random contacts of some bodies: every third opposes another, every fifth repeats one.
fn jumble(random: &mut Random, n_contacts: usize, n_tangents: usize) -> System {
    let n_bodies = 1 + n_contacts / 3;
    let width = if n_tangents == 1 { 3 } else { 6 };
    let n = n_bodies * width;
    let mass = DVector::from_fn(n, |_, _| 0.5 + 1.5 * random.unit());
    let mut contacts: Vec<Contact> = Vec::new();
    for i in 0..n_contacts {
        let restitution = if random.unit() < 0.3 {
            0.0
        } else {
            random.unit()
        };
        let friction = if random.unit() < 0.3 {
            0.0
        } else {
            random.unit()
        };
        if i % 3 == 2 || i % 5 == 4 {
            let mut copy = contacts[random.below(i)].clone();
            if i % 3 == 2 {
                copy.normal.0.neg_mut();
            }
            (copy.restitution, copy.friction) = (restitution, friction);
            contacts.push(copy);
            continue;
        }
        let first = random.below(n_bodies);
        let second = random.below(n_bodies);
        let row = |random: &mut Random| {
            let mut row = vec![0.0; n];
            for body in [first, second] {
                for x in &mut row[body * width..(body + 1) * width] {
                    *x = random.signed();
                }
            }
            row
        };
        let normal = row(random);
        let tangents: Vec<Vec<f64>> = (0..n_tangents).map(|_| row(random)).collect();
        let tangents: Vec<&[f64]> = tangents.iter().map(Vec::as_slice).collect();
        contacts.push(with_restitution(
            contact(&normal, &tangents, friction),
            restitution,
        ));
    }
    let velocity: Vec<f64> = (0..n).map(|_| random.signed()).collect();
    System::new(DMatrix::from_diagonal(&mass), contacts, &velocity)
}

/// Violations of both phases, recomputed from the impulses: of the conditions of contact, over the
/// largest energy root of velocities and impulses.
fn violation(system: &System, outcome: &ImpactOutcome) -> f64 {
    system.pose(|problem| {
        let contacts = problem.contacts();
        let rows = contacts
            .contacts()
            .iter()
            .flat_map(|contact| std::iter::once(&contact.normal).chain(&contact.tangents));
        let jacobian: Vec<DVector<f64>> = rows.map(|row| row.0.clone()).collect();
        let j = DMatrix::from_fn(jacobian.len(), jacobian[0].len(), |r, c| jacobian[r][c]);
        let inverse = contacts
            .metric()
            .mass_matrix()
            .clone()
            .try_inverse()
            .unwrap();
        let g = &j * inverse * j.transpose();
        let before = &j * &problem.velocity_minus().0;
        let told = phases(outcome);
        let compression = &told.compression;
        let middle = &before + &g * compression;
        let expansion = &outcome.impulses - compression;
        let after = &middle + &g * &expansion;
        let mut worst = 0.0f64;
        let mut size = 0.0f64;
        for (i, given) in contacts.indexed() {
            let rows = contacts.row_range(i);
            let root = rows.clone().map(|r| g[(r, r)]).fold(0.0, f64::max).sqrt();
            let floor = told.scale * given.restitution * compression[rows.start].max(0.0) * root;
            for (l, u, floor) in [(compression, &middle, 0.0), (&expansion, &after, floor)] {
                let (ln, un) = (l[rows.start] * root, u[rows.start] / root);
                let lt: Vec<f64> = (rows.start + 1..rows.end).map(|r| l[r] * root).collect();
                let ut: Vec<f64> = (rows.start + 1..rows.end).map(|r| u[r] / root).collect();
                let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let (push, slip) = (norm(&lt), norm(&ut));
                let most = given.friction * ln;
                let work: f64 = lt.iter().zip(&ut).map(|(l, u)| l * u).sum();
                let mut missed = vec![floor - ln, -un, (ln - floor).min(un), push - most];
                if given.friction > 0.0 {
                    missed.push((most * slip + work) / slip.max(most).max(1e-300));
                }
                worst = missed.into_iter().fold(worst, f64::max);
                size = size
                    .max(ln.abs())
                    .max(push)
                    .max(before[rows.start].abs() / root);
            }
        }
        worst / size
    })
}

fn check_jumbles(n_tangents: usize, sizes: &[usize], seeds: usize) {
    let mut random = Random(17 + n_tangents as u64);
    for &n_contacts in sizes {
        for seed in 0..seeds {
            let system = jumble(&mut random, n_contacts, n_tangents);
            let name = format!("{n_tangents} tangents, {n_contacts} contacts, seed {seed}");
            let found: Result<ImpactOutcome, ImpactError> =
                system.pose(|p| Poisson::default().resolve(p));
            let outcome = found.unwrap_or_else(|error| panic!("{name}: {error}"));
            if outcome.status == ImpactStatus::Separating {
                continue;
            }
            assert!(
                outcome.audit.energy_plus_j <= outcome.audit.energy_minus_j * (1.0 + 1e-12),
                "{name}"
            );
            let violation = violation(&system, &outcome);
            assert!(violation <= 1e-9, "{name}: {violation:e}");
            assert!(phases(&outcome).residual <= 1e-9, "{name}");
        }
    }
}

#[test]
fn planar_contacts_that_jam_repeat_and_differ_have_an_answer() {
    check_jumbles(1, &[1, 2, 3, 6, 12, 24], 8);
}

#[test]
fn spatial_contacts_that_jam_repeat_and_differ_have_an_answer() {
    check_jumbles(2, &[1, 2, 3, 6, 12, 24], 8);
}
