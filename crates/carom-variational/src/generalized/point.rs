//! State of a system at one time, with what steps need.

use carom_mechanism::MechanicalSystem;
use carom_metric::kernel;
use carom_numeric::dense;
use nalgebra::DMatrix;

/// State of a mechanical system at one grid time: configuration, momentum and velocity, with gaps, gap rates and the Cholesky
/// factor of the mass matrix. A [`Stepper`](super::Stepper) computes the state at the end of a time step from that at its start.
#[derive(Clone, Debug)]
pub struct Point {
    /// Time (s).
    pub time: f64,
    /// Configuration $q$, one entry per coordinate.
    pub configuration: Vec<f64>,
    /// Momentum $p$, one entry per coordinate.
    pub momentum: Vec<f64>,
    /// Velocity $v = M^{-1}p$, one entry per coordinate.
    pub velocity: Vec<f64>,
    /// Gaps, one per contact (m).
    pub gaps: Vec<f64>,
    /// Gap rates, one per contact (m/s).
    pub rates: Vec<f64>,
    /// Cholesky factor of the mass matrix (n × n, lower triangle).
    pub mass: DMatrix<f64>,
}

impl Point {
    /// Creates a state in which all numbers are zero, for a system with `dimension` coordinates and `n_contacts` contacts.
    pub fn new(dimension: usize, n_contacts: usize) -> Self {
        Self {
            time: 0.0,
            configuration: vec![0.0; dimension],
            momentum: vec![0.0; dimension],
            velocity: vec![0.0; dimension],
            gaps: vec![0.0; n_contacts],
            rates: vec![0.0; n_contacts],
            mass: DMatrix::zeros(dimension, dimension),
        }
    }

    /// Returns the kinetic norm $\sqrt{c^TM^{-1}c}$ of a covector $c$, such as a momentum, with the mass matrix $M$ of this
    /// state. The entries of `covector` are overwritten by intermediate results.
    pub fn norm_of(&self, covector: &mut [f64]) -> f64 {
        dense::whiten(self.mass.as_slice(), covector);
        kernel::norm(covector)
    }

    /// Returns the kinetic norm $\sqrt{v^TMv}$ of the velocity.
    pub fn kinetic_norm(&self) -> f64 {
        kernel::dot(&self.momentum, &self.velocity).max(0.0).sqrt()
    }

    /// Returns the kinetic norm of the part of the velocity that a velocity constraint of the system does not admit,
    /// $|a\cdot v|/\sqrt{aM^{-1}a^T}$ with its row $a$; 0 for a row that is zero.
    pub fn violation<S: MechanicalSystem + ?Sized>(&self, system: &S, constraint: usize) -> f64 {
        let mut row = vec![0.0; self.configuration.len()];
        system.constraint_row(constraint, &self.configuration, &mut row);
        let rate = kernel::dot(&row, &self.velocity).abs();
        let norm = self.norm_of(&mut row);
        if norm > 0.0 { rate / norm } else { 0.0 }
    }

    /// Sets the velocity $v = M^{-1}p$ of this state from its momentum $p$ and its mass matrix $M$.
    pub fn velocity_from_momentum(&mut self) {
        self.velocity.copy_from_slice(&self.momentum);
        sharpen(&self.mass, &mut self.velocity);
    }

    /// Multiplies the vector `x` by the inverse of the mass matrix of this state, in place. If `x` is a momentum, the result is
    /// the velocity.
    pub fn sharpen(&self, x: &mut [f64]) {
        sharpen(&self.mass, x);
    }
}

fn sharpen(factor: &DMatrix<f64>, x: &mut [f64]) {
    dense::whiten(factor.as_slice(), x);
    dense::unwhiten(factor.as_slice(), x);
}
