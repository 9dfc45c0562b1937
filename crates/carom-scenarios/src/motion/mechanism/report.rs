//! Record of a mechanism's motion.

use super::config::{Kind, Setup};
use crate::ScenarioError;
use crate::motion::balance::Balance as Books;
use crate::motion::figures::{MOST_LINES, Series, against_time, extent, with_dashes};
use carom_mechanism::MechanicalSystem;
use carom_motion::hybrid::Ending;
use carom_report::record::{Quantity, Record};

use carom_motion::generalized::{
    Balance, CollisionIntegrator, ContactMode, Impact, LogEntry, Reaction, State, Trajectory,
};
use serde_json::{Value, json};

/// Fraction of a step below which two times count as equal.
const SAME_TIME: f64 = 1e-9;

type Integrator<'a> = CollisionIntegrator<'a, dyn MechanicalSystem>;

/// Time with the coordinates and velocities at that time.
struct Node {
    time: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

/// Computed state, with its energies and the energy balance up to it.
struct Stop<'r> {
    node: Node,
    kinetic: f64,
    potential: f64,
    balance: Balance,
    /// Lasting contacts at that time, for states of the time grid.
    reactions: &'r [Reaction],
}

impl<'r> Stop<'r> {
    fn new(
        integrator: &Integrator<'_>,
        state: &State,
        balance: Balance,
        reactions: &'r [Reaction],
    ) -> Result<Self, ScenarioError> {
        let (kinetic, potential) = integrator.energies(state)?;
        Ok(Self {
            node: Node {
                time: state.time,
                q: state.configuration.as_slice().to_vec(),
                v: integrator.velocity(state)?.0.as_slice().to_vec(),
            },
            kinetic,
            potential,
            balance,
            reactions,
        })
    }

    fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Returns the mechanical energy (J) plus all energy losses since the start, minus the work of forces. This sum is
    /// constant in an exact run.
    fn balanced(&self) -> f64 {
        let Balance {
            impact_loss,
            contact_loss,
            force_work,
            ..
        } = self.balance;
        self.energy() + impact_loss + contact_loss - force_work
    }
}

/// Returns all computed states of a run in the order of time: those at grid times (multiples of the time step), those
/// before and after each impact, and the last one.
fn stops<'r>(
    integrator: &Integrator<'_>,
    run: &'r Trajectory,
) -> Result<Vec<Stop<'r>>, ScenarioError> {
    let mut out = Vec::new();
    let mut impacts = run.impacts().peekable();
    let reactions = run.reactions.iter().map(Vec::as_slice);
    let grid = run.states.iter().zip(&run.balances).zip(reactions);
    let end = ((&run.end.state, &run.end.balance), &[][..]);
    for ((state, balance), reactions) in grid.chain([end]) {
        while let Some(impact) = impacts.peek()
            && impact.time <= state.time
        {
            let after = impact.balance;
            let mut before = after;
            before.impact_loss += impact.outcome.audit.energy_change_j();
            for (momentum, balance) in [
                (&impact.momentum_minus, before),
                (&impact.momentum_plus, after),
            ] {
                let state = State::new(impact.time, impact.configuration.clone(), momentum.clone());
                out.push(Stop::new(integrator, &state, balance, &[])?);
            }
            impacts.next();
        }
        out.push(Stop::new(integrator, state, *balance, reactions)?);
    }
    Ok(out)
}

/// Interpolates coordinates and velocities at `time` (s) between two states, by a cubic polynomial for each coordinate.
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

/// Adds the results of a mechanism's run to its record. `zeno`: true if the run ends because its impacts accumulate
/// (infinitely many in finite time).
pub(super) fn report(
    setup: &Setup,
    integrator: &Integrator<'_>,
    run: &Trajectory,
    zeno: bool,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let stops = stops(integrator, run)?;
    let (Some(first), Some(last)) = (stops.first(), stops.last()) else {
        return Ok(());
    };
    let end = run.end.state.time;
    let rows = trajectory(setup, &stops, (first, last), end);
    let columns: Vec<String> = std::iter::once("time".to_owned())
        .chain(setup.coordinates.iter().map(|name| format!("q:{name}")))
        .chain(setup.coordinates.iter().map(|name| format!("v:{name}")))
        .collect();
    let impacts = run.impacts().map(|hit| impact(setup, integrator, hit));
    let impacts: Vec<Value> = impacts.collect::<Result<_, ScenarioError>>()?;
    let books = energy_balance(run, &stops, (first, last));
    let mut results = vec![
        ("coordinates", json!(setup.coordinates)),
        ("trajectory", json!({"columns": columns, "rows": rows})),
        ("impacts", Value::Array(impacts)),
        ("contacts", Value::Array(lasting(setup, run, &stops))),
        ("energy", books.json()),
        (
            "final",
            json!({"time": end, "q": last.node.q, "v": last.node.v}),
        ),
        ("n_impacts", json!(run.end.n_impacts)),
        ("n_steps", json!(run.end.n_steps)),
    ];
    let rows = setup.system.constraints().len();
    if rows > 0 {
        let start = integrator.state(0.0, &setup.position, &setup.velocity)?;
        let rank = integrator.constraint_rank(&start)?;
        let residuals = stops.iter().map(|stop| residual(setup, &stop.node));
        results.extend([
            ("constraints", json!({"rows": rows, "rank": rank})),
            (
                "max_constraint_residual",
                json!(residuals.fold(0.0, f64::max)),
            ),
        ]);
    }
    if let Some(ignored) = &setup.ignored {
        results.push(("ignored", json!([ignored])));
    }
    let error = match &run.end.ending {
        Ending::Stopped(error) => Some((error.kind(), error.to_string())),
        _ if zeno && setup.zeno_is_error => {
            Some(("zeno", format!("impacts accumulate at time {end}")))
        }
        _ => None,
    };
    if let Some((kind, message)) = error {
        results.push(("error", json!({"kind": kind, "message": message})));
    }
    for (key, value) in results {
        record.results.insert(key.to_owned(), value);
    }
    let impacts = Quantity::new("impacts", run.end.n_impacts as f64, "");
    record.quantities.push(impacts);
    record.quantities.extend(books.quantities());
    let work = run.end.balance.force_work;
    record.quantities.extend([
        Quantity::new("force_work_j", work, "J").note("of dampers and actuators"),
        Quantity::new("energy_max_error_j", books.error, "J").note(
            "the energy with what went and came, against the start; of order two in the step",
        ),
    ]);
    figures(setup, run, &stops, record)
}

/// Returns the rows of the record's trajectory at the start, at every sample time, and at the time `end` (s). `stops`: all
/// computed states; `first` and `last`: the first and the last one.
fn trajectory(
    setup: &Setup,
    stops: &[Stop<'_>],
    (first, last): (&Stop<'_>, &Stop<'_>),
    end: f64,
) -> Vec<Value> {
    let mut rows = vec![row(&first.node)];
    if setup.sample_step > 0.0 {
        let times = (1..).map(|k| f64::from(k) * setup.sample_step);
        let inner = times.take_while(|time| *time < end - SAME_TIME * setup.sample_step);
        for time in inner {
            rows.extend(sample(setup, stops, time).as_ref().map(row));
        }
    }
    if end > 0.0 {
        rows.push(row(&last.node));
    }
    rows
}

/// Returns coordinates and velocities at `time` (s), interpolated between the computed states `stops` before and after it.
/// `None` outside their range.
fn sample(setup: &Setup, stops: &[Stop<'_>], time: f64) -> Option<Node> {
    let near = SAME_TIME * setup.time_step;
    // Last state that is not later; at the time of an impact, the state after it.
    let after = stops.partition_point(|stop| stop.node.time <= time + near);
    let from = &stops.get(after.wrapping_sub(1))?.node;
    let to = &stops.get(after)?.node;
    if (time - from.time).abs() > near {
        return Some(between(from, to, time));
    }
    Some(Node {
        time,
        q: from.q.clone(),
        v: from.v.clone(),
    })
}

/// Converts an impact to its JSON entry in the record, with the contacts that closed, their velocities and impulses.
fn impact(
    setup: &Setup,
    integrator: &Integrator<'_>,
    impact: &Impact,
) -> Result<Value, ScenarioError> {
    let audit = &impact.outcome.audit;
    let q = impact.configuration.as_slice();
    let before = State::new(
        impact.time,
        impact.configuration.clone(),
        impact.momentum_minus.clone(),
    );
    let velocity = integrator.velocity(&before)?.0;
    let mut contacts = Vec::new();
    let mut normal = vec![0.0; q.len()];
    for (contact, impulse) in impact.contacts.iter().zip(&impact.impulses) {
        setup.system.gap_gradient(*contact, q, &mut normal);
        let rate: f64 = normal.iter().zip(velocity.iter()).map(|(n, v)| n * v).sum();
        if rate < 0.0 {
            contacts.push(json!({
                "name": setup.contacts.get(*contact).map_or("", String::as_str),
                "impulse": impulse,
                "normal_velocity": rate,
            }));
        }
    }
    let mut entry = json!({
        "time": impact.time,
        "contacts": contacts,
        "energy_minus_j": audit.energy_minus_j,
        "energy_plus_j": audit.energy_minus_j + audit.energy_change_j(),
    });
    let names = setup.system.constraints();
    if !names.is_empty() {
        let impulses = names.iter().zip(impact.outcome.constraint_impulses.iter());
        let impulses = impulses.map(|(name, impulse)| json!({"name": name, "impulse": impulse}));
        entry["constraints"] = impulses.collect();
    }
    Ok(entry)
}

/// Returns the largest velocity of a constraint in a state, $|a\cdot v|$ with its row $a$: 0 but for rounding.
fn residual(setup: &Setup, node: &Node) -> f64 {
    let mut row = vec![0.0; node.q.len()];
    let rates = (0..setup.system.constraints().len()).map(|constraint| {
        setup.system.constraint_row(constraint, &node.q, &mut row);
        let rate: f64 = row.iter().zip(&node.v).map(|(a, v)| a * v).sum();
        rate.abs()
    });
    rates.fold(0.0, f64::max)
}

/// Returns the balance of the energy of a run from its computed states `stops`, of which `first` and `last` are the first and the
/// last one. The error is the largest absolute difference of the balanced energy from that at the start.
fn energy_balance(
    run: &Trajectory,
    stops: &[Stop<'_>],
    (first, last): (&Stop<'_>, &Stop<'_>),
) -> Books {
    let (initial, balance) = (first.energy(), &run.end.balance);
    let errors = stops.iter().map(|stop| (stop.balanced() - initial).abs());
    Books {
        initial,
        last: last.energy(),
        error: errors.fold(0.0, f64::max),
        terms: vec![
            ("impacts", -balance.impact_loss),
            ("lasting contacts", -balance.contact_loss),
            ("actuators", balance.force_work + balance.damper_loss),
            ("dampers", -balance.damper_loss),
        ],
        parts: vec![
            ("impact_loss_j", balance.impact_loss),
            ("contact_loss_j", balance.contact_loss),
            ("force_work_j", balance.force_work),
        ],
        has_springs: false,
    }
}

/// Adds the figures of coordinates and energies against time to the record. `stops`: all computed states.
fn figures(
    setup: &Setup,
    run: &Trajectory,
    stops: &[Stop<'_>],
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let times: Vec<f64> = stops.iter().map(|stop| stop.node.time).collect();
    let hits: Vec<f64> = run.impacts().map(|impact| impact.time).collect();
    for (wanted, name) in [
        (Kind::Position, "positions"),
        (Kind::Angle, "angles"),
        (Kind::Formula, "coordinates"),
    ] {
        let series: Vec<Series> = setup
            .coordinates
            .iter()
            .zip(&setup.kinds)
            .enumerate()
            .filter(|(_, (_, kind))| **kind == wanted)
            .take(MOST_LINES)
            .map(|(i, (name, _))| Series::new(name, stops.iter().map(|s| s.node.q[i]).collect()))
            .collect();
        if series.is_empty() {
            continue;
        }
        let plot = against_time(&format!("mechanism/{name}"), &times, &series, &[]);
        with_dashes(plot, &hits, extent(&series)).draw(record)?;
    }
    let series = [
        Series::new("total", stops.iter().map(Stop::energy).collect()),
        Series::new("kinetic", stops.iter().map(|s| s.kinetic).collect()),
        Series::new("potential", stops.iter().map(|s| s.potential).collect()),
    ];
    against_time("mechanism/energy", &times, &series, &[]).draw(record)
}

/// Fraction of a contact's largest possible slip below which it counts as sticking. The modes alone are not sufficient: among
/// contacts that depend on each other, only some have the mode `Stick`.
const STILL: f64 = 1e-10;

/// Returns the slip velocity (m/s) of a contact in the state `node`, a sum with one term per coordinate. The second value is
/// the sum of the magnitudes of these terms; rounding errors of the slip velocity are proportional to it.
fn slip(setup: &Setup, contact: usize, node: &Node) -> (f64, f64) {
    let mut row = vec![0.0; node.q.len()];
    setup.system.slide_gradient(contact, &node.q, &mut row);
    let terms = || row.iter().zip(&node.v).map(|(a, b)| a * b);
    (terms().sum(), terms().map(f64::abs).sum())
}

/// Converts the lasting contacts of a run (contacts that stay closed) to their JSON entries: begin, end, and the friction mode
/// (stick or slip) at the ends of the time steps. `stops`: all computed states.
fn lasting(setup: &Setup, run: &Trajectory, stops: &[Stop<'_>]) -> Vec<Value> {
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
            // Entries that begin and end no contact.
            _ => (),
        }
    }
    let entry = |(contact, begin, end): &(usize, f64, Option<f64>)| {
        let slips = || stops.iter().map(|stop| slip(setup, *contact, &stop.node).1);
        let still = STILL * slips().fold(0.0, f64::max);
        let mut modes: Vec<(f64, &str)> = Vec::new();
        for Stop {
            node, reactions, ..
        } in stops
        {
            if node.time < *begin || end.is_some_and(|end| node.time > end) {
                continue;
            }
            let Some(reaction) = reactions.iter().find(|r| r.contact == *contact) else {
                continue;
            };
            let sticks =
                reaction.mode == ContactMode::Stick || slip(setup, *contact, node).0.abs() <= still;
            let mode = if sticks { "sticking" } else { "sliding" };
            if modes.last().is_none_or(|(_, last)| *last != mode) {
                let time = if modes.is_empty() { *begin } else { node.time };
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
