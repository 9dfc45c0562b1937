//! Results of impact laws.

use crate::friction_cone::FrictionCone;
use crate::selection::ConeSelection;
use crate::{Audit, digits};
use carom_lcp::contact_problem::ContactMode;
use carom_metric::Tangent;
use carom_two_body::{ContactImpact, ContactInertia};
use nalgebra::DVector;

/// Status of the outcome of an impact: resolved by impulses, separating (no contact approached), or jammed (no finite force
/// prevents the approach).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ImpactStatus {
    /// The contacts no longer approach.
    Resolved,
    /// No contact approached before the impact; the velocity is unchanged.
    Separating,
    /// The contact touches without approaching, but sliding friction would drive the bodies into each other,
    /// which no finite force prevents (Painlevé's paradox); the velocity is unchanged.
    Jammed,
}

impl ImpactStatus {
    /// Stable identifier of the status in machine-readable reports, for example `resolved`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Separating => "separating",
            Self::Jammed => "jammed",
        }
    }
}

/// One outcome of an impact, as computed by an impact law and accepted by its final checks: velocity after the impact,
/// impulses, and the energy and momentum balance.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ImpactOutcome {
    /// Velocity after the impact (n entries).
    pub velocity_plus: Tangent,
    /// Impulses on the caller's contact rows, one per row; N·s if gaps are in metres.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub impulses: DVector<f64>,
    /// Multipliers of the constraint one-forms, one per form.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub constraint_impulses: DVector<f64>,
    /// Status of the result.
    pub status: ImpactStatus,
    /// Energy and momentum balance, computed from the problem and the outcome alone.
    pub audit: Audit,
    /// Further information that the law reports.
    pub diagnostics: Diagnostics,
}

/// Warning about an outcome that is nevertheless a valid answer of its law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Warning {
    /// The contacts add energy; [`Audit::energy_gain`] gives the ratio.
    GainsEnergy,
    /// The law has other answers with other velocities: this outcome is a member of a continuum, or one of several isolated ones.
    NotUnique,
    /// Impacts in turn amplify rounding: impacts from a velocity nearby end elsewhere. Laws that close all contacts together,
    /// such as `anitescu-potra`, need no sequence.
    SensitiveToRounding,
    /// Rounding leaves few correct digits: fewer than [`MARKED_DIGITS`](crate::MARKED_DIGITS) of the velocity
    /// ([`Audit::digits`]), or a contact approaches after the impact by more than $10^{-6}$ of its velocities ([`Audit::closing`]).
    IllConditioned,
}

impl Warning {
    /// Stable identifier of the warning in machine-readable reports, in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            Self::GainsEnergy => "gains-energy",
            Self::NotUnique => "not-unique",
            Self::SensitiveToRounding => "sensitive-to-rounding",
            Self::IllConditioned => "ill-conditioned",
        }
    }
}

impl ImpactOutcome {
    /// Returns the warnings about this outcome, in the order of the variants of [`Warning`].
    pub fn warnings(&self) -> Vec<Warning> {
        let is_unique = match &self.diagnostics {
            Diagnostics::Cone(cone) => cone.family == 0 && !cone.is_ambiguous,
            Diagnostics::Poisson(phases) => phases.family == 0 && !phases.is_ambiguous,
            _ => true,
        };
        let gains = self.audit.energy_gain.map(|_| Warning::GainsEnergy);
        let others = (!is_unique).then_some(Warning::NotUnique);
        let mut warnings: Vec<Warning> = gains.into_iter().chain(others).collect();
        if let Diagnostics::Sequential { nearby_effect, .. } = &self.diagnostics {
            warnings.extend(nearby_effect.map(|_| Warning::SensitiveToRounding));
        }
        if digits::left(&self.audit) < digits::MARKED_DIGITS {
            warnings.push(Warning::IllConditioned);
        }
        warnings
    }
}

/// Information about one outcome that a law reports besides velocity and impulses, for example residuals, contact modes and
/// the order of impacts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(rename_all = "kebab-case", rename_all_fields = "snake_case")
)]
pub enum Diagnostics {
    /// Diagnostics of the propagative law.
    Propagative(PropagativeDiagnostics),
    /// Diagnostics of the plastic law.
    Plastic {
        /// Contacts with a pulling impulse.
        adhesive: Vec<usize>,
    },
    /// Diagnostics of the simultaneous laws with friction polygons, and of single steps and modes.
    Complementarity {
        /// Lemke pivots made.
        pivots: usize,
        /// Largest velocity that a pushing or sticking contact misses, as a fraction of its rounding scale $S$.
        velocity_residual: f64,
        /// For contacts in space with friction polygons: difference from the answer with round cones.
        polygon: Option<PolygonDiagnostics>,
        /// Mode in which each contact ends, see [`Diagnostics::modes`].
        modes: Vec<ContactMode>,
    },
    /// Diagnostics of the simultaneous laws with friction cones.
    Cone(Box<ConeDiagnostics>),
    /// Diagnostics of Poisson's law.
    Poisson(Box<PoissonDiagnostics>),
    /// Diagnostics of the sequential law.
    Sequential {
        /// Contacts in the order of their impacts.
        sequence: Vec<usize>,
        /// Contacts closed simultaneously, because impacts at one contact after the other did not end.
        closed_at_once: Vec<usize>,
        /// Largest difference of the velocities of a contact after the impacts, relative to the motion around it, that a change of
        /// the velocity before by $10^{-14}$ makes; `None` if it is as small as for impacts that converge.
        nearby_effect: Option<f64>,
        /// Lemke pivots made.
        pivots: usize,
        /// Largest velocity residual of the single impacts, defined as for the simultaneous laws.
        velocity_residual: f64,
        /// Shape of the friction cones; `None` for planar contacts.
        cone: Option<FrictionCone>,
        /// Largest [residual](carom_lcp::contact_problem::residual) of the single impacts; 0 in the plane.
        cone_residual: f64,
        /// Mode in which each contact ends, see [`Diagnostics::modes`].
        modes: Vec<ContactMode>,
    },
    /// Diagnostics of one outcome of the set-valued law.
    SetValued {
        /// Index of the sample.
        sample: u64,
        /// Complementarity problems solved.
        steps: usize,
        /// Lemke pivots made.
        pivots: usize,
        /// Largest velocity that a pushing or sticking row missed in a step, as a fraction of the terms of the sum.
        velocity_residual: f64,
        /// Mode in which each contact ends, see [`Diagnostics::modes`].
        modes: Vec<ContactMode>,
    },
    /// Diagnostics of the laws for one frictional contact.
    Frictional(Box<FrictionalDiagnostics>),
    /// Diagnostics of the nonholonomic laws.
    Nonholonomic(NonholonomicDiagnostics),
    /// Diagnostics of the rough law.
    Rough,
    /// No diagnostics: the law reports nothing besides velocity and impulses.
    None,
}

impl Diagnostics {
    /// Mode in which each contact ends the impact, one per contact; empty for laws that do not tell it.
    ///
    /// A contact without a normal impulse is open. A contact that pushed sticks if it has friction and its tangential velocity
    /// after the impact is zero to rounding, else it slides: under the simultaneous laws its friction impulse is then at the edge
    /// of the cone, against the sliding. Under laws of several phases, impacts or steps a contact that ends sliding may have stuck
    /// before, and one that pushed may end open.
    pub fn modes(&self) -> &[ContactMode] {
        match self {
            Self::Complementarity { modes, .. }
            | Self::Sequential { modes, .. }
            | Self::SetValued { modes, .. } => modes,
            Self::Cone(cone) => &cone.modes,
            Self::Poisson(phases) => &phases.modes,
            _ => &[],
        }
    }
}

/// Diagnostics of an outcome that was computed with friction cones.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ConeDiagnostics {
    /// Largest [residual](carom_lcp::contact_problem::Solution::residual) of the contact problems of parts that share no body. At
    /// most $10^{-9}$.
    pub residual: f64,
    /// Dimension of the continuum of velocities after the impact that contains this outcome; 0 if the outcome is
    /// isolated.
    pub family: usize,
    /// True if other impulses in the same modes lead to the same velocity; `None` if a heap is too large for that question.
    pub shares_impulses: Option<bool>,
    /// True if there are other isolated outcomes, and none of them is the limit of equally compliant contacts.
    pub is_ambiguous: bool,
    /// Rule by which a member of the continuum was chosen.
    pub selection: ConeSelection,
    /// Final mode of each contact, one per contact.
    pub modes: Vec<ContactMode>,
    /// Newton steps made.
    pub newton_steps: usize,
}

impl ConeDiagnostics {
    /// Creates the diagnostics of an isolated outcome without residuals, from the rule that chooses members of a continuum and the
    /// mode of each contact.
    pub fn new(selection: ConeSelection, modes: Vec<ContactMode>) -> Self {
        Self {
            residual: 0.0,
            family: 0,
            shares_impulses: Some(false),
            is_ambiguous: false,
            selection,
            modes,
            newton_steps: 0,
        }
    }
}

/// Diagnostics of an outcome of Poisson's law, which has two phases: compression and expansion.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct PoissonDiagnostics {
    /// Impulses of the compression on the caller's contact rows, one per row, N·s.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub compression: DVector<f64>,
    /// Factor on the impulses of the expansion: 1, or less if the full expansion would gain energy. If the system consists
    /// of several parts that share no body, this is the smallest of their factors.
    pub scale: f64,
    /// Largest residual of all complementarity problems solved. For the expansion it is the natural map of the shifted
    /// cones, $\lambda_n \ge p$ with the impulse $p$ to be given back.
    pub residual: f64,
    /// Shape of the friction cones of contacts in space.
    pub cone: FrictionCone,
    /// Sum of the dimensions of three continua of velocities: after the compression, after the expansion, and after
    /// expansions that other impulses of the same compression lead to. It is 0 if all answers are isolated.
    pub family: usize,
    /// Rule by which the members of these continua were chosen.
    pub selection: ConeSelection,
    /// True if there are other isolated compressions, and none of them is the limit of equally compliant contacts.
    pub is_ambiguous: bool,
    /// Modes of the contacts at the end of the impact, one per contact; [`Open`](ContactMode::Open) without an impulse.
    pub modes: Vec<ContactMode>,
    /// Lemke pivots made.
    pub pivots: usize,
    /// Newton steps made.
    pub newton_steps: usize,
}

impl PoissonDiagnostics {
    /// Creates the diagnostics of an isolated outcome without residuals, from the impulses of the compression (one per row, N·s),
    /// the shape of the friction cones, the rule that chooses members of a continuum, and the mode of each contact.
    pub fn new(
        compression: DVector<f64>,
        cone: FrictionCone,
        selection: ConeSelection,
        modes: Vec<ContactMode>,
    ) -> Self {
        Self {
            compression,
            scale: 1.0,
            residual: 0.0,
            cone,
            family: 0,
            selection,
            is_ambiguous: false,
            modes,
            pivots: 0,
            newton_steps: 0,
        }
    }
}

/// Error of an outcome that was computed with friction polygons in place of round friction cones.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct PolygonDiagnostics {
    /// The polygon used.
    pub cone: FrictionCone,
    /// Residual of the polygon's impulses with round cones, see [residual](carom_lcp::contact_problem::residual).
    pub cone_residual: f64,
    /// Estimate $\lVert v_{\text{polygon}} - v_{\text{round}}\rVert_M/\lVert v^-\rVert_M$ of the error. The round
    /// answer comes from Newton's method started at the polygon's answer; `None` if the method fails.
    pub cone_error: Option<f64>,
}

impl PolygonDiagnostics {
    /// Creates the diagnostics from the polygon used, its residual with round cones, and the estimate of its error.
    pub fn new(cone: FrictionCone, cone_residual: f64, cone_error: Option<f64>) -> Self {
        Self {
            cone,
            cone_residual,
            cone_error,
        }
    }

    /// Combines the polygon errors of two parts of a system that share no body: the larger residual, and the root of the sum
    /// of the squared errors.
    pub fn beside(self, other: &Self) -> Self {
        let errors = self.cone_error.zip(other.cone_error);
        Self {
            cone: self.cone,
            cone_residual: f64::max(self.cone_residual, other.cone_residual),
            cone_error: errors.map(|(one, other)| libm::hypot(one, other)),
        }
    }
}

/// Diagnostics of the laws that integrate the impact of one frictional contact through compression and restitution.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct FrictionalDiagnostics {
    /// Inverse inertia matrix of the contact, tangents first. Planar and frictionless contacts
    /// are embedded in the matrix of a contact in space.
    pub inertia: ContactInertia,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// The impact in contact axes with its events; `None` if there was no impact.
    pub impact: Option<ContactImpact>,
}

impl FrictionalDiagnostics {
    /// Creates the diagnostics from the inverse inertia of the contact, its friction coefficient, and its impact.
    pub fn new(inertia: ContactInertia, friction: f64, impact: Option<ContactImpact>) -> Self {
        Self {
            inertia,
            friction,
            impact,
        }
    }
}

/// Diagnostics of the laws for frictionless contacts of systems with nonholonomic velocity constraints.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct NonholonomicDiagnostics {
    /// Ratio $-u(v^+)/u(v^-)$ of the normal velocities $u(v)$ at the contact that was hit first; `None` without an impact.
    pub effective_restitution: Option<f64>,
    /// $\cos^2\beta$ of that contact, with the angle $\beta$ between the contact normal and the constraint distribution.
    pub cos2_beta: Option<f64>,
    /// Contacts in the order of their impacts.
    pub sequence: Vec<usize>,
}

/// Diagnostics of an outcome of the propagative law, which resolves a simultaneous impact as a sequence of single impacts.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct PropagativeDiagnostics {
    /// Contacts in the order of the elementary impacts (one of the shortest orders if several lead
    /// to this outcome); `None` above `SEQUENCE_LIMIT` impacts.
    pub sequence: Option<Vec<usize>>,
    /// Number of elementary impacts.
    pub impacts: u64,
    /// Number of distinct orders that lead to this outcome (1 if only one was followed; saturating). With orders drawn at
    /// random: the number of drawn orders that led here.
    pub n_sequences: u64,
    /// Lengths of those orders, ascending; empty if only one was followed.
    pub lengths: Vec<u64>,
    /// Position of the outcome on the segment from the plastic outcome (0) to the elastic one (1).
    pub alpha: f64,
    /// Contacts with a pulling impulse.
    pub adhesive: Vec<usize>,
}

/// Set of all outcomes that were found for one impact, with their spread.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct OutcomeSet {
    /// The outcomes, shortest sequence first. If the set is incomplete or has more than `MAX_OUTCOMES` members, a subset in
    /// another order: the two outcomes farthest apart, the preferred one, then repeatedly the outcome farthest from those
    /// already listed, so that the subset spreads as far as the set.
    pub outcomes: Vec<ImpactOutcome>,
    /// Index of the outcome that the selection rule of the law prefers.
    pub preferred: Option<usize>,
    /// Indeterminacy: diameter of the set over the norm of the momentum before,
    /// $\xi = \max \lVert p_i - p_j\rVert / \lVert p^-\rVert$. For an incomplete set it is computed from the outcomes
    /// found and is a lower bound.
    pub indeterminacy: f64,
    /// True if every order of impacts was followed to its end.
    pub complete: bool,
    /// Number of distinct outcomes that were found but are not listed.
    pub omitted: usize,
    /// Statistics of orders drawn at random; `None` if all orders were followed.
    pub drawn: Option<DrawnOrders>,
}

impl OutcomeSet {
    /// Creates the set of outcomes that a search has found, the preferred one first, with their
    /// [indeterminacy](Self::indeterminacy). The set may lack outcomes.
    pub fn new(outcomes: Vec<ImpactOutcome>, indeterminacy: f64) -> Self {
        Self {
            preferred: (!outcomes.is_empty()).then_some(0),
            outcomes,
            indeterminacy,
            complete: false,
            omitted: 0,
            drawn: None,
        }
    }
}

/// Statistics of orders of single impacts that were drawn at random. Orders are drawn if there are too many to follow all of
/// them, or if the caller asked for random orders.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct DrawnOrders {
    /// Number of orders followed to their end.
    pub orders: u64,
    /// Fraction of the orders whose outcome no other drawn order reached: the Good-Turing estimate of the
    /// probability that the next order brings a new outcome (Good, *Biometrika*, 1953).
    pub new_outcome_rate: f64,
}

impl DrawnOrders {
    /// Creates the statistics from the number of orders, and the fraction whose outcome no other order reached.
    pub fn new(orders: u64, new_outcome_rate: f64) -> Self {
        Self {
            orders,
            new_outcome_rate,
        }
    }
}
