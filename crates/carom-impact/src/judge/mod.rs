//! Judging an outcome that somebody else computed.
//!
//! An engine, a paper or an experiment says that the velocity $v^-$ became $v^+$. Which impulses
//! explain that, are they such as dry contacts can give, and does any law of this crate say the
//! same? [`judge`] answers from the [`ImpactProblem`] and $v^+$ alone.
//!
//! All distances are relative: velocities in the kinetic metric, over $\lVert p^-\rVert$ (over
//! $\lVert p^+\rVert$ if the system starts at rest). They have no units and mean the same for
//! every problem: $10^{-2}$ is a hundredth of the motion there was, or $10^{-4}$ of its energy.
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
//! Where contacts are redundant many impulses explain the same change; the fits ask whether any do.
//!
//! # Which laws
//!
//! Every law that the problem admits answers it, with every order, mode or restitution law that it
//! leaves open, and the nearest answer is reported. A coefficient of restitution that belongs to
//! the law is fitted, and [`LawMatch::restitution`] says so; the value given is preferred if it
//! fits. A law with a free coefficient fits a curve instead of a point: its match says less.

mod compare;
mod explain;
mod fit;
mod membership;
#[cfg(feature = "bounds")]
mod passed;
mod tasks;
mod verdict;

pub use compare::{LawMatch, LawVerdict, Refusal, RestitutionFit};
pub use explain::Explanation;
pub use membership::{Membership, OutsideReason, SetVerdict, Witness, WitnessCone, WitnessFault};
#[cfg(feature = "bounds")]
pub use passed::{PassedBound, passed_bound};

use crate::frictional::FrictionCone;
use crate::own_terms::GRAZING_TOLERANCE;
use crate::{Audit, ImpactError, ImpactProblem, audit};
use carom_metric::{Tangent, kernel};
use nalgebra::DVector;

/// Numeric knobs of [`judge`].
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
            laws: None,
            friction_cone: FrictionCone::default(),
        }
    }
}

/// What the kinetic energy did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyChange {
    /// Less than before.
    Lost,
    /// The same, as far as the tolerance tells: a relative change of at most twice of it.
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

/// What is to be said about an outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The options asked for.
    pub options: JudgeOptions,
    /// Whether any contact approached.
    pub is_approaching: bool,
    /// Balance of the least-norm impulses: energies, penetration, constraints.
    pub audit: Audit,
    /// $E^+/E^-$; `None` if the system starts at rest.
    pub energy_ratio: Option<f64>,
    /// The impulses that explain the change.
    pub explanation: Explanation,
    /// The contacts, in their order.
    pub contacts: Vec<ContactReport>,
    /// The nearest answer of each law that answers, in the order of [`LAWS`](crate::LAWS).
    pub laws: Vec<LawMatch>,
    /// The laws that do not, and why.
    pub refused: Vec<Refusal>,
    /// How it lies to the set of inelastic frictional outcomes; `None` if that was not asked.
    pub outcome_set: Option<SetVerdict>,
}

impl Judgement {
    /// What the energy did.
    pub fn energy_change(&self) -> EnergyChange {
        let slack = 2.0 * self.options.tolerance;
        match self.energy_ratio {
            Some(ratio) if ratio < 1.0 - slack => EnergyChange::Lost,
            Some(ratio) if ratio > 1.0 + slack => EnergyChange::Gained,
            None if self.audit.energy_plus_j > 0.0 => EnergyChange::Gained,
            _ => EnergyChange::Kept,
        }
    }

    /// The laws that give this outcome, within the tolerance.
    pub fn matches(&self) -> impl Iterator<Item = &LawMatch> {
        self.laws.iter().filter(|law| law.matches)
    }

    /// The law that comes nearest.
    pub fn nearest(&self) -> Option<&LawMatch> {
        let by_distance = |a: &&LawMatch, b: &&LawMatch| a.distance.total_cmp(&b.distance);
        self.laws.iter().min_by(by_distance)
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
/// use carom_impact::judge::{EnergyChange, JudgeOptions, judge};
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
/// assert!(judgement.verdict().starts_with("Gains 11 % of its energy."));
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
/// ([`MoreauNewton`](crate::frictional::MoreauNewton)), are those of the velocity `approach` (n) with which the step began.
///
/// # Errors
///
/// As [`judge`].
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
    let case = Case::new(problem, approach, velocity_plus, options.clone())?;
    let explanation = explain::explain(&case)?;
    let audit = audit(
        problem,
        velocity_plus,
        &explanation.impulses,
        &explanation.constraint_impulses,
    )?;
    let energy_ratio = (audit.energy_minus_j > 0.0)
        .then(|| audit.energy_plus_j / audit.energy_minus_j)
        .filter(|ratio| ratio.is_finite());
    let inelastic = compare::Inelastic::of(&case);
    let outcome_set = match options.samples {
        0 => None,
        _ if problem.contacts().require_tangents().is_err() => None,
        _ => Some(membership::decide(
            &case,
            &audit,
            &explanation,
            &inelastic.known,
        )?),
    };
    let (laws, refused) = compare::all(&case, &inelastic, outcome_set.as_ref());
    Ok(Judgement {
        options: options.clone(),
        is_approaching: problem.is_approaching(),
        audit,
        energy_ratio,
        explanation,
        contacts: contact_reports(&case),
        laws,
        refused,
        outcome_set,
    })
}

/// An outcome to be judged, in whitened coordinates scaled like its problem.
struct Case<'a> {
    problem: &'a ImpactProblem<'a>,
    /// The velocity that coefficients of restitution refer to.
    approach: &'a Tangent,
    velocity_plus: &'a Tangent,
    options: JudgeOptions,
    /// Whitened velocity after.
    after: DVector<f64>,
    /// What distances are relative to.
    reference: f64,
}

impl<'a> Case<'a> {
    fn new(
        problem: &'a ImpactProblem<'a>,
        approach: &'a Tangent,
        velocity_plus: &'a Tangent,
        options: JudgeOptions,
    ) -> Result<Self, ImpactError> {
        let metric = problem.contacts().metric();
        metric.check_vector("velocity of approach", approach.0.as_slice())?;
        metric.check_vector("velocity after", velocity_plus.0.as_slice())?;
        let mut case = Self {
            problem,
            approach,
            velocity_plus,
            options,
            after: DVector::zeros(metric.dim()),
            reference: 1.0,
        };
        case.after = case.whitened(velocity_plus);
        let norm_plus = kernel::norm(case.after.as_slice());
        if !norm_plus.is_finite() {
            return Err(ImpactError::Overflow);
        }
        let sizes = [problem.norm(), norm_plus];
        case.reference = sizes.into_iter().find(|size| *size > 0.0).unwrap_or(1.0);
        Ok(case)
    }

    /// A velocity in the coordinates of the case.
    fn whitened(&self, velocity: &Tangent) -> DVector<f64> {
        let mut whitened = DVector::zeros(velocity.0.len());
        let metric = self.problem.contacts().metric();
        metric.whiten_velocity_into(velocity.0.as_slice(), whitened.as_mut_slice());
        whitened * self.problem.scale()
    }

    /// Whitened momentum before.
    fn before(&self) -> DVector<f64> {
        DVector::from_column_slice(self.problem.momentum())
    }

    /// The velocity that a whitened one stands for.
    fn velocity(&self, whitened: &DVector<f64>) -> Tangent {
        let mut velocity = whitened / self.problem.scale();
        let metric = self.problem.contacts().metric();
        metric.unwhiten_velocity_in_place(velocity.as_mut_slice());
        Tangent(velocity)
    }

    /// How far the outcome is from another velocity after.
    fn distance(&self, velocity: &Tangent) -> f64 {
        (self.whitened(velocity) - &self.after).norm() / self.reference
    }

    /// Whether the velocity before is not the one that restitution refers to.
    fn is_step(&self) -> bool {
        self.approach != self.problem.velocity_minus()
    }

    fn is_same(&self, distance: f64) -> bool {
        distance <= self.options.tolerance
    }
}

fn contact_reports(case: &Case<'_>) -> Vec<ContactReport> {
    let contacts = case.problem.contacts();
    let scale = case.problem.scale();
    let after = case.velocity_plus.0.as_slice();
    let report = |i: usize| {
        let norm = contacts.normal_norm(i) / scale;
        let before = contacts.normal_velocity(i, case.approach.0.as_slice(), scale);
        let minus = before.rate;
        let plus = contacts.normal_velocity(i, after, scale).rate;
        let approaches = if case.is_step() {
            minus < -GRAZING_TOLERANCE * before.size
        } else {
            case.problem.approaches(i)
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
