//! Derivatives of runs as data.

use carom_impact::sensitivity::{Sensitivity, SensitivityEvent};
use nalgebra::DMatrix;
use serde_json::{Map, Value, json};

/// The key `sensitivity` of a record.
pub(crate) fn value(states: &[&str], sensitivity: &Sensitivity) -> Value {
    let parameters: Option<Map<String, Value>> = sensitivity.d_final_d_initial.as_ref().map(|_| {
        let columns = sensitivity.d_final_d_parameters.iter();
        columns
            .map(|(name, column)| ((*name).to_owned(), json!(column.as_slice())))
            .collect()
    });
    let events: Vec<Value> = sensitivity.events.iter().map(event).collect();
    json!({
        "state": states,
        "d_final_d_initial": sensitivity.d_final_d_initial.as_ref().map(rows),
        "d_final_d_parameters": parameters,
        "class": sensitivity.class.name(),
        "margin": sensitivity.margin,
        "events": events,
        "reason": sensitivity.reason,
    })
}

fn event(event: &SensitivityEvent) -> Value {
    json!({
        "time": event.time,
        "saltation": event.saltation.as_ref().map(rows),
        "class": event.class.name(),
        "margin": event.margin,
    })
}

fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|r| r.iter().copied().collect())
        .collect()
}
