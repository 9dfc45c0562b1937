//! Set-valued law: its answers, drawn as samples.

use super::probe::ambiguous_steps;
use super::sampler::{Draw, Sampler};
use super::samples::{SampleSummary, sampled_outcomes};
use super::set_valued::{BranchPolicy, CAP_OFF, COVERING_SPREAD, CapDistribution, SetValued};
use crate::laws::BuiltIn;
use carom_contact::internal::separating;
use carom_contact::{
    Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, OutcomeSet, SetValuedLaw,
};
use carom_lcp::contact_problem::ContactMode;

/// Divisor of the budget for the test that decides the `Auto` policies.
const SETTLING_PART: u64 = 8;

impl SetValued {
    /// Returns a copy of the law in which every policy `Auto` is replaced by the one that fits the problem.
    pub(super) fn settled(&self, problem: &ImpactProblem) -> Result<Self, ImpactError> {
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
        // A part of the budget is enough to see if steps have several solutions.
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

    /// Returns the error for the case that no sample of the law has ended: the limit is [`Limit::Work`](carom_contact::Limit::Work) if the work budget
    /// ended the sampling (see `summary`), else [`Limit::Samples`](carom_contact::Limit::Samples).
    pub fn none_of(&self, summary: &SampleSummary) -> ImpactError {
        if summary.is_limited {
            return self.out_of_work();
        }
        self.none_ended()
    }
}

impl ImpactLaw for SetValued {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    /// Resolves an impact by random samples and returns the first sample that ends, i.e. after which no contact approaches.
    /// Samples that are not solved are left out; if all are, the error is that of the first.
    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let problem = problem.event();
        let sampler = Sampler::new(problem, self)?;
        if !problem.is_approaching() {
            let diagnostics = Diagnostics::SetValued {
                sample: 0,
                steps: 0,
                pivots: 0,
                velocity_residual: 0.0,
                modes: vec![ContactMode::Open; problem.contacts().len()],
            };
            return separating(problem, diagnostics);
        }
        let mut draw = Draw::default();
        let mut left = self.max_work;
        let (mut error, mut unsolved) = (None, 0);
        for sample in 0..self.samples {
            let drawn = sampler.draw_within(left, sample, &mut draw, |_| {});
            let outcome = match drawn {
                Ok(()) if draw.is_ended => sampler.outcome(&draw).map(Some),
                drawn => drawn.map(|()| None),
            };
            match outcome {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => {}
                Err(first) => {
                    error.get_or_insert(first);
                    unsolved += 1;
                }
            }
            left = left.saturating_sub(draw.work);
            if left == 0 {
                return Err(self.out_of_work());
            }
        }
        match error {
            Some(error) if unsolved == self.samples => Err(error),
            _ => Err(self.none_ended()),
        }
    }
}

impl SetValuedLaw for SetValued {
    /// Resolves an impact by random samples and returns every sample that ends, in the order of drawing. Samples that are not
    /// solved are left out. The set is never marked complete, since it is a sample.
    fn resolve_all(&self, problem: &ImpactProblem) -> Result<OutcomeSet, ImpactError> {
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
        let indeterminacy = if norm > 0.0 { diameter / norm } else { 0.0 };
        Ok(OutcomeSet::new(outcomes, indeterminacy))
    }
}
