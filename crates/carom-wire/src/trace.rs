//! Path of an impact at one frictional contact: the option `trace` of `routh` and `two-body`.

use crate::error::{WireError, typed};
use crate::options::Asked;
use carom_contact::ImpactProblem;
use carom_impact::Law;
use carom_impact::internal::contact_space;
use carom_impact::two_body::{TraceMode, trace_impact};
use serde_json::{Value, json};

/// Names of the columns: impulse (N s) and contact velocity (m/s) along the tangents and the normal, the stored elastic energy
/// (J), and the mode of the contact from there on.
const COLUMNS: [&str; 8] = [
    "impulse_1",
    "impulse_2",
    "impulse_n",
    "velocity_1",
    "velocity_2",
    "velocity_n",
    "energy",
    "mode",
];

/// Returns the path of the impact as JSON if the options ask for it: from before to after, with a row for every event. An
/// impact that does not happen has no rows.
pub(crate) fn trace(problem: &ImpactProblem, asked: &Asked) -> Result<Option<Value>, WireError> {
    let Some(wanted) = asked.rest("trace") else {
        return Ok(None);
    };
    let options = match &asked.law {
        Law::Routh(law) => law.options,
        Law::TwoBody(law) => law.options,
        _ => return Ok(None),
    };
    let [contact] = problem.contacts().contacts() else {
        return Ok(None);
    };
    if !typed::<bool>(wanted, "options.trace")? {
        return Ok(None);
    }
    let (inertia, velocity) = contact_space(problem).map_err(WireError::from)?;
    // Without tangents there is no direction in which friction acts.
    let friction = if contact.tangents.is_empty() {
        0.0
    } else {
        contact.friction
    };
    let found = trace_impact(&inertia, &velocity, friction, contact.restitution, &options)
        .map_err(|error| WireError::new(error.kind(), error.to_string()))?;
    let points = found.map_or_else(Vec::new, |found| found.points);
    let rows: Vec<Value> = points
        .iter()
        .map(|point| {
            let (i, v) = (point.impulse, point.velocity);
            let mode = TraceMode::name(point.mode);
            json!([i.x, i.y, i.z, v.x, v.y, v.z, point.energy, mode])
        })
        .collect();
    Ok(Some(json!({ "columns": COLUMNS, "rows": rows })))
}
