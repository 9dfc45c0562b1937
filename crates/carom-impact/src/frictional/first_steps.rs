//! First steps of the random samples of an impact, kept for the estimate of what samples miss.

use super::sampler::{Draw, Sampler};

/// Number of steps kept, and largest number of samples that they come from.
pub(super) const STEPS: usize = 256;

/// One step of a random sample.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeptStep {
    /// Upper bounds of the normal impulses in the step, one per contact.
    pub(super) caps: Vec<f64>,
    /// Velocities of the normalized contact rows after the step.
    pub(super) after: Vec<f64>,
    /// Units of work of the sample up to the end of the step.
    pub(super) work: u64,
}

/// Steps of the first samples of a sampler.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct FirstSteps {
    /// One list of steps per sample, in the order of the samples.
    pub(super) samples: Vec<Vec<KeptStep>>,
    n_steps: usize,
}

impl FirstSteps {
    /// True if there is room for steps of further samples.
    pub(super) fn is_open(&self) -> bool {
        self.n_steps < STEPS && self.samples.len() < STEPS
    }

    /// Adds the steps of samples that follow those in `self`, and drops the steps of samples for which there is no room.
    pub(super) fn add(&mut self, next: Self) {
        for steps in next.samples {
            if self.is_open() {
                self.push(steps);
            }
        }
    }

    /// Adds the steps of the next sample.
    pub(super) fn push(&mut self, steps: Vec<KeptStep>) {
        self.n_steps += steps.len();
        self.samples.push(steps);
    }

    /// True if these are all the steps that an estimate looks at.
    pub(super) fn is_enough(&self, sampler: &Sampler<'_>) -> bool {
        !self.is_open() || self.samples.len() as u64 >= sampler.options().samples
    }
}

impl KeptStep {
    /// Copies the last step of a random sample.
    pub(super) fn of(draw: &Draw) -> Self {
        Self {
            caps: draw.caps().to_vec(),
            after: draw.velocity().to_vec(),
            work: draw.work,
        }
    }
}
