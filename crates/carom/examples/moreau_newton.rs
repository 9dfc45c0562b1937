//! Newton's restitution at all contacts at once: `cargo run --example moreau_newton`.

use carom::impact::frictional::MoreauNewton;
use carom::impact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;

/// Five equal balls, restitution 1: energy is right, and yet the first ball bounces back and the
/// others leave together, as in most rigid-body engines.
pub fn main() -> Result<(), ImpactError> {
    let n = 5;
    let metric = KineticMetric::new(DMatrix::identity(n, n))?;
    let touching = |i: usize| {
        let mut u = vec![0.0; n];
        (u[i], u[i + 1]) = (-1.0, 1.0);
        Contact::frictionless(Covector::from_slice(&u)).with_restitution(1.0)
    };
    let contacts = ContactSet::new(&metric, (0..n - 1).map(touching).collect())?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, 0.0, 0.0, 0.0]))?;
    let outcome = MoreauNewton::default().resolve(&problem)?;
    println!("velocities {:.4?}", outcome.velocity_plus.0.as_slice());
    println!("energy change {:.1e} J", outcome.audit.energy_change_j());
    Ok(())
}
