//! A skate meets a wall: `cargo run --example nonholonomic`.

use carom::impact::{Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactProblem};
use carom::impact::{Nonholonomic, Restitution};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;

/// The blade allows no motion sideways, before and after: five answers, one of them inadmissible.
pub fn main() -> Result<(), ImpactError> {
    let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
    let wall = Contact::frictionless(Covector::from_slice(&[1.0, 0.0]));
    let blade = Covector::from_slice(&[1.0, -2.0]);
    let contacts = ContactSet::constrained(&metric, vec![wall], vec![blade])?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0, -0.5]))?;
    for restitution in [
        Restitution::Elastic,
        Restitution::Projected,
        Restitution::Newton(0.5),
        Restitution::ProjectedNewton(0.5),
        Restitution::ProjectedNewton(0.1),
    ] {
        match Nonholonomic::new(restitution)?.resolve(&problem) {
            Ok(outcome) => {
                let Diagnostics::Nonholonomic(found) = &outcome.diagnostics else {
                    continue;
                };
                println!(
                    "{restitution:?}: velocity {:.4?}, effective restitution {:.4}",
                    outcome.velocity_plus.0.as_slice(),
                    found.effective_restitution.unwrap_or_default(),
                );
            }
            Err(error) => println!("{restitution:?}: {error}"),
        }
    }
    Ok(())
}
