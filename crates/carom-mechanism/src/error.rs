//! Why a system could not be built or designed.

use carom_metric::MetricError;

/// Why a ready-made system could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// A parameter is outside its range.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidParameter {
        /// The parameter.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// A parameter of a link of a planar mechanism is outside its range.
    #[error("{what} of link {link} is {value}: it must be {allowed}")]
    InvalidLink {
        /// The link.
        link: usize,
        /// The parameter.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// A parameter of a contact of a planar mechanism is outside its range.
    #[error("{what} of contact `{contact}` is {value}: it must be {allowed}")]
    InvalidContact {
        /// The contact's name.
        contact: String,
        /// The parameter.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// A planar mechanism has no links.
    #[error("the mechanism has no links")]
    Empty,
    /// Something was attached to a link that does not exist, or to the ground.
    #[error("{what}: {} is not one of the {links} links", match link {
        Some(link) => format!("link {link}"),
        None => "the ground".to_owned(),
    })]
    UnknownLink {
        /// The thing that was attached.
        what: &'static str,
        /// The link; `None` for the ground.
        link: Option<usize>,
        /// Number of links at that time.
        links: usize,
    },
    /// No distribution of mass has these moments.
    #[error(
        "link {link}: no body has mass {mass}, first moment {first_moment:?} and second moment \
         {second_moment}"
    )]
    InvalidInertia {
        /// The link.
        link: usize,
        /// Its mass.
        mass: f64,
        /// Its first moment about the frame's origin.
        first_moment: [f64; 2],
        /// Its second moment about the frame's origin.
        second_moment: f64,
    },
    /// The coordinate of a link moves no inertia, so that the mass matrix is singular.
    #[error("the coordinate of link {link} moves no inertia")]
    Massless {
        /// The link.
        link: usize,
    },
}

impl MechanismError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidParameter { .. } => "invalid-parameter",
            Self::InvalidLink { .. } => "invalid-link",
            Self::InvalidContact { .. } => "invalid-contact",
            Self::Empty => "empty",
            Self::UnknownLink { .. } => "unknown-link",
            Self::InvalidInertia { .. } => "invalid-inertia",
            Self::Massless { .. } => "massless",
        }
    }

    /// Says of which link an invalid parameter is.
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

    /// Says of which contact an invalid parameter is.
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

/// Why a design could not be found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// There is no such mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The mass matrix or a contact normal is degenerate.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A list has the wrong length.
    #[error("{what}: {found} numbers for {expected} unknowns")]
    DimensionMismatch {
        /// The list.
        what: &'static str,
        /// Number of unknowns.
        expected: usize,
        /// Length of the list.
        found: usize,
    },
    /// A number is not finite.
    #[error("{what}: not finite in iteration {iteration}")]
    NonFinite {
        /// Place of the fault.
        what: &'static str,
        /// Steps made before.
        iteration: usize,
    },
    /// A scale is negative or not finite.
    #[error("scale {unknown} is {value}: it must be at least 0 and finite")]
    InvalidScale {
        /// The unknown.
        unknown: usize,
        /// Its scale.
        value: f64,
    },
    /// The start is not inside a bound.
    #[error("the start misses bound {bound} by {}", -slack)]
    OutOfBounds {
        /// The bound.
        bound: usize,
        /// Distance of the start from the bound, not positive.
        slack: f64,
    },
    /// An equation depends on the ones before it, or on no unknown that may move.
    #[error("equation {equation} is not independent of those before it")]
    SingularConstraint {
        /// The equation.
        equation: usize,
    },
    /// The largest number of steps did not suffice.
    #[error("residual {residual} after {iterations} steps")]
    NotConverged {
        /// Steps made.
        iterations: usize,
        /// Largest residual.
        residual: f64,
    },
}

/// Accepts a positive, finite parameter.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(
        what,
        value,
        value > 0.0 && value.is_finite(),
        "positive and finite",
    )
}

/// Accepts a finite parameter that is not negative.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(
        what,
        value,
        value >= 0.0 && value.is_finite(),
        "at least 0 and finite",
    )
}

/// Accepts a finite parameter.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(what, value, value.is_finite(), "finite")
}

/// Accepts a parameter between 0 and 1.
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
