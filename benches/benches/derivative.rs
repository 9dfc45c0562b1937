//! Cost of an impact's derivative beside the impact, from the mass matrix to the answer.
#![allow(clippy::unwrap_used)]

use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_derivative::{DifferentiableLaw, Wrt, differentiate};
use carom_impact::frictional::AnitescuPotra;
use carom_impact::{Propagative, Routh};
use carom_metric::{Covector, KineticMetric, Tangent};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use nalgebra::DMatrix;
use std::hint::black_box;

/// Near ties, over the velocity before.
const TOLERANCE: f64 = 1e-9;

/// Jacobians with respect to the velocity alone.
fn by_velocity() -> Wrt {
    Wrt::ALL.with_friction(false).with_restitution(false)
}

/// An impact, ready to be solved from its mass matrix.
struct Case {
    mass: DMatrix<f64>,
    contacts: Vec<Contact>,
    velocity: Vec<f64>,
}

impl Case {
    fn with<T>(&self, solve: impl FnOnce(&ImpactProblem) -> T) -> T {
        let metric = KineticMetric::new(black_box(&self.mass).clone()).unwrap();
        let contacts = ContactSet::new(&metric, self.contacts.clone()).unwrap();
        let velocity = Tangent::from_slice(&self.velocity);
        solve(&ImpactProblem::new(&contacts, velocity).unwrap())
    }
}

fn compare(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    case: &Case,
    law: &dyn DifferentiableLaw,
    wrt: Wrt,
) {
    group.bench_function(format!("{name}/impact"), |b| {
        b.iter(|| case.with(|problem| law.resolve(problem).unwrap().velocity_plus));
    });
    group.bench_function(format!("{name}/derivative"), |b| {
        b.iter(|| {
            case.with(|problem| {
                let (outcome, derivative) = differentiate(law, problem, &wrt, TOLERANCE).unwrap();
                let entry = derivative.dv_dv().map(|d| d[(0, 0)]);
                (outcome.velocity_plus, entry)
            })
        });
    });
}

/// Two balls hit a third one.
fn balls() -> Case {
    let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];
    Case {
        mass: DMatrix::from_diagonal(&nalgebra::dvector![1.0, 2.0, 1.0]),
        contacts: normals
            .map(|row| Contact::frictionless(Covector::from_slice(&row)))
            .to_vec(),
        velocity: vec![1.0, 0.1, -0.6],
    }
}

/// A block lands on two corners while it slides.
fn block() -> Case {
    let corner = |x: f64| {
        Contact::new(Covector::from_slice(&[0.0, 1.0, x]))
            .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, 0.5])])
            .with_friction(0.4)
    };
    Case {
        mass: DMatrix::from_diagonal(&nalgebra::dvector![1.0, 1.0, 1.0 / 6.0]),
        contacts: vec![corner(-0.5), corner(0.5)],
        velocity: vec![1.5, -1.0, 0.2],
    }
}

/// Two bodies whose sliding turns: Jia & Wang, Eq. (13).
fn bodies() -> Case {
    let w = DMatrix::from_row_slice(
        3,
        3,
        &[
            11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
        ],
    );
    let axis = |k: usize| {
        Covector(nalgebra::DVector::from_fn(3, |i, _| {
            f64::from(u8::from(i == k))
        }))
    };
    Case {
        mass: w.try_inverse().unwrap(),
        contacts: vec![
            Contact::new(axis(2))
                .with_tangents(vec![axis(0), axis(1)])
                .with_friction(0.2)
                .with_restitution(0.95),
        ],
        velocity: vec![-0.6, 1.0, -1.2],
    }
}

fn derivatives(c: &mut Criterion) {
    let mut group = c.benchmark_group("derivative");
    let elastic = Propagative::default();
    compare(
        &mut group,
        "two-contacts-propagative",
        &balls(),
        &elastic,
        by_velocity(),
    );
    let frictional = AnitescuPotra::default();
    compare(
        &mut group,
        "two-contacts-friction",
        &block(),
        &frictional,
        by_velocity(),
    );
    let routh = Routh::default();
    compare(&mut group, "curved-two-body", &bodies(), &routh, Wrt::ALL);
    group.finish();
}

criterion_group!(benches, derivatives);
criterion_main!(benches);
