//! Confidence intervals by bootstrap over tosses.
//!
//! A resample gives the tosses other weights but uses the predictions unchanged. The predictions around the
//! optimum are computed once, on a grid that covers every resampled optimum, and interpolated: residual vectors
//! are piecewise smooth in the parameters, and a grid cell is a fraction of a standard error. If the optimum of
//! a resample is at the edge of the grid, it is searched again with the law itself.
//!
//! If gravity is estimated, it is estimated again from each resample: its error changes the velocities of all
//! impacts together, which resampling of impacts alone would not show.

use crate::FitError;
use crate::gravity::{pooled, standard_error};
use crate::likelihood::{SPATIAL, best_scale};
use crate::noise::FlightGravity;
use crate::objective::Model;
use crate::predict::Case;
use crate::robust::quantile;
use crate::simplex::{Domain, Point, Search, maximize};
use crate::surrogate::Surrogate;
use crate::tolerances::AT_END;
use carom_impact::frictional::CounterRng;
use nalgebra::{Matrix6x3, Vector3, Vector6};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Number of grid nodes along each parameter; entry i is used for i parameters.
const NODES: [usize; 4] = [1, 33, 17, 9];
/// Fall of the log likelihood at the edge of the grid, with the other parameters fixed: seven standard errors
/// of independent impacts.
const REACH: f64 = 25.0;
/// Search for a resampled optimum on the grid.
const RESAMPLED: Search = Search {
    size: 0.1,
    accuracy: 1e-5,
    rounds: 2,
};
/// Search for a resampled optimum beyond the grid.
const BEYOND: Search = Search {
    size: 0.01,
    accuracy: 1e-6,
    rounds: 2,
};

/// Returns the box around the most probable parameters in which confidence intervals are searched. Along each free
/// parameter it reaches to the value at which the log likelihood has fallen by [`REACH`], with the other parameters
/// fixed, or to the end of the parameter's range. `cases` holds the measured impacts.
fn reach(model: &Model<'_>, cases: &[Case], optimum: &Point) -> Domain {
    let range = model.domain();
    let top = model.log_likelihood(cases, optimum);
    let mut domain = range;
    for k in 0..range.n {
        for (bound, end) in [
            (&mut domain.low, range.low[k]),
            (&mut domain.high, range.high[k]),
        ] {
            let mut share = AT_END;
            bound[k] = loop {
                let step = share * (range.high[k] - range.low[k]);
                let mut point = *optimum;
                point[k] = if end < optimum[k] {
                    (optimum[k] - step).max(end)
                } else {
                    (optimum[k] + step).min(end)
                };
                if point[k] == end || top - model.log_likelihood(cases, &point) >= REACH {
                    break point[k];
                }
                share *= 2.0;
            };
        }
    }
    domain
}

/// One toss for resampling, with the indices of its cases.
struct Group {
    toss: u64,
    cases: Vec<usize>,
}

/// Collects the tosses that have measured impacts (`cases`) or flights with an estimate of gravity. Returns the tosses
/// in the order of their numbers, each with the indices of its impacts.
fn groups(cases: &[Case], flights: &[FlightGravity]) -> Vec<Group> {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for flight in flights {
        groups.entry(flight.toss).or_default();
    }
    for (i, case) in cases.iter().enumerate() {
        groups.entry(case.toss).or_default().push(i);
    }
    let group = |(toss, cases)| Group { toss, cases };
    groups.into_iter().map(group).collect()
}

/// Returns the number of times that each of `n` tosses is drawn in a bootstrap resample, the weight of the toss.
/// `resample` is the number of the resample; with `seed` it selects the random numbers.
pub(crate) fn counts(n: usize, seed: u64, resample: u64) -> Vec<f64> {
    let mut random = CounterRng::new(seed, resample, 0);
    let mut counts = vec![0.0; n];
    for _ in 0..n {
        let pick = (random.next_uniform() * n as f64) as usize;
        counts[pick.min(n - 1)] += 1.0;
    }
    counts
}

/// Computes the derivatives of the residual vectors of all measured impacts (`cases`) with respect to gravity, at the
/// most probable parameters. The derivatives are computed as central differences with the given step (m/s²).
fn by_gravity(
    model: &Model<'_>,
    cases: &[Case],
    optimum: &Point,
    step: f64,
) -> Result<Vec<Matrix6x3<f64>>, FitError> {
    let parameters = model.at(optimum);
    let derivative = |case: &Case| {
        let mut derivative = Matrix6x3::zeros();
        for axis in 0..3 {
            let at = |step: f64| {
                let mut more = Vector3::zeros();
                more[axis] = step;
                model.residual(&case.under(&more), &parameters)
            };
            derivative.set_column(axis, &((at(step)? - at(-step)?) / (2.0 * step)));
        }
        Ok(derivative)
    };
    cases.par_iter().map(derivative).collect()
}

/// Fits the free parameters again on bootstrap resamples of the tosses with the measured impacts `cases`, and gravity,
/// too, if it was estimated from the flights. The pair holds the number of resamples and the seed; the search starts at
/// `optimum`. Returns one point (values of the free parameters) per resample; `observe` is called after each.
pub(crate) fn resampled_optima(
    model: &Model<'_>,
    cases: &[Case],
    flights: &[FlightGravity],
    optimum: &Point,
    (resamples, seed): (u64, u64),
    observe: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, FitError> {
    let groups = groups(cases, flights);
    let range = model.domain();
    let grid = reach(model, cases, optimum);
    let surrogate = Surrogate::new(model, cases, grid, NODES[grid.n])?;
    let gravity = pooled(flights, |_| 1.0);
    let slopes = match gravity {
        Some(_) => by_gravity(model, cases, optimum, standard_error(flights))?,
        None => Vec::new(),
    };
    (0..resamples)
        .into_par_iter()
        .map(|resample| {
            let counts = counts(groups.len(), seed, resample);
            let mut weights = vec![0.0; cases.len()];
            for (group, count) in groups.iter().zip(&counts) {
                for &case in &group.cases {
                    weights[case] = *count;
                }
            }
            let weight = |i: usize| weights[i];
            let count_of = |toss: u64| {
                let place = groups.binary_search_by_key(&toss, |group| group.toss);
                place.map_or(0.0, |place| counts[place])
            };
            let more = match (gravity, pooled(flights, count_of)) {
                (Some(all), Some(some)) => some - all,
                _ => Vector3::zeros(),
            };
            let moved: Vec<Vector6<f64>> = slopes.iter().map(|slope| slope * more).collect();
            let mut misfits = Vec::with_capacity(cases.len());
            let found = maximize(&surrogate.domain, *optimum, RESAMPLED, |point| {
                let residuals = surrogate.residuals(point);
                misfits.clear();
                if moved.is_empty() {
                    misfits.extend(residuals.map(|r| r.norm()));
                } else {
                    misfits.extend(residuals.zip(&moved).map(|(r, m)| (r + m).norm()));
                }
                best_scale(&misfits, |_| SPATIAL, weight).sum
            });
            if !surrogate.is_cut(&found.0, &range) {
                return Ok(found.0);
            }
            let cases: Vec<Case> = cases.iter().map(|case| case.under(&more)).collect();
            let found = maximize(&range, found.0, BEYOND, |point| {
                match model.misfits(&cases, &model.at(point)) {
                    Ok(misfits) => best_scale(&misfits, |_| SPATIAL, weight).sum,
                    Err(_) => f64::NEG_INFINITY,
                }
            });
            Ok(found.0)
        })
        .inspect(|_| observe())
        .collect()
}

/// Returns the 95 % confidence interval of the free parameter with the index `k`, from the percentiles of its values in
/// the bootstrap resamples `optima`. An interval without the value `estimate` is extended to this value. `None` without
/// resamples.
pub(crate) fn interval(optima: &[Point], k: usize, estimate: f64) -> Option<[f64; 2]> {
    let mut values: Vec<f64> = optima.iter().map(|point| point[k]).collect();
    let low = quantile(&mut values, 0.025)?;
    let high = quantile(&mut values, 0.975)?;
    Some([low.min(estimate), high.max(estimate)])
}
