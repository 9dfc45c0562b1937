//! Answers of impact laws.

use crate::Audit;
use crate::friction_cone::FrictionCone;
use carom_lcp::cone::{ConeMode, ConeSelection};
use carom_metric::Tangent;
use carom_two_body::{ContactImpact, ContactInertia};
use nalgebra::DVector;

/// Status of an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImpactStatus {
    /// The contacts no longer approach.
    Resolved,
    /// No contact approached to begin with; the velocity is unchanged.
    Separating,
    /// The contact touches without closing, but sliding friction would drive the bodies together,
    /// which no finite force prevents (Painlevé); the velocity is unchanged.
    Jammed,
}

impl ImpactStatus {
    /// Stable identifier, for reports that machines read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Separating => "separating",
            Self::Jammed => "jammed",
        }
    }
}

/// One outcome of an impact, audited.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpactOutcome {
    /// Velocity after the impact (n).
    pub velocity_plus: Tangent,
    /// Impulses on the contact rows as given (rows), N·s for metric gaps.
    pub impulses: DVector<f64>,
    /// Multipliers of the constraint one-forms (m).
    pub constraint_impulses: DVector<f64>,
    /// Outcome.
    pub status: ImpactStatus,
    /// Energy and momentum balance, computed from the problem and the outcome alone.
    pub audit: Audit,
    /// Diagnostics of the law beyond the outcome.
    pub diagnostics: Diagnostics,
}

/// Caution about an outcome that is an answer of its law all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Warning {
    /// The contacts do work: [`Audit::energy_gain`] says how much.
    GainsEnergy,
    /// The law has other answers with other velocities: this is one of a continuum, or another one was
    /// met on the way to it.
    NotUnique,
}

impl Warning {
    /// Stable identifier, for reports that machines read.
    pub fn name(self) -> &'static str {
        match self {
            Self::GainsEnergy => "gains-energy",
            Self::NotUnique => "not-unique",
        }
    }
}

impl ImpactOutcome {
    /// Warnings about the outcome, in the order of the enum.
    pub fn warnings(&self) -> Vec<Warning> {
        let is_unique = match &self.diagnostics {
            Diagnostics::Cone(cone) => cone.family == 0 && !cone.met_others,
            Diagnostics::Poisson(phases) => phases.family == 0 && !phases.met_others,
            Diagnostics::Complementarity { member, .. } => {
                member.is_none_or(|member| member.family == 0 && !member.met_others)
            }
            _ => true,
        };
        let gains = self.audit.energy_gain.map(|_| Warning::GainsEnergy);
        let others = (!is_unique).then_some(Warning::NotUnique);
        gains.into_iter().chain(others).collect()
    }
}

/// Diagnostics that a law reports beyond the outcome.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Diagnostics {
    /// Strike of the propagative law.
    Propagative(PropagativeDiagnostics),
    /// Diagnostics of the plastic law.
    Plastic {
        /// Contacts with a pulling impulse.
        adhesive: Vec<usize>,
    },
    /// Diagnostics of the simultaneous frictional laws.
    Complementarity {
        /// Pivots made.
        pivots: usize,
        /// Largest velocity that a pushing or sticking contact misses, over its own terms.
        velocity_residual: f64,
        /// Planar contacts: the continuum of velocities that this is a member of.
        member: Option<FamilyMember>,
        /// For contacts in space: difference of the polygon's answer from that of round cones.
        polygon: Option<PolygonDiagnostics>,
    },
    /// Diagnostics of the simultaneous laws with round friction cones.
    Cone(Box<ConeDiagnostics>),
    /// Diagnostics of Poisson's law.
    Poisson(Box<PoissonDiagnostics>),
    /// Diagnostics of the sequential law.
    Sequential {
        /// Contacts in the order of their impacts.
        sequence: Vec<usize>,
        /// Contacts that were closed at once because their impacts in turn did not end.
        closed_at_once: Vec<usize>,
        /// Pivots made.
        pivots: usize,
        /// Residual as for the simultaneous laws, largest over the single impacts.
        velocity_residual: f64,
        /// The friction cones of contacts in space.
        cone: Option<FrictionCone>,
        /// The [`cone_residual`](carom_lcp::cone::cone_residual) of the single impacts, the largest;
        /// 0 in the plane.
        cone_residual: f64,
    },
    /// Diagnostics of one outcome of the set-valued law.
    SetValued {
        /// Index of the sample.
        sample: u64,
        /// Complementarity problems solved.
        steps: usize,
        /// Pivots made.
        pivots: usize,
        /// Largest velocity that a pushing or sticking row of a step missed, over its own terms.
        velocity_residual: f64,
    },
    /// Diagnostics of the laws for one frictional contact.
    Frictional(Box<FrictionalDiagnostics>),
    /// Diagnostics of the nonholonomic laws.
    Nonholonomic(NonholonomicDiagnostics),
    /// Diagnostics of the rough law.
    Rough,
    /// A law without diagnostics.
    None,
}

impl Diagnostics {
    /// The diagnostics with the residuals that the gate has found, if they are reported.
    pub(crate) fn with_residuals(mut self, velocity: Option<f64>, own: f64) -> Self {
        if let Self::Cone(cone) = &mut self {
            cone.residual = own;
        }
        match (&mut self, velocity) {
            (
                Self::Complementarity {
                    velocity_residual, ..
                },
                Some(residual),
            ) => *velocity_residual = residual,
            (Self::Cone(cone), Some(residual)) => cone.velocity_residual = residual,
            _ => {}
        }
        self
    }
}

/// Place of an outcome among others of one law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyMember {
    /// Dimension of the continuum of velocities after the impact of which this is a member; 0 if
    /// they are isolated.
    pub family: usize,
    /// Choice of the member of a continuum.
    pub selection: ConeSelection,
    /// True if another outcome was met on the way.
    pub met_others: bool,
}

impl FamilyMember {
    /// Place of this part of a system and another that shares no body with it.
    pub fn beside(self, other: Self) -> Self {
        Self {
            family: self.family + other.family,
            met_others: self.met_others || other.met_others,
            selection: match self.selection {
                ConeSelection::First => ConeSelection::First,
                ConeSelection::Even => other.selection,
            },
        }
    }
}

/// Diagnostics of contacts with round friction cones.
#[derive(Clone, Debug, PartialEq)]
pub struct ConeDiagnostics {
    /// Largest residual of the contacts, each on its own terms: closed and
    /// open contacts, the cone, and the angle between friction and sliding. At most $10^{-9}$.
    pub residual: f64,
    /// Largest velocity that a pushing or sticking contact misses, over its own terms.
    pub velocity_residual: f64,
    /// Dimension of the continuum of velocities after the impact of which this is a member; 0 if
    /// they are isolated.
    pub family: usize,
    /// Selection of the member.
    pub selection: ConeSelection,
    /// True if another outcome was met on the way.
    pub met_others: bool,
    /// Mode of each contact.
    pub modes: Vec<ConeMode>,
    /// Lemke pivots made.
    pub pivots: usize,
    /// Newton steps made.
    pub newton_steps: usize,
}

/// Compression and expansion of an impact.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonDiagnostics {
    /// Impulses of compression on the contact rows as given, N·s.
    pub compression: DVector<f64>,
    /// Scale of the expansion: 1, or less where the whole would gain energy (the least of parts that
    /// share no body).
    pub scale: f64,
    /// Largest residual of all problems that were solved, the expansion's by the natural map of its
    /// own cones, $\lambda_n \ge p$.
    pub residual: f64,
    /// The friction cones of contacts in space.
    pub cone: FrictionCone,
    /// Dimensions of the continua of velocities after compression and after expansion of which these are members,
    /// added, and of velocities after expansion to which other impulses of the same compression lead; 0 if they are
    /// isolated.
    pub family: usize,
    /// Selection of the members.
    pub selection: ConeSelection,
    /// True if another compression was met on the way.
    pub met_others: bool,
    /// Modes of the contacts at the end of the impact, [`Open`](ConeMode::Open) without an impulse.
    pub modes: Vec<ConeMode>,
    /// Lemke pivots made.
    pub pivots: usize,
    /// Newton steps made.
    pub newton_steps: usize,
}

/// Error of friction polygons in place of round cones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolygonDiagnostics {
    /// The polygon.
    pub cone: FrictionCone,
    /// The [`cone_residual`](carom_lcp::cone::cone_residual) of the polygon's impulses.
    pub cone_residual: f64,
    /// $\lVert v_{\text{polygon}} - v_{\text{round}}\rVert_M/\lVert v^-\rVert_M$ for the round
    /// answer that Newton's method finds from the polygon's: an estimate; `None` if it finds none.
    pub cone_error: Option<f64>,
}

impl PolygonDiagnostics {
    /// Diagnostics of this part of a system and another that shares no body with it.
    pub fn beside(self, other: &Self) -> Self {
        let errors = self.cone_error.zip(other.cone_error);
        Self {
            cone: self.cone,
            cone_residual: f64::max(self.cone_residual, other.cone_residual),
            cone_error: errors.map(|(one, other)| libm::hypot(one, other)),
        }
    }
}

/// Diagnostics of a frictional impact.
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionalDiagnostics {
    /// Inverse inertia matrix of the contact, tangents first; planar and frictionless contacts
    /// stand in the plane or axis of a spatial one.
    pub inertia: ContactInertia,
    /// Coulomb coefficient.
    pub friction: f64,
    /// The impact in contact axes, with its events; `None` if there was none.
    pub impact: Option<ContactImpact>,
}

/// Diagnostics of the nonholonomic laws.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NonholonomicDiagnostics {
    /// $-u(v^+)/u(v^-)$ at the contact that was hit first; absent if none was.
    pub effective_restitution: Option<f64>,
    /// $\cos^2\beta$ of that contact.
    pub cos2_beta: Option<f64>,
    /// Contacts in the order of their impacts.
    pub sequence: Vec<usize>,
}

/// Diagnostics of a propagative outcome.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PropagativeDiagnostics {
    /// Contacts in the order of the elementary impacts (one shortest order if several lead
    /// here); `None` above `SEQUENCE_LIMIT` impacts.
    pub sequence: Option<Vec<usize>>,
    /// Number of elementary impacts.
    pub impacts: u64,
    /// Distinct orders that lead to this outcome (1 when only one was followed; saturating), or the
    /// number of drawn orders that did.
    pub n_sequences: u64,
    /// Lengths of those orders, ascending; empty when only one was followed.
    pub lengths: Vec<u64>,
    /// Position of the outcome between the plastic (0) and the elastic one (1).
    pub alpha: f64,
    /// Contacts with a pulling impulse.
    pub adhesive: Vec<usize>,
}

/// Outcomes of an impact.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeSet {
    /// The outcomes, shortest sequence first. Of a set that is incomplete or has more than
    /// `MAX_OUTCOMES`, the two farthest apart, the preferred
    /// one, then always the one farthest from those before it: a part that spreads as far as all.
    pub outcomes: Vec<ImpactOutcome>,
    /// The one that the law's selection rule prefers.
    pub preferred: Option<usize>,
    /// Diameter of the set over the norm of the momentum before,
    /// $\xi = \max \lVert p_i - p_j\rVert / \lVert p^-\rVert$: the indeterminacy. Of an incomplete
    /// set that of the outcomes listed, a lower bound.
    pub indeterminacy: f64,
    /// True if every order was followed to its end.
    pub complete: bool,
    /// Distinct outcomes that were met and are not listed.
    pub omitted: usize,
    /// Sample of drawn orders, if orders were drawn.
    pub drawn: Option<DrawnOrders>,
}

/// Orders of impact that were drawn at random, because there are too many or by request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnOrders {
    /// Orders followed to their end.
    pub orders: u64,
    /// Share of the orders whose outcome no other of them met: the Good-Turing estimate of the
    /// chance that the next order brings a new outcome (Good, *Biometrika*, 1953).
    pub new_outcome_rate: f64,
}
