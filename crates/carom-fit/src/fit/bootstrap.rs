//! Confidence intervals by bootstrap over tosses.
//!
//! A resample gives the tosses other weights but uses the predictions unchanged. The predictions around the
//! optimum are computed once, on a grid that covers every resampled optimum, and interpolated: residual vectors
//! are piecewise smooth in the parameters, and a grid cell is a fraction of a standard error. If the optimum of
//! a resample is at the edge of the grid, it is searched again with the law itself.
//!
//! If gravity is estimated, it is estimated again from each resample: its error changes the velocities of all
//! impacts together, which resampling of impacts alone would not show.

use super::case::Case;
use super::likelihood::best_scale;
use super::model::Model;
use super::simplex::{Domain, Point, Search, maximize};
use super::surrogate::Surrogate;
use crate::poses::Gravity;
use crate::robust::quantile;
use crate::states::Groups;
use crate::tolerances::AT_END;
use carom_contact::ImpactError;
use carom_metric::kernel;
use nalgebra::Vector3;
use rayon::prelude::*;

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
fn reach(model: &Model<'_>, cases: &[&Case], optimum: &Point) -> Domain {
    let range = model.domain();
    let top = model.log_likelihood(cases, optimum);
    let mut domain = range.clone();
    for k in 0..range.n() {
        for (bound, end) in [
            (&mut domain.low, range.low[k]),
            (&mut domain.high, range.high[k]),
        ] {
            let mut share = AT_END;
            bound[k] = loop {
                let step = share * (range.high[k] - range.low[k]);
                let mut point = optimum.clone();
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

/// Computes the derivatives of the residual vectors of all measured impacts (`cases`) with respect to gravity, at the
/// most probable parameters. The derivatives are computed as central differences.
fn by_gravity(
    model: &Model<'_>,
    cases: &[&Case],
    optimum: &Point,
    gravity: &Gravity,
) -> Result<Vec<[Vec<f64>; 3]>, ImpactError> {
    let parameters = model.at(optimum);
    let rule = model.rule_at(&parameters);
    let step = gravity.standard_error();
    let derivative = |case: &&Case| {
        let along = |axis: usize| {
            let at = |step: f64| {
                let mut more = Vector3::zeros();
                more[axis] = step;
                let case = case.under(gravity, &more);
                let found = case.predict(&rule, &parameters)?;
                Ok::<Vec<f64>, ImpactError>(case.residual(&found.velocity))
            };
            let (above, below) = (at(step)?, at(-step)?);
            let rise = above.iter().zip(&below);
            Ok::<Vec<f64>, ImpactError>(rise.map(|(a, b)| (a - b) / (2.0 * step)).collect())
        };
        Ok([along(0)?, along(1)?, along(2)?])
    };
    cases.par_iter().map(derivative).collect()
}

/// Impacts that are resampled: their cases, the group of each, and gravity if it is estimated again with each resample.
pub(crate) struct Resampled<'a> {
    pub cases: &'a [&'a Case],
    pub groups: &'a Groups,
    pub gravity: Option<&'a Gravity>,
}

impl Resampled<'_> {
    /// Fits the free parameters again on bootstrap resamples of the groups, and gravity, too, if it was estimated. The pair
    /// holds the number of resamples and the seed; the search starts at `optimum`. Returns one point (values of the free
    /// parameters) per resample; `observe` is called after each.
    pub(crate) fn optima(
        &self,
        model: &Model<'_>,
        optimum: &Point,
        (resamples, seed): (u64, u64),
        observe: &(dyn Fn() + Sync),
    ) -> Result<Vec<Point>, ImpactError> {
        let range = model.domain();
        let grid = reach(model, self.cases, optimum);
        let surrogate = Surrogate::new(model, self.cases, grid, optimum)?;
        let slopes = match self.gravity {
            Some(gravity) => by_gravity(model, self.cases, optimum, gravity)?,
            None => Vec::new(),
        };
        let one = |resample: u64| {
            let counts = self.groups.counts(seed, resample);
            let weight = |i: usize| counts[self.groups.of[self.cases[i].place]];
            let count = |group: &str| self.groups.place(group).map_or(0.0, |k| counts[k]);
            let gravity = self.gravity.map(|g| (g, g.more(count)));
            let moved: Vec<Vec<f64>> = slopes
                .iter()
                .map(|slope| along(slope, gravity.as_ref().map(|(_, more)| more)))
                .collect();
            let dim = |i: usize| self.cases[i].dim;
            let mut misfits = Vec::with_capacity(self.cases.len());
            let found = maximize(&surrogate.domain, optimum.clone(), RESAMPLED, |point| {
                surrogate.misfits(point, &moved, &mut misfits);
                best_scale(&misfits, dim, weight).sum
            });
            if !surrogate.is_cut(&found.0, &range) {
                return found.0;
            }
            let under = |case: &&Case| match &gravity {
                Some((gravity, more)) => case.under(gravity, more),
                None => (*case).clone(),
            };
            let cases: Vec<Case> = self.cases.iter().map(under).collect();
            let cases: Vec<&Case> = cases.iter().collect();
            let found = maximize(&range, found.0, BEYOND, |point| {
                match model.misfits(&cases, &model.at(point)) {
                    Ok(misfits) => best_scale(&misfits, dim, weight).sum,
                    Err(_) => f64::NEG_INFINITY,
                }
            });
            found.0
        };
        let optima = (0..resamples).into_par_iter().map(one);
        Ok(optima.inspect(|_| observe()).collect())
    }
}

/// Returns the change of a residual by a change of gravity.
fn along(slope: &[Vec<f64>; 3], more: Option<&Vector3<f64>>) -> Vec<f64> {
    let mut moved = vec![0.0; slope[0].len()];
    for (slope, more) in slope.iter().zip(more.into_iter().flat_map(|m| m.iter())) {
        kernel::add_scaled(&mut moved, *more, slope);
    }
    moved
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
