//! A double pendulum that hits a wall: `cargo run --release --example mechanism`.
//!
//! A mechanism is put together from links; the integrator needs nothing else to find its impacts.

use carom::impact::Propagative;
use carom::mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder};
use carom::motion::generalized::{CollisionIntegrator, Trajectory};
use carom::variational::TimeGrid;
use std::error::Error;
use std::f64::consts::FRAC_PI_2;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    // Two rods hang from the origin; coordinates are the angle of the upper one from straight down
    // and that of the lower one from the upper one.
    let mut builder = PlanarBuilder::new([0.0, -9.81]);
    let upper = builder.hinge(Link::GROUND, [0.0, 0.0], -FRAC_PI_2);
    builder.body(upper, Inertia::rod(1.0, [0.0, 0.0], [1.0, 0.0]));
    let lower = builder.hinge(upper, [1.0, 0.0], 0.0);
    builder.body(lower, Inertia::rod(0.8, [0.0, 0.0], [0.8, 0.0]));

    // A wall at x = 0.6, which the elbow and the tip may hit.
    let wall = Line::new([0.6, 0.0], [-1.0, 0.0])?;
    builder.contact(upper, LineContact::point("elbow", [1.0, 0.0], wall));
    builder.contact(lower, LineContact::point("tip", [0.8, 0.0], wall));
    let pendulum = builder.build()?;

    let law = Propagative::default();
    let integrator = CollisionIntegrator::new(&pendulum, &law)?;
    let start = integrator.state(0.0, &[-1.2, 0.0], &[0.0, 0.0])?;
    let grid = TimeGrid::duration(1e-3, 3.0)?;
    let run = Trajectory::record(&integrator, &start, &grid, None)?;

    println!("{:?}", run.end.ending);
    for impact in run.impacts() {
        println!(
            "t = {:.6} s: contacts {:?}, energy change {:.1e} J",
            impact.time,
            impact.contacts,
            impact.outcome.audit.energy_change_j()
        );
    }
    let (kinetic, potential) = integrator.energies(&run.end.state)?;
    let (_, initial) = integrator.energies(&start)?;
    println!(
        "energy {:.6} J, at the start {initial:.6} J",
        kinetic + potential
    );
    Ok(())
}
