//! Data with respect to which an impact is differentiated, and the classes of its derivatives.

use nalgebra::{DMatrix, DVector};

/// Regularity of the outcome of an impact as a function of the velocity before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differentiability {
    /// The outcome is differentiable: the Jacobian is the derivative.
    Smooth,
    /// The outcome is continuous, but not its derivative.
    Kink,
    /// The outcome itself jumps.
    Jump,
}

impl Differentiability {
    /// Stable identifier of the regularity in records: `smooth`, `kink` or `jump`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smooth => "smooth",
            Self::Kink => "kink",
            Self::Jump => "jump",
        }
    }
}

/// Selection of the data of an impact with respect to which [`differentiate`](super::differentiate) computes the Jacobians of the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrt {
    /// True for derivatives with respect to the velocity before the impact.
    pub velocity: bool,
    /// True for derivatives with respect to the friction coefficients of the contacts.
    pub friction: bool,
    /// True for derivatives with respect to the restitutions of the contacts, or to that of the whole event.
    pub restitution: bool,
}

impl Wrt {
    /// Selects Jacobians with respect to all data: velocity before the impact, friction coefficients and restitutions.
    pub const ALL: Self = Self {
        velocity: true,
        friction: true,
        restitution: true,
    };
}

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
/// let floor = Contact {
///     normal: Covector::from_slice(&[0.0, 1.0]),
///     tangents: vec![Covector::from_slice(&[1.0, 0.0])],
///     friction: 0.5,
///     restitution: 0.5,
/// };
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let (_, derivative) = differentiate(&MoreauNewton::default(), &problem, &Wrt::ALL, 1e-9)?;
/// // More friction by 1 takes the normal impulse 3 off the sliding velocity.
/// let direction = Direction {
///     friction: Some(nalgebra::dvector![1.0]),
///     ..Direction::default()
/// };
/// let along = derivative.along(&direction)?.and_then(|found| found.velocity_plus);
/// assert!(along.is_some_and(|change| (change - nalgebra::dvector![-3.0, 0.0]).amax() < 1e-14));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Direction {
    /// Change $dv$ of the velocity $v$ before the impact (n entries). If there are constraints with one-forms $A$, it
    /// must satisfy $dA v + A dv = 0$.
    pub velocity: Option<DVector<f64>>,
    /// Change of the mass matrix (n × n, symmetric).
    pub mass: Option<DMatrix<f64>>,
    /// Change of the contact rows (rows × n), contact by contact: normal, tangents.
    pub rows: Option<DMatrix<f64>>,
    /// Changes of the friction coefficients, one per contact.
    pub friction: Option<DVector<f64>>,
    /// Changes of the restitutions, one per contact.
    pub restitution: Option<DVector<f64>>,
    /// Change of the restitution of the whole event.
    pub event_restitution: f64,
    /// Change of the constraint one-forms (constraints × n).
    pub constraints: Option<DMatrix<f64>>,
}

/// Derivative of the outcome of an impact (velocity and impulses) along a [`Direction`] in which the data of the impact
/// change, returned by [`Derivative::along`](super::Derivative::along).
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionalDerivative {
    /// Derivative of the velocity after the impact (n entries); `None` if it does not exist, see
    /// [`reason`](Self::reason).
    pub velocity_plus: Option<DVector<f64>>,
    /// Derivative of the impulses for the given contact rows; `None` if contacts depend on each other.
    pub impulses: Option<DVector<f64>>,
    /// Reason why there is no derivative. `"dependent-contacts"`: the direction breaks a linear dependency between
    /// contacts that push. `"near-tied-plastic"`: the change of restitution would have to select one of several
    /// plastic outcomes.
    pub reason: Option<&'static str>,
}
