//! A block dropped flat, one corner after the other: `cargo run --example sequential`.

use carom::impact::frictional::Sequential;
use carom::impact::{Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactProblem};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, dvector};

/// Who pushes first decides which corner lifts (Halm & Posa, Fig. 1).
pub fn main() -> Result<(), ImpactError> {
    let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 5.0 / 12.0]);
    let metric = KineticMetric::new(mass)?;
    let corner = |x: f64| {
        Contact::new(Covector::from_slice(&[0.0, 1.0, x]))
            .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, 1.0])])
            .with_friction(1.0)
    };
    let contacts = ContactSet::new(&metric, vec![corner(-0.5), corner(0.5)])?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[0.0, -0.4429, 0.0]))?;
    for order in [vec![0, 1], vec![1, 0]] {
        let law = Sequential::default().with_order(order);
        let outcome = law.resolve(&problem)?;
        if let Diagnostics::Sequential { sequence, .. } = &outcome.diagnostics {
            let turning = outcome.velocity_plus.0[2];
            println!("corners in the order {sequence:?}: turns at {turning:.4} rad/s");
        }
    }
    Ok(())
}
