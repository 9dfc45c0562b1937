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
use carom_impact::frictional::CounterRng;
use nalgebra::Vector6;
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

/// Predictions on a grid around an optimum.
struct Surrogate {
    domain: Domain,
    nodes: usize,
    /// Residual vectors whose Euclidean norm is the misfit, node by node.
    residuals: Vec<Vec<Vector6<f64>>>,
}

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

impl Surrogate {
    fn new(model: &Model<'_>, cases: &[Case], domain: Domain) -> Result<Self, FitError> {
        let nodes = NODES[domain.n];
        let count = nodes.pow(domain.n as u32);
        let residuals = (0..count)
            .into_par_iter()
            .map(|node| {
                let mut point = domain.low;
                let mut rest = node;
                for (k, x) in point.iter_mut().enumerate().take(domain.n) {
                    let share = (rest % nodes) as f64 / (nodes - 1) as f64;
                    *x += share * (domain.high[k] - domain.low[k]);
                    rest /= nodes;
                }
                let parameters = model.at(&domain.clamp(point));
                cases
                    .iter()
                    .map(|case| {
                        let found = case.predict(model.law, &parameters);
                        let u = found.map_err(|e| crate::objective::failed(case, e))?;
                        Ok(case.euclidean(&case.residual(&u)))
                    })
                    .collect::<Result<Vec<_>, FitError>>()
            })
            .collect::<Result<Vec<_>, FitError>>()?;
        Ok(Self {
            domain,
            nodes,
            residuals,
        })
    }

    /// Misfits at a point of the grid's box, by multilinear interpolation of the residuals.
    fn misfits(&self, point: &Point, misfits: &mut Vec<f64>) {
        let n = self.domain.n;
        let mut corner = 0;
        let mut shares = [0.0; 3];
        let mut stride = [1; 3];
        for k in 0..n {
            stride[k] = self.nodes.pow(k as u32);
            let width = self.domain.high[k] - self.domain.low[k];
            let place = if width > 0.0 {
                (point[k] - self.domain.low[k]) / width * (self.nodes - 1) as f64
            } else {
                0.0
            };
            let cell = (place.floor().max(0.0) as usize).min(self.nodes - 2);
            corner += cell * stride[k];
            shares[k] = place - cell as f64;
        }
        misfits.clear();
        let cases = self.residuals.first().map_or(0, Vec::len);
        for case in 0..cases {
            let mut residual = Vector6::zeros();
            for bits in 0..1_usize << n {
                let (mut node, mut weight) = (corner, 1.0);
                for k in 0..n {
                    if bits >> k & 1 == 1 {
                        node += stride[k];
                        weight *= shares[k];
                    } else {
                        weight *= 1.0 - shares[k];
                    }
                }
                residual += self.residuals[node][case] * weight;
            }
            misfits.push(residual.norm());
        }
    }

    /// Whether a point lies on a face of the grid that is no end of the parameter's range.
    fn is_cut(&self, point: &Point, range: &Domain) -> bool {
        (0..self.domain.n).any(|k| {
            let margin = 1e-3 * (self.domain.high[k] - self.domain.low[k]);
            let low = point[k] <= self.domain.low[k] + margin && self.domain.low[k] > range.low[k];
            let high =
                point[k] >= self.domain.high[k] - margin && self.domain.high[k] < range.high[k];
            low || high
        })
    }
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
    let surrogate = Surrogate::new(model, cases, reach(model, cases, optimum))?;
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
