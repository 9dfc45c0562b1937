//! Quantities of all impacts of a file.

use super::residual::{Order, Residual, Speed, pulls};
use crate::robust::{median, quantile};
use crate::states::State;
use crate::system::System;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Quantities of all impacts of a file, impact by impact and counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    impacts: usize,
    groups: BTreeSet<Box<str>>,
    /// Impacts that are a group of their own.
    single: usize,
    untestable: usize,
    unmeasured: usize,
    /// Momentum residuals of impacts whose rows do not reach every direction.
    residuals: Vec<f64>,
    energy_ratios: Vec<f64>,
    gained: usize,
    separating_before: usize,
    approaching_after: usize,
    pulling: usize,
}

/// Quantities of one impact.
struct Look {
    order: Option<Order>,
    residual: Option<f64>,
    pulls: bool,
}

impl Look {
    fn new(state: &State) -> Self {
        let speed = Speed::new(state);
        let order = Order::new(state, &speed);
        if order.is_none() {
            return Self {
                order,
                residual: None,
                pulls: false,
            };
        }
        let residual = Residual::new(state, speed.size, state, None);
        let size = residual.size();
        Self {
            order,
            pulls: pulls(state, &speed, size),
            residual: (residual.free > 0).then_some(size),
        }
    }
}

impl Summary {
    pub(crate) fn add(&mut self, states: &[State]) {
        let looks: Vec<Look> = states.par_iter().map(Look::new).collect();
        self.impacts += states.len();
        for (state, look) in states.iter().zip(looks) {
            match &state.labels.group {
                Some(group) if self.groups.contains(group) => {}
                Some(group) => {
                    self.groups.insert(group.clone());
                }
                None => self.single += 1,
            }
            let Some(order) = look.order else {
                self.unmeasured += 1;
                continue;
            };
            match look.residual {
                Some(residual) => self.residuals.push(residual),
                None => self.untestable += 1,
            }
            self.energy_ratios.push(order.energy_ratio);
            self.gained += usize::from(order.gains());
            self.separating_before += usize::from(order.separates_before);
            self.approaching_after += usize::from(order.approaches_after);
            self.pulling += usize::from(look.pulls);
        }
    }

    pub(crate) fn impacts(&self) -> usize {
        self.impacts
    }

    /// True if no impact has a direction that its rows do not reach.
    pub(crate) fn is_untestable(&self) -> bool {
        self.residuals.is_empty()
    }

    /// Returns the quantities as JSON: `data`, `momentum_residual`, `energy_ratio`, `approaching`, `pulling`.
    pub(crate) fn to_value(
        &self,
        by_coordinate: &[(String, f64)],
        sampled: Option<usize>,
    ) -> Value {
        let mut momentum = quantiles(&self.residuals);
        let own = by_coordinate
            .iter()
            .map(|(name, x)| (name.clone(), json!(x)));
        momentum["by_coordinate"] = Value::Object(own.collect());
        let mut energy = quantiles(&self.energy_ratios);
        energy["gained"] = self.gained.into();
        json!({
            "data": {
                "impacts": self.impacts,
                "groups": self.groups.len() + self.single,
                "untestable": self.untestable,
                "unmeasured": self.unmeasured,
                "sampled": sampled,
            },
            "momentum_residual": momentum,
            "energy_ratio": energy,
            "approaching": {
                "separating_before": self.separating_before,
                "approaching_after": self.approaching_after,
            },
            "pulling": self.pulling,
        })
    }
}

/// Returns the quantiles `p10`, `p50`, `p90`; null without values.
fn quantiles(values: &[f64]) -> Value {
    let mut values = values.to_vec();
    let mut at = |share| quantile(&mut values, share);
    json!({"p10": at(0.1), "p50": at(0.5), "p90": at(0.9)})
}

/// Returns the median of each component of the momentum residual, signed: the velocity of the coordinate times the square root
/// of its mass, over the speed.
pub(crate) fn by_coordinate(system: &System, states: &[State]) -> Vec<(String, f64)> {
    let n = states.first().map_or(0, State::dim);
    let components: Vec<Vec<f64>> = states
        .par_iter()
        .filter_map(|state| {
            let speed = Speed::new(state);
            Order::new(state, &speed)?;
            let mut vector = Residual::new(state, speed.size, state, None).vector;
            state.metric.unwhiten_velocity_in_place(&mut vector);
            let masses = state.metric.mass_matrix().diagonal();
            let entries = vector.iter().zip(masses.iter());
            Some(entries.map(|(v, m)| v * m.sqrt()).collect())
        })
        .collect();
    let middle = |k: usize| {
        let mut own: Vec<f64> = components.iter().map(|c| c[k]).collect();
        median(&mut own)
    };
    let names = system.coordinates(n).into_iter().enumerate();
    names
        .filter_map(|(k, name)| Some((name, middle(k)?)))
        .collect()
}
