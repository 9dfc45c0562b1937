//! The rolling penny on a table, with every impact in the record.

use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::common::plot::Plot;
use crate::common::sensitivity;
use crate::config::{Count, Fraction, Input, Positive};
use crate::nonholonomic::penny_model::{
    InitialConfig, Law, PennyConfig, TableConfig, TableKind, drawing, motion, named, trajectory,
};
use carom_motion::billiard::Table as Wall;
use carom_motion::billiard::circle::CircleOrbit;
use carom_motion::hybrid::{Ending, Limits};

use carom_motion::billiard::penny::{PennyBilliard, PennyState, Run};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;
use serde_json::{Value, json};

/// Largest number of impacts of a run, so that its record stays readable.
const MOST_IMPACTS: usize = 100_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    law: Law,
    restitution: Fraction,
    // Optional without a default: if only a duration is given, it ends the run.
    impacts: Option<Count<1, MOST_IMPACTS>>,
    duration: Option<Positive>,
    sensitivity: bool,
    penny: PennyConfig,
    table: TableConfig,
    initial: InitialConfig,
}

/// Names of the coordinates of a state.
const STATE: [&str; 6] = ["x", "y", "theta", "phi", "theta_dot", "phi_dot"];

fn end(state: &PennyState, time: f64) -> Value {
    json!({
        "x": state.x,
        "y": state.y,
        "theta": state.theta,
        "phi": state.phi,
        "theta_dot": state.theta_dot,
        "phi_dot": state.phi_dot,
        "time": time,
    })
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (mut config, mut record) = input.begin::<Config>()?;
    if config.duration.is_some() && !input.is_given("impacts") {
        config.impacts = None;
        if let Some(parameters) = record.parameters.as_object_mut() {
            parameters.shift_remove("impacts");
        }
    }
    if config.sensitivity && config.duration.is_none() {
        let message = "needs a `duration`: without one the final time is not fixed";
        return Err(ScenarioError::value("sensitivity", message));
    }
    let most = config.impacts.map_or(MOST_IMPACTS, |impacts| *impacts);
    let duration = config.duration.map_or(f64::INFINITY, |duration| *duration);
    let limits = Limits::duration(duration).with_impacts(most);
    let restitution = config.law.restitution(*config.restitution)?;
    let penny = config.penny.build()?;
    let start = config.initial.build()?;
    let billiard = PennyBilliard::new(penny, config.table.build()?, restitution).map_err(named)?;
    let run = billiard.run(start, limits).map_err(named)?;

    extent(&run, config.impacts.map(|impacts| *impacts), duration).note(
        "",
        &run.ending,
        &mut record,
    );
    if let Ending::Stopped(error) = &run.ending {
        let error = json!({"kind": error.kind(), "message": error.to_string()});
        record.results.insert("error".to_owned(), error);
    }
    let table = impacts(&run);
    record
        .results
        .insert("impacts".to_owned(), details(&table, &run));
    let energy = Energy::of(&billiard, &run);
    record.results.insert(
        "energy".to_owned(),
        json!({
            "initial_j": energy.initial,
            "final_j": energy.last,
            "max_abs_error_j": energy.error,
        }),
    );
    let last = end(&run.final_state(billiard.penny()), run.time);
    record.results.insert("final".to_owned(), last);
    if config.sensitivity {
        let value = sensitivity::value(&STATE, &billiard.sensitivity(&run));
        record.results.insert("sensitivity".to_owned(), value);
    }
    record.quantities = quantities(&billiard, &run, &energy);
    if let TableKind::Ellipse = config.table.kind
        && let [a, b] = config.table.semi_axes
        && a == b
        && start.theta_dot > 0.0
        && start.phi_dot != 0.0
        && (start.x, start.y) == (0.0, 0.0)
    {
        closed_form(&billiard, a, &run, &mut record)?;
    }
    trajectory(drawing(&config.table, "penny/trajectory"), &billiard, &run).draw(&mut record)?;
    if !run.events.is_empty() {
        Plot::new("penny/normal-velocity")
            .of(&table)
            .draw(&mut record)?;
    }
    record.tables.push(table);
    let text = ("motion", "The run");
    record
        .animations
        .push(motion(text, &config.table, &billiard, &run));
    Ok(record)
}

/// Returns the extent of a run, with the number of `impacts` and the `duration` (s) that were requested.
pub(crate) fn extent(run: &Run, impacts: Option<usize>, duration: f64) -> Extent {
    Extent {
        impacts,
        duration,
        n_impacts: run.events.len(),
        time: run.time,
    }
}

/// Builds a table with a row for every impact of a penny. The column `rim` is 1 for the front and -1 for the back of the
/// penny's edge.
pub(crate) fn impacts(run: &Run) -> Table {
    let mut table = Table::new(
        "impacts",
        "State after each impact; rim 1 is the front, -1 the back.",
        Column::list(
            "n, time [s], rim, x [m], y [m], theta [rad], phi [rad], \
             theta_dot_plus [rad/s], phi_dot_plus [rad/s], normal_velocity [m/s]",
        ),
    );
    table.rows = (run.events.iter().zip(1_u32..))
        .map(|(event, n)| {
            let s = &event.state;
            vec![
                f64::from(n),
                event.time,
                event.rim.sign(),
                s.x,
                s.y,
                s.theta,
                s.phi,
                s.theta_dot,
                s.phi_dot,
                event.normal_velocity,
            ]
        })
        .collect();
    table
}

/// Converts the rows of the table of impacts to JSON objects, in which the rim is a word (front or back) instead of a number.
/// `table`: table of impacts of the run.
fn details(table: &Table, run: &Run) -> Value {
    let object = |(row, event): (&Vec<f64>, &carom_motion::billiard::penny::Event)| {
        let fields = table.columns.iter().zip(row).map(|(column, value)| {
            let value = match column.name.as_str() {
                "n" => json!(*value as u64),
                "rim" => json!(event.rim.name()),
                _ => json!(value),
            };
            (column.name.clone(), value)
        });
        Value::Object(fields.collect())
    };
    table.rows.iter().zip(&run.events).map(object).collect()
}

/// Energy balance of a run.
pub(crate) struct Energy {
    pub(crate) initial: f64,
    pub(crate) last: f64,
    /// Largest difference between the energy and the initial energy minus the losses in closed form.
    pub(crate) error: f64,
}

impl Energy {
    pub(crate) fn of<T: Wall>(billiard: &PennyBilliard<T>, run: &Run) -> Self {
        let initial = billiard.penny().energy(&run.start);
        let mut energy = Self {
            initial,
            last: initial,
            error: 0.0,
        };
        let mut expected = initial;
        for event in &run.events {
            expected += event.energy_change_j;
            energy.last = billiard.penny().energy(&event.state);
            energy.error = energy.error.max((energy.last - expected).abs());
        }
        energy
    }
}

fn quantities<T: Wall>(billiard: &PennyBilliard<T>, run: &Run, energy: &Energy) -> Vec<Quantity> {
    let mut quantities = vec![
        Quantity::new("impacts", run.events.len() as f64, ""),
        Quantity::new("end_time_s", run.time, "s"),
        Quantity::new("energy_initial_j", energy.initial, "J"),
        Quantity::new("energy_final_j", energy.last, "J"),
        Quantity::new("energy_error_j", energy.error, "J")
            .note("largest difference from the losses in closed form"),
    ];
    if let (Some(first), Some(last)) = (run.events.first(), run.events.last()) {
        let off_wall = run
            .events
            .iter()
            .map(|e| {
                let rim = billiard.penny().rim(&e.state, e.rim);
                billiard.table().value(rim).abs()
            })
            .fold(0.0, f64::max);
        quantities.extend([
            Quantity::new("first_impact_s", first.time, "s"),
            Quantity::new(
                "effective_restitution_first",
                first.effective_restitution,
                "",
            ),
            Quantity::new("effective_restitution_last", last.effective_restitution, ""),
            Quantity::new("wall_residual", off_wall, "")
                .note("largest wall function at an impact; 0 on the wall"),
        ]);
    }
    quantities
}

/// Compares the last impact of a run on a circular table with its closed-form solution. `radius`: radius of the table (m).
/// Nothing is compared if no closed form applies.
fn closed_form<T: Wall>(
    billiard: &PennyBilliard<T>,
    radius: f64,
    run: &Run,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let start: PennyState = run.start;
    let orbit = CircleOrbit::from_center(billiard.penny(), radius, start, billiard.restitution())?;
    let (Some(orbit), Some(last)) = (orbit, run.events.last()) else {
        return Ok(());
    };
    let source = "closed form on the circle";
    if let Some(exact) = orbit.impacts().nth(run.events.len() - 1) {
        record.quantities.extend([
            Quantity::new("last_impact_s", last.time, "s").closed_form(exact.time, source),
            Quantity::new("theta_dot_last_rad_per_s", last.state.theta_dot, "rad/s")
                .closed_form(exact.velocity_plus[0], source),
            Quantity::new("phi_dot_last_rad_per_s", last.state.phi_dot, "rad/s")
                .closed_form(exact.velocity_plus[1], source),
        ]);
    }
    let [theta_dot, phi_dot] = orbit.limit();
    record.quantities.extend([
        Quantity::new("rotation_number", orbit.rotation_number(), "")
            .note("turns of the wall point per impact, over a pair of impacts"),
        Quantity::new("limit_theta_dot_rad_per_s", theta_dot, "rad/s")
            .note("of a law that loses energy"),
        Quantity::new("limit_phi_dot_rad_per_s", phi_dot, "rad/s"),
    ]);
    Ok(())
}
