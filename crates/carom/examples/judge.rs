//! Judges an engine's answer: `cargo run --example judge`.

use carom::impact::{Contact, ContactSet, ImpactError, ImpactProblem};
use carom::judge::{JudgeOptions, judge};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;

/// Newton's cradle with restitution 1, as four programs answer it.
pub fn main() -> Result<(), ImpactError> {
    let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
    let touching =
        |u: [f64; 3]| Contact::frictionless(Covector::from_slice(&u)).with_restitution(1.0);
    let contacts = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]].map(touching);
    let contacts = ContactSet::new(&metric, contacts.to_vec())?;
    let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, 0.0]))?;
    for after in [
        [0.0, 0.0, 1.0],
        [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0],
        [-0.386_414, 0.693_207, 0.693_207],
        [1.0, 0.0, 0.0],
    ] {
        let judgement = judge(
            &problem,
            &Tangent::from_slice(&after),
            &JudgeOptions::default(),
        )?;
        println!("{after:.4?}\n    {}", judgement.verdict());
    }
    Ok(())
}
