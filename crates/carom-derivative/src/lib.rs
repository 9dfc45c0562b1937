//! Derivatives of impacts: the exact Jacobian of the law that ran, and the range in which it is valid.
//!
//! Every impact except that of one curved sliding contact is a chain of stages. A stage imposes, in a fixed mode of its
//! contacts,
//!
//! $$ M(v' - v) = J^TL, \qquad L = Sx + L_0, \qquad T^T(Jv' + EJv) = 0, $$
//!
//! on the velocities $v$ before and $v'$ after it. $M$ is the mass matrix, $J$ the rows of contacts and constraints, $L$
//! their impulses, $x$ the unknowns of the mode, $S$ and $T$ its columns, $L_0$ impulses that the mode prescribes, and
//! $E$ the restitutions. Differentiating these equations gives the derivative along any change of velocity, mass matrix,
//! rows, friction and restitution, with one factorization of $K = T^TJM^{-1}J^TS$ for all of them. A change $dq$ of the
//! configuration is $dM = (\partial M/\partial q)dq$, $dJ = (\partial J/\partial q)dq$.
//!
//! A law makes decisions: which contact is hit next, which contacts push, stick and slide. Each decision is an inequality
//! $c_r(v^-) > 0$ on the velocity before the impact, and
//!
//! $$ \delta_r = \frac{|c_r|}{\lVert\partial c_r/\partial v^-\rVert_{M^{-1}} |v^-|_M} $$
//!
//! is the relative change of the velocity that reverses it; the smallest of these changes is the *margin*. A decision at
//! equality is *tied*. The law is then evaluated in the cells of velocities around the tie. If the results differ, they are the
//! *pieces*: the limits of outcome and Jacobian from these cells. With one piece the map is smooth; several pieces with one outcome
//! are a kink, and their derivatives form the Bouligand differential (Scholtes, *Introduction to piecewise differentiable
//! equations*, 2012); several outcomes are a jump. Unless the pieces are asked for, kinks and jumps are told by the ties alone.
//!
//! Ties and tolerances are relative to the motion that contacts can change: the part of the velocity in the span of the rows of
//! contacts and constraints, in the kinetic metric. A decision about a value that rounding of the data hides is a tie, in any
//! coordinates.
//!
//! With friction a law can have several answers to one velocity, and its solver may go over to another one before a decision of
//! the first changes. A margin is given only where all modes of the contacts have maps of one orientation: then each velocity has one
//! answer.
//!
//! Contacts that depend on each other can share their impulses in many ways, of which the law gives one. If the answer is unique, a
//! decision is made if any of these ways makes it. Strikes without restitution that stop each other from closing contacts never
//! end; where a law cuts them off, the derivative is that of their limit, in which these contacts are closed.
//!
//! A law from outside has no stages that could be followed: [`by_differences`] asks it nearby instead, and estimates the error.
//!
//! # Examples
//!
//! Two equal balls at restitution 1 exchange their velocities, and so do the derivatives:
//!
//! ```
//! use carom_derivative::{Differentiability, Wrt, differentiate};
//! use carom_impact::{Contact, ContactSet, ImpactProblem, Propagative};
//! use carom_metric::{Covector, KineticMetric, Tangent};
//! use nalgebra::DMatrix;
//! let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
//! let contact = Contact::frictionless(Covector::from_slice(&[-1.0, 1.0]));
//! let contacts = ContactSet::new(&metric, vec![contact])?;
//! let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0]))?;
//! let law = Propagative::default();
//! let (_, derivative) = differentiate(&law, &problem, &Wrt::ALL, 1e-9)?;
//! assert_eq!(derivative.class(), Some(Differentiability::Smooth));
//! let exchanged = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0]);
//! assert!((derivative.dv_dv().ok_or("kink")? - exchanged).amax() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adjoint;
mod assemble;
mod blend;
mod branch;
mod chain;
mod decision;
mod differences;
mod form;
mod frame;
mod friction;
mod independent;
mod laws;
mod mode;
mod orientation;
mod pull_back;
mod reading;
mod saltation;
mod scale;
pub mod sensitivity;
mod sequential;
mod shift;
mod sides;
mod sliding;
mod stage;
mod tolerances;
mod wrt;

pub use adjoint::{Cotangent, Gradient};
pub use differences::{Differences, by_differences};
pub use saltation::saltation;
pub use wrt::{Differentiability, Direction, DirectionalDerivative, Tie, TieKind, Wrt};

// Crates whose types appear in signatures of this crate.
pub use carom_contact as contact;
pub use carom_impact as impact;
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

use blend::{Blend, chain_along};
use branch::Walk;
use carom_contact::{ContactIndex, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};
use carom_impact::PlasticRule;
use carom_metric::Tangent;
use frame::{Frame, Variation};
use nalgebra::{DMatrix, DVector};
use reading::Cones;
use sliding::Sliding;
use stage::Stage;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Largest value that the `tolerance` of [`differentiate`] may have. The tolerance is the relative change of the velocity
/// that may reverse a decision of the law which counts as tied. The change is relative to the part of the velocity in the
/// span of the rows of contacts and constraints. With a larger tolerance most decisions would be ties.
pub const MAX_TOLERANCE: f64 = 1e-3;

/// Difference up to which two whitened Jacobians count as equal, relative to the largest entry or to one, and the end of the
/// stages and the law's own outcome, relative to the motion that contacts can change.
const SAME_JACOBIAN: f64 = 1e-7;

/// Velocity and Jacobian of an outcome at a kink or a jump of the law, as limits from one region of velocities. The
/// velocities before the impact around the kink or jump form several regions, in each of which the law is smooth. Each
/// region gives one piece.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Piece {
    /// Velocity after the impact (n entries).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub velocity_plus: DVector<f64>,
    /// Jacobian with respect to the velocity before the impact (n × n).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub dv_dv: DMatrix<f64>,
    /// Direction of velocity change (n entries, unit kinetic norm) that leads into the region of this piece.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub direction: DVector<f64>,
}

/// Derivative of the outcome of an impact with respect to the data of the impact, computed by [`differentiate`]. The struct
/// also knows the regularity of the outcome (smooth, kink or jump) and the [`margin`](Self::margin), the size of the
/// neighborhood in which the derivative is valid.
#[derive(Clone, Debug)]
pub struct Derivative<'p> {
    frame: Frame<'p>,
    /// Branch that the law itself takes to the outcome; `None` if the outcome is a member of a continuum of outcomes.
    own: Option<Walk>,
    /// True if one restitution applies to the whole event.
    is_event_wide: bool,
    /// Plastic outcome to which a restitution below 1 would refer, for an elastic outcome.
    to_plastic: Option<ToPlastic>,
    /// Effect of restitution, computed on first use.
    towards: OnceLock<Option<Box<Blend>>>,
    class: Option<Differentiability>,
    /// Smallest change of the velocity (kinetic norm) that changes a decision on the branch.
    nearest: f64,
    /// False if the distance of some decision is not known.
    is_bounded: bool,
    /// Norm of the velocity (kinetic) in the moving frame in which laws are evaluated, divided by the norm in the
    /// caller's frame.
    seen_part: f64,
    work: u64,
    scope: OnceLock<Scope>,
    is_complete: bool,
    answers: Answers,
    reason: Option<&'static str>,
    ties: Vec<Tie>,
    pieces: Vec<Piece>,
    own_jacobians: Jacobians,
}

/// Jacobian matrices of the outcome of an impact on one smooth piece of the law. A Jacobian is `None` if it was not asked
/// for or does not exist.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Jacobians {
    /// Velocity after the impact with respect to the velocity before (n × n).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub dv_dv: Option<DMatrix<f64>>,
    /// Velocity after the impact with respect to the friction coefficients (n × contacts).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub dv_dfriction: Option<DMatrix<f64>>,
    /// Velocity after the impact with respect to the restitutions: n × contacts, or n × 1 if one restitution holds for
    /// the event.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub dv_drestitution: Option<DMatrix<f64>>,
    /// Impulses for the given contact rows with respect to the velocity before the impact (rows × n).
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub dimpulses_dv: Option<DMatrix<f64>>,
}

/// Outcome of an impact, with the meaning of its branch: the argument of a [`DifferentiableLaw`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Query<'o, 'p> {
    /// Impact that was resolved.
    pub problem: &'p ImpactProblem,
    /// Outcome that the law has given for this impact.
    pub outcome: &'o ImpactOutcome,
    /// True if the outcome is a member of a set of outcomes: its branch follows the order of impacts recorded in it.
    pub is_member: bool,
    /// Relative change of the velocity up to which a decision of the law that the change reverses counts as tied.
    pub tolerance: f64,
}

/// An impact law whose outcomes can be differentiated. An implementor returns the branch of the law that leads to an outcome: its
/// stages and decisions. [`differentiate`] computes the derivative from this branch.
pub trait DifferentiableLaw: ImpactLaw {
    /// Finds the branch of the law that leads to the outcome of `query`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`resolve`](ImpactLaw::resolve), and [`ImpactError::NotDifferentiated`] if the derivative is
    /// not known.
    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError>;

    /// Resolves the impact `moved`, which differs from the impact of `query` by a small change of the velocity, with the random
    /// numbers of the outcome of `query`. By default the law resolves `moved` as any other impact: it draws no random numbers.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`resolve`](ImpactLaw::resolve), and [`ImpactError::NotDifferentiated`] if it is not known which
    /// outcome of `moved` belongs to a member.
    fn near(
        &self,
        query: Query<'_, '_>,
        moved: &ImpactProblem,
    ) -> Result<ImpactOutcome, ImpactError> {
        if query.is_member {
            return Err(ImpactError::NotDifferentiated {
                reason: "a member of a set of outcomes is not followed to other velocities",
            });
        }
        self.resolve(moved)
    }

    /// Returns true if this law has one restitution for the whole event instead of one for each contact. By default the
    /// result is false.
    fn has_event_restitution(&self) -> bool {
        false
    }
}

/// Branch of an impact law that leads to an outcome, returned by a [`DifferentiableLaw`]: a sequence of decisions of the law, for
/// example between sticking and sliding, with the smooth map from the velocity before the impact to that after it.
#[derive(Clone, Debug)]
pub struct Branch<'p> {
    frame: Frame<'p>,
    /// The branch; `None` if the outcome is a member of a continuum of outcomes.
    walk: Option<Walk>,
    /// False if infinitely many pieces meet at the outcome.
    is_complete: bool,
    /// Plastic outcome to which a restitution below 1 would refer, for an elastic outcome.
    to_plastic: Option<ToPlastic>,
    /// True if the outcome is homogeneous of degree 1 in the velocity.
    is_homogeneous: bool,
    /// True if the outcome is known to have a kink, even if the pieces do not show it.
    is_kink: bool,
    answers: Answers,
    reason: Option<&'static str>,
}

/// Range around a velocity in which the derivative and the uniqueness of the answer are proven.
#[derive(Clone, Copy, Debug)]
struct Scope {
    is_unique: Option<bool>,
    /// Relative change of the velocity up to which the derivative is proven; infinite if no decision is made.
    margin: Option<f64>,
}

/// Number of answers that a law may have to one velocity.
#[derive(Clone, Debug)]
enum Answers {
    /// The law has one answer; its decisions are those of the branch.
    One,
    /// The law has one answer, up to a decision whose distance is not known.
    OneSomewhere,
    /// The answers are those of complementarity problems, which may have several.
    Steps {
        cones: Cones,
        /// True if the normal impulses of the steps are bounded.
        has_caps: bool,
        /// Contacts that act simultaneously, for each problem.
        steps: Vec<Vec<ContactIndex>>,
    },
}

/// Plastic outcome to which a restitution below 1 refers, with the relative tolerance of its ties.
#[derive(Clone, Copy, Debug)]
struct ToPlastic {
    rule: PlasticRule,
    tolerance: f64,
}

/// Map from the velocity before the impact to the velocity after it.
#[derive(Clone, Debug)]
enum Map {
    /// The stages of the branch.
    Chain,
    /// Interpolation between a plastic and an elastic outcome.
    Blend(Box<Blend>),
    /// Map of one contact that may slide.
    Sliding(Box<Sliding>),
    /// Only the derivatives of the branch, which are limits from a region.
    Limit,
}

impl<'p> Branch<'p> {
    fn new(frame: Frame<'p>, walk: Walk) -> Self {
        Self {
            frame,
            walk: Some(walk),
            is_complete: true,
            to_plastic: None,
            is_homogeneous: true,
            is_kink: false,
            answers: Answers::One,
            reason: None,
        }
    }

    /// Creates the branch of an outcome that is a member of a continuum of outcomes and has no derivative.
    fn family(frame: Frame<'p>) -> Self {
        let walk = Walk::new(&frame);
        Self {
            walk: None,
            reason: Some("family"),
            is_complete: false,
            ..Self::new(frame, walk)
        }
    }
}

impl Walk {
    /// True if contacts on this branch depend on each other linearly, so that their impulses are not unique.
    fn is_dependent(&self) -> bool {
        match &self.map {
            Map::Chain => self.stages.iter().any(|s| s.is_dependent),
            Map::Blend(blend) => blend.stages().any(|stage| stage.is_dependent),
            Map::Sliding(_) | Map::Limit => false,
        }
    }

    /// Returns the chains of stages on this branch. A stage is a part of an impact with fixed contact modes. An outcome
    /// that blends a plastic and an elastic outcome has two chains, that of the plastic and that of the elastic outcome.
    /// All others have one chain; the list is empty if the branch has no stages.
    fn chains(&self) -> Vec<&[Arc<Stage>]> {
        match &self.map {
            Map::Chain => vec![&self.stages],
            Map::Blend(blend) => blend.chains().to_vec(),
            Map::Sliding(_) | Map::Limit => Vec::new(),
        }
    }

    /// True if derivatives with respect to friction and restitution are known on this branch. These derivatives are
    /// not known if the Jacobian of the branch is only a limit, or was found by evaluating the law nearby.
    fn knows_coefficients(&self) -> bool {
        !matches!(self.map, Map::Limit)
    }

    /// True if no contact has an impulse on this branch.
    fn is_quiet(&self) -> bool {
        match &self.map {
            Map::Chain => self.stages.iter().all(|s| s.is_quiet()),
            Map::Blend(blend) => blend.stages().all(|s| s.is_quiet()),
            Map::Sliding(_) => false,
            Map::Limit => self.impulses.amax() == 0.0,
        }
    }

    fn along(
        &self,
        frame: &Frame<'_>,
        variation: &Variation,
    ) -> (DVector<f64>, DVector<f64>, bool) {
        match &self.map {
            Map::Chain => chain_along(frame, &self.stages, variation),
            Map::Blend(blend) => blend.along(frame, variation),
            Map::Sliding(sliding) => {
                let (velocity, impulse) = sliding.along(frame, variation);
                (velocity, impulse, true)
            }
            Map::Limit => {
                let start = variation.start(frame.dim());
                (&self.jacobian * &start, &self.impulses * start, true)
            }
        }
    }
}

/// Resolves an impact with a law, and differentiates the outcome with respect to the data selected by `wrt`.
///
/// A decision of the law, for example between sticking and sliding, counts as tied if a small change of the velocity before
/// the impact reverses it. A change is small if it is at most the fraction `tolerance` of the part of the velocity in the
/// span of the rows of contacts and constraints. At ties the law is evaluated on their sides: the outcome is smooth if all agree.
///
/// # Errors
///
/// Returns the errors of the law; [`ImpactError::InvalidOption`] for a tolerance outside (0, 1e-3];
/// [`ImpactError::NotDifferentiated`] if the derivative is not known.
pub fn differentiate<'p>(
    law: &dyn DifferentiableLaw,
    problem: &'p ImpactProblem,
    wrt: &Wrt,
    tolerance: f64,
) -> Result<(ImpactOutcome, Derivative<'p>), ImpactError> {
    let outcome = law.resolve(problem)?;
    let derivative = of_outcome(law, problem, &outcome, false, wrt, tolerance)?;
    Ok((outcome, derivative))
}

/// Differentiates an outcome that a law has given, with respect to the data selected by `wrt`. If `is_member` is true, the
/// outcome is a member of a set of outcomes, and the derivative follows the order of impacts recorded in the outcome. A
/// decision of the law counts as tied if a relative change of the velocity before the impact by at most `tolerance`
/// reverses it, see [`differentiate`].
///
/// # Errors
///
/// Returns the errors of [`differentiate`].
pub fn of_outcome<'p>(
    law: &dyn DifferentiableLaw,
    problem: &'p ImpactProblem,
    outcome: &ImpactOutcome,
    is_member: bool,
    wrt: &Wrt,
    tolerance: f64,
) -> Result<Derivative<'p>, ImpactError> {
    if !(tolerance > 0.0 && tolerance <= MAX_TOLERANCE) {
        return Err(ImpactError::InvalidOption {
            what: "tolerance",
            value: tolerance,
            allowed: "in (0, 1e-3]",
        });
    }
    // Derivatives are taken in the frame in which laws are evaluated, where the rounding of a fast frame hides nothing.
    let event = problem.event();
    let query = Query {
        problem: event,
        outcome,
        is_member,
        tolerance,
    };
    if std::ptr::eq(event, problem) {
        return Derivative::new(law, query, wrt);
    }
    let given = problem.velocity_minus();
    let frame = &given.0 - &event.velocity_minus().0;
    let mut seen = outcome.clone();
    seen.velocity_plus.0 -= &frame;
    let outcome = &seen;
    let mut derivative = Derivative::new(law, Query { outcome, ..query }, wrt)?;
    derivative.frame.moves = Some(derivative.frame.of_velocity(&frame));
    for piece in &mut derivative.pieces {
        piece.velocity_plus += &frame;
    }
    let metric = problem.contacts().metric();
    let speed = |velocity: &Tangent| metric.whiten_velocity(velocity).map(|v| v.norm());
    derivative.seen_part = speed(event.velocity_minus())? / speed(given)?;
    Ok(derivative)
}

impl Derivative<'_> {
    /// Returns the blend of the plastic and the elastic outcome for the derivative with respect to a restitution of
    /// one. `None` if the impact has another restitution, or if a decision about the plastic outcome is nearly tied (a
    /// tiny change of the velocity reverses it). Computed at the first call, then cached.
    fn towards_plastic(&self) -> Option<&Blend> {
        let (to, way) = (self.to_plastic?, self.own.as_ref()?);
        let found = || laws::towards_plastic(&self.frame, way, to).map(Box::new);
        self.towards.get_or_init(found).as_deref()
    }

    /// Returns the branch that the law itself takes, if the velocity after the impact depends smoothly on the
    /// velocity before it; `None` at a kink, a jump or in a continuum of outcomes.
    fn smooth_way(&self) -> Option<&Walk> {
        let is_smooth = self.class == Some(Differentiability::Smooth);
        self.own.as_ref().filter(|_| is_smooth)
    }

    /// Returns the Jacobians of the outcome, if the velocity after the impact depends smoothly on the velocity before
    /// it; otherwise `None`.
    fn smooth(&self) -> Option<&Jacobians> {
        self.smooth_way().map(|_| &self.own_jacobians)
    }

    /// Returns the Jacobians on the smooth piece of the law to which the outcome belongs. If the law is smooth at this
    /// impact, these are the Jacobians of the law. At a tie the result holds the Jacobians of the piece that the law itself
    /// selects, the first of the [`pieces`](Self::pieces). `None` if the outcome is a member of a continuum of outcomes.
    pub fn own_piece(&self) -> Option<&Jacobians> {
        self.own.as_ref().map(|_| &self.own_jacobians)
    }

    /// Returns the regularity of the outcome (smooth, kink, jump or tied) as a function of the velocity before the impact; `None`
    /// if the outcome is a member of a continuum of outcomes.
    pub fn class(&self) -> Option<Differentiability> {
        self.class
    }

    /// Returns the margin of the outcome: the largest relative change of the velocity before the impact (kinetic norm)
    /// that changes no decision of the law, whatever the direction of the change. A decision is, for example, that
    /// between sticking and sliding. Within the margin the outcome stays on one smooth piece of the law. Except with
    /// round friction cones and with one restitution for the whole event, the outcome is linear there, and the Jacobian
    /// is exact for the whole change.
    ///
    /// At a tie the margin is zero. `None` if no decision is made at any distance, if the outcome is a member of a continuum of
    /// outcomes, or if the answer is not known to be unique (see [`is_unique`](Self::is_unique)).
    pub fn margin(&self) -> Option<f64> {
        self.scope().margin.filter(|margin| margin.is_finite())
    }

    /// Returns the Jacobian $\partial v^+_i/\partial v^-_j$ (n × n) of the velocity $v^+$ after the impact with respect to
    /// the velocity $v^-$ before it, for changes of $v^-$ that satisfy the constraints. `None` if the outcome is not smooth
    /// or this Jacobian was not asked for.
    pub fn dv_dv(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dv_dv.as_ref()
    }

    /// Returns the Jacobian of the velocity after the impact with respect to the friction coefficients (n × contacts);
    /// `None` if this Jacobian does not exist or was not asked for.
    pub fn dv_dfriction(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dv_dfriction.as_ref()
    }

    /// Returns the Jacobian of the velocity after the impact with respect to the restitutions: n × contacts, or n × 1
    /// if one restitution applies to the whole event. `None` if this Jacobian does not exist or was not asked for.
    pub fn dv_drestitution(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dv_drestitution.as_ref()
    }

    /// Returns the Jacobian of the impulses on the caller's contact rows with respect to the velocity before the impact
    /// (rows × n). `None` if contacts depend on each other linearly, if the law is not smooth at this impact, or if this
    /// Jacobian was not asked for.
    pub fn dimpulses_dv(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dimpulses_dv.as_ref()
    }

    /// Returns the decisions of the law at equality within the tolerance, on whose sides it answers differently; empty if the law is
    /// smooth at this impact.
    pub fn ties(&self) -> &[Tie] {
        &self.ties
    }

    /// Returns the pieces of the law at a kink or a jump, if they were [asked for](Wrt::pieces). Each piece belongs to a region of
    /// velocities in which the law is smooth, and holds the limits of the outcome and the Jacobian from that region. The piece that
    /// the law itself selects is the first. The list is empty if the law is smooth at this impact.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the units of work that the search for the smooth pieces of the law around this impact took. One unit is about
    /// one multiply-add; work is counted, not timed.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// True if the law was evaluated on all sides of its ties, so that the list of [`pieces`](Self::pieces) is complete.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns true if the law certainly has one answer to every velocity, so that the margin is the distance to the nearest
    /// decision.
    ///
    /// Complementarity problems with friction may have several solutions, each with its own contact modes. The solution is
    /// unique if the maps of all modes have one orientation. The result is `None` if they do not, if that is not known (round cones
    /// in space, dependent contacts, more than four contacts that interact), and if the outcome is not smooth.
    pub fn is_unique(&self) -> Option<bool> {
        self.smooth_way()?;
        self.scope().is_unique
    }

    /// Returns the reason why the outcome has no derivative, as a stable identifier: `"family"` if the outcome is a
    /// member of a continuum of outcomes; `None` for all other outcomes.
    pub fn reason(&self) -> Option<&'static str> {
        self.reason
    }

    /// Returns the derivative of the outcome (velocity after the impact and impulses) along a direction in which the data
    /// of the impact change. `None` if the law is not smooth at this impact.
    ///
    /// # Errors
    ///
    /// Returns [`ImpactError::InvalidDirection`] for parts of the wrong size, and [`ImpactError::Metric`] for entries that are not
    /// finite.
    pub fn along(
        &self,
        direction: &Direction,
    ) -> Result<Option<DirectionalDerivative>, ImpactError> {
        let variation = self.frame.variation(direction)?;
        let Some(way) = self.smooth_way() else {
            return Ok(None);
        };
        let refused = |reason| {
            Ok(Some(DirectionalDerivative {
                velocity_plus: None,
                impulses: None,
                reason: Some(Cow::Borrowed(reason)),
            }))
        };
        let (mut velocity, mut impulse, is_kept) = way.along(&self.frame, &variation);
        if variation.event != 0.0 && self.to_plastic.is_some() {
            let Some(blend) = self.towards_plastic() else {
                return refused("near-tied-plastic");
            };
            blend.add_restitution(variation.event, &mut velocity, &mut impulse);
        }
        if !is_kept {
            return refused("dependent-contacts");
        }
        Ok(Some(DirectionalDerivative {
            velocity_plus: Some(self.frame.velocity(&velocity)),
            impulses: (!way.is_dependent()).then(|| self.frame.impulses(&impulse)),
            reason: None,
        }))
    }
}
