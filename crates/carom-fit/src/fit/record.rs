//! Record of a fit, which the command line prints and writes.

use super::analysis::{Analysis, SET_SAMPLES};
use super::case::Case;
use super::contacts::contacts;
use super::figures::figures;
use super::law_fit::{Estimate, LawFit, PartFit};
use super::model::Model;
use super::parameter::Parameter;
use crate::robust::three;
use carom_report::Record;
use carom_report::record::{Column, Quantity, Table};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A measured velocity counts as inside the set if its distance to an outcome, divided by the speed before, is
/// at most this.
const SET_DISTANCE: f64 = 0.05;

impl Analysis {
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
    /// analysis as JSON. `parameters` are the parameters of the run, which are copied into the record.
    #[must_use]
    pub fn record(&self, parameters: Value) -> Record {
        let mut record = Record::new(
            "fit",
            "Measured impacts: which restitution, friction and inertia they have, \
             and which law predicts them best.",
        );
        record.status = self.status().to_owned();
        record.parameters = parameters;
        record.quantities = self.quantities();
        record.tables = vec![self.law_table(), self.impact_table()];
        record.figures = figures(self);
        let ranking = self.ranking();
        let names: Vec<&str> = ranking.iter().map(|fit| fit.rule.name()).collect();
        let is_held_out = self.is_ranked_by_held_out();
        let warnings: &[&str] = if self.findings.is_empty() {
            &[]
        } else {
            &["inconsistent-data"]
        };
        let laws = |fits: &[LawFit]| fits.iter().map(|fit| self.law_value(fit)).collect();
        let mut fitted: Vec<Value> = laws(&self.fits);
        let unanswered = self.unanswered.iter();
        fitted.extend(unanswered.map(|(law, refused)| json!({ "law": law, "refused": refused })));
        let results = [
            ("ended", Value::from(self.reason())),
            ("data", self.data()),
            ("laws", Value::Array(fitted)),
            ("baselines", Value::Array(laws(&self.baselines))),
            ("best", json!(names.first())),
            ("ranking", json!(names)),
            (
                "ranked_by",
                json!(if is_held_out { "held-out" } else { "aic" }),
            ),
            ("indistinguishable", json!(self.indistinguishable)),
            ("warnings", json!(warnings)),
            ("explained", self.explained()),
            ("impacts", self.impact_values()),
        ];
        let of_origin = self.measured.origin.iter().flat_map(|o| o.results.clone());
        let named = results.map(|(key, value)| (key.to_owned(), value));
        for (key, value) in of_origin.chain(named) {
            record.results.insert(key, value);
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
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for kind in self
            .cases
            .iter()
            .filter_map(|case| case.state.labels.kind.as_deref())
        {
            *kinds.entry(kind).or_default() += 1;
        }
        let excluded = self.measured.states.len() - self.cases.len();
        let mut data = json!({
            "impacts": self.cases.len(),
            "groups": self.groups,
            "kinds": kinds,
            "excluded": { "unmeasured": excluded },
            "sampled": self.measured.sampled,
        });
        for (key, value) in self.measured.origin.iter().flat_map(|o| o.data.clone()) {
            data[key] = value;
        }
        data
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
            "free": three(self.bounds.iter().map(|b| b.free).collect()),
            "unexplained": three(self.bounds.iter().map(|b| b.unexplained).collect()),
            "energy_ratio": three(self.bounds.iter().map(|b| b.energy_ratio).collect()),
            "outside": outside as f64 / self.bounds.len() as f64,
        })
    }

    /// Returns the fits and the baselines with their misfits by the place of the impact.
    fn misfits(&self) -> Vec<(&LawFit, BTreeMap<usize, f64>)> {
        let fits = self.fits.iter().chain(&self.baselines);
        let by_place = |fit: &LawFit| {
            let places = fit.places.iter().copied();
            places.zip(fit.score.misfits.iter().copied()).collect()
        };
        fits.map(|fit| (fit, by_place(fit))).collect()
    }

    fn impact_values(&self) -> Value {
        let misfits = self.misfits();
        let value = |(i, case): (usize, &Case)| {
            let bound = self.bounds.get(i);
            let residual: Map<String, Value> = misfits
                .iter()
                .filter_map(|(fit, own)| {
                    Some((fit.rule.name().to_owned(), (*own.get(&case.place)?).into()))
                })
                .collect();
            let labels = &case.state.labels;
            let mut value = json!({
                "id": &*labels.id,
                "group": labels.group.as_deref(),
                "kind": labels.kind.as_deref(),
                "contacts": contacts(case),
                "velocity_minus": case.state.minus,
                "velocity_plus": case.state.plus,
                "free": bound.map(|b| b.free),
                "unexplained": bound.map(|b| b.unexplained),
                "energy_ratio": bound.map(|b| b.energy_ratio),
                "residual": residual,
            });
            for (key, entry) in self.details(case) {
                value[key] = entry.clone();
            }
            value
        };
        self.cases.iter().enumerate().map(value).collect()
    }

    /// Returns what the reader of poses tells of an impact.
    fn details(&self, case: &Case) -> impl Iterator<Item = (&String, &Value)> {
        let origin = self.measured.origin.as_ref();
        let own = origin.and_then(|origin| origin.impacts.get(case.place));
        own.into_iter().flatten()
    }

    fn quantities(&self) -> Vec<Quantity> {
        let mut quantities = vec![Quantity::new("impacts", self.cases.len() as f64, "")];
        let of_origin = self
            .measured
            .origin
            .iter()
            .flat_map(|o| o.quantities.clone());
        quantities.extend(of_origin);
        for fit in &self.fits {
            let name = fit.rule.name().replace('-', "_");
            quantities.push(Quantity::new(format!("score_{name}"), fit.score.score, ""));
            let median = fit.score.median_residual;
            quantities.push(Quantity::new(format!("median_residual_{name}"), median, ""));
            for (parameter, value) in fit.parameters.iter().filter(|(p, _)| fit.rule.has(p)) {
                let mut quantity = Quantity::new(format!("{parameter}_{name}"), value, "");
                let estimate = fit.estimates.iter().find(|e| e.parameter == *parameter);
                if let Some(note) = estimate.map(note) {
                    quantity = quantity.note(note);
                }
                quantities.push(quantity);
            }
        }
        quantities
    }

    fn law_table(&self) -> Table {
        let fits = || self.fits.iter().chain(&self.baselines);
        let parameters = fits().flat_map(|fit| fit.parameters.iter().map(|(p, _)| p));
        let parameters: BTreeSet<&Parameter> = parameters.collect();
        let mut columns: Vec<String> = parameters.iter().map(ToString::to_string).collect();
        columns.extend(["scale", "score", "aic", "median_residual"].map(str::to_owned));
        let columns = columns.into_iter().map(|name| Column::new(name, ""));
        let mut table = Table::new("laws", "Fitted laws and baselines", columns.collect());
        for fit in fits() {
            let s = &fit.score;
            let mut row: Vec<f64> = parameters.iter().map(|p| fit.parameters.get(p)).collect();
            row.extend([s.scale, s.score, fit.aic, s.median_residual]);
            table.push_named("law", fit.rule.name(), row);
        }
        table
    }

    fn impact_table(&self) -> Table {
        // A column has no empty cells: laws that refuse impacts have none.
        let mut misfits = self.misfits();
        misfits.retain(|(_, own)| self.cases.iter().all(|case| own.contains_key(&case.place)));
        let details = |case: &Case| -> Vec<(String, f64)> {
            let number = |(key, value): (&String, &Value)| {
                let count = value.as_array().map(|list| list.len() as f64);
                Some((key.clone(), value.as_f64().or(count)?))
            };
            self.details(case).filter_map(number).collect()
        };
        let mut columns = Vec::new();
        for (key, _) in self.cases.first().map(details).unwrap_or_default() {
            let unit = match key.as_str() {
                "time" => "s",
                "gap" => "m",
                _ => "",
            };
            columns.push(Column::new(key, unit));
        }
        let components = self.components();
        for side in ["minus", "plus"] {
            for (axis, unit) in &components {
                columns.push(Column::new(format!("{axis}_{side}"), *unit));
            }
        }
        columns.push(Column::new("unexplained", ""));
        columns.push(Column::new("energy_ratio", ""));
        let residual =
            |(fit, _): &(&LawFit, _)| Column::new(format!("residual_{}", fit.rule.name()), "");
        columns.extend(misfits.iter().map(residual));
        let mut table = Table::new("impacts", "Isolated impacts", columns);
        for (case, bound) in self.cases.iter().zip(&self.bounds) {
            let mut row: Vec<f64> = details(case).into_iter().map(|(_, x)| x).collect();
            row.extend(&case.state.minus);
            row.extend(&case.state.plus);
            row.extend([bound.unexplained, bound.energy_ratio]);
            row.extend(misfits.iter().filter_map(|(_, own)| own.get(&case.place)));
            table.push_named("id", &*case.state.labels.id, row);
        }
        table
    }

    /// Returns the names and units of the components of a velocity.
    pub(crate) fn components(&self) -> Vec<(String, &'static str)> {
        let n = self.cases.first().map_or(0, |case| case.state.dim());
        let system = &self.measured.system;
        system
            .coordinates(n)
            .into_iter()
            .zip(system.units(n))
            .collect()
    }

    /// Predicts the velocity after each measured impact by a fitted rule. An entry is `None` if the rule fails for this
    /// impact.
    pub(crate) fn predictions(&self, fit: &LawFit) -> Vec<Option<Vec<f64>>> {
        let model = Model {
            rule: &fit.rule,
            free: &[],
            fixed: fit.parameters.clone(),
        };
        let rule = model.rule_at(&fit.parameters);
        let predict = |case: &Case| Some(case.predict(&rule, &fit.parameters).ok()?.velocity);
        self.cases.par_iter().map(predict).collect()
    }

    fn law_value(&self, fit: &LawFit) -> Value {
        let estimates = |value: fn(&Estimate) -> Value| -> Map<String, Value> {
            let named = fit.estimates.iter();
            named.map(|e| (e.parameter.to_string(), value(e))).collect()
        };
        let free: Vec<String> = fit
            .estimates
            .iter()
            .map(|e| e.parameter.to_string())
            .collect();
        let [normal, tangent, unreached] = fit
            .residual_by
            .map(|[p10, p50, p90]| json!({ "p10": p10, "p50": p50, "p90": p90 }));
        let mut value = json!({
            "law": fit.rule.name(),
            "parameters": fit.parameters.to_value(),
            "free": free,
            "intervals": estimates(|e| json!(e.interval)),
            "identifiable": estimates(|e| json!(e.is_identifiable)),
            "scale": fit.score.scale,
            "score": fit.score.score,
            "log_likelihood": fit.score.log_likelihood,
            "aic": fit.aic,
            "median_residual": fit.score.median_residual,
            "held_out": fit.held_out,
            "residual_by": { "normal": normal, "tangent": tangent, "free": unreached },
            "refused": fit.refused,
            "ill_conditioned": fit.ill_conditioned,
            "by_kind": parts(&fit.by_kind),
            "by_surface": parts(&fit.by_surface),
        });
        if let Some(own) = &fit.per_group {
            let words = match self.measured.origin {
                Some(_) => ["per_toss", "tosses"],
                None => ["per_group", "groups"],
            };
            let mut spread = json!({ words[1]: own.groups });
            for v in &own.variations {
                let name = v.parameter.to_string();
                spread[name] = json!({ "mean": v.mean, "spread": v.spread });
            }
            value[words[0]] = spread;
        }
        value
    }
}

fn parts(parts: &[PartFit]) -> Map<String, Value> {
    let value = |part: &PartFit| {
        let value = json!({
            "impacts": part.impacts,
            "median_residual": part.median_residual,
            "parameters": part.parameters.to_value(),
        });
        (part.name.clone(), value)
    };
    parts.iter().map(value).collect()
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
