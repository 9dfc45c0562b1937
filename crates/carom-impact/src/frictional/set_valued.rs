//! Set-valued impacts: options of the law, and the law.

use super::friction_cone::FrictionCone;
use super::probe::ambiguous_steps;
use super::sampler::{Draw, Sampler};
use super::samples::{SampleSummary, sampled_outcomes};
use crate::laws::BuiltIn;
use crate::momentum_change::separating;
use crate::{
    Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, OutcomeSet, SetValuedLaw,
};

/// Units of work that all samples of a problem may take by default, about a multiply-add each and five seconds in
/// all. They are counted, not timed, so that samples end at the same place on every machine.
pub const DEFAULT_SAMPLING_WORK: u64 = 5_000_000_000;

/// Part of the budget for the choice of policies that depend on the problem.
const SETTLING_PART: u64 = 8;

/// A good spread of the exponents of random covering vectors.
pub const COVERING_SPREAD: f64 = 6.0;

/// A good probability that a contact is switched off in a step.
pub const CAP_OFF: f64 = 0.25;

/// Choice among several solutions of a step.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum BranchPolicy {
    /// The one that Lemke's method finds with a covering vector of ones.
    #[default]
    Fixed,
    /// A random covering vector for every step, with entries $\exp(U(-a, a))$: every vector may
    /// lead to another solution.
    RandomCovering {
        /// The spread $a$; [`COVERING_SPREAD`] is a good one.
        spread: f64,
    },
    /// Any of all solutions of a step, with equal probability: planar contacts only, at most
    /// [`MAX_MODE_CONTACTS`](super::MAX_MODE_CONTACTS) of them, and a hundred times the work.
    /// Lemke's method does not reach solutions between two others; this does.
    Enumerate,
    /// Random covering vectors if sampled steps have several solutions
    /// ([`ambiguous_steps`](super::ambiguous_steps)), else always the same.
    Auto,
}

/// Distribution of the caps of a step.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum CapDistribution {
    /// Independent and uniform between 0 and the impulse step.
    #[default]
    Uniform,
    /// Uniform caps, but every contact is switched off with this probability (never all of them), so
    /// that sequential extremes are met and not only approached.
    Mixed {
        /// Probability in \[0, 1) that a contact is switched off in a step.
        off: f64,
    },
    /// Contacts are switched off with probability [`CAP_OFF`] if sampled steps have several
    /// solutions, else caps are uniform.
    Auto,
}

/// Samples of every outcome that friction and simultaneity allow (`set-valued`).
///
/// Algorithms 1 and 2 of Halm & Posa. A sample is a sequence of steps with random caps until no
/// contact approaches; it depends on the problem, the options and its index alone. Kinetic energy
/// never grows. [`ImpactLaw::resolve`] gives the first sample that ends.
///
/// # Departure from the source
///
/// Algorithm 1 makes one step more than its limit says, and the closing step of Algorithm 2 is
/// the identity on an impact that has ended only if steps have one solution. Here the limit is
/// the number of steps, and the closing step is applied to samples that have not ended.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactProblem, SetValuedLaw, frictional::SetValued};
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
/// let law = SetValued {
///     samples: 64,
///     ..SetValued::default()
/// };
/// let outcomes = law.resolve_all(&problem)?;
/// let energies = outcomes.outcomes.iter().map(|outcome| outcome.audit.energy_plus_j);
/// assert!(energies.into_iter().all(|energy| energy <= 6.5));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SetValued {
    /// Largest cap $h$ on the impulses of a step, on the normal rows as given, N·s.
    ///
    /// `None`: the largest impulse that stops an approaching contact alone, and where contacts wedge
    /// each other sixteen times that, or a power of it, so that about sixteen steps can make the
    /// impulses of the simultaneous impact. It is one number on rows of unit kinetic length: it does not
    /// depend on the lengths of the rows.
    pub impulse_step: Option<f64>,
    /// Samples drawn.
    pub samples: u64,
    /// Seed of the generator.
    pub seed: u64,
    /// Steps allowed to a sample.
    pub max_steps: usize,
    /// Accuracy $\varepsilon < h$ of the closing step of Algorithm 2, N·s; none if `None`.
    pub epsilon: Option<f64>,
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Choice among several solutions of a step.
    pub branch: BranchPolicy,
    /// Distribution of the caps.
    pub caps: CapDistribution,
    /// Units of work that all samples together may take ([`DEFAULT_SAMPLING_WORK`]); what is found until then is the answer.
    /// On a line of the command, bounds take the rest of it, and at least half.
    pub max_work: u64,
}

impl Default for SetValued {
    fn default() -> Self {
        Self {
            impulse_step: None,
            samples: 1024,
            seed: 0,
            max_steps: 100,
            epsilon: None,
            friction_cone: FrictionCone::Round,
            branch: BranchPolicy::default(),
            caps: CapDistribution::default(),
            max_work: DEFAULT_SAMPLING_WORK,
        }
    }
}

impl SetValued {
    /// The options with policies in place of those that depend on the problem.
    pub(super) fn settled(&self, problem: &ImpactProblem<'_>) -> Result<Self, ImpactError> {
        let (branch, caps) = (
            self.branch == BranchPolicy::Auto,
            self.caps == CapDistribution::Auto,
        );
        let mut settled = self.clone();
        if branch {
            settled.branch = BranchPolicy::Fixed;
        }
        if caps {
            settled.caps = CapDistribution::Uniform;
        }
        // A part of the budget suffices to see whether there are several solutions.
        let probed = Self {
            max_work: self.max_work / SETTLING_PART,
            ..settled.clone()
        };
        if (branch || caps) && ambiguous_steps(&Sampler::new(problem, &probed)?)? > 0.0 {
            if branch {
                settled.branch = BranchPolicy::RandomCovering {
                    spread: COVERING_SPREAD,
                };
            }
            if caps {
                settled.caps = CapDistribution::Mixed { off: CAP_OFF };
            }
        }
        Ok(settled)
    }

    pub(super) fn validate(
        &self,
        impulse_step: f64,
        is_approaching: bool,
    ) -> Result<(), ImpactError> {
        let refuse = |what, value, allowed| {
            Err(ImpactError::InvalidOption {
                what,
                value,
                allowed,
            })
        };
        let is_step = impulse_step > 0.0 && impulse_step.is_finite();
        if !is_step && (is_approaching || self.impulse_step.is_some()) {
            return refuse("impulse_step", impulse_step, "finite and positive");
        }
        if self.samples == 0 {
            return refuse("samples", 0.0, "at least 1");
        }
        if self.max_steps == 0 {
            return refuse("max_steps", 0.0, "at least 1");
        }
        match self.epsilon {
            Some(e) if !(e > 0.0 && e < impulse_step) => {
                return refuse("epsilon", e, "positive and less than impulse_step");
            }
            _ => {}
        }
        match self.branch {
            BranchPolicy::RandomCovering { spread } if !(0.0..=100.0).contains(&spread) => {
                return refuse("spread", spread, "in [0, 100]");
            }
            _ => {}
        }
        match self.caps {
            CapDistribution::Mixed { off } if !(0.0..1.0).contains(&off) => {
                refuse("off", off, "in [0, 1)")
            }
            _ => Ok(()),
        }
    }

    /// The error that none of the samples of a summary has ended.
    pub fn none_of(&self, summary: &SampleSummary) -> ImpactError {
        if summary.is_limited {
            return ImpactError::WorkLimit {
                samples: summary.samples,
                max_work: self.max_work,
            };
        }
        self.none_ended()
    }

    /// The error that no sample has ended within its steps.
    pub fn none_ended(&self) -> ImpactError {
        ImpactError::SampleLimit {
            samples: self.samples,
            max_steps: self.max_steps,
        }
    }
}

impl ImpactLaw for SetValued {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    /// The first sample that ends.
    fn resolve(&self, problem: &ImpactProblem<'_>) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let sampler = Sampler::new(problem, self)?;
        if !problem.is_approaching() {
            let diagnostics = Diagnostics::SetValued {
                sample: 0,
                steps: 0,
                pivots: 0,
                velocity_residual: 0.0,
            };
            return separating(problem, diagnostics);
        }
        let mut draw = Draw::default();
        let mut left = self.max_work;
        for sample in 0..self.samples {
            sampler.draw_within(left, sample, &mut draw, |_| {})?;
            if draw.is_ended {
                return sampler.outcome(&draw);
            }
            left = left.saturating_sub(draw.work);
            if left == 0 {
                return Err(ImpactError::WorkLimit {
                    samples: sample + 1,
                    max_work: self.max_work,
                });
            }
        }
        Err(self.none_ended())
    }
}

impl SetValuedLaw for SetValued {
    /// Every sample that ends, in the order of the samples. The set is never complete: it is a
    /// sample.
    fn resolve_all(&self, problem: &ImpactProblem<'_>) -> Result<OutcomeSet, ImpactError> {
        let sampler = Sampler::new(problem, self)?;
        let (summary, outcomes) = sampled_outcomes(&sampler, &|_, _| {})?;
        if outcomes.is_empty() {
            return Err(self.none_of(&summary));
        }
        let metric = problem.contacts().metric();
        let mut diameter = 0.0;
        for (i, a) in outcomes.iter().enumerate() {
            for b in &outcomes[i + 1..] {
                let difference = &a.velocity_plus.0 - &b.velocity_plus.0;
                let energy = metric.energy(&carom_metric::Tangent(difference))?;
                diameter = f64::max(diameter, (2.0 * energy).sqrt());
            }
        }
        let norm = problem.norm() / problem.scale();
        Ok(OutcomeSet {
            outcomes,
            preferred: Some(0),
            indeterminacy: if norm > 0.0 { diameter / norm } else { 0.0 },
            complete: false,
            omitted: 0,
            drawn: None,
        })
    }
}
