//! Correct digits of answers.

use carom_contact::internal::{Candidate, Targets};
use carom_contact::metric::{Covector, KineticMetric, Tangent};
use carom_contact::nalgebra::{DMatrix, dmatrix};
use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus,
    Numbers, Rules,
};

/// Outcome of impulses on unit normals at frictionless contacts.
fn outcome(
    mass: DMatrix<f64>,
    normals: &[&[f64]],
    velocity: &[f64],
    impulse: impl Fn(&ImpactProblem) -> Numbers,
) -> Result<ImpactOutcome, ImpactError> {
    let metric = KineticMetric::new(mass)?;
    let contacts = normals
        .iter()
        .map(|n| Contact::frictionless(Covector::from_slice(n)));
    let contacts = ContactSet::new(&metric, contacts.collect())?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(velocity))?;
    let mut held = Targets::new([], false);
    let diagnostics = Diagnostics::Plastic {
        adhesive: Vec::new(),
    };
    Candidate::new(&problem, impulse(&problem)).outcome(
        &problem,
        &Rules::FRICTIONLESS,
        &mut held,
        ImpactStatus::Resolved,
        diagnostics,
    )
}

#[test]
fn a_wedge_turned_by_a_billionth_leaves_no_digits() {
    let mass = dmatrix![4194304.0, 524288.0; 524288.0, 65536.00000095367];
    let rows: [&[f64]; 3] = [
        &[3.0, -1.0],
        &[-3.000000000698492, 1.0],
        &[6.00018310546875, -2.0],
    ];
    let found = outcome(mass, &rows, &[3.0, -4.0], |problem| {
        let b = problem.unit_velocity();
        [0.0, -b[1], 0.0].into_iter().collect()
    });
    assert!(matches!(found, Err(ImpactError::IllConditioned { .. })));
}
