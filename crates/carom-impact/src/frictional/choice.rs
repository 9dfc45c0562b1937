//! Samples that are bred instead of drawn.

use carom_numeric::random::CounterRng;

/// Part of the random fractions of a cap that leave nothing of it.
const NONE_OF_CAP: f64 = 0.3;

/// Part of the random fractions of a cap that leave it whole.
const ALL_OF_CAP: f64 = 0.1;

/// Probability that a cap of an offspring differs from its parent's.
const MUTATION: f64 = 0.25;

/// Choices that make one sample of a set-valued impact, for [`Sampler::replay`](super::Sampler::replay).
#[derive(Clone, Debug, PartialEq)]
pub struct SampleChoice {
    /// Fractions of the caps in \[0, 1\], contact after contact and step after step.
    pub fractions: Vec<f64>,
    /// Seed of the choice among the solutions of a step.
    pub seed: u64,
}

impl SampleChoice {
    /// `n` random fractions.
    pub fn random(n: usize, rng: &mut CounterRng) -> Self {
        Self {
            fractions: (0..n).map(|_| fraction(rng)).collect(),
            seed: rng.next_bits(),
        }
    }

    /// An offspring, some of whose fractions are drawn anew or moved by up to `width`.
    pub fn mutated(&self, rng: &mut CounterRng, width: f64) -> Self {
        let mut child = self.clone();
        for x in &mut child.fractions {
            if rng.next_uniform() >= MUTATION {
                continue;
            }
            *x = if rng.next_uniform() < 0.5 {
                fraction(rng)
            } else {
                (*x + width * (2.0 * rng.next_uniform() - 1.0)).clamp(0.0, 1.0)
            };
        }
        if rng.next_uniform() < MUTATION {
            child.seed = rng.next_bits();
        }
        child
    }
}

/// A fraction of a cap: often none or all of it, where the extremes are.
fn fraction(rng: &mut CounterRng) -> f64 {
    let kind = rng.next_uniform();
    if kind < NONE_OF_CAP {
        0.0
    } else if kind < NONE_OF_CAP + ALL_OF_CAP {
        1.0
    } else {
        rng.next_uniform()
    }
}
