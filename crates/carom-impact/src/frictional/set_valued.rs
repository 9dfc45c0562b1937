//! Set-valued law: its options.

use carom_contact::{FrictionCone, ImpactError, Limit};

/// Default budget for all samples of an impact problem, in units of work of about a multiply-add each: about five seconds in
/// all. Work is counted, not timed, so that sampling ends at the same point on every machine.
pub const DEFAULT_SAMPLING_WORK: u64 = 5_000_000_000;

/// Recommended spread $a$ of random covering vectors of Lemke's method, whose entries are $\exp(U(-a, a))$ with uniform $U$.
pub const COVERING_SPREAD: f64 = 6.0;

/// Recommended probability that a contact may not push in a random step of the set-valued law.
pub const CAP_OFF: f64 = 0.25;

/// Returns the error of an option with the name `what` and a `value` that is not `allowed`.
pub(super) fn refuse<T>(
    what: &'static str,
    value: f64,
    allowed: &'static str,
) -> Result<T, ImpactError> {
    Err(ImpactError::InvalidOption {
        what,
        value,
        allowed,
    })
}

/// Rule by which the set-valued law chooses among several solutions of one step.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum BranchPolicy {
    /// The solution that Lemke's method finds with a covering vector of ones.
    #[default]
    Fixed,
    /// The solution found with a random covering vector for every step, with entries $\exp(U(-a, a))$ where $U$ is uniform.
    /// Different vectors may lead to different solutions.
    RandomCovering {
        /// Spread $a$ of the exponents; 6 is recommended.
        spread: f64,
    },
    /// One of all solutions of a step, with equal probability. Only for planar contacts, at most
    /// five of them, at a hundred times the work.
    /// Unlike Lemke's method, this also reaches solutions that lie between two others.
    Enumerate,
    /// Random covering vectors if sampled steps have several solutions, else a fixed covering vector.
    Auto,
}

/// Probability distribution of the caps (upper limits on the normal impulses) in a step of the set-valued law.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum CapDistribution {
    /// Independent and uniform between 0 and the impulse step.
    #[default]
    Uniform,
    /// Uniform caps, but every contact may be switched off (its cap is then 0), never all of them. Outcomes of contacts that
    /// push one after the other are so reached exactly.
    Mixed {
        /// Probability in \[0, 1) that a contact is switched off in a step.
        off: f64,
    },
    /// Contacts are switched off with probability 1/4 if sampled steps have several
    /// solutions, else caps are uniform.
    Auto,
}

/// Set-valued frictional impact law (`set-valued`): draws random samples of the outcomes that friction and any order or
/// overlap of the contact impulses allow.
///
/// The law uses Algorithms 1 and 2 of Halm & Posa. A sample is a sequence of steps, in each of which the normal impulses
/// have random upper bounds (caps), until no contact approaches. A sample depends on the problem, the options and the index
/// of the sample alone. Kinetic energy never grows. [`ImpactLaw::resolve`](carom_contact::ImpactLaw::resolve) gives the
/// first sample that ends.
///
/// # Departure from the source
///
/// Algorithm 1 makes one step more than its limit says. The closing step of Algorithm 2 leaves an impact that has ended
/// unchanged only if steps have a unique solution. Here the limit is the number of steps, and the closing step is
/// applied only to samples that have not ended.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactProblem, SetValuedLaw, frictional::SetValued};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]))
///     .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
///     .with_friction(0.5)
///     .with_restitution(0.5);
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let law = SetValued::default().with_samples(64);
/// let outcomes = law.resolve_all(&problem)?;
/// let energies = outcomes.outcomes.iter().map(|outcome| outcome.audit.energy_plus_j);
/// assert!(energies.into_iter().all(|energy| energy <= 6.5));
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct SetValued {
    /// Largest cap (upper bound) $h$ of the normal impulses of a step, for the caller's normal rows, N·s. With a smaller
    /// value samples usually have more steps.
    ///
    /// `None` takes the largest impulse that stops one approaching contact alone. If contacts wedge
    /// each other, that is multiplied by a power of sixteen, so that about sixteen steps can make the
    /// impulses of the simultaneous impact. The default is one number for rows of unit kinetic length and does not
    /// depend on the lengths of the rows.
    pub impulse_step: Option<f64>,
    /// Number of samples to draw.
    pub samples: u64,
    /// Seed of the random generator.
    pub seed: u64,
    /// Largest number of steps of a sample.
    pub max_steps: usize,
    /// Accuracy $\varepsilon < h$ of the closing step of Algorithm 2, N·s; `None` makes no closing step.
    pub epsilon: Option<f64>,
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Choice among several solutions of a step.
    pub branch: BranchPolicy,
    /// Probability distribution of the caps (upper bounds of the normal impulses in a step).
    pub caps: CapDistribution,
    /// Budget for all samples together, in units of work of about a multiply-add each; the samples drawn within it are
    /// the answer. In `carom resolve`, bounds of the outcomes get the remaining budget, at least half of the whole.
    pub max_work: u64,
}

carom_numeric::setters!(SetValued {
    /// Sets the largest cap of the normal impulses of a step, N·s.
    with_impulse_step: impulse_step, Option<f64>;
    /// Sets the number of samples to draw.
    with_samples: samples, u64;
    /// Sets the seed of the random generator.
    with_seed: seed, u64;
    /// Sets the largest number of steps of a sample.
    with_max_steps: max_steps, usize;
    /// Sets the accuracy of the closing step, N·s; `None` makes no closing step.
    with_epsilon: epsilon, Option<f64>;
    /// Sets the shape of the friction cones of spatial contacts.
    with_friction_cone: friction_cone, FrictionCone;
    /// Sets the choice among several solutions of a step.
    with_branch: branch, BranchPolicy;
    /// Sets the probability distribution of the caps.
    with_caps: caps, CapDistribution;
    /// Sets the budget for all samples together.
    with_max_work: max_work, u64;
});

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
    pub(super) fn validate(
        &self,
        impulse_step: f64,
        is_approaching: bool,
    ) -> Result<(), ImpactError> {
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

    /// Returns the error for the case that no random sample has ended within the largest number of steps.
    pub fn none_ended(&self) -> ImpactError {
        ImpactError::Limit {
            limit: Limit::Samples,
            at: self.max_steps as u64,
            raise: Some("max_steps"),
        }
    }

    /// Returns the error for the case that no random sample has ended within the work budget.
    pub(super) fn out_of_work(&self) -> ImpactError {
        ImpactError::Limit {
            limit: Limit::Work,
            at: self.max_work,
            raise: Some("max_work"),
        }
    }
}
