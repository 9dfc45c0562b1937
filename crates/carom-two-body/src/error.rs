//! Errors of an impact of two bodies.

/// Reason why the impact of two bodies could not be set up or computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TwoBodyError {
    /// The data of a rigid body are invalid.
    #[error("body {body}: {what}")]
    InvalidBody {
        /// Number of the body: 1 or 2.
        body: usize,
        /// Condition that the data must satisfy.
        what: &'static str,
    },
    /// The contact normal is zero, or the normal or the contact point is not finite.
    #[error("contact normal must be finite and not zero, the contact point finite")]
    InvalidNormal,
    /// The inverse inertia matrix of a contact has a NaN or an infinity.
    #[error("inverse inertia matrix has non-finite entries")]
    ContactInertiaNonFinite,
    /// The inverse inertia matrix of a contact is not symmetric.
    #[error("inverse inertia matrix is not symmetric: relative asymmetry {asymmetry:e}")]
    ContactInertiaNotSymmetric {
        /// Largest difference between mirrored entries, relative to the largest entry.
        asymmetry: f64,
    },
    /// The inverse inertia matrix of a contact is not positive definite to working precision, for example because the masses of
    /// the bodies differ too much.
    #[error("inverse inertia matrix is not positive definite: pivot {pivot:e}")]
    ContactInertiaSingular {
        /// Pivot of the factorization that is not positive.
        pivot: f64,
    },
    /// The contact velocity has a NaN or an infinity.
    #[error("contact velocity has the non-finite entry {value} at index {index}")]
    ContactVelocityNonFinite {
        /// Index of the entry.
        index: usize,
        /// Value of the entry.
        value: f64,
    },
    /// The Coulomb coefficient is negative or not finite.
    #[error("friction is {value}: it must be finite and at least 0")]
    InvalidFriction {
        /// Given value.
        value: f64,
    },
    /// The coefficient of restitution lies outside \[0, 1\].
    #[error("restitution is {value}: it must lie in [0, 1]")]
    InvalidRestitution {
        /// Given value.
        value: f64,
    },
    /// The ratio of tangential to normal stiffness of a contact is not a positive finite number.
    #[error("stiffness ratio is {value}: it must be positive and finite")]
    InvalidStiffnessRatio {
        /// Given value.
        value: f64,
    },
    /// An option has a value outside its allowed range.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidOption {
        /// Name of the option.
        what: &'static str,
        /// Given value.
        value: f64,
        /// Allowed range, as text.
        allowed: &'static str,
    },
    /// Curved sliding took more steps than the proved bounds on the impact should allow. With the functions for compliant
    /// contacts and for Euler steps, the tangential spring is too stiff or the step is too small.
    #[error(
        "limit of {steps} steps of sliding reached at the normal impulse {normal_impulse:e} (scaled); a softer tangential spring, \
         longer steps or another law need fewer"
    )]
    ImpactStepLimit {
        /// Number of steps.
        steps: usize,
        /// Normal impulse reached, in units of the internally scaled problem.
        normal_impulse: f64,
    },
    /// The kinetic energy overflows, or is too small for ratios of energies to be computed. Choose other units of length or time.
    #[error(
        "velocity is too large or too small: its kinetic energy leaves the range of double precision; other units of length or time help"
    )]
    Overflow,
}

impl TwoBodyError {
    /// Returns the identifier of the error variant in machine-readable reports, in kebab case, for example
    /// `invalid-friction`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidBody { .. } => "invalid-body",
            Self::InvalidNormal => "invalid-normal",
            Self::ContactInertiaNonFinite => "non-finite",
            Self::ContactInertiaNotSymmetric { .. } => "not-symmetric",
            Self::ContactInertiaSingular { .. } => "not-positive-definite",
            Self::ContactVelocityNonFinite { .. } => "non-finite",
            Self::InvalidStiffnessRatio { .. } => "invalid-stiffness-ratio",
            Self::InvalidOption { .. } => "invalid-option",
            Self::ImpactStepLimit { .. } => "limit",
            Self::InvalidFriction { .. } => "invalid-friction",
            Self::InvalidRestitution { .. } => "invalid-restitution",
            Self::Overflow => "overflow",
        }
    }
}
