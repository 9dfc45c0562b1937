//! Intervals by resampling tosses.
//!
//! A resampled likelihood weighs the same predictions differently. The predictions around the optimum
//! are made once, on a grid that covers every resampled optimum, and interpolated: residual vectors are
//! piecewise smooth in the parameters, and a cell of the grid is a fraction of a standard error. A
//! resample whose optimum falls on the edge of the grid is searched again with the law itself.

use crate::FitError;
use crate::likelihood::best_scale;
use crate::objective::Model;
use crate::predict::Case;
use crate::robust::quantile;
use crate::simplex::{Domain, Point, Search, maximize};
use crate::surrogate::Surrogate;
use carom_impact::frictional::CounterRng;
use rayon::prelude::*;

/// Nodes of the grid along each parameter, by the number of parameters.
const NODES: [usize; 4] = [1, 41, 17, 9];
/// The grid reaches to where the log likelihood, the other parameters kept, has fallen by this: seven
/// standard errors of independent impacts.
const REACH: f64 = 25.0;
/// First step of the search for that place, over the range of the parameter.
const FIRST_STEP: f64 = 1e-6;
/// A resampled optimum on the grid.
const RESAMPLED: Search = Search {
    size: 0.1,
    accuracy: 1e-5,
    rounds: 2,
};
/// One beyond the grid.
const BEYOND: Search = Search {
    size: 0.01,
    accuracy: 1e-6,
    rounds: 2,
};

/// Where the log likelihood has fallen far enough, in both directions of each parameter.
fn reach(model: &Model<'_>, cases: &[Case], optimum: &Point) -> Domain {
    let range = model.domain();
    let top = model.log_likelihood(cases, optimum);
    let mut domain = range;
    for k in 0..range.n {
        for (bound, end) in [
            (&mut domain.low, range.low[k]),
            (&mut domain.high, range.high[k]),
        ] {
            let mut share = FIRST_STEP;
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

/// How often each case counts in one resample of the tosses.
fn weights(tosses: &[Vec<usize>], n_cases: usize, seed: u64, resample: u64) -> Vec<f64> {
    let mut random = CounterRng::new(seed, resample, 0);
    let mut weights = vec![0.0; n_cases];
    for _ in 0..tosses.len() {
        let pick = (random.next_uniform() * tosses.len() as f64) as usize;
        for &case in &tosses[pick.min(tosses.len() - 1)] {
            weights[case] += 1.0;
        }
    }
    weights
}

/// Refits the free parameters on resamples of the tosses: one point a resample.
pub(crate) fn resampled_optima(
    model: &Model<'_>,
    cases: &[Case],
    optimum: &Point,
    resamples: u64,
    seed: u64,
) -> Result<Vec<Point>, FitError> {
    let mut tosses: Vec<Vec<usize>> = Vec::new();
    let mut last = None;
    for (i, case) in cases.iter().enumerate() {
        match tosses.last_mut() {
            Some(toss) if last == Some(case.toss) => toss.push(i),
            _ => tosses.push(vec![i]),
        }
        last = Some(case.toss);
    }
    let range = model.domain();
    let grid = reach(model, cases, optimum);
    let surrogate = Surrogate::new(model, cases, grid, NODES[grid.n])?;
    (0..resamples)
        .into_par_iter()
        .map(|resample| {
            let weights = weights(&tosses, cases.len(), seed, resample);
            let mut misfits = Vec::with_capacity(cases.len());
            let found = maximize(&surrogate.domain, *optimum, RESAMPLED, |point| {
                surrogate.misfits(point, &mut misfits);
                best_scale(&misfits, |i| weights[i]).sum
            });
            if !surrogate.is_cut(&found.0, &range) {
                return Ok(found.0);
            }
            let found = maximize(&range, found.0, BEYOND, |point| {
                match model.misfits(cases, &model.at(point)) {
                    Ok(misfits) => best_scale(&misfits, |i| weights[i]).sum,
                    Err(_) => f64::NEG_INFINITY,
                }
            });
            Ok(found.0)
        })
        .collect()
}

/// The 95 % percentile interval of one coordinate, widened to hold the estimate.
pub(crate) fn interval(optima: &[Point], k: usize, estimate: f64) -> Option<[f64; 2]> {
    let mut values: Vec<f64> = optima.iter().map(|point| point[k]).collect();
    let low = quantile(&mut values, 0.025)?;
    let high = quantile(&mut values, 0.975)?;
    Some([low.min(estimate), high.max(estimate)])
}
