//! Random choices behind a sample, which can be mutated to search for extreme outcomes.

use carom_numeric::random::CounterRng;

/// Probability that a random fraction of a cap (upper bound of the normal impulse in a step) is 0: the contact does not
/// push.
const NONE_OF_CAP: f64 = 0.3;

/// Probability that a random fraction of a cap (upper bound of the normal impulse in a step) is 1: the whole cap.
const ALL_OF_CAP: f64 = 0.1;

/// Probability that a fraction of an offspring differs from its parent's.
const MUTATION: f64 = 0.25;

/// Random choices that determine one sample of the set-valued law. A sample is a sequence of impulse steps in which every
/// normal impulse has an upper bound (a cap). [`Sampler::replay`](super::Sampler::replay) repeats the sample from these
/// choices.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleChoice {
    /// Fractions in \[0, 1\] of the largest cap (upper bound of the normal impulse in a step). The list has one entry per
    /// contact that the impact [reaches](super::Sampler::reached) for the first step, then for the second, and so on.
    pub fractions: Vec<f64>,
    /// Seed of the random choice among several solutions of a step.
    pub seed: u64,
}

impl SampleChoice {
    /// Draws the choices of a sample at random: `n` fractions of the caps (upper bounds of the normal impulses), and a seed.
    pub fn random(n: usize, rng: &mut CounterRng) -> Self {
        Self {
            fractions: (0..n).map(|_| fraction(rng)).collect(),
            seed: rng.next_bits(),
        }
    }

    /// Returns a random variation of these choices, for an evolutionary search. About a quarter of the fractions are
    /// replaced: by a new random fraction, or by one that differs by at most `width`. The seed is drawn anew with
    /// probability 1/4.
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

/// Draws the fraction of the largest allowed impulse (cap) that a step may use, a random number from 0 to 1. The values 0
/// and 1 are frequent, since extreme outcomes need them.
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
