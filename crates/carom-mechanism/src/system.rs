//! The trait that a mechanism implements.

use crate::{Derivatives, Dynamics, PointContact};
use nalgebra::DMatrix;
use std::fmt;

/// Configuration and velocity of a system at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<'a> {
    /// Time $t$ (s).
    pub time: f64,
    /// Configuration $q$ (n).
    pub configuration: &'a [f64],
    /// Velocity $v = \dot q$ (n).
    pub velocity: &'a [f64],
}

/// A mechanical system in generalized coordinates, with point contacts.
///
/// Functions are pure and smooth near every configuration with nonnegative gaps. Callers pass
/// slices of length [`dimension`](Self::dimension) with finite entries and contact indices below
/// the number of [`contacts`](Self::contacts). A system with a bad configuration answers with NaN;
/// integrators notice.
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
    /// Dimension n of the configuration space, at least 1.
    fn dimension(&self) -> usize;

    /// Mass matrix $M(q)$ (n × n), both triangles, into a cleared matrix.
    fn mass_matrix(&self, configuration: &[f64], out: &mut DMatrix<f64>);

    /// Lagrangian, forces and their derivatives at a motion, into a cleared workspace. May fill
    /// more than `wanted`.
    fn dynamics(&self, at: &Motion<'_>, wanted: Derivatives, out: &mut Dynamics);

    /// The contacts; their number and order never change. None by default.
    fn contacts(&self) -> &[PointContact] {
        &[]
    }

    /// Gap $\phi_i(q)$ of a contact (m): positive apart, zero in touch.
    fn gap(&self, contact: usize, configuration: &[f64]) -> f64;

    /// Gaps of all contacts, for systems that find them together at less cost.
    fn gaps(&self, configuration: &[f64], out: &mut [f64]) {
        for (contact, gap) in out.iter_mut().enumerate() {
            *gap = self.gap(contact, configuration);
        }
    }

    /// Gradient $\mathrm{D}\phi_i(q)$ (n); every entry is written.
    fn gap_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]);

    /// Slide $s_i(q)$ of a planar contact (m): a function whose rate is the sliding velocity, for
    /// example the horizontal position of a foot on the floor. Only asked where
    /// [`has_slide`](PointContact::has_slide).
    fn slide(&self, _contact: usize, _configuration: &[f64]) -> f64 {
        0.0
    }

    /// Gradient $\mathrm{D}s_i(q)$ (n), the tangential contact row; every entry is written.
    fn slide_gradient(&self, _contact: usize, _configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// Hessians $\mathrm{D}^2\phi_i(q)$ and $\mathrm{D}^2s_i(q)$ (n × n) of gap and slide of a
    /// contact, into cleared matrices. False, which is the default, if the system does not know them;
    /// then derivatives of its runs end at an impact.
    fn contact_hessians(
        &self,
        _contact: usize,
        _configuration: &[f64],
        _gap: &mut DMatrix<f64>,
        _slide: &mut DMatrix<f64>,
    ) -> bool {
        false
    }
}
