//! Maximum-likelihood fit of the parameters of one rule to measured impacts.

use super::bootstrap::{Resampled, interval};
use super::case::Case;
use super::likelihood::{Density, best_scale};
use super::model::{Model, point};
use super::options::FitOptions;
use super::parameter::{Coefficient, Parameter, Parameters};
use super::rule::Rule;
use crate::FitError;
use crate::poses::Gravity;
use crate::robust::{median, three};
use crate::states::Groups;
use crate::tolerances::AT_END;
use carom_contact::ImpactError;
use carom_metric::kernel;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A parameter is identifiable if its log likelihood falls by this much towards both ends of its range.
const IDENTIFIABLE_FALL: f64 = 1.92;
/// Smallest number of impacts of a group that is fitted separately.
const FEWEST_OF_A_GROUP: usize = 3;

/// Agreement of a rule, with given parameters, with measured impacts: log likelihood and misfits. A misfit is the
/// distance between the predicted and the measured velocity after an impact, relative to the velocity before it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// Scale $s$ of the distribution of misfits, see [`log_density`](crate::log_density).
    pub scale: f64,
    /// Mean log density per impact.
    pub score: f64,
    /// Sum of the log densities of all impacts.
    pub log_likelihood: f64,
    /// Median of the misfits.
    pub median_residual: f64,
    /// Misfits $d$, one per impact.
    pub misfits: Vec<f64>,
}

/// Agreement of a rule with impacts that were not used to fit it: either half of the groups, fitted on the other.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct HeldOut {
    /// Mean log density per impact, with parameters and scale of the other half.
    pub score: f64,
    /// Median of the misfits.
    pub median_residual: f64,
}

/// Result for one fitted parameter of an impact law: its 95 % confidence interval, and a flag that tells if the data determine
/// the parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Parameter that was fitted.
    pub parameter: Parameter,
    /// 95 % interval over resampled groups, if resamples were requested. An estimated gravity is estimated
    /// again from each resample; the plane is taken as exactly known.
    pub interval: Option<[f64; 2]>,
    /// True if the data determine the parameter: its interval covers at most half of its range, and both ends
    /// of the range are less probable by more than the 95 % likelihood bound when the other parameters are
    /// fitted again.
    pub is_identifiable: bool,
}

/// Fit to a part of the impacts: those of one kind, or of one surface. The inertia is kept at the value that was fitted to all
/// impacts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PartFit {
    /// Name of the kind or the surface.
    pub name: String,
    /// Number of impacts.
    pub impacts: usize,
    /// Median misfit with the parameters fitted to all impacts.
    pub median_residual: f64,
    /// Parameters fitted to these impacts only.
    pub parameters: Parameters,
}

/// Mean and standard deviation of a parameter that was fitted to each group separately.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Variation {
    /// Parameter.
    pub parameter: Parameter,
    /// Mean over the groups.
    pub mean: f64,
    /// Standard deviation over the groups.
    pub spread: f64,
}

/// Variation of parameters between groups. The law was fitted separately to each group with at least three impacts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupFits {
    /// Variation of each parameter but the inertia.
    pub variations: Vec<Variation>,
    /// Number of groups that were fitted.
    pub groups: usize,
}

/// Result of fitting one rule to the measured impacts: parameters, confidence intervals and scores.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LawFit {
    /// Rule that was fitted.
    pub rule: Rule,
    /// Parameters of the rule.
    pub parameters: Parameters,
    /// Free parameters with their intervals.
    pub estimates: Vec<Estimate>,
    /// Score of the rule with these parameters.
    pub score: Score,
    /// Score on held-out halves, if it was asked for.
    pub held_out: Option<HeldOut>,
    /// Akaike's criterion, $2(k + 1) - 2\sum\ell$ with $k$ free parameters and the log densities $\ell$. The
    /// additional parameter is the scale.
    pub aic: f64,
    /// Quantiles (10, 50, 90 %) of the parts of the misfit along the normal rows, the other rows, and no row.
    pub residual_by: [[f64; 3]; 3],
    /// Number of impacts for which the rule has no answer, by the kind of its error.
    pub refused: BTreeMap<&'static str, usize>,
    /// True if the rule is compared with others: it refuses at most a tenth of the impacts.
    pub is_ranked: bool,
    /// Number of answers with fewer than six correct digits.
    pub ill_conditioned: usize,
    /// Fits of each kind of impacts separately.
    pub by_kind: Vec<PartFit>,
    /// Fits of each surface separately, if there are several.
    pub by_surface: Vec<PartFit>,
    /// Fits of single groups.
    pub per_group: Option<GroupFits>,
    /// Places of the impacts that are scored.
    pub(crate) places: Vec<usize>,
}

impl Score {
    fn new(cases: &[&Case], misfits: Vec<f64>, scale: f64) -> Result<Self, FitError> {
        let median_residual = median(&mut misfits.clone()).ok_or(FitError::NoImpacts)?;
        let log_likelihood = sum(cases, &misfits, scale);
        Ok(Self {
            scale,
            score: log_likelihood / misfits.len() as f64,
            log_likelihood,
            median_residual,
            misfits,
        })
    }
}

/// Returns the sum of the log densities of misfits.
fn sum(cases: &[&Case], misfits: &[f64], scale: f64) -> f64 {
    let mut density = Density::new(scale, 0);
    let mut sum = 0.0;
    for (case, misfit) in cases.iter().zip(misfits) {
        density = density.of(case.dim);
        sum += density.log(*misfit);
    }
    sum
}

/// Measured impacts to which rules are fitted.
pub(crate) struct Fitter<'a> {
    pub cases: &'a [&'a Case],
    pub groups: &'a Groups,
    pub gravity: Option<&'a Gravity>,
    pub options: &'a FitOptions,
}

impl Fitter<'_> {
    /// Compares a rule with given parameters with the impacts, in the form of a fit without estimates. `scale` is the scale of
    /// the misfits; `None` uses the most probable one.
    pub(crate) fn evaluated(
        &self,
        rule: &Rule,
        parameters: &Parameters,
        scale: Option<f64>,
    ) -> Result<LawFit, FitError> {
        parameters.check()?;
        let model = Model {
            rule,
            free: &[],
            fixed: parameters.clone(),
        };
        self.told(&model, parameters, scale)
    }

    /// Fits the free parameters of a model, and calls `observe` after each resample, from any thread.
    pub(crate) fn fit(
        &self,
        model: &Model<'_>,
        observe: &(dyn Fn() + Sync),
    ) -> Result<LawFit, FitError> {
        model.fixed.check()?;
        let refused = |source| refused(model.rule, source);
        let optimum = model.optimum(self.cases);
        let parameters = model.at(&optimum);
        let mut fit = self.told(model, &parameters, None)?;
        let optima = if self.options.bootstrap > 0 && !model.free.is_empty() {
            let resampled = Resampled {
                cases: self.cases,
                groups: self.groups,
                gravity: self.gravity,
            };
            let draws = (self.options.bootstrap, self.options.seed);
            let found = resampled.optima(model, &optimum, draws, observe);
            found.map_err(refused)?
        } else {
            Vec::new()
        };
        let top = fit.score.log_likelihood;
        let estimate = |(k, parameter): (usize, &Parameter)| {
            let interval = interval(&optima, k, optimum[k]);
            let [low, high] = parameter.range();
            let is_wide = interval.is_some_and(|[a, b]| b - a > 0.5 * (high - low));
            Estimate {
                parameter: parameter.clone(),
                interval,
                is_identifiable: !is_wide && self.falls(model, k, &optimum, top),
            }
        };
        fit.estimates = model.free.iter().enumerate().map(estimate).collect();
        fit.aic += 2.0 * model.free.len() as f64;
        if self.options.hold_out {
            fit.held_out = self.held_out(model, &optimum);
        }
        if self.options.details {
            let misfits = &fit.score.misfits;
            fit.by_kind = self.parts(model, &parameters, misfits, |case| {
                case.state.labels.kind.as_deref().map(str::to_owned)
            });
            let by_surface = self.parts(model, &parameters, misfits, |case| {
                let mut own = case.state.contacts.iter().map(|c| &c.surface);
                let first = own.next()?;
                own.all(|surface| surface == first)
                    .then(|| first.to_string())
            });
            fit.by_surface = if by_surface.len() > 1 {
                by_surface
            } else {
                Vec::new()
            };
            fit.per_group = self.per_group(model, &parameters);
        }
        Ok(fit)
    }

    /// Scores a model at given parameters.
    fn told(
        &self,
        model: &Model<'_>,
        parameters: &Parameters,
        scale: Option<f64>,
    ) -> Result<LawFit, FitError> {
        let rule = model.rule_at(parameters);
        let look = |case: &&Case| {
            let found = case.predict(&rule, parameters)?;
            let residual = case.residual(&found.velocity);
            let parts = case.split(&residual);
            Ok((kernel::norm(&residual), parts, found.is_ill_conditioned))
        };
        let looks = self.cases.par_iter().map(look);
        let looks: Vec<(f64, [f64; 3], bool)> = looks
            .collect::<Result<_, ImpactError>>()
            .map_err(|source| refused(model.rule, source))?;
        let misfits: Vec<f64> = looks.iter().map(|(misfit, ..)| *misfit).collect();
        let best = best_scale(&misfits, |i| self.cases[i].dim, |_| 1.0);
        let score = Score::new(self.cases, misfits, scale.unwrap_or(best.scale))?;
        let part = |k: usize| three(looks.iter().map(|(_, parts, _)| parts[k]).collect());
        Ok(LawFit {
            rule: model.rule.clone(),
            parameters: parameters.clone(),
            estimates: Vec::new(),
            aic: 2.0 - 2.0 * score.log_likelihood,
            score,
            held_out: None,
            residual_by: [part(0), part(1), part(2)],
            refused: BTreeMap::new(),
            is_ranked: true,
            ill_conditioned: looks.iter().filter(|(.., is_poor)| *is_poor).count(),
            by_kind: Vec::new(),
            by_surface: Vec::new(),
            per_group: None,
            places: self.cases.iter().map(|case| case.place).collect(),
        })
    }

    /// True if the measured impacts determine the free parameter with the index `k`. The parameter is moved to either
    /// end of its range, and the log likelihood is maximized over the other parameters. The log likelihood must fall by
    /// at least [`IDENTIFIABLE_FALL`] from its maximum `top` at both ends. An end that equals the estimate in `optimum`
    /// is ignored.
    fn falls(&self, model: &Model<'_>, k: usize, optimum: &[f64], top: f64) -> bool {
        let parameter = &model.free[k];
        let [low, high] = parameter.range();
        let others = model.free.iter().filter(|p| *p != parameter);
        let others: Vec<Parameter> = others.cloned().collect();
        [low, high].into_iter().all(|end| {
            if (optimum[k] - end).abs() <= AT_END * (high - low) {
                return true;
            }
            let held = Model {
                rule: model.rule,
                free: &others,
                fixed: model.at(optimum).with(parameter, end),
            };
            let (_, most) = held.nearby(self.cases, point(&others, &held.fixed));
            top - most >= IDENTIFIABLE_FALL
        })
    }

    /// Fits a model to either half of the groups, and scores it on the other with the scale of the fit. `None` if a half has no
    /// impact or the rule has no answer there.
    fn held_out(&self, model: &Model<'_>, optimum: &[f64]) -> Option<HeldOut> {
        let half = self.groups.halves(self.options.seed);
        let mut log_likelihood = 0.0;
        let mut misfits = Vec::with_capacity(self.cases.len());
        for own in [0, 1] {
            let is_own = |case: &&&Case| half[case.place] == own;
            let (here, there): (Vec<&Case>, Vec<&Case>) = self.cases.iter().partition(is_own);
            if here.is_empty() || there.is_empty() {
                return None;
            }
            let (found, _) = model.nearby(&here, optimum.to_vec());
            let parameters = model.at(&found);
            let (_, fitted) = model.likelihood(&here, &parameters).ok()?;
            let scored = model.misfits(&there, &parameters).ok()?;
            log_likelihood += sum(&there, &scored, fitted.scale);
            misfits.extend(scored);
        }
        Some(HeldOut {
            score: log_likelihood / misfits.len() as f64,
            median_residual: median(&mut misfits)?,
        })
    }

    /// Fits a model without the inertia to each part of the impacts; `name` is that of the part of an impact.
    fn parts(
        &self,
        model: &Model<'_>,
        all: &Parameters,
        misfits: &[f64],
        name: impl Fn(&Case) -> Option<String>,
    ) -> Vec<PartFit> {
        let mut parts: BTreeMap<String, (Vec<&Case>, Vec<f64>)> = BTreeMap::new();
        for (case, misfit) in self.cases.iter().zip(misfits) {
            if let Some(name) = name(case) {
                let (cases, misfits) = parts.entry(name).or_default();
                cases.push(case);
                misfits.push(*misfit);
            }
        }
        let free = coefficients(model);
        let fit = |(name, (cases, mut misfits)): (String, (Vec<&Case>, Vec<f64>))| {
            Some(PartFit {
                impacts: cases.len(),
                median_residual: median(&mut misfits)?,
                parameters: alone(model, &free, all, &cases),
                name,
            })
        };
        parts.into_iter().filter_map(fit).collect()
    }

    fn per_group(&self, model: &Model<'_>, all: &Parameters) -> Option<GroupFits> {
        let free = coefficients(model);
        let mut groups: BTreeMap<usize, Vec<&Case>> = BTreeMap::new();
        for case in self.cases {
            let group = self.groups.of[case.place];
            groups.entry(group).or_default().push(case);
        }
        groups.retain(|_, cases| cases.len() >= FEWEST_OF_A_GROUP);
        if free.is_empty() || groups.is_empty() {
            return None;
        }
        let fits = groups.values().map(|cases| alone(model, &free, all, cases));
        let fits: Vec<Parameters> = fits.collect();
        let n = fits.len() as f64;
        let vary = |parameter: &Parameter| {
            let values = || fits.iter().map(|p| p.get(parameter));
            let mean = values().sum::<f64>() / n;
            let square: f64 = values().map(|x| (x - mean) * (x - mean)).sum();
            Variation {
                parameter: parameter.clone(),
                mean,
                spread: (square / (n - 1.0).max(1.0)).sqrt(),
            }
        };
        Some(GroupFits {
            variations: free.iter().map(vary).collect(),
            groups: fits.len(),
        })
    }
}

/// Returns the free parameters of a model, without the inertia.
fn coefficients(model: &Model<'_>) -> Vec<Parameter> {
    let free = model
        .free
        .iter()
        .filter(|p| p.coefficient != Coefficient::Inertia);
    free.cloned().collect()
}

/// Fits the parameters `free` roughly to a part of the impacts; the others stay.
fn alone(model: &Model<'_>, free: &[Parameter], all: &Parameters, cases: &[&Case]) -> Parameters {
    let alone = Model {
        rule: model.rule,
        free,
        fixed: all.clone(),
    };
    let (found, _) = alone.nearby(cases, point(free, all));
    alone.at(&found)
}

pub(crate) fn refused(rule: &Rule, source: ImpactError) -> FitError {
    FitError::Refused {
        law: rule.name().to_owned(),
        source,
    }
}
