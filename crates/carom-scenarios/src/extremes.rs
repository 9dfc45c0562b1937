//! Extremes of a set of outcomes, searched by an evolutionary algorithm.
//!
//! Random samples seldom come near the boundary of the set. This search varies the caps on the impulse steps and the
//! selection of solutions so as to minimize and to maximize the velocity of every contact row. Every velocity found belongs
//! to the set and can be replayed: the result bounds the extremes from inside, without proof that they are reached.

use crate::{Progress, ScenarioError};
use carom_impact::frictional::{CounterRng, Sampler};
use carom_impact::internal::{Draw, SampleChoice};
use rayon::prelude::*;

/// Number of random choices in the first generation.
const FOUNDERS: u64 = 2048;

/// Number of generations, including the random one.
const GENERATIONS: u64 = 30;

/// Number of offspring per generation and direction.
const OFFSPRING: u64 = 128;

/// Largest number of choices per direction that have offspring.
const PARENTS: usize = 32;

/// Difference below which two velocities count as equal, divided by the largest velocity of a contact row before the
/// impact.
const SAME: f64 = 1e-9;

/// Number of steps with individually chosen caps; longer impacts repeat them from the start.
const STEPS: usize = 6;

/// A choice whose impact terminates, with the velocities of all contact rows after it.
struct Found {
    choice: SampleChoice,
    rows: Vec<f64>,
}

/// Search for the extreme velocity of one contact row in one direction (`sign`).
struct Direction {
    row: usize,
    sign: f64,
    /// Bound that no velocity exceeds: 0 towards approach, because contacts do not approach after the impact.
    bound: f64,
    /// Best values with their choices, best first; at most [`PARENTS`].
    best: Vec<(f64, SampleChoice)>,
}

/// Searches the least and the largest velocity after a set-valued impact along every contact row (normal or tangential
/// direction of a contact), among the outcomes that the sampler draws. Returns the pair of least and largest velocity for every
/// row.
///
/// For each extreme, the best outcomes found so far are varied. Each new outcome is compared with the extremes of all rows.
/// Normal velocities below zero are not searched, because no outcome has them.
///
/// The result depends on the sampler alone, not on the number of threads.
///
/// # Errors
///
/// The errors of [`Sampler::replay`].
pub fn extremes(
    sampler: &Sampler<'_>,
    progress: &Progress,
) -> Result<Vec<[f64; 2]>, ScenarioError> {
    let same = SAME * sampler.speed();
    let seed = sampler.options().seed;
    let n = STEPS * sampler.reached().len();
    let mut directions = Direction::all(sampler);
    let mut born: Vec<SampleChoice> = (0..FOUNDERS)
        .map(|i| SampleChoice::random(n, &mut CounterRng::new(seed, u64::MAX, i)))
        .collect();
    for generation in 1..=GENERATIONS {
        for found in evaluate(sampler, &born)?.into_iter().flatten() {
            directions.iter_mut().for_each(|d| d.offer(&found));
        }
        progress.report("extremes", generation, GENERATIONS);
        // The size of mutations shrinks by a factor of a thousand over the generations, which refines the extremes.
        let width = libm::pow(1e-3, generation as f64 / GENERATIONS as f64);
        born.clear();
        for (i, direction) in (0..).zip(&directions) {
            if direction.most() >= direction.bound - same {
                continue;
            }
            let mut rng = CounterRng::new(seed, u64::MAX - 1 - i, generation);
            born.extend((0..OFFSPRING).filter_map(|_| direction.offspring(&mut rng, width)));
        }
    }
    let most: Vec<f64> = directions.iter().map(Direction::most).collect();
    Ok(most
        .chunks_exact(2)
        .map(|pair| [-pair[0], pair[1]])
        .collect())
}

/// Computes the impact outcome for each of the `choices` of random numbers. Returns for each choice the velocities along the
/// contact rows (normal and tangential directions of the contacts) after the impact; `None` for an impact that does not
/// terminate.
fn evaluate(
    sampler: &Sampler<'_>,
    choices: &[SampleChoice],
) -> Result<Vec<Option<Found>>, ScenarioError> {
    choices
        .par_iter()
        .map_init(Draw::default, |draw, choice| {
            sampler.replay(&choice.fractions, choice.seed, draw)?;
            if !draw.is_ended {
                return Ok(None);
            }
            let mut rows = Vec::new();
            sampler.contact_velocity(draw, &mut rows);
            let choice = choice.clone();
            Ok(Some(Found { choice, rows }))
        })
        .collect()
}

impl Direction {
    /// Returns two search directions for every contact row (normal or tangential direction of a contact): first the minimum,
    /// then the maximum of the velocity along the row after the impact.
    fn all(sampler: &Sampler<'_>) -> Vec<Self> {
        let contacts = sampler.problem().contacts();
        let is_normal = |row| contacts.indices().any(|i| contacts.row(i) == row);
        let rows = contacts.all_rows();
        rows.flat_map(|row| [(row, -1.0), (row, 1.0)])
            .map(|(row, sign)| Self {
                row: row.index(),
                sign,
                bound: if sign < 0.0 && is_normal(row) {
                    0.0
                } else {
                    f64::INFINITY
                },
                best: Vec::with_capacity(PARENTS + 1),
            })
            .collect()
    }

    fn offer(&mut self, found: &Found) {
        let value = self.sign * found.rows.get(self.row).copied().unwrap_or(0.0);
        // Equal values stay in the order of their evaluation, so that ties depend on nothing else.
        let at = self.best.partition_point(|(v, _)| *v >= value);
        if at < PARENTS {
            self.best.insert(at, (value, found.choice.clone()));
            self.best.truncate(PARENTS);
        }
    }

    fn most(&self) -> f64 {
        self.best.first().map_or(f64::NEG_INFINITY, |(v, _)| *v)
    }

    fn offspring(&self, rng: &mut CounterRng, width: f64) -> Option<SampleChoice> {
        let parent = (rng.next_uniform() * self.best.len() as f64) as usize;
        let (_, choice) = self.best.get(parent)?;
        Some(choice.mutated(rng, width))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use carom_contact::{Contact, ContactSet, ImpactProblem};
    use carom_impact::frictional::{BranchPolicy, SetValued};
    use carom_metric::{Covector, KineticMetric, Tangent};
    use nalgebra::DMatrix;

    /// Checks the rocking block of Halm & Posa: the largest normal velocity after the impact, 0.21 times the impact speed, is
    /// that of sequential impacts.
    #[test]
    fn the_block_lifts_no_more_than_one_after_the_other() {
        let mass = DMatrix::from_diagonal(&nalgebra::dvector![1.0, 1.0, 5.0 / 12.0]);
        let metric = KineticMetric::new(mass).unwrap();
        let corner = |x: f64| {
            Contact::new(Covector::from_slice(&[0.0, 1.0, x]))
                .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, 1.0])])
                .with_friction(1.0)
        };
        let contacts = ContactSet::new(&metric, vec![corner(-0.5), corner(0.5)]).unwrap();
        let velocity = Tangent::from_slice(&[0.0, -1.0, 0.0]);
        let problem = ImpactProblem::new(&contacts, velocity).unwrap();
        let law = SetValued::default().with_branch(BranchPolicy::RandomCovering { spread: 6.0 });
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
