//! Sampling of set-valued impacts, and statistics of the samples.
//!
//! With the feature `rayon` the samples are drawn on all threads of the current pool. Every sample depends only on the seed
//! and its index. All statistics are sums of integers, minima and maxima, or computed from the first samples in order, so the
//! result is bit-identical for any number of threads. Memory does not grow with the number of samples, unless outcomes are
//! kept.

use super::first_steps::{FirstSteps, KeptStep, STEPS};
use super::sampler::{Draw, Sampler};
use crate::tolerances::DISTINCT;
use carom_contact::{ImpactError, ImpactOutcome};
use std::collections::BTreeSet;
use std::ops::Range;

/// Division of samples into rounds of parallel tasks. It changes memory and time, and no statistic.
struct Tasks {
    /// Largest number of samples that one task draws.
    samples: u64,
    /// Number of samples in the first round, which measures the work per sample.
    first_round: u64,
    /// Number of tasks between two reports of progress; results of this many tasks are held in memory.
    round: u64,
    /// Work between two reports of progress, about a tenth of a second of one core: an observer can stop the sampling within
    /// this time.
    round_work: u64,
}

/// Values of [`Tasks`].
const TASKS: Tasks = Tasks {
    samples: 512,
    first_round: 16,
    round: 128,
    round_work: 100_000_000,
};

/// Number of samples whose contact velocities are kept.
const KEPT: u64 = 1 << 14;

/// Number of cells along each contact row when coverage is measured.
const CELLS: f64 = 32.0;

/// Largest number of samples in each half when the two halves are compared.
const HALF: usize = 1024;

/// Statistics of the random samples of one impact under the set-valued law.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleSummary {
    /// Number of samples drawn.
    pub samples: u64,
    /// True if the budget of work ([`SetValued::max_work`](super::SetValued::max_work)) was used up before all samples were drawn.
    pub is_limited: bool,
    /// Units of work of all samples together.
    pub work: u64,
    /// Number of samples that reached the end of the impact within the allowed steps.
    pub terminated: u64,
    /// Number of samples given up because a step was not solved, or because their outcome was refused. The other statistics
    /// leave them out.
    pub unsolved: u64,
    /// Mean number of complementarity problems solved per sample.
    pub lcp_per_sample: f64,
    /// Mean number of pivots per sample.
    pub pivots_per_sample: f64,
    /// Histogram: entry k is the number of samples with k steps.
    pub histogram: Vec<u64>,
    /// Smallest and largest velocity of every contact row over the samples that ended.
    pub hull: Vec<[f64; 2]>,
    /// Number of samples that ended at rest: the velocities of all contact rows that the impact reaches are below $10^{-6}$
    /// of the largest row velocity before the impact.
    pub at_rest: u64,
    /// Coverage of the set of outcomes by the samples; `None` if fewer than two samples ended.
    pub coverage: Option<Coverage>,
    /// Velocities of all contact rows, for the first samples that ended.
    pub velocities: Vec<Vec<f64>>,
    /// Steps of the first samples; empty if some samples may be incomplete.
    pub(super) first_steps: FirstSteps,
}

/// Measures of the part of the set of outcomes that random samples cover: occupied cells, and differences between the
/// two halves of the samples. They are computed from the first 16384 samples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Coverage {
    /// Number of cells that contain samples; the bounding box of the samples is divided into 32 cells along every row.
    pub cells: usize,
    /// Fraction of the samples in the second half that lie in a cell without samples of the first half.
    pub new_cell_rate: f64,
    /// Largest distance of a sample in one half to the nearest sample in the other (at most 1024 in each),
    /// in units of the largest extent.
    pub split_half_distance: f64,
}

/// Statistics of the samples that one task has drawn.
#[derive(Default)]
struct Share {
    terminated: u64,
    unsolved: u64,
    /// Error of the first sample that was not solved.
    error: Option<ImpactError>,
    steps: u64,
    pivots: u64,
    work: u64,
    at_rest: u64,
    histogram: Vec<u64>,
    hull: Vec<[f64; 2]>,
    velocities: Vec<Vec<f64>>,
    outcomes: Vec<ImpactOutcome>,
    first_steps: FirstSteps,
}

impl Share {
    /// Adds the statistics `next` of another group of samples to the statistics in `self`. Groups are added in the order of
    /// the samples.
    fn add(&mut self, next: Self) {
        self.terminated += next.terminated;
        self.unsolved += next.unsolved;
        self.error = self.error.take().or(next.error);
        self.steps += next.steps;
        self.pivots += next.pivots;
        self.work = self.work.saturating_add(next.work);
        self.at_rest += next.at_rest;
        for (steps, count) in next.histogram.into_iter().enumerate() {
            add(&mut self.histogram, steps, count);
        }
        widen(&mut self.hull, &next.hull);
        self.velocities.extend(next.velocities);
        self.outcomes.extend(next.outcomes);
        self.first_steps.add(next.first_steps);
    }
}

/// Draws all random samples of a sampler and returns their statistics. `progress` is called from time to time with the number
/// of samples drawn so far and the total number.
///
/// # Errors
///
/// The error of the first sample, one of [`Sampler::draw`] and [`Sampler::outcome`], if no sample was solved.
pub fn summarize(
    sampler: &Sampler<'_>,
    progress: &dyn Fn(u64, u64),
) -> Result<SampleSummary, ImpactError> {
    Ok(run(sampler, false, progress)?.0)
}

/// Draws all random samples of a sampler; returns their statistics and the outcomes of those that ended, in the order of the
/// samples.
///
/// # Errors
///
/// The errors of [`summarize`].
pub fn sampled_outcomes(
    sampler: &Sampler<'_>,
    progress: &dyn Fn(u64, u64),
) -> Result<(SampleSummary, Vec<ImpactOutcome>), ImpactError> {
    run(sampler, true, progress)
}

fn run(
    sampler: &Sampler<'_>,
    keep_outcomes: bool,
    progress: &dyn Fn(u64, u64),
) -> Result<(SampleSummary, Vec<ImpactOutcome>), ImpactError> {
    let (samples, max_work) = (sampler.options().samples, sampler.options().max_work);
    let mut total = Share::default();
    let mut drawn = 0;
    while drawn < samples && total.work < max_work {
        let left = max_work - total.work;
        let (chunk, n_chunks) = next_round(drawn, samples - drawn, total.work, left);
        let end = samples.min(drawn + chunk * n_chunks);
        let keep = Keep {
            outcomes: keep_outcomes,
            steps: total.first_steps.is_open(),
        };
        let shares = in_turn(0..(end - drawn).div_ceil(chunk), |draw, k| {
            let start = drawn + k * chunk;
            let range = start..end.min(start + chunk);
            share(sampler, range, draw, keep, left)
        });
        shares.into_iter().for_each(|share| total.add(share));
        drawn = end;
        progress(drawn, samples);
    }
    if let Some(error) = total.error.filter(|_| total.unsolved == drawn) {
        return Err(error);
    }
    let solved = (drawn - total.unsolved).max(1) as f64;
    let is_limited =
        drawn < samples || (total.work >= max_work && total.terminated + total.unsolved < drawn);
    let summary = SampleSummary {
        samples: drawn,
        is_limited,
        work: total.work,
        terminated: total.terminated,
        unsolved: total.unsolved,
        lcp_per_sample: total.steps as f64 / solved,
        pivots_per_sample: total.pivots as f64 / solved,
        histogram: total.histogram,
        coverage: coverage(&total.hull, &total.velocities, DISTINCT * sampler.speed()),
        hull: total.hull,
        at_rest: total.at_rest,
        velocities: total.velocities,
        first_steps: if is_limited || sampler.has_closing_step() {
            FirstSteps::default()
        } else {
            total.first_steps
        },
    };
    Ok((summary, total.outcomes))
}

/// Plans the next round of random samples: returns the number of samples per task and the number of tasks. `drawn` samples
/// have used `work`; `rest` samples and the work `left` remain. A round takes at most about a quarter of the remaining
/// work, and at most [`Tasks::round_work`]. The division into tasks changes no statistic.
fn next_round(drawn: u64, rest: u64, work: u64, left: u64) -> (u64, u64) {
    if drawn == 0 {
        return (1, TASKS.first_round);
    }
    let of_each = (work / drawn).max(1);
    let work = (left / 4).min(TASKS.round_work);
    let wanted = (work / of_each)
        .clamp(TASKS.first_round, TASKS.samples * TASKS.round)
        .min(rest);
    let chunk = wanted.div_ceil(TASKS.round).clamp(1, TASKS.samples);
    (chunk, wanted.div_ceil(chunk).max(1))
}

/// Runs all tasks in parallel and returns their statistics in order. `chunks` are the numbers of the tasks; `share` computes
/// the statistics of the task with a given number.
#[cfg(feature = "rayon")]
fn in_turn(chunks: Range<u64>, share: impl Fn(&mut Draw, u64) -> Share + Sync) -> Vec<Share> {
    use rayon::prelude::*;
    let chunks = chunks.into_par_iter();
    chunks.map_init(Draw::default, &share).collect()
}

/// Runs all tasks one after the other and returns their statistics in order. `chunks` are the numbers of the tasks; `share`
/// computes the statistics of the task with a given number.
#[cfg(not(feature = "rayon"))]
fn in_turn(chunks: Range<u64>, share: impl Fn(&mut Draw, u64) -> Share) -> Vec<Share> {
    let mut draw = Draw::default();
    chunks.map(|chunk| share(&mut draw, chunk)).collect()
}

/// Results of single samples that a task keeps, beside the statistics.
#[derive(Clone, Copy)]
struct Keep {
    outcomes: bool,
    /// True if the steps of the first samples are kept.
    steps: bool,
}

fn share(
    sampler: &Sampler<'_>,
    range: Range<u64>,
    draw: &mut Draw,
    keep: Keep,
    max_work: u64,
) -> Share {
    let mut share = Share::default();
    let mut rows = Vec::new();
    let at_rest = DISTINCT * sampler.speed();
    for sample in range {
        let left = max_work.saturating_sub(share.work);
        let mut steps = Vec::new();
        let keep_steps = keep.steps && sample < STEPS as u64;
        let drawn = sampler.draw_within(left, sample, draw, |draw| {
            if keep_steps && draw.steps > 0 {
                steps.push(KeptStep::of(draw));
            }
        });
        if keep_steps {
            share.first_steps.push(steps);
        }
        share.work = share.work.saturating_add(draw.work);
        let outcome = match drawn {
            Ok(()) if draw.is_ended && keep.outcomes => sampler.outcome(draw).map(Some),
            drawn => drawn.map(|()| None),
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                share.unsolved += 1;
                share.error.get_or_insert(error);
                continue;
            }
        };
        share.steps += draw.steps as u64;
        share.pivots += draw.pivots as u64;
        add(&mut share.histogram, draw.steps, 1);
        if !draw.is_ended {
            continue;
        }
        share.terminated += 1;
        sampler.contact_velocity(draw, &mut rows);
        let is_at_rest = sampler
            .reached_rows()
            .all(|row| rows[row.index()].abs() <= at_rest);
        share.at_rest += u64::from(is_at_rest);
        if share.hull.is_empty() {
            share.hull.extend(rows.iter().map(|v| [*v; 2]));
        } else {
            for (extent, v) in share.hull.iter_mut().zip(&rows) {
                *extent = [extent[0].min(*v), extent[1].max(*v)];
            }
        }
        if sample < KEPT {
            share.velocities.push(rows.clone());
        }
        share.outcomes.extend(outcome);
    }
    share
}

fn add(histogram: &mut Vec<u64>, steps: usize, count: u64) {
    if histogram.len() <= steps {
        histogram.resize(steps + 1, 0);
    }
    if let Some(entry) = histogram.get_mut(steps) {
        *entry += count;
    }
}

fn widen(hull: &mut Vec<[f64; 2]>, other: &[[f64; 2]]) {
    if hull.is_empty() {
        hull.extend_from_slice(other);
        return;
    }
    for (extent, other) in hull.iter_mut().zip(other) {
        *extent = [extent[0].min(other[0]), extent[1].max(other[1])];
    }
}

fn coverage(hull: &[[f64; 2]], velocities: &[Vec<f64>], no_extent: f64) -> Option<Coverage> {
    if velocities.len() < 2 {
        return None;
    }
    let longest = hull.iter().fold(0.0, |m, e| f64::max(m, e[1] - e[0]));
    let cell = |rows: &Vec<f64>| -> Vec<u8> {
        let along = |(v, [low, high]): (&f64, &[f64; 2])| {
            let extent = high - low;
            if extent > no_extent {
                ((v - low) / extent * CELLS).min(CELLS - 1.0) as u8
            } else {
                0
            }
        };
        rows.iter().zip(hull).map(along).collect()
    };
    let (first, second) = velocities.split_at(velocities.len() / 2);
    let mut met: BTreeSet<Vec<u8>> = first.iter().map(cell).collect();
    let second_cells: Vec<Vec<u8>> = second.iter().map(cell).collect();
    let is_new = |c: &&Vec<u8>| !met.contains(*c);
    let new_cell_rate = second_cells.iter().filter(is_new).count() as f64 / second.len() as f64;
    met.extend(second_cells);
    let (a, b) = (
        &first[..first.len().min(HALF)],
        &second[..second.len().min(HALF)],
    );
    let distance = directed_distance(a, b).max(directed_distance(b, a));
    Some(Coverage {
        cells: met.len(),
        new_cell_rate,
        split_half_distance: if longest > no_extent {
            distance / longest
        } else {
            0.0
        },
    })
}

/// Returns the largest distance of a point of `a` to the point of `b` that is nearest to it (the directed Hausdorff
/// distance).
fn directed_distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let square =
        |p: &[f64], q: &[f64]| -> f64 { p.iter().zip(q).map(|(p, q)| (p - q) * (p - q)).sum() };
    let nearest = |p: &Vec<f64>| b.iter().map(|q| square(p, q)).fold(f64::INFINITY, f64::min);
    a.iter().map(nearest).fold(0.0, f64::max).sqrt()
}

#[cfg(all(test, feature = "rayon"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::frictional::SetValued;
    use carom_contact::{Contact, ContactSet, ImpactProblem};
    use carom_metric::{Covector, KineticMetric, Tangent};
    use nalgebra::DMatrix;

    #[test]
    fn any_number_of_threads_gives_the_same_summary() {
        let metric = KineticMetric::new(DMatrix::identity(3, 3)).unwrap();
        let contact = |x: f64| {
            Contact::new(Covector::from_slice(&[0.0, 1.0, x]))
                .with_tangents(vec![Covector::from_slice(&[1.0, 0.0, 1.0])])
                .with_friction(0.7)
        };
        let contacts = ContactSet::new(&metric, vec![contact(-0.6), contact(0.5)]).unwrap();
        let velocity = Tangent::from_slice(&[0.3, -1.0, 0.1]);
        let problem = ImpactProblem::new(&contacts, velocity).unwrap();
        let law = SetValued {
            samples: 3000,
            ..SetValued::default()
        };
        let sampler = Sampler::new(&problem, &law).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| sampled_outcomes(&sampler, &|_, _| {}))
                .unwrap()
        };
        let one = on(1);
        for threads in [2, 3] {
            assert_eq!(on(threads), one);
        }
        assert_eq!(one.0.terminated as usize, one.1.len());
        assert_eq!(one.0.histogram.iter().sum::<u64>(), 3000);
    }

    #[test]
    fn the_error_of_the_first_sample_is_kept_on_any_number_of_threads() {
        let fails_late = |_: &mut Draw, chunk: u64| {
            // Later chunks fail sooner.
            std::thread::sleep(std::time::Duration::from_micros(100 * (64 - chunk)));
            let value = chunk as f64;
            Share {
                unsolved: 1,
                error: Some(ImpactError::InvalidRestitution { value }),
                ..Share::default()
            }
        };
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let mut total = Share::default();
            let shares = pool.install(|| in_turn(5..64, fails_late));
            shares.into_iter().for_each(|share| total.add(share));
            let first = ImpactError::InvalidRestitution { value: 5.0 };
            assert_eq!((total.error, total.unsolved), (Some(first), 59));
        }
    }
}
