//! The extremes of a set of outcomes, sought by evolution.
//!
//! Random caps seldom come near the ends of the set. Here choices of caps and solutions are bred
//! towards the least and the largest velocity of every contact row. What is found lies in the set:
//! the extents are bounds from within, and every one can be replayed; none is proven extreme.

use crate::{Progress, ScenarioError};
use carom_impact::frictional::{CounterRng, Draw, SampleChoice, Sampler};
use rayon::prelude::*;

/// Random choices to begin with.
const FOUNDERS: u64 = 2048;

/// Generations, that of the random choices included.
const GENERATIONS: u64 = 30;

/// Offspring in a generation for each direction.
const OFFSPRING: u64 = 128;

/// SampleChoices of a direction that have offspring.
const PARENTS: usize = 32;

/// Velocities that differ by less, over the largest of a contact row before the impact, are the
/// same.
const SAME: f64 = 1e-9;

/// Steps of which caps are chosen; then they begin again.
const STEPS: usize = 6;

/// A choice whose impact ends, with the velocities of all contact rows then.
struct Found {
    choice: SampleChoice,
    rows: Vec<f64>,
}

/// The search along one contact row.
struct Direction {
    row: usize,
    sign: f64,
    /// Nothing exceeds this: contacts do not approach after the impact.
    bound: f64,
    /// Values and choices, best first; at most [`PARENTS`].
    best: Vec<(f64, SampleChoice)>,
}

/// Least and largest velocity of every contact row that evolution finds.
///
/// Every outcome met counts for all rows, whichever it was bred for. Nothing is bred towards normal
/// velocities below zero, which no outcome has.
///
/// The result depends on the sampler alone, for any number of threads.
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
        // Changes shrink by a thousand, which refines what is found.
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

/// Velocities that the choices lead to, in their order; `None` for impacts that do not end.
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
    /// Both directions of every row, the least first.
    fn all(sampler: &Sampler<'_>) -> Vec<Self> {
        let contacts = sampler.problem().contacts();
        let is_normal = |row: usize| (0..contacts.len()).any(|i| contacts.row(i) == row);
        let rows = 0..contacts.row(contacts.len());
        rows.flat_map(|row| [(row, -1.0), (row, 1.0)])
            .map(|(row, sign)| Self {
                row,
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
        // Behind its equals, so that ties depend on nothing but the order of birth.
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
