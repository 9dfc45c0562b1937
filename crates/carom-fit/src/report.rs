//! Record of a fit, which the command line prints and writes.

use crate::analysis::Analysis;
use crate::estimate::estimate_noise;
use crate::explain::outer_bound;
use crate::figures::figures;
use crate::fit::{Cases, Estimate, FitOptions, LawFit, Score};
use crate::impact::{COMPONENTS, Impact, Kind, find_impacts};
use crate::law::{FitLaw, Parameter, Parameters};
use crate::objective::failed;
use crate::robust::quantile;
use crate::setup::Setup;
use crate::{FitError, Poses};
use carom_report::Record;
use carom_report::record::{Column, Quantity, Table};
use nalgebra::Vector6;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of outcomes of the set-valued law that are sampled for each impact.
const SET_SAMPLES: u64 = 256;
/// A measured velocity counts as inside the set if its distance to an outcome, divided by the speed before, is
/// at most this.
const SET_DISTANCE: f64 = 0.05;

/// Request to [`analyze`]: fit the parameters of one impact law to measured impacts, or score the law with given parameters.
///
/// # Examples
///
/// ```
/// use carom_fit::{FitLaw, Parameter, Parameters, Request};
/// let free = [Parameter::Restitution, Parameter::Friction];
/// // Anitescu and Potra's law has no restitution: its friction is all that is fitted.
/// let request = Request::new(FitLaw::AnitescuPotra, &free, Parameters::NONE);
/// assert_eq!(request.free, [Parameter::Friction]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Law to fit or to score.
    pub law: FitLaw,
    /// Free parameters of the law.
    pub free: Vec<Parameter>,
    /// Values of the other parameters.
    pub fixed: Parameters,
    /// Scale of the distribution. If it is given, the law is scored with the fixed parameters and nothing is
    /// fitted.
    pub scale: Option<f64>,
}

/// Finds the impacts in tracked poses, and fits or scores the requested impact laws. `options` apply to all fits. Laws are
/// compared with the data only if at least [`Analysis::FEWEST_IMPACTS`] isolated impacts are found.
///
/// # Errors
///
/// [`FitError`].
pub fn analyze(
    poses: &[Poses],
    setup: &Setup,
    requests: &[Request],
    options: &FitOptions,
) -> Result<Analysis, FitError> {
    analyze_observed(poses, setup, requests, options, &|_, _| {})
}

/// Analyzes tracked poses like [`analyze`], and reports to `observe` the number of finished resamples and of all resamples of
/// all laws, from any thread.
///
/// # Errors
///
/// [`FitError`].
pub fn analyze_observed(
    poses: &[Poses],
    setup: &Setup,
    requests: &[Request],
    options: &FitOptions,
    observe: &(dyn Fn(u64, u64) + Sync),
) -> Result<Analysis, FitError> {
    let noise = estimate_noise(poses, setup)?;
    let census = find_impacts(poses, setup, &noise);
    let cases = Cases::new(&census.impacts, setup, &noise);
    let mut steps: Vec<f64> = poses
        .iter()
        .map(Poses::time_step)
        .filter(|h| *h > 0.0)
        .collect();
    let step = crate::robust::median(&mut steps).unwrap_or(f64::INFINITY);
    let mut analysis = Analysis {
        noise,
        is_evaluation: requests.iter().any(|request| request.scale.is_some()),
        samples: poses.iter().map(|toss| toss.time.len()).sum(),
        tosses: poses.len(),
        rate_hz: 1.0 / step,
        fits: Vec::new(),
        baselines: Vec::new(),
        bounds: Vec::new(),
        set_distances: None,
        census,
        cases,
        published: setup.published,
    };
    if !analysis.has_enough_impacts() {
        return Ok(analysis);
    }
    let cases = &analysis.cases;
    let ranked: Vec<&Request> = requests
        .iter()
        .filter(|r| r.law != FitLaw::SetValued)
        .collect();
    let resampled = ranked
        .iter()
        .filter(|r| r.scale.is_none() && !r.free.is_empty());
    options.check()?;
    let total = options.bootstrap * resampled.count() as u64;
    let done = AtomicU64::new(0);
    let fit = |request: &Request| match request.scale {
        Some(scale) => cases.evaluated(request.law, &request.fixed, Some(scale)),
        None => cases.fit_observed(request.law, &request.free, &request.fixed, options, &|| {
            observe(1 + done.fetch_add(1, Ordering::Relaxed), total)
        }),
    };
    analysis.fits = ranked.into_iter().map(fit).collect::<Result<_, _>>()?;
    analysis.baselines = [FitLaw::Stick, FitLaw::NoImpact]
        .into_iter()
        .map(|law| cases.evaluated(law, &Parameters::NONE, None))
        .collect::<Result<_, _>>()?;
    let best = analysis.ranking().first().map(|fit| fit.parameters);
    let inertia = best.unwrap_or(Parameters::NONE);
    analysis.bounds = cases
        .cases
        .par_iter()
        .map(|case| outer_bound(case, &inertia))
        .collect();
    if let Some(request) = requests.iter().find(|r| r.law == FitLaw::SetValued) {
        let parameters = request.set_parameters(best);
        let distance = |case: &crate::predict::Case| {
            let found = case.set_distance(&parameters, options.seed, SET_SAMPLES);
            found.map_err(|e| failed(case, e))
        };
        let found = cases.cases.par_iter().map(distance);
        analysis.set_distances = Some(found.collect::<Result<_, _>>()?);
    }
    Ok(analysis)
}

impl Request {
    /// Creates a request to fit an impact law. A parameter in `free` is fitted if the law depends on the parameter; all other
    /// parameters have their values in `fixed`.
    #[must_use]
    pub fn new(law: FitLaw, free: &[Parameter], fixed: Parameters) -> Self {
        let has = |p: &Parameter| law.uses().contains(p);
        Self {
            law,
            free: free.iter().copied().filter(has).collect(),
            fixed,
            scale: None,
        }
    }

    /// Returns the parameters with which the set-valued law is compared with the data. This law has no likelihood, so that its
    /// free parameters cannot be fitted. The free parameters take the values of `best`, the parameters of the law with the best
    /// fit; without `best` they take the fixed values.
    fn set_parameters(&self, best: Option<Parameters>) -> Parameters {
        let best = best.unwrap_or(self.fixed);
        self.free
            .iter()
            .fold(self.fixed, |p, &free| p.with(free, best.get(free)))
    }
}

impl Cases {
    /// Compares a law with given parameters with all measured impacts, and returns the result in the form of a fit
    /// without estimates. `scale` is the scale of the misfits; `None` uses the most probable one.
    fn evaluated(
        &self,
        law: FitLaw,
        parameters: &Parameters,
        scale: Option<f64>,
    ) -> Result<LawFit, FitError> {
        let score = self.score(law, parameters, scale)?;
        Ok(LawFit {
            law,
            parameters: *parameters,
            estimates: Vec::new(),
            aic: 2.0 - 2.0 * score.log_likelihood,
            score,
            by_kind: Vec::new(),
            per_toss: None,
        })
    }
}

fn three(mut values: Vec<f64>) -> [f64; 3] {
    [0.1, 0.5, 0.9].map(|share| quantile(&mut values, share).unwrap_or(0.0))
}

impl Analysis {
    /// Smallest number of isolated impacts with which an impact law is fitted or scored.
    pub const FEWEST_IMPACTS: usize = 10;

    /// True if enough isolated impacts were found to fit or to score an impact law.
    #[must_use]
    pub fn has_enough_impacts(&self) -> bool {
        self.census.impacts.len() >= Self::FEWEST_IMPACTS
    }

    /// Returns the fits of the impact laws in ascending order of Akaike's information criterion, the best first.
    #[must_use]
    pub fn ranking(&self) -> Vec<&LawFit> {
        let mut fits: Vec<&LawFit> = self.fits.iter().collect();
        fits.sort_by(|a, b| a.aic.total_cmp(&b.aic));
        fits
    }

    /// Returns the status of the analysis in records: `fitted`; `evaluated` if laws were scored without a fit; or
    /// `too-few-impacts`.
    #[must_use]
    pub fn status(&self) -> &'static str {
        if !self.has_enough_impacts() {
            "too-few-impacts"
        } else if self.is_evaluation {
            "evaluated"
        } else {
            "fitted"
        }
    }

    /// Returns the status of the analysis as a sentence.
    fn reason(&self) -> String {
        match self.status() {
            "fitted" => {
                "laws were fitted to the measured impacts; nothing was simulated".to_owned()
            }
            "evaluated" => {
                "laws of an earlier record were scored on the measured impacts".to_owned()
            }
            _ => format!(
                "laws are compared from {} isolated impacts on",
                Self::FEWEST_IMPACTS
            ),
        }
    }

    /// Creates the record of the analysis for export: quantities, tables, figures, and the results of each part of the
    /// analysis, such as `noise` and `plane`, as JSON. `parameters` are the parameters of the run, which are copied into the
    /// record.
    #[must_use]
    pub fn record(&self, parameters: Value) -> Record {
        let mut record = Record::new(
            "fit",
            "Impacts of a tracked body on a plane: which restitution, friction and inertia they have, \
             and which law predicts them best.",
        );
        record.status = self.status().to_owned();
        record.parameters = parameters;
        record.quantities = self.quantities();
        record.tables = vec![self.law_table(), self.impact_table()];
        record.figures = figures(self);
        let results = [
            ("ended", Value::from(self.reason())),
            ("data", self.data()),
            ("noise", self.noise_values()),
            ("plane", self.plane()),
            ("laws", self.fits.iter().map(law_value).collect()),
            ("baselines", self.baselines.iter().map(law_value).collect()),
            (
                "ranking",
                self.ranking()
                    .iter()
                    .map(|fit| Value::from(fit.law.name()))
                    .collect(),
            ),
            (
                "best",
                self.ranking()
                    .first()
                    .map_or(Value::Null, |fit| Value::from(fit.law.name())),
            ),
            ("explained", self.explained()),
            ("impacts", self.impact_values()),
        ];
        for (key, value) in results {
            record.results.insert(key.to_owned(), value);
        }
        if let Some(distances) = &self.set_distances {
            let inside = distances.iter().filter(|d| **d <= SET_DISTANCE).count();
            let value = json!({
                "distance": three(distances.clone()),
                "within": inside as f64 / distances.len() as f64,
                "samples": SET_SAMPLES,
            });
            record.results.insert("set_valued".to_owned(), value);
        }
        record
    }

    fn data(&self) -> Value {
        let count = |kind| {
            self.census
                .impacts
                .iter()
                .filter(|i| i.kind == kind)
                .count()
        };
        json!({
            "tosses": self.tosses,
            "samples": self.samples,
            "rate_hz": self.rate_hz,
            "episodes": self.census.episodes,
            "impacts": self.census.impacts.len(),
            "kinds": {
                "corner": count(Kind::Corner), "edge": count(Kind::Edge), "face": count(Kind::Face),
            },
            "excluded": self.census.excluded,
        })
    }

    fn noise_values(&self) -> Value {
        json!({
            "position_m": self.noise.position_m,
            "rotation_rad": self.noise.rotation_rad,
            "gravity": self.noise.gravity.as_slice(),
            "samples": self.noise.samples,
        })
    }

    fn plane(&self) -> Value {
        let plane = self.noise.plane;
        json!({
            "normal": plane.normal.as_slice(), "offset": plane.offset, "tilt": self.noise.tilt,
        })
    }

    fn explained(&self) -> Value {
        if self.bounds.is_empty() {
            return Value::Null;
        }
        let outside = self
            .bounds
            .iter()
            .filter(|bound| bound.is_outside())
            .count();
        json!({
            "unexplained": three(self.bounds.iter().map(|b| b.unexplained).collect()),
            "energy_ratio": three(self.bounds.iter().map(|b| b.energy_ratio).collect()),
            "outside": outside as f64 / self.bounds.len() as f64,
        })
    }

    fn impact_values(&self) -> Value {
        let all = self.census.impacts.iter().enumerate();
        all.map(|(i, impact)| self.impact_value(i, impact))
            .collect()
    }

    fn impact_value(&self, i: usize, impact: &Impact) -> Value {
        let gap = impact.gaps.iter().copied().fold(f64::INFINITY, f64::min);
        let fits = self.fits.iter().chain(&self.baselines);
        let residual: Map<String, Value> = fits
            .filter_map(|fit| {
                Some((
                    fit.law.name().to_owned(),
                    (*fit.score.misfits.get(i)?).into(),
                ))
            })
            .collect();
        let bound = self.bounds.get(i);
        json!({
            "toss": impact.toss,
            "index": impact.index,
            "time": impact.time,
            "kind": impact.kind,
            "corners": impact.corners,
            "gap": gap,
            "velocity_minus": impact.velocity_minus,
            "velocity_plus": impact.velocity_plus,
            "chi2": impact.chi2,
            "dof": impact.dof,
            "unexplained": bound.map(|b| b.unexplained),
            "energy_ratio": bound.map(|b| b.energy_ratio),
            "residual": residual,
        })
    }

    fn quantities(&self) -> Vec<Quantity> {
        let g = self.noise.gravity;
        let mut quantities = vec![
            Quantity::new("impacts", self.census.impacts.len() as f64, ""),
            Quantity::new("episodes", self.census.episodes as f64, ""),
            Quantity::new("gravity_m_s2", g.norm(), "m/s²"),
            Quantity::new("plane_offset_m", self.noise.plane.offset, "m"),
        ];
        for fit in &self.fits {
            let name = fit.law.name().replace('-', "_");
            quantities.push(Quantity::new(format!("score_{name}"), fit.score.score, ""));
            let median = fit.score.median_residual;
            quantities.push(Quantity::new(format!("median_residual_{name}"), median, ""));
            for &parameter in fit.law.uses() {
                let value = fit.parameters.get(parameter);
                let mut quantity = Quantity::new(format!("{}_{name}", parameter.name()), value, "");
                let estimate = fit.estimates.iter().find(|e| e.parameter == parameter);
                if let Some(note) = estimate.map(note) {
                    quantity = quantity.note(note);
                }
                quantities.push(quantity);
            }
        }
        quantities
    }

    fn law_table(&self) -> Table {
        let columns = [
            "restitution",
            "friction",
            "inertia",
            "scale",
            "score",
            "aic",
            "median_residual",
        ];
        let mut table = Table::new(
            "laws",
            "Fitted laws and baselines",
            columns.map(|name| Column::new(name, "")).to_vec(),
        );
        for fit in self.fits.iter().chain(&self.baselines) {
            let (p, s) = (fit.parameters, &fit.score);
            let row = vec![
                p.restitution,
                p.friction,
                p.inertia,
                s.scale,
                s.score,
                fit.aic,
                s.median_residual,
            ];
            table.push_named("law", fit.law.name(), row);
        }
        table
    }

    fn names(&self) -> Vec<&'static str> {
        let fits = self.fits.iter().chain(&self.baselines);
        fits.map(|fit| fit.law.name()).collect()
    }

    fn impact_table(&self) -> Table {
        let mut columns = vec![
            Column::new("toss", ""),
            Column::new("index", ""),
            Column::new("time", "s"),
            Column::new("corners", ""),
            Column::new("gap", "m"),
        ];
        for side in ["minus", "plus"] {
            for (axis, unit) in COMPONENTS {
                columns.push(Column::new(format!("{axis}_{side}"), unit));
            }
        }
        columns.push(Column::new("unexplained", ""));
        columns.push(Column::new("energy_ratio", ""));
        let names = self.names();
        columns.extend(
            names
                .iter()
                .map(|name| Column::new(format!("residual_{name}"), "")),
        );
        let mut table = Table::new("impacts", "Isolated impacts", columns);
        for (i, impact) in self.census.impacts.iter().enumerate() {
            let Some(bound) = self.bounds.get(i) else {
                continue;
            };
            let gap = impact.gaps.iter().copied().fold(f64::INFINITY, f64::min);
            let mut row = vec![
                impact.toss as f64,
                impact.index as f64,
                impact.time,
                impact.corners.len() as f64,
                gap,
            ];
            row.extend(impact.velocity_minus);
            row.extend(impact.velocity_plus);
            row.extend([bound.unexplained, bound.energy_ratio]);
            let fits = self.fits.iter().chain(&self.baselines);
            row.extend(fits.filter_map(|fit| fit.score.misfits.get(i)));
            table.rows.push(row);
        }
        table
    }

    /// Predicts the velocity after each measured impact by a fitted law. An entry is `None` if the law fails for this
    /// impact.
    pub(crate) fn predictions(&self, fit: &LawFit) -> Vec<Option<Vector6<f64>>> {
        let predict = |case: &crate::predict::Case| case.predict(fit.law, &fit.parameters).ok();
        self.cases.cases.par_iter().map(predict).collect()
    }

    /// Returns the published restitution and friction coefficient from the setup of the experiment; `None` if it has
    /// no published values.
    pub(crate) fn published(&self) -> Option<[f64; 2]> {
        self.published
    }

    /// Returns the measured impacts, prepared for predictions.
    pub(crate) fn cases(&self) -> &Cases {
        &self.cases
    }
}

fn note(estimate: &Estimate) -> String {
    let interval = estimate
        .interval
        .map_or("no interval".to_owned(), |[low, high]| {
            format!("95 % interval {low:.4} to {high:.4}")
        });
    let told = if estimate.is_identifiable {
        ""
    } else {
        "; the data do not tell it"
    };
    interval + told
}

fn law_value(fit: &LawFit) -> Value {
    let Score {
        scale,
        score,
        log_likelihood,
        median_residual,
        ..
    } = &fit.score;
    let estimates = |value: fn(&Estimate) -> Value| -> Map<String, Value> {
        let named = fit.estimates.iter();
        named
            .map(|e| (e.parameter.name().to_owned(), value(e)))
            .collect()
    };
    let by_kind: Map<String, Value> = fit
        .by_kind
        .iter()
        .map(|kind| {
            let value = json!({
                "impacts": kind.impacts,
                "median_residual": kind.median_residual,
                "parameters": kind.parameters,
            });
            (kind.kind.name().to_owned(), value)
        })
        .collect();
    let mut value = json!({
        "law": fit.law.name(),
        "parameters": fit.parameters,
        "free": fit.estimates.iter().map(|e| e.parameter.name()).collect::<Vec<_>>(),
        "intervals": estimates(|e| json!(e.interval)),
        "identifiable": estimates(|e| json!(e.is_identifiable)),
        "scale": scale,
        "score": score,
        "log_likelihood": log_likelihood,
        "aic": fit.aic,
        "median_residual": median_residual,
        "by_kind": by_kind,
    });
    if let (Some(object), Some(toss)) = (value.as_object_mut(), fit.per_toss) {
        let spread = json!({
            "restitution": toss.restitution, "friction": toss.friction, "tosses": toss.tosses,
        });
        object.insert("per_toss".to_owned(), spread);
    }
    value
}
