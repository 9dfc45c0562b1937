//! Bring your own mechanism: `cargo run --example own_mechanism`.
//!
//! A bead on a spring swings about the origin, in polar coordinates, and hits a wall at x = 0.5.

use carom::impact::Propagative;
use carom::mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion, PointContact};
use carom::motion::generalized::{CollisionIntegrator, Trajectory};
use carom::variational::TimeGrid;
use nalgebra::DMatrix;

const MASS: f64 = 1.0;
const STIFFNESS: f64 = 4.0;

#[derive(Debug)]
struct Bead([PointContact; 1]);

impl MechanicalSystem for Bead {
    fn dimension(&self) -> usize {
        2 // radius and angle
    }
    fn mass_matrix(&self, q: &[f64], out: &mut DMatrix<f64>) {
        out[(0, 0)] = MASS;
        out[(1, 1)] = MASS * q[0] * q[0];
    }
    fn dynamics(&self, at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
        let (r, omega) = (at.configuration[0], at.velocity[1]);
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
        // The angular momentum m r^2 omega depends on r, and the kinetic energy m r^2 omega^2 / 2.
        out.momentum_derivative[(1, 0)] = 2.0 * MASS * r * omega;
        out.kinetic_hessian[(0, 0)] = MASS * omega * omega;
        out.potential = 0.5 * STIFFNESS * r * r;
        out.potential_gradient[0] = STIFFNESS * r;
        out.potential_hessian[(0, 0)] = STIFFNESS;
    }
    fn contacts(&self) -> &[PointContact] {
        &self.0
    }
    fn gap(&self, _contact: usize, q: &[f64]) -> f64 {
        0.5 - q[0] * q[1].cos()
    }
    fn gap_gradient(&self, _contact: usize, q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[-q[1].cos(), q[0] * q[1].sin()]);
    }
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bead = Bead([PointContact::elastic("wall")]);
    let law = Propagative::default();
    let integrator = CollisionIntegrator::new(&bead, &law)?;
    let start = integrator.state(0.0, &[1.0, 2.0], &[0.0, -1.0])?;
    let grid = TimeGrid::duration(0.01, 5.0)?;
    let run = Trajectory::record(&integrator, &start, &grid, None)?;
    for impact in run.impacts() {
        let change = impact.outcome.audit.energy_change_j();
        println!("hit at {:.6} s, energy change {change:.1e} J", impact.time);
    }
    println!("{}", run.end.ending.name());
    Ok(())
}
