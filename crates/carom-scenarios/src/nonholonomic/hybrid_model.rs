//! Code shared by the scenarios of nonholonomic billiards other than the penny.

use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::nonholonomic::penny_model::Law;
use carom_motion::hybrid::Ending;

use carom_impact::Nonholonomic;
use carom_motion::billiard::BilliardError;
use carom_motion::billiard::system::Hit;
use carom_report::animation::{Animation, Outline, PlaneBody};
use carom_report::record::{Column, Quantity, Record, Table};
use serde_json::json;

/// Creates the impact law of a system with nonholonomic constraints from the kind of law and the coefficient of restitution.
pub(crate) fn nonholonomic(law: Law, restitution: f64) -> Result<Nonholonomic, ScenarioError> {
    Ok(Nonholonomic::new(law.restitution(restitution)?)?)
}

/// Writes the status of a run to its record, and the reason if it ended before its number of `impacts`. `part`: name of the run
/// if the record has several.
///
/// # Errors
///
/// The error of a run whose motion could not be continued.
pub(crate) fn note<S>(
    part: &str,
    (hits, ending): (&[Hit<S>], Ending<BilliardError>),
    impacts: usize,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let ending = ending.or_error()?;
    let extent = Extent {
        impacts: Some(impacts),
        duration: f64::INFINITY,
        n_impacts: hits.len(),
        time: hits.last().map_or(0.0, |hit| hit.time),
    };
    extent.note(part, &ending, record);
    Ok(())
}

/// Names the impact laws of a run in its record, if the parameters do not name them.
pub(crate) fn name_laws(laws: &[&str], record: &mut Record) {
    record.results.insert("laws".to_owned(), json!(laws));
}

/// Builds the table of impacts. The columns are the number and the time (s) of each impact, and the values that the closure
/// `row` computes for this impact. `columns`: names and units of these values.
pub(crate) fn table<S>(
    hits: &[Hit<S>],
    caption: &str,
    columns: &str,
    row: impl Fn(&Hit<S>) -> Vec<f64>,
) -> Table {
    let columns = Column::list(&format!("n, time [s], {columns}"));
    let mut table = Table::new("impacts", caption, columns);
    for (n, hit) in (1_u32..).zip(hits) {
        let mut values = vec![f64::from(n), hit.time];
        values.extend(row(hit));
        table.rows.push(values);
    }
    table
}

/// Returns the quantities reported for every run: the number of impacts and the energy change in all of them (J).
pub(crate) fn quantities<S>(hits: &[Hit<S>]) -> Vec<Quantity> {
    let lost: f64 = hits.iter().map(|hit| hit.energy_change_j).sum();
    vec![
        Quantity::new("impacts", hits.len() as f64, ""),
        Quantity::new("energy_change_j", lost, "J").note("at all impacts together"),
    ]
}

/// Number of frames of an animation, in addition to those at its impacts.
const FRAMES: usize = 200;

/// Largest number of impacts in an animation.
const PLAYED_IMPACTS: usize = 40;

/// Builds the animation of a run: outlines that move with the pose of each state. `hits`: impacts with the states after them;
/// `flow`: advances a state by a time (s) without impact; `pose`: returns position x, y (m) and angle (rad) of a state.
pub(crate) fn motion<S: Clone>(
    (name, title, caption): (&str, &str, &str),
    start: &S,
    hits: &[Hit<S>],
    flow: impl Fn(&S, f64) -> S,
    outlines: Vec<Outline>,
    pose: impl Fn(&S) -> [f64; 3],
) -> Animation {
    let mut impacts: Vec<f64> = hits.iter().map(|hit| hit.time).collect();
    impacts.truncate(PLAYED_IMPACTS);
    let end = impacts.last().copied().unwrap_or(1.0);
    let times = Animation::frames(0.0, end, FRAMES, &impacts);
    // The flow runs from frame to frame, because its cost may grow with the length of the flow.
    let (mut state, mut reached, mut next) = (start.clone(), 0.0, hits.iter().peekable());
    let poses = times.iter().map(|&time| {
        while let Some(hit) = next.next_if(|hit| hit.time <= time) {
            (state, reached) = (hit.state.clone(), hit.time);
        }
        (state, reached) = (flow(&state, time - reached), time);
        pose(&state)
    });
    let body = PlaneBody::new(outlines, poses).trail();
    Animation::plane(name, title, caption, times, impacts).body(body)
}

/// Returns the path of a point in a run as lists of x and y, with `samples` steps between two impacts. `hits`: impacts with
/// the states after them; `flow`: advances a state by a time (s) without impact; `place`: returns the point's position in a
/// state (m).
pub(crate) fn path<S: Clone>(
    start: &S,
    hits: &[Hit<S>],
    samples: usize,
    flow: impl Fn(&S, f64) -> S,
    place: impl Fn(&S) -> [f64; 2],
) -> (Vec<f64>, Vec<f64>) {
    let mut points = vec![place(start)];
    let (mut state, mut time) = (start.clone(), 0.0);
    for hit in hits {
        let step = (hit.time - time) / samples as f64;
        for _ in 0..samples {
            state = flow(&state, step);
            points.push(place(&state));
        }
        (state, time) = (hit.state.clone(), hit.time);
    }
    points.into_iter().map(|[x, y]| (x, y)).unzip()
}
