//! Reports impacts, energies and invariants of a run.

use super::System;
use super::config::Config;
use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::common::plot::Plot;
use crate::common::{list, rows};
use carom_motion::hybrid::Ending;
use carom_report::record::{Column, Quantity, Record, Table};

use carom_motion::flying::{Impact, Trajectory};
use carom_variational::{Flight, RigidBody, State};
use nalgebra::Matrix3;
use serde_json::{Value, json};

/// Number of rows of a time series in the record.
const SAMPLES: usize = 200;

/// Kinetic and potential energies of a state.
pub(super) struct Energies {
    /// Sum of translational kinetic and potential energy (J).
    pub(super) translational: f64,
    pub(super) rotational: f64,
}

impl Energies {
    pub(super) fn of<F: Flight>(flight: &F, body: &RigidBody, state: &State) -> Self {
        Self {
            translational: body.translational_energy(state) + flight.potential_energy(body, state),
            rotational: body.rotational_energy(state),
        }
    }

    pub(super) fn total(&self) -> f64 {
        self.translational + self.rotational
    }
}

pub(super) fn report<F: Flight>(
    config: &Config,
    system: &System,
    flight: &F,
    run: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let end = run.end();
    let extent = Extent::of_time(config.duration, end.n_impacts, end.time);
    extent.note("", &end.ending, record);
    match &run.end().ending {
        Ending::Stopped(error) => fail(record, error.kind(), &error.to_string()),
        Ending::Zeno { .. } if config.zeno_is_error() => {
            let time = run.end().time;
            fail(
                record,
                "zeno",
                &format!("impacts accumulate at time {time}"),
            );
        }
        _ => (),
    }
    let error = max_energy_error(*config.restitution, system, flight, run);
    results(system, flight, run, error, record);
    quantities(config, system, flight, run, error, record);
    record.tables.push(impacts(system, run));
    energies(system, flight, run, record)?;
    if config.is_conservative() {
        energy_error(config, system, flight, run, record)?;
    }
    Ok(())
}

fn fail(record: &mut Record, kind: &str, message: &str) {
    let error = json!({"kind": kind, "message": message});
    record.results.insert("error".to_owned(), error);
}

/// Adds position, rotation matrix, linear and angular momentum of a body to the JSON object `head`, under the keys documented
/// for `bouncing-body`.
fn with_state(mut head: Value, state: &State) -> Value {
    if let Value::Object(map) = &mut head {
        map.insert("position".to_owned(), list(&state.position));
        map.insert("rotation".to_owned(), rows(&state.rotation.matrix()));
        map.insert("linear_momentum".to_owned(), list(&state.linear_momentum));
        map.insert("angular_momentum".to_owned(), list(&state.angular_momentum));
    }
    head
}

fn impact_value(impact: &Impact) -> Value {
    let head = json!({
        "time": impact.time,
        "impulse": impact.impulse,
        "normal_velocity": impact.gap_rate,
        "alpha": impact.alpha,
        "contact": impact.kind.name(),
        "points": impact.points.iter().map(|p| list(&p.point_b)).collect::<Vec<_>>(),
    });
    with_state(head, &impact.after)
}

/// Returns the largest absolute error of the energy (J), over the grid, the impacts and the end: its change since the start
/// plus the losses that the coefficient of restitution $e$ prescribes, $\tfrac12(1-e)\sum_k|v_k|\lambda_k$ over the points
/// of an impact, with the approaching velocities $v_k$ and the impulses $\lambda_k$. An elastic impact prescribes none.
fn max_energy_error<F: Flight>(
    restitution: f64,
    system: &System,
    flight: &F,
    run: &Trajectory<'_, F>,
) -> f64 {
    let initial = flight.energy(&system.body, &system.initial);
    let mut worst: f64 = 0.0;
    let mut lost = 0.0;
    let mut check = |state: &State, lost: f64| {
        worst = worst.max((flight.energy(&system.body, state) - initial + lost).abs());
    };
    let end = run.end();
    let mut impacts = run.impacts().iter().peekable();
    for (time, state) in run.grid().chain(std::iter::once((end.time, &end.state))) {
        let mut is_impact = false;
        while let Some(impact) = impacts.next_if(|impact| impact.time <= time) {
            check(&impact.before, lost);
            let points = impact.points.iter();
            let work: f64 = points.map(|p| (p.gap_rate * p.impulse).abs()).sum();
            lost += 0.5 * (1.0 - restitution) * work;
            check(&impact.after, lost);
            is_impact = impact.time == time;
        }
        if !is_impact {
            check(state, lost);
        }
    }
    worst
}

fn results<F: Flight>(
    system: &System,
    flight: &F,
    run: &Trajectory<'_, F>,
    worst: f64,
    record: &mut Record,
) {
    let end = run.end();
    let energy = |state: &State| flight.energy(&system.body, state);
    let impacts: Vec<Value> = run.impacts().iter().map(impact_value).collect();
    for (key, value) in [
        ("impacts", Value::Array(impacts)),
        ("final", with_state(json!({"time": end.time}), &end.state)),
        (
            "energy",
            json!({
                "initial_j": energy(&system.initial),
                "final_j": energy(&end.state),
                "max_abs_error_j": worst,
            }),
        ),
        ("n_steps", json!(end.n_steps)),
    ] {
        record.results.insert(key.to_owned(), value);
    }
}

fn quantities<F: Flight>(
    config: &Config,
    system: &System,
    flight: &F,
    run: &Trajectory<'_, F>,
    worst: f64,
    record: &mut Record,
) {
    let energy = |state: &State| flight.energy(&system.body, state);
    let normal = system.plane.normal();
    let spin = |state: &State| normal.dot(&state.angular_momentum_w());
    let (mut skew, mut drift, mut lowest): (f64, f64, f64) = (0.0, 0.0, f64::INFINITY);
    for (_, state) in run.nodes() {
        let r = state.rotation.matrix();
        skew = skew.max((r.transpose() * r - Matrix3::identity()).norm());
        drift = drift.max((spin(state) - spin(&system.initial)).abs());
        let gap = system.plane.gap(&system.shape, &state.configuration());
        lowest = lowest.min(gap.value);
    }
    let moments = system.body.inertia();
    for (name, value) in [("x", moments.m11), ("y", moments.m22), ("z", moments.m33)] {
        let name = format!("inertia_{name}_kg_m2");
        record.quantities.push(Quantity::new(name, value, "kg m^2"));
    }
    let n_impacts = run.impacts().len() as f64;
    record.quantities.extend([
        Quantity::new("impacts", n_impacts, ""),
        Quantity::new("energy_initial_j", energy(&system.initial), "J"),
        Quantity::new("energy_final_j", energy(&run.end().state), "J"),
        Quantity::new("energy_max_error_j", worst, "J").note(config.kept_energy()),
        Quantity::new("orthogonality_error", skew, "").note("largest |R^T R - I|"),
        Quantity::new("normal_angular_momentum_drift_nms", drift, "N m s")
            .note("the plane's normal is a symmetry of the impacts"),
        Quantity::new("lowest_gap_m", lowest, "m").note("at the grid and at the impacts"),
    ]);
}

fn impacts<F: Flight>(system: &System, run: &Trajectory<'_, F>) -> Table {
    let mut columns = Column::list(
        "time [s], impulse [N s], gap_rate [m/s], points, \
         rotational_energy [J]",
    );
    for axis in ["x", "y", "z"] {
        columns.push(Column::new(format!("linear_momentum_{axis}"), "N s"));
    }
    for axis in ["x", "y", "z"] {
        columns.push(Column::new(format!("angular_momentum_{axis}"), "N m s"));
    }
    let mut table = Table::new(
        "impacts",
        "Impacts; momenta and rotational energy are those after the impact, the angular momentum in \
         body axes.",
        columns,
    );
    for impact in run.impacts() {
        let after = &impact.after;
        let mut row = vec![
            impact.time,
            impact.impulse,
            impact.gap_rate,
            impact.points.len() as f64,
            system.body.rotational_energy(after),
        ];
        row.extend(after.linear_momentum.iter());
        row.extend(after.angular_momentum.iter());
        table.rows.push(row);
    }
    table
}

/// Selects about [`SAMPLES`] evenly spaced states from those of a run at the times of the grid. Each item is a time (s) with
/// its state.
fn thinned<'r, F: Flight>(
    run: &'r Trajectory<'_, F>,
) -> impl Iterator<Item = (f64, &'r State)> + use<'r, F> {
    let stride = (run.grid().count() / SAMPLES).max(1);
    run.grid().step_by(stride)
}

/// Returns ten numbers: the unit quaternion of the body with $w \ge 0$, the velocity of its center of mass (m/s), and its
/// angular velocity (rad/s). The velocities are in world axes.
fn attitude_and_velocities(body: &RigidBody, state: &State) -> [f64; 10] {
    let (w, v) = state.rotation.quaternion();
    let sign = if w < 0.0 { -1.0 } else { 1.0 };
    let velocity = state.linear_momentum / body.mass();
    let spin = body.angular_velocity(&state.angular_momentum);
    let spin = state.rotation.rotate(&spin);
    [
        sign * w,
        sign * v.x,
        sign * v.y,
        sign * v.z,
        velocity.x,
        velocity.y,
        velocity.z,
        spin.x,
        spin.y,
        spin.z,
    ]
}

/// Draws the energies of a run against time, with a vertical jump at each impact, as in Tran & Leok, Fig. 5. Also adds the
/// table of the trajectory. `flight`: model of the motion between impacts.
fn energies<F: Flight>(
    system: &System,
    flight: &F,
    run: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let mut table = Table::new(
        "trajectory",
        "The run on the grid of time, thinned: position, gap, energies, attitude (body to space), \
         velocity and angular velocity in space.",
        Column::list(
            "time [s], x [m], y [m], z [m], gap [m], translational_and_potential [J], rotational [J], \
             qw, qx, qy, qz, vx [m/s], vy [m/s], vz [m/s], wx [rad/s], wy [rad/s], wz [rad/s]",
        ),
    );
    for (time, state) in thinned(run) {
        let energies = Energies::of(flight, &system.body, state);
        let gap = system.plane.gap(&system.shape, &state.configuration());
        let x = &state.position;
        let mut row = vec![
            time,
            x.x,
            x.y,
            x.z,
            gap.value,
            energies.translational,
            energies.rotational,
        ];
        row.extend(attitude_and_velocities(&system.body, state));
        table.rows.push(row);
    }
    record.tables.push(table);

    let mut shown = Vec::new();
    let mut add = |time: f64, state: &State| {
        let energies = Energies::of(flight, &system.body, state);
        shown.push([time, energies.translational, energies.rotational]);
    };
    // Both energies are constant between impacts.
    add(0.0, &system.initial);
    for impact in run.impacts() {
        add(impact.time, &impact.before);
        add(impact.time, &impact.after);
    }
    add(run.end().time, &run.end().state);
    let all = shown.iter();
    Plot::new("bouncing/energies")
        .through("total", all.clone().map(|[t, a, b]| [*t, a + b]))
        .through(
            "translational + potential",
            all.clone().map(|[t, a, _]| [*t, *a]),
        )
        .through("rotational", all.map(|[t, _, b]| [*t, *b]))
        .draw(record)
}

/// Draws the absolute energy error of a run against time, with its impacts, as in Tran & Leok, Fig. 6, upper row. `flight`:
/// model of the motion between impacts.
fn energy_error<F: Flight>(
    config: &Config,
    system: &System,
    flight: &F,
    run: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let initial = flight.energy(&system.body, &system.initial);
    let end = run.end();
    let mut shown: Vec<(f64, &State)> = thinned(run).collect();
    if shown.last().is_none_or(|(time, _)| *time < end.time) {
        shown.push((end.time, &end.state));
    }
    let error = |(time, state): (f64, &State)| {
        let energy = flight.energy(&system.body, state);
        [time, (energy - initial).abs()]
    };
    let errors: Vec<[f64; 2]> = shown.into_iter().map(error).collect();
    let top = errors
        .iter()
        .fold(1e-15, |top, [_, error]| f64::max(top, *error))
        * 1.05;
    let mut plot = Plot::new("bouncing/energy_error")
        .fill("kept", config.kept_energy())
        .y_range([0.0, top])
        .through("error", errors);
    for impact in run.impacts().iter().take(40) {
        plot = plot.with("impact", [impact.time; 2], [0.0, top]);
    }
    plot.draw(record)
}
