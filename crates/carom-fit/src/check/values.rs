//! Values of a change that make the data most probable, and their intervals.

use super::trial::Round;
use crate::changes::Change;
use crate::fit::likelihood::{NU, best_scale};
use crate::fit::simplex::{Domain, Point, Search, maximize};
use crate::robust::{MAX_STEPS, quantile};
use crate::states::BATCH;
use crate::tolerances::{AT_END, SETTLED_SCALE};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Nodes along each value from which the search starts.
const NODES: usize = 5;
/// Rounds in which all states refine the values.
const ROUNDS: usize = 4;
/// Resamples of the groups for an interval.
const RESAMPLES: u64 = 200;
const SEARCH: Search = Search {
    size: 0.1,
    accuracy: 1e-4,
    rounds: 1,
};

/// Returns the change with its most probable values for the states at `places`.
pub(crate) fn fitted(round: &Round, change: &Change, places: &[usize]) -> Change {
    let ranges = &change.ranges;
    if ranges.is_empty() || places.is_empty() {
        return change.clone();
    }
    let domain = Domain::new(ranges.iter().copied());
    let some: Vec<usize> = places
        .iter()
        .copied()
        .step_by(places.len().div_ceil(BATCH))
        .collect();
    let objective = |point: &Point| {
        let found = round.residuals(&change.with_values(point), &some);
        let found = found.iter().flatten();
        let (misfits, free): (Vec<f64>, Vec<usize>) = found.map(|r| (r.size(), r.free)).unzip();
        best_scale(&misfits, |i| free[i], |_| 1.0).sum
    };
    let value = objective(&change.values);
    let mut best = (change.values.clone(), value);
    for node in 0..NODES.pow(ranges.len() as u32) {
        let at = |(k, [low, high]): (usize, &[f64; 2])| {
            let place = node / NODES.pow(k as u32) % NODES;
            low + (high - low) * (place as f64 + 0.5) / NODES as f64
        };
        let point: Point = ranges.iter().enumerate().map(at).collect();
        let value = objective(&point);
        if value > best.1 {
            best = (point, value);
        }
    }
    let (mut values, _) = maximize(&domain, best.0, SEARCH, objective);
    for _ in 0..ROUNDS {
        let linear = Linear::new(round, change, &values, places);
        let steps = linear.optimum(|_| 1.0);
        let mut is_settled = true;
        for ((value, step), [low, high]) in values.iter_mut().zip(steps.iter()).zip(ranges) {
            *value = (*value + step).clamp(*low, *high);
            is_settled &= step.abs() <= AT_END * (high - low);
        }
        if is_settled {
            break;
        }
    }
    change.with_values(&values)
}

/// Returns a change with its values rounded to six digits, so that its text is short.
pub(crate) fn rounded(change: &Change) -> Change {
    if change.ranges.is_empty() {
        return change.clone();
    }
    let round = |value: f64| format!("{value:.5e}").parse().unwrap_or(value);
    change.with_values(&change.values.iter().map(|x| round(*x)).collect::<Vec<_>>())
}

/// Returns the 95 % intervals of the values of a change: percentiles over resampled groups, each with the residuals as linear
/// functions of the values. Empty if the change has no values that the data determine.
pub(crate) fn intervals(round: &Round, change: &Change, seed: u64) -> Vec<[f64; 2]> {
    let values = &change.values;
    if change.ranges.is_empty() {
        return Vec::new();
    }
    let places: Vec<usize> = (0..round.states.len()).collect();
    let linear = Linear::new(round, change, values, &places);
    let steps: Vec<DVector<f64>> = (0..RESAMPLES)
        .into_par_iter()
        .map(|resample| {
            let counts = round.groups.counts(seed, resample);
            linear.optimum(|k| counts[round.groups.of[k]])
        })
        .collect();
    let interval = |(k, value): (usize, &f64)| {
        let mut found: Vec<f64> = steps.iter().map(|step| value + step[k]).collect();
        let low = quantile(&mut found, 0.025).unwrap_or(*value);
        let high = quantile(&mut found, 0.975).unwrap_or(*value);
        [low.min(*value), high.max(*value)]
    };
    values.iter().enumerate().map(interval).collect()
}

/// Residuals as linear functions of the values of a change.
struct Linear {
    parts: Vec<Part>,
    n_values: usize,
}

/// Residual of one state as a linear function.
struct Part {
    place: usize,
    free: usize,
    residual: Vec<f64>,
    slopes: Vec<Vec<f64>>,
}

impl Linear {
    fn new(round: &Round, change: &Change, values: &[f64], places: &[usize]) -> Self {
        let residuals = |values: &[f64]| round.residuals(&change.with_values(values), places);
        let ranges = &change.ranges;
        let mut sides = Vec::new();
        for (k, [low, high]) in ranges.iter().enumerate() {
            let step = AT_END * (high - low);
            let at = |value: f64| {
                let mut moved = values.to_vec();
                moved[k] = value.clamp(*low, *high);
                (residuals(&moved), moved[k])
            };
            sides.push([at(values[k] - step), at(values[k] + step)]);
        }
        let middle = residuals(values);
        let part = |(i, (place, residual)): (usize, (&usize, &Option<_>))| {
            let residual: &super::residual::Residual = residual.as_ref()?;
            let slope = |[below, above]: &[(Vec<Option<super::residual::Residual>>, f64); 2]| {
                let (low, high) = (below.0.get(i)?.as_ref()?, above.0.get(i)?.as_ref()?);
                let rise = high.vector.iter().zip(&low.vector);
                let run = above.1 - below.1;
                Some(rise.map(|(high, low)| (high - low) / run).collect())
            };
            Some(Part {
                place: *place,
                free: residual.free,
                slopes: sides.iter().map(slope).collect::<Option<_>>()?,
                residual: residual.vector.clone(),
            })
        };
        let all = places.iter().zip(&middle).enumerate();
        Self {
            parts: all.filter_map(part).filter(|part| part.free > 0).collect(),
            n_values: values.len(),
        }
    }

    /// Returns the steps of the values that maximize the likelihood, by expectation and maximization: weighted least squares,
    /// with the weights of Student's distribution. State k has the weight `weight(k)`.
    fn optimum(&self, weight: impl Fn(usize) -> f64) -> DVector<f64> {
        let mut step = DVector::zeros(self.n_values);
        let mut square = f64::NAN;
        for _ in 0..MAX_STEPS {
            let (mut squares, mut weights) = (0.0, 0.0);
            let mut normal = DMatrix::zeros(self.n_values, self.n_values);
            let mut right = DVector::zeros(self.n_values);
            for part in &self.parts {
                let own = weight(part.place);
                if own == 0.0 {
                    continue;
                }
                let mut moved = part.residual.clone();
                for (slope, step) in part.slopes.iter().zip(step.iter()) {
                    kernel::add_scaled(&mut moved, *step, slope);
                }
                let d = kernel::dot(&moved, &moved);
                let free = part.free as f64;
                // The first pass has no scale yet.
                let tail = if square.is_nan() {
                    1.0
                } else {
                    (NU + free) / (NU + d / square)
                };
                squares += own * tail * d;
                weights += own * free;
                for (i, slope) in part.slopes.iter().enumerate() {
                    right[i] -= own * tail * kernel::dot(slope, &moved);
                    for (j, other) in part.slopes.iter().enumerate() {
                        normal[(i, j)] += own * tail * kernel::dot(slope, other);
                    }
                }
            }
            let Some(found) = normal.cholesky().map(|factor| factor.solve(&right)) else {
                break;
            };
            let next = squares / weights;
            let is_settled = (next - square).abs() <= SETTLED_SCALE * next;
            square = next.max(f64::MIN_POSITIVE);
            step += found;
            if is_settled {
                break;
            }
        }
        step
    }
}
