//! Misfits of a law for all impacts, as a function of its parameters.

use super::case::Case;
use super::likelihood::{Likelihood, best_scale};
use super::parameter::{Coefficient, Parameter, Parameters};
use super::rule::Rule;
use super::simplex::{Domain, Point, Search, maximize};
use carom_contact::ImpactError;
use rayon::prelude::*;

/// Rule with its free parameters, and the values of the others.
#[derive(Clone, Debug)]
pub(crate) struct Model<'a> {
    pub rule: &'a Rule,
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

/// Returns the point with the values of some parameters in a full set.
pub(crate) fn point(free: &[Parameter], parameters: &Parameters) -> Point {
    free.iter().map(|p| parameters.get(p)).collect()
}

impl Model<'_> {
    /// Returns the parameters at a point, which holds the values of the free ones; the others are fixed.
    pub(crate) fn at(&self, point: &[f64]) -> Parameters {
        let free = self.free.iter().zip(point);
        free.fold(self.fixed.clone(), |p, (parameter, value)| {
            p.with(parameter, *value)
        })
    }

    pub(crate) fn domain(&self) -> Domain {
        Domain::new(self.free.iter().map(Parameter::range))
    }

    /// Returns the parameters at each starting point of the search.
    pub(crate) fn starts(&self) -> impl Iterator<Item = Point> + '_ {
        STARTS.into_iter().map(|start| {
            let of = |p: &Parameter| match p.coefficient {
                Coefficient::Restitution => start[0],
                Coefficient::Friction => start[1],
                Coefficient::Inertia => start[2],
            };
            self.free.iter().map(of).collect()
        })
    }

    /// Returns the rule with the restitution of these parameters, if that is an option of its law.
    pub(crate) fn rule_at(&self, p: &Parameters) -> Rule {
        let restitution = p.value(Coefficient::Restitution, None);
        self.rule.with_restitution(restitution)
    }

    /// Computes the residual vector of the rule for each measured impact (case), or why the rule has no answer.
    pub(crate) fn residuals(
        &self,
        cases: &[&Case],
        p: &Parameters,
    ) -> Vec<Result<Vec<f64>, ImpactError>> {
        let rule = self.rule_at(p);
        let residual = |case: &&Case| {
            let found = case.predict(&rule, p)?;
            Ok(case.residual(&found.velocity))
        };
        cases.par_iter().map(residual).collect()
    }

    /// Computes the misfit of the rule for each measured impact (case): the relative distance of predicted and measured
    /// velocity after the impact. Fails if the rule fails for any impact.
    pub(crate) fn misfits(&self, cases: &[&Case], p: &Parameters) -> Result<Vec<f64>, ImpactError> {
        let residuals = self.residuals(cases, p).into_iter();
        residuals
            .map(|residual| residual.map(|r| carom_metric::kernel::norm(&r)))
            .collect()
    }

    /// Computes the log likelihood of the measured velocities after all impacts (cases) for the free parameters at a
    /// point, at the most probable scale of the misfits. Minus infinity if the rule fails.
    pub(crate) fn log_likelihood(&self, cases: &[&Case], point: &[f64]) -> f64 {
        self.likelihood(cases, &self.at(point))
            .map_or(f64::NEG_INFINITY, |(_, likelihood)| likelihood.sum)
    }

    /// Finds the free parameters with the largest likelihood of the measured impacts (`cases`): three rough searches,
    /// then a fine one from the best result. The result is rounded to multiples of 1e-7.
    pub(crate) fn optimum(&self, cases: &[&Case]) -> Point {
        let domain = self.domain();
        let mut value = |point: &Point| self.log_likelihood(cases, point);
        let mut best: Option<(Point, f64)> = None;
        for start in self.starts() {
            let found = maximize(&domain, start, ROUGH, &mut value);
            if best.as_ref().is_none_or(|(_, most)| found.1 > *most) {
                best = Some(found);
            }
        }
        let start = best.map_or_else(Vec::new, |(point, _)| point);
        let (found, _) = maximize(&domain, start, FINE, &mut value);
        let digits = found.into_iter().map(|x| (x * DIGITS).round() / DIGITS);
        domain.clamp(digits.collect())
    }

    /// Finds roughly the free parameters with the largest likelihood of the measured impacts (`cases`) near the point
    /// `start`. Returns the parameters found and their log likelihood. The search is rough and cheap, since it is
    /// repeated often.
    pub(crate) fn nearby(&self, cases: &[&Case], start: Point) -> (Point, f64) {
        maximize(&self.domain(), start, NEARBY, |point| {
            self.log_likelihood(cases, point)
        })
    }

    /// Computes for given parameters `p` the misfits of all impacts (cases), and the most probable scale of the
    /// misfits with their log likelihood.
    pub(crate) fn likelihood(
        &self,
        cases: &[&Case],
        p: &Parameters,
    ) -> Result<(Vec<f64>, Likelihood), ImpactError> {
        let misfits = self.misfits(cases, p)?;
        let likelihood = best_scale(&misfits, |i| cases[i].dim, |_| 1.0);
        Ok((misfits, likelihood))
    }
}
