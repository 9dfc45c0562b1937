//! Judging an outcome that somebody else computed.
//!
//! An engine, a paper or an experiment says that the velocity $v^-$ became $v^+$. Which impulses explain this change, can
//! dry contacts give these impulses, and does any law of carom lead to $v^+$? [`judge`] answers from the
//! [`ImpactProblem`] and $v^+$ alone.
//!
//! All distances are relative: velocities are measured in the kinetic metric and divided by $\rho$, the size of the
//! motion that contacts can change. $\rho$ is the norm of the momentum before the impact, projected onto the span of the rows of
//! contacts and constraints; if that is zero, the norm of the projected momentum after the impact. A distance has no
//! units. It does not change with the frame, with a uniform velocity that no row sees, with the coordinates, or with the
//! order and repetition of contacts. A distance of $10^{-2}$ is one hundredth of the motion before the impact, or
//! $10^{-4}$ of its energy.
//!
//! The system is divided into parts. Different blocks of degrees of freedom, which no contact, constraint or entry of the
//! mass matrix connects, are different parts. So are, within a block and in any coordinates, the spans of contacts that
//! do not change each other's velocities. Each part is measured by its own motion, and the largest distance counts: a
//! distant body, however fast, does not change a verdict. A part that no contact touches is measured by the motion of the
//! parts in which a contact approaches. Reported distances to other velocities include rounding. The comparison with the
//! tolerance and the residuals of the momentum change subtract the rounding of the data, $2^{-50}$ of the velocities in
//! the given frame.
//!
//! # Which impulses
//!
//! Three fits of the momentum change. Each is a projection onto a closed convex set that lies within the set of the row
//! above, so that the residuals grow:
//!
//! | residual | impulses may be | a difference to the row above means |
//! | --- | --- | --- |
//! | [`momentum_residual`](Explanation::momentum_residual) | anything on the rows of contacts and constraints | no contact can make this change |
//! | [`pull_residual`](Explanation::pull_residual) | as above, but normal impulses are not negative | contacts pull |
//! | [`friction_residual`](Explanation::friction_residual) | within the friction cones | more friction than Coulomb allows |
//!
//! If contacts are redundant, many impulses explain one change; a fit asks only if any such impulses exist.
//!
//! # Which laws
//!
//! Every law that is defined for the problem is solved, with every order of impacts, contact mode or restitution law that
//! it leaves open, and its nearest answer is reported. If a coefficient of restitution belongs to the law, it is fitted,
//! and [`LawMatch::restitution`] says so; the given value is preferred if it fits. A law with a free coefficient has a
//! curve of answers instead of a point, so that a match says less.
//!
//! # Examples
//!
//! A ball of 1 kg comes down on the floor at 1 m/s, and an engine says that it leaves at 2 m/s:
//!
//! ```
//! use carom_judge::contact::{Contact, ContactSet, ImpactProblem};
//! use carom_judge::metric::{Covector, KineticMetric, Tangent};
//! use carom_judge::nalgebra::DMatrix;
//! use carom_judge::{EnergyChange, JudgeOptions, judge};
//! let metric = KineticMetric::new(DMatrix::identity(1, 1))?;
//! let floor = Contact::frictionless(Covector::from_slice(&[1.0]));
//! let contacts = ContactSet::new(metric, vec![floor])?;
//! let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-1.0]))?;
//! let verdict = judge(&problem, &Tangent::from_slice(&[2.0]), &JudgeOptions::default())?;
//! assert_eq!((verdict.energy_ratio, verdict.energy_change()), (Some(4.0), EnergyChange::Gained));
//! // No law gives it, and the set of outcomes does not contain it.
//! assert!(verdict.laws.iter().all(|law| !law.matches));
//! assert_eq!(verdict.outcome_set.and_then(|set| set.membership.contains()), Some(false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
#[cfg(feature = "serde")]
mod law_name;
mod membership;
mod moreau_newton;
mod parts;
#[cfg(feature = "bounds")]
mod passed;
mod tasks;
mod tolerances;
mod verdict;

use crate::tolerances::EQUAL;
pub use candidate::RestitutionFit;
pub use compare::{LawMatch, LawVerdict, Refusal};
pub use explain::Explanation;
pub use membership::{Membership, OutsideReason, SetVerdict, Witness, WitnessCone, WitnessFault};
#[cfg(feature = "bounds")]
pub use passed::{PassedBound, passed_bound};

// Crates whose types appear in signatures of this crate.
pub use carom_contact as contact;
pub use carom_impact as impact;
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

use carom_contact::internal::GRAZING_TOLERANCE;
use carom_contact::{
    Audit, ContactIndex, FrictionCone, ImpactError, ImpactLaw, ImpactProblem, audit,
};
use carom_impact::Law;
use carom_impact::internal::DEFAULT_SAMPLING_WORK;
use carom_metric::{Covector, Tangent};
use case::Case;
use nalgebra::{DMatrix, DVector};
use parts::Parts;

/// Ratio of the rounding of the data to the tolerance above which a verdict mentions the rounding.
const COARSE: f64 = 0.1;

/// Divisor of the number of samples if the judged velocity is a plastic answer, which friction rarely leads to.
const PLASTIC_PART: u64 = 4;

/// Options of [`judge`]: tolerance, limits of the searches, impact laws with which the judged velocity is compared, and
/// shape of the friction cones.
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
/// let options = JudgeOptions::default().with_tolerance(1e-9).with_samples(0);
/// // An outcome that came back faster than it went in.
/// let judgement = judge(&problem, &Tangent::from_slice(&[3.0, 2.5]), &options)?;
/// assert!(judgement.energy_ratio.is_some_and(|ratio| ratio > 1.5));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct JudgeOptions {
    /// Relative distance, in (0, 1), up to which two velocities count as equal.
    ///
    /// The default is $10^{-5}$: velocities of order one have this accuracy if they were printed with six decimals or
    /// computed in single precision.
    pub tolerance: f64,
    /// Largest number of samples drawn from the set of inelastic frictional outcomes. More samples take more time, but
    /// leave membership undecided less often. A quarter suffices for plastic answers. With 0 membership is not examined.
    pub samples: u64,
    /// Seed of the random samples.
    pub seed: u64,
    /// Largest number of states visited while all orders of impacts of the propagative law are followed. A larger
    /// value allows more contacts.
    pub max_nodes: usize,
    /// Largest amount of work for each of two searches: the search for a member of the set of outcomes, and the fit of the
    /// coefficients of Moreau's law. The search over the orders of the sequential law may take a sixteenth. The default is
    /// [`DEFAULT_SAMPLING_WORK`]. One unit is about one multiply-add; work is counted, not timed.
    pub max_work: u64,
    /// Laws with which the velocity is compared, in this order; `None` means all laws that are defined for the problem. Choices that
    /// a law leaves open are compared whatever its options say: coefficients of restitution, orders and modes.
    pub laws: Option<Vec<Law>>,
    /// Shape of the friction cones of spatial contacts, for all laws and the set.
    pub friction_cone: FrictionCone,
}

carom_numeric::setters!(JudgeOptions {
    /// Returns the options with another relative distance, in (0, 1), up to which two velocities count as equal.
    with_tolerance: tolerance, f64;
    /// Returns the options with another number of samples drawn from the set of outcomes; 0 leaves the set out.
    with_samples: samples, u64;
    /// Returns the options with another seed of the samples.
    with_seed: seed, u64;
    /// Returns the options with another limit on the states visited while orders of impacts are followed.
    with_max_nodes: max_nodes, usize;
    /// Returns the options with another limit on the work of each search.
    with_max_work: max_work, u64;
    /// Returns the options with the laws to compare with; `None` means all.
    with_laws: laws, Option<Vec<Law>>;
    /// Returns the options with another shape of the friction cones of spatial contacts.
    with_friction_cone: friction_cone, FrictionCone;
});

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

/// Change of the kinetic energy in a judged impact: lost, kept within the tolerance, or gained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum EnergyChange {
    /// The energy is smaller after the impact.
    Lost,
    /// The energy is equal within the tolerance: its relative change is at most twice the sum of the tolerance and of the
    /// rounding of the given velocities.
    Kept,
    /// The energy is larger after the impact.
    Gained,
}

impl EnergyChange {
    /// Stable identifier of the energy change in records: `lost`, `kept` or `gained`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Kept => "kept",
            Self::Gained => "gained",
        }
    }
}

/// Report about one contact in a judged impact: its normal velocities before and after the impact, and their ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ContactReport {
    /// Gap rate (m/s) before the impact, along the given normal; negative if the contact approaches.
    pub normal_velocity_minus: f64,
    /// Gap rate (m/s) after the impact.
    pub normal_velocity_plus: f64,
    /// Newton's ratio $-b^+/b^-$ of the gap rates $b^\pm$; `None` if the contact did not approach.
    pub restitution: Option<f64>,
}

/// Judgement of a velocity after an impact, returned by [`judge`]: energies, impulses that explain the velocity, one report
/// per contact, nearest answers of the impact laws, and membership in the set of inelastic frictional outcomes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Judgement {
    /// Options with which the outcome was judged.
    pub options: JudgeOptions,
    /// True if any contact approached before the impact.
    pub is_approaching: bool,
    /// Audit of the judged impact with the impulses of least norm: energies, penetration and constraint violation.
    pub audit: Audit,
    /// Energy ratio $E^+/E^-$ of the motion that contacts can change; `None` if there is no such motion before the
    /// impact.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub energy_ratio: Option<f64>,
    /// Kinetic energies before and after the impact (J) of the motion that contacts can change.
    pub relative_energies_j: [f64; 2],
    /// Rounding of the given velocities relative to the motion that contacts can change: the largest value over all parts
    /// of the system. Smaller distances cannot be distinguished.
    pub rounding: f64,
    /// Energy ratios $E^+/E^-$: first that of the whole system, then those of the independent parts of the system that
    /// have a contact. A ratio is infinite if the part is at rest before the impact and moves afterwards, and 1 if
    /// nothing moves.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored"))]
    pub part_energy_ratios: Vec<f64>,
    /// Impulses that explain the change of momentum.
    pub explanation: Explanation,
    excess: Excess,
    /// One report per contact, in the order of the problem.
    pub contacts: Vec<ContactReport>,
    /// Nearest answer of each law that has one, in the order of [`LAWS`](carom_impact::LAWS) or of the options; laws from outside
    /// are last.
    pub laws: Vec<LawMatch>,
    /// Laws without an answer, with the reason.
    pub refused: Vec<Refusal>,
    /// Position of the outcome relative to the set of inelastic frictional outcomes; `None` if membership was not asked.
    pub outcome_set: Option<SetVerdict>,
}

/// Residuals minus the rounding of the given velocities. They decide about faults.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
struct Excess {
    penetration: f64,
    violation: f64,
}

impl Judgement {
    /// Returns the change of the kinetic energy in the judged impact: gained if the energy of at least one independent part
    /// of the system grew; otherwise lost if the energy of at least one part fell; otherwise kept.
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

    /// True if the velocities of the judged impact were given with too few digits for the tolerance: their rounding error
    /// exceeds one tenth of the tolerance.
    pub fn has_coarse_data(&self) -> bool {
        self.rounding > COARSE * self.options.tolerance
    }

    /// True if contacts and constraints can change all of the motion before the impact, within the tolerance. The whole
    /// kinetic energy then is energy of relative motion.
    fn is_all_seen(&self) -> bool {
        let all = self.audit.energy_minus_j;
        let [seen, _] = self.relative_energies_j;
        all - seen <= self.options.tolerance * all
    }

    /// Returns the relative change of kinetic energy up to which the energy counts as conserved.
    fn energy_slack(&self) -> f64 {
        2.0 * (self.options.tolerance + self.rounding)
    }

    /// Returns the ratio of the kinetic energy after the impact to that before it, in the independent part of the system
    /// that gained most energy. If no part gained energy, returns the ratio of the part that lost most.
    fn telling_ratio(&self) -> f64 {
        let ratios = || self.part_energy_ratios.iter().copied();
        let most = ratios().fold(1.0, f64::max);
        if most > 1.0 + self.energy_slack() {
            most
        } else {
            ratios().fold(1.0, f64::min)
        }
    }

    /// Iterates over the impact laws with an answer that equals the judged velocity within the tolerance.
    pub fn matches(&self) -> impl Iterator<Item = &LawMatch> {
        self.laws.iter().filter(|law| law.matches)
    }

    /// Returns the impact law whose answer is nearest to the judged velocity; `None` if no law has an answer. If the
    /// distances of several laws differ only by rounding, the first of these laws is returned.
    pub fn nearest(&self) -> Option<&LawMatch> {
        let distances = self.laws.iter().map(|law| law.distance);
        let least = distances.fold(f64::INFINITY, f64::min);
        self.laws.iter().find(|law| law.distance <= least + EQUAL)
    }

    /// Describes the judgement of the velocity after the impact in a few plain sentences.
    pub fn verdict(&self) -> String {
        verdict::words(self)
    }
}

/// Judges a velocity after an impact, `velocity_plus` (n entries), from any source, for example a physics engine or an
/// experiment. The judgement reports the energy of this velocity, the impulses that explain the velocity, the impact laws
/// that give the velocity, and if the velocity belongs to the set of inelastic frictional outcomes.
///
/// # Errors
///
/// [`ImpactError::Metric`] if the velocity has the wrong length or a non-finite entry,
/// [`ImpactError::Overflow`] if its energy overflows, [`ImpactError::InvalidOption`] for a
/// tolerance outside (0, 1), [`ImpactError::NotSolved`].
///
/// # Examples
///
/// A rigid-body engine at restitution 1, three equal balls in a row. The outcome has more energy than the start:
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
    problem: &ImpactProblem,
    velocity_plus: &Tangent,
    options: &JudgeOptions,
) -> Result<Judgement, ImpactError> {
    judge_with(problem, velocity_plus, options, &[])
}

/// Judges a velocity like [`judge`], and also compares it with `laws` from outside, which appear in the judgement under their names.
///
/// # Errors
///
/// Returns the errors of [`judge`]. A law that has no answer is refused in the judgement.
///
/// # Examples
///
/// ```
/// use carom_judge::{JudgeOptions, judge_with};
/// use carom_impact::{
///     Contact, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, Rules,
/// };
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
///
/// /// The floor gives a ball of 1 kg 3 N s, however fast it comes.
/// #[derive(Debug)]
/// struct Piston;
///
/// impl ImpactLaw for Piston {
///     fn name(&self) -> &'static str {
///         "piston"
///     }
///
///     fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
///         problem.outcome(&[3.0], &Rules::FRICTIONLESS)
///     }
/// }
///
/// let metric = KineticMetric::new(DMatrix::identity(1, 1))?;
/// let floor = Contact::frictionless(Covector::from_slice(&[1.0]));
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-2.0]))?;
/// let options = JudgeOptions::default().with_laws(Some(Vec::new()));
/// let judgement = judge_with(&problem, &Tangent::from_slice(&[1.0]), &options, &[&Piston])?;
/// assert!(judgement.matches().all(|law| law.law == "piston"));
/// assert_eq!(judgement.matches().count(), 1);
/// # Ok::<(), ImpactError>(())
/// ```
pub fn judge_with(
    problem: &ImpactProblem,
    velocity_plus: &Tangent,
    options: &JudgeOptions,
    laws: &[&dyn ImpactLaw],
) -> Result<Judgement, ImpactError> {
    judge_step(
        problem,
        problem.velocity_minus(),
        velocity_plus,
        options,
        laws,
    )
}

/// Poses a problem with the contacts of `given` at `velocity`, which is that of `given` in other frames and units. In these
/// frames less rounding seems to be left of a contact at rest than the given velocity has: the normal velocity of each
/// contact at rest in `given` is set to zero.
fn at_rest_as_given(
    given: &ImpactProblem,
    velocity: Tangent,
) -> Result<ImpactProblem, ImpactError> {
    let contacts = given.contacts();
    let posed = ImpactProblem::reposed(contacts, velocity)?;
    let is_hidden = |i: &ContactIndex| given.event().is_at_rest(*i) && !posed.is_at_rest(*i);
    let row = |i| DVector::from_column_slice(contacts.unit_row(contacts.row(i)));
    let rows: Vec<DVector<f64>> = contacts.indices().filter(is_hidden).map(row).collect();
    if rows.is_empty() {
        return Ok(posed);
    }
    let span = carom_metric::orthonormal_span(&DMatrix::from_columns(&rows));
    let mut momentum = DVector::from_column_slice(posed.momentum());
    momentum -= &span * span.tr_mul(&momentum);
    momentum /= posed.scale();
    let metric = contacts.metric();
    metric.unwhiten_velocity_in_place(momentum.as_mut_slice());
    ImpactProblem::reposed(contacts, Tangent(momentum))
}

/// Judges one time step of a physics engine that adds external impulses and contact impulses in one step.
///
/// Create `problem` with the velocity to which the step would lead without contacts: $v + M^{-1}P$, with the velocity $v$
/// at the beginning of the step, the mass matrix $M$ and the external impulse $P$. For an engine that is implicit in
/// damping this velocity is $v + h(M + hD)^{-1}f$, with the step $h$, the damping matrix $D$ and the force $f$; the mass
/// matrix of the problem is then $M + hD$.
///
/// Momentum, energy, laws and the set of outcomes refer to the velocity of the problem. Newton's ratios refer to
/// `approach`, the velocity at the beginning of the step (n entries). So does the restitution of the law that prescribes
/// these ratios, [`MoreauNewton`](carom_impact::frictional::MoreauNewton).
///
/// # Errors
///
/// Returns the errors of [`judge`].
pub fn judge_time_step(
    problem: &ImpactProblem,
    approach: &Tangent,
    velocity_plus: &Tangent,
    options: &JudgeOptions,
) -> Result<Judgement, ImpactError> {
    judge_step(problem, approach, velocity_plus, options, &[])
}

/// Judges one time step like [`judge_time_step`], also by laws from `outside`.
fn judge_step(
    problem: &ImpactProblem,
    approach: &Tangent,
    velocity_plus: &Tangent,
    options: &JudgeOptions,
    outside: &[&dyn ImpactLaw],
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
        own = at_rest_as_given(problem, raised(problem.velocity_minus()))?;
        &own
    };
    let (from, to) = (raised(approach), raised(velocity_plus));
    let given = [problem.velocity_minus(), velocity_plus];
    let mut case = Case::new(posed, &from, &to, parts.clone(), options.clone())?;
    case.measure(given);
    case.is_approaching = problem.is_approaching();
    let mut explanation = explain::explain(&case)?;
    let inelastic = inelastic::Inelastic::of(&case);
    if inelastic.is_plastic() {
        case.options.samples = options.samples.div_ceil(PLASTIC_PART);
    }
    let mut outcome_set = match options.samples {
        0 => None,
        _ if contacts.require_tangents().is_err() => None,
        _ => Some(membership::decide(&case, &explanation, &inelastic.known)?),
    };
    let set = outcome_set.as_ref();
    let (mut laws, refused) =
        compare::all(&case, &explanation, &inelastic, set, (problem, outside));
    // Back to the unit of velocity of the problem.
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
    problem: &ImpactProblem,
    approach: &Tangent,
    velocity_plus: &Tangent,
    is_step: bool,
) -> Vec<ContactReport> {
    let contacts = problem.contacts();
    let scale = problem.scale();
    let after = velocity_plus.0.as_slice();
    let report = |i: ContactIndex| {
        let norm = contacts.normal_norm(i) / scale;
        let before = contacts.normal_velocity(i, approach.0.as_slice(), scale);
        let minus = before.rate;
        let plus = contacts.normal_velocity(i, after, scale).rate;
        let approaches = if is_step {
            minus < -GRAZING_TOLERANCE * before.size
        } else {
            problem.approaches(i)
        };
        // The ratio of scaled velocities neither overflows nor underflows.
        let restitution = approaches.then(|| -plus / minus);
        ContactReport {
            normal_velocity_minus: minus * norm,
            normal_velocity_plus: plus * norm,
            restitution: restitution.filter(|ratio| ratio.is_finite()),
        }
    };
    contacts.indices().map(report).collect()
}
