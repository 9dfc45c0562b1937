//! Derivatives of impacts: closed forms, identities, differences of the law itself.

use crate::support::common::assert_close;
use carom_contact::{
    Contact, ContactSet, FrictionCone, ImpactError, ImpactLaw, ImpactProblem, SetValuedLaw,
};
use carom_derivative::{
    Derivative, Differentiability, Direction, TieKind, Wrt, by_differences, differentiate,
    of_outcome, saltation,
};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Sequential, SetValued};
use carom_impact::{
    EnergeticRestitution, Law, NonholonomicElastic, NonholonomicNewton,
    NonholonomicProjectedNewton, Plastic, Propagative, Rough, Routh,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_numeric::random::CounterRng;
use carom_two_body::{ImpactOptions, RestitutionLaw};
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

const TOLERANCE: f64 = 1e-9;

/// Random problems of each law for which identities are checked.
const N_PROBLEMS: u64 = 400;

/// Data of an impact that can be moved along a direction.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) mass: DMatrix<f64>,
    pub(crate) velocity: DVector<f64>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) forms: Vec<Covector>,
}

impl Data {
    pub(crate) fn with<T>(&self, f: impl FnOnce(&ImpactProblem) -> T) -> Result<T, ImpactError> {
        let metric = KineticMetric::new(self.mass.clone())?;
        let contacts = ContactSet::constrained(&metric, self.contacts.clone(), self.forms.clone())?;
        let problem = ImpactProblem::new(&contacts, Tangent(self.velocity.clone()))?;
        Ok(f(&problem))
    }

    fn outcome(&self, law: &Law) -> Result<(DVector<f64>, DVector<f64>), ImpactError> {
        let outcome = self.with(|problem| law.resolve(problem))??;
        Ok((outcome.velocity_plus.0, outcome.impulses))
    }

    pub(crate) fn differentiated<T>(
        &self,
        law: &Law,
        f: impl FnOnce(&Derivative<'_>, &DVector<f64>) -> T,
    ) -> T {
        self.try_differentiated(law, f).unwrap()
    }

    pub(crate) fn try_differentiated<T>(
        &self,
        law: &Law,
        f: impl FnOnce(&Derivative<'_>, &DVector<f64>) -> T,
    ) -> Result<T, ImpactError> {
        self.with(|problem| {
            let (outcome, derivative) = differentiate(law, problem, &Wrt::WITH_PIECES, TOLERANCE)?;
            Ok(f(&derivative, &outcome.velocity_plus.0))
        })?
    }

    fn moved(&self, by: &Direction, step: f64) -> Self {
        let mut data = self.clone();
        if let Some(velocity) = &by.velocity {
            data.velocity += step * velocity;
        }
        if let Some(mass) = &by.mass {
            data.mass += step * mass;
        }
        let mut row = 0;
        for (i, contact) in data.contacts.iter_mut().enumerate() {
            for covector in std::iter::once(&mut contact.normal).chain(&mut contact.tangents) {
                if let Some(rows) = &by.rows {
                    covector.0 += step * rows.row(row).transpose();
                }
                row += 1;
            }
            contact.friction += by.friction.as_ref().map_or(0.0, |x| step * x[i]);
            contact.restitution += by.restitution.as_ref().map_or(0.0, |x| step * x[i]);
        }
        for (k, form) in data.forms.iter_mut().enumerate() {
            if let Some(forms) = &by.constraints {
                form.0 += step * forms.row(k).transpose();
            }
        }
        data
    }
}

/// Ingredients of random problems.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) n: usize,
    pub(crate) contacts: usize,
    pub(crate) tangents: usize,
    pub(crate) forms: usize,
    pub(crate) has_friction: bool,
    pub(crate) has_restitution: bool,
}

fn normal(rng: &mut CounterRng) -> f64 {
    (0..12).map(|_| rng.next_uniform()).sum::<f64>() - 6.0
}

pub(crate) fn numbers(rng: &mut CounterRng, n: usize) -> DVector<f64> {
    DVector::from_fn(n, |_, _| normal(rng))
}

pub(crate) fn random(kind: Kind, seed: u64) -> Data {
    let mut rng = CounterRng::new(seed, 17, 0);
    let n = kind.n;
    let a = DMatrix::from_fn(n, n, |_, _| normal(&mut rng));
    let mass = &a * a.transpose() + 0.5 * DMatrix::identity(n, n);
    let mut velocity = numbers(&mut rng, n);
    let contacts: Vec<Contact> = (0..kind.contacts)
        .map(|_| {
            Contact::new(Covector(numbers(&mut rng, n)))
                .with_tangents(
                    (0..kind.tangents)
                        .map(|_| Covector(numbers(&mut rng, n)))
                        .collect::<Vec<_>>(),
                )
                .with_friction(if kind.has_friction {
                    0.1 + rng.next_uniform()
                } else {
                    0.0
                })
                .with_restitution(if kind.has_restitution {
                    0.1 + 0.8 * rng.next_uniform()
                } else {
                    0.0
                })
        })
        .collect();
    let forms: Vec<Covector> = (0..kind.forms)
        .map(|_| Covector(numbers(&mut rng, n)))
        .collect();
    velocity = admissible(&forms, velocity, &DVector::zeros(kind.forms));
    if contacts[0].normal.0.dot(&velocity) > 0.0 {
        velocity = -velocity;
    }
    Data {
        mass,
        velocity,
        contacts,
        forms,
    }
}

/// The velocity nearest to `velocity` with the given velocities of forms.
fn admissible(forms: &[Covector], velocity: DVector<f64>, wanted: &DVector<f64>) -> DVector<f64> {
    if forms.is_empty() {
        return velocity;
    }
    let a = DMatrix::from_fn(forms.len(), velocity.len(), |i, j| forms[i].0[j]);
    let missed = &a * &velocity - wanted;
    let correction = (&a * a.transpose()).lu().solve(&missed).unwrap();
    velocity - a.transpose() * correction
}

pub(crate) fn random_direction(data: &Data, kind: Kind, seed: u64) -> Direction {
    let mut rng = CounterRng::new(seed, 23, 0);
    let n = kind.n;
    let a = DMatrix::from_fn(n, n, |_, _| normal(&mut rng));
    let rows: usize = data.contacts.iter().map(Contact::n_rows).sum();
    let forms = DMatrix::from_fn(kind.forms, n, |_, _| normal(&mut rng));
    let velocity = numbers(&mut rng, n);
    let velocity = admissible(&data.forms, velocity, &(-(&forms * &data.velocity)));
    Direction::default()
        .with_velocity(Some(velocity))
        .with_mass(Some(&a + a.transpose()))
        .with_rows(Some(DMatrix::from_fn(rows, n, |_, _| normal(&mut rng))))
        .with_friction(kind.has_friction.then(|| numbers(&mut rng, kind.contacts)))
        .with_restitution(
            kind.has_restitution
                .then(|| numbers(&mut rng, kind.contacts)),
        )
        .with_event_restitution(0.0)
        .with_constraints(Some(forms))
}

/// Extrapolated central differences of the law along a direction.
fn differences(law: &Law, data: &Data, by: &Direction) -> Option<(DVector<f64>, DVector<f64>)> {
    let central = |step: f64| {
        let plus = data.moved(by, step).outcome(law).ok()?;
        let minus = data.moved(by, -step).outcome(law).ok()?;
        Some((
            (plus.0 - minus.0) / (2.0 * step),
            (plus.1 - minus.1) / (2.0 * step),
        ))
    };
    let (wide, narrow) = (central(2e-5)?, central(1e-5)?);
    Some((
        (4.0 * narrow.0 - wide.0) / 3.0,
        (4.0 * narrow.1 - wide.1) / 3.0,
    ))
}

const FRICTIONLESS: Kind = Kind {
    n: 5,
    contacts: 3,
    tangents: 0,
    forms: 0,
    has_friction: false,
    has_restitution: false,
};

const CONSTRAINED: Kind = Kind {
    forms: 1,
    ..FRICTIONLESS
};

const PLANAR: Kind = Kind {
    n: 5,
    contacts: 2,
    tangents: 1,
    forms: 0,
    has_friction: true,
    has_restitution: false,
};

const SPATIAL: Kind = Kind {
    n: 7,
    tangents: 2,
    ..PLANAR
};

const SINGLE: Kind = Kind {
    n: 3,
    contacts: 1,
    ..PLANAR
};

fn routh(restitution_law: RestitutionLaw) -> Law {
    let options = ImpactOptions::default().with_restitution_law(restitution_law);
    Routh::default().with_options(options).into()
}

pub(crate) fn laws() -> Vec<(Law, Kind)> {
    let restitution = EnergeticRestitution::new(0.6).unwrap();
    let bouncing = |kind: Kind| Kind {
        has_restitution: true,
        ..kind
    };
    let single = Kind {
        contacts: 1,
        ..CONSTRAINED
    };
    let polygon = FrictionCone::Polygon(5);
    vec![
        (Propagative::default().into(), FRICTIONLESS),
        (Propagative::default().into(), CONSTRAINED),
        (
            Propagative::default().with_restitution(restitution).into(),
            FRICTIONLESS,
        ),
        (Plastic::default().into(), CONSTRAINED),
        (MoreauNewton::default().into(), bouncing(PLANAR)),
        (MoreauNewton::default().into(), bouncing(SPATIAL)),
        (AnitescuPotra::default().into(), PLANAR),
        (AnitescuPotra::default().into(), SPATIAL),
        (
            AnitescuPotra::default().with_friction_cone(polygon).into(),
            SPATIAL,
        ),
        (Sequential::default().into(), PLANAR),
        (
            Sequential::default().with_friction_cone(polygon).into(),
            SPATIAL,
        ),
        (
            SetValued::default()
                .with_samples(1)
                .with_impulse_step(Some(0.4))
                .into(),
            PLANAR,
        ),
        (routh(RestitutionLaw::Energetic), bouncing(SINGLE)),
        (routh(RestitutionLaw::Poisson), bouncing(SINGLE)),
        (routh(RestitutionLaw::Newton), bouncing(SINGLE)),
        (
            routh(RestitutionLaw::Energetic),
            bouncing(Kind {
                n: 6,
                tangents: 2,
                ..SINGLE
            }),
        ),
        (
            routh(RestitutionLaw::Energetic),
            bouncing(Kind {
                n: 7,
                tangents: 2,
                forms: 1,
                ..SINGLE
            }),
        ),
        (NonholonomicElastic::default().into(), CONSTRAINED),
        (
            NonholonomicNewton::default().with_restitution(0.5).into(),
            CONSTRAINED,
        ),
        (
            NonholonomicProjectedNewton::default()
                .with_restitution(0.8)
                .into(),
            single,
        ),
        (
            Rough::new(0.4).unwrap().into(),
            Kind {
                has_friction: false,
                ..PLANAR
            },
        ),
    ]
}

#[test]
fn every_law_moves_as_its_derivative_says_along_all_its_data() {
    for (number, (law, kind)) in laws().into_iter().enumerate() {
        let mut checked = 0;
        for seed in 0..12 {
            let data = random(kind, 100 * number as u64 + seed);
            let by = random_direction(&data, kind, seed);
            if data.outcome(&law).is_err() {
                continue;
            }
            data.differentiated(&law, |derivative, _| {
                // Differences must not step over a decision.
                let is_far = derivative.margin().is_none_or(|margin| margin > 3e-3);
                if derivative.class() != Some(Differentiability::Smooth) || !is_far {
                    return;
                }
                let Some((velocity, impulses)) = differences(&law, &data, &by) else {
                    return;
                };
                let found = derivative.along(&by).unwrap().unwrap();
                let name = law.name();
                let size = 1.0 + velocity.amax();
                let missed = (found.velocity_plus.unwrap() - velocity).amax() / size;
                assert!(missed <= 1e-7, "{name} {seed}: velocity off by {missed:e}");
                let size = 1.0 + impulses.amax();
                let missed = (found.impulses.unwrap() - impulses).amax() / size;
                assert!(missed <= 1e-7, "{name} {seed}: impulses off by {missed:e}");
                checked += 1;
            });
        }
        assert!(checked >= 4, "{}: {checked}", law.name());
    }
}

/// A law may have no outcome, or none that its derivative is known of; nothing else is wrong with
/// random data.
pub(crate) fn assert_answered_or_refused(found: Result<(), ImpactError>) {
    let is_fine = matches!(
        found,
        Ok(())
            | Err(ImpactError::InfeasibleLaw { .. }
                | ImpactError::NotDifferentiated { .. }
                | ImpactError::Limit { .. })
    );
    assert!(is_fine, "{found:?}");
}

/// Identities that hold whatever the data: the outcome is homogeneous in the velocity, units of mass
/// and of the rows of a contact do not matter, and velocities change by impulses alone.
#[test]
fn homogeneity_units_and_momentum_hold_for_every_law() {
    let mut missed = Vec::new();
    for (number, (law, kind)) in laws().into_iter().enumerate() {
        let is_pathwise = matches!(law, Law::SetValued(_));
        let mut checked = 0;
        for seed in 0..N_PROBLEMS {
            let data = random(kind, 1_000_000 + 10_000 * number as u64 + seed);
            let found = data.try_differentiated(&law, |derivative, plus| {
                let Some(jacobian) = derivative.dv_dv() else {
                    return;
                };
                checked += 1;
                let mut check = |what: &str, found: f64, allowed: f64| {
                    // Written so that NaN is noted.
                    if !(found <= allowed) {
                        missed.push(format!("{number} {} {seed}: {what} {found:e}", law.name()));
                    }
                };
                let size = 1.0 + plus.amax();
                if !is_pathwise {
                    let image = jacobian * &data.velocity - plus;
                    check("D v- - v+", image.amax() / size, 1e-10);
                    let moved = |by: Direction| {
                        let along = derivative.along(&by).unwrap().unwrap();
                        along.velocity_plus.unwrap().amax() / size
                    };
                    let mass = Direction::default().with_mass(Some(data.mass.clone()));
                    check("unit of mass", moved(mass), 1e-9);
                    let n_rows = data.contacts.iter().map(Contact::n_rows).sum();
                    let mut first = 0;
                    for contact in &data.contacts {
                        let mut rows = DMatrix::zeros(n_rows, kind.n);
                        let given = std::iter::once(&contact.normal).chain(&contact.tangents);
                        for (k, covector) in given.enumerate() {
                            rows.set_row(first + k, &covector.0.transpose());
                        }
                        first += contact.n_rows();
                        let by = Direction::default().with_rows(Some(rows));
                        check("unit of rows", moved(by), 1e-9);
                    }
                }
                if kind.forms == 0 {
                    let impulses = derivative.dimpulses_dv().unwrap();
                    let rows: Vec<_> = data
                        .contacts
                        .iter()
                        .flat_map(|c| std::iter::once(&c.normal).chain(&c.tangents))
                        .map(|row| row.0.transpose())
                        .collect();
                    let rows = DMatrix::from_rows(&rows);
                    let change = &data.mass * (jacobian - DMatrix::identity(kind.n, kind.n));
                    let left = &change - rows.transpose() * impulses;
                    check("momentum", left.amax() / (1.0 + change.amax()), 1e-9);
                }
                let is_elastic = match &law {
                    Law::Propagative(law) => law.restitution == EnergeticRestitution::ELASTIC,
                    Law::NonholonomicElastic(_) => true,
                    _ => false,
                };
                if is_elastic {
                    // On the velocities that the constraints admit.
                    let project = DMatrix::from_fn(kind.n, kind.n, |i, j| {
                        let mut unit = DVector::zeros(kind.n);
                        unit[j] = 1.0;
                        admissible(&data.forms, unit, &DVector::zeros(kind.forms))[i]
                    });
                    let after = jacobian * &project;
                    let kept = after.transpose() * &data.mass * &after
                        - project.transpose() * &data.mass * &project;
                    check("D'MD - M", kept.amax() / data.mass.amax(), 1e-9);
                }
            });
            assert_answered_or_refused(found);
        }
        assert!(checked >= N_PROBLEMS / 3, "{}: {checked}", law.name());
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// With friction a margin is given only where the answer is known to be unique.
#[test]
fn piecewise_linear_laws_are_linear_within_the_margin() {
    let bouncing = Kind {
        has_restitution: true,
        ..PLANAR
    };
    let mut nonlinear = Vec::new();
    let laws: [(Law, Kind); 6] = [
        (Propagative::default().into(), FRICTIONLESS),
        (Plastic::default().into(), FRICTIONLESS),
        (AnitescuPotra::default().into(), PLANAR),
        (MoreauNewton::default().into(), bouncing),
        (Sequential::default().into(), PLANAR),
        (NonholonomicElastic::default().into(), CONSTRAINED),
    ];
    for (number, (law, kind)) in laws.into_iter().enumerate() {
        let mut smooth = 0;
        for seed in 0..N_PROBLEMS {
            let data = random(kind, 2_000_000 + 10_000 * number as u64 + seed);
            let found = data.try_differentiated(&law, |derivative, plus| {
                let (Some(jacobian), Some(margin)) = (derivative.dv_dv(), derivative.margin())
                else {
                    return;
                };
                smooth += 1;
                assert_eq!(derivative.is_unique(), Some(true));
                let mut rng = CounterRng::new(seed, 29, 0);
                let direction = numbers(&mut rng, kind.n);
                let direction =
                    admissible(&data.forms, direction, &DVector::zeros(data.forms.len()));
                let length = |v: &DVector<f64>| v.dot(&(&data.mass * v)).sqrt();
                let step = 0.999 * margin * length(&data.velocity) / length(&direction);
                let by = Direction::default().with_velocity(Some(direction.clone()));
                let Ok((moved, _)) = data.moved(&by, step).outcome(&law) else {
                    return;
                };
                let missed = (moved - plus - step * jacobian * &direction).amax();
                if !(missed <= 1e-9 * (1.0 + plus.amax())) {
                    nonlinear.push(format!("{number} {} {seed}: {missed:e}", law.name()));
                }
            });
            assert_answered_or_refused(found);
        }
        assert!(smooth as u64 >= N_PROBLEMS / 2, "{}: {smooth}", law.name());
    }
    assert!(nonlinear.is_empty(), "{nonlinear:#?}");
}

fn balls(masses: [f64; 3], velocity: [f64; 3]) -> Data {
    Data {
        mass: DMatrix::from_diagonal(&DVector::from_column_slice(&masses)),
        velocity: DVector::from_column_slice(&velocity),
        contacts: [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
            .map(|normal| Contact::frictionless(Covector::from_slice(&normal)))
            .to_vec(),
        forms: Vec::new(),
    }
}

#[test]
fn three_balls_have_the_closed_form_of_two_reflections() {
    let data = balls([1.0, 2.0, 1.0], [1.0, 0.1, -0.6]);
    data.differentiated(&Propagative::default().into(), |derivative, plus| {
        let expected = dvector![-0.2, -1.0 / 6.0, 17.0 / 15.0];
        assert!((plus - expected).amax() <= 1e-10);
        let expected = dmatrix![
            -1.0 / 3.0, 4.0 / 3.0, 0.0;
            2.0 / 9.0, 1.0 / 9.0, 2.0 / 3.0;
            8.0 / 9.0, 4.0 / 9.0, -1.0 / 3.0
        ];
        assert!((derivative.dv_dv().unwrap() - expected).amax() <= 1e-10);
        let margin = derivative.margin().unwrap();
        assert_close(margin, 0.023168268228564, 1e-10, "margin");
        let by =
            Direction::default().with_mass(Some(DMatrix::from_diagonal(&dvector![0.0, 1.0, 0.0])));
        let along = derivative.along(&by).unwrap().unwrap();
        let expected = dvector![-0.2, 2.0 / 9.0, 1.0 / 45.0];
        assert!((along.velocity_plus.unwrap() - expected).amax() <= 1e-10);
    });
    let law = Propagative::default().with_restitution(EnergeticRestitution::new(0.7).unwrap());
    data.differentiated(&law.into(), |derivative, plus| {
        let expected = dvector![-0.095, -0.0716666666667, 0.8383333333333];
        assert!((plus - expected).amax() <= 1e-10);
        let expected = dmatrix![-0.35; -0.3166666666667; 0.9833333333333];
        assert!((derivative.dv_drestitution().unwrap() - expected).amax() <= 1e-10);
    });
}

#[test]
fn hit_from_both_sides_a_heavy_ball_jumps_and_an_equal_one_is_smooth() {
    let law = Law::from(Propagative::default());
    balls([1.0, 2.0, 1.0], [1.0, 0.0, -1.0]).differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Jump));
        assert!(derivative.is_complete());
        let [first, second] = derivative.pieces() else {
            panic!("{} pieces", derivative.pieces().len());
        };
        let expected = dvector![-13.0, -10.0, 33.0] / 27.0;
        assert!((&first.velocity_plus - &expected).amax() <= 1e-10);
        let jacobian = dmatrix![11.0, -8.0, 24.0; -4.0, 25.0, 6.0; 24.0, 12.0, -9.0] / 27.0;
        assert!((&first.dv_dv - jacobian).amax() <= 1e-10);
        for (a, b) in second.velocity_plus.iter().rev().zip(&expected) {
            assert!((a + b).abs() <= 1e-10);
        }
    });
    balls([1.0; 3], [1.0, 0.0, -1.0]).differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Smooth));
        assert!(derivative.pieces().is_empty());
    });
}

#[test]
fn coulomb_friction_kinks_where_it_just_stops_the_slide() {
    let law = Law::from(AnitescuPotra::default());
    let point = |velocity: [f64; 2]| Data {
        mass: DMatrix::identity(2, 2),
        velocity: DVector::from_column_slice(&velocity),
        contacts: vec![
            Contact::new(Covector::from_slice(&[0.0, 1.0]))
                .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
                .with_friction(0.5),
        ],
        forms: Vec::new(),
    };
    point([2.0, -1.0]).differentiated(&law, |derivative, _| {
        let slides = dmatrix![1.0, 0.5; 0.0, 0.0];
        assert!((derivative.dv_dv().unwrap() - slides).amax() <= 1e-14);
        let by_friction = dmatrix![-1.0; 0.0];
        assert!((derivative.dv_dfriction().unwrap() - by_friction).amax() <= 1e-14);
        assert_close(derivative.margin().unwrap(), 0.2f64.sqrt(), 1e-14, "margin");
    });
    point([0.5, -1.0]).differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Kink));
        assert_eq!(derivative.pieces().len(), 2);
        assert!(derivative.dv_dv().is_none());
    });
    point([0.3, -1.0]).differentiated(&law, |derivative, _| {
        assert_eq!(derivative.dv_dv().unwrap().amax(), 0.0);
    });
    // At rest every mode of the contact begins.
    point([0.0, 0.0]).differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Kink));
        assert_eq!(derivative.pieces().len(), 4);
    });
}

/// A wall that faces the contact holds it by its push: both press each other as hard as friction needs, so that rest is the answer
/// on both sides of the edge of sticking under the ground alone. Rest is constant there.
#[test]
fn the_edge_of_sticking_under_a_facing_contact_is_smooth() {
    for (friction, of_wall, sign) in [
        (0.5, 0.0, 1.0),
        (0.5, 0.3, -1.0),
        (0.8, 0.0, -1.0),
        (1.1, 0.0, 1.0),
    ] {
        let ground = pushing(&[0.0, 1.0], &[&[1.0, 0.0]], friction, 0.0);
        let wall = pushing(&[0.0, -1.0], &[&[1.0, 0.0]], of_wall, 0.0);
        for contacts in [[ground.clone(), wall.clone()], [wall, ground]] {
            for law in [
                Law::from(AnitescuPotra::default()),
                MoreauNewton::default().into(),
            ] {
                for slip in [0.6, 1.0, 1.3] {
                    facing(dvector![slip * sign * friction, -1.0], &contacts)
                        .differentiated(&law, assert_rests);
                }
            }
        }
    }
}

/// A block in space, with the ground told once or twice in units of its own, holds as the planar one does. A sample of the
/// set-valued law, in whose steps the wall does not push, is tied in its last step.
#[test]
fn the_edge_of_sticking_in_space_is_smooth_however_often_the_ground_is_told() {
    for k in 0..24 {
        let (sin, cos) = (f64::from(k) * 0.618).sin_cos();
        let friction = 0.2 + 0.07 * f64::from(k);
        let normal = [0.0, 0.0, 1.0];
        let tangents: [&[f64]; 2] = [&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]];
        let ground = pushing(&normal, &tangents, friction, 0.0);
        let scaled = |row: &Covector| Covector(&row.0 * 0.06);
        let again = ground
            .clone()
            .with_normal(scaled(&ground.normal))
            .with_tangents(ground.tangents.iter().map(scaled).collect::<Vec<_>>());
        let wall = pushing(&[0.0, 0.0, -1.0], &[], 0.0, 0.0);
        let sample = SetValued::default().with_samples(1).with_seed(k as u64);
        for contacts in [
            vec![ground.clone(), wall.clone()],
            vec![ground, again, wall],
        ] {
            let at = |slip: f64| {
                let slip = slip * friction;
                facing(dvector![slip * cos, slip * sin, -1.0], &contacts)
            };
            for law in [
                Law::from(AnitescuPotra::default()),
                MoreauNewton::default().into(),
            ] {
                for slip in [0.6, 1.0, 1.3] {
                    at(slip).differentiated(&law, assert_rests);
                }
            }
            at(1.0).differentiated(&sample.clone().into(), |derivative, _| {
                let class = derivative.class();
                assert_ne!(class, Some(Differentiability::Smooth), "{k}");
            });
        }
    }
}

/// A body of unit mass that meets these contacts.
fn facing(velocity: DVector<f64>, contacts: &[Contact]) -> Data {
    Data {
        mass: DMatrix::identity(velocity.len(), velocity.len()),
        velocity,
        contacts: contacts.to_vec(),
        forms: Vec::new(),
    }
}

/// Fails unless the body rests, whatever its velocity was.
fn assert_rests(derivative: &Derivative<'_>, velocity_plus: &DVector<f64>) {
    assert_eq!(derivative.class(), Some(Differentiability::Smooth));
    assert_eq!(derivative.dv_dv().unwrap().amax(), 0.0);
    assert!(velocity_plus.amax() <= 1e-14);
}

/// One contact with orthogonal rows along the axes, of given inverse inertia.
fn contact(inverse: DMatrix<f64>, velocity: DVector<f64>, friction: f64, restitution: f64) -> Data {
    let n = inverse.nrows();
    let axis = |k: usize| Covector(DVector::from_fn(n, |i, _| f64::from(u8::from(i == k))));
    Data {
        mass: inverse.try_inverse().unwrap(),
        velocity,
        contacts: vec![
            Contact::new(axis(0))
                .with_tangents((1..n).map(axis).collect::<Vec<_>>())
                .with_friction(friction)
                .with_restitution(restitution),
        ],
        forms: Vec::new(),
    }
}

#[test]
fn a_planar_slide_that_stops_has_the_printed_derivatives() {
    let data = contact(
        dmatrix![1.0, -0.3; -0.3, 2.0],
        dvector![-1.0, 0.4],
        0.5,
        0.6,
    );
    data.differentiated(&routh(RestitutionLaw::Energetic), |derivative, plus| {
        assert!((plus - dvector![0.569599049, 0.0]).amax() <= 1e-9);
        let expected = dmatrix![-0.594102115, -0.061257665; 0.0, 0.0];
        assert!((derivative.dv_dv().unwrap() - expected).amax() <= 1e-8);
        let friction = dmatrix![-0.0085715854; 0.0];
        assert!((derivative.dv_dfriction().unwrap() - friction).amax() <= 1e-8);
        let restitution = dmatrix![0.949331749; 0.0];
        assert!((derivative.dv_drestitution().unwrap() - restitution).amax() <= 1e-8);
    });
}

#[test]
fn a_contact_that_starts_at_rest_kinks_where_it_cannot_stick() {
    let law = routh(RestitutionLaw::Energetic);
    let at = |friction: f64| {
        let inverse = dmatrix![1.0, -0.5; -0.5, 1.0];
        contact(inverse, dvector![-1.0, 0.0], friction, 0.5)
    };
    at(0.8).differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Smooth));
    });
    at(0.2).differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Kink));
        assert_eq!(derivative.pieces().len(), 2);
        assert!(derivative.is_complete());
    });
}

#[test]
fn a_ball_that_slides_straight_turns_with_its_velocity() {
    let law = routh(RestitutionLaw::Energetic);
    let inverse = DMatrix::from_diagonal(&dvector![1.0, 3.5, 3.5]);
    let data = contact(inverse, dvector![-1.0, 3.0, 0.0], 0.3, 0.5);
    data.differentiated(&law, |derivative, plus| {
        // The friction impulse turns with the velocity: that across shrinks as that along.
        let jacobian = derivative.dv_dv().unwrap();
        let ratio = plus[1] / data.velocity[1];
        assert_close(jacobian[(2, 2)], ratio, 1e-9, "across");
        assert_close(jacobian[(1, 1)], 1.0, 1e-9, "along");
        assert_close(jacobian[(0, 0)], -0.5, 1e-12, "normal");
    });
}

/// A slide that nearly stops turns into a direction in which it hardly gains speed. The slope of the
/// normal impulse is a difference of two impacts that an explicit Runge-Kutta method of order eight integrated.
#[test]
fn a_slide_that_goes_on_along_a_slow_ray_is_followed_to_its_end() {
    let (wzz, d) = (3.400744162447516, [3.2156213360517505, 4.363962468126366]);
    let b = [3.4361257096334814, 4.579630317547696, 6.940924783667912];
    let inverse = dmatrix![wzz, d[0], d[1]; d[0], b[0], b[1]; d[1], b[1], b[2]];
    let start = dvector![-0.78465058, 0.01612835, 0.02435497];
    for by in [1.0, 10.0, 1e3] {
        let mut velocity = start.clone();
        velocity[0] *= by;
        let data = contact(inverse.clone(), velocity, 0.7048252675881408, 0.7);
        let law = routh(RestitutionLaw::Energetic);
        data.differentiated(&law, |derivative, plus| {
            let image = derivative.dv_dv().unwrap() * &data.velocity;
            assert!((image - plus).amax() <= 1e-11 * by, "homogeneity");
            let slope = derivative.dimpulses_dv().unwrap()[(0, 0)];
            if by == 1.0 {
                assert_close(slope, -3.882070055649667, 1e-9, "normal impulse");
            }
        });
    }
}

#[test]
fn a_fast_slide_that_closes_slowly_keeps_its_digits() {
    let inverse = dmatrix![17.0, 4.0, -19.0; 4.0, 20.0, 4.0; -19.0, 4.0, 29.0] / 6.0;
    for closing in [1e-3, 1e-5, 1e-7] {
        let velocity = dvector![-closing, -6.0, -2.0];
        let data = contact(inverse.clone(), velocity, 1.0, 0.5);
        data.differentiated(&routh(RestitutionLaw::Energetic), |derivative, plus| {
            let image = derivative.dv_dv().unwrap() * &data.velocity;
            assert!((image - plus).amax() <= 1e-13, "homogeneity");
            // The impulse is all but proportional to the closing speed.
            let slopes = derivative.dimpulses_dv().unwrap();
            let s = dvector![3.0, 1.0] / 10f64.sqrt();
            let rate = 17.0 / 6.0 - (4.0 * s[0] - 19.0 * s[1]) / -6.0;
            assert_close(slopes[(0, 0)], -1.5 / rate, 1e-12 + closing, "normal");
        });
    }
}

/// The second contact stops all motion, the first one, idle beside it, can only take what the second gives.
#[test]
fn rows_of_an_idle_contact_may_be_scaled() {
    let row = |entries: [f64; 3]| Covector::from_slice(&entries);
    let contact = |normal, first, second, friction| {
        Contact::new(row(normal))
            .with_tangents(vec![row(first), row(second)])
            .with_friction(friction)
    };
    let data = Data {
        mass: dmatrix![1.7267, -0.4599, -0.8174; -0.4599, 0.6102, 0.3998; -0.8174, 0.3998, 0.911],
        velocity: dvector![-0.9052, 0.2412, 0.196],
        contacts: vec![
            contact(
                [-1.1598, -2.1067, -1.0832],
                [-0.914, 0.5166, -2.1532],
                [-3.176, -0.6919, -0.0198],
                0.8,
            ),
            contact(
                [1.3592, -0.0896, -0.3174],
                [-0.0228, -0.0892, -1.4119],
                [2.426, 1.0941, 0.9033],
                0.6,
            ),
        ],
        forms: Vec::new(),
    };
    let law: Law = AnitescuPotra::default().into();
    data.differentiated(&law, |derivative, plus| {
        assert!(plus.amax() <= 1e-12);
        for idle in [0, 1] {
            let mut rows = DMatrix::zeros(6, 3);
            let contact = &data.contacts[idle];
            let given = std::iter::once(&contact.normal).chain(&contact.tangents);
            for (k, covector) in given.enumerate() {
                let scaled: DVector<f64> = 1.7 * &covector.0;
                rows.set_row(3 * idle + k, &scaled.transpose());
            }
            let direction = Direction::default().with_rows(Some(rows));
            let found = derivative.along(&direction).unwrap().unwrap();
            assert!(found.velocity_plus.unwrap().amax() <= 1e-10);
        }
    });
}

/// If friction just cancels the push of a sliding contact that grazes, no impulse stops a slow approach while it
/// slides: it sticks at once.
#[test]
fn a_graze_at_the_edge_of_jamming_is_no_smooth_one() {
    let data = Data {
        mass: dmatrix![2.0, 0.0, 0.0; 0.0, 2.0, 0.0; 0.0, 0.0, 1.0],
        velocity: dvector![2.0, -1.0, 2.0],
        contacts: vec![
            Contact::new(Covector::from_slice(&[2.0, 0.0, -2.0]))
                .with_tangents(vec![Covector::from_slice(&[-2.0, 2.0, 2.0])])
                .with_friction(1.0),
        ],
        forms: Vec::new(),
    };
    let law: Law = AnitescuPotra::default().into();
    data.differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Jump));
        assert_eq!(derivative.ties()[0].kind, TieKind::Touching);
    });
}

#[test]
fn every_outcome_of_a_set_has_the_jacobian_of_its_own_order() {
    let law = Propagative::default();
    let found = balls([1.0, 2.0, 1.0], [1.0, 0.1, -0.6]).with(|problem| {
        let set = law.resolve_all(problem).unwrap();
        assert_eq!(set.outcomes.len(), 2);
        for outcome in &set.outcomes {
            let found =
                of_outcome(&law, problem, outcome, true, &Wrt::WITH_PIECES, TOLERANCE).unwrap();
            let image = found.dv_dv().unwrap() * &problem.velocity_minus().0;
            assert!((image - &outcome.velocity_plus.0).amax() <= 1e-14);
        }
    });
    found.unwrap();
}

#[test]
fn contacts_that_depend_on_each_other_share_no_impulse_derivatives() {
    // A table on four legs: heights at the corners of a square.
    let corner = |x: f64, y: f64| Contact::frictionless(Covector::from_slice(&[1.0, x, y]));
    let data = Data {
        mass: DMatrix::identity(3, 3),
        velocity: dvector![-1.0, 0.1, 0.05],
        contacts: vec![
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
        ],
        forms: Vec::new(),
    };
    data.differentiated(&Plastic::default().into(), |derivative, plus| {
        assert!(plus.amax() <= 1e-15);
        assert_eq!(derivative.class(), Some(Differentiability::Smooth));
        assert!(derivative.dv_dv().unwrap().amax() <= 1e-14);
    });
}

/// A constraint told twice, with other units, and one of zeros: the impulses of the contact keep their derivatives, and a change of
/// the constraints has one if it keeps their dependency.
#[test]
fn redundant_constraints_have_no_part_in_derivatives() {
    let told = |forms: &[&[f64]]| Data {
        mass: dmatrix![2.0, 0.3, 0.0; 0.3, 1.0, 0.2; 0.0, 0.2, 1.5],
        velocity: dvector![-1.0, 0.4, 0.0],
        contacts: vec![pushing(&[1.0, 0.2, 0.1], &[&[0.1, 1.0, 0.3]], 0.2, 0.0)],
        forms: covectors(forms),
    };
    let law: Law = AnitescuPotra::default().into();
    let change = |rows: &[[f64; 3]]| {
        Direction::default()
            .with_constraints(Some(DMatrix::from_fn(rows.len(), 3, |i, j| rows[i][j])))
    };
    let (dv, dl, moved) = told(&[&[0.0, 0.0, 1.0]]).differentiated(&law, |derivative, _| {
        let along = derivative.along(&change(&[[0.3, -0.1, 0.0]])).unwrap();
        let found = (derivative.dv_dv(), derivative.dimpulses_dv());
        (
            found.0.unwrap().clone(),
            found.1.unwrap().clone(),
            along.unwrap().velocity_plus.unwrap(),
        )
    });
    let twice = told(&[&[0.0; 3], &[0.0, 0.0, 1.0], &[0.0, 0.0, -3.0]]);
    twice.differentiated(&law, |derivative, _| {
        assert!((derivative.dv_dv().unwrap() - &dv).amax() <= 1e-14);
        assert!((derivative.dimpulses_dv().unwrap() - &dl).amax() <= 1e-14);
        let kept = change(&[[0.0; 3], [0.3, -0.1, 0.0], [-0.9, 0.3, 0.0]]);
        let along = derivative.along(&kept).unwrap().unwrap();
        assert!((along.velocity_plus.unwrap() - &moved).amax() <= 1e-14);
        let broken = change(&[[0.0; 3], [0.3, -0.1, 0.0], [0.0; 3]]);
        let along = derivative.along(&broken).unwrap().unwrap();
        assert_eq!(along.reason.as_deref(), Some("dependent-contacts"));
    });
}

/// Small whole numbers: many decisions are tied.
fn whole(rng: &mut CounterRng, n: usize) -> DVector<f64> {
    loop {
        let row = DVector::from_fn(n, |_, _| (rng.next_uniform() * 5.0).floor() - 2.0);
        if row.amax() > 0.0 {
            return row;
        }
    }
}

fn whole_data(n: usize, contacts: usize, seed: u64) -> Data {
    let mut rng = CounterRng::new(seed, 31, 0);
    let masses = DVector::from_fn(n, |_, _| (rng.next_uniform() * 3.0).floor() + 1.0);
    let velocity = whole(&mut rng, n);
    let rows = (0..contacts).map(|_| Contact::new(Covector(whole(&mut rng, n))));
    Data {
        mass: DMatrix::from_diagonal(&masses),
        contacts: rows.collect(),
        velocity,
        forms: Vec::new(),
    }
}

/// One contact of a body without symmetry, whole velocities and simple friction coefficients.
fn whole_contact(n: usize, seed: u64) -> Data {
    let mut rng = CounterRng::new(seed, 37, 0);
    let mut inverse = DMatrix::from_diagonal(&DVector::from_element(n, 2.0));
    for i in 1..n {
        let x = (rng.next_uniform() * 3.0).floor() * 0.25 - 0.25;
        (inverse[(0, i)], inverse[(i, 0)]) = (x, x);
    }
    let mut velocity = whole(&mut rng, n);
    velocity[0] = -(rng.next_uniform() * 3.0).floor();
    let friction = [0.25, 0.5, 1.0][(rng.next_uniform() * 3.0) as usize];
    contact(inverse, velocity, friction, 0.5)
}

/// The pieces are the limits of outcome and Jacobian from the regions around a velocity: looked for in many
/// directions, and in the direction that each piece names. Says how many pieces there are.
fn pieces_are_the_limits(law: &Law, data: &Data) -> usize {
    type Found = (DVector<f64>, Option<DMatrix<f64>>);
    let step = 1e-6;
    let at = |direction: &DVector<f64>| -> Option<Found> {
        let mut near = data.clone();
        near.velocity += step * direction;
        let found = near.with(|problem| {
            let (outcome, derivative) =
                differentiate(law, problem, &Wrt::WITH_PIECES, 1e-11).ok()?;
            Some((outcome.velocity_plus.0, derivative.dv_dv().cloned()))
        });
        found.unwrap()
    };
    let name = law.name();
    data.differentiated(law, |derivative, plus| {
        let smooth = derivative
            .dv_dv()
            .map(|jacobian| (plus.clone(), jacobian.clone()));
        let pieces: Vec<(DVector<f64>, DMatrix<f64>)> = smooth
            .into_iter()
            .chain(
                derivative
                    .pieces()
                    .iter()
                    .map(|p| (p.velocity_plus.clone(), p.dv_dv.clone())),
            )
            .collect();
        let size = 1.0 + data.velocity.amax();
        let is_limit =
            |(limit, jacobian): &(DVector<f64>, DMatrix<f64>), by: &DVector<f64>, near: &Found| {
                let scale = jacobian.amax().max(1.0);
                let missed = (limit + step * jacobian * by - &near.0).amax();
                let turned = near.1.as_ref().map_or(0.0, |near| (near - jacobian).amax());
                missed <= 1e-9 * size * scale && turned <= 1e-3 * scale
            };
        for (k, piece) in derivative.pieces().iter().enumerate() {
            if let Some(near) = at(&piece.direction) {
                assert!(
                    is_limit(&pieces[k], &piece.direction, &near),
                    "{name}: piece {k} of {data:?}"
                );
            }
        }
        let mut rng = CounterRng::new(7, 41, 0);
        for _ in 0..12 {
            let by = numbers(&mut rng, data.velocity.len());
            // Differences of one step must not cross a decision that is not tied.
            let is_far = derivative
                .margin()
                .is_none_or(|margin| !(1e-9..=1e-4).contains(&margin));
            if let Some(near) = at(&by)
                && is_far
                && derivative.is_complete()
            {
                let is_found = pieces.iter().any(|piece| is_limit(piece, &by, &near));
                assert!(is_found, "{name}: {data:?} towards {by:?}");
            }
        }
        derivative.pieces().len()
    })
}

#[test]
fn pieces_are_the_limits_from_the_regions_around_a_tie() {
    let half = Propagative::default().with_restitution(EnergeticRestitution::new(0.5).unwrap());
    let frictionless: [Law; 4] = [
        Propagative::default().into(),
        half.into(),
        Plastic::default().into(),
        MoreauNewton::default().into(),
    ];
    for law in &frictionless {
        let mut tied = 0;
        for seed in 0..60 {
            let data = whole_data(2 + seed as usize % 3, 1 + seed as usize % 2, seed);
            if data.outcome(law).is_ok() {
                tied += usize::from(pieces_are_the_limits(law, &data) > 1);
            }
        }
        assert!(tied >= 2, "{}: {tied}", law.name());
    }
    let polygon = AnitescuPotra::default().with_friction_cone(FrictionCone::Polygon(4));
    let friction: [(Law, usize); 7] = [
        (AnitescuPotra::default().into(), 2),
        (polygon.into(), 3),
        (AnitescuPotra::default().into(), 3),
        (Sequential::default().into(), 2),
        (routh(RestitutionLaw::Energetic), 2),
        (routh(RestitutionLaw::Poisson), 2),
        (routh(RestitutionLaw::Newton), 2),
    ];
    for (law, n) in &friction {
        let mut tied = 0;
        for seed in 0..60 {
            let data = whole_contact(*n, seed);
            tied += usize::from(pieces_are_the_limits(law, &data) > 1);
        }
        assert!(tied >= 2, "{}: {tied}", law.name());
    }
}

#[test]
fn a_contact_that_stops_as_compression_ends_kinks_by_poisson_alone() {
    // The tangential velocity for which it does, found by halving.
    let at = |law: RestitutionLaw, slip: f64| {
        let data = contact(
            dmatrix![1.0, -0.3; -0.3, 2.0],
            dvector![-1.0, slip],
            0.5,
            0.6,
        );
        data.differentiated(&routh(law), |derivative, _| {
            (derivative.class(), derivative.margin().unwrap())
        })
    };
    let (mut low, mut high) = (0.3, 2.0);
    let stops = |slip: f64| {
        // Normal impulses at which sliding and compression end.
        let (mu, w) = (0.5, dmatrix![1.0, -0.3; -0.3, 2.0]);
        let slowing = mu * w[(1, 1)] - w[(0, 1)];
        let opening = w[(0, 0)] - mu * w[(0, 1)];
        slip / slowing - 1.0 / opening
    };
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if stops(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    let (class, _) = at(RestitutionLaw::Poisson, low);
    assert_eq!(class, Some(Differentiability::Kink));
    for law in [RestitutionLaw::Energetic, RestitutionLaw::Newton] {
        let (class, _) = at(law, low);
        assert_eq!(class, Some(Differentiability::Smooth), "{law:?}");
    }
}

#[test]
fn a_light_graze_is_reflected_to_the_last_digit() {
    // The elastic outcome is not scaled onto the energy where rounding of that is worth more than the graze.
    let data = Data {
        mass: dmatrix![1.0, 0.0; 0.0, 3.0],
        velocity: dvector![-1.000000676163, 2.0],
        contacts: vec![Contact::frictionless(Covector::from_slice(&[2.0, 1.0]))],
        forms: Vec::new(),
    };
    data.differentiated(&Propagative::default().into(), |derivative, plus| {
        let image = derivative.dv_dv().unwrap() * &data.velocity;
        assert!((image - plus).amax() <= 1e-14);
    });
}

#[test]
fn issue_97_two_equal_balls_pass_their_derivatives_on() {
    // State (x1, x2, v1, v2), contact where x2 - x1 = 1/2.
    let flight = |t: f64| {
        let mut f = DMatrix::<f64>::identity(4, 4);
        f[(0, 2)] = t;
        f[(1, 3)] = t;
        f
    };
    let reset = dmatrix![
        1.0, 0.0, 0.0, 0.0;
        0.0, 1.0, 0.0, 0.0;
        0.0, 0.0, 0.0, 1.0;
        0.0, 0.0, 1.0, 0.0
    ];
    let (minus, plus) = (dvector![1.0, 0.0, 0.0, 0.0], dvector![0.0, 1.0, 0.0, 0.0]);
    let guard = dvector![-1.0, 1.0, 0.0, 0.0];
    let xi = saltation(&reset, &minus, &plus, &guard, 0.0).unwrap();
    let whole = flight(0.5) * xi * flight(0.5);
    let second = whole.row(1).transpose();
    assert!((second - dvector![1.0, 0.0, 1.0, 0.0]).amax() <= 1e-14);
    let grazing = saltation(&reset, &DVector::zeros(4), &plus, &guard, 0.0);
    assert!(matches!(grazing, Err(ImpactError::Grazing { .. })));
}

#[test]
fn a_ball_on_the_ground_has_the_saltation_matrix_of_its_closed_form() {
    let (e, gravity, speed) = (0.8, 9.81, 3.0);
    let reset = dmatrix![1.0, 0.0; 0.0, -e];
    let (minus, plus) = (dvector![-speed, -gravity], dvector![e * speed, -gravity]);
    let xi = saltation(&reset, &minus, &plus, &dvector![1.0, 0.0], 0.0).unwrap();
    let expected = dmatrix![-e, 0.0; (1.0 + e) * gravity / speed, -e];
    assert!((xi - expected).amax() <= 1e-14);
}

#[test]
fn a_tolerance_out_of_range_is_refused() {
    let law = Propagative::default();
    for tolerance in [0.0, -1.0, 0.1, f64::NAN] {
        let refused = balls([1.0; 3], [1.0, 0.0, 0.0])
            .with(|problem| differentiate(&law, problem, &Wrt::WITH_PIECES, tolerance).map(|_| ()));
        let refused = refused.unwrap();
        assert!(matches!(refused, Err(ImpactError::InvalidOption { .. })));
    }
}

fn covectors(rows: &[&[f64]]) -> Vec<Covector> {
    rows.iter().map(|row| Covector::from_slice(row)).collect()
}

fn pushing(normal: &[f64], tangents: &[&[f64]], friction: f64, restitution: f64) -> Contact {
    Contact::new(Covector::from_slice(normal))
        .with_tangents(covectors(tangents))
        .with_friction(friction)
        .with_restitution(restitution)
}

#[test]
fn without_friction_a_contact_at_rest_moves_as_one_without_tangents() {
    let inverse = dmatrix![2.0, -0.6, 0.3; -0.6, 2.0, 0.1; 0.3, 0.1, 1.0];
    let uncoupled = DMatrix::from_diagonal(&dvector![2.0, 3.0, 1.0]);
    for law in [
        RestitutionLaw::Energetic,
        RestitutionLaw::Poisson,
        RestitutionLaw::Newton,
    ] {
        for inverse in [&inverse, &uncoupled] {
            for n in [2, 3] {
                let inverse = inverse.view((0, 0), (n, n)).into_owned();
                let mut velocity = DVector::zeros(n);
                velocity[0] = -1.0;
                let mut data = contact(inverse.clone(), velocity, 0.0, 0.5);
                let mut expected = DMatrix::identity(n, n);
                for i in 0..n {
                    expected[(i, 0)] -= 1.5 * inverse[(i, 0)] / inverse[(0, 0)];
                }
                let by_friction = data.differentiated(&routh(law), |derivative, _| {
                    assert_eq!(derivative.class(), Some(Differentiability::Smooth));
                    assert!((derivative.dv_dv().unwrap() - &expected).amax() <= 1e-12);
                    derivative.dv_dfriction().unwrap().clone()
                });
                // One-sided, into the friction that there may be.
                let mut at = |friction: f64| {
                    data.contacts[0].friction = friction;
                    data.outcome(&routh(law)).unwrap().0
                };
                let h = 1e-4;
                let slope = (4.0 * at(h) - at(2.0 * h) - 3.0 * at(0.0)) / (2.0 * h);
                assert!((by_friction.column(0) - slope).amax() <= 1e-6, "{law:?}");
            }
        }
    }
}

#[test]
fn a_slide_that_stops_as_the_impact_ends_kinks() {
    let mut data = Data {
        mass: DMatrix::identity(3, 3) * 3.0,
        velocity: dvector![1.0, 1.0, -1.0],
        contacts: vec![pushing(&[0.0, -1.0, 1.0], &[&[-1.0, 0.0, 0.0]], 1.0, 0.0)],
        forms: Vec::new(),
    };
    assert_eq!(
        pieces_are_the_limits(&routh(RestitutionLaw::Energetic), &data),
        2
    );
    // It would slide back.
    data.contacts = vec![pushing(&[-1.0, 0.0, 1.0], &[&[0.0, 1.0, -1.0]], 0.25, 0.5)];
    assert_eq!(
        pieces_are_the_limits(&routh(RestitutionLaw::Newton), &data),
        2
    );
}

#[test]
fn a_strike_that_is_only_just_one_changes_what_restitution_divides() {
    let half = Propagative::default().with_restitution(EnergeticRestitution::new(0.5).unwrap());
    let frictionless = |row: &[f64]| Contact::frictionless(Covector::from_slice(row));
    let data = Data {
        mass: DMatrix::from_diagonal(&dvector![3.0, 2.0]),
        velocity: dvector![1.0, -1.0],
        contacts: vec![frictionless(&[0.0, 1.0]), frictionless(&[1.0, -1.0])],
        forms: Vec::new(),
    };
    assert_eq!(pieces_are_the_limits(&half.into(), &data), 2);
}

fn polygon(k: usize) -> MoreauNewton {
    MoreauNewton::default().with_friction_cone(FrictionCone::Polygon(k))
}

#[test]
fn sliding_between_two_directions_of_a_polygon_has_two_pieces() {
    let data = Data {
        mass: DMatrix::from_diagonal(&dvector![2.0, 2.0, 1.0]),
        velocity: dvector![-1.0, 2.0, 2.0],
        contacts: vec![pushing(
            &[1.0, 0.0, 0.0],
            &[&[-1.0, 1.0, 1.0], &[0.0, 1.0, 0.0]],
            1.0,
            0.5,
        )],
        forms: Vec::new(),
    };
    assert_eq!(pieces_are_the_limits(&polygon(4).into(), &data), 2);
}

/// Contacts that hinder each other come to rest by ever smaller impulses; where the law stops is no decision.
#[test]
fn an_endless_chain_of_closings_is_smooth_beside_its_tie() {
    let data = Data {
        mass: DMatrix::from_diagonal(&dvector![1.0, 1.0, 2.0, 3.0, 3.0]),
        velocity: dvector![-4e-5, 2.0, -2.0, 1.0, 1.0],
        contacts: vec![
            pushing(
                &[1.0, 1.0, -1.0, -1.0, 0.0],
                &[&[0.0, 0.0, 0.0, 1.0, 0.0]],
                0.25,
                0.0,
            ),
            pushing(
                &[0.0, -1.0, 1.0, 1.0, -1.0],
                &[&[0.0, 1.0, -1.0, -1.0, -1.0]],
                1.0,
                0.0,
            ),
        ],
        forms: Vec::new(),
    };
    data.differentiated(&Sequential::default().into(), |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Smooth));
        assert!(derivative.margin().unwrap() > 1e-6);
    });
}

/// Contacts at rest that hinder each other when they are pushed: beside the tie there are ways in ever thinner cones, along
/// which a change of the velocity grows without bound. Those that rounding decides about are not followed, however the
/// coordinates lie. The law jumps: beside half of all directions it stops the body, at any distance from the tie.
#[test]
fn ways_that_rounding_decides_about_are_no_pieces() {
    for angle in [0.0, 0.7, 2.1] {
        let (s, c) = f64::sin_cos(angle);
        let turn = dmatrix![c, -s, 0.0; s * s, c * s, -c; s * c, c * c, s];
        let turned = |row: &[f64]| {
            (&turn * DVector::from_column_slice(row))
                .as_slice()
                .to_vec()
        };
        let contact = |normal: &[f64], tangent: &[f64]| {
            pushing(&turned(normal), &[&turned(tangent)], 0.5, 0.5)
        };
        let data = Data {
            mass: DMatrix::identity(3, 3) * 2.0,
            velocity: DVector::from_vec(turned(&[-2.0, 2.0, -1.0])),
            contacts: vec![
                contact(&[-2.0, -1.0, 2.0], &[-1.0, 2.0, 1.0]),
                contact(&[1.0, 1.0, 0.0], &[-1.0, -2.0, -1.0]),
            ],
            forms: Vec::new(),
        };
        let law = Sequential::default().into();
        for step in [1e-6, 1e-9] {
            let mut moved = data.clone();
            moved.velocity -= step * &data.contacts[1].normal.0;
            let (after, _) = moved.outcome(&law).unwrap();
            assert!(after.norm() < 1e-5, "{after}");
        }
        data.differentiated(&law, |derivative, _| {
            assert_eq!(derivative.class(), Some(Differentiability::Jump));
            assert!(derivative.pieces().len() > 1);
            for piece in derivative.pieces() {
                // 1e-9 over the rounding of the data.
                assert!(piece.dv_dv.norm() <= 1.2e6, "{:e}", piece.dv_dv.norm());
            }
        });
    }
}

/// The impulses of the answer hold two tangents, of which velocities nearby allow one: the answer is at a kink, and
/// its mode that of none of the pieces, which are those of answers nearby.
#[test]
fn a_slide_held_in_two_ways_at_once_has_the_pieces_of_answers_nearby() {
    let data = Data {
        mass: DMatrix::identity(4, 4) * 3.0,
        velocity: dvector![-1.0, -2.0, 2.0, 0.0],
        contacts: vec![
            pushing(
                &[1.0, -1.0, 0.0, -1.0],
                &[&[1.0, -1.0, -1.0, 1.0], &[-1.0, 1.0, -1.0, -1.0]],
                0.25,
                0.0,
            ),
            pushing(
                &[-1.0, 1.0, 0.0, 0.0],
                &[&[1.0, 1.0, 0.0, 0.0], &[1.0, 0.0, -1.0, 0.0]],
                0.5,
                1.0,
            ),
            pushing(
                &[-1.0, 0.0, -1.0, 0.0],
                &[&[-1.0, 0.0, 0.0, 0.0], &[0.0, 1.0, 1.0, -1.0]],
                1.0,
                1.0,
            ),
        ],
        forms: Vec::new(),
    };
    let law: Law = polygon(5).into();
    data.differentiated(&law, |derivative, _| {
        assert_eq!(derivative.class(), Some(Differentiability::Kink));
    });
    assert_eq!(pieces_are_the_limits(&law, &data), 2);
}

/// A contact in the plane whose friction is so large that it can hold the body although the contact separates: with the normal
/// velocity $b_n$ = -1 and the tangential one -3 it sticks, and for $b_n$ > 0 the law leaves the velocity as it is, at 1 of the
/// speed $\sqrt{17}$, before friction reaches its limit. So there is no margin. With less friction the answer is unique, and the
/// margin is that of the contact closing.
#[test]
fn a_contact_that_may_have_another_answer_has_no_margin() {
    let mut random = CounterRng::new(23, 0, 0);
    for _ in 0..50 {
        let unit = 10f64.powf(4.0 * random.next_uniform() - 2.0);
        let data = |friction: f64| Data {
            mass: DMatrix::identity(2, 2),
            velocity: dvector![-4.0, -1.0],
            contacts: vec![
                Contact::new(Covector(unit * dvector![0.0, 1.0]))
                    .with_tangents(vec![Covector(unit * dvector![1.0, -1.0])])
                    .with_friction(friction),
            ],
            forms: Vec::new(),
        };
        let of = |friction: f64| {
            let law: Law = AnitescuPotra::default().into();
            data(friction).differentiated(&law, |found, _| (found.is_unique(), found.margin()))
        };
        assert_eq!(of(2.0), (None, None));
        let (is_unique, margin) = of(0.5);
        assert_eq!(is_unique, Some(true));
        assert_close(margin.unwrap(), 1.0 / 17f64.sqrt(), 1e-12, "margin");
    }
}

/// Boxes that land flat on four corners: their twelve impulses are not unique. That their velocity is, is not proven,
/// so that there is no margin.
#[test]
fn a_box_on_four_corners_moves_as_its_jacobian_says() {
    let law: Law = polygon(4).into();
    let mut checked = 0;
    for seed in 0..24 {
        let mut rng = CounterRng::new(seed, 43, 0);
        let half = DVector::from_fn(3, |_, _| 0.3 + rng.next_uniform());
        let inertia = |i: usize, j: usize| (half[i] * half[i] + half[j] * half[j]) / 3.0;
        let masses = dvector![1.0, 1.0, 1.0, inertia(1, 2), inertia(0, 2), inertia(0, 1)];
        let friction = 0.2 + 0.8 * rng.next_uniform();
        let corner = |x: f64, y: f64| {
            let [x, y, z] = [x * half[0], y * half[1], -half[2]];
            pushing(
                &[0.0, 0.0, 1.0, y, -x, 0.0],
                &[&[1.0, 0.0, 0.0, 0.0, z, -y], &[0.0, 1.0, 0.0, -z, 0.0, x]],
                friction,
                0.5,
            )
        };
        let mut velocity = numbers(&mut rng, 6) * 0.1;
        velocity[2] = -1.0;
        let data = Data {
            mass: DMatrix::from_diagonal(&masses),
            velocity,
            contacts: vec![
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
            ],
            forms: Vec::new(),
        };
        data.differentiated(&law, |derivative, plus| {
            let Some(jacobian) = derivative.dv_dv() else {
                return;
            };
            assert_eq!((derivative.is_unique(), derivative.margin()), (None, None));
            checked += 1;
            for _ in 0..8 {
                let direction = numbers(&mut rng, 6);
                let step = 1e-6;
                let mut near = data.clone();
                near.velocity += step * &direction;
                let (moved, _) = near.outcome(&law).unwrap();
                let missed = (moved - plus - step * jacobian * &direction).amax();
                assert!(missed <= 1e-11, "{seed}: {missed:e}");
            }
        });
    }
    assert!(checked >= 12, "{checked}");
}

/// A box that slides flat: its corners hold each other, and every way of turning bends their round cones.
#[test]
fn a_box_that_slides_flat_on_round_cones_has_its_derivative() {
    let corner = |x: f64, y: f64| {
        pushing(
            &[0.0, 0.0, 1.0, y, -x, 0.0],
            &[
                &[1.0, 0.0, 0.0, 0.0, -1.0, -y],
                &[0.0, 1.0, 0.0, 1.0, 0.0, x],
            ],
            0.25,
            0.0,
        )
    };
    let third = 2.0 / 3.0;
    let mut data = Data {
        mass: DMatrix::from_diagonal(&dvector![1.0, 1.0, 1.0, third, third, third]),
        velocity: dvector![1.0, 0.0, -1.0, 0.0, 0.0, 0.0],
        contacts: vec![
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
        ],
        forms: Vec::new(),
    };
    let law: Law = AnitescuPotra::default().into();
    data.differentiated(&law, |derivative, plus| {
        assert_eq!(derivative.class(), Some(Differentiability::Smooth));
        for k in 0..6 {
            let mut near = data.clone();
            near.velocity[k] += 1e-6;
            let slope = (near.outcome(&law).unwrap().0 - plus) / 1e-6;
            let missed = (slope - derivative.dv_dv().unwrap().column(k)).amax();
            assert!(missed <= 1e-6, "{k}: {missed:e}");
        }
    });
    // Friction that just stops it.
    data.velocity[0] = 0.25;
    for cone in [FrictionCone::Round, FrictionCone::Polygon(4)] {
        let law = AnitescuPotra::default().with_friction_cone(cone);
        data.differentiated(&law.into(), |derivative, _| {
            assert_ne!(derivative.class(), Some(Differentiability::Smooth));
        });
    }
}

/// Two walls that face each other, both at rest: nothing happens, and yet every change of the velocity towards either wall is taken
/// away. The Jacobian is the projection along the walls, not the identity.
#[test]
fn facing_walls_at_rest_take_every_change_towards_them() {
    let wall = |x: f64, y: f64| Contact::frictionless(Covector::from_slice(&[x, y]));
    let data = Data {
        mass: DMatrix::identity(2, 2) * 2.0,
        velocity: dvector![1.0, -2.0],
        contacts: vec![wall(-2.0, -1.0), wall(2.0, 1.0)],
        forms: Vec::new(),
    };
    let along = dmatrix![0.2, -0.4; -0.4, 0.8];
    data.differentiated(&Plastic::default().into(), |found, _| {
        assert_eq!(found.class(), Some(Differentiability::Smooth));
        assert!((found.dv_dv().unwrap() - &along).amax() < 1e-12);
    });
    // Walls that rebound wedge the body in, so that this law has no answer beside the velocity.
    let law = Law::from(NonholonomicNewton::default().with_restitution(0.5));
    data.differentiated(&law, |found, _| {
        assert_eq!(found.class(), Some(Differentiability::Tied));
        assert!(found.dv_dv().is_none() && !found.is_complete());
    });
}

/// Two walls under a flat angle stop each other from closing: impacts without restitution in turn end where both are closed, and the
/// Jacobian is the projection along their edge. The impacts end when the velocity is rounding, long before their derivatives are.
#[test]
fn walls_that_close_after_endless_impacts_have_the_derivative_of_the_limit() {
    for (angle, slow) in [(0.3f64, 1e-6), (0.3, 1.0), (0.05, 1e-7), (0.01, 1.0)] {
        let (s, c) = angle.sin_cos();
        let wall = |c: f64| Contact::frictionless(Covector::from_slice(&[-s, c, 0.0]));
        let data = Data {
            mass: DMatrix::identity(3, 3),
            // The first impact leaves the part along its wall: that is what the others have to take away.
            velocity: dvector![s, c, 0.0] + dvector![c, -s, 0.0] * slow + dvector![0.0, 0.0, 0.7],
            contacts: vec![wall(-c), wall(c)],
            forms: Vec::new(),
        };
        let law = Law::from(NonholonomicNewton::default().with_restitution(0.0));
        data.differentiated(&law, |found, after| {
            let missed = (after - dvector![0.0, 0.0, 0.7]).amax();
            assert!(missed < 1e-9, "{angle}, {slow:e}: v+ {missed:e} off");
            let edge = DMatrix::from_diagonal(&dvector![0.0, 0.0, 1.0]);
            let missed = (found.dv_dv().unwrap() - edge).amax();
            assert!(missed < 1e-12, "{angle}, {slow:e}: {missed:e} off");
        });
    }
}

/// Differences of a law agree with its exact Jacobian within their own error, which tells kinks and jumps.
#[test]
fn differences_know_their_error() {
    let data = Data {
        mass: dmatrix![2.0, 0.3, 0.1; 0.3, 1.0, 0.0; 0.1, 0.0, 1.5],
        velocity: dvector![1.0, -1.2, -0.4],
        contacts: vec![
            Contact::new(Covector::from_slice(&[0.1, 1.0, 0.0]))
                .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, 0.2])])
                .with_friction(0.3)
                .with_restitution(0.5),
            Contact::new(Covector::from_slice(&[0.0, 0.2, 1.0]))
                .with_tangents(vec![Covector::from_slice(&[1.0, 0.1, 0.0])])
                .with_friction(0.2)
                .with_restitution(0.7),
        ],
        forms: vec![],
    };
    let laws = [
        "anitescu-potra",
        "moreau-newton",
        "sequential",
        "plastic",
        "propagative",
    ];
    for law in laws.map(|name| Law::named(name).unwrap()) {
        let found = data
            .with(|problem| by_differences(&law, problem))
            .unwrap()
            .unwrap();
        assert!(found.error < 1e-9, "{} {}", law.name(), found.error);
        data.differentiated(&law, |derivative, _| {
            let off = (&found.dv_dv - derivative.dv_dv().unwrap()).amax();
            assert!(
                off <= 4.0 * found.error,
                "{} {off} {}",
                law.name(),
                found.error
            );
        });
    }
    // A curved answer: restitution of the whole event.
    let law = Propagative::default().with_restitution(EnergeticRestitution::new(0.6).unwrap());
    let law = Law::from(law);
    let found = data
        .with(|problem| by_differences(&law, problem))
        .unwrap()
        .unwrap();
    data.differentiated(&law, |derivative, _| {
        let off = (&found.dv_dv - derivative.dv_dv().unwrap()).amax();
        assert!(
            off <= found.error && found.error < 1e-7,
            "{off} {}",
            found.error
        );
    });
    // Constraints leave only some changes of the velocity.
    let mut bound = data.clone();
    bound.forms = vec![Covector::from_slice(&[1.0, 0.0, 2.5])];
    let law = Law::from(NonholonomicElastic::default());
    bound.contacts.truncate(1);
    let found = bound
        .with(|problem| by_differences(&law, problem))
        .unwrap()
        .unwrap();
    bound.differentiated(&law, |derivative, _| {
        let off = (&found.dv_dv - derivative.dv_dv().unwrap()).amax();
        assert!(off <= 1e-9, "{off} {}", found.error);
    });
    // Two balls reach the middle one at once: the order of impacts jumps.
    let row = Data {
        mass: DMatrix::identity(3, 3),
        velocity: dvector![1.0, 0.0, -1.0],
        contacts: [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
            .map(|u| Contact::frictionless(Covector::from_slice(&u)))
            .to_vec(),
        forms: vec![],
    };
    let mut heavy = row.clone();
    heavy.mass[(1, 1)] = 0.3;
    let law = Law::from(Propagative::default());
    let found = heavy
        .with(|problem| by_differences(&law, problem))
        .unwrap()
        .unwrap();
    assert!(found.error > 1.0, "{}", found.error);
}
