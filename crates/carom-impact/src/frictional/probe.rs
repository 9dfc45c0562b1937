//! Estimate of the outcomes that samples miss.

use super::choice::SampleChoice;
use super::sampler::{Draw, Sampler};
use super::samples::SampleSummary;
use super::set_valued::{BranchPolicy, COVERING_SPREAD, SetValued};
use super::stepper::StepWorkspace;
use carom_contact::{ImpactError, RowIndex};
use carom_numeric::random::CounterRng;

/// Number of sampled steps for which other solutions are searched for.
const STEPS: usize = 256;

/// Number of random covering vectors tried per step.
const COVERS: usize = 2;

/// Largest distance of two solutions that count as one, as a fraction of $\lVert p\rVert$ of the reached bodies.
const SAME: f64 = 1e-6;

/// Number of generations of the search for extreme outcomes.
const GENERATIONS: u64 = 200;

/// Pivots of the search for extreme outcomes, as a fraction of those of the samples.
const PIVOT_SHARE: f64 = 0.5;
/// Largest number of pivots of the search for extreme outcomes.
const MOST_PIVOTS: f64 = 1e7;

/// Number of steps for which a choice in the search has its own caps (upper bounds of the normal impulses); further steps
/// repeat these caps.
const OWN_STEPS: usize = 6;

/// Largest number of steps of a sample in the search; samples that need more rarely end at all.
const MOST_STEPS: usize = 24;

/// Fraction of the largest row velocity before the impact below which an extent counts as zero.
const NO_EXTENT: f64 = 1e-6;

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
        let ambiguous_steps = ambiguous_steps(sampler)?;
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
/// The errors of [`Sampler::draw`].
pub fn ambiguous_steps(sampler: &Sampler<'_>) -> Result<f64, ImpactError> {
    let mut draw = Draw::default();
    let mut workspace = StepWorkspace::new();
    let (mut steps, mut ambiguous) = (0usize, 0usize);
    let mut before: Vec<f64> = Vec::new();
    let (budget, mut work) = (sampler.options().max_work, 0u64);
    for sample in 0..sampler.options().samples.min(STEPS as u64) {
        let left = budget.saturating_sub(work + workspace.work());
        if steps >= STEPS || left == 0 {
            break;
        }
        before.clear();
        sampler.draw_within(left, sample, &mut draw, |draw| {
            if before.len() == draw.velocity().len() && steps < STEPS {
                let mut rng =
                    CounterRng::new(sampler.options().seed, u64::MAX - sample, steps as u64);
                let is_ambiguous = (0..COVERS)
                    .any(|_| sampler.is_elsewhere(&before, draw, &mut rng, &mut workspace));
                ambiguous += usize::from(is_ambiguous);
                steps += 1;
            }
            before.clear();
            before.extend_from_slice(draw.velocity());
        })?;
        work += draw.work;
    }
    Ok(if steps == 0 {
        0.0
    } else {
        ambiguous as f64 / steps as f64
    })
}

impl Sampler<'_> {
    /// True if the last step of a sample has another solution, found from a random start vector (covering vector) of
    /// Lemke's method. `before` are the velocities of the normalized contact rows before that step; `draw` holds the sample
    /// and the result of the step.
    fn is_elsewhere(
        &self,
        before: &[f64],
        draw: &Draw,
        rng: &mut CounterRng,
        workspace: &mut StepWorkspace,
    ) -> bool {
        let same = SAME * self.norm();
        let is_solved = self.other_step(before, draw.caps(), rng, workspace).is_ok();
        let mut pairs = workspace.after.iter().zip(draw.velocity());
        is_solved && pairs.any(|(a, b)| (a - b).abs() > same)
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
        max_steps: sampler.options().max_steps.min(MOST_STEPS),
        ..sampler.options().clone()
    };
    let breeder = Sampler::new(sampler.problem(), &law)?;
    let n = OWN_STEPS * sampler.reached().len();
    let extent = |[low, high]: &[f64; 2]| high - low;
    let no_extent = NO_EXTENT * sampler.speed();
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
    let budget = PIVOT_SHARE * summary.pivots_per_sample * summary.samples as f64;
    let budget = budget.min(MOST_PIVOTS);
    let (mut pivots, mut index, mut work) = (0.0, 0u64, 0u64);
    let most_work = (summary.work / 2).min(law.max_work / 4);
    while pivots < budget && work < most_work && index < GENERATIONS * law.samples {
        // Mutations become smaller, by a factor of 1000 from the first generation to the last.
        let generation = (GENERATIONS as f64 * pivots / budget).floor();
        let width = libm::pow(1e-3, generation / GENERATIONS as f64);
        let mut rng = CounterRng::new(law.seed, u64::MAX / 2 - index, 0);
        let turn = (index % directions.len() as u64) as usize;
        let parent = directions.get(turn).and_then(|d| d.choice.as_ref());
        let choice = match parent {
            Some(parent) => parent.mutated(&mut rng, width),
            None => SampleChoice::random(n, &mut rng),
        };
        index += 1;
        breeder.replay(&choice.fractions, choice.seed, &mut draw)?;
        pivots += draw.pivots as f64;
        work += draw.work;
        if !draw.is_ended {
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
