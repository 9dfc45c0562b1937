//! Why an impact could not be posed or resolved.

use crate::{GateRule, ImpactOutcome};
use carom_lcp::{LcpError, LcpStatus};
use carom_metric::MetricError;
use carom_two_body::TwoBodyError;

/// Why an impact could not be posed or resolved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpactError {
    /// The mass matrix or a vector is unusable.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A single contact of two bodies could not be posed or followed.
    #[error(transparent)]
    TwoBody(#[from] TwoBodyError),
    /// A contact's covector is unusable.
    #[error("contact {contact}: {source}")]
    Contact {
        /// Index of the contact.
        contact: usize,
        /// Fault of its normal or tangents.
        source: MetricError,
    },
    /// A normal or tangent lies in the span of the constraint one-forms, so that no admissible
    /// motion opens or slides the contact.
    #[error("contact {contact}: its row lies in the span of the constraints, so it can never open")]
    ConstrainedContact {
        /// Index of the contact.
        contact: usize,
    },
    /// A contact has more tangents than physical space has.
    #[error("contact {contact} has {found} tangents: give none, one (plane) or two (space)")]
    TooManyTangents {
        /// Index of the contact.
        contact: usize,
        /// Tangents given.
        found: usize,
    },
    /// The Coulomb coefficient is negative or not finite.
    #[error("contact {contact} has friction {value}: it must be finite and at least 0")]
    InvalidFriction {
        /// Index of the contact.
        contact: usize,
        /// The value given.
        value: f64,
    },
    /// A coefficient of restitution lies outside \[0, 1\].
    #[error("restitution is {value}: it must lie in [0, 1]")]
    InvalidRestitution {
        /// The value given.
        value: f64,
    },
    /// The velocity before the impact violates a constraint.
    #[error(
        "velocity violates constraint {row}: relative residual {residual:e}; project it onto the constraints first"
    )]
    ConstraintViolated {
        /// Index of the constraint.
        row: usize,
        /// Constraint velocity over the norms of the form and of the velocity.
        residual: f64,
    },
    /// Energies of this velocity are no numbers, or too small for their ratios to be some.
    #[error(
        "velocity is too large or too small: its kinetic energy leaves the range of double precision; other units of length or time help"
    )]
    Overflow,
    /// The feasible cone of these contacts has no interior: no chain of elastic impacts ends.
    #[error(
        "no elastic outcome: contacts {jammed:?} wedge the system in, so their impacts never end; use the plastic law"
    )]
    NoElasticOutcome {
        /// Contacts whose unit normals balance each other.
        jammed: Vec<usize>,
    },
    /// The chain of elementary impacts reached its cap.
    #[error("limit of {impacts} elementary impacts reached; raise max_impacts")]
    LimitExceeded {
        /// Impacts made.
        impacts: u64,
    },
    /// Minimality is tested on all subsequences, which is too much for a chain this long.
    #[error(
        "limit of {limit} impacts for the test of minimality exceeded by a sequence of {impacts}"
    )]
    MinimalityLimitExceeded {
        /// Length of the sequence.
        impacts: usize,
        /// Longest sequence tested.
        limit: usize,
    },
    /// The plastic projection pulls on a contact, which dry contacts cannot do.
    #[error(
        "plastic projection pulls on contacts {contacts:?}; allow adhesion or use the cone law"
    )]
    AdhesiveImpulse {
        /// Contacts with a negative impulse.
        contacts: Vec<usize>,
    },
    /// An index names a contact that does not exist, or names it twice.
    #[error("{what} {contact} is out of range or repeated: there are {contacts} contacts")]
    InvalidContact {
        /// List that holds the index, for example `priority`.
        what: &'static str,
        /// The offending index.
        contact: usize,
        /// Number of contacts.
        contacts: usize,
    },
    /// The law's conditions leave contacts approaching, pulling, or outside their friction
    /// cone: no error of arithmetic, the law does not fit the impact.
    #[error(
        "law is infeasible here: its exact answer leaves contacts {contacts:?} approaching, pulling or outside their friction cone; another law fits"
    )]
    InfeasibleLaw {
        /// The contacts, ascending.
        contacts: Vec<usize>,
        /// The law's exact answer.
        found: Box<ImpactOutcome>,
    },
    /// Impulses at the contacts can balance each other, so that these contacts cannot all rebound as
    /// Newton's restitution asks: the law has no answer.
    #[error(
        "law is infeasible here: contacts {contacts:?} press against each other, so they cannot all separate at restitution times their closing speed; set their restitution to 0"
    )]
    ContradictoryRestitution {
        /// The contacts, ascending.
        contacts: Vec<usize>,
    },
    /// The answer did not pass the gate, also after a refinement in twice the precision.
    #[error(
        "inaccurate: {rule}, by {measure:e} of its own terms{}",
        named(contacts)
    )]
    Inaccurate {
        /// The rule that is broken worst.
        rule: GateRule,
        /// By how much, as a fraction of the terms that it is the sum of.
        measure: f64,
        /// Contacts that break it, where the rule is about contacts.
        contacts: Vec<usize>,
    },
    /// A law with friction was given a rough contact whose directions of slip are missing.
    #[error(
        "contact {contact} has friction but no tangents: give one tangent row in the plane, two in space, or friction 0"
    )]
    MissingTangents {
        /// Index of the contact.
        contact: usize,
    },
    /// An iteration that terminates in exact arithmetic did not; the numbers say how far it got.
    #[error("the active-set projection did not settle within {iterations} iterations")]
    NotConverged {
        /// Iterations made.
        iterations: usize,
    },
    /// A complementarity problem could not be posed.
    #[error(transparent)]
    Lcp(#[from] LcpError),
    /// A complementarity problem was posed but not solved.
    #[error("complementarity problem not solved: {status}, residual {residual:e}")]
    Complementarity {
        /// Status of the best attempt.
        status: LcpStatus,
        /// Its scale-free residual.
        residual: f64,
    },
    /// An option of a law has a value that makes no sense.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidOption {
        /// The option.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// No sample of a set-valued law ended within its steps.
    #[error("limit of {max_steps} steps reached by all {samples} samples; raise max_steps")]
    SampleLimit {
        /// Samples drawn.
        samples: u64,
        /// Steps allowed to each.
        max_steps: usize,
    },
    /// No sample of a set-valued law ended within the budget of work.
    #[error(
        "budget of {max_work} units of work used up by {samples} samples, none of which ended; raise max_work"
    )]
    WorkLimit {
        /// Samples drawn.
        samples: u64,
        /// Units of work allowed.
        max_work: u64,
    },
    /// No coefficient of restitution gave an answer within the budget of work.
    #[error("budget of {max_work} units of work used up by the fit of restitution; raise max_work")]
    FitLimit {
        /// Units of work allowed.
        max_work: u64,
    },
    /// Admissible impulses of the contacts balance each other: nothing bounds the impact.
    #[error("the friction cone is not pointed: impulses can balance each other without end")]
    NotPointed,
    /// Bounds of all outcomes need a mass matrix that is provably positive definite.
    #[error("the mass matrix is singular to working precision: no bound can be proven")]
    UnprovenBound,
    /// Modes are enumerated for few contacts only, and only in the plane.
    #[error(
        "limit of {max} planar contacts for enumeration exceeded: {contacts} contacts with {tangents} tangents"
    )]
    EnumerationLimit {
        /// Contacts given.
        contacts: usize,
        /// Tangents at each.
        tangents: usize,
        /// Contacts allowed.
        max: usize,
    },
    /// The law takes one contact.
    #[error("the law resolves one contact, not {found}")]
    SingleContactLaw {
        /// Contacts given.
        found: usize,
    },
    /// The law needs another number of tangents at its contact.
    #[error("the law needs {expected} tangents at the contact, not {found}")]
    WrongTangents {
        /// Tangents needed.
        expected: usize,
        /// Tangents given.
        found: usize,
    },
    /// A part of a direction of differentiation has another size than the problem.
    #[error("direction: {what} has {found} entries where there should be {expected}")]
    InvalidDirection {
        /// The part.
        what: &'static str,
        /// Entries that the problem asks for.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// The outcome is known, but not its derivative.
    #[error("the outcome has no derivative here: {reason}")]
    NotDifferentiated {
        /// The obstacle.
        reason: &'static str,
    },
    /// The flow meets the guard without crossing it.
    #[error(
        "the flow crosses the guard at the rate {rate:e}: it grazes, and there is no saltation matrix"
    )]
    Grazing {
        /// Rate of the guard function along the flow.
        rate: f64,
    },
}

impl ImpactError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Metric(source) | Self::Contact { source, .. } => source.kind(),
            Self::TwoBody(source) => source.kind(),
            Self::ConstrainedContact { .. } => "constrained-contact",
            Self::TooManyTangents { .. } => "too-many-tangents",
            Self::InvalidFriction { .. } => "invalid-friction",
            Self::InvalidRestitution { .. } => "invalid-restitution",
            Self::ConstraintViolated { .. } => "constraint-violated",
            Self::Overflow => "overflow",
            Self::NoElasticOutcome { .. } => "no-elastic-outcome",
            Self::LimitExceeded { .. } => "limit-exceeded",
            Self::MinimalityLimitExceeded { .. } => "minimality-limit-exceeded",
            Self::AdhesiveImpulse { .. } => "adhesive-impulse",
            Self::InvalidContact { .. } => "invalid-contact",
            Self::InfeasibleLaw { .. } | Self::ContradictoryRestitution { .. } => "infeasible-law",
            Self::Inaccurate { .. } => "inaccurate",
            Self::MissingTangents { .. } => "missing-tangents",
            Self::NotConverged { .. } => "not-converged",
            Self::Lcp(source) => source.kind(),
            Self::Complementarity { status, .. } => status.name(),
            Self::InvalidOption { .. } => "invalid-option",
            Self::SampleLimit { .. } => "sample-limit",
            Self::WorkLimit { .. } | Self::FitLimit { .. } => "work-limit",
            Self::NotPointed => "not-pointed",
            Self::UnprovenBound => "unproven-bound",
            Self::EnumerationLimit { .. } => "enumeration-limit",
            Self::SingleContactLaw { .. } => "single-contact-law",
            Self::WrongTangents { .. } => "wrong-tangents",
            Self::InvalidDirection { .. } => "dimension-mismatch",
            Self::NotDifferentiated { .. } => "not-differentiated",
            Self::Grazing { .. } => "grazing",
        }
    }
}

/// Contacts for a message, nothing for none.
fn named(contacts: &[usize]) -> String {
    match contacts {
        [] => String::new(),
        contacts => format!(", at contacts {contacts:?}"),
    }
}
