//! Options of the set-valued law.

use carom_contact::{FrictionCone, ImpactError};

/// Units of work that all samples of a problem may take by default, about a multiply-add each and five seconds in
/// all. They are counted, not timed, so that samples end at the same place on every machine.
pub const DEFAULT_SAMPLING_WORK: u64 = 5_000_000_000;

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
/// never grows. [`ImpactLaw::resolve`](carom_contact::ImpactLaw::resolve) gives the first sample that ends.
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

    /// The error that no sample has ended within its steps.
    pub fn none_ended(&self) -> ImpactError {
        ImpactError::SampleLimit {
            samples: self.samples,
            max_steps: self.max_steps,
        }
    }
}
