//! All outcomes of three balls in a row: `cargo run --example propagative`.

use carom::impact::{Contact, ContactSet, Diagnostics, ImpactError, ImpactProblem};
use carom::impact::{Propagative, SetValuedLaw};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, dvector};

/// A light ball between a medium and a heavy one: the order of impacts matters.
pub fn main() -> Result<(), ImpactError> {
    let metric = KineticMetric::new(DMatrix::from_diagonal(&dvector![1.0, 0.5, 3.0]))?;
    let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]].map(|u| Covector::from_slice(&u));
    let contacts = ContactSet::new(&metric, normals.map(Contact::frictionless).to_vec())?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, -1.0]))?;
    let set = Propagative::default().resolve_all(&problem)?;
    for outcome in &set.outcomes {
        let Diagnostics::Propagative(found) = &outcome.diagnostics else {
            continue;
        };
        println!(
            "order {:?}: velocities {:.4?}, energy change {:.1e} J",
            found.sequence.as_deref().unwrap_or_default(),
            outcome.velocity_plus.0.as_slice(),
            outcome.audit.energy_change_j(),
        );
    }
    println!("indeterminacy {:.4}", set.indeterminacy);
    Ok(())
}
