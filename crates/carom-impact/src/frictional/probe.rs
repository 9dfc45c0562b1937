//! Parts of a set that samples miss.

use super::choice::SampleChoice;
use super::sampler::{Draw, Sampler};
use super::samples::SampleSummary;
use super::set_valued::{BranchPolicy, COVERING_SPREAD, SetValued};
use super::stepper::StepWorkspace;
use carom_contact::ImpactError;
use carom_numeric::random::CounterRng;

/// Steps of which other solutions are sought.
const STEPS: usize = 256;

/// Covering vectors tried for each.
const COVERS: usize = 2;

/// Solutions closer than this fraction of $\lVert p\rVert$ of what the impact reaches are one.
const SAME: f64 = 1e-6;

/// Generations in which extremes are bred.
const GENERATIONS: u64 = 200;

/// Pivots that breeding may make, over those of the samples.
const PIVOT_SHARE: f64 = 0.5;
/// Pivots that breeding may make at most.
const MOST_PIVOTS: f64 = 1e7;

/// Steps of which the caps of a breeding choice are its own; then they begin again.
const OWN_STEPS: usize = 6;

/// Steps of a choice: those that take more seldom end at all.
const MOST_STEPS: usize = 24;

/// Extents below this fraction of the fastest contact row before the impact count as zero.
const NO_EXTENT: f64 = 1e-6;

/// Estimate of the part of a set that a sampler may have missed.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingProbe {
    /// Fraction of steps, among the first 256 of the samples, that have another solution to which
    /// random covering vectors lead.
    pub ambiguous_steps: f64,
    /// For each contact row, $1 - $ the extent of the samples over the extent that was bred: 0 if
    /// breeding found nothing more.
    pub gap_to_extremes: Vec<f64>,
    /// True if steps have several solutions and the sampler takes always the same: then no number
    /// of samples shows the others.
    pub branch_blind: bool,
}

impl SamplingProbe {
    /// Probes a sampler beside the summary of its samples. Breeding makes half as many pivots as the
    /// samples did, $10^7$ at most.
    ///
    /// The extremes are bred over 200 generations with caps and covering vectors of their own. Like
    /// the samples they lie in the set, so the gap is a lower bound.
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

/// Fraction of steps, among the first 256 of the samples, that random covering vectors bring to
/// another solution.
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
    /// True if a random covering vector leads the last step of a sample, from the slot velocities
    /// `before`, to another solution.
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

/// The farthest outcome along one contact row.
struct Farthest {
    row: usize,
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
    // Bred extents begin with the sampled ones.
    let hull = |row: usize| summary.hull.get(row).map(|extent| (row, extent));
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
        // Changes shrink by a thousand from the first generation to the last.
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
            let Some(v) = rows.get(direction.row) else {
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
            gaps[row] = (1.0 - extent(hull) / bred).max(0.0);
        }
    }
    Ok(gaps)
}
