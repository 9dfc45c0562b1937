//! One impact: contacts at a configuration and the velocity before.

use crate::{ContactSet, ImpactError};
use carom_metric::{Tangent, kernel};
use smallvec::{SmallVec, smallvec};

/// Contact velocities below this fraction of the momentum's norm are grazing.
pub const FEASIBILITY_TOLERANCE: f64 = 1e-12;

/// How well the velocity before an impact must satisfy the constraints.
const CONSTRAINT_TOLERANCE: f64 = 1e-9;

/// Numbers of one small problem, without a heap allocation.
pub(crate) type Numbers = SmallVec<[f64; 8]>;

/// An impact to be resolved.
///
/// Laws see it in whitened coordinates and multiplied by a power of two that brings the momentum
/// to about unit norm, so that nothing depends on units and nothing overflows.
#[derive(Clone, Debug)]
pub struct ImpactProblem<'a> {
    contacts: &'a ContactSet<'a>,
    velocity: Tangent,
    energy_j: f64,
    scale: f64,
    /// Scaled whitened momentum, and its norm.
    momentum: Numbers,
    norm: f64,
    /// Scaled velocity of each distinct unit normal, $b_j = \langle p, u_j\rangle$.
    unit_velocity: Numbers,
}

impl<'a> ImpactProblem<'a> {
    /// Poses the impact of a velocity (n) on contacts.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] for a velocity of the wrong length or with non-finite entries,
    /// [`ImpactError::ConstraintViolated`], [`ImpactError::Overflow`].
    pub fn new(contacts: &'a ContactSet<'a>, velocity: Tangent) -> Result<Self, ImpactError> {
        let metric = contacts.metric();
        let entries = velocity.0.as_slice();
        metric.check_vector("velocity", entries)?;
        let mut momentum: Numbers = smallvec![0.0; metric.dim()];
        metric.whiten_velocity_into(entries, &mut momentum);
        let size = kernel::max_abs(&momentum);
        let scale = kernel::power_of_two_scale(size);
        momentum.iter_mut().for_each(|x| *x *= scale);
        let norm = kernel::norm(&momentum);
        let energy_j = 0.5 * (norm / scale) * (norm / scale);
        if !energy_j.is_finite() {
            return Err(ImpactError::Overflow);
        }
        let unit_velocity = (0..contacts.n_distinct())
            .map(|j| contacts.unit_contact_velocity(j, entries, scale))
            .collect();
        let problem = Self {
            contacts,
            velocity,
            energy_j,
            scale,
            momentum,
            norm,
            unit_velocity,
        };
        problem.check_constraints()?;
        Ok(problem)
    }

    fn check_constraints(&self) -> Result<(), ImpactError> {
        for (row, form) in self.contacts.constraint_forms().iter().enumerate() {
            let size = self.contacts.metric().norm(form)? * self.norm / self.scale;
            let residual = form.0.dot(&self.velocity.0).abs();
            if residual > CONSTRAINT_TOLERANCE * size {
                return Err(ImpactError::ConstraintViolated {
                    row,
                    residual: residual / size,
                });
            }
        }
        Ok(())
    }

    /// The contacts.
    #[inline]
    pub fn contacts(&self) -> &'a ContactSet<'a> {
        self.contacts
    }

    /// Velocity before the impact (n).
    pub fn velocity_minus(&self) -> &Tangent {
        &self.velocity
    }

    /// Kinetic energy before the impact in joule (for SI input).
    pub fn energy_minus_j(&self) -> f64 {
        self.energy_j
    }

    /// Whether any contact approaches by more than grazing, $b_i < -10^{-12}\lVert p\rVert$.
    pub fn is_approaching(&self) -> bool {
        self.unit_velocity.iter().any(|&b| b < -self.tolerance())
    }

    /// Scaled whitened momentum (n).
    #[inline]
    pub(crate) fn momentum(&self) -> &[f64] {
        &self.momentum
    }

    /// Scaled norm $\lVert p\rVert$ of the momentum.
    #[inline]
    pub(crate) fn norm(&self) -> f64 {
        self.norm
    }

    /// Power of two between physical and scaled quantities.
    #[inline]
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// Scaled velocities of the distinct unit normals.
    #[inline]
    pub(crate) fn unit_velocity(&self) -> &[f64] {
        &self.unit_velocity
    }

    /// Scaled contact velocity that still counts as grazing.
    #[inline]
    pub(crate) fn tolerance(&self) -> f64 {
        FEASIBILITY_TOLERANCE * self.norm
    }
}
