//! Runs of one scenario that differ in one key, and the first event after which they part.

use crate::Record;
use serde_json::{Value, json};

/// Largest difference of two numbers of a state that counts as equal.
const EQUAL: f64 = 1e-9;

/// Difference of two times that is rounding (s).
const SAME_TIME: f64 = 1e-12;

/// One of several runs that are compared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComparedRun {
    /// Value of the compared key, as the name of the run.
    pub label: String,
    /// Assignment that the run has beside those of all runs, `key=value`.
    pub set: String,
    /// Record of the run.
    pub record: Record,
}

impl ComparedRun {
    /// Creates a run of a comparison from its name, its own assignment `key=value` and its record.
    pub fn new(label: impl Into<String>, set: impl Into<String>, record: Record) -> Self {
        Self {
            label: label.into(),
            set: set.into(),
            record,
        }
    }
}

/// Returns the comparison of several runs as JSON: `runs`, with label, assignment, status and quantities of each, and
/// `first_difference`, the first event after which the states of the runs differ, with its time (s), the names of its bodies and
/// its law; null if no such event is known.
#[must_use]
pub fn comparison(runs: &[ComparedRun]) -> Value {
    let run = |run: &ComparedRun| {
        json!({
            "label": run.label,
            "set": run.set,
            "status": run.record.status,
            "quantities": run.record.quantities,
        })
    };
    let records: Vec<&Record> = runs.iter().map(|run| &run.record).collect();
    let difference = first_difference(&records);
    json!({
        "runs": runs.iter().map(run).collect::<Vec<_>>(),
        "first_difference": difference,
    })
}

/// Event of a run: an impact, or a change of a lasting contact.
struct Event<'r> {
    time: f64,
    bodies: Vec<String>,
    law: Option<&'r str>,
    /// Data that are compared with those of the event with the same number in another run.
    data: Value,
}

/// Finds the first event after which the states of the runs differ. The pairs are the first run and each other run; the earliest
/// difference counts.
fn first_difference(records: &[&Record]) -> Value {
    let Some((first, others)) = records.split_first() else {
        return Value::Null;
    };
    let found = others.iter().filter_map(|other| difference(first, other));
    let earliest = found.min_by(|(a, _), (b, _)| a.total_cmp(b));
    earliest.map_or(Value::Null, |(_, event)| event)
}

/// Finds the first event after which the states of two runs differ. Returns its time (s), and the event as JSON.
fn difference(first: &Record, second: &Record) -> Option<(f64, Value)> {
    let [own, others] = [first, second].map(events);
    let apart = own
        .iter()
        .zip(&others)
        .position(|(a, b)| !is_close(&a.data, &b.data));
    let apart = apart.unwrap_or_else(|| own.len().min(others.len()));
    let event = match (own.get(apart), others.get(apart)) {
        (Some(a), Some(b)) if b.time < a.time - SAME_TIME => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    };
    match (event, parting(first, second)) {
        // Equal states, reached by impulses that are not unique.
        (_, Parting::Never) => None,
        (
            event,
            Parting::At {
                from,
                until,
                bodies,
            },
        ) => {
            let times = from - SAME_TIME..=until + SAME_TIME;
            let is_inside = |event: &&Event<'_>| times.contains(&event.time);
            // Without an event of different data, the states part after the last event, or by themselves.
            let last = || own.iter().rev().find(is_inside);
            match event.filter(is_inside).or_else(last) {
                Some(event) => told(event),
                None => Some((from, json!({"time": from, "bodies": bodies, "law": null}))),
            }
        }
        (Some(event), Parting::Unknown) => told(event),
        (None, Parting::Unknown) => None,
    }
}

fn told(event: &Event<'_>) -> Option<(f64, Value)> {
    let Event {
        time, bodies, law, ..
    } = event;
    Some((*time, json!({"time": time, "bodies": bodies, "law": law})))
}

/// Reads the events of a run, in the order of time: impacts, and begin and end of lasting contacts.
fn events(record: &Record) -> Vec<Event<'_>> {
    let list = |key: &str| record.results.get(key).and_then(Value::as_array);
    let laws = record
        .parameters
        .get("law")
        .map(|law| law.get("name").unwrap_or(law));
    let law = laws.and_then(Value::as_str);
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_f64);
    let mut events = Vec::new();
    for impact in list("impacts").into_iter().flatten() {
        let Some(time) = number(impact, "time") else {
            continue;
        };
        let contacts = impact.get("contacts").and_then(Value::as_array);
        events.push(Event {
            time,
            bodies: contacts.into_iter().flatten().fold(Vec::new(), names),
            law: impact.get("law").and_then(Value::as_str).or(law),
            data: impact.clone(),
        });
    }
    for contact in list("contacts").into_iter().flatten() {
        for key in ["begin", "end"] {
            if let Some(time) = number(contact, key) {
                events.push(Event {
                    time,
                    bodies: names(Vec::new(), contact),
                    law: None,
                    data: json!(time),
                });
            }
        }
    }
    if events.is_empty() {
        let table = record.tables.iter().find(|table| table.name == "impacts");
        let column = |t: &&crate::record::Table| t.columns.iter().position(|c| c.name == "time");
        if let Some((table, at)) = table.and_then(|t| Some((t, column(&t)?))) {
            let event = |row: &Vec<f64>| Event {
                time: row.get(at).copied().unwrap_or_default(),
                bodies: Vec::new(),
                law,
                data: json!(row),
            };
            events.extend(table.rows.iter().map(event));
        }
    }
    events.sort_by(|a, b| a.time.total_cmp(&b.time));
    events
}

/// Adds the names of the bodies, the joint or the contact of one contact of an event to `names`.
fn names(mut names: Vec<String>, contact: &Value) -> Vec<String> {
    for key in ["first", "second", "joint", "name"] {
        if let Some(name) = contact.get(key).and_then(Value::as_str)
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// True if all numbers of two JSON values are equal up to [`EQUAL`]. Texts are equal unless they name a body.
pub(crate) fn is_close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= EQUAL,
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_close(a, b))
        }
        (Value::Object(a), Value::Object(b)) => a.iter().all(|(key, value)| {
            key == "law" || b.get(key).is_some_and(|other| is_close(value, other))
        }),
        (a, b) => a == b,
    }
}

/// Sampled times between which the states of two runs part.
enum Parting {
    /// The last sample with equal states, the first one with other states (s), and the names of the bodies that differ there.
    At {
        from: f64,
        until: f64,
        bodies: Vec<String>,
    },
    /// All samples are equal.
    Never,
    /// The records have no samples.
    Unknown,
}

/// Finds the sampled times between which the states of two runs part.
fn parting(first: &Record, second: &Record) -> Parting {
    let rows = |record: &'_ Record| -> Option<Vec<Vec<f64>>> {
        let rows = record.results.get("trajectory")?.get("rows")?.as_array()?;
        let row = |row: &Value| {
            let numbers = row.as_array().into_iter().flatten();
            numbers.filter_map(Value::as_f64).collect()
        };
        Some(rows.iter().map(row).collect())
    };
    let (Some(own), Some(others)) = (rows(first), rows(second)) else {
        return Parting::Unknown;
    };
    let list = first.results.get("bodies").and_then(Value::as_array);
    let key = |row: &[f64]| {
        let body = if list.is_some() { row.get(1) } else { None };
        (row.first().map(|x| x.to_bits()), body.map(|x| x.to_bits()))
    };
    let others: std::collections::BTreeMap<_, _> =
        others.iter().map(|row| (key(row), row)).collect();
    let (mut from, mut now, mut until, mut bodies) = (0.0, 0.0, None, Vec::new());
    for row in &own {
        let time = row.first().copied().unwrap_or_default();
        if until.is_some_and(|until| time > until) {
            break;
        }
        if time > now {
            (from, now) = (now, time);
        }
        // A body at rest may have no row in one of the runs.
        let Some(other) = others.get(&key(row)) else {
            continue;
        };
        let is_equal = row.iter().zip(*other).all(|(a, b)| (a - b).abs() <= EQUAL);
        if !is_equal {
            until = Some(time);
            let name = |list: &Vec<Value>| {
                let body = list.get(*row.get(1)? as usize)?;
                body.as_str().map(str::to_owned)
            };
            bodies.extend(list.and_then(name));
        }
    }
    match until {
        Some(until) => Parting::At {
            from,
            until,
            bodies,
        },
        None => Parting::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(impacts: Value, rows: Value) -> Record {
        let mut record = Record::new("world", "");
        let trajectory = json!({"columns": ["time", "body", "x"], "rows": rows});
        let results = [
            ("bodies", json!(["a", "b"])),
            ("impacts", impacts),
            ("trajectory", trajectory),
        ];
        for (key, value) in results {
            record.results.insert(key.to_owned(), value);
        }
        record
    }

    fn impact(time: f64, impulse: f64, law: &str) -> Value {
        let contact = json!({"first": "a", "second": "b", "impulse": [impulse]});
        json!({"time": time, "law": law, "contacts": [contact]})
    }

    #[test]
    fn the_first_event_after_which_states_differ_is_found() {
        let early = impact(0.2, 1.0, "two-body");
        let one = run(
            json!([early, impact(0.8, 1.0, "poisson")]),
            json!([[0.0, 0, 1.0], [0.5, 0, 2.0], [1.0, 0, 3.0]]),
        );
        let two = run(
            json!([early, impact(0.8, 2.0, "propagative")]),
            json!([[0.0, 0, 1.0], [0.5, 0, 2.0], [1.0, 0, 4.0]]),
        );
        let found = first_difference(&[&one, &two]);
        assert_eq!(
            found,
            json!({"time": 0.8, "bodies": ["a", "b"], "law": "poisson"})
        );
        assert_eq!(first_difference(&[&one, &one]), Value::Null);
    }

    #[test]
    fn runs_that_begin_apart_differ_from_the_start_on() {
        let one = run(json!([]), json!([[0.0, 0, 1.0], [0.0, 1, 5.0]]));
        let two = run(json!([]), json!([[0.0, 0, 1.0], [0.0, 1, 6.0]]));
        let found = first_difference(&[&one, &two]);
        assert_eq!(found, json!({"time": 0.0, "bodies": ["b"], "law": null}));
    }
}
