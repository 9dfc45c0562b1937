//! The workspace of one evaluation.

use nalgebra::{DMatrix, DVector};

/// Part of a [`Dynamics`] that an evaluation must fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivatives {
    /// Everything that a residual needs: all fields except those under [`Second`](Self::Second).
    First,
    /// Also what its Jacobian needs: [`kinetic_hessian`](Dynamics::kinetic_hessian),
    /// [`potential_hessian`](Dynamics::potential_hessian),
    /// [`force_by_configuration`](Dynamics::force_by_configuration),
    /// [`force_by_velocity`](Dynamics::force_by_velocity) and
    /// [`force_by_time`](Dynamics::force_by_time).
    Second,
}

/// A system at one motion $(t, q, v)$: values and derivatives of its Lagrangian and its forces.
///
/// Made once per system and filled again and again. It is cleared before every evaluation, so a
/// system writes only what is not zero.
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
    /// $M(q)$ (n × n), symmetric positive definite; both triangles.
    pub mass_matrix: DMatrix<f64>,
    /// $B = \partial(M(q)v)/\partial q$ at fixed $v$ (n × n): entry $(i, j)$ is
    /// $\sum_k \partial M_{ik}/\partial q_j v_k$.
    pub momentum_derivative: DMatrix<f64>,
    /// $\partial^2T/\partial q^2$ at fixed $v$ (n × n), symmetric.
    pub kinetic_hessian: DMatrix<f64>,
    /// $V(q)$ (J).
    pub potential: f64,
    /// $\partial V/\partial q$ (n).
    pub potential_gradient: DVector<f64>,
    /// $\partial^2V/\partial q^2$ (n × n), symmetric.
    pub potential_hessian: DMatrix<f64>,
    /// Generalized force $f(q, v, t)$ that has no potential (n).
    pub force: DVector<f64>,
    /// $\partial f/\partial q$ (n × n).
    pub force_by_configuration: DMatrix<f64>,
    /// $\partial f/\partial v$ (n × n).
    pub force_by_velocity: DMatrix<f64>,
    /// $\partial f/\partial t$ (n).
    pub force_by_time: DVector<f64>,
}

impl Dynamics {
    /// A cleared workspace for a system of dimension n.
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

    /// Sets everything to zero.
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
