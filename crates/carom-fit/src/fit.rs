//! Maximum-likelihood fit of the parameters of a law to measured impacts.

use crate::FitError;
use crate::bootstrap::{interval, resampled_optima};
use crate::impact::{Impact, Kind};
use crate::law::{FitLaw, Parameter, Parameters};
use crate::likelihood::{SPATIAL, log_density};
use crate::noise::{FlightGravity, NoiseModel};
use crate::objective::Model;
use crate::predict::Case;
use crate::robust::median;
use crate::setup::Setup;
use crate::tolerances::AT_END;

/// A parameter is identifiable if its log likelihood falls by this much towards both ends of its range.
const IDENTIFIABLE_FALL: f64 = 1.92;
/// Smallest number of impacts of a toss that is fitted separately.
const FEWEST_OF_A_TOSS: usize = 3;

/// Largest number of resamples for the intervals of a fit.
const MOST_RESAMPLES: u64 = 1_000_000;

/// Options for fitting an impact law to measured impacts: number and seed of the bootstrap resamples for confidence intervals,
/// and a flag for separate fits of kinds of impacts and of single tosses.
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
    /// Number of resamples of the tosses for the intervals; with 0 there are no intervals.
    pub bootstrap: u64,
    /// Seed of the random resamples.
    pub seed: u64,
    /// True if kinds of impacts and single tosses are also fitted separately.
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
    /// Creates options for fitting an impact law. `bootstrap` is the number of resamples of the tosses from which confidence
    /// intervals are computed; with 0 there are no intervals. `seed` selects the random numbers of the resampling.
    #[must_use]
    pub fn new(bootstrap: u64, seed: u64) -> Self {
        Self {
            bootstrap,
            seed,
            ..Self::default()
        }
    }

    /// Returns an error for more resamples than can be computed.
    pub(crate) fn check(&self) -> Result<(), FitError> {
        if self.bootstrap <= MOST_RESAMPLES {
            return Ok(());
        }
        let why = format!("{} must be at most {MOST_RESAMPLES}", self.bootstrap);
        Err(FitError::Configuration(format!("bootstrap: {why}")))
    }
}

/// Agreement of an impact law, with given parameters, with the measured impacts: log likelihood and misfits. A misfit is the
/// distance between the predicted and the measured velocity after an impact, relative to the velocity before it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// Scale $s$ of the distribution of misfits, see [`log_density`].
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

impl Score {
    fn new(misfits: Vec<f64>, scale: f64) -> Result<Self, FitError> {
        let median_residual = median(&mut misfits.clone()).ok_or(FitError::NoImpacts)?;
        let log_likelihood: f64 = misfits
            .iter()
            .map(|d| log_density(*d, scale, SPATIAL))
            .sum();
        Ok(Self {
            scale,
            score: log_likelihood / misfits.len() as f64,
            log_likelihood,
            median_residual,
            misfits,
        })
    }
}

/// Result for one fitted parameter of an impact law: its 95 % confidence interval, and a flag that tells if the data determine
/// the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Parameter that was fitted.
    pub parameter: Parameter,
    /// 95 % interval over resampled tosses, if resamples were requested. An estimated gravity is estimated
    /// again from each resample; the plane is taken as exactly known.
    pub interval: Option<[f64; 2]>,
    /// True if the data determine the parameter: its interval covers at most half of its range, and both ends
    /// of the range are less probable by more than the 95 % likelihood bound when the other parameters are
    /// fitted again.
    pub is_identifiable: bool,
}

/// Fit of restitution and friction of an impact law to the impacts of one kind only (one, two, or more vertices touch). The
/// inertia is kept at the value that was fitted to all impacts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct KindFit {
    /// Kind of impacts.
    pub kind: Kind,
    /// Number of impacts of this kind.
    pub impacts: usize,
    /// Median misfit with the parameters fitted to all impacts.
    pub median_residual: f64,
    /// Parameters fitted to the impacts of this kind only.
    pub parameters: Parameters,
}

/// Mean and standard deviation of a parameter of an impact law that was fitted to each toss separately.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Variation {
    /// Mean over the tosses.
    pub mean: f64,
    /// Standard deviation over the tosses.
    pub spread: f64,
}

/// Variation of restitution and friction between tosses. The impact law was fitted separately to each toss with at least three
/// impacts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TossFits {
    /// Variation of the restitution.
    pub restitution: Variation,
    /// Variation of the friction.
    pub friction: Variation,
    /// Number of tosses that were fitted.
    pub tosses: usize,
}

/// Result of fitting one impact law to the measured impacts: parameters, confidence intervals and scores.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LawFit {
    /// Law that was fitted.
    pub law: FitLaw,
    /// Parameters of the law.
    pub parameters: Parameters,
    /// Free parameters with their intervals.
    pub estimates: Vec<Estimate>,
    /// Score of the law with these parameters.
    pub score: Score,
    /// Akaike's criterion, $2(k + 1) - 2\sum\ell$ with $k$ free parameters and the log densities $\ell$. The
    /// additional parameter is the scale.
    pub aic: f64,
    /// Fits of each kind of impacts separately.
    pub by_kind: Vec<KindFit>,
    /// Fits of single tosses.
    pub per_toss: Option<TossFits>,
}

/// Measured impacts with the data that predictions by impact laws need. [`fit`](Self::fit) and [`score`](Self::score) compare
/// laws with them.
#[derive(Clone, Debug)]
pub struct Cases {
    pub(crate) cases: Vec<Case>,
    pub(crate) kinds: Vec<Kind>,
    /// Estimates of gravity from single flights, if gravity was estimated.
    flights: Vec<FlightGravity>,
}

impl Cases {
    /// Prepares measured impacts for predictions by impact laws. The body is that of `setup`; plane and gravity are those of
    /// `noise`.
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

    /// Scores the predictions of an impact law with given parameters against the measured impacts. `scale` is the scale of the
    /// distribution of misfits (see [`log_density`]); with `None` the most probable scale is used.
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

    /// Fits the parameters `free` of an impact law to the measured impacts. The other parameters have the values of `fixed`.
    ///
    /// The fit maximizes the likelihood, the sum of [`log_density`] of the misfits of all impacts, at the most probable scale
    /// of the misfits. Restitution is restricted to [0, 1], friction to [0, 2], and the factor of the inertia to [0.3, 3].
    /// Confidence intervals are percentiles of fits to resampled tosses.
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
        self.fit_observed(law, free, fixed, options, &|| ())
    }

    /// Fits a law like [`fit`](Self::fit), and calls `observe` after each resample, from any thread.
    pub(crate) fn fit_observed(
        &self,
        law: FitLaw,
        free: &[Parameter],
        fixed: &Parameters,
        options: &FitOptions,
        observe: &(dyn Fn() + Sync),
    ) -> Result<LawFit, FitError> {
        options.check()?;
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
            resampled_optima(&model, cases, flights, &optimum, draws, observe)?
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

    /// True if the measured impacts determine the free parameter with the index `k`. The parameter is moved to either
    /// end of its range, and the log likelihood is maximized over the other parameters. The log likelihood must fall by
    /// at least [`IDENTIFIABLE_FALL`] from its maximum `top` at both ends. An end that equals the estimate in `optimum`
    /// is ignored.
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

    /// Returns the free parameters of a model, without the inertia.
    fn coefficients(model: &Model<'_>) -> Vec<Parameter> {
        let free = model.free.iter().copied();
        free.filter(|p| *p != Parameter::Inertia).collect()
    }

    fn by_kind(&self, model: &Model<'_>, all: &Parameters, misfits: &[f64]) -> Vec<KindFit> {
        let free = Self::coefficients(model);
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
        let free = Self::coefficients(model);
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
