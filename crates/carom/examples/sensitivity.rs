//! Derivatives of a run's end by its start: `cargo run --example sensitivity`.

use carom::geometry::{Ellipsoid, HalfSpace, MassProperties};
use carom::lie::So3;
use carom::motion::flying::{Collider, ImpactRule, Trajectory};
use carom::variational::{FreeFlight, RigidBody, State, TimeGrid};
use nalgebra::Vector3;
use std::error::Error;

/// Tran & Leok's ellipsoid for four seconds, with one impact: where it is by where it began, beside a
/// difference of two runs.
pub fn main() -> Result<(), Box<dyn Error>> {
    let shape = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros())?;
    let body = RigidBody::new(&MassProperties::ellipsoid(&shape, 1.0)?);
    let plane = HalfSpace::new(Vector3::z(), 0.0)?;
    let flight = FreeFlight::lgvi(Vector3::new(0.0, 0.0, -9.80665));
    let rule = ImpactRule::Newton { restitution: 0.8 };
    let collider = Collider::new(&body, &shape, &plane, &flight, rule)?;
    let run = |height: f64| {
        let start = State {
            position: Vector3::new(0.0, 0.0, height),
            rotation: So3::identity(),
            linear_momentum: Vector3::new(2.0, 2.0, 10.0),
            angular_momentum: Vector3::new(4.0, -4.0, 4.0),
        };
        Trajectory::record(&collider, &start, &TimeGrid::duration(0.01, 4.0)?, None)
    };
    let sensitivity = collider.sensitivity(&run(10.0)?)?;
    for event in &sensitivity.events {
        let (class, margin) = (event.class.name(), event.margin.unwrap_or_default());
        println!("impact at {:.4} s: {class}, margin {margin:.3}", event.time);
    }
    let jacobian = sensitivity.d_final_d_initial.ok_or("no derivative")?;
    println!("final height by initial height: {:.6}", jacobian[(2, 2)]);
    let end = |height| run(height).map(|run| run.end().state.position.z);
    let difference = (end(10.0 + 1e-5)? - end(10.0 - 1e-5)?) / 2e-5;
    println!("a difference of two runs:       {difference:.6}");
    for (name, column) in &sensitivity.d_final_d_parameters {
        println!("final height by {name}: {:.4}", column[2]);
    }
    Ok(())
}
