//! Judging an outcome that somebody else computed.
//!
//! An engine, a paper or an experiment says that the velocity $v^-$ became $v^+$. Which impulses
//! explain that, are they such as dry contacts can give, and does any law of this crate say the
//! same? [`judge`] answers from the [`ImpactProblem`] and $v^+$ alone.
//!
//! All distances are relative: velocities in the kinetic metric, over the motion that contacts see, $\rho$. That is
//! the norm of the momentum before, projected onto the span of the rows of contacts and constraints; that of the
//! momentum after if it is zero. It has no units and does not change with the frame, a uniform velocity that no row
//! sees, the coordinates, or the order and repetition of contacts: $10^{-2}$ is a hundredth of the motion there was, or
//! $10^{-4}$ of its energy. Parts are what no contact, no constraint and no entry of the mass matrix connects,
//! and within it the spans of contacts that change no velocity of each other, whatever the coordinates. Each is measured
//! by its own motion, and the largest distance counts: a far body, however fast, changes no verdict. A part that no
//! contact touches is measured by the motion of those in which one approaches. Distances to other
//! velocities are told themselves; what decides, and the residuals of the momentum change, are less the rounding of the
//! data, $2^{-50}$ of the velocities in the frame given.
//!
//! # Which impulses
//!
//! Three fits of the momentum change, each a projection onto a closed convex set, each within the
//! one before, so that the residuals grow:
//!
//! | residual | impulses may be | a difference to the row above means |
//! | --- | --- | --- |
//! | [`momentum_residual`](Explanation::momentum_residual) | anything on the rows of contacts and constraints | no contact can make this change |
//! | [`pull_residual`](Explanation::pull_residual) | the same, normal impulses not negative | contacts pull |
//! | [`friction_residual`](Explanation::friction_residual) | within the friction cones | more friction than Coulomb allows |
//!
//! If contacts are redundant, many impulses explain one change; the fits ask for the existence of any.
//!
//! # Which laws
//!
//! Every law that the problem admits answers it, with every order, mode or restitution law that it
//! leaves open, and the nearest answer is reported. A coefficient of restitution that belongs to
//! the law is fitted, and [`LawMatch::restitution`] says so; the value given is preferred if it
//! fits. A law with a free coefficient fits a curve instead of a point: its match says less.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod acting;
#[cfg(feature = "bounds")]
pub mod bounds;
mod candidate;
mod case;
mod compare;
mod explain;
mod fit;
mod inelastic;
mod membership;
mod moreau_newton;
mod parts;
#[cfg(feature = "bounds")]
mod passed;
mod tasks;
mod tolerances;
mod verdict;

pub use candidate::RestitutionFit;
pub use compare::{LawMatch, LawVerdict, Refusal};
pub use explain::Explanation;
pub use membership::{Membership, OutsideReason, SetVerdict, Witness, WitnessCone, WitnessFault};
#[cfg(feature = "bounds")]
pub use passed::{PassedBound, passed_bound};

// Crates whose types stand in signatures here.
pub use carom_contact as contact;
pub use carom_impact as impact;
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

use carom_contact::own_terms::GRAZING_TOLERANCE;
use carom_contact::{Audit, FrictionCone, ImpactError, ImpactProblem, audit};
use carom_impact::frictional::DEFAULT_SAMPLING_WORK;
use carom_metric::{Covector, Tangent};
use case::Case;
use parts::Parts;

/// Rounding of the data over the tolerance above which a judgement speaks of it.
const COARSE: f64 = 0.1;

/// Distances over the motion that contacts see that differ by less are equal: rounding, which depends on coordinates and
/// on the machine, must not say which of several answers is named.
const TIE: f64 = 1e-9;

/// Numeric knobs of [`judge`].
///
/// # Examples
///
/// ```
/// use carom_judge::{JudgeOptions, judge};
/// use carom_impact::{Contact, ContactSet, ImpactProblem};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::frictionless(Covector::from_slice(&[0.0, 1.0]));
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let options = JudgeOptions {
///     tolerance: 1e-9,
///     samples: 0,
///     ..JudgeOptions::default()
/// };
/// // An outcome that came back faster than it went in.
/// let judgement = judge(&problem, &Tangent::from_slice(&[3.0, 2.5]), &options)?;
/// assert!(judgement.energy_ratio.is_some_and(|ratio| ratio > 1.5));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeOptions {
    /// Distance up to which an outcome counts as the same, in (0, 1).
    ///
    /// The default is $10^{-5}$: velocities of order one printed with six decimals, or computed in
    /// single precision, are that good.
    pub tolerance: f64,
    /// Samples of the set of outcomes drawn at most; 0: do not ask for the set.
    pub samples: u64,
    /// Seed of those samples.
    pub seed: u64,
    /// Cap on the states visited when all orders of the propagative law are followed.
    pub max_nodes: usize,
    /// Units of work that the search for a member, the orders of the sequential law and the fit of Moreau's
    /// coefficients may each take ([`DEFAULT_SAMPLING_WORK`]), about a multiply-add each: counted, not timed.
    pub max_work: u64,
    /// Names of the laws that are asked; `None`: all that the problem admits.
    pub laws: Option<Vec<String>>,
    /// Shape of the friction cones of spatial contacts, for all laws and the set.
    pub friction_cone: FrictionCone,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-5,
            samples: 512,
            seed: 0,
            max_nodes: 20_000,
            max_work: DEFAULT_SAMPLING_WORK,
            laws: None,
            friction_cone: FrictionCone::default(),
        }
    }
}

/// Change of the kinetic energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyChange {
    /// Less than before.
    Lost,
    /// Kept within the tolerance: a relative change of at most twice of it.
    Kept,
    /// More than before.
    Gained,
}

impl EnergyChange {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Kept => "kept",
            Self::Gained => "gained",
        }
    }
}

/// One contact before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactReport {
    /// Gap rate before, on the normal as given; negative: approaching.
    pub normal_velocity_minus: f64,
    /// Gap rate after.
    pub normal_velocity_plus: f64,
    /// Newton's ratio $-b^+/b^-$; `None` where the contact did not approach.
    pub restitution: Option<f64>,
}

/// Judgement of an outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The options asked for.
    pub options: JudgeOptions,
    /// True if any contact approached.
    pub is_approaching: bool,
    /// Balance of the least-norm impulses: energies, penetration, constraints.
    pub audit: Audit,
    /// $E^+/E^-$ of the motion that contacts see; `None` if they see no motion before.
    pub energy_ratio: Option<f64>,
    /// Energies before and after of the motion that contacts see, J.
    pub relative_energies_j: [f64; 2],
    /// Rounding of the data over the motion that contacts see, the largest of all parts: distances below are not told.
    pub rounding: f64,
    /// $E^+/E^-$ of the whole, and of each part that contacts touch and nothing connects to the others; infinite from
    /// rest, 1 if nothing moves.
    pub part_energy_ratios: Vec<f64>,
    /// The impulses that explain the change.
    pub explanation: Explanation,
    excess: Excess,
    /// The contacts, in their order.
    pub contacts: Vec<ContactReport>,
    /// The nearest answer of each law that answers, in the order of [`LAWS`](carom_impact::LAWS).
    pub laws: Vec<LawMatch>,
    /// The laws that do not, and why.
    pub refused: Vec<Refusal>,
    /// Position relative to the set of inelastic frictional outcomes; `None` if that was not asked.
    pub outcome_set: Option<SetVerdict>,
}

/// Residuals less the rounding of the velocities as given: these decide.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Excess {
    penetration: f64,
    violation: f64,
}

impl Judgement {
    /// Change of the energy: gained if that of any part grew, else lost if that of any fell.
    pub fn energy_change(&self) -> EnergyChange {
        let slack = self.energy_slack();
        let ratio = self.telling_ratio();
        if ratio > 1.0 + slack {
            EnergyChange::Gained
        } else if ratio < 1.0 - slack {
            EnergyChange::Lost
        } else {
            EnergyChange::Kept
        }
    }

    /// True if rounding of the velocities as given is more than a tenth of the tolerance.
    pub fn has_coarse_data(&self) -> bool {
        self.rounding > COARSE * self.options.tolerance
    }

    /// True if contacts see all of the motion before, so that its energy is that of relative motion.
    fn is_all_seen(&self) -> bool {
        let all = self.audit.energy_minus_j;
        let [seen, _] = self.relative_energies_j;
        all - seen <= self.options.tolerance * all
    }

    /// Relative change of energy that is not told from none.
    fn energy_slack(&self) -> f64 {
        2.0 * (self.options.tolerance + self.rounding)
    }

    /// The energy ratio of the part that gained most, or lost most if none gained.
    fn telling_ratio(&self) -> f64 {
        let ratios = || self.part_energy_ratios.iter().copied();
        let most = ratios().fold(1.0, f64::max);
        if most > 1.0 + self.energy_slack() {
            most
        } else {
            ratios().fold(1.0, f64::min)
        }
    }

    /// The laws that give this outcome, within the tolerance.
    pub fn matches(&self) -> impl Iterator<Item = &LawMatch> {
        self.laws.iter().filter(|law| law.matches)
    }

    /// The law that comes nearest; of laws whose distances differ by rounding the first of the list.
    pub fn nearest(&self) -> Option<&LawMatch> {
        let distances = self.laws.iter().map(|law| law.distance);
        let least = distances.fold(f64::INFINITY, f64::min);
        self.laws.iter().find(|law| law.distance <= least + TIE)
    }

    /// The judgement in a few plain sentences.
    pub fn verdict(&self) -> String {
        verdict::words(self)
    }
}

/// Judges a velocity after an impact (n), whoever computed it.
///
/// # Errors
///
/// [`ImpactError::Metric`] if the velocity has the wrong length or a non-finite entry,
/// [`ImpactError::Overflow`] if its energy overflows, [`ImpactError::InvalidOption`] for a
/// tolerance outside (0, 1), [`ImpactError::NotConverged`].
///
/// # Examples
///
/// A rigid-body engine at restitution 1, three equal balls in a row: energy from nowhere.
///
/// ```
/// use carom_judge::{EnergyChange, JudgeOptions, judge};
/// use carom_impact::{Contact, ContactSet, ImpactProblem};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(3, 3))?;
/// let normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];
/// let contacts = normals.map(|u| Contact::frictionless(Covector::from_slice(&u)));
/// let contacts = ContactSet::new(&metric, contacts.to_vec())?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[1.0, 0.0, 0.0]))?;
/// let after = Tangent::from_slice(&[-0.386414, 0.693207, 0.693207]);
/// let judgement = judge(&problem, &after, &JudgeOptions::default())?;
/// assert_eq!(judgement.energy_change(), EnergyChange::Gained);
/// assert_eq!(judgement.matches().count(), 0);
/// assert!(judgement.verdict().starts_with("Gains 16.6 % of its energy of relative motion."));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
pub fn judge(
    problem: &ImpactProblem<'_>,
    velocity_plus: &Tangent,
    options: &JudgeOptions,
) -> Result<Judgement, ImpactError> {
    judge_time_step(problem, problem.velocity_minus(), velocity_plus, options)
}

/// Judges one time step of an engine, which adds external impulses and impacts at once.
///
/// `problem` is posed with the velocity that the step would have led to without contact:
/// $v + M^{-1}P$ with the external impulse $P$, or $v + h(M + hD)^{-1}f$ of an engine that is
/// implicit in damping, whose $M + hD$ then is the mass matrix. Momentum, energy, laws and the set
/// start from there. Newton's ratios, and the restitution of the law that prescribes them
/// ([`MoreauNewton`](carom_impact::frictional::MoreauNewton)), are those of the velocity `approach` (n) with which the step began.
///
/// # Errors
///
/// The errors of [`judge`].
pub fn judge_time_step(
    problem: &ImpactProblem<'_>,
    approach: &Tangent,
    velocity_plus: &Tangent,
    options: &JudgeOptions,
) -> Result<Judgement, ImpactError> {
    if !(options.tolerance > 0.0 && options.tolerance < 1.0) {
        return Err(ImpactError::InvalidOption {
            what: "tolerance",
            value: options.tolerance,
            allowed: "between 0 and 1",
        });
    }
    let contacts = problem.contacts();
    let metric = contacts.metric();
    metric.check_vector("velocity of approach", approach.0.as_slice())?;
    metric.check_vector("velocity after", velocity_plus.0.as_slice())?;
    let parts = Parts::new(
        problem,
        &[problem.velocity_minus(), approach, velocity_plus],
    );
    let raised = |velocity: &Tangent| Tangent(parts.raised(&velocity.0));
    let own;
    let posed = if parts.are_given() {
        problem
    } else {
        own = ImpactProblem::reposed(contacts, raised(problem.velocity_minus()))?;
        &own
    };
    let (from, to) = (raised(approach), raised(velocity_plus));
    let given = [problem.velocity_minus(), velocity_plus];
    let mut case = Case::new(posed, &from, &to, parts.clone(), options.clone())?;
    case.measure(given);
    case.is_approaching = problem.is_approaching();
    let mut explanation = explain::explain(&case)?;
    let inelastic = inelastic::Inelastic::of(&case);
    let mut outcome_set = match options.samples {
        0 => None,
        _ if contacts.require_tangents().is_err() => None,
        _ => Some(membership::decide(&case, &explanation, &inelastic.known)?),
    };
    let (mut laws, refused) = compare::all(&case, &explanation, &inelastic, outcome_set.as_ref());
    // In the unit of the problem again.
    let lower = |velocity: &mut Tangent| velocity.0 = parts.restored(&velocity.0);
    explanation.lower(contacts, &parts);
    for law in &mut laws {
        law.distance = case.told_distance(&law.velocity_plus);
        lower(&mut law.velocity_plus);
    }
    if let Some(set) = &mut outcome_set {
        set.distance = case.told_distance(&set.nearest);
        lower(&mut set.nearest);
        if let Membership::Inside(Witness::Steps { steps, .. })
        | Membership::Near(Witness::Steps { steps, .. }) = &mut set.membership
        {
            let lower = |step| parts.lower_impulses(contacts, step);
            steps.iter_mut().for_each(lower);
        }
    }
    let mut audit = audit(
        problem,
        velocity_plus,
        &explanation.impulses,
        &explanation.constraint_impulses,
    )?;
    let told = |row: &Covector, size: f64| size / case.reference_of(row);
    audit.penetration_residual = case.fastest_approach(case.velocity_plus, told);
    audit.constraint_residual = case.violation(told)?;
    let excess = Excess {
        penetration: case.penetration(),
        violation: case.violation(|row, size| case.relative_rate(row, size))?,
    };
    let relative_energies_j = case.relative_energies_j();
    let [minus, plus] = relative_energies_j;
    let energy_ratio = (minus > 0.0).then(|| plus / minus);
    let energy_ratio = energy_ratio.filter(|ratio| ratio.is_finite());
    Ok(Judgement {
        options: options.clone(),
        is_approaching: problem.is_approaching(),
        audit,
        energy_ratio,
        relative_energies_j,
        rounding: case.largest_rounding(),
        part_energy_ratios: case.energy_ratios(),
        explanation,
        excess,
        contacts: contact_reports(problem, approach, velocity_plus, case.is_step()),
        laws,
        refused,
        outcome_set,
    })
}

fn contact_reports(
    problem: &ImpactProblem<'_>,
    approach: &Tangent,
    velocity_plus: &Tangent,
    is_step: bool,
) -> Vec<ContactReport> {
    let contacts = problem.contacts();
    let scale = problem.scale();
    let after = velocity_plus.0.as_slice();
    let report = |i: usize| {
        let norm = contacts.normal_norm(i) / scale;
        let before = contacts.normal_velocity(i, approach.0.as_slice(), scale);
        let minus = before.rate;
        let plus = contacts.normal_velocity(i, after, scale).rate;
        let approaches = if is_step {
            minus < -GRAZING_TOLERANCE * before.size
        } else {
            problem.approaches(i)
        };
        // From the scaled velocities: rows and velocities of any size.
        let restitution = approaches.then(|| -plus / minus);
        ContactReport {
            normal_velocity_minus: minus * norm,
            normal_velocity_plus: plus * norm,
            restitution: restitution.filter(|ratio| ratio.is_finite()),
        }
    };
    (0..contacts.len()).map(report).collect()
}
