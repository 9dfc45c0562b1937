//! Errors of impact problems and of impact laws.

use crate::{GateRule, ImpactOutcome};
use carom_lcp::{LcpError, LcpStatus};
use carom_metric::MetricError;
use carom_two_body::TwoBodyError;

/// Reason why an impact could not be posed or resolved: invalid input, no answer of the law, or a numerical failure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpactError {
    /// The mass matrix or a vector is unusable.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The impact of two bodies at a single contact could not be posed or computed.
    #[error(transparent)]
    TwoBody(#[from] TwoBodyError),
    /// The normal or a tangent of a contact is unusable.
    #[error("contact {contact}: {source}")]
    Contact {
        /// Index of the contact.
        contact: usize,
        /// Error about the normal or a tangent of the contact.
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
    /// The velocity before the impact violates a constraint. The caller can project the velocity onto the constraints first.
    #[error(
        "velocity violates constraint {row}: relative residual {residual:e}; project it onto the constraints first"
    )]
    ConstraintViolated {
        /// Index of the constraint.
        row: usize,
        /// Magnitude of the constraint velocity $\sum_ka_kv_k$, divided by the sum of the magnitudes $|a_kv_k|$ of its
        /// terms.
        residual: f64,
    },
    /// The kinetic energy of the velocity is not finite, or too small to form ratios of energies. Other units of length or
    /// time help.
    #[error(
        "velocity is too large or too small: its kinetic energy leaves the range of double precision; other units of length or time help"
    )]
    Overflow,
    /// The contacts can balance each other (the feasible cone has no interior): a sequence of elastic impacts would never
    /// end. A plastic law has an answer.
    #[error(
        "no elastic outcome: contacts {jammed:?} wedge the system in, so their impacts never end; use the plastic law"
    )]
    NoElasticOutcome {
        /// Contacts whose unit normals balance each other.
        jammed: Vec<usize>,
    },
    /// A sequence of single-contact impacts, or of events of an impulse path, reached the allowed length before its end. A
    /// larger limit helps if the law has an option for it.
    #[error("limit of {impacts} elementary impacts reached; raise max_impacts")]
    LimitExceeded {
        /// Impacts made.
        impacts: u64,
    },
    /// The impacts of contacts one after the other amplify rounding, so that their end is not known. Laws that close all contacts
    /// together, such as `anitescu-potra`, need no sequence.
    #[error(
        "{impacts} impacts one after the other amplify rounding: after a change of the velocity by {change:e} of itself {}; use a \
         law that closes the contacts together, such as anitescu-potra",
        nearby(*effect)
    )]
    Sensitive {
        /// Impacts made.
        impacts: usize,
        /// Change of the velocity before, relative to its components.
        change: f64,
        /// Largest difference of the velocities of a contact after the impacts, relative to the motion around it; infinite if
        /// the changed impacts do not end.
        effect: f64,
    },
    /// The sequence of impacts is too long to test if it is minimal, since the test visits all its subsequences.
    #[error(
        "limit of {limit} impacts for the test of minimality exceeded by a sequence of {impacts}"
    )]
    MinimalityLimitExceeded {
        /// Length of the sequence.
        impacts: usize,
        /// Longest sequence tested.
        limit: usize,
    },
    /// The plastic law needs a pulling impulse at a contact, which dry contacts cannot exert.
    #[error(
        "plastic projection pulls on contacts {contacts:?}; allow adhesion or use the cone law"
    )]
    AdhesiveImpulse {
        /// Contacts with a negative impulse.
        contacts: Vec<usize>,
    },
    /// A contact index is out of range, or given twice.
    #[error("{what} {contact} is out of range or repeated: there are {contacts} contacts")]
    InvalidContact {
        /// Name of the list that contains the index, for example `priority`.
        what: &'static str,
        /// Index that is out of range or repeated.
        contact: usize,
        /// Number of contacts.
        contacts: usize,
    },
    /// The exact answer of the law leaves contacts approaching, pulling, or outside their friction
    /// cone. This is not a rounding error: the law does not fit the impact.
    #[error(
        "law is infeasible here: its exact answer leaves contacts {contacts:?} approaching, pulling or outside their friction cone; another law fits"
    )]
    InfeasibleLaw {
        /// Contacts that approach, pull or leave their cone, ascending.
        contacts: Vec<usize>,
        /// Exact answer of the law.
        found: Box<ImpactOutcome>,
    },
    /// Impulses at the contacts can balance each other, and these contacts provably cannot all rebound with the speeds that
    /// Newton's restitution prescribes: the law has no answer.
    #[error(
        "law is infeasible here: contacts {contacts:?} press against each other, so they cannot all separate at restitution times their closing speed; set their restitution to 0"
    )]
    ContradictoryRestitution {
        /// Contacts that press against each other, ascending.
        contacts: Vec<usize>,
    },
    /// The answer failed a check of the gate, even after a refinement in twice the working precision.
    #[error(
        "inaccurate: {rule}, by {measure:e} of its own terms{}",
        named(contacts)
    )]
    Inaccurate {
        /// The rule with the largest violation.
        rule: GateRule,
        /// Size of the violation, as a fraction of the terms of the sum that the rule checks.
        measure: f64,
        /// Contacts that break the rule; empty for rules that do not concern single contacts.
        contacts: Vec<usize>,
    },
    /// The problem amplifies rounding so much that the answer has fewer than two correct digits
    /// ([`REFUSED_DIGITS`](crate::REFUSED_DIGITS)), or leaves a contact approaching.
    #[error(
        "ill-conditioned: the answer has {digits} correct digits; {}",
        cure(*nearest)
    )]
    IllConditioned {
        /// Correct digits of the velocity after the impact, see [`Audit::digits`](crate::Audit::digits), or of the velocity of
        /// the contact that approaches.
        digits: f64,
        /// Contact whose row nearly depends on rows of other contacts, and the length of the part of its unit row orthogonal to
        /// them; `None` if the rows are well apart, so that masses or coordinates are the cause.
        nearest: Option<(usize, f64)>,
    },
    /// A law with friction was given a contact that has friction but no tangents. The caller can add tangent rows (one in
    /// the plane, two in space) or set the friction to 0.
    #[error(
        "contact {contact} has friction but no tangents: give one tangent row in the plane, two in space, or friction 0"
    )]
    MissingTangents {
        /// Index of the contact.
        contact: usize,
    },
    /// An iteration that terminates in exact arithmetic did not terminate.
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
        /// Scale-free residual of that attempt.
        residual: f64,
    },
    /// An option of a law has a value outside its allowed range.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidOption {
        /// Name of the option.
        what: &'static str,
        /// The value given.
        value: f64,
        /// Allowed range, as text.
        allowed: &'static str,
    },
    /// No sample of a set-valued law reached the end of the impact within the allowed number of steps. A larger limit on the
    /// steps helps.
    #[error("limit of {max_steps} steps reached by all {samples} samples; raise max_steps")]
    SampleLimit {
        /// Samples drawn.
        samples: u64,
        /// Steps allowed per sample.
        max_steps: usize,
    },
    /// No sample of a set-valued law reached the end of the impact within the work budget. A larger budget helps.
    #[error(
        "budget of {max_work} units of work used up by {samples} samples, none of which ended; raise max_work"
    )]
    WorkLimit {
        /// Samples drawn.
        samples: u64,
        /// Units of work allowed.
        max_work: u64,
    },
    /// The fit of the coefficient of restitution found no answer within the work budget. A larger budget helps.
    #[error("budget of {max_work} units of work used up by the fit of restitution; raise max_work")]
    FitLimit {
        /// Units of work allowed.
        max_work: u64,
    },
    /// Admissible impulses of the contacts can balance each other, so the total impulse of the impact has no bound.
    #[error("the friction cone is not pointed: impulses can balance each other without end")]
    NotPointed,
    /// The mass matrix is singular to working precision: a bound of all outcomes cannot be proven.
    #[error("the mass matrix is singular to working precision: no bound can be proven")]
    UnprovenBound,
    /// Contact modes can be enumerated only in the plane and for a limited number of contacts.
    #[error(
        "limit of {max} planar contacts for enumeration exceeded: {contacts} contacts with {tangents} tangents"
    )]
    EnumerationLimit {
        /// Contacts given.
        contacts: usize,
        /// Tangents per contact.
        tangents: usize,
        /// Largest number of contacts allowed.
        max: usize,
    },
    /// The law resolves exactly one contact, but the problem has another number of contacts. The caller can use a law for
    /// several contacts.
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
    /// A vector in the direction of differentiation has the wrong length.
    #[error("direction: {what} has {found} entries where there should be {expected}")]
    InvalidDirection {
        /// Name of the vector.
        what: &'static str,
        /// Expected number of entries.
        expected: usize,
        /// Number of entries given.
        found: usize,
    },
    /// The outcome was found, but the derivative does not exist or could not be computed.
    #[error("the outcome has no derivative here: {reason}")]
    NotDifferentiated {
        /// Reason, as text.
        reason: &'static str,
    },
    /// The flow touches the guard surface without crossing it.
    #[error(
        "the flow crosses the guard at the rate {rate:e}: it grazes, and there is no saltation matrix"
    )]
    Grazing {
        /// Rate of the guard function along the flow.
        rate: f64,
    },
}

impl ImpactError {
    /// Stable identifier of the error variant in machine-readable reports, in kebab case.
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
            Self::Sensitive { .. } => "sensitive-to-rounding",
            Self::MinimalityLimitExceeded { .. } => "minimality-limit-exceeded",
            Self::AdhesiveImpulse { .. } => "adhesive-impulse",
            Self::InvalidContact { .. } => "invalid-contact",
            Self::InfeasibleLaw { .. } | Self::ContradictoryRestitution { .. } => "infeasible-law",
            Self::Inaccurate { .. } => "inaccurate",
            Self::IllConditioned { .. } => "ill-conditioned",
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

/// Formats a list of contact indices for an error message; an empty list gives an empty text.
fn named(contacts: &[usize]) -> String {
    match contacts {
        [] => String::new(),
        contacts => format!(", at contacts {contacts:?}"),
    }
}

/// Says what may be changed about an ill-conditioned problem.
fn cure(nearest: Option<(usize, f64)>) -> String {
    match nearest {
        Some((contact, distance)) => format!(
            "a row of contact {contact} is within {distance:e} of a combination of the other rows: merge contacts with nearly \
             equal rows, or make the rows equal"
        ),
        None => "masses differ by too many orders, or the mass matrix is nearly singular: leave out light bodies, or take \
                 coordinates that it does not couple"
            .to_owned(),
    }
}

/// Says where impacts from a velocity nearby end. `effect`: largest difference that they make to the velocity of a contact,
/// relative to the motion around it; infinite if they do not end.
fn nearby(effect: f64) -> String {
    if effect.is_finite() {
        format!("they end {effect:e} of the motion around a contact away")
    } else {
        "they do not end".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::ImpactError;

    #[test]
    fn a_message_says_where_impacts_from_a_velocity_nearby_end() {
        let message = |effect| {
            let (impacts, change) = (5000, 1e-14);
            ImpactError::Sensitive {
                impacts,
                change,
                effect,
            }
            .to_string()
        };
        assert!(
            message(2e-8).contains("itself they end 2e-8 of the motion around a contact away;")
        );
        assert!(message(f64::INFINITY).contains("itself they do not end;"));
    }
}
