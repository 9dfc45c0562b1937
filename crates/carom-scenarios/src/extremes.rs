//! The extremes of a set of outcomes, sought by evolution.
//!
//! Random caps seldom come near the ends of the set. Here choices of caps and solutions are bred
//! towards the least and the largest velocity of every contact row. What is found lies in the set:
//! the extents are bounds from within, and every one can be replayed; none is proven extreme.

use crate::{Progress, ScenarioError};
use carom_impact::frictional::{CounterRng, Draw, Sampler};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Choices in a generation.
const POPULATION: u64 = 256;

/// Generations for each direction.
const GENERATIONS: u64 = 30;

/// Choices of a generation that have offspring.
const PARENTS: usize = 32;

/// Steps of which caps are chosen; then they begin again.
const STEPS: usize = 6;

/// Probability that a cap of an offspring differs from its parent's.
const MUTATION: f64 = 0.25;

/// One choice: fractions of the caps, and the seed of the choice among solutions.
#[derive(Clone, Debug)]
struct Choice {
    fractions: Vec<f64>,
    seed: u64,
    /// What is sought, larger is better; $-\infty$ if the impact does not end.
    value: f64,
}

/// Least and largest velocity of every contact row that evolution finds.
///
/// The result depends on the sampler alone, for any number of threads.
///
/// # Errors
///
/// Those of [`Sampler::replay`].
pub fn extremes(
    sampler: &Sampler<'_>,
    progress: &Progress,
) -> Result<Vec<[f64; 2]>, ScenarioError> {
    let contacts = sampler.problem().contacts();
    let directions = 2 * contacts.row(contacts.len());
    let done = AtomicU64::new(0);
    let found = (0..directions)
        .into_par_iter()
        .map(|direction| {
            let found = most(sampler, direction)?;
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            progress.report("extremes", done, directions as u64);
            Ok(found)
        })
        .collect::<Result<Vec<f64>, ScenarioError>>()?;
    Ok(found
        .chunks_exact(2)
        .map(|pair| [-pair[0], pair[1]])
        .collect())
}

/// The largest velocity found of a row (direction odd), or of the row reversed (even).
fn most(sampler: &Sampler<'_>, direction: usize) -> Result<f64, ScenarioError> {
    let n = STEPS * sampler.problem().contacts().len();
    let mut draw = Draw::default();
    let mut rows = Vec::new();
    let mut evaluate = |choice: &mut Choice| -> Result<(), ScenarioError> {
        sampler.replay(&choice.fractions, choice.seed, &mut draw)?;
        choice.value = f64::NEG_INFINITY;
        if draw.is_ended {
            sampler.contact_velocity(&draw, &mut rows);
            let along = rows.get(direction / 2).copied().unwrap_or(0.0);
            choice.value = if direction.is_multiple_of(2) {
                -along
            } else {
                along
            };
        }
        Ok(())
    };
    let mut best: Vec<Choice> = Vec::new();
    for generation in 0..=GENERATIONS {
        // Changes shrink by a thousand, which refines what is found.
        let width = 1e-3f64.powf(generation as f64 / GENERATIONS as f64);
        let mut rng = CounterRng::new(
            sampler.options().seed,
            u64::MAX - direction as u64,
            generation,
        );
        let mut offspring = Vec::with_capacity(POPULATION as usize);
        for _ in 0..POPULATION {
            let mut choice = match best.get((rng.next_uniform() * best.len() as f64) as usize) {
                Some(parent) => parent.mutated(&mut rng, width),
                None => Choice::random(n, &mut rng),
            };
            evaluate(&mut choice)?;
            offspring.push(choice);
        }
        best.extend(offspring);
        // Stable, so that ties do not depend on anything but the order of birth.
        best.sort_by(|a, b| b.value.total_cmp(&a.value));
        best.truncate(PARENTS);
    }
    Ok(best
        .first()
        .map_or(f64::NEG_INFINITY, |choice| choice.value))
}

impl Choice {
    fn random(n: usize, rng: &mut CounterRng) -> Self {
        Self {
            fractions: (0..n).map(|_| fraction(rng)).collect(),
            seed: rng.next_bits(),
            value: f64::NEG_INFINITY,
        }
    }

    fn mutated(&self, rng: &mut CounterRng, width: f64) -> Self {
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
    if kind < 0.3 {
        0.0
    } else if kind < 0.4 {
        1.0
    } else {
        rng.next_uniform()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use carom_impact::frictional::{BranchPolicy, SetValued};
    use carom_impact::{Contact, ContactSet, ImpactProblem};
    use carom_metric::{Covector, KineticMetric, Tangent};
    use nalgebra::DMatrix;

    /// The rocking block of Halm & Posa: its extremes are the sequential outcomes, 0.21 of the speed.
    #[test]
    fn the_block_lifts_no_more_than_one_after_the_other() {
        let mass = DMatrix::from_diagonal(&nalgebra::dvector![1.0, 1.0, 5.0 / 12.0]);
        let metric = KineticMetric::new(mass).unwrap();
        let corner = |x: f64| Contact {
            normal: Covector::from_slice(&[0.0, 1.0, x]),
            tangents: vec![Covector::from_slice(&[1.0, 0.0, 1.0])],
            friction: 1.0,
            restitution: 0.0,
        };
        let contacts = ContactSet::new(&metric, vec![corner(-0.5), corner(0.5)]).unwrap();
        let velocity = Tangent::from_slice(&[0.0, -1.0, 0.0]);
        let problem = ImpactProblem::new(&contacts, velocity).unwrap();
        let law = SetValued {
            branch: BranchPolicy::RandomCovering { spread: 6.0 },
            ..SetValued::default()
        };
        let sampler = Sampler::new(&problem, &law).unwrap();
        let found = extremes(&sampler, &Progress::default()).unwrap();
        for (extent, most) in found.iter().zip([0.21, 0.0, 0.21, 0.0]) {
            assert!((extent[1] - most).abs() <= 1e-9, "{found:?}");
            assert!(extent[0].abs() <= 1e-9, "{found:?}");
        }
        let one_thread = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let again = one_thread.install(|| extremes(&sampler, &Progress::default()));
        assert_eq!(again.unwrap(), found);
    }
}
