//! A rod lands flat without bouncing: `cargo run --example plastic`.

use carom::impact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom::impact::{Plastic, PlasticRule};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, dvector};

/// Supports at 0.1 m and 0.8 m from the middle of the rod: stopping both would pull on one.
pub fn main() -> Result<(), ImpactError> {
    let metric = KineticMetric::new(DMatrix::from_diagonal(&dvector![1.0, 1.0 / 3.0]))?;
    let support = |x: f64| Contact::frictionless(Covector::from_slice(&[1.0, x]));
    let contacts = ContactSet::new(&metric, vec![support(0.1), support(0.8)])?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0, 0.0]))?;
    let all = PlasticRule::ProjectAll {
        allow_adhesion: true,
    };
    for rule in [PlasticRule::Cone, all] {
        let outcome = Plastic::default().with_rule(rule).resolve(&problem)?;
        println!(
            "{rule:?}: velocity {:.4?}, impulses {:.4?}, loses {:.4} J",
            outcome.velocity_plus.0.as_slice(),
            outcome.impulses.as_slice(),
            -outcome.audit.energy_change_j(),
        );
    }
    Ok(())
}
