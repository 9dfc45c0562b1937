//! Every outcome of a block dropped flat, sampled: `cargo run --example set_valued`.

use carom::impact::frictional::SetValued;
use carom::impact::{Contact, ContactSet, ImpactError, ImpactProblem, SetValuedLaw};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, dvector};

/// Corners may push in any overlap: the block comes to rest or rocks to either side.
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
    let law = SetValued::default()
        .with_impulse_step(Some(0.3))
        .with_samples(2000);
    let set = law.resolve_all(&problem)?;
    let turning = set
        .outcomes
        .iter()
        .map(|outcome| outcome.velocity_plus.0[2]);
    let slowest = turning.clone().fold(f64::INFINITY, f64::min);
    let fastest = turning.fold(f64::NEG_INFINITY, f64::max);
    println!("{} of {} samples ended", set.outcomes.len(), law.samples);
    println!("turning between {slowest:.4} and {fastest:.4} rad/s");
    println!("indeterminacy {:.4}", set.indeterminacy);
    Ok(())
}
