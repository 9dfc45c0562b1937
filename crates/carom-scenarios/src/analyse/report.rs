//! Record of an analysis.

use super::Analysis;
use carom_analyse::{AnalyseError, Orbit};
use carom_report::Record;
use carom_report::record::{Column, Quantity, Table};
use serde_json::{Map, Value, json};

/// Replaces the indices of contacts in a message by their names.
pub(super) fn named(message: &str, contacts: &[String]) -> String {
    let mut out = message.to_owned();
    for (k, name) in contacts.iter().enumerate().rev() {
        out = out.replace(&format!("contact {k}"), &format!("`{name}`"));
    }
    out
}

/// Writes a task without an answer.
pub(super) fn refused(record: &mut Record, error: &AnalyseError, contacts: &[String]) {
    error.kind().clone_into(&mut record.status);
    let reason = named(&error.to_string(), contacts);
    record.results.insert(
        "orbit".to_owned(),
        json!({"status": error.kind(), "reason": reason}),
    );
}

/// Names of the states in records.
pub(super) fn names(coordinates: &[String]) -> Vec<String> {
    let of = |prefix: &'static str| {
        coordinates
            .iter()
            .map(move |name| format!("{prefix}:{name}"))
    };
    of("q").chain(of("v")).collect()
}

/// Writes an orbit.
pub(super) fn orbit(record: &mut Record, analysis: &Analysis, orbit: &Orbit) {
    let model = &analysis.model;
    let contact = |k: usize| model.contacts.get(k).map_or("", String::as_str);
    let state: Map<String, Value> = names(&model.coordinates)
        .into_iter()
        .zip(orbit.state.iter().map(|x| json!(x)))
        .collect();
    let events: Vec<Value> = { orbit.events.iter() }
        .map(|event| {
            let mut entry = json!({"time": event.time, "kind": event.kind.name(), "at": contact(event.contact)});
            if let Some(speed) = event.speed {
                entry["speed"] = json!(speed);
            }
            entry
        })
        .collect();
    let multipliers: Vec<Value> = { orbit.multipliers.iter() }
        .map(|m| json!({"re": m.re, "im": m.im, "modulus": m.modulus(), "error": m.error.is_finite().then_some(m.error)}))
        .collect();
    let (status, reason) = match &orbit.not_differentiable {
        None => ("converged", None),
        Some(reason) => ("not-differentiable", Some(named(reason, &model.contacts))),
    };
    if reason.is_some() {
        status.clone_into(&mut record.status);
    }
    let told = json!({
        "status": status,
        "reason": reason,
        "state": state,
        "state_error": orbit.state_error,
        "period": orbit.period,
        "least_returns": orbit.least_returns,
        "residual": orbit.residual,
        "newton_steps": orbit.newton_steps,
        "multipliers": multipliers,
        "neutral": orbit.neutral,
        "stable": orbit.stable,
        "events": events,
    });
    record.results.insert("orbit".to_owned(), told);
    record.quantities.extend([
        Quantity::new("period_s", orbit.period, "s"),
        Quantity::new("state_error", orbit.state_error, "")
            .note("largest estimated error of the state"),
        Quantity::new("least_returns", orbit.least_returns as f64, ""),
    ]);
    let mut table = Table::new("state", "State at the section", Column::list("value"));
    for (name, value) in names(&model.coordinates).iter().zip(orbit.state.iter()) {
        table.push_named("state", name, vec![*value]);
    }
    record.tables.push(table);
    let columns = Column::list("real part, imaginary part, modulus, error");
    let mut table = Table::new("multipliers", stability(orbit), columns);
    for m in orbit.multipliers.iter().filter(|m| m.error.is_finite()) {
        table.rows.push(vec![m.re, m.im, m.modulus(), m.error]);
    }
    record.tables.push(table);
    let mut table = Table::new(
        "events",
        "Events of a period",
        Column::list("time [s], speed"),
    );
    for event in &orbit.events {
        let name = format!("{} {}", event.kind.name(), contact(event.contact));
        table.push_named("event", name, vec![event.time, event.speed.unwrap_or(0.0)]);
    }
    record.tables.push(table);
}

/// Words for the stability of an orbit.
fn stability(orbit: &Orbit) -> String {
    let told = match orbit.stable {
        Some(true) => "the orbit is stable",
        Some(false) => "the orbit is unstable",
        None if orbit.not_differentiable.is_some() => "the return map has no derivative here",
        None => "whether the orbit is stable is left open by the errors",
    };
    match orbit.neutral {
        0 => format!("Multipliers: {told}"),
        n => format!(
            "Multipliers: {told}; {n} of them at 1, of free coordinates and conserved quantities"
        ),
    }
}
