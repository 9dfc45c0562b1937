//! Adjoints of derivatives: products with the derivative along every direction, Jacobians, ties, dependencies.

use crate::jacobians::{Data, Kind, laws, numbers, random, random_direction};
use carom_contact::{Contact, FrictionCone, ImpactError, ImpactLaw};
use carom_derivative::{
    Cotangent, Differentiability, DifferentiableLaw, Direction, Gradient, Wrt, differentiate,
};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton};
use carom_impact::{EnergeticRestitution, Law, NonholonomicProjectedNewton, Plastic, Propagative};
use carom_metric::Covector;
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

/// Random problems of each law.
const N_PROBLEMS: u64 = 1000;

/// Difference of a product with an adjoint from that with the derivative, over the sum of its terms.
const SAME_PRODUCT: f64 = 1e-11;

/// The product of cotangents with a direction, and the sum of the sizes of its terms.
fn product(cotangent: &Cotangent, direction: &Direction) -> (f64, f64) {
    let mut terms: Vec<f64> = Vec::new();
    let mut add = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        terms.extend(a.iter().zip(b).map(|(a, b)| a * b));
    };
    if let Some(velocity) = &direction.velocity {
        add(cotangent.velocity.as_slice(), velocity.as_slice());
    }
    if let Some(mass) = &direction.mass {
        add(cotangent.mass.as_slice(), mass.as_slice());
    }
    if let Some(rows) = &direction.rows {
        add(cotangent.rows.as_slice(), rows.as_slice());
    }
    if let Some(friction) = &direction.friction {
        add(cotangent.friction.as_slice(), friction.as_slice());
    }
    if let Some(restitution) = &direction.restitution {
        add(cotangent.restitution.as_slice(), restitution.as_slice());
    }
    if direction.event_restitution != 0.0 {
        add(
            cotangent.restitution.as_slice(),
            &[direction.event_restitution],
        );
    }
    if let Some(constraints) = &direction.constraints {
        add(cotangent.constraints.as_slice(), constraints.as_slice());
    }
    (terms.iter().sum(), terms.iter().map(|x| x.abs()).sum())
}

/// A direction of everything that the law depends on.
fn direction_for(law: &Law, data: &Data, kind: Kind, seed: u64) -> Direction {
    let mut direction = random_direction(data, kind, seed);
    if law.has_event_restitution() {
        direction.restitution = None;
        direction.event_restitution = 0.7;
    }
    direction
}

#[test]
fn a_cotangent_pulled_back_does_along_every_direction_what_the_derivative_does() {
    for (place, (law, kind)) in laws().into_iter().enumerate() {
        let name = law.info().name;
        let mut smooth = 0;
        for seed in 0..N_PROBLEMS {
            let data = random(kind, seed);
            let direction = direction_for(&law, &data, kind, seed);
            let mut rng = CounterRng::new(seed, 29, 0);
            let w = numbers(&mut rng, kind.n);
            let found = data.try_differentiated(&law, |derivative, _| {
                let Some(along) = derivative.along(&direction).unwrap() else {
                    return;
                };
                let Some(along) = along.velocity_plus else {
                    return;
                };
                let pulled = derivative.pull_back(&w).unwrap();
                let (made, terms) = product(&pulled, &direction);
                let expected = w.dot(&along);
                let size = terms + w.norm() * along.norm();
                assert!(
                    (made - expected).abs() <= SAME_PRODUCT * size,
                    "{name} {place} {seed}: {made:e} instead of {expected:e}, of {size:e}"
                );
                let by_jacobian = derivative.dv_dv().unwrap().tr_mul(&w);
                let difference = (&pulled.velocity - &by_jacobian).amax();
                assert!(
                    difference <= SAME_PRODUCT * by_jacobian.amax().max(w.amax()),
                    "{name} {place} {seed}: {difference:e}"
                );
                assert_eq!(pulled.mass, pulled.mass.transpose());
                let alone = derivative.pull_back_to(&w, Gradient::VELOCITY).unwrap();
                assert!(
                    (alone.velocity - &pulled.velocity).amax() <= 1e-12 * pulled.velocity.amax()
                );
                assert!(alone.mass.is_empty() && alone.rows.is_empty());
                smooth += 1;
            });
            crate::jacobians::assert_answered_or_refused(found);
        }
        assert!(smooth > N_PROBLEMS / 3, "{name} {place}: {smooth}");
    }
}

/// A box on a plane in space, with its corners as contacts: each normal depends on the others.
fn resting_box(friction: f64, restitution: f64, velocity: DVector<f64>) -> Data {
    let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
    let contacts = corners.map(|[x, y]| {
        Contact::new(Covector(dvector![0.0, 0.0, 1.0, y, -x, 0.0]))
            .with_tangents(vec![
                Covector(dvector![1.0, 0.0, 0.0, 0.0, -0.5, -y]),
                Covector(dvector![0.0, 1.0, 0.0, 0.5, 0.0, x]),
            ])
            .with_friction(friction)
            .with_restitution(restitution)
    });
    Data {
        mass: DMatrix::from_diagonal(&dvector![2.0, 2.0, 2.0, 0.9, 0.8, 1.1]),
        velocity,
        contacts: contacts.to_vec(),
        forms: Vec::new(),
    }
}

#[test]
fn changes_that_break_a_dependency_of_corners_are_unknown_and_all_others_known() {
    let laws: [(Law, f64, f64); 4] = [
        (Plastic::default().into(), 0.0, 0.0),
        (MoreauNewton::default().into(), 0.8, 0.4),
        (
            AnitescuPotra::default()
                .with_friction_cone(FrictionCone::Polygon(4))
                .into(),
            0.9,
            0.0,
        ),
        (AnitescuPotra::default().into(), 0.9, 0.0),
    ];
    let mut rng = CounterRng::new(5, 31, 0);
    let mut compared = 0;
    for (law, friction, restitution) in laws {
        let velocity = dvector![0.05, -0.02, -1.0, 0.01, 0.02, 0.01];
        let data = resting_box(friction, restitution, velocity);
        let w = numbers(&mut rng, 6);
        data.differentiated(&law, |derivative, _| {
            if derivative.class() != Some(Differentiability::Smooth) {
                return;
            }
            let pulled = derivative.pull_back(&w).unwrap();
            for i in 0..data.contacts.len() * 3 {
                for j in 0..6 {
                    let mut rows = DMatrix::zeros(12, 6);
                    rows[(i, j)] = 1.0;
                    let direction = Direction::default().with_rows(Some(rows));
                    let along = derivative.along(&direction).unwrap().unwrap();
                    match along.velocity_plus {
                        Some(along) => {
                            let missed = pulled.rows[(i, j)] - w.dot(&along);
                            assert!(missed.abs() <= 1e-11 * w.norm(), "{missed:e}");
                            compared += 1;
                        }
                        None => assert!(pulled.rows[(i, j)].is_nan(), "{i} {j}"),
                    }
                }
            }
            let a = DMatrix::from_fn(6, 6, |_, _| rng.next_uniform() - 0.5);
            let direction = Direction::default()
                .with_mass(Some(&a + a.transpose()))
                .with_friction(Some(numbers(&mut rng, 4)))
                .with_restitution(Some(numbers(&mut rng, 4)))
                .with_velocity(Some(numbers(&mut rng, 6)));
            if let Some(along) = derivative.along(&direction).unwrap().unwrap().velocity_plus {
                let (made, terms) = product(&pulled, &direction);
                let missed = made - w.dot(&along);
                assert!(
                    missed.abs() <= SAME_PRODUCT * (terms + w.norm() * (1.0 + along.norm())),
                    "{missed:e} {} {pulled:?}",
                    law.name()
                );
                compared += 1;
            }
        });
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn a_kink_pulls_back_by_the_piece_that_the_law_answers() {
    let contact = Contact::new(Covector(dvector![0.0, 1.0]))
        .with_tangents(vec![Covector(dvector![1.0, 0.0])])
        .with_friction(0.5);
    let data = Data {
        mass: DMatrix::identity(2, 2),
        velocity: dvector![0.5, -1.0],
        contacts: vec![contact],
        forms: Vec::new(),
    };
    let law = AnitescuPotra::default().into();
    data.differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Kink));
        assert!(derivative.dv_dv().is_none());
        let own = derivative.own_piece().unwrap();
        assert_eq!(own.dv_dv.as_ref(), Some(&derivative.pieces()[0].dv_dv));
        let w = dvector![0.3, -0.4];
        let pulled = derivative.pull_back(&w).unwrap();
        let expected = own.dv_dv.as_ref().unwrap().tr_mul(&w);
        assert!((pulled.velocity - expected).amax() <= 1e-15);
        let friction = own.dv_dfriction.as_ref().unwrap().tr_mul(&w);
        assert!((pulled.friction - friction).amax() <= 1e-15);
    });
}

#[test]
fn where_nothing_happens_a_cotangent_stays() {
    let data = Data {
        mass: dmatrix![2.0, 0.3; 0.3, 1.0],
        velocity: dvector![0.1, 1.0],
        contacts: vec![Contact::frictionless(Covector(dvector![0.0, 1.0]))],
        forms: Vec::new(),
    };
    let restitution = EnergeticRestitution::new(0.5).unwrap();
    let law = Propagative::default().with_restitution(restitution);
    data.differentiated(&law.into(), |derivative, _| {
        let w = dvector![0.1, 0.7];
        let pulled = derivative.pull_back(&w).unwrap();
        assert_eq!(pulled.velocity, w);
        assert_eq!(pulled.restitution, dvector![0.0]);
        assert_eq!(pulled.mass, DMatrix::zeros(2, 2));
        let short = derivative.pull_back(&dvector![1.0]);
        assert!(matches!(
            short,
            Err(ImpactError::InvalidDirection {
                expected: 2,
                found: 1,
                ..
            })
        ));
    });
}

#[test]
fn one_restitution_holds_for_the_event_of_a_propagative_law() {
    let event: [Law; 2] = [
        Propagative::default().into(),
        NonholonomicProjectedNewton::default()
            .with_restitution(0.5)
            .into(),
    ];
    assert!(event.iter().all(|law| law.has_event_restitution()));
    let law: Law = MoreauNewton::default().into();
    assert!(!law.has_event_restitution());
    // Two equal balls: v⁺ moves from the mean to the exchange as the restitution does from 0 to 1.
    let data = Data {
        mass: DMatrix::identity(2, 2),
        velocity: dvector![1.0, 0.0],
        contacts: vec![Contact::frictionless(Covector(dvector![-1.0, 1.0]))],
        forms: Vec::new(),
    };
    data.differentiated(&event[0], |derivative, _| {
        let pulled = derivative.pull_back(&dvector![1.0, 3.0]).unwrap();
        assert!((pulled.restitution[0] - 1.0).abs() <= 1e-14);
    });
}

#[test]
fn jacobians_that_were_not_asked_for_do_not_keep_a_cotangent_from_being_pulled_back() {
    let data = random(laws()[6].1, 3);
    let law = &laws()[6].0;
    let nothing = Wrt::ALL
        .with_velocity(false)
        .with_friction(false)
        .with_restitution(false);
    let w = DVector::from_element(data.velocity.len(), 0.5);
    let pulled = |wrt: &Wrt| {
        data.with(|problem| {
            let (_, derivative) = differentiate(law, problem, wrt, 1e-9)?;
            derivative.pull_back(&w)
        })
        .unwrap()
        .unwrap()
    };
    assert_eq!(pulled(&nothing), pulled(&Wrt::ALL));
}

#[test]
fn rows_that_turn_see_the_motion_of_a_train_that_they_did_not_see() {
    // A point falls slowly onto the floor of a fast train; the floor turns as v⁺ = −e n·v n + ….
    let fast = 3000.0;
    let data = Data {
        mass: DMatrix::identity(2, 2) * 2.0,
        velocity: dvector![fast, -1.0],
        contacts: vec![Contact::frictionless(Covector(dvector![0.0, 1.0])).with_restitution(0.5)],
        forms: Vec::new(),
    };
    let direction = Direction::default().with_rows(Some(dmatrix![1.0, 0.0]));
    let laws: [(Law, f64); 4] = [
        (MoreauNewton::default().into(), 0.5),
        (carom_impact::Routh::default().into(), 0.5),
        (Plastic::default().into(), 0.0),
        (Propagative::default().into(), 1.0),
    ];
    for (law, e) in laws {
        // d/dε of v − (1 + e)(n·v)n at n = (ε, 1), of unit length to first order.
        let expected = dvector![1.0 + e, -(1.0 + e) * fast];
        data.differentiated(&law, |derivative, _| {
            let along = derivative.along(&direction).unwrap().unwrap();
            let missed = (along.velocity_plus.unwrap() - &expected).amax();
            assert!(missed <= 1e-9 * fast, "{}: {missed:e}", law.name());
            for k in 0..2 {
                let mut w = DVector::zeros(2);
                w[k] = 1.0;
                let pulled = derivative.pull_back(&w).unwrap();
                let missed = pulled.rows[(0, 0)] - expected[k];
                assert!(missed.abs() <= 1e-9 * fast, "{}: {missed:e}", law.name());
            }
        });
    }
}
