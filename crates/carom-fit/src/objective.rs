//! Misfits of a law for all impacts, as a function of its parameters.

use crate::FitError;
use crate::law::{FitLaw, Parameter, Parameters};
use crate::likelihood::{Likelihood, SPATIAL, best_scale};
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
    /// Returns the parameters of the impact law at a point, which holds the values of the free parameters; the others
    /// are fixed.
    pub(crate) fn at(&self, point: &Point) -> Parameters {
        let free = self.free.iter().zip(point);
        free.fold(self.fixed, |p, (&parameter, &value)| {
            p.with(parameter, value)
        })
    }

    /// Returns the values of the free parameters, the point of the search, in a full set of parameters.
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

    /// Computes the misfit of the law for each measured impact (case): the relative distance of predicted and
    /// measured velocity after the impact. Fails if the law fails for any impact.
    pub(crate) fn misfits(&self, cases: &[Case], p: &Parameters) -> Result<Vec<f64>, FitError> {
        let misfit = |case: &Case| {
            let found = case.predict(self.law, p).map(|u| case.residual_norm(&u));
            let misfit = found.map_err(|source| failed(case, source))?;
            if misfit.is_finite() {
                Ok(misfit)
            } else {
                Err(failed(case, ImpactError::Overflow))
            }
        };
        cases.par_iter().map(misfit).collect()
    }

    /// Computes the residual vector of a measured impact (case): predicted minus measured velocity after it, in
    /// coordinates in which its Euclidean norm is the misfit.
    pub(crate) fn residual(&self, case: &Case, p: &Parameters) -> Result<Vector6<f64>, FitError> {
        let found = case.predict(self.law, p).map_err(|e| failed(case, e))?;
        Ok(case.euclidean(&case.residual(&found)))
    }

    /// Computes the log likelihood of the measured velocities after all impacts (cases) for the free parameters at a
    /// point, at the most probable scale of the misfits. Minus infinity if the law fails.
    pub(crate) fn log_likelihood(&self, cases: &[Case], point: &Point) -> f64 {
        match self.misfits(cases, &self.at(point)) {
            Ok(misfits) => best_scale(&misfits, |_| SPATIAL, |_| 1.0).sum,
            Err(_) => f64::NEG_INFINITY,
        }
    }

    /// Finds the free parameters with the largest likelihood of the measured impacts (`cases`): three rough searches,
    /// then a fine one from the best result. The result is rounded to multiples of 1e-7.
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

    /// Finds roughly the free parameters with the largest likelihood of the measured impacts (`cases`) near the point
    /// `start`. Returns the parameters found and their log likelihood. The search is rough and cheap, since it is
    /// repeated often.
    pub(crate) fn nearby(&self, cases: &[Case], start: Point) -> (Point, f64) {
        maximize(&self.domain(), start, NEARBY, |point| {
            self.log_likelihood(cases, point)
        })
    }

    /// Computes for given parameters `p` the misfits of all impacts (cases), and the most probable scale of the
    /// misfits with their log likelihood.
    pub(crate) fn likelihood(
        &self,
        cases: &[Case],
        p: &Parameters,
    ) -> Result<(Vec<f64>, Likelihood), FitError> {
        let misfits = self.misfits(cases, p)?;
        let likelihood = best_scale(&misfits, |_| SPATIAL, |_| 1.0);
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
