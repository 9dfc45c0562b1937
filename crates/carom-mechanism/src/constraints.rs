//! Linear constraints on the velocities of a system.

use crate::{Derivatives, Dynamics, MechanicalSystem, Motion, PointContact};
use nalgebra::DMatrix;
use std::fmt;

/// Linear constraint $a(q)\cdot v = 0$ on the velocities of a mechanical system: rolling without slipping, a blade, a wheel.
pub trait VelocityConstraint: fmt::Debug + Send + Sync {
    /// Computes the row $a(q)$ of the constraint, one entry per coordinate. An implementation must write every entry.
    fn row(&self, configuration: &[f64], out: &mut [f64]);

    /// Computes the gradient $\partial(a(q)\cdot v)/\partial q$ at a fixed `velocity`, one entry per coordinate. An implementation
    /// must write every entry.
    fn derivative(&self, configuration: &[f64], velocity: &[f64], out: &mut [f64]);
}

impl VelocityConstraint for Box<dyn VelocityConstraint> {
    fn row(&self, configuration: &[f64], out: &mut [f64]) {
        self.as_ref().row(configuration, out);
    }

    fn derivative(&self, configuration: &[f64], velocity: &[f64], out: &mut [f64]) {
        self.as_ref().derivative(configuration, velocity, out);
    }
}

/// Mechanical system under linear constraints on its velocities, $A(q)v = 0$, which no function of the configuration need express
/// (nonholonomic constraints).
///
/// # Examples
///
/// A skate at the origin of a body's frame, which moves freely in the plane:
///
/// ```
/// use carom_mechanism::planar::{Blade, Inertia, PlanarBuilder};
/// use carom_mechanism::{Constrained, MechanicalSystem, MechanismError};
///
/// # fn main() -> Result<(), MechanismError> {
/// let mut builder = PlanarBuilder::new([0.0, 0.0]);
/// let sled = builder.floating();
/// builder.body(sled, Inertia::new(1.6, [0.2, 0.0], 0.09));
/// let body = builder.build()?;
/// let blade = Blade::new(body.clone(), sled, [0.0, 0.0], [1.0, 0.0])?;
/// let mut sleigh = Constrained::new(body);
/// sleigh.constrain("blade", blade);
/// let mut row = [0.0; 3];
/// sleigh.constraint_row(0, &[0.0, 0.0, std::f64::consts::FRAC_PI_2], &mut row);
/// // The body faces +y: its blade does not move along x.
/// assert!((row[0] + 1.0).abs() < 1e-15 && row[1].abs() < 1e-15 && row[2] == 0.0);
/// # Ok(())
/// # }
/// ```
///
/// Clark & Bloch, *Impacts in nonholonomic systems*, Eqs. (9)-(13).
#[derive(Debug)]
pub struct Constrained<S> {
    system: S,
    names: Vec<String>,
    constraints: Vec<Box<dyn VelocityConstraint>>,
}

impl<S: MechanicalSystem> Constrained<S> {
    /// Creates a system with the Lagrangian, the forces and the contacts of `system`, at first without constraints of its own.
    /// Constraints of `system` itself are not kept.
    pub fn new(system: S) -> Self {
        Self {
            system,
            names: Vec::new(),
            constraints: Vec::new(),
        }
    }

    /// Adds a constraint with a name for reports.
    pub fn constrain(
        &mut self,
        name: impl Into<String>,
        constraint: impl VelocityConstraint + 'static,
    ) -> &mut Self {
        self.names.push(name.into());
        self.constraints.push(Box::new(constraint));
        self
    }
}

impl<S: MechanicalSystem> MechanicalSystem for Constrained<S> {
    fn dimension(&self) -> usize {
        self.system.dimension()
    }

    fn mass_matrix(&self, configuration: &[f64], out: &mut DMatrix<f64>) {
        self.system.mass_matrix(configuration, out);
    }

    fn dynamics(&self, at: &Motion<'_>, wanted: Derivatives, out: &mut Dynamics) {
        self.system.dynamics(at, wanted, out);
    }

    fn damper_power(&self, velocity: &[f64]) -> f64 {
        self.system.damper_power(velocity)
    }

    fn contacts(&self) -> &[PointContact] {
        self.system.contacts()
    }

    fn gap(&self, contact: usize, configuration: &[f64]) -> f64 {
        self.system.gap(contact, configuration)
    }

    fn gaps(&self, configuration: &[f64], out: &mut [f64]) {
        self.system.gaps(configuration, out);
    }

    fn gap_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]) {
        self.system.gap_gradient(contact, configuration, out);
    }

    fn slide(&self, contact: usize, configuration: &[f64]) -> f64 {
        self.system.slide(contact, configuration)
    }

    fn slide_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]) {
        self.system.slide_gradient(contact, configuration, out);
    }

    fn contact_hessians(
        &self,
        contact: usize,
        configuration: &[f64],
        gap: &mut DMatrix<f64>,
        slide: &mut DMatrix<f64>,
    ) -> bool {
        self.system
            .contact_hessians(contact, configuration, gap, slide)
    }

    fn constraints(&self) -> &[String] {
        &self.names
    }

    fn constraint_row(&self, constraint: usize, configuration: &[f64], out: &mut [f64]) {
        self.constraints[constraint].row(configuration, out);
    }

    fn constraint_derivative(
        &self,
        constraint: usize,
        configuration: &[f64],
        velocity: &[f64],
        out: &mut [f64],
    ) {
        self.constraints[constraint].derivative(configuration, velocity, out);
    }
}
