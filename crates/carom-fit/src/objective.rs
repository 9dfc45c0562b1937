//! Misfits of a law for all impacts, as a function of its parameters.

use crate::FitError;
use crate::law::{FitLaw, Parameter, Parameters};
use crate::likelihood::{Likelihood, best_scale};
use crate::predict::Case;
use crate::simplex::{Domain, Point, Search, maximize};
use carom_contact::ImpactError;
use nalgebra::Vector6;
use rayon::prelude::*;

/// Law with its free parameters, and the values of the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model<'a> {
    pub law: FitLaw,
    pub free: &'a [Parameter],
    pub fixed: Parameters,
}

/// Starting points of the search: restitution, friction and inertia.
const STARTS: [[f64; 3]; 3] = [[0.3, 0.2, 1.0], [0.6, 0.6, 1.4], [0.1, 0.05, 0.8]];
/// Search from each starting point; [`FINE`] continues from the best result.
const ROUGH: Search = Search {
    size: 0.1,
    accuracy: 5e-3,
    rounds: 1,
};
const FINE: Search = Search {
    size: 0.01,
    accuracy: 1e-8,
    rounds: 2,
};
/// Estimates are rounded to multiples of 1e-7. A log likelihood of thousands is flat to rounding error within
/// about 1e-9 of its maximum, so that smaller digits differ between machines.
const DIGITS: f64 = 1e7;
/// Search near a point that is nearly optimal.
const NEARBY: Search = Search {
    size: 0.1,
    accuracy: 1e-4,
    rounds: 1,
};

impl Model<'_> {
    /// Returns all parameters, with the free ones at a point.
    pub(crate) fn at(&self, point: &Point) -> Parameters {
        let free = self.free.iter().zip(point);
        free.fold(self.fixed, |p, (&parameter, &value)| {
            p.with(parameter, value)
        })
    }

    /// Returns the point of the free parameters of a set of values.
    pub(crate) fn point(&self, parameters: &Parameters) -> Point {
        let mut point = [0.0; 3];
        for (x, &parameter) in point.iter_mut().zip(self.free) {
            *x = parameters.get(parameter);
        }
        point
    }

    pub(crate) fn domain(&self) -> Domain {
        let mut domain = Domain {
            n: self.free.len().min(3),
            low: [0.0; 3],
            high: [0.0; 3],
        };
        for (k, parameter) in self.free.iter().enumerate().take(3) {
            [domain.low[k], domain.high[k]] = parameter.range();
        }
        domain
    }

    /// Computes the misfits of all cases.
    pub(crate) fn misfits(&self, cases: &[Case], p: &Parameters) -> Result<Vec<f64>, FitError> {
        let misfit = |case: &Case| {
            let found = case.predict(self.law, p).map(|u| case.residual_norm(&u));
            let misfit = found.map_err(|source| failed(case, source))?;
            if misfit.is_finite() {
                Ok(misfit)
            } else {
                Err(failed(case, ImpactError::NotConverged { iterations: 0 }))
            }
        };
        cases.par_iter().map(misfit).collect()
    }

    /// Computes the vector whose Euclidean norm is the misfit of one case.
    pub(crate) fn residual(&self, case: &Case, p: &Parameters) -> Result<Vector6<f64>, FitError> {
        let found = case.predict(self.law, p).map_err(|e| failed(case, e))?;
        Ok(case.euclidean(&case.residual(&found)))
    }

    /// Computes the log likelihood of the measured velocities at a point; minus infinity if the law fails.
    pub(crate) fn log_likelihood(&self, cases: &[Case], point: &Point) -> f64 {
        match self.misfits(cases, &self.at(point)) {
            Ok(misfits) => best_scale(&misfits, |_| 1.0).sum,
            Err(_) => f64::NEG_INFINITY,
        }
    }

    /// Finds the most probable parameters: three rough searches, then a fine one from the best result.
    pub(crate) fn optimum(&self, cases: &[Case]) -> Point {
        let domain = self.domain();
        let mut value = |point: &Point| self.log_likelihood(cases, point);
        let mut best: Option<(Point, f64)> = None;
        for start in STARTS {
            let mut values = self.fixed;
            for (parameter, value) in Parameter::ALL.into_iter().zip(start) {
                values = values.with(parameter, value);
            }
            let found = maximize(&domain, self.point(&values), ROUGH, &mut value);
            if best.is_none_or(|(_, most)| found.1 > most) {
                best = Some(found);
            }
        }
        let start = best.map_or([0.0; 3], |(point, _)| point);
        let (found, _) = maximize(&domain, start, FINE, &mut value);
        domain.clamp(found.map(|x| (x * DIGITS).round() / DIGITS))
    }

    /// Finds the approximate optimum near a point. This search is cheap because it is repeated often.
    pub(crate) fn nearby(&self, cases: &[Case], start: Point) -> (Point, f64) {
        maximize(&self.domain(), start, NEARBY, |point| {
            self.log_likelihood(cases, point)
        })
    }

    /// Computes misfits, most probable scale and log likelihood for given parameters.
    pub(crate) fn likelihood(
        &self,
        cases: &[Case],
        p: &Parameters,
    ) -> Result<(Vec<f64>, Likelihood), FitError> {
        let misfits = self.misfits(cases, p)?;
        let likelihood = best_scale(&misfits, |_| 1.0);
        Ok((misfits, likelihood))
    }
}

pub(crate) fn failed(case: &Case, source: ImpactError) -> FitError {
    FitError::Impact {
        toss: case.toss,
        index: case.index,
        source,
    }
}
