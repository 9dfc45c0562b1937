//! Invariants of frictionless elastic impacts over a long run, and a projection that restores them.

use crate::index::ContactIndex;
use crate::{ContactSet, ImpactError};
use carom_metric::{Tangent, kernel, orthonormal_span};
use nalgebra::{DMatrix, DVector};

/// Conserved quantities of a run of elastic impacts at one set of contacts: the momentum orthogonal to all contact normals,
/// and the energy of the remaining motion.
///
/// Each reflection is exact to the last digit, but over a billion reflections rounding errors add up to a random walk
/// and a bias. The part of the momentum orthogonal to all contact normals, and the energy of the rest, are known from
/// the start. [`restore`](Self::restore) moves a velocity back to these values, so that the error after any number of
/// impacts is that of a single one.
///
/// # Examples
///
/// ```
/// use carom_contact::{Contact, ContactSet, Invariants};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let normal = Covector::from_slice(&[-1.0, 1.0]);
/// let contacts = ContactSet::new(&metric, vec![Contact::frictionless(normal)])?;
/// let start = Tangent::from_slice(&[1.0, 0.0]);
/// let mut invariants = Invariants::new(&contacts, &start)?;
/// let mut drifted = [1e-9, 1.0 + 1e-9];
/// invariants.restore(&mut drifted);
/// assert!(drifted[0].abs() < 1e-15 && (drifted[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), carom_contact::ImpactError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Invariants<'a> {
    contacts: &'a ContactSet<'a>,
    /// Orthonormal basis (n × rank) of the span of the whitened contact normals.
    span: DMatrix<f64>,
    /// Whitened momentum orthogonal to the span.
    outside: DVector<f64>,
    /// Norm of the momentum inside the span.
    inside_norm: f64,
    workspace: DVector<f64>,
    coordinates: DVector<f64>,
}

impl<'a> Invariants<'a> {
    /// Records the quantities that elastic impacts on `contacts` conserve, for the velocity at the start of a run (n
    /// entries): the momentum orthogonal to all contact normals, and the energy of the remaining motion.
    ///
    /// # Errors
    ///
    /// [`ImpactError::Metric`] if the velocity has the wrong length.
    pub fn new(contacts: &'a ContactSet<'a>, velocity: &Tangent) -> Result<Self, ImpactError> {
        let z = contacts.metric().whiten_velocity(velocity)?;
        let normals: Vec<&[f64]> = contacts.unit_rows().map(|j| contacts.unit(j)).collect();
        let columns = DMatrix::from_fn(z.len(), normals.len(), |i, j| normals[j][i]);
        let span = orthonormal_span(&columns);
        let coordinates = span.tr_mul(&z);
        let outside = &z - &span * &coordinates;
        let inside_norm = kernel::norm(coordinates.as_slice());
        Ok(Self {
            contacts,
            span,
            outside,
            inside_norm,
            workspace: z,
            coordinates,
        })
    }

    /// Replaces a velocity (n entries, changed in place) by the nearest velocity with the recorded conserved quantities, and
    /// so removes accumulated rounding errors.
    ///
    /// Allocates no memory. If the velocity has no momentum in the span of the contact normals, it is given none there.
    pub fn restore(&mut self, velocity: &mut [f64]) {
        let metric = self.contacts.metric();
        metric.whiten_velocity_into(velocity, self.workspace.as_mut_slice());
        self.coordinates
            .gemv_tr(1.0, &self.span, &self.workspace, 0.0);
        let norm = kernel::norm(self.coordinates.as_slice());
        if norm > 0.0 {
            self.coordinates *= self.inside_norm / norm;
        }
        self.workspace.copy_from(&self.outside);
        self.workspace.gemv(1.0, &self.span, &self.coordinates, 1.0);
        metric.unwhiten_velocity_in_place(self.workspace.as_mut_slice());
        for (v, z) in velocity.iter_mut().zip(self.workspace.iter()) {
            *v = *z;
        }
    }
}

impl ContactSet<'_> {
    /// Reflects a velocity (n entries, changed in place) elastically at contact `i` if the contact approaches. Returns the
    /// impulse on the caller's normal row (N·s), or 0 if the contact does not approach or does not exist.
    ///
    /// This is a single elastic impact without allocation, audit or options:
    /// $v^+ = v^- - 2 b_i M^{-1} u_i^T$ for $b_i < 0$, where $u_i$ is the unit normal and $b_i = u_iv^-$.
    /// `workspace` has n entries.
    pub fn reflect_in_place(
        &self,
        i: ContactIndex,
        velocity: &mut [f64],
        workspace: &mut [f64],
    ) -> f64 {
        if i.index() >= self.len() {
            return 0.0;
        }
        let place = self.place(i);
        let b = self
            .normal_velocity(self.contact_at(place), velocity, 1.0)
            .rate;
        if b.is_nan() || b >= 0.0 {
            return 0.0;
        }
        workspace.copy_from_slice(self.unit(place));
        self.metric().unwhiten_velocity_in_place(workspace);
        kernel::add_scaled(velocity, -2.0 * b, workspace);
        -2.0 * b / self.normal_norm(i)
    }
}
