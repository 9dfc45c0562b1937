//! Errors of impact problems and of impact laws.

use crate::tolerances::GATE_TOLERANCE;
use crate::{GateRule, ImpactOutcome, Limit, Unsolved};
use carom_lcp::{LcpError, LcpStatus};
use carom_metric::{MetricError, Unsettled};
use carom_two_body::TwoBodyError;
use nalgebra::DVector;

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
    /// A limit ended the computation before an answer was found.
    #[error(
        "{}; {}",
        limit.reached(*at),
        raise.map_or_else(|| limit.help().to_owned(), |option| format!("raise {option}"))
    )]
    Limit {
        /// Quantity that the limit bounds.
        limit: Limit,
        /// Value at which the computation ended.
        at: u64,
        /// Option that raises the limit, if there is one.
        raise: Option<&'static str>,
    },
    /// No answer of the law was found, and no proof that it has none. Laws that project, such as the plastic law, have an
    /// answer whenever the friction cone is pointed.
    #[error("not solved: {0}")]
    NotSolved(Unsolved),
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
    /// The law has no answer here. Either its exact answer leaves contacts approaching, pulling, or outside their friction
    /// cone; this is not a rounding error, since the law does not fit the impact. Or impulses at the contacts can balance each
    /// other, and these contacts provably cannot all rebound with the speeds that Newton's restitution prescribes.
    #[error("law is infeasible here: {}", misfit(contacts, found.is_some()))]
    InfeasibleLaw {
        /// Contacts that approach, pull or leave their cone, or that press against each other; ascending.
        contacts: Vec<usize>,
        /// Exact answer of the law, if it has one.
        found: Option<Box<ImpactOutcome>>,
        /// Proof that no velocity gives all contacts their rebounds $t$: impulses on the caller's contact rows (N·s), along the
        /// normals alone, with $\lambda_n \ge 0$, $J_n^T\lambda_n = 0$ and $\lambda_n\cdot t > 0$. `None` without such impulses.
        proof: Option<DVector<f64>>,
    },
    /// The law has several isolated outcomes, none of which is the limit of equally compliant contacts. Their even member does
    /// not exist.
    #[error(
        "{} outcomes, none of which is the limit of equally compliant contacts; ask for selection `first`, which takes that of \
         the least energy",
        outcomes.len()
    )]
    Ambiguous {
        /// All outcomes, that of the least energy first; at most 1024.
        outcomes: Vec<ImpactOutcome>,
    },
    /// The answer failed a check of the gate, even after a correction of the impulses.
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
    /// A complementarity problem could not be posed.
    #[error(transparent)]
    Lcp(#[from] LcpError),
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
    /// Admissible impulses of the contacts can balance each other, so the total impulse of the impact has no bound.
    #[error("the friction cone is not pointed: impulses can balance each other without end")]
    NotPointed,
    /// The mass matrix is singular to working precision: a bound of all outcomes cannot be proven.
    #[error("the mass matrix is singular to working precision: no bound can be proven")]
    UnprovenBound,
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

impl From<Unsettled> for ImpactError {
    fn from(unsettled: Unsettled) -> Self {
        Self::NotSolved(Unsolved::Projection(unsettled))
    }
}

impl ImpactError {
    /// Kinds of errors that are not faults of the input: the problem could be posed, but no answer can be given.
    pub const UNANSWERED: [&str; 12] = [
        "not-solved",
        "ambiguous",
        "limit",
        "ill-conditioned",
        "infeasible-law",
        "no-elastic-outcome",
        "inaccurate",
        "adhesive-impulse",
        "not-pointed",
        "unproven-bound",
        "not-differentiated",
        "grazing",
    ];

    /// Creates the error of a complementarity problem that was posed but not solved, from its `status`, the scale-free
    /// `residual` of the best attempt, and the pivots made: [`Limit`](Self::Limit) if a budget ended it, else
    /// [`NotSolved`](Self::NotSolved).
    pub fn unsolved(status: LcpStatus, residual: f64, pivots: u64) -> Self {
        if status == LcpStatus::IterationLimit {
            return Self::Limit {
                limit: Limit::Pivots,
                at: pivots,
                raise: None,
            };
        }
        let is_told = residual.is_finite() && residual > GATE_TOLERANCE;
        Self::NotSolved(Unsolved::Complementarity {
            status,
            residual: is_told.then_some(residual),
        })
    }

    /// Creates the error of a limit on impacts one after the other, `at`, that the option `max_impacts` raises.
    pub fn too_many_impacts(at: u64) -> Self {
        Self::Limit {
            limit: Limit::Impacts,
            at,
            raise: Some("max_impacts"),
        }
    }

    /// True if the problem or an option is at fault; false if the problem could be posed, but no answer can be given (the kinds
    /// [`UNANSWERED`](Self::UNANSWERED)).
    pub fn is_input(&self) -> bool {
        !Self::UNANSWERED.contains(&self.kind())
    }

    /// Returns the limit that ended the computation, if one did.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Limit { limit, .. } => Some(*limit),
            Self::TwoBody(TwoBodyError::ImpactStepLimit { .. }) => Some(Limit::Steps),
            _ => None,
        }
    }

    /// Returns the scale-free residual of a complementarity problem that was not solved; `None` for other errors, and if
    /// the residual is not the reason.
    pub fn residual(&self) -> Option<f64> {
        match self {
            Self::NotSolved(Unsolved::Complementarity { residual, .. }) => *residual,
            _ => None,
        }
    }

    /// True if the solver of a complementarity problem has failed or was stopped.
    pub fn is_unsolved(&self) -> bool {
        matches!(
            self,
            Self::NotSolved(Unsolved::Complementarity { .. })
                | Self::Limit {
                    limit: Limit::Pivots,
                    ..
                }
        )
    }

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
            Self::Limit { .. } => "limit",
            Self::NotSolved(_) => "not-solved",
            Self::AdhesiveImpulse { .. } => "adhesive-impulse",
            Self::InvalidContact { .. } => "invalid-contact",
            Self::InfeasibleLaw { .. } => "infeasible-law",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Inaccurate { .. } => "inaccurate",
            Self::IllConditioned { .. } => "ill-conditioned",
            Self::MissingTangents { .. } => "missing-tangents",
            Self::Lcp(source) => source.kind(),
            Self::InvalidOption { .. } => "invalid-option",
            Self::NotPointed => "not-pointed",
            Self::UnprovenBound => "unproven-bound",
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

/// Says why a law has no answer at `contacts`: `is_found` is true if its exact answer exists but breaks a rule of contact.
fn misfit(contacts: &[usize], is_found: bool) -> String {
    if is_found {
        format!(
            "its exact answer leaves contacts {contacts:?} approaching, pulling or outside their friction cone; another law fits"
        )
    } else {
        format!(
            "contacts {contacts:?} press against each other, so they cannot all separate at restitution times their closing \
             speed; set their restitution to 0"
        )
    }
}
