//! A spinning brick hits the ground with a corner: `cargo run --example two_body`.

use carom::impact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactProblem, TwoBody,
};
use carom::metric::KineticMetric;
use carom::two_body::{BodyPair, RigidBody};
use nalgebra::{Matrix3, Vector3};

/// Sliding turns on its way: what the contact's velocity does is followed exactly.
pub fn main() -> Result<(), ImpactError> {
    let brick = RigidBody {
        mass: 2.0,
        inertia: Matrix3::from_diagonal(&Vector3::new(0.2, 0.3, 0.4)),
        center: Vector3::new(0.1, 0.05, 0.5),
        velocity: Vector3::new(1.0, 0.0, -2.0),
        angular_velocity: Vector3::new(0.0, 1.0, 3.0),
    };
    // Without a second body it is the ground.
    let pair = BodyPair::new(brick, None, Vector3::zeros(), Vector3::z())?;
    let metric = KineticMetric::new(pair.mass_matrix())?;
    let contacts = ContactSet::new(&metric, vec![Contact::of_bodies(&pair, 0.3, 0.8)])?;
    let problem = ImpactProblem::new(&contacts, pair.velocity())?;
    let outcome = TwoBody::default().resolve(&problem)?;
    println!(
        "contact velocity before {:.4?}",
        pair.contact_velocity().as_slice()
    );
    println!(
        "velocities after {:.4?}",
        outcome.velocity_plus.0.as_slice()
    );
    if let Diagnostics::Frictional(found) = &outcome.diagnostics
        && let Some(impact) = &found.impact
    {
        println!("events {}", impact.events.sequence());
        println!("work of friction {:.4} J", impact.friction_work);
        println!("work of the normal impulse {:.4} J", impact.normal_work);
    }
    Ok(())
}
