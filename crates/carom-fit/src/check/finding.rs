//! One change that the data ask for.

use super::residual::{Order, Residual, Speed};
use super::trial::{Point, Round};
use super::{Best, Check, Trial, values};
use crate::robust::median;
use crate::states::State;
use crate::system::System;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Change that the data ask for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Kind of the change.
    pub kind: String,
    /// Text of the change, for `--change` and `changes`.
    pub change: String,
    /// Names of the coordinates that the change concerns.
    pub coordinates: Vec<String>,
    /// Values of the change.
    pub values: Vec<f64>,
    /// 95 % intervals of the values; empty if the data do not determine them.
    pub intervals: Vec<[f64; 2]>,
    /// Median of the momentum residual before and after the change; `None` if no impact is testable.
    pub medians: [Option<f64>; 2],
    /// Gain on either half, in units of the log likelihood.
    pub gains: [f64; 2],
    /// Share of the impacts whose residual becomes smaller.
    pub improved: f64,
    /// Changes that are the same equations.
    pub equivalent: Vec<String>,
    /// Changes that are about as good.
    pub not_told_apart: Vec<String>,
    /// Finding in words.
    pub sentence: String,
}

impl Finding {
    /// Describes a change that is accepted. Also returns the system and the states that it leads to.
    pub(super) fn new(
        round: &Round,
        best: &Best,
        trials: &[Trial],
        seed: u64,
    ) -> (Self, (System, Vec<State>)) {
        let trial = &trials[best.place];
        let change = &trial.change;
        let texts = |places: &[usize]| places.iter().map(|k| trials[*k].change.text()).collect();
        let mended = round.mended(change);
        let names = round
            .system
            .coordinates(round.states.first().map_or(0, State::dim));
        let mut finding = Self {
            kind: change.kind().to_owned(),
            coordinates: change.places().iter().map(|k| names[*k].clone()).collect(),
            values: change.values.clone(),
            intervals: values::intervals(round, change, seed),
            medians: [of_points(&round.base), of_states(&mended.1)],
            gains: trial.gains,
            improved: improved(&round.base, &best.points),
            equivalent: texts(&best.equivalent),
            not_told_apart: texts(&best.not_told_apart),
            sentence: String::new(),
            change: change.text(),
        };
        let mut ways = vec![change.words()];
        ways.extend(best.equivalent.iter().map(|k| trials[*k].change.words()));
        finding.sentence = finding.told(&ways, round, &best.points);
        (finding, mended)
    }

    fn told(&self, ways: &[String], round: &Round, points: &[Point]) -> String {
        let ways = ways.join(", or ");
        let broken = |points: &[Point]| points.iter().filter(|p| p.is_broken).count();
        let [before, after] = [broken(&round.base), broken(points)];
        let order = format!(
            "{before} of {} impacts are out of order; with {ways}, {after}",
            round.states.len()
        );
        let mut sentence = match self.medians {
            [Some(old), Some(new)] if 2.0 * new < old => {
                let [old, new] = [old, new].map(percent);
                format!(
                    "The rows explain the impacts to {old} of the speed (median); with {ways}, to {new}."
                )
            }
            _ if before != after => format!("{order}."),
            _ => format!("The data ask for {ways}."),
        };
        if matches!(self.kind.as_str(), "center" | "inertia") {
            sentence.push_str(" The data ask for it; a contact that gives way can look alike.");
        }
        if !self.not_told_apart.is_empty() {
            let others = self.not_told_apart.join(", ");
            sentence.push_str(&format!(" The data do not tell it apart from {others}."));
        }
        sentence
    }

    fn to_value(&self) -> Value {
        let one_or_all = |all: Vec<Value>| match all.len() {
            0 => Value::Null,
            1 => all.into_iter().next().unwrap_or_default(),
            _ => Value::Array(all),
        };
        json!({
            "kind": self.kind,
            "change": self.change,
            "coordinates": self.coordinates,
            "value": one_or_all(self.values.iter().map(|x| json!(x)).collect()),
            "interval": one_or_all(self.intervals.iter().map(|x| json!(x)).collect()),
            "median_before": self.medians[0],
            "median_after": self.medians[1],
            "gain": self.gains[0] + self.gains[1],
            "gains": self.gains,
            "improved": self.improved,
            "equivalent": self.equivalent,
            "not_told_apart": self.not_told_apart,
            "sentence": self.sentence,
        })
    }
}

impl Check {
    /// Writes the check as JSON, the file `data-check.json`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = json!({ "status": self.status() });
        let rest = self.summary.to_value(&self.by_coordinate, self.sampled);
        if let (Some(all), Value::Object(rest)) = (value.as_object_mut(), rest) {
            all.extend(rest);
        }
        value["findings"] = self.findings.iter().map(Finding::to_value).collect();
        value
    }
}

/// Writes a share in percent.
fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn of_points(points: &[Point]) -> Option<f64> {
    let own = points.iter().filter(|point| point.free > 0);
    median(&mut own.map(|point| point.misfit).collect::<Vec<_>>())
}

/// Returns the median of the momentum residual of states, in their own metric and relative to their own speed.
fn of_states(states: &[State]) -> Option<f64> {
    let mut sizes: Vec<f64> = states
        .par_iter()
        .filter_map(|state| {
            let speed = Speed::new(state);
            Order::new(state, &speed)?;
            let residual = Residual::new(state, speed.size, state, None);
            (residual.free > 0).then(|| residual.size())
        })
        .collect();
    median(&mut sizes)
}

/// Returns the share of the impacts whose misfit becomes smaller.
fn improved(base: &[Point], points: &[Point]) -> f64 {
    let both = base.iter().zip(points);
    let both = both.filter(|(a, b)| a.is_there && b.is_there && (a.free > 0 || a.is_broken));
    let (mut all, mut better) = (0, 0);
    for (before, after) in both {
        all += 1;
        let is_mended = before.is_broken && !after.is_broken;
        better += usize::from(after.misfit < before.misfit || is_mended);
    }
    f64::from(better as u32) / f64::from((all as u32).max(1))
}
