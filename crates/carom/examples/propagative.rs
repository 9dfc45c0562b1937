//! Newton's cradle in a few lines: `cargo run --example cradle`.

use carom::impact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, Propagative};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;

fn main() -> Result<(), ImpactError> {
    let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
    let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]].map(|u| Covector::from_slice(&u));
    let contacts = ContactSet::new(&metric, normals.map(Contact::frictionless).to_vec())?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, 0.0]))?;
    let outcome = Propagative::default().resolve(&problem)?;
    println!("v+ = {:?}", outcome.velocity_plus.0.as_slice());
    println!("energy change = {:e} J", outcome.audit.energy_change_j());
    Ok(())
}
