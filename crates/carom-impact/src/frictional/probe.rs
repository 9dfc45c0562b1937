//! Estimate of the outcomes that samples miss.

use super::choice::SampleChoice;
use super::first_steps::{FirstSteps, STEPS};
use super::sampler::{Draw, Sampler};
use super::samples::SampleSummary;
use super::set_valued::{BranchPolicy, COVERING_SPREAD, SetValued};
use super::stepper::StepWorkspace;
use crate::tolerances::DISTINCT;
use carom_contact::{ImpactError, RowIndex};
use carom_numeric::random::CounterRng;

/// Effort of the search for extreme outcomes. It changes the reported gap to the extremes, not the samples.
struct Effort {
    /// Number of random covering vectors tried per step.
    covers: usize,
    /// Number of generations of the search for extreme outcomes.
    generations: u64,
    /// Pivots of the search for extreme outcomes, as a fraction of those of the samples.
    pivot_share: f64,
    /// Largest number of pivots of the search for extreme outcomes.
    most_pivots: f64,
    /// Number of steps for which a choice in the search has its own caps (upper bounds of the normal impulses); further steps
    /// repeat these caps.
    own_steps: usize,
    /// Largest number of steps of a sample in the search; samples that need more rarely end at all.
    most_steps: usize,
}

/// Values of [`Effort`].
const EFFORT: Effort = Effort {
    covers: 2,
    generations: 200,
    pivot_share: 0.5,
    most_pivots: 1e7,
    own_steps: 6,
    most_steps: 24,
};

/// Estimate of the part of an impact's outcomes that random samples of the set-valued law may have missed.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingProbe {
    /// Fraction of ambiguous steps among the first 256 steps of the samples: random covering vectors lead to another
    /// solution.
    pub ambiguous_steps: f64,
    /// One number per contact row: 1 minus the ratio of the extent of the samples to the extent found by a search for extreme
    /// outcomes. It is 0 if the search found nothing further out.
    pub gap_to_extremes: Vec<f64>,
    /// True if steps have several solutions but the sampler always takes the same one: then the other
    /// solutions are missed for any number of samples.
    pub branch_blind: bool,
}

impl SamplingProbe {
    /// Estimates the outcomes that a sampler may have missed, given the summary of its samples. The search for extreme
    /// outcomes makes at most half as many pivots as the samples did, and at most $10^7$.
    ///
    /// The search is evolutionary, over 200 generations. Its upper bounds of the normal impulses (caps) and its start
    /// vectors of Lemke's method (covering vectors) differ from those of the samples. The outcomes of the search, like those
    /// of the samples, belong to the set, so the reported gap is a lower bound.
    ///
    /// # Errors
    ///
    /// The errors of [`Sampler::draw`].
    pub fn new(sampler: &Sampler<'_>, summary: &SampleSummary) -> Result<Self, ImpactError> {
        let first = &summary.first_steps;
        let ambiguous_steps = if first.is_enough(sampler) {
            ambiguous_among(sampler, first)
        } else {
            ambiguous_steps(sampler)?
        };
        Ok(Self {
            ambiguous_steps,
            gap_to_extremes: gap_to_extremes(sampler, summary)?,
            branch_blind: ambiguous_steps > 0.0 && sampler.options().branch == BranchPolicy::Fixed,
        })
    }
}

/// Returns the fraction of ambiguous steps among the first 256 steps of the samples: steps for which random covering vectors
/// of Lemke's method lead to another solution.
///
/// # Errors
///
/// The errors of [`Sampler::draw`], if no step was solved.
pub fn ambiguous_steps(sampler: &Sampler<'_>) -> Result<f64, ImpactError> {
    let mut draw = Draw::default();
    let mut search = Ambiguity::new(sampler);
    let budget = sampler.options().max_work;
    let mut unsolved = None;
    for sample in 0..sampler.options().samples.min(STEPS as u64) {
        let left = budget.saturating_sub(search.work());
        if search.steps >= STEPS || left == 0 {
            break;
        }
        search.begin(sample);
        let drawn = sampler.draw_within(left, sample, &mut draw, |draw| {
            if draw.steps > 0 {
                search.look(draw.caps(), draw.velocity());
            }
        });
        search.of_samples += draw.work;
        if let Err(error) = drawn {
            unsolved.get_or_insert(error);
        }
    }
    match unsolved {
        Some(error) if search.steps == 0 => Err(error),
        _ => Ok(search.fraction()),
    }
}

/// Returns the fraction of ambiguous steps like [`ambiguous_steps`], for the kept steps `first` of complete samples.
fn ambiguous_among(sampler: &Sampler<'_>, first: &FirstSteps) -> f64 {
    let mut search = Ambiguity::new(sampler);
    let budget = sampler.options().max_work;
    for (sample, steps) in first.samples.iter().enumerate() {
        let left = budget.saturating_sub(search.work());
        if search.steps >= STEPS || left == 0 {
            break;
        }
        search.begin(sample as u64);
        let mut work = 0;
        for step in steps {
            if work >= left {
                break;
            }
            search.look(&step.caps, &step.after);
            work = step.work;
        }
        search.of_samples += work;
    }
    search.fraction()
}

/// Search for other solutions of the steps of random samples.
struct Ambiguity<'s, 'a> {
    sampler: &'s Sampler<'a>,
    workspace: StepWorkspace,
    /// Velocities of the normalized contact rows before the next step.
    before: Vec<f64>,
    sample: u64,
    /// Number of steps examined, and of those with another solution.
    steps: usize,
    ambiguous: usize,
    /// Units of work of the samples, without the search.
    of_samples: u64,
}

impl<'s, 'a> Ambiguity<'s, 'a> {
    fn new(sampler: &'s Sampler<'a>) -> Self {
        Self {
            sampler,
            workspace: StepWorkspace::new(),
            before: Vec::new(),
            sample: 0,
            steps: 0,
            ambiguous: 0,
            of_samples: 0,
        }
    }

    /// Returns the units of work of samples and search so far.
    fn work(&self) -> u64 {
        self.of_samples + self.workspace.work()
    }

    /// Begins a sample with the given number.
    fn begin(&mut self, sample: u64) {
        self.sample = sample;
        self.before.clear();
        self.before.extend_from_slice(self.sampler.before());
    }

    /// Examines the next step of the sample. `caps` are the upper bounds of its normal impulses, `after` the velocities
    /// of the normalized contact rows after the step.
    fn look(&mut self, caps: &[f64], after: &[f64]) {
        if self.steps < STEPS {
            let seed = self.sampler.options().seed;
            let mut rng = CounterRng::new(seed, u64::MAX - self.sample, self.steps as u64);
            let is_ambiguous = (0..EFFORT.covers).any(|_| self.is_elsewhere(caps, after, &mut rng));
            self.ambiguous += usize::from(is_ambiguous);
            self.steps += 1;
        }
        self.before.clear();
        self.before.extend_from_slice(after);
    }

    /// True if a step has another solution than `after`, found from a random start vector (covering vector) of Lemke's
    /// method.
    fn is_elsewhere(&mut self, caps: &[f64], after: &[f64], rng: &mut CounterRng) -> bool {
        let same = DISTINCT * self.sampler.norm();
        let workspace = &mut self.workspace;
        let is_solved = self
            .sampler
            .other_step(&self.before, caps, rng, workspace)
            .is_ok();
        let mut pairs = workspace.after.iter().zip(after);
        is_solved && pairs.any(|(a, b)| (a - b).abs() > same)
    }

    /// Returns the fraction of ambiguous steps; 0 if no step was examined.
    fn fraction(&self) -> f64 {
        if self.steps == 0 {
            0.0
        } else {
            self.ambiguous as f64 / self.steps as f64
        }
    }
}

/// Farthest outcome found so far in one direction along one contact row.
struct Farthest {
    row: RowIndex,
    sign: f64,
    value: f64,
    choice: Option<SampleChoice>,
}

fn gap_to_extremes(
    sampler: &Sampler<'_>,
    summary: &SampleSummary,
) -> Result<Vec<f64>, ImpactError> {
    let law = SetValued {
        branch: BranchPolicy::RandomCovering {
            spread: COVERING_SPREAD,
        },
        max_steps: sampler.options().max_steps.min(EFFORT.most_steps),
        ..sampler.options().clone()
    };
    let breeder = Sampler::new(sampler.problem(), &law)?;
    let n = EFFORT.own_steps * sampler.reached().len();
    let extent = |[low, high]: &[f64; 2]| high - low;
    let no_extent = DISTINCT * sampler.speed();
    // The search starts from the extents of the samples.
    let hull = |row: RowIndex| summary.hull.get(row.index()).map(|extent| (row, extent));
    let mut directions: Vec<Farthest> = sampler
        .reached_rows()
        .filter_map(hull)
        .flat_map(|(row, [low, high])| {
            [(-1.0, -low), (1.0, *high)].map(|(sign, value)| Farthest {
                row,
                sign,
                value,
                choice: None,
            })
        })
        .collect();
    if directions.is_empty() || n == 0 {
        return Ok(Vec::new());
    }
    let mut draw = Draw::default();
    let mut rows = Vec::new();
    let budget = EFFORT.pivot_share * summary.pivots_per_sample * summary.samples as f64;
    let budget = budget.min(EFFORT.most_pivots);
    let (mut pivots, mut index, mut work) = (0.0, 0u64, 0u64);
    let most_work = (summary.work / 2).min(law.max_work / 4);
    while pivots < budget && work < most_work && index < EFFORT.generations * law.samples {
        // Mutations become smaller, by a factor of 1000 from the first generation to the last.
        let generation = (EFFORT.generations as f64 * pivots / budget).floor();
        let width = libm::pow(1e-3, generation / EFFORT.generations as f64);
        let mut rng = CounterRng::new(law.seed, u64::MAX / 2 - index, 0);
        let turn = (index % directions.len() as u64) as usize;
        let parent = directions.get(turn).and_then(|d| d.choice.as_ref());
        let choice = match parent {
            Some(parent) => parent.mutated(&mut rng, width),
            None => SampleChoice::random(n, &mut rng),
        };
        index += 1;
        let replayed = breeder.replay(&choice.fractions, choice.seed, &mut draw);
        pivots += draw.pivots as f64;
        work += draw.work;
        if replayed.is_err() || !draw.is_ended {
            continue;
        }
        breeder.contact_velocity(&draw, &mut rows);
        for direction in &mut directions {
            let Some(v) = rows.get(direction.row.index()) else {
                continue;
            };
            if direction.sign * v > direction.value {
                direction.value = direction.sign * v;
                direction.choice = Some(choice.clone());
            }
        }
    }
    let mut gaps = vec![0.0; summary.hull.len()];
    for pair in directions.chunks_exact(2) {
        let bred: f64 = pair.iter().map(|d| d.value).sum();
        let Some((row, hull)) = pair.first().and_then(|d| hull(d.row)) else {
            continue;
        };
        if bred > no_extent {
            gaps[row.index()] = (1.0 - extent(hull) / bred).max(0.0);
        }
    }
    Ok(gaps)
}
