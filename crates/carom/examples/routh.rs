//! A rod hits the ground with its end: `cargo run --example routh`.

use carom::impact::{Contact, ContactMode, ContactSet, Diagnostics, ImpactError};
use carom::impact::{ImpactLaw, ImpactProblem, Routh};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, dvector};

/// One fall with more and more friction: sliding, sliding that reverses, stick.
pub fn main() -> Result<(), ImpactError> {
    let metric = KineticMetric::new(DMatrix::from_diagonal(&dvector![1.0, 1.0, 1.0 / 3.0]))?;
    let h = 0.5_f64.sqrt();
    for friction in [0.0, 0.2, 0.4, 0.6, 0.8] {
        let end = Contact::new(Covector::from_slice(&[0.0, 1.0, -h]))
            .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, h])])
            .with_friction(friction)
            .with_restitution(0.5);
        let contacts = ContactSet::new(&metric, vec![end])?;
        let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[0.3, -1.0, 0.0]))?;
        let outcome = Routh::default().resolve(&problem)?;
        let Diagnostics::Frictional(found) = &outcome.diagnostics else {
            continue;
        };
        if let Some(impact) = &found.impact {
            println!(
                "friction {friction}: {}, events {}, loses {:.4} J",
                ContactMode::of(impact).name(),
                impact.events.sequence(),
                -outcome.audit.energy_change_j(),
            );
        }
    }
    Ok(())
}
