//! An ellipsoid bounces: `cargo run --example collision_integrator`.

use carom::geometry::{Ellipsoid, HalfSpace, MassProperties};
use carom::lie::So3;
use carom::motion::flying::{Collider, ImpactRule, Trajectory};
use carom::variational::{FreeFlight, RigidBody, State, TimeGrid};
use nalgebra::Vector3;
use std::error::Error;

/// Tran & Leok's ellipsoid falls for ten seconds: flights on SE(3), first contacts, elastic jumps.
pub fn main() -> Result<(), Box<dyn Error>> {
    let shape = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros())?;
    let body = RigidBody::new(&MassProperties::ellipsoid(&shape, 1.0)?);
    let plane = HalfSpace::new(Vector3::z(), 0.0)?;
    let flight = FreeFlight::lgvi(Vector3::new(0.0, 0.0, -9.80665));
    let elastic = ImpactRule::Newton { restitution: 1.0 };
    let collider = Collider::new(&body, &shape, &plane, &flight, elastic)?;
    let start = State {
        position: Vector3::new(0.0, 0.0, 10.0),
        rotation: So3::identity(),
        linear_momentum: Vector3::new(2.0, 2.0, 10.0),
        angular_momentum: Vector3::new(4.0, -4.0, 4.0),
    };
    let run = Trajectory::record(&collider, &start, &TimeGrid::duration(0.01, 10.0)?, None)?;
    for impact in run.impacts() {
        println!(
            "impact at {:.4} s, closing at {:.4} m/s, impulse {:.4} N s",
            impact.time, impact.gap_rate, impact.impulse
        );
    }
    let status = run.end().ending.name();
    println!("{status}, energy error {:.1e} J", run.max_energy_error());
    Ok(())
}
