//! The class of a derivative is what the law itself does for velocities nearby.

use crate::jacobians::{Data, numbers};
use carom_contact::{Contact, ImpactLaw};
use carom_derivative::{Differentiability, TieKind, Wrt, differentiate};
use carom_impact::Law;
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Sequential};
use carom_impact::{EnergeticRestitution, Plastic, Propagative};
use carom_metric::Covector;
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector, Vector3, dvector};

/// Change of the velocity, as a fraction of it, at which the law is evaluated.
const STEP: f64 = 1e-6;

/// Derivatives of the outcome along tangents and normals that count as different.
const DIFFERENT: f64 = 1e-3;

/// Change of the outcome, in steps, from which on the outcome jumps. Rows of nearly dependent contacts amplify steps.
const JUMP: f64 = 1e3;

const N_DIRECTIONS: usize = 12;

/// True if all contacts of [`clusters`] are at rest.
fn all_rest(seed: u64) -> bool {
    (seed / 9).is_multiple_of(3)
}

/// Bodies in one to three contacts, one or all of which may be at rest before the impact up to rounding.
fn clusters(seed: u64, friction: f64) -> Data {
    let mut rng = CounterRng::new(seed, 57, 0);
    let mut draw = |n: usize| {
        (0..n)
            .map(|_| 2.0 * rng.next_uniform() - 1.0)
            .collect::<Vec<_>>()
    };
    let n = 4;
    let mass = DMatrix::from_diagonal(&DVector::from_vec(draw(n)).map(|x| (2.0 * x).exp()));
    let n_contacts = 1 + (seed % 3) as usize;
    let restitution = [0.0, 0.5, 1.0][(seed / 3 % 3) as usize];
    let rows: Vec<[DVector<f64>; 2]> = (0..n_contacts)
        .map(|_| [DVector::from_vec(draw(n)), DVector::from_vec(draw(n))])
        .collect();
    let mut velocity = DVector::from_vec(draw(n));
    let n_rest = if all_rest(seed) { n_contacts } else { 1 };
    let resting = rows.iter().take(n_rest).map(|[normal, _]| normal.clone());
    let span = DMatrix::from_columns(&resting.collect::<Vec<_>>()).qr().q();
    velocity -= &span * span.tr_mul(&velocity);
    let contact = |[normal, tangent]: &[DVector<f64>; 2]| {
        let sign = if normal.dot(&velocity) > 0.0 {
            -1.0
        } else {
            1.0
        };
        Contact::new(Covector(sign * normal))
            .with_tangents(vec![Covector(tangent.clone())])
            .with_friction(friction)
            .with_restitution(restitution)
    };
    let contacts = rows.iter().map(contact).collect();
    Data {
        mass,
        velocity,
        contacts,
        forms: Vec::new(),
    }
}

/// Compares the class of the derivative of `law` with answers of the law nearby. Returns what contradicts the class, if
/// anything does; the outer `None` if the class or an answer nearby is not known.
fn contradiction(law: &Law, data: &Data) -> Option<Option<String>> {
    let answer = |velocity: &DVector<f64>| {
        let moved = Data {
            velocity: velocity.clone(),
            ..data.clone()
        };
        let outcome = moved.with(|problem| law.resolve(problem)).ok()?.ok()?;
        Some(outcome.velocity_plus.0)
    };
    let told = data.with(|problem| {
        let (outcome, derivative) = differentiate(law, problem, &Wrt::WITH_PIECES, 1e-9).ok()?;
        Some((
            derivative.class()?,
            derivative.margin(),
            derivative.dv_dv().cloned(),
            outcome.velocity_plus.0,
        ))
    });
    let (class, margin, jacobian, plus) = told.ok()??;
    let step = STEP * data.velocity.norm();
    let rows = data
        .contacts
        .iter()
        .flat_map(|c| std::iter::once(&c.normal).chain(&c.tangents));
    let mut directions: Vec<DVector<f64>> = rows.flat_map(|row| [row.0.clone(), -&row.0]).collect();
    let mut rng = CounterRng::new(58, 0, 0);
    directions.extend((0..N_DIRECTIONS).map(|_| numbers(&mut rng, plus.len())));
    let mut answers = Vec::new();
    for direction in &directions {
        let by = step * direction.normalize();
        answers.push((by.clone(), answer(&(&data.velocity + &by))? - &plus));
    }
    let jumps = answers
        .iter()
        .any(|(_, change)| change.norm() > JUMP * step);
    match class {
        // Another decision may follow within the step.
        Differentiability::Smooth if margin.is_some_and(|margin| margin < 4.0 * STEP) => Some(None),
        Differentiability::Smooth => {
            let jacobian = jacobian?;
            let missed =
                |(by, change): &(DVector<f64>, DVector<f64>)| (change - &jacobian * by).norm();
            let most = answers.iter().map(missed).fold(0.0, f64::max) / step;
            Some((most > DIFFERENT).then(|| format!("smooth, but {most:e} off")))
        }
        Differentiability::Kink => Some(jumps.then(|| "kink, but the law jumps".into())),
        Differentiability::Jump => Some((!jumps).then(|| "jump, but the law is continuous".into())),
        _ => None,
    }
}

#[test]
fn the_class_is_what_the_law_does_nearby() {
    let elastic = Propagative::default().with_restitution(EnergeticRestitution::ELASTIC);
    let laws: [(Law, f64); 6] = [
        (MoreauNewton::default().into(), 0.0),
        (MoreauNewton::default().into(), 0.2),
        (AnitescuPotra::default().into(), 0.2),
        (Sequential::default().into(), 0.2),
        (Plastic::default().into(), 0.0),
        (elastic.into(), 0.0),
    ];
    let mut wrong = Vec::new();
    for (law, friction) in &laws {
        let seeds = 0..270;
        let (mut asked, mut compared) = (0, 0);
        for seed in seeds {
            asked += 1;
            let Some(what) = contradiction(law, &clusters(seed, *friction)) else {
                continue;
            };
            compared += 1;
            wrong.extend(what.map(|what| format!("{} {friction} {seed}: {what}", law.name())));
        }
        let name = law.name();
        assert!(5 * compared >= 4 * asked, "{name}: {compared} of {asked}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Seen from a fast frame, rounding hides whether a contact at rest approaches.
#[test]
fn a_contact_at_rest_is_a_kink_in_a_fast_frame_too() {
    for seed in 0..20 {
        let mut rng = CounterRng::new(seed, 59, 0);
        let mut draw = || numbers(&mut rng, 5);
        let turn = DMatrix::from_columns(&[draw(), draw(), draw(), draw(), draw()])
            .qr()
            .q();
        let row = |k: usize| Covector(turn.column(k).into_owned());
        let boost = if seed % 2 == 0 { 0.0 } else { 4e5 };
        let data = Data {
            mass: DMatrix::identity(5, 5),
            velocity: 0.2 * turn.column(1) - 0.3 * turn.column(2) + boost * turn.column(3),
            contacts: vec![
                Contact::new(row(0))
                    .with_tangents(vec![row(1), row(2)])
                    .with_friction(0.8)
                    .with_restitution(1.0),
            ],
            forms: Vec::new(),
        };
        let class = |law: Law| {
            data.differentiated(&law, |derivative, _| {
                (derivative.class(), derivative.margin())
            })
        };
        let kink = (Some(Differentiability::Kink), Some(0.0));
        assert_eq!(class(MoreauNewton::default().into()), kink, "{seed}");
        assert_eq!(class(AnitescuPotra::default().into()), kink, "{seed}");
    }
}

/// A body on three to eight points, with friction, that falls and turns.
fn on_points(seed: u64) -> Data {
    let mut rng = CounterRng::new(seed, 60, 0);
    let mut draw = |n: usize| numbers(&mut rng, n);
    let n_points = 3 + (seed % 6) as usize;
    let point = |at: DVector<f64>, friction: f64| {
        let row = |axis: usize| {
            let direction = Vector3::ith(axis, 1.0);
            let moment = Vector3::new(at[0], at[1], -0.5).cross(&direction);
            let entries = direction.iter().chain(moment.iter()).copied();
            Covector(DVector::from_iterator(6, entries))
        };
        Contact::new(row(2))
            .with_tangents(vec![row(0), row(1)])
            .with_friction(friction)
    };
    let mut velocity = draw(6);
    velocity[2] = -velocity[2].abs() - 1.0;
    let contacts = (0..n_points).map(|_| {
        let (at, part) = (draw(2), draw(1)[0].abs().fract());
        point(at, 0.1 + 0.9 * part)
    });
    let contacts = contacts.collect();
    Data {
        mass: DMatrix::from_diagonal(&dvector![1.0, 1.0, 1.0, 0.2, 0.25, 0.3]),
        velocity,
        contacts,
        forms: Vec::new(),
    }
}

/// Contacts that push inside their friction cones stop the body whatever the others do: no decision of these has an effect. The
/// law was evaluated in many directions, and the list of branches counted as incomplete.
#[test]
fn contacts_that_a_body_at_rest_does_not_need_decide_nothing() {
    let law: Law = AnitescuPotra::default().into();
    let mut at_rest = 0;
    for seed in 0..150 {
        let data = on_points(seed);
        let told = data.with(|problem| {
            let (outcome, derivative) =
                differentiate(&law, problem, &Wrt::WITH_PIECES, 1e-9).unwrap();
            let jacobian = derivative.dv_dv().map(|d| d.amax());
            let told = (derivative.class(), derivative.is_complete());
            (outcome.velocity_plus.0.norm(), told, jacobian)
        });
        let (speed, told, jacobian) = told.unwrap();
        if speed < 1e-9 {
            at_rest += 1;
            assert_eq!(told, (Some(Differentiability::Smooth), true), "{seed}");
            assert!(jacobian.unwrap() < 1e-9, "{seed}: {jacobian:?}");
        }
    }
    assert!(at_rest >= 20, "{at_rest}");
}

/// Strikes in turn bring a body to rest just as it stops sliding: beside such a velocity it stops, or slides on. All branches that were
/// found slid, so that this was smooth.
#[test]
fn a_slide_that_just_stops_in_a_long_sequence_is_a_kink() {
    let contact = |normal: [f64; 3], tangent: [f64; 3]| {
        Contact::new(Covector::from_slice(&normal))
            .with_tangents(vec![Covector::from_slice(&tangent)])
            .with_friction(0.5)
            .with_restitution(0.5)
    };
    let data = Data {
        mass: 2.0 * DMatrix::identity(3, 3),
        velocity: dvector![-2.0, -1.0, 2.0],
        contacts: vec![
            contact([1.0, -1.0, 0.0], [-1.0, -2.0, 0.0]),
            contact([-1.0, 1.0, -1.0], [1.0, -1.0, 0.0]),
        ],
        forms: Vec::new(),
    };
    let law: Law = Sequential::default().into();
    // Along the last column of the span of both contacts.
    for (step, part) in [(1e-6, 0.0), (-1e-6, 1.0)] {
        let moved = Data {
            velocity: &data.velocity + dvector![step, step, 0.0],
            ..data.clone()
        };
        let outcome = moved.with(|problem| law.resolve(problem)).unwrap().unwrap();
        let left = outcome.velocity_plus.0.norm() / 1e-6;
        assert!((left > 0.1) == (part > 0.5), "{step}: {left}");
    }
    let told = data.with(|problem| {
        let (_, derivative) = differentiate(&law, problem, &Wrt::WITH_PIECES, 1e-9).unwrap();
        (derivative.class(), derivative.ties()[0].kind)
    });
    let kink = (Some(Differentiability::Kink), TieKind::Sticking);
    assert_eq!(told.unwrap(), kink);
}

/// Unless pieces are asked for, a tie is told by the decisions at equality; one without consequence is not told.
#[test]
fn a_tie_names_its_decisions() {
    let contact = |normal: &[f64], tangent: &[f64]| {
        Contact::new(Covector::from_slice(normal))
            .with_tangents(vec![Covector::from_slice(tangent)])
            .with_friction(0.5)
    };
    let point = |velocity| Data {
        mass: DMatrix::identity(2, 2),
        velocity,
        contacts: vec![contact(&[0.0, 1.0], &[1.0, 0.0])],
        forms: Vec::new(),
    };
    let row = |entries: &[f64]| Contact::frictionless(Covector::from_slice(entries));
    let balls = |middle: f64| Data {
        mass: DMatrix::from_diagonal(&dvector![1.0, middle, 1.0]),
        velocity: dvector![1.0, 0.0, -1.0],
        contacts: vec![row(&[-1.0, 1.0, 0.0]), row(&[0.0, -1.0, 1.0])],
        forms: Vec::new(),
    };
    let told = |law: Law, data: Data| {
        let told = data.with(|problem| {
            let (_, derivative) = differentiate(&law, problem, &Wrt::ALL, 1e-9).unwrap();
            let ties = derivative.ties().iter();
            let ties = ties.map(|tie| (tie.contact, tie.row, tie.kind));
            assert!(derivative.pieces().is_empty());
            (derivative.class().unwrap(), ties.collect::<Vec<_>>())
        });
        told.unwrap()
    };
    let tied = |tie| (Differentiability::Tied, vec![tie]);
    let elastic = || Law::from(Propagative::default());
    let at_once = || Law::from(AnitescuPotra::default());
    assert_eq!(told(elastic(), balls(2.0)), tied((1, 0, TieKind::Order)));
    let smooth = (Differentiability::Smooth, Vec::new());
    assert_eq!(told(elastic(), balls(1.0)), smooth);
    let slides = point(dvector![0.5, -1.0]);
    assert_eq!(told(at_once(), slides), tied((0, 1, TieKind::Sticking)));
    let rests = point(dvector![1.0, 0.0]);
    assert_eq!(told(at_once(), rests), tied((0, 0, TieKind::Touching)));
}
