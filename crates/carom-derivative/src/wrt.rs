//! Data with respect to which an impact is differentiated, and the classes of its derivatives.

use carom_metric::MetricError;
use nalgebra::{DMatrix, DVector};
use std::borrow::Cow;

/// Regularity of the outcome of an impact as a function of the velocity before it. The classes are complete: a caller's table of
/// codes names each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Differentiability {
    /// The outcome is differentiable: the Jacobian is the derivative.
    Smooth,
    /// The outcome is continuous, but not its derivative.
    Kink,
    /// The outcome itself jumps.
    Jump,
    /// A decision of the law is tied, and the sides of the tie differ. The pieces, which tell a kink from a jump, were not asked
    /// for or could not be found.
    Tied,
}

impl Differentiability {
    /// Stable identifier of the regularity in records: `smooth`, `kink`, `jump` or `tied`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smooth => "smooth",
            Self::Kink => "kink",
            Self::Jump => "jump",
            Self::Tied => "tied",
        }
    }
}

/// Kind of a decision of a law that is [tied](Tie).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum TieKind {
    /// The contact approaches or separates before the impact.
    Touching,
    /// The contact pushes or opens during the impact or at its end.
    Closing,
    /// The contact sticks or slides.
    Sticking,
    /// The contact slides in one or another direction of its friction polygon.
    Direction,
    /// The contact is struck before another one, which comes earlier in the list of contacts, or after it.
    Order,
}

impl TieKind {
    /// Stable identifier of the kind in records: `touching`, `closing`, `sticking`, `direction` or `order`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Touching => "touching",
            Self::Closing => "closing",
            Self::Sticking => "sticking",
            Self::Direction => "direction",
            Self::Order => "order",
        }
    }
}

/// Decision of a law at equality within the tolerance: a tiny change of the velocity before the impact reverses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Tie {
    /// Index of the contact.
    pub contact: usize,
    /// Row of the contact about which the law decides: 0 is the normal, then come the tangents.
    pub row: usize,
    /// Kind of the decision.
    pub kind: TieKind,
}

/// Selection of the data of an impact with respect to which [`differentiate`](super::differentiate) computes the Jacobians of the outcome, and of the
/// pieces at ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Wrt {
    /// True for derivatives with respect to the velocity before the impact.
    pub velocity: bool,
    /// True for derivatives with respect to the friction coefficients of the contacts.
    pub friction: bool,
    /// True for derivatives with respect to the restitutions of the contacts, or to that of the whole event.
    pub restitution: bool,
    /// True if the law is evaluated on the sides of tied decisions to find the pieces that meet there.
    pub pieces: bool,
}

impl Wrt {
    /// Selects Jacobians with respect to all data: velocity before the impact, friction coefficients and restitutions. Pieces at
    /// ties are not sought.
    pub const ALL: Self = Self {
        velocity: true,
        friction: true,
        restitution: true,
        pieces: false,
    };

    /// Selects Jacobians with respect to all data and the pieces at ties.
    pub const WITH_PIECES: Self = Self {
        pieces: true,
        ..Self::ALL
    };
}

carom_numeric::setters!(Wrt {
    /// Selects or leaves out derivatives with respect to the velocity before the impact.
    with_velocity: velocity, bool;
    /// Selects or leaves out derivatives with respect to the friction coefficients of the contacts.
    with_friction: friction, bool;
    /// Selects or leaves out derivatives with respect to the restitutions.
    with_restitution: restitution, bool;
    /// Seeks the pieces that meet at ties, or not.
    with_pieces: pieces, bool;
});

/// A direction in which the data of an impact change: velocity, mass matrix, contact rows, constraints and coefficients.
/// [`Derivative::along`](super::Derivative::along) computes the derivative of the outcome along such a direction. Data whose part is `None` do not
/// change.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactProblem, frictional::MoreauNewton};
/// use carom_derivative::{Direction, Wrt, differentiate};
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
/// // More friction by 1 takes the normal impulse 3 off the sliding velocity.
/// let direction = Direction::default().with_friction(Some(nalgebra::dvector![1.0]));
/// let along = derivative.along(&direction)?.and_then(|found| found.velocity_plus);
/// assert!(along.is_some_and(|change| (change - nalgebra::dvector![-3.0, 0.0]).amax() < 1e-14));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Direction {
    /// Change $dv$ of the velocity $v$ before the impact (n entries). If there are constraints with one-forms $A$, it
    /// must satisfy $dA v + A dv = 0$.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub velocity: Option<DVector<f64>>,
    /// Change of the mass matrix (n × n, symmetric).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub mass: Option<DMatrix<f64>>,
    /// Change of the contact rows (rows × n), contact by contact: normal, tangents.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub rows: Option<DMatrix<f64>>,
    /// Changes of the friction coefficients, one per contact.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub friction: Option<DVector<f64>>,
    /// Changes of the restitutions, one per contact.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub restitution: Option<DVector<f64>>,
    /// Change of the restitution of the whole event.
    pub event_restitution: f64,
    /// Change of the constraint one-forms (constraints × n).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub constraints: Option<DMatrix<f64>>,
}

carom_numeric::setters!(Direction {
    /// Sets the change of the velocity before the impact (n entries).
    with_velocity: velocity, Option<DVector<f64>>;
    /// Sets the change of the mass matrix (n × n, symmetric).
    with_mass: mass, Option<DMatrix<f64>>;
    /// Sets the change of the contact rows (rows × n), contact by contact.
    with_rows: rows, Option<DMatrix<f64>>;
    /// Sets the changes of the friction coefficients, one per contact.
    with_friction: friction, Option<DVector<f64>>;
    /// Sets the changes of the restitutions, one per contact.
    with_restitution: restitution, Option<DVector<f64>>;
    /// Sets the change of the restitution of the whole event.
    with_event_restitution: event_restitution, f64;
    /// Sets the change of the constraint one-forms (constraints × n).
    with_constraints: constraints, Option<DMatrix<f64>>;
});

impl Direction {
    /// Returns an error that names the part with an entry that is infinite or NaN.
    pub(crate) fn check_finite(&self) -> Result<(), MetricError> {
        let vector = |part: &Option<DVector<f64>>| part.iter().flatten().copied().collect();
        let matrix = |part: &Option<DMatrix<f64>>| part.iter().flatten().copied().collect();
        let parts: [(&'static str, Vec<f64>); 7] = [
            ("velocity", vector(&self.velocity)),
            ("mass", matrix(&self.mass)),
            ("rows", matrix(&self.rows)),
            ("friction", vector(&self.friction)),
            ("restitution", vector(&self.restitution)),
            ("event_restitution", vec![self.event_restitution]),
            ("constraints", matrix(&self.constraints)),
        ];
        for (what, entries) in parts {
            if let Some(index) = entries.iter().position(|x| !x.is_finite()) {
                let value = entries[index];
                return Err(MetricError::NonFinite { what, index, value });
            }
        }
        Ok(())
    }
}

/// Derivative of the outcome of an impact (velocity and impulses) along a [`Direction`] in which the data of the impact
/// change, returned by [`Derivative::along`](super::Derivative::along).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct DirectionalDerivative {
    /// Derivative of the velocity after the impact (n entries); `None` if it does not exist, see
    /// [`reason`](Self::reason).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub velocity_plus: Option<DVector<f64>>,
    /// Derivative of the impulses for the given contact rows; `None` if contacts depend on each other.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub impulses: Option<DVector<f64>>,
    /// Reason why there is no derivative. `"dependent-contacts"`: the direction breaks a linear dependency between
    /// contacts that push. `"near-tied-plastic"`: the change of restitution would have to select one of several
    /// plastic outcomes.
    pub reason: Option<Cow<'static, str>>,
}
