//! Errors of building and designing mechanisms.

use carom_metric::MetricError;

/// Reason why a mechanism could not be built from its parts.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// A parameter is outside its range.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidParameter {
        /// Name of the parameter.
        what: &'static str,
        /// Value given.
        value: f64,
        /// Allowed range.
        allowed: &'static str,
    },
    /// A parameter of a link of a planar mechanism is outside its range.
    #[error("{what} of link {link} is {value}: it must be {allowed}")]
    InvalidLink {
        /// Index of the link.
        link: usize,
        /// Name of the parameter.
        what: &'static str,
        /// Value given.
        value: f64,
        /// Allowed range.
        allowed: &'static str,
    },
    /// A parameter of a contact of a planar mechanism is outside its range.
    #[error("{what} of contact `{contact}` is {value}: it must be {allowed}")]
    InvalidContact {
        /// Name of the contact.
        contact: String,
        /// Name of the parameter.
        what: &'static str,
        /// Value given.
        value: f64,
        /// Allowed range.
        allowed: &'static str,
    },
    /// A planar mechanism has no links.
    #[error("the mechanism has no links")]
    Empty,
    /// Something was attached to a link that does not exist, or to the ground, which does not accept it.
    #[error("{what}: {} is not one of the {links} links", match link {
        Some(link) => format!("link {link}"),
        None => "the ground".to_owned(),
    })]
    UnknownLink {
        /// Kind of the attached object.
        what: &'static str,
        /// Index of the link; `None` for the ground.
        link: Option<usize>,
        /// Number of links at that time.
        links: usize,
    },
    /// A mass distribution with these moments does not exist.
    #[error(
        "link {link}: no body has mass {mass}, first moment {first_moment:?} and second moment \
         {second_moment}"
    )]
    InvalidInertia {
        /// Index of the link.
        link: usize,
        /// Mass of the link.
        mass: f64,
        /// First moment of the link about the origin of its frame.
        first_moment: [f64; 2],
        /// Second moment of the link about the origin of its frame.
        second_moment: f64,
    },
    /// The coordinate of a link moves no mass or moment of inertia, so that the mass matrix is singular.
    #[error("the coordinate of link {link} moves no inertia")]
    Massless {
        /// Index of the link.
        link: usize,
    },
    /// A name of a coordinate or parameter cannot be used in formulas, or is not known.
    #[error("name `{name}` {message}")]
    InvalidName {
        /// Name given.
        name: String,
        /// Fault of the name.
        message: String,
    },
    /// A formula cannot be read or used.
    #[error("`{text}`: {message}")]
    InvalidFormula {
        /// Path of the formula among the parts of the system, as in `mass_matrix[0][1]`.
        key: String,
        /// Formula given.
        text: String,
        /// Fault of the formula.
        message: String,
    },
}

impl MechanismError {
    /// Returns the stable kebab-case identifier of the error variant for machine-readable reports, for example `invalid-link`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidParameter { .. } => "invalid-parameter",
            Self::InvalidLink { .. } => "invalid-link",
            Self::InvalidContact { .. } => "invalid-contact",
            Self::Empty => "empty",
            Self::UnknownLink { .. } => "unknown-link",
            Self::InvalidInertia { .. } => "invalid-inertia",
            Self::Massless { .. } => "massless",
            Self::InvalidName { .. } => "invalid-name",
            Self::InvalidFormula { .. } => "invalid-formula",
        }
    }

    /// Adds the index of a link to an error about an invalid parameter; other errors are returned unchanged.
    pub(crate) fn at_link(self, link: usize) -> Self {
        match self {
            Self::InvalidParameter {
                what,
                value,
                allowed,
            } => Self::InvalidLink {
                link,
                what,
                value,
                allowed,
            },
            other => other,
        }
    }

    /// Adds the name of a contact to an error about an invalid parameter; other errors are returned unchanged.
    pub(crate) fn at_contact(self, contact: &str) -> Self {
        match self {
            Self::InvalidParameter {
                what,
                value,
                allowed,
            } => Self::InvalidContact {
                contact: contact.to_owned(),
                what,
                value,
                allowed,
            },
            other => other,
        }
    }
}

/// Reason why no design was found: the design equations could not be evaluated, the input was invalid, or the search for a root
/// failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// A mechanism of the family could not be built.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The mass matrix of the mechanism is singular, or a contact normal is zero.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A list has the wrong length.
    #[error("{what}: {found} numbers for {expected} unknowns")]
    DimensionMismatch {
        /// Name of the list.
        what: &'static str,
        /// Number of unknowns.
        expected: usize,
        /// Length of the list.
        found: usize,
    },
    /// A number of the input, or a quantity computed during the search, is NaN or infinite.
    #[error("{what}: not finite in iteration {iteration}")]
    NonFinite {
        /// Name of the quantity.
        what: &'static str,
        /// Number of steps made before.
        iteration: usize,
    },
    /// An option of a search has a value outside its allowed range.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidOption {
        /// Name of the option.
        what: &'static str,
        /// Value given.
        value: f64,
        /// Allowed range, as text.
        allowed: &'static str,
    },
    /// The scale of an unknown is negative or not finite.
    #[error("scale {unknown} is {value}: it must be at least 0 and finite")]
    InvalidScale {
        /// Index of the unknown.
        unknown: usize,
        /// Scale given.
        value: f64,
    },
    /// The starting point of the search violates a bound on the unknowns, or lies on it. Choose a starting point inside all
    /// bounds.
    #[error("the start misses bound {bound} by {}", -slack)]
    OutOfBounds {
        /// Index of the bound.
        bound: usize,
        /// Slack of the start, zero or negative (or NaN).
        slack: f64,
    },
    /// A design equation depends on the equations before it, or on no unknown that may change (scale above 0). Remove the
    /// equation, or let more unknowns change.
    #[error("equation {equation} is not independent of those before it")]
    SingularConstraint {
        /// Index of the equation.
        equation: usize,
    },
    /// The search did not converge within the largest number of steps. Choose a starting point closer to a solution, or allow
    /// more steps.
    #[error("residual {residual} after {iterations} steps")]
    NotConverged {
        /// Number of steps made.
        iterations: usize,
        /// Largest absolute residual.
        residual: f64,
    },
}

/// Returns the value if it is positive and finite, else an error that names the parameter `what`.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(
        what,
        value,
        value > 0.0 && value.is_finite(),
        "positive and finite",
    )
}

/// Returns the value if it is finite and not negative, else an error that names the parameter `what`.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(
        what,
        value,
        value >= 0.0 && value.is_finite(),
        "at least 0 and finite",
    )
}

/// Returns the value if it is finite, else an error that names the parameter `what`.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(what, value, value.is_finite(), "finite")
}

/// Returns the value if it is between 0 and 1, else an error that names the parameter `what`.
pub(crate) fn fraction(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(what, value, (0.0..=1.0).contains(&value), "between 0 and 1")
}

fn accept(
    what: &'static str,
    value: f64,
    good: bool,
    allowed: &'static str,
) -> Result<f64, MechanismError> {
    if good {
        Ok(value)
    } else {
        Err(MechanismError::InvalidParameter {
            what,
            value,
            allowed,
        })
    }
}
