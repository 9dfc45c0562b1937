//! The parameters of a law that make measured impacts most probable.

use crate::FitError;
use crate::bootstrap::{interval, resampled_optima};
use crate::impact::{Impact, Kind};
use crate::law::{FitLaw, Parameter, Parameters};
use crate::likelihood::log_density;
use crate::noise::{FlightGravity, NoiseModel};
use crate::objective::Model;
use crate::predict::Case;
use crate::robust::median;
use crate::setup::Setup;
use crate::tolerances::AT_END;

/// A parameter's log likelihood must fall by this much towards both ends of its range.
const IDENTIFIABLE_FALL: f64 = 1.92;
/// Fewest impacts of a toss that is fitted alone.
const FEWEST_OF_A_TOSS: usize = 3;

/// Options of a fit.
///
/// # Examples
///
/// ```
/// use carom_fit::FitOptions;
/// // Intervals over 100 resamples of the tosses, the same ones for the same seed.
/// let options = FitOptions::new(100, 7);
/// assert_eq!((options.bootstrap, options.seed, options.details), (100, 7, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FitOptions {
    /// Resamples of the tosses for the intervals; 0: no intervals.
    pub bootstrap: u64,
    /// Seed of the resamples.
    pub seed: u64,
    /// True if kinds of impacts and single tosses are fitted alone, too.
    pub details: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            bootstrap: 400,
            seed: 0,
            details: true,
        }
    }
}

impl FitOptions {
    /// Options of a fit with a number of resamples and their seed.
    #[must_use]
    pub fn new(bootstrap: u64, seed: u64) -> Self {
        Self {
            bootstrap,
            seed,
            ..Self::default()
        }
    }
}

/// Score of a law's predictions with given parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Scale of the distribution.
    pub scale: f64,
    /// Mean log density of an impact.
    pub score: f64,
    /// Sum of the log densities.
    pub log_likelihood: f64,
    /// Median of the misfits.
    pub median_residual: f64,
    /// Misfits $d$, impact by impact.
    pub misfits: Vec<f64>,
}

impl Score {
    fn new(misfits: Vec<f64>, scale: f64) -> Result<Self, FitError> {
        let median_residual = median(&mut misfits.clone()).ok_or(FitError::NoImpacts)?;
        let log_likelihood: f64 = misfits.iter().map(|d| log_density(*d, scale)).sum();
        Ok(Self {
            scale,
            score: log_likelihood / misfits.len() as f64,
            log_likelihood,
            median_residual,
            misfits,
        })
    }
}

/// A parameter and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The parameter.
    pub parameter: Parameter,
    /// 95 % interval over resampled tosses, if any were asked for; an estimated gravity is estimated again from each
    /// resample, the plane is taken as known.
    pub interval: Option<[f64; 2]>,
    /// True if the data tell it: its interval covers at most half of its range, and both ends of the
    /// range are less probable by more than the 95 % likelihood bound, the other parameters fitted again.
    pub is_identifiable: bool,
}

/// A law fitted to one kind of impacts, with the inertia of all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindFit {
    /// The kind.
    pub kind: Kind,
    /// Impacts of the kind.
    pub impacts: usize,
    /// Median misfit with the parameters of all impacts.
    pub median_residual: f64,
    /// Parameters fitted to this kind alone.
    pub parameters: Parameters,
}

/// Variation of one parameter between tosses.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Variation {
    /// Mean over tosses.
    pub mean: f64,
    /// Standard deviation over tosses.
    pub spread: f64,
}

/// Fits of single tosses of at least three impacts: variation, not truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TossFits {
    /// Restitution.
    pub restitution: Variation,
    /// Friction.
    pub friction: Variation,
    /// Tosses that were fitted.
    pub tosses: usize,
}

/// A fitted law.
#[derive(Clone, Debug, PartialEq)]
pub struct LawFit {
    /// The law.
    pub law: FitLaw,
    /// Its parameters.
    pub parameters: Parameters,
    /// The free ones.
    pub estimates: Vec<Estimate>,
    /// Score of the fit.
    pub score: Score,
    /// Akaike's criterion, $2(k + 1) - 2\sum\ell$; the scale is the one parameter more.
    pub aic: f64,
    /// Kinds of impacts alone.
    pub by_kind: Vec<KindFit>,
    /// Tosses alone.
    pub per_toss: Option<TossFits>,
}

/// Impacts ready to be predicted over and over.
#[derive(Clone, Debug)]
pub struct Cases {
    pub(crate) cases: Vec<Case>,
    pub(crate) kinds: Vec<Kind>,
    /// Gravity as estimated from single flights, if it was.
    flights: Vec<FlightGravity>,
}

impl Cases {
    /// Prepares measured impacts on the plane of `noise`, under its gravity.
    #[must_use]
    pub fn new(impacts: &[Impact], setup: &Setup, noise: &NoiseModel) -> Self {
        let case = |impact| Case::new(impact, setup, &noise.plane);
        Self {
            cases: impacts.iter().map(case).collect(),
            kinds: impacts.iter().map(|i| i.kind).collect(),
            flights: noise.flights.clone(),
        }
    }

    fn part(&self, keep: impl Fn(usize) -> bool) -> Vec<Case> {
        let kept = self.cases.iter().enumerate().filter(|(i, _)| keep(*i));
        kept.map(|(_, case)| case.clone()).collect()
    }

    /// Scores a law's predictions with given parameters, at a given scale or at the most probable one.
    ///
    /// # Errors
    ///
    /// [`FitError::NoImpacts`], [`FitError::ParameterRange`], [`FitError::Impact`].
    pub fn score(
        &self,
        law: FitLaw,
        parameters: &Parameters,
        scale: Option<f64>,
    ) -> Result<Score, FitError> {
        parameters.check()?;
        if self.cases.is_empty() {
            return Err(FitError::NoImpacts);
        }
        let model = Model {
            law,
            free: &[],
            fixed: *parameters,
        };
        let (misfits, likelihood) = model.likelihood(&self.cases, parameters)?;
        Score::new(misfits, scale.unwrap_or(likelihood.scale))
    }

    /// Fits the free parameters of a law, the others at the values of `fixed`.
    ///
    /// Maximizes the sum of [`log_density`] over restitution in [0, 1], friction in [0, 2] and inertia in
    /// [0.3, 3], the scale being the most probable one; intervals are percentiles over resampled tosses.
    ///
    /// # Errors
    ///
    /// [`FitError::UnusedParameter`], [`FitError::ParameterRange`], [`FitError::NoImpacts`] and
    /// [`FitError::Impact`].
    pub fn fit(
        &self,
        law: FitLaw,
        free: &[Parameter],
        fixed: &Parameters,
        options: &FitOptions,
    ) -> Result<LawFit, FitError> {
        let unused = |p: &&Parameter| !law.uses().contains(p);
        if let Some(parameter) = free.iter().find(unused) {
            return Err(FitError::UnusedParameter {
                law: law.name(),
                parameter: parameter.name(),
            });
        }
        fixed.check()?;
        if self.cases.is_empty() {
            return Err(FitError::NoImpacts);
        }
        let model = Model {
            law,
            free,
            fixed: *fixed,
        };
        let optimum = model.optimum(&self.cases);
        let parameters = model.at(&optimum);
        let (misfits, likelihood) = model.likelihood(&self.cases, &parameters)?;
        let optima = if options.bootstrap > 0 && !free.is_empty() {
            let (cases, flights) = (&self.cases, &self.flights);
            let draws = (options.bootstrap, options.seed);
            resampled_optima(&model, cases, flights, &optimum, draws)?
        } else {
            Vec::new()
        };
        let estimates = free
            .iter()
            .enumerate()
            .map(|(k, &parameter)| {
                let interval = interval(&optima, k, optimum[k]);
                let [low, high] = parameter.range();
                let is_wide = interval.is_some_and(|[a, b]| b - a > 0.5 * (high - low));
                Estimate {
                    parameter,
                    interval,
                    is_identifiable: !is_wide && self.falls(&model, k, &optimum, likelihood.sum),
                }
            })
            .collect();
        let (by_kind, per_toss) = if options.details {
            (
                self.by_kind(&model, &parameters, &misfits),
                self.per_toss(&model, &parameters),
            )
        } else {
            (Vec::new(), None)
        };
        Ok(LawFit {
            law,
            parameters,
            estimates,
            aic: 2.0 * (free.len() + 1) as f64 - 2.0 * likelihood.sum,
            score: Score::new(misfits, likelihood.scale)?,
            by_kind,
            per_toss,
        })
    }

    /// True if the log likelihood falls towards both ends of a parameter's range; an end at which the
    /// estimate stands does not count.
    fn falls(&self, model: &Model<'_>, k: usize, optimum: &[f64; 3], top: f64) -> bool {
        let parameter = model.free[k];
        let [low, high] = parameter.range();
        let others: Vec<Parameter> = model
            .free
            .iter()
            .copied()
            .filter(|p| *p != parameter)
            .collect();
        [low, high].into_iter().all(|end| {
            if (optimum[k] - end).abs() <= AT_END * (high - low) {
                return true;
            }
            let held = Model {
                law: model.law,
                free: &others,
                fixed: model.at(optimum).with(parameter, end),
            };
            let start = held.point(&held.fixed);
            let (_, most) = held.nearby(&self.cases, start);
            top - most >= IDENTIFIABLE_FALL
        })
    }

    fn by_kind(&self, model: &Model<'_>, all: &Parameters, misfits: &[f64]) -> Vec<KindFit> {
        let free: Vec<Parameter> = model
            .free
            .iter()
            .copied()
            .filter(|p| *p != Parameter::Inertia)
            .collect();
        let alone = Model {
            free: &free,
            fixed: *all,
            ..*model
        };
        Kind::ALL
            .into_iter()
            .filter_map(|kind| {
                let cases = self.part(|i| self.kinds[i] == kind);
                let kinds = self.kinds.iter().zip(misfits);
                let mut own: Vec<f64> = kinds
                    .filter(|(k, _)| **k == kind)
                    .map(|(_, d)| *d)
                    .collect();
                let median_residual = median(&mut own)?;
                let (point, _) = alone.nearby(&cases, alone.point(all));
                Some(KindFit {
                    kind,
                    impacts: cases.len(),
                    median_residual,
                    parameters: alone.at(&point),
                })
            })
            .collect()
    }

    fn per_toss(&self, model: &Model<'_>, all: &Parameters) -> Option<TossFits> {
        let free: Vec<Parameter> = model
            .free
            .iter()
            .copied()
            .filter(|p| *p != Parameter::Inertia)
            .collect();
        if free.is_empty() {
            return None;
        }
        let alone = Model {
            free: &free,
            fixed: *all,
            ..*model
        };
        let mut fits = Vec::new();
        let mut start = 0;
        while let Some(first) = self.cases.get(start) {
            let rest = self.cases[start..].iter();
            let count = rest.take_while(|case| case.toss == first.toss).count();
            if count >= FEWEST_OF_A_TOSS {
                let (point, _) = alone.nearby(&self.cases[start..start + count], alone.point(all));
                fits.push(alone.at(&point));
            }
            start += count;
        }
        let vary = |get: fn(&Parameters) -> f64| {
            let n = fits.len() as f64;
            let mean = fits.iter().map(get).sum::<f64>() / n;
            let square = fits
                .iter()
                .map(|p| carom_numeric::power(get(p) - mean, 2))
                .sum::<f64>();
            Variation {
                mean,
                spread: if fits.len() > 1 {
                    (square / (n - 1.0)).sqrt()
                } else {
                    0.0
                },
            }
        };
        (!fits.is_empty()).then(|| TossFits {
            restitution: vary(|p| p.restitution),
            friction: vary(|p| p.friction),
            tosses: fits.len(),
        })
    }
}
