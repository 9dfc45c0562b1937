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
//! use carom_impact::derivative::{Differentiability, Wrt, differentiate};
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

mod blend;
mod branch;
mod chain;
mod frame;
mod friction;
mod laws;
mod saltation;
mod shift;
mod sliding;
mod stage;

pub use saltation::saltation;

use crate::plastic::PlasticRule;
use crate::{ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus};
use blend::{Blend, chain_along};
use branch::{Found, Ties, Walk};
use carom_numeric::random::CounterRng;
use frame::{Frame, Variation};
use friction::{Cones, Contacts};
use nalgebra::{DMatrix, DVector};
use sliding::Sliding;
use std::sync::OnceLock;

/// Outcomes closer than this fraction of the velocity before are one.
const SAME_OUTCOME: f64 = 1e-9;

/// Whitened Jacobians whose entries differ by less than this, over the largest or one, are one.
const SAME_JACOBIAN: f64 = 1e-7;

/// How far, over the velocity before, the stages may lead from the law's own outcome.
const SAME_WAY: f64 = 1e-7;

/// Directions in which near ties are looked at beside those of their own.
const PROBES: usize = 16;

/// How an outcome depends on the velocity before.
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
    /// Of the velocity after (n); `None` where there is none, see [`reason`](Self::reason).
    pub velocity_plus: Option<DVector<f64>>,
    /// Of the impulses on the contact rows as given; `None` where contacts depend on each other.
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
    /// The way of the outcome; `None` unless it is smooth.
    way: Option<Walk>,
    /// Where a restitution below 1 would lead to, of an elastic outcome.
    to_plastic: Option<ToPlastic>,
    /// The same, looked up when it is first asked for.
    towards: OnceLock<Option<Box<Blend>>>,
    class: Option<Differentiability>,
    margin: Option<f64>,
    is_complete: bool,
    answers: Answers,
    reason: Option<&'static str>,
    pieces: Vec<Piece>,
    dv_dv: Option<DMatrix<f64>>,
    dv_dfriction: Option<DMatrix<f64>>,
    dv_drestitution: Option<DMatrix<f64>>,
    dimpulses_dv: Option<DMatrix<f64>>,
}

/// A law that knows its derivative.
pub trait DifferentiableLaw: ImpactLaw {
    /// The ways that an impact can take near its outcome. `is_member` says that the outcome is one
    /// of a set, whose order of impacts no rule has selected.
    ///
    /// # Errors
    ///
    /// Those of [`resolve`](ImpactLaw::resolve); [`ImpactError::NotDifferentiated`].
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError>;
}

/// The ways that an impact can take near its outcome, the law's own first.
#[derive(Clone, Debug)]
pub struct Branches<'p> {
    frame: Frame<'p>,
    ways: Vec<Walk>,
    is_complete: bool,
    /// Whether one restitution holds for the whole event.
    is_event: bool,
    /// Where a restitution below 1 would lead to, of an elastic outcome.
    to_plastic: Option<ToPlastic>,
    /// Whether the outcome is homogeneous of degree 1 in the velocity.
    is_homogeneous: bool,
    /// Whether the outcome is known to kink whatever the pieces.
    is_kink: bool,
    answers: Answers,
    reason: Option<&'static str>,
}

/// How many answers a law may have to one velocity.
#[derive(Clone, Copy, Debug)]
enum Answers {
    /// One: what it decides it is tested for.
    One,
    /// Those of a complementarity problem, whose contacts may ask for restitution.
    Modes { cones: Cones, rebounds: bool },
    /// Not known.
    Unknown,
}

/// The plastic outcome that a restitution below 1 refers to, and near ties on the way there.
#[derive(Clone, Copy, Debug)]
struct ToPlastic {
    rule: PlasticRule,
    ties: Ties,
}

/// What leads from the velocity before to that after.
#[derive(Clone, Debug)]
enum Map {
    /// The stages of the walk.
    Chain,
    /// Between a plastic and an elastic outcome.
    Blend(Box<Blend>),
    /// Of one contact that may slide.
    Sliding(Box<Sliding>),
    /// The derivatives of the walk, which are limits from a region.
    Limit,
}

impl<'p> Branches<'p> {
    fn new(frame: Frame<'p>, ways: Vec<Walk>, is_event: bool) -> Self {
        Self {
            frame,
            ways,
            is_complete: true,
            is_event,
            to_plastic: None,
            is_homogeneous: true,
            is_kink: false,
            answers: Answers::One,
            reason: None,
        }
    }

    fn of_chains(frame: Frame<'p>, found: Found, is_event: bool) -> Self {
        Self {
            is_complete: found.is_complete,
            ..Self::new(frame, found.walks, is_event)
        }
    }

    /// Of an outcome that is a member of a continuum.
    fn family(frame: Frame<'p>) -> Self {
        Self {
            reason: Some("family"),
            is_complete: false,
            ..Self::new(frame, Vec::new(), false)
        }
    }
}

impl Walk {
    /// Whether impulses can be shifted between contacts.
    fn is_dependent(&self) -> bool {
        match &self.map {
            Map::Chain => self.stages.iter().any(|s| s.is_dependent),
            Map::Blend(blend) => blend.stages().any(|stage| stage.is_dependent),
            Map::Sliding(_) | Map::Limit => false,
        }
    }

    /// Whether velocities change as on another way.
    fn moves_as(&self, other: &Self) -> bool {
        let (a, b) = (&self.jacobian, &other.jacobian);
        // Whitened: that of nothing happening has entries of one.
        let size = a.amax().max(b.amax()).max(1.0);
        (a - b).amax() <= SAME_JACOBIAN * size
    }

    /// Whether no contact acts.
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

/// Resolves an impact and differentiates the outcome. Decisions within `tolerance` of a tie, as
/// part of the velocity before, are taken both ways.
///
/// # Errors
///
/// Those of the law; [`ImpactError::InvalidOption`] for a tolerance outside (0, 1e-3];
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
/// As [`differentiate`].
pub fn of_outcome<'p>(
    law: &dyn DifferentiableLaw,
    problem: &'p ImpactProblem<'p>,
    outcome: &ImpactOutcome,
    is_member: bool,
    wrt: &Wrt,
    tolerance: f64,
) -> Result<Derivative<'p>, ImpactError> {
    if !(tolerance > 0.0 && tolerance <= 1e-3) {
        return Err(ImpactError::InvalidOption {
            what: "tolerance",
            value: tolerance,
            allowed: "in (0, 1e-3]",
        });
    }
    let branches = law.branches(problem, outcome, is_member, tolerance)?;
    Derivative::new(branches, outcome, wrt)
}

/// Whether ways lead on in every direction from the velocity, as far as a few directions show.
fn is_covered(frame: &Frame<'_>, ways: &[Walk]) -> Result<bool, ImpactError> {
    if ways.iter().any(|way| !way.is_tied()) {
        return Ok(true);
    }
    let mut directions = Vec::with_capacity(ways.len() + PROBES);
    for way in ways {
        directions.push(-way.direction(frame)?);
    }
    let mut random = CounterRng::new(0, 0, 0);
    let probe = |_| DVector::from_fn(frame.dim(), |_, _| random.next_uniform() - 0.5);
    directions.extend((0..PROBES).map(probe));
    let is_reached = |direction: &DVector<f64>| ways.iter().any(|way| way.leads(direction));
    Ok(directions.iter().all(is_reached))
}

impl<'p> Derivative<'p> {
    fn new(
        branches: Branches<'p>,
        outcome: &ImpactOutcome,
        wrt: &Wrt,
    ) -> Result<Self, ImpactError> {
        let Branches {
            frame,
            ways,
            mut is_complete,
            is_event,
            to_plastic,
            is_homogeneous,
            is_kink: kinks,
            answers,
            reason,
        } = branches;
        let mut derivative = Self {
            way: None,
            to_plastic,
            towards: OnceLock::new(),
            class: None,
            margin: None,
            is_complete,
            answers,
            reason,
            pieces: Vec::new(),
            dv_dv: None,
            dv_dfriction: None,
            dv_drestitution: None,
            dimpulses_dv: None,
            frame,
        };
        if reason.is_some() {
            return Ok(derivative);
        }
        let frame = &derivative.frame;
        let Some(first) = ways.first() else {
            return Err(ImpactError::NotDifferentiated {
                reason: "contacts that depend on each other hold it in more ways than the velocities nearby \
                         allow; move the data by more than rounding",
            });
        };
        let mut missed = frame.of_velocity(&outcome.velocity_plus.0);
        missed -= &first.velocity;
        if !(missed.norm() <= SAME_WAY * frame.speed) {
            return Err(ImpactError::NotDifferentiated {
                reason: "its stages do not lead to the outcome",
            });
        }
        let margin = (first.margin, first.least);
        let n_ways = ways.len();
        // Where no way leads on the law has another answer, or none.
        let is_covered = is_covered(frame, &ways)?;
        let is_truncated = !is_complete;
        is_complete &= is_covered;
        let mut distinct: Vec<Walk> = Vec::with_capacity(ways.len());
        for way in ways {
            let is_same = |other: &Walk| {
                let moved = (&way.velocity - &other.velocity).norm();
                moved <= SAME_OUTCOME * frame.speed && way.moves_as(other)
            };
            if !distinct.iter().any(is_same) {
                distinct.push(way);
            }
        }
        let is_one = distinct.len() == 1 && !kinks && is_covered;
        is_complete |= is_one && n_ways == 1 && !distinct[0].is_tied();
        derivative.is_complete = is_complete;
        if !is_one {
            let is_kink = (is_covered || is_truncated)
                && distinct.iter().all(|way| {
                    let moved = (&way.velocity - &distinct[0].velocity).norm();
                    moved <= SAME_OUTCOME * frame.speed
                });
            let pieces = distinct
                .iter()
                .map(|way| {
                    let direction = way.direction(frame)?;
                    Ok(Piece {
                        velocity_plus: frame.velocity(&way.velocity),
                        dv_dv: if way.is_quiet() {
                            DMatrix::identity(frame.dim(), frame.dim())
                        } else {
                            frame.jacobian(&way.jacobian)
                        },
                        direction: frame.velocity(&direction) * frame.problem.scale(),
                    })
                })
                .collect::<Result<Vec<_>, ImpactError>>()?;
            derivative.pieces = pieces;
            derivative.margin = Some(margin.1);
            derivative.class = Some(if is_kink {
                Differentiability::Kink
            } else {
                Differentiability::Jump
            });
            return Ok(derivative);
        }
        if is_homogeneous {
            let walk = &distinct[0];
            missed.copy_from(&walk.velocity);
            missed.gemv(1.0, &walk.jacobian, &frame.before, -1.0);
            if !(missed.norm() <= SAME_WAY * frame.speed) {
                return Err(ImpactError::NotDifferentiated {
                    reason: "the impulses are so large that the outcome is rounding; move the data by more than \
                             rounding",
                });
            }
        }
        derivative.class = Some(Differentiability::Smooth);
        derivative.margin = margin.0.is_finite().then_some(margin.0);
        let Some(way) = distinct.pop() else {
            return Ok(derivative);
        };
        if wrt.velocity {
            derivative.dv_dv = Some(if outcome.status == ImpactStatus::Resolved {
                frame.jacobian(&way.jacobian)
            } else {
                DMatrix::identity(frame.dim(), frame.dim())
            });
            derivative.dimpulses_dv =
                (!way.is_dependent()).then(|| frame.impulse_jacobian(&way.impulses));
        }
        let columns = |variations: Vec<Variation>| {
            let mut out = DMatrix::zeros(frame.dim(), variations.len());
            for (mut column, variation) in out.column_iter_mut().zip(&variations) {
                column.copy_from(&way.along(frame, variation).0);
            }
            frame.velocities(out)
        };
        let m = frame.problem.contacts().len();
        if wrt.friction {
            derivative.dv_dfriction = Some(columns((0..m).map(Variation::of_friction).collect()));
        }
        if wrt.restitution && to_plastic.is_none() {
            let variations = if is_event {
                vec![Variation::of_restitution(None)]
            } else {
                (0..m).map(|i| Variation::of_restitution(Some(i))).collect()
            };
            derivative.dv_drestitution = Some(columns(variations));
        }
        derivative.way = Some(way);
        if wrt.restitution
            && let Some(blend) = derivative.towards_plastic()
        {
            let frame = &derivative.frame;
            let mut velocity = DVector::zeros(frame.dim());
            let mut impulse = DVector::zeros(frame.n_rows());
            blend.add_restitution(1.0, &mut velocity, &mut impulse);
            let column = DMatrix::from_column_slice(frame.dim(), 1, velocity.as_slice());
            derivative.dv_drestitution = Some(frame.velocities(column));
        }
        Ok(derivative)
    }

    /// Where restitution leads an elastic outcome; `None` if the plastic one is nearly tied.
    fn towards_plastic(&self) -> Option<&Blend> {
        let (to, way) = (self.to_plastic?, self.way.as_ref()?);
        let found = || laws::towards_plastic(&self.frame, way, to).map(Box::new);
        self.towards.get_or_init(found).as_deref()
    }

    /// How the outcome depends on the velocity before; `None` where it is a member of a continuum.
    pub fn class(&self) -> Option<Differentiability> {
        self.class
    }

    /// The part of the velocity before (kinetic norm) by which the nearest decision is missed, to
    /// first order; `None` where nothing is decided, or the outcome is a member of a continuum.
    pub fn margin(&self) -> Option<f64> {
        self.margin
    }

    /// Jacobian $\partial v^+_i/\partial v^-_j$ (n × n), on the velocities that the constraints
    /// admit; `None` unless smooth and asked for.
    pub fn dv_dv(&self) -> Option<&DMatrix<f64>> {
        self.dv_dv.as_ref()
    }

    /// Jacobian by the friction coefficients (n × contacts).
    pub fn dv_dfriction(&self) -> Option<&DMatrix<f64>> {
        self.dv_dfriction.as_ref()
    }

    /// Jacobian by the restitutions: n × contacts, or n × 1 where one holds for the event.
    pub fn dv_drestitution(&self) -> Option<&DMatrix<f64>> {
        self.dv_drestitution.as_ref()
    }

    /// Jacobian of the impulses on the contact rows as given by the velocity before (rows × n);
    /// `None` where contacts depend on each other.
    pub fn dimpulses_dv(&self) -> Option<&DMatrix<f64>> {
        self.dimpulses_dv.as_ref()
    }

    /// The limits of outcome and Jacobian, the law's own first; empty where the map is smooth.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether the pieces are all.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether the law has one answer alone to every velocity within the margin; if not, the class and
    /// the Jacobian are those of the answer that it gave, and it may go over to another one.
    ///
    /// Complementarity problems with friction may have several solutions. Each belongs to a mode of the
    /// contacts that a few inequalities decide for; the answer is unique if in all modes of another
    /// Jacobian one of them fails by more than the margin. `None` where the map is not smooth, and
    /// where modes are a continuum or more than 256: round cones in space, steps of `sequential` and
    /// `set-valued` with friction.
    pub fn is_unique(&self) -> Option<bool> {
        let way = self.way.as_ref()?;
        match self.answers {
            Answers::One => Some(true),
            Answers::Unknown => None,
            Answers::Modes { cones, rebounds } => {
                let members = (0..self.frame.problem.contacts().len()).collect();
                let contacts = Contacts::new(&self.frame, members, cones, rebounds).ok()?;
                contacts.is_unique(way, self.margin.unwrap_or(f64::INFINITY))
            }
        }
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
        let Some(way) = &self.way else {
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
