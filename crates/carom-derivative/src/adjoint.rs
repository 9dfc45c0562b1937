//! Cotangents of the data of an impact, and their accumulation in reverse mode.

use super::frame::Frame;
use super::mode::Rebound;
use carom_contact::{ContactIndex, RowIndex};
use nalgebra::{DMatrix, DVector, DVectorView};

/// Selection of the data of an impact whose cotangents (gradients)
/// [`Derivative::pull_back_to`](super::Derivative::pull_back_to) computes. The cotangent of the velocity before the impact
/// is always computed.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactProblem, frictional::MoreauNewton};
/// use carom_derivative::{Gradient, Wrt, differentiate};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]))
///     .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
///     .with_friction(0.5)
///     .with_restitution(0.5);
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let (_, derivative) = differentiate(&MoreauNewton::default(), &problem, &Wrt::ALL, 1e-9)?;
/// // Gradient of the sliding velocity after.
/// let found = derivative.pull_back_to(&nalgebra::dvector![1.0, 0.0], Gradient::ALL)?;
/// assert!((found.friction[0] + 3.0).abs() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Gradient {
    /// True to compute the cotangent of the mass matrix.
    pub mass: bool,
    /// True to compute the cotangents of the contact rows and the constraint one-forms.
    pub rows: bool,
    /// True to compute the cotangents of the friction coefficients and restitutions.
    pub coefficients: bool,
}

impl Gradient {
    /// Selects the cotangents of all data of the impact: mass matrix, rows of contacts and constraints, friction
    /// coefficients and restitutions, in addition to the velocity before the impact.
    pub const ALL: Self = Self {
        mass: true,
        rows: true,
        coefficients: true,
    };

    /// Selects the cotangent of the velocity before the impact alone.
    pub const VELOCITY: Self = Self {
        mass: false,
        rows: false,
        coefficients: false,
    };
}

carom_numeric::setters!(Gradient {
    /// Selects or leaves out the cotangent of the mass matrix.
    with_mass: mass, bool;
    /// Selects or leaves out the cotangents of the contact rows and the constraint one-forms.
    with_rows: rows, bool;
    /// Selects or leaves out the cotangents of the friction coefficients and restitutions.
    with_coefficients: coefficients, bool;
});

/// Cotangents (gradients) of the data of an impact, computed from a given cotangent of the velocity after the impact. For
/// every [`Direction`](super::Direction) of change of the data, the sum of the products of these cotangents with the
/// direction equals the product of the given cotangent with the derivative along the direction.
///
/// An entry is NaN if the derivative with respect to the corresponding datum is not known. There are three such cases:
/// if a change of a matrix or row entry breaks a linear dependency between contacts that push; for restitutions if
/// several plastic outcomes are nearly tied; and for all data except the velocity if the Jacobian of the outcome is
/// known only as a limit. Parts that were not asked for are empty.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Cotangent {
    /// Cotangent of the velocity before the impact (n entries).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub velocity: DVector<f64>,
    /// Cotangent of the mass matrix (n × n, symmetric).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub mass: DMatrix<f64>,
    /// Cotangent of the contact rows in the caller's units (rows × n).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub rows: DMatrix<f64>,
    /// Cotangent of the friction coefficients, one per contact.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub friction: DVector<f64>,
    /// Cotangent of the restitutions, one per contact, or one entry if one restitution applies to the whole event.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub restitution: DVector<f64>,
    /// Cotangent of the constraint one-forms (constraints × n).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub constraints: DMatrix<f64>,
}

/// Cotangents that the reverse pass accumulates, in the coordinates of a frame.
#[derive(Clone, Debug)]
pub(super) struct Adjoint {
    pub(super) wanted: Gradient,
    /// Cotangent of the mass matrix; empty if not wanted.
    mass: DMatrix<f64>,
    /// Cotangent of the rows of contacts and constraints (n × rows); empty if not wanted.
    rows: DMatrix<f64>,
    friction: DVector<f64>,
    pub(super) restitution: DVector<f64>,
    /// Cotangent of the restitution of the whole event.
    pub(super) event: f64,
}

impl Adjoint {
    pub(super) fn new(frame: &Frame<'_>, wanted: Gradient) -> Self {
        let (n, m) = (frame.dim(), frame.problem.contacts().len());
        let matrix = |is_wanted, columns| {
            if is_wanted {
                DMatrix::zeros(n, columns)
            } else {
                DMatrix::zeros(0, 0)
            }
        };
        let m = if wanted.coefficients { m } else { 0 };
        Self {
            mass: matrix(wanted.mass, n),
            rows: matrix(wanted.rows, frame.n_rows()),
            friction: DVector::zeros(m),
            restitution: DVector::zeros(m),
            event: 0.0,
            wanted,
        }
    }

    /// True if any gradient besides that with respect to the velocity before the impact is accumulated: with respect
    /// to the mass matrix, to rows, or to friction and restitution.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted != Gradient::VELOCITY
    }

    /// Adds `factor` times the symmetric part of $ab^T$ to the cotangent (gradient) of the mass matrix. `a` and `b`
    /// are whitened vectors, in coordinates in which the mass matrix is the identity.
    pub(super) fn add_mass(
        &mut self,
        factor: f64,
        a: DVectorView<'_, f64>,
        b: DVectorView<'_, f64>,
    ) {
        if self.wanted.mass && factor != 0.0 {
            self.mass.ger(0.5 * factor, &a, &b, 1.0);
            self.mass.ger(0.5 * factor, &b, &a, 1.0);
        }
    }

    /// Adds `factor` times a whitened vector (n entries) to the cotangent (gradient) of a normalized row of the
    /// contact Jacobian. `row` is its index among the rows of all contacts and constraints.
    pub(super) fn add_row(&mut self, row: RowIndex, factor: f64, vector: DVectorView<'_, f64>) {
        if self.wanted.rows && factor != 0.0 {
            self.rows.column_mut(row.index()).axpy(factor, &vector, 1.0);
        }
    }

    /// Adds `factor` times a velocity to the cotangent (gradient) of a normalized row of the contact Jacobian.
    /// `velocity` is relative to the moving frame in which the law is evaluated. The velocity of this frame is added
    /// to `velocity`, because a change of a row acts on the whole velocity. This function is the transpose of
    /// [`seen`](Frame::seen).
    pub(super) fn add_seen(
        &mut self,
        frame: &Frame<'_>,
        row: RowIndex,
        factor: f64,
        velocity: DVectorView<'_, f64>,
    ) {
        self.add_row(row, factor, velocity);
        if let Some(moves) = &frame.moves {
            self.add_row(row, factor, moves.as_view());
        }
    }

    /// Adds `factor` times a velocity to the cotangent (gradient) of a row of the contact Jacobian before its
    /// normalization. `velocity` is relative to the moving frame in which the law is evaluated; the velocity of this
    /// frame is added to `velocity`.
    pub(super) fn add_given_seen(
        &mut self,
        frame: &Frame<'_>,
        row: RowIndex,
        factor: f64,
        velocity: &DVector<f64>,
    ) {
        self.add_seen(
            frame,
            row,
            factor / frame.row_factor(row),
            velocity.as_view(),
        );
    }

    /// Adds `factor` times a whitened vector (n entries) to the cotangent (gradient) of a row of the contact Jacobian
    /// before its normalization.
    pub(super) fn add_given_row(
        &mut self,
        frame: &Frame<'_>,
        row: RowIndex,
        factor: f64,
        vector: &DVector<f64>,
    ) {
        self.add_row(row, factor / frame.row_factor(row), vector.as_view());
    }

    pub(super) fn add_friction(&mut self, contact: ContactIndex, cotangent: f64) {
        if let Some(sum) = self.friction.get_mut(contact.index()) {
            *sum += cotangent;
        }
    }

    pub(super) fn add_restitution(&mut self, contact: ContactIndex, cotangent: f64) {
        if let Some(sum) = self.restitution.get_mut(contact.index()) {
            *sum += cotangent;
        }
    }

    /// Adds `cotangent` to the gradient with respect to a restitution: that of one contact or that of the whole event, as
    /// `rebound` tells. If `rebound` is a constant, nothing is added.
    pub(super) fn add_rebound(&mut self, rebound: Rebound, cotangent: f64) {
        match rebound {
            Rebound::Fixed(_) => {}
            Rebound::Contact(contact, _) => self.add_restitution(contact, cotangent),
            Rebound::Event(_) => self.event += cotangent,
        }
    }

    /// Sets all cotangents except that of the velocity to NaN, because the derivatives with respect to these data are
    /// not known.
    pub(super) fn forget(&mut self) {
        self.mass.fill(f64::NAN);
        self.rows.fill(f64::NAN);
        self.friction.fill(f64::NAN);
        self.restitution.fill(f64::NAN);
        self.event = f64::NAN;
    }

    /// Converts the accumulated cotangents from whitened coordinates and normalized rows to the caller's coordinates
    /// and units. `velocity` is the cotangent of the velocity before the impact in the caller's coordinates; the
    /// result contains `velocity` unchanged.
    pub(super) fn into_given(self, frame: &Frame<'_>, velocity: DVector<f64>) -> Cotangent {
        let n_contact_rows = frame.n_contact_rows();
        let rows = self.rows.ncols();
        let mut given = frame.covectors_back(self.rows);
        for (row, mut column) in frame.all_rows().zip(given.column_iter_mut()) {
            column *= frame.row_factor(row);
        }
        let part = |from: usize, to: usize| {
            let n = if rows > 0 { given.nrows() } else { 0 };
            let (from, to) = (from.min(rows), to.min(rows));
            DMatrix::from_fn(to - from, n, |k, j| given[(j, from + k)])
        };
        let mass = frame.covectors_back(frame.covectors_back(self.mass).transpose());
        Cotangent {
            velocity,
            mass: 0.5 * (&mass + mass.transpose()),
            rows: part(0, n_contact_rows),
            constraints: part(n_contact_rows, rows),
            friction: self.friction,
            restitution: self.restitution,
        }
    }
}
