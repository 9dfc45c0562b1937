//! Comparison of rules with the measured impacts of a file.

use super::case::Case;
use super::law_fit::{Fitter, LawFit, refused};
use super::model::Model;
use super::options::FitOptions;
use super::parameter::{Coefficient, MOST_FREE, Parameter, Parameters};
use super::rule::Rule;
use crate::FitError;
use crate::check::residual::{ENERGY_RATIO, Order, Residual, UNEXPLAINED, unexplained};
use crate::check::{Finding, findings_of};
use crate::measured::Measured;
use crate::states::Groups;
use carom_contact::ImpactError;
use carom_metric::kernel;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of outcomes of the set-valued law that are sampled for each impact.
pub(crate) const SET_SAMPLES: u64 = 256;

/// Request to [`Measured::analyze`]: fit the parameters of one rule to measured impacts, or score it with given parameters.
///
/// # Examples
///
/// ```
/// use carom_fit::{Coefficient, Parameter, Parameters, Request, Rule};
/// let free = [Coefficient::Restitution, Coefficient::Friction].map(Parameter::shared);
/// // Anitescu and Potra's law has no restitution: its friction is all that is fitted.
/// let law = Rule::by_name("anitescu-potra").ok_or("no law")?;
/// let request = Request::new(law, &free, Parameters::NONE);
/// assert_eq!(request.free, [Parameter::shared(Coefficient::Friction)]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Rule to fit or to score.
    pub rule: Rule,
    /// Free parameters.
    pub free: Vec<Parameter>,
    /// Values of the other parameters.
    pub fixed: Parameters,
    /// Scale of the distribution. If it is given, the rule is scored with the fixed parameters and nothing is
    /// fitted.
    pub scale: Option<f64>,
}

impl Request {
    /// Creates a request to fit a rule. A parameter in `free` is fitted if the rule depends on it; all other parameters have
    /// their values in `fixed`.
    #[must_use]
    pub fn new(rule: Rule, free: &[Parameter], fixed: Parameters) -> Self {
        let free = free.iter().filter(|p| rule.has(p)).cloned().collect();
        Self {
            rule,
            free,
            fixed,
            scale: None,
        }
    }
}

/// Parts of a measured impact that no rigid-body impact law explains.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Bound {
    /// Distance (kinetic norm) of the velocity change from those that impulses with nonnegative normal parts
    /// can make, divided by the kinetic norm of the velocity before the impact; with the fitted inertia of the best rule.
    pub unexplained: f64,
    /// Distance from those that impulses of any sign can make, with the configured inertia.
    pub free: f64,
    /// Ratio of the kinetic energies after and before the impact, with the configured inertia.
    pub energy_ratio: f64,
}

impl Bound {
    /// True if no rigid-body impact law explains the measured impact, because the unexplained part of the velocity change is
    /// above 0.1 or the energy ratio is above 1.02.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.unexplained > UNEXPLAINED || self.energy_ratio > ENERGY_RATIO
    }

    /// Computes the bounds of an impact; `factor` is that of the inertia.
    fn new(case: &Case, factor: f64) -> Self {
        let state = &case.state;
        let metric = case.metric(factor).ok();
        let far = metric.and_then(|metric| unexplained(state, &metric, &case.speed.touched));
        let order = Order::new(state, &case.speed).unwrap_or_default();
        Self {
            unexplained: far.unwrap_or(f64::INFINITY),
            free: Residual::new(state, case.speed.size, state, None).size(),
            energy_ratio: order.energy_ratio,
        }
    }
}

/// Results of [`Measured::analyze`]: one fit for each requested rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Analysis {
    /// Fits of the rules, in the order of the requests; empty with fewer than ten impacts.
    pub fits: Vec<LawFit>,
    /// Names of laws that have no answer for any impact, with the numbers of impacts by the kind of the error.
    pub unanswered: Vec<(String, BTreeMap<&'static str, usize>)>,
    /// Baselines for comparison: every contact sticks, and no impact.
    pub baselines: Vec<LawFit>,
    /// Names of rules that predict the same for every impact, with the parameters of either.
    pub indistinguishable: Vec<Vec<String>>,
    /// Bounds that are valid for every law, one per impact that has a contact and a speed.
    pub bounds: Vec<Bound>,
    /// Distance of each impact to the nearest sampled outcome of the set-valued law, if that law was requested.
    pub set_distances: Option<Vec<f64>>,
    /// Changes that the data ask for, as the check of the data finds them.
    pub findings: Vec<Finding>,
    pub(crate) cases: Vec<Case>,
    pub(crate) measured: Measured,
    pub(crate) groups: usize,
    is_evaluation: bool,
}

impl Measured {
    /// Fits or scores the requested rules. `options` apply to all fits. Laws are compared with the data only if there are at
    /// least [`Analysis::FEWEST_IMPACTS`] impacts.
    ///
    /// # Errors
    ///
    /// [`FitError`].
    pub fn analyze(self, requests: &[Request], options: &FitOptions) -> Result<Analysis, FitError> {
        self.analyze_observed(requests, options, &|_, _| {})
    }

    /// Analyzes measured impacts like [`analyze`](Self::analyze), and reports to `observe` the number of finished resamples
    /// and of all resamples of all rules, from any thread.
    ///
    /// # Errors
    ///
    /// [`FitError`].
    pub fn analyze_observed(
        self,
        requests: &[Request],
        options: &FitOptions,
        observe: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Analysis, FitError> {
        options.check()?;
        let requests = self.resolved(requests)?;
        let inertia = self.system.inertia().unwrap_or(0..0);
        let case =
            |(k, state): (usize, &crate::State)| Case::new(state.clone(), k, inertia.clone());
        let all = self.states.par_iter().enumerate();
        let cases: Vec<Case> = all.filter_map(case).collect();
        let more = self.gravity().into_iter().flat_map(|g| g.groups());
        let groups = Groups::new(self.states.iter().map(|state| &*state.labels), more);
        let own: BTreeSet<usize> = groups.of.iter().copied().collect();
        let mut analysis = Analysis {
            fits: Vec::new(),
            unanswered: Vec::new(),
            baselines: Vec::new(),
            indistinguishable: Vec::new(),
            bounds: Vec::new(),
            set_distances: None,
            findings: findings_of(&self.system, &self.states, options.seed),
            cases,
            groups: own.len(),
            is_evaluation: requests.iter().any(|request| request.scale.is_some()),
            measured: self,
        };
        if analysis.has_enough_impacts() {
            analysis.compare(&requests, &groups, options, observe)?;
        }
        Ok(analysis)
    }

    /// Returns the requests with the parameters of each surface by name, and with all parameters that records list.
    fn resolved(&self, requests: &[Request]) -> Result<Vec<Request>, FitError> {
        let contacts = self.states.iter().flat_map(|state| &state.contacts);
        let surfaces: BTreeSet<&Arc<str>> = contacts.map(|contact| &contact.surface).collect();
        let mut resolved = Vec::new();
        for request in requests {
            let mut request = request.clone();
            let each = |p: &Parameter| {
                if p.is_each() {
                    surfaces.iter().map(|surface| p.of(surface)).collect()
                } else {
                    vec![p.clone()]
                }
            };
            let free: BTreeSet<Parameter> = request.free.iter().flat_map(each).collect();
            request.free = free.into_iter().collect();
            let mut fixed = Parameters::NONE;
            for (parameter, value) in request.fixed.iter() {
                fixed = each(parameter)
                    .iter()
                    .fold(fixed, |p, own| p.with(own, value));
            }
            let wrong = |p: &Parameter, why: &str| FitError::Parameter(format!("{p}: {why}"));
            let all = || request.free.iter().chain(fixed.iter().map(|(p, _)| p));
            for parameter in all() {
                if let Some(surface) = &parameter.surface
                    && !surfaces.contains(surface)
                {
                    let known = surfaces.iter().map(|s| &***s);
                    let near = carom_numeric::nearest_name(surface, known.clone());
                    let hint =
                        near.map_or_else(|| ";".to_owned(), |n| format!("; did you mean `{n}`?"));
                    let known: Vec<&str> = known.collect();
                    let why = format!("no surface `{surface}`{hint} known: {}", known.join(", "));
                    return Err(wrong(parameter, &why));
                }
            }
            let inertia = Parameter::shared(Coefficient::Inertia);
            let is_moved = request.free.contains(&inertia) || fixed.get(&inertia) != 1.0;
            if is_moved && self.system.inertia().is_none() {
                return Err(wrong(&inertia, "the configuration has no inertia"));
            }
            if request.free.len() > MOST_FREE {
                let why = format!("{} parameters; at most {MOST_FREE}", request.free.len());
                return Err(FitError::Parameter(format!(
                    "free: {why} can be fitted at once"
                )));
            }
            if let Some(unused) = request.free.iter().find(|p| !request.rule.has(p)) {
                let why = format!("law `{}` has no such parameter", request.rule.name());
                return Err(wrong(unused, &why));
            }
            let of_each = |coefficient| {
                let has = |s: &&Arc<str>| {
                    let own = Parameter::shared(coefficient).of(s);
                    all().any(|p| *p == own)
                };
                surfaces.iter().all(has) && !surfaces.is_empty()
            };
            let mut complete = fixed.clone();
            for coefficient in Coefficient::ALL {
                let parameter = Parameter::shared(coefficient);
                let is_there = fixed.iter().any(|(own, _)| *own == parameter);
                let is_none =
                    coefficient == Coefficient::Inertia && self.system.inertia().is_none();
                if !is_there && !is_none && !of_each(coefficient) {
                    complete = complete.with(&parameter, coefficient.default_value());
                }
            }
            request.fixed = complete;
            resolved.push(request);
        }
        Ok(resolved)
    }
}

/// Returns why a request has no answer for each impact, if so: at its parameters, or at a starting point of the search.
fn refusals(request: &Request, cases: &[&Case]) -> Vec<Option<ImpactError>> {
    let model = request.model();
    let mut found = vec![None; cases.len()];
    for start in model.starts() {
        let residuals = model.residuals(cases, &model.at(&start));
        for (found, residual) in found.iter_mut().zip(residuals) {
            *found = found.take().or(residual.err());
        }
        if request.free.is_empty() {
            break;
        }
    }
    found
}

impl Request {
    fn model(&self) -> Model<'_> {
        Model {
            rule: &self.rule,
            free: &self.free,
            fixed: self.fixed.clone(),
        }
    }
}

impl Analysis {
    /// Smallest number of impacts with which an impact law is fitted or scored.
    pub const FEWEST_IMPACTS: usize = 10;

    /// True if there are enough impacts to fit or to score an impact law.
    #[must_use]
    pub fn has_enough_impacts(&self) -> bool {
        self.cases.len() >= Self::FEWEST_IMPACTS
    }

    /// Returns the case of the impact at a place of the list of all.
    pub(crate) fn case_at(&self, place: usize) -> Option<&Case> {
        let found = self.cases.binary_search_by_key(&place, |case| case.place);
        found.ok().and_then(|k| self.cases.get(k))
    }

    /// Returns the measured impacts.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Fits or scores all requests on the impacts that all of them answer.
    fn compare(
        &mut self,
        requests: &[Request],
        groups: &Groups,
        options: &FitOptions,
        observe: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<(), FitError> {
        let all: Vec<&Case> = self.cases.iter().collect();
        let ranked: Vec<&Request> = requests
            .iter()
            .filter(|r| !r.rule.is_set_valued())
            .collect();
        let refusals: Vec<_> = ranked.iter().map(|r| refusals(r, &all)).collect();
        let is_ranked =
            |own: &Vec<Option<ImpactError>>| 10 * own.iter().flatten().count() <= own.len();
        let is_answered = |k: usize| {
            let compared = refusals.iter().filter(|own| is_ranked(own));
            compared.into_iter().all(|own| own[k].is_none())
        };
        let common: Vec<&Case> = (0..all.len())
            .filter(|k| is_answered(*k))
            .map(|k| all[k])
            .collect();
        let fitted = |r: &&&Request| r.scale.is_none() && !r.free.is_empty();
        let total = options.bootstrap * ranked.iter().filter(fitted).count() as u64;
        let done = AtomicU64::new(0);
        let gravity = self.measured.gravity();
        let mut fits = Vec::new();
        for (request, refusals) in ranked.iter().zip(&refusals) {
            let answered = all.iter().zip(refusals).filter(|(_, why)| why.is_none());
            let own: Vec<&Case> = answered.map(|(case, _)| *case).collect();
            let mut kinds = BTreeMap::new();
            for why in refusals.iter().flatten() {
                *kinds.entry(why.kind()).or_default() += 1;
            }
            if own.is_empty() {
                let name = request.rule.name().to_owned();
                self.unanswered.push((name, kinds));
                continue;
            }
            let fitter = Fitter {
                cases: if is_ranked(refusals) { &common } else { &own },
                groups,
                gravity,
                options,
            };
            let mut fit = match request.scale {
                Some(_) => fitter.evaluated(&request.rule, &request.fixed, request.scale)?,
                None => fitter.fit(&request.model(), &|| {
                    observe(1 + done.fetch_add(1, Ordering::Relaxed), total);
                })?,
            };
            (fit.refused, fit.is_ranked) = (kinds, is_ranked(refusals));
            fits.push(fit);
        }
        let baseline = |name: &str| {
            let rule = Rule::by_name(name)?;
            let defaults = Request::new(rule.clone(), &[], Parameters::NONE);
            Some((rule, self.measured.resolved(&[defaults]).ok()?.pop()?.fixed))
        };
        let baselines = Rule::BASELINES.into_iter().filter_map(baseline);
        let fitter = Fitter {
            cases: &common,
            groups,
            gravity,
            options,
        };
        let baselines: Result<Vec<LawFit>, FitError> = baselines
            .map(|(rule, fixed)| fitter.evaluated(&rule, &fixed, None))
            .collect();
        self.baselines = baselines?;
        self.indistinguishable = indistinguishable(&fits, &common);
        self.fits = fits;
        let best = self.ranking().first().map(|fit| fit.parameters.clone());
        let factor = best
            .as_ref()
            .map_or(1.0, |p| p.value(Coefficient::Inertia, None));
        self.bounds = self
            .cases
            .par_iter()
            .map(|case| Bound::new(case, factor))
            .collect();
        if let Some(request) = requests.iter().find(|r| r.rule.is_set_valued()) {
            // The law has no likelihood: its free parameters take the values of the best fit.
            let best = best.unwrap_or_else(|| request.fixed.clone());
            let free = request.free.iter();
            let p = free.fold(request.fixed.clone(), |p, own| p.with(own, best.get(own)));
            let distance = |case: &Case| {
                let found = case.set_distance(&request.rule, &p, options.seed, SET_SAMPLES);
                found.map_err(|source| refused(&request.rule, source))
            };
            let found = self.cases.par_iter().map(distance);
            self.set_distances = Some(found.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// True if laws are ranked by their score on held-out halves, false if by Akaike's criterion.
    #[must_use]
    pub fn is_ranked_by_held_out(&self) -> bool {
        let mut ranked = self.fits.iter().filter(|fit| fit.is_ranked);
        !self.fits.is_empty() && ranked.all(|fit| fit.held_out.is_some())
    }

    /// Returns the fits that are compared, the best first: by the score on held-out halves, or in ascending order of Akaike's
    /// criterion. Of rules that predict the same, the first one stands for all.
    #[must_use]
    pub fn ranking(&self) -> Vec<&LawFit> {
        let is_later = |fit: &LawFit| {
            let name = fit.rule.name();
            self.indistinguishable
                .iter()
                .any(|same| same[1..].iter().any(|other| other == name))
        };
        let compared = self
            .fits
            .iter()
            .filter(|fit| fit.is_ranked && !is_later(fit));
        let mut fits: Vec<&LawFit> = compared.collect();
        let is_held_out = self.is_ranked_by_held_out();
        let cost = |fit: &LawFit| match fit.held_out {
            Some(held_out) if is_held_out => -held_out.score,
            _ => fit.aic,
        };
        fits.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
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
}

/// Collects rules whose predictions agree for every impact, with the parameters of either.
fn indistinguishable(fits: &[LawFit], cases: &[&Case]) -> Vec<Vec<String>> {
    let fits: Vec<&LawFit> = fits.iter().filter(|fit| fit.is_ranked).collect();
    let agree = |a: &LawFit, b: &LawFit| {
        [&a.parameters, &b.parameters].into_iter().all(|p| {
            let rule = |fit: &LawFit| {
                let restitution = p.value(Coefficient::Restitution, None);
                fit.rule.with_restitution(restitution)
            };
            let (first, second) = (rule(a), rule(b));
            cases.par_iter().all(|case| {
                let of = |rule: &Rule| {
                    case.predict(rule, p)
                        .map(|own| case.residual(&own.velocity))
                };
                let (Ok(mut a), Ok(b)) = (of(&first), of(&second)) else {
                    return false;
                };
                kernel::add_scaled(&mut a, -1.0, &b);
                kernel::norm(&a) <= super::likelihood::LEAST_SCALE
            })
        })
    };
    let mut groups: Vec<Vec<&LawFit>> = Vec::new();
    for fit in fits {
        match groups.iter_mut().find(|group| agree(group[0], fit)) {
            Some(group) => group.push(fit),
            None => groups.push(vec![fit]),
        }
    }
    let names = |group: Vec<&LawFit>| group.iter().map(|f| f.rule.name().to_owned()).collect();
    let several = groups.into_iter().filter(|group| group.len() > 1);
    several.map(names).collect()
}
