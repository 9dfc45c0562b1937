//! Derivatives of impacts: the exact Jacobian of the law that ran, and what it is worth.
//!
//! Every impact but that of one curved sliding contact is a chain of stages. A stage imposes, in a
//! fixed mode of its contacts,
//!
//! $$ M(v' - v) = J^TL, \qquad L = Sx + L_0, \qquad T^T(Jv' + EJv) = 0, $$
//!
//! and differentiating that gives its derivative along any change of velocity, mass matrix, rows,
//! friction and restitution, with one factorization of $K = T^TJM^{-1}J^TS$ for all of them. A
//! change $dq$ of the configuration is $dM = (\partial M/\partial q)dq$,
//! $dJ = (\partial J/\partial q)dq$.
//!
//! A law decides: which contact is hit next, which push, stick and slide. Each decision is an
//! inequality $c_r(v^-) > 0$, and
//!
//! $$ \delta_r = \frac{|c_r|}{\lVert\partial c_r/\partial v^-\rVert_{M^{-1}} |v^-|_M} $$
//!
//! is the part of the velocity by which it is missed; the least of them is the *margin*. Decisions
//! that are nearly tied are taken both ways. What differs then are the *pieces*: the limits of
//! outcome and Jacobian from the regions around the velocity. One piece makes the map smooth;
//! several with one outcome make a kink, their derivatives the Bouligand differential (Scholtes,
//! *Introduction to piecewise differentiable equations*, 2012); several outcomes are a jump.
//!
//! # Examples
//!
//! Two equal balls at restitution 1 exchange their velocities, and so do the derivatives:
//!
//! ```
//! use carom_derivative::{Differentiability, Wrt, differentiate};
//! use carom_impact::{Contact, ContactSet, ImpactProblem, Propagative};
//! use carom_metric::{Covector, KineticMetric, Tangent};
//! use nalgebra::{DMatrix, dmatrix};
//! let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
//! let contact = Contact::frictionless(Covector::from_slice(&[-1.0, 1.0]));
//! let contacts = ContactSet::new(&metric, vec![contact])?;
//! let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0]))?;
//! let law = Propagative::default();
//! let (_, derivative) = differentiate(&law, &problem, &Wrt::ALL, 1e-9)?;
//! assert_eq!(derivative.class(), Some(Differentiability::Smooth));
//! let exchanged = dmatrix![0.0, 1.0; 1.0, 0.0];
//! assert!((derivative.dv_dv().ok_or("kink")? - exchanged).amax() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adjoint;
mod alternatives;
mod assemble;
mod at_once;
mod blend;
mod branch;
mod chain;
mod cover;
mod form;
mod frame;
mod friction;
mod interior;
mod laws;
mod mode;
mod probe;
mod pull_back;
mod reading;
mod saltation;
mod scale;
pub mod sensitivity;
mod shift;
mod sliding;
mod stage;
mod ways;

pub use adjoint::{Cotangent, Gradient};
pub use saltation::saltation;

// Crates whose types stand in signatures here.
pub use carom_contact as contact;
pub use carom_impact as impact;
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

use blend::{Blend, chain_along};
use branch::{Found, Ties, Walk};
use carom_contact::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem};
use carom_impact::plastic::PlasticRule;
use carom_metric::Tangent;
use frame::{Frame, Variation};
use nalgebra::{DMatrix, DVector};
use reading::Cones;
use sliding::Sliding;
use stage::Stage;
use std::sync::{Arc, OnceLock};

/// Largest tolerance of ties, over the velocity that contacts see: beyond it most decisions are ties.
pub const MAX_TOLERANCE: f64 = 1e-3;

/// Outcomes closer than this fraction of the motion that contacts see are one.
const SAME_OUTCOME: f64 = 1e-9;

/// Whitened Jacobians whose entries differ by less than this, over the largest or one, are one.
const SAME_JACOBIAN: f64 = 1e-7;

/// Distance of the end of the stages from the law's own outcome, over the motion that contacts see, at most.
const SAME_WAY: f64 = 1e-7;

/// Dependence of an outcome on the velocity before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differentiability {
    /// The Jacobian is the derivative.
    Smooth,
    /// The outcome is continuous, its derivative is not.
    Kink,
    /// The outcome itself jumps.
    Jump,
}

impl Differentiability {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smooth => "smooth",
            Self::Kink => "kink",
            Self::Jump => "jump",
        }
    }
}

/// With respect to what derivatives are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrt {
    /// The velocity before.
    pub velocity: bool,
    /// The friction coefficients of the contacts.
    pub friction: bool,
    /// The restitutions of the contacts, or that of the event.
    pub restitution: bool,
}

impl Wrt {
    /// All of them.
    pub const ALL: Self = Self {
        velocity: true,
        friction: true,
        restitution: true,
    };
}

/// A direction in which the data of an impact change. What is `None` does not change.
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
    /// Change of the velocity before (n). Under constraints it satisfies $dA v + A dv = 0$.
    pub velocity: Option<DVector<f64>>,
    /// Change of the mass matrix (n × n, symmetric).
    pub mass: Option<DMatrix<f64>>,
    /// Change of the contact rows (rows × n), contact by contact: normal, tangents.
    pub rows: Option<DMatrix<f64>>,
    /// Changes of the friction coefficients (contacts).
    pub friction: Option<DVector<f64>>,
    /// Changes of the contacts' restitutions (contacts).
    pub restitution: Option<DVector<f64>>,
    /// Change of the restitution of the whole event.
    pub event_restitution: f64,
    /// Change of the constraint one-forms (constraints × n).
    pub constraints: Option<DMatrix<f64>>,
}

/// The derivative along a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionalDerivative {
    /// Derivative of the velocity after (n); `None` where it does not exist, see [`reason`](Self::reason).
    pub velocity_plus: Option<DVector<f64>>,
    /// Derivative of the impulses on the contact rows as given; `None` where contacts depend on each other.
    pub impulses: Option<DVector<f64>>,
    /// Why there is no derivative: `"dependent-contacts"` where the direction breaks a dependency
    /// of contacts that push, `"near-tied-plastic"` where restitution would have to choose between
    /// plastic outcomes.
    pub reason: Option<&'static str>,
}

/// A limit of outcome and Jacobian from one of the regions around a velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Velocity after (n).
    pub velocity_plus: DVector<f64>,
    /// Jacobian by the velocity before (n × n).
    pub dv_dv: DMatrix<f64>,
    /// A direction (n) into the region, of unit kinetic length.
    pub direction: DVector<f64>,
}

/// The derivative of an outcome.
#[derive(Clone, Debug)]
pub struct Derivative<'p> {
    frame: Frame<'p>,
    /// The law's own way to the outcome; `None` where the outcome is a member of a continuum.
    own: Option<Walk>,
    /// True if one restitution holds for the whole event.
    is_event_wide: bool,
    /// Effect that a restitution below 1 would have on an elastic outcome.
    to_plastic: Option<ToPlastic>,
    /// The effect of restitution, computed when it is first asked for.
    towards: OnceLock<Option<Box<Blend>>>,
    class: Option<Differentiability>,
    /// Distance (kinetic norm) of the nearest decision that the way makes.
    nearest: f64,
    /// Part of the motion that contacts see within which decisions are tied.
    tolerance: f64,
    /// Velocity (kinetic norm) in the frame in which laws see the impact, over that in the frame given.
    seen_part: f64,
    work: u64,
    scope: OnceLock<Scope>,
    is_complete: bool,
    answers: Answers,
    reason: Option<&'static str>,
    pieces: Vec<Piece>,
    own_jacobians: Jacobians,
}

/// Jacobians of one piece. `None` stands for those that were not asked for and those that do not exist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jacobians {
    /// Velocity after by the velocity before (n × n).
    pub dv_dv: Option<DMatrix<f64>>,
    /// Velocity after by the friction coefficients (n × contacts).
    pub dv_dfriction: Option<DMatrix<f64>>,
    /// Velocity after by the restitutions: n × contacts, or n × 1 where one holds for the event.
    pub dv_drestitution: Option<DMatrix<f64>>,
    /// Impulses on the contact rows as given by the velocity before (rows × n).
    pub dimpulses_dv: Option<DMatrix<f64>>,
}

/// A law that knows its derivative.
pub trait DifferentiableLaw: ImpactLaw {
    /// The ways that an impact can take near its outcome. `is_member` says that the outcome is one
    /// of a set, whose order of impacts no rule has selected.
    ///
    /// # Errors
    ///
    /// The errors of [`resolve`](ImpactLaw::resolve); [`ImpactError::NotDifferentiated`].
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError>;

    /// True if one restitution holds for the whole event instead of one for each contact.
    fn has_event_restitution(&self) -> bool {
        false
    }
}

/// The ways that an impact can take near its outcome, the law's own first.
#[derive(Clone, Debug)]
pub struct Branches<'p> {
    frame: Frame<'p>,
    ways: Vec<Walk>,
    is_complete: bool,
    /// Effect that a restitution below 1 would have on an elastic outcome.
    to_plastic: Option<ToPlastic>,
    /// True if the outcome is homogeneous of degree 1 in the velocity.
    is_homogeneous: bool,
    /// True if the outcome is known to kink whatever the pieces.
    is_kink: bool,
    /// True if the law was seen to answer in every direction without a jump; `None` if it was not asked.
    is_continuous: Option<bool>,
    answers: Answers,
    reason: Option<&'static str>,
    /// Units of work that the ways have taken.
    work: u64,
}

/// Proven scope of the branches around a velocity.
#[derive(Clone, Copy, Debug)]
struct Scope {
    is_unique: Option<bool>,
    /// Part of the velocity within which the derivative holds; infinite where nothing is decided.
    margin: Option<f64>,
}

/// Number of answers that a law may have to one velocity.
#[derive(Clone, Debug)]
enum Answers {
    /// One: what it decides it is tested for.
    One,
    /// One, up to a decision whose distance is not known.
    OneSomewhere,
    /// Answers of complementarity problems, one for each stage: its contacts, and caps on their normal impulses.
    Modes {
        cones: Cones,
        /// True if contacts may ask for restitution.
        rebounds: bool,
        steps: Steps,
    },
}

/// Stages that complementarity problems decide.
#[derive(Clone, Debug)]
enum Steps {
    /// One, of all contacts.
    AtOnce,
    /// Each stage of the way.
    Each(Vec<StepContacts>),
}

/// Contacts of a stage that act at once, and caps on their normal impulses; empty for none.
#[derive(Clone, Debug, Default)]
struct StepContacts {
    members: Vec<usize>,
    caps: Vec<f64>,
}

/// The plastic outcome that a restitution below 1 refers to, and near ties on the way there.
#[derive(Clone, Copy, Debug)]
struct ToPlastic {
    rule: PlasticRule,
    ties: Ties,
}

/// Map from the velocity before to that after.
#[derive(Clone, Debug)]
enum Map {
    /// The stages of the walk.
    Chain,
    /// Between a plastic and an elastic outcome.
    Blend(Box<Blend>),
    /// Map of one contact that may slide.
    Sliding(Box<Sliding>),
    /// The derivatives of the walk, which are limits from a region.
    Limit,
}

impl<'p> Branches<'p> {
    fn new(frame: Frame<'p>, ways: Vec<Walk>) -> Self {
        Self {
            frame,
            ways,
            is_complete: true,
            to_plastic: None,
            is_homogeneous: true,
            is_kink: false,
            is_continuous: None,
            answers: Answers::One,
            reason: None,
            work: 0,
        }
    }

    fn of_chains(frame: Frame<'p>, found: Found) -> Self {
        Self {
            is_complete: found.is_complete,
            work: found.work,
            ..Self::new(frame, found.walks)
        }
    }

    /// Branches of an outcome that is a member of a continuum.
    fn family(frame: Frame<'p>) -> Self {
        Self {
            reason: Some("family"),
            is_complete: false,
            ..Self::new(frame, Vec::new())
        }
    }
}

impl Walk {
    /// True if impulses can be shifted between contacts.
    fn is_dependent(&self) -> bool {
        match &self.map {
            Map::Chain => self.stages.iter().any(|s| s.is_dependent),
            Map::Blend(blend) => blend.stages().any(|stage| stage.is_dependent),
            Map::Sliding(_) | Map::Limit => false,
        }
    }

    /// The chains of stages that the outcome is made of.
    fn chains(&self) -> Vec<&[Arc<Stage>]> {
        match &self.map {
            Map::Chain => vec![&self.stages],
            Map::Blend(blend) => blend.chains().to_vec(),
            Map::Sliding(_) | Map::Limit => Vec::new(),
        }
    }

    /// True if the way says what friction and restitution change: the limits of a sliding contact do not.
    fn knows_coefficients(&self) -> bool {
        !matches!(self.map, Map::Limit)
    }

    /// True if no contact acts.
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

/// True if two whitened Jacobians are one. That of nothing happening has entries of one.
fn are_one(a: &DMatrix<f64>, b: &DMatrix<f64>) -> bool {
    let size = a.amax().max(b.amax()).max(1.0);
    (a - b).amax() <= SAME_JACOBIAN * size
}

/// Resolves an impact and differentiates the outcome. Decisions within `tolerance` of a tie, as
/// part of the velocity before, are taken both ways.
///
/// # Errors
///
/// The errors of the law; [`ImpactError::InvalidOption`] for a tolerance outside (0, 1e-3];
/// [`ImpactError::NotDifferentiated`] where the derivative is not known.
pub fn differentiate<'p>(
    law: &dyn DifferentiableLaw,
    problem: &'p ImpactProblem<'p>,
    wrt: &Wrt,
    tolerance: f64,
) -> Result<(ImpactOutcome, Derivative<'p>), ImpactError> {
    let outcome = law.resolve(problem)?;
    let derivative = of_outcome(law, problem, &outcome, false, wrt, tolerance)?;
    Ok((outcome, derivative))
}

/// Differentiates an outcome of a law; one of a set of outcomes (`is_member`) along the order of
/// impacts that it records.
///
/// # Errors
///
/// The errors of [`differentiate`].
pub fn of_outcome<'p>(
    law: &dyn DifferentiableLaw,
    problem: &'p ImpactProblem<'p>,
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
    let is_event_wide = law.has_event_restitution();
    // In the frame in which laws see the impact, where rounding of the frame given hides nothing.
    let event = problem.event();
    if std::ptr::eq(event, problem) {
        let branches = law.branches(problem, outcome, is_member, tolerance)?;
        return Derivative::new(branches, outcome, wrt, tolerance, is_event_wide);
    }
    let given = problem.velocity_minus();
    let frame = &given.0 - &event.velocity_minus().0;
    let mut seen = outcome.clone();
    seen.velocity_plus.0 -= &frame;
    let branches = law.branches(event, &seen, is_member, tolerance)?;
    let mut derivative = Derivative::new(branches, &seen, wrt, tolerance, is_event_wide)?;
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
    /// Effect of restitution on an elastic outcome; `None` if the plastic one is nearly tied.
    fn towards_plastic(&self) -> Option<&Blend> {
        let (to, way) = (self.to_plastic?, self.own.as_ref()?);
        let found = || laws::towards_plastic(&self.frame, way, to).map(Box::new);
        self.towards.get_or_init(found).as_deref()
    }

    /// The law's own way, if the outcome depends smoothly on the velocity.
    fn smooth_way(&self) -> Option<&Walk> {
        let is_smooth = self.class == Some(Differentiability::Smooth);
        self.own.as_ref().filter(|_| is_smooth)
    }

    /// The Jacobians, if the outcome depends smoothly on the velocity.
    fn smooth(&self) -> Option<&Jacobians> {
        self.smooth_way().map(|_| &self.own_jacobians)
    }

    /// The Jacobians of the piece that the law's own tie rule answers: where the map is smooth those of the map;
    /// at a kink or a jump those of the first of the [`pieces`](Self::pieces). `None` where there is no
    /// derivative.
    pub fn own_piece(&self) -> Option<&Jacobians> {
        self.own.as_ref().map(|_| &self.own_jacobians)
    }

    /// Class of the outcome's dependence on the velocity before; `None` where it is a member of a continuum.
    pub fn class(&self) -> Option<Differentiability> {
        self.class
    }

    /// Part of the velocity before (kinetic norm) by which it can change, in any direction, without a decision
    /// of the law: the Jacobian is exact up to there, and where friction cones are round the map is smooth.
    ///
    /// For a kink or jump, the distance of its decision. `None` where nothing is decided at any distance, where the
    /// outcome is a member of a continuum, and where no such distance is proven (see
    /// [`is_unique`](Self::is_unique)).
    pub fn margin(&self) -> Option<f64> {
        self.scope().margin.filter(|margin| margin.is_finite())
    }

    /// Jacobian $\partial v^+_i/\partial v^-_j$ (n × n), on the velocities that the constraints
    /// admit; `None` unless smooth and asked for.
    pub fn dv_dv(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dv_dv.as_ref()
    }

    /// Jacobian by the friction coefficients (n × contacts).
    pub fn dv_dfriction(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dv_dfriction.as_ref()
    }

    /// Jacobian by the restitutions: n × contacts, or n × 1 where one holds for the event.
    pub fn dv_drestitution(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dv_drestitution.as_ref()
    }

    /// Jacobian of the impulses on the contact rows as given by the velocity before (rows × n);
    /// `None` where contacts depend on each other.
    pub fn dimpulses_dv(&self) -> Option<&DMatrix<f64>> {
        self.smooth()?.dimpulses_dv.as_ref()
    }

    /// The limits of outcome and Jacobian, the law's own first; empty where the map is smooth.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Units of work that the search for pieces took, about a multiply-add each: counted, not timed.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// True if the pieces are all.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// True if the law has one answer alone up to the nearest decision of that answer.
    ///
    /// Complementarity problems with friction may have several solutions. Each belongs to a mode of the
    /// contacts that a few inequalities decide for; the answer is unique if the velocities of every mode of another
    /// Jacobian are farther away than the nearest decision. If not, the law may go over to one of them, and the
    /// margin ends where the first of them begins; it is `None` if that is at the velocity itself. `None` where
    /// the map is not smooth, and where modes are a continuum (round cones in space) or more than 1024.
    pub fn is_unique(&self) -> Option<bool> {
        self.smooth_way()?;
        self.scope().is_unique
    }

    /// Why there is no derivative: `"family"` of an outcome that is a member of a continuum.
    pub fn reason(&self) -> Option<&'static str> {
        self.reason
    }

    /// The derivative along a direction; `None` unless the map is smooth.
    ///
    /// # Errors
    ///
    /// [`ImpactError::InvalidDirection`] for parts of the wrong size.
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
                reason: Some(reason),
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
