//! A block dropped flat, both corners at once: `cargo run --example anitescu_potra`.

use carom::impact::frictional::{AnitescuPotra, all_simultaneous};
use carom::impact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, dvector};

/// Both corners stop: the one simultaneous outcome of Halm & Posa's rocking block, Table 4.
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
    let outcome = AnitescuPotra::default().resolve(&problem)?;
    println!("velocity {:.4?}", outcome.velocity_plus.0.as_slice());
    println!("impulses {:.4?}", outcome.impulses.as_slice());
    for solution in all_simultaneous(&problem)? {
        println!("ends {:?}", solution.modes);
    }
    Ok(())
}
