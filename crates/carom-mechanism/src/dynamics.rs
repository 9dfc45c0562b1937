//! Buffers for one evaluation of a system.

use nalgebra::{DMatrix, DVector};

/// Order of the derivatives that a [`MechanicalSystem`](crate::MechanicalSystem) must compute. The order determines the fields of
/// [`Dynamics`] that must be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivatives {
    /// All fields that a residual needs: all except those listed under [`Second`](Self::Second).
    First,
    /// In addition the fields that a Jacobian of the residual needs: [`kinetic_hessian`](Dynamics::kinetic_hessian),
    /// [`potential_hessian`](Dynamics::potential_hessian), [`force_by_configuration`](Dynamics::force_by_configuration),
    /// [`force_by_velocity`](Dynamics::force_by_velocity) and [`force_by_time`](Dynamics::force_by_time).
    Second,
}

/// Mass matrix, energies and forces of a mechanical system with their derivatives, at one time $t$, configuration $q$ and
/// velocity $v$. [`MechanicalSystem::dynamics`](crate::MechanicalSystem::dynamics) fills this workspace.
///
/// The caller creates the workspace once per system, and clears it before every evaluation; so a system writes only entries that
/// are not zero. In the list of fields, n is the number of coordinates.
///
/// # Examples
///
/// ```
/// use carom_mechanism::systems::Pendulum;
/// use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
/// let pendulum = Pendulum::new(0.5, 2.0, 9.81, 0.0)?;
/// let mut dynamics = Dynamics::new(pendulum.dimension());
/// let at = Motion { time: 0.0, configuration: &[std::f64::consts::FRAC_PI_2], velocity: &[0.0] };
/// pendulum.dynamics(&at, Derivatives::First, &mut dynamics);
/// // Held level, the weight turns it by m g l.
/// assert!((dynamics.potential_gradient[0] - 2.0 * 9.81 * 0.5).abs() < 1e-14);
/// # Ok::<(), carom_mechanism::MechanismError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dynamics {
    /// Mass matrix $M(q)$ (n × n), symmetric positive definite; both triangles are filled.
    pub mass_matrix: DMatrix<f64>,
    /// $B = \partial(M(q)v)/\partial q$ at fixed $v$ (n × n): entry $(i, j)$ is
    /// $\sum_k \partial M_{ik}/\partial q_j v_k$.
    pub momentum_derivative: DMatrix<f64>,
    /// $\partial^2T/\partial q^2$ at fixed $v$ (n × n), symmetric.
    pub kinetic_hessian: DMatrix<f64>,
    /// Potential energy $V(q)$ (J).
    pub potential: f64,
    /// Gradient $\partial V/\partial q$ (n entries).
    pub potential_gradient: DVector<f64>,
    /// Hessian $\partial^2V/\partial q^2$ (n × n), symmetric.
    pub potential_hessian: DMatrix<f64>,
    /// Generalized force $f(q, v, t)$ without a potential (n entries).
    pub force: DVector<f64>,
    /// Derivative $\partial f/\partial q$ (n × n).
    pub force_by_configuration: DMatrix<f64>,
    /// Derivative $\partial f/\partial v$ (n × n).
    pub force_by_velocity: DMatrix<f64>,
    /// Derivative $\partial f/\partial t$ (n entries).
    pub force_by_time: DVector<f64>,
}

impl Dynamics {
    /// Creates the workspace for the mass matrix, energies and forces of a system with `dimension` coordinates; all entries are
    /// zero.
    pub fn new(dimension: usize) -> Self {
        let (matrix, vector) = (
            DMatrix::zeros(dimension, dimension),
            DVector::zeros(dimension),
        );
        Self {
            mass_matrix: matrix.clone(),
            momentum_derivative: matrix.clone(),
            kinetic_hessian: matrix.clone(),
            potential: 0.0,
            potential_gradient: vector.clone(),
            potential_hessian: matrix.clone(),
            force: vector.clone(),
            force_by_time: vector,
            force_by_configuration: matrix.clone(),
            force_by_velocity: matrix,
        }
    }

    /// Sets all entries of the dynamics (mass matrix, energies, forces and derivatives) to zero.
    pub fn clear(&mut self) {
        self.potential = 0.0;
        for matrix in [
            &mut self.mass_matrix,
            &mut self.momentum_derivative,
            &mut self.kinetic_hessian,
            &mut self.potential_hessian,
            &mut self.force_by_configuration,
            &mut self.force_by_velocity,
        ] {
            matrix.as_mut_slice().fill(0.0);
        }
        self.potential_gradient.as_mut_slice().fill(0.0);
        self.force.as_mut_slice().fill(0.0);
        self.force_by_time.as_mut_slice().fill(0.0);
    }
}
