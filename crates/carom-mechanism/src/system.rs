//! Trait of mechanical systems.

use crate::{Derivatives, Dynamics, PointContact};
use nalgebra::DMatrix;
use std::fmt;

/// Time, configuration and velocity of a mechanical system, at which a quantity is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<'a> {
    /// Time $t$ (s).
    pub time: f64,
    /// Configuration $q$, one entry per coordinate.
    pub configuration: &'a [f64],
    /// Velocity $v = \dot q$, one entry per coordinate.
    pub velocity: &'a [f64],
}

/// Mechanical system in generalized coordinates with point contacts. An implementation computes the mass matrix, the energies and
/// forces, and the gaps of the contacts.
///
/// The results of all functions depend on their arguments only, and depend smoothly on the configuration wherever the gaps are
/// nonnegative. Callers pass slices of length [`dimension`](Self::dimension) with finite entries, and contact indices below the
/// number of [`contacts`](Self::contacts). For an invalid configuration a system returns NaN; integrators detect this value.
///
/// # Examples
///
/// A ball that falls on the floor, with air drag:
///
/// ```
/// use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion, PointContact};
/// use nalgebra::DMatrix;
///
/// #[derive(Debug)]
/// struct Ball {
///     contacts: Vec<PointContact>,
/// }
///
/// impl MechanicalSystem for Ball {
///     fn dimension(&self) -> usize {
///         1
///     }
///     fn mass_matrix(&self, _q: &[f64], out: &mut DMatrix<f64>) {
///         out[(0, 0)] = 2.0;
///     }
///     fn dynamics(&self, at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
///         self.mass_matrix(at.configuration, &mut out.mass_matrix);
///         out.potential = 2.0 * 9.81 * at.configuration[0];
///         out.potential_gradient[0] = 2.0 * 9.81;
///         out.force[0] = -0.1 * at.velocity[0];
///         out.force_by_velocity[(0, 0)] = -0.1;
///     }
///     fn contacts(&self) -> &[PointContact] {
///         &self.contacts
///     }
///     fn gap(&self, _contact: usize, q: &[f64]) -> f64 {
///         q[0]
///     }
///     fn gap_gradient(&self, _contact: usize, _q: &[f64], out: &mut [f64]) {
///         out[0] = 1.0;
///     }
/// }
///
/// let ball = Ball { contacts: vec![PointContact::elastic("floor")] };
/// let mut dynamics = Dynamics::new(1);
/// let motion = Motion { time: 0.0, configuration: &[3.0], velocity: &[10.0] };
/// ball.dynamics(&motion, Derivatives::Second, &mut dynamics);
/// assert_eq!(dynamics.force[0], -1.0);
/// ```
pub trait MechanicalSystem: fmt::Debug + Send + Sync {
    /// Returns the number $n$ of generalized coordinates, at least 1.
    fn dimension(&self) -> usize;

    /// Computes the mass matrix $M(q)$ (n × n, n coordinates) at the configuration $q$, both triangles. The caller passes a zero
    /// matrix.
    fn mass_matrix(&self, configuration: &[f64], out: &mut DMatrix<f64>);

    /// Computes the Lagrangian and the applied forces at the time, configuration and velocity `at`, with derivatives. `wanted` is
    /// the highest order of derivatives that is needed; more derivatives may be written. The caller passes a workspace `out` in
    /// which all entries are zero.
    fn dynamics(&self, at: &Motion<'_>, wanted: Derivatives, out: &mut Dynamics);

    /// Returns the power (W) that the dampers of the system dissipate at a velocity, one entry per coordinate. It is the part of
    /// the power of the applied forces that is always lost, with the opposite sign. By default there are no dampers.
    fn damper_power(&self, _velocity: &[f64]) -> f64 {
        0.0
    }

    /// Returns the contacts of the system; their number and order never change. By default there are no contacts.
    fn contacts(&self) -> &[PointContact] {
        &[]
    }

    /// Returns the gap $\phi_i(q)$ of the contact with the index $i$ (`contact`) at the configuration $q$ (m): positive for
    /// separation, zero for contact.
    fn gap(&self, contact: usize, configuration: &[f64]) -> f64;

    /// Computes the gaps of all contacts at a configuration (m). Override this function if the gaps can be computed faster
    /// together than one by one.
    fn gaps(&self, configuration: &[f64], out: &mut [f64]) {
        for (contact, gap) in out.iter_mut().enumerate() {
            *gap = self.gap(contact, configuration);
        }
    }

    /// Computes the gradient $\mathrm{D}\phi_i(q)$ of the gap of the contact with the index $i$ (`contact`; one entry per
    /// coordinate). An implementation must write every entry.
    fn gap_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]);

    /// Returns the slide coordinate $s_i(q)$ (m) of a planar contact with the index $i$: a function of the configuration whose
    /// rate is the sliding velocity, for example the horizontal position of a foot on the floor. The function is called only for
    /// contacts with [`has_slide`](PointContact::has_slide).
    fn slide(&self, _contact: usize, _configuration: &[f64]) -> f64 {
        0.0
    }

    /// Computes the gradient $\mathrm{D}s_i(q)$ of the slide coordinate (tangential displacement) of the contact with the index
    /// $i$ (one entry per coordinate). The gradient is the tangential row of the contact. An implementation must write every
    /// entry.
    fn slide_gradient(&self, _contact: usize, _configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// Computes the Hessians (second derivatives, n × n for n coordinates) $\mathrm{D}^2\phi_i(q)$ of the gap and
    /// $\mathrm{D}^2s_i(q)$ of the slide coordinate (tangential displacement) of a contact. The caller passes zero matrices.
    /// Returns true if the Hessians were computed. The default returns false; the derivatives of a simulation then do not exist
    /// after an impact.
    fn contact_hessians(
        &self,
        _contact: usize,
        _configuration: &[f64],
        _gap: &mut DMatrix<f64>,
        _slide: &mut DMatrix<f64>,
    ) -> bool {
        false
    }

    /// Returns the names of the linear constraints on the velocities of the system, $A(q)v = 0$; their number and order never
    /// change. By default there are no constraints.
    fn constraints(&self) -> &[String] {
        &[]
    }

    /// Computes the row of $A(q)$ of the constraint with the index `constraint` (one entry per coordinate). An implementation must
    /// write every entry.
    fn constraint_row(&self, _constraint: usize, _configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// Computes the gradient, with respect to the configuration $q$, of the velocity $a(q)\cdot v$ of the constraint with the index
    /// `constraint` and the row $a$, at a fixed velocity $v$ (one entry per coordinate). An implementation must write every entry.
    fn constraint_derivative(
        &self,
        _constraint: usize,
        _configuration: &[f64],
        _velocity: &[f64],
        out: &mut [f64],
    ) {
        out.fill(0.0);
    }
}
