//! The record of a mechanism's motion.

use super::config::Setup;
use crate::ScenarioError;
use crate::motion::figures::{MOST_LINES, Series, against_time, extent, with_dashes};
use carom_mechanism::MechanicalSystem;
use carom_mechanism::planar::PlanarMechanism;
use carom_report::record::{Quantity, Record};
use carom_variational::generalized::{
    CollisionIntegrator, ContactMode, Ending, LogEntry, State, Trajectory,
};
use serde_json::{Value, json};

type Integrator<'a> = CollisionIntegrator<'a, PlanarMechanism>;

/// A time with the coordinates and velocities then.
struct Node {
    time: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

fn node(integrator: &Integrator<'_>, state: &State) -> Result<Node, ScenarioError> {
    Ok(Node {
        time: state.time,
        q: state.configuration.as_slice().to_vec(),
        v: integrator.velocity(state)?.0.as_slice().to_vec(),
    })
}

/// Every state that was computed: the grid, and both sides of the impacts.
fn nodes(integrator: &Integrator<'_>, run: &Trajectory) -> Result<Vec<Node>, ScenarioError> {
    let mut out = Vec::new();
    let mut impacts = run.impacts().peekable();
    for state in run.states.iter().chain([&run.end.state]) {
        while let Some(impact) = impacts.peek()
            && impact.time <= state.time
        {
            for momentum in [&impact.momentum_minus, &impact.momentum_plus] {
                let state = State {
                    time: impact.time,
                    configuration: impact.configuration.clone(),
                    momentum: momentum.clone(),
                };
                out.push(node(integrator, &state)?);
            }
            impacts.next();
        }
        out.push(node(integrator, state)?);
    }
    Ok(out)
}

/// Between two states, cubic in the coordinates.
fn between(from: &Node, to: &Node, time: f64) -> Node {
    let h = to.time - from.time;
    if h <= 0.0 {
        return Node {
            time,
            q: to.q.clone(),
            v: to.v.clone(),
        };
    }
    let s = (time - from.time) / h;
    let each = |i: usize| {
        let (a, b) = (from.q[i], to.q[i]);
        let (u, w) = (from.v[i] * h, to.v[i] * h);
        let (c, d) = (3.0 * (b - a) - 2.0 * u - w, 2.0 * (a - b) + u + w);
        let q = a + s * (u + s * (c + s * d));
        (q, (u + s * (2.0 * c + 3.0 * s * d)) / h)
    };
    let (q, v) = (0..from.q.len()).map(each).unzip();
    Node { time, q, v }
}

fn row(node: &Node) -> Value {
    let values = std::iter::once(&node.time).chain(&node.q).chain(&node.v);
    Value::Array(values.map(|x| json!(x)).collect())
}

pub(super) fn report(
    setup: &Setup,
    integrator: &Integrator<'_>,
    run: &Trajectory,
    zeno: bool,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let nodes = nodes(integrator, run)?;
    let end = run.end.state.time;
    let mut rows = Vec::new();
    if let Some(first) = nodes.first() {
        rows.push(row(first));
    }
    if setup.sample_step > 0.0 {
        let mut k = 1;
        loop {
            let time = f64::from(k) * setup.sample_step;
            if time >= end - 1e-9 * setup.sample_step {
                break;
            }
            // The last state that is not later; after an impact of the same time.
            let near = 1e-9 * setup.time_step;
            let after = nodes.partition_point(|node| node.time <= time + near);
            if let (Some(from), Some(to)) = (nodes.get(after.wrapping_sub(1)), nodes.get(after)) {
                let found = match (time - from.time).abs() <= near {
                    true => Node {
                        time,
                        q: from.q.clone(),
                        v: from.v.clone(),
                    },
                    false => between(from, to, time),
                };
                rows.push(row(&found));
            }
            k += 1;
        }
    }
    let last = node(integrator, &run.end.state)?;
    if end > 0.0 {
        rows.push(row(&last));
    }
    let columns: Vec<String> = std::iter::once("time".to_owned())
        .chain(setup.coordinates.iter().map(|name| format!("q:{name}")))
        .chain(setup.coordinates.iter().map(|name| format!("v:{name}")))
        .collect();
    let energy = |state: &State| integrator.energies(state).map(|(t, v)| t + v);
    let initial = match run.states.first() {
        Some(state) => energy(state)?,
        None => 0.0,
    };
    let mut impact_loss = 0.0;
    let name = |contact: usize| setup.contacts.get(contact).map_or("", String::as_str);
    let impacts: Vec<Value> = run
        .impacts()
        .map(|impact| {
            let audit = &impact.outcome.audit;
            impact_loss -= audit.energy_change_j();
            let q = impact.configuration.as_slice();
            let before = State {
                time: impact.time,
                configuration: impact.configuration.clone(),
                momentum: impact.momentum_minus.clone(),
            };
            let velocity = integrator.velocity(&before)?.0;
            let mut at = 0;
            let mut contacts = Vec::new();
            for contact in &impact.contacts {
                let (mut normal, mut slide) = (vec![0.0; q.len()], vec![0.0; q.len()]);
                setup.mechanism.gap_gradient(*contact, q, &mut normal);
                setup.mechanism.slide_gradient(*contact, q, &mut slide);
                let largest = |row: &[f64]| row.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                // A slide that the joints forbid has no row.
                let slides = largest(&slide) > 1e-13 * largest(&normal);
                let impulses = &impact.outcome.impulses;
                let value = |k: usize| impulses.get(at + k).copied().unwrap_or_default();
                let rate: f64 = normal.iter().zip(velocity.iter()).map(|(n, v)| n * v).sum();
                if rate < 0.0 {
                    contacts.push(json!({
                        "name": name(*contact),
                        "impulse": [value(0), if slides { value(1) } else { 0.0 }],
                        "normal_velocity": rate,
                    }));
                }
                at += if slides { 2 } else { 1 };
            }
            Ok(json!({
                "time": impact.time,
                "contacts": contacts,
                "energy_minus_j": audit.energy_minus_j,
                "energy_plus_j": audit.energy_minus_j + audit.energy_change_j(),
            }))
        })
        .collect::<Result<_, ScenarioError>>()?;
    let final_energy = energy(&run.end.state)?;
    let mut results = vec![
        ("coordinates", json!(setup.coordinates)),
        ("trajectory", json!({"columns": columns, "rows": rows})),
        ("impacts", Value::Array(impacts)),
        ("contacts", Value::Array(lasting(setup, run))),
        (
            "energy",
            json!({
                "initial_j": initial,
                "final_j": final_energy,
                "impact_loss_j": impact_loss,
            }),
        ),
        ("final", json!({"time": end, "q": last.q, "v": last.v})),
        ("n_impacts", json!(run.end.n_impacts)),
        ("n_steps", json!(run.end.n_steps)),
    ];
    match &run.end.ending {
        Ending::Stopped(error) => {
            results.push((
                "error",
                json!({"kind": error.kind(), "message": error.to_string()}),
            ));
        }
        _ if zeno && setup.zeno_is_error => {
            let message = format!("impacts accumulate at time {end}");
            results.push(("error", json!({"kind": "zeno", "message": message})));
        }
        _ => (),
    }
    for (key, value) in results {
        record.results.insert(key.to_owned(), value);
    }
    record.quantities.extend([
        Quantity::new("impacts", run.end.n_impacts as f64, ""),
        Quantity::new("energy_initial_j", initial, "J"),
        Quantity::new("energy_final_j", final_energy, "J"),
        Quantity::new("impact_loss_j", impact_loss, "J"),
    ]);
    figures(setup, integrator, run, &nodes, record)
}

/// Coordinates and energies against time.
fn figures(
    setup: &Setup,
    integrator: &Integrator<'_>,
    run: &Trajectory,
    nodes: &[Node],
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let times: Vec<f64> = nodes.iter().map(|node| node.time).collect();
    let hits: Vec<f64> = run.impacts().map(|impact| impact.time).collect();
    for (of_angles, name, title, unit) in [
        (false, "positions", "Positions", "m"),
        (true, "angles", "Angles", "rad"),
    ] {
        let series: Vec<Series> = setup
            .coordinates
            .iter()
            .zip(&setup.is_angle)
            .enumerate()
            .filter(|(_, (_, is_angle))| **is_angle == of_angles)
            .take(MOST_LINES)
            .map(|(i, (name, _))| Series::new(name, nodes.iter().map(|n| n.q[i]).collect()))
            .collect();
        if series.is_empty() {
            continue;
        }
        let caption = "Coordinates against time; dotted where there is an impact.";
        let label = (if of_angles { "angle" } else { "position" }, unit);
        let figure = against_time([name, title, caption], label, &times, &series, &[]);
        record
            .figures
            .push(with_dashes(figure, &hits, extent(&series)));
    }
    let energies = run
        .states
        .iter()
        .map(|state| integrator.energies(state))
        .collect::<Result<Vec<_>, _>>()?;
    let times: Vec<f64> = run.states.iter().map(|state| state.time).collect();
    let series = [
        Series::new("total", energies.iter().map(|(t, v)| t + v).collect()),
        Series::new("kinetic", energies.iter().map(|(t, _)| *t).collect()),
        Series::new("potential", energies.iter().map(|(_, v)| *v).collect()),
    ];
    record.figures.push(against_time(
        [
            "energy",
            "Energy",
            "The energies of the whole mechanism; what impacts, friction and dampers take, and actuators \
             give or take, shows in the total.",
        ],
        ("energy", "J"),
        &times,
        &series,
        &[],
    ));
    Ok(())
}

/// The contacts that lasted, with what their friction did at the ends of the steps.
fn lasting(setup: &Setup, run: &Trajectory) -> Vec<Value> {
    let mut spans: Vec<(usize, f64, Option<f64>)> = Vec::new();
    for entry in &run.log {
        match entry {
            LogEntry::Established { time, contact } => spans.push((*contact, *time, None)),
            LogEntry::Released { time, contact } => close(&mut spans, *contact, *time),
            LogEntry::Impact(impact) => {
                for contact in &impact.established {
                    spans.push((*contact, impact.time, None));
                }
                for contact in &impact.released {
                    close(&mut spans, *contact, impact.time);
                }
            }
        }
    }
    let entry = |(contact, begin, end): &(usize, f64, Option<f64>)| {
        let mut modes: Vec<(f64, &str)> = Vec::new();
        for (state, reactions) in run.states.iter().zip(&run.reactions) {
            if state.time < *begin || end.is_some_and(|end| state.time > end) {
                continue;
            }
            let Some(reaction) = reactions.iter().find(|r| r.contact == *contact) else {
                continue;
            };
            let mode = match reaction.mode {
                ContactMode::Stick => "sticking",
                _ => "sliding",
            };
            if modes.last().is_none_or(|(_, last)| *last != mode) {
                let time = if modes.is_empty() { *begin } else { state.time };
                modes.push((time, mode));
            }
        }
        let modes: Vec<Value> = modes
            .iter()
            .map(|(time, mode)| json!({"time": time, "mode": mode}))
            .collect();
        json!({
            "name": setup.contacts.get(*contact),
            "begin": begin,
            "end": end,
            "modes": modes,
        })
    };
    spans.iter().map(entry).collect()
}

fn close(spans: &mut [(usize, f64, Option<f64>)], contact: usize, time: f64) {
    let open = |span: &&mut (usize, f64, Option<f64>)| span.0 == contact && span.2.is_none();
    if let Some(span) = spans.iter_mut().rev().find(open) {
        span.2 = Some(time);
    }
}
