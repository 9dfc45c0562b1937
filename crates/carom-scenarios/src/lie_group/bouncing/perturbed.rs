//! Runs from initial states that differ by a part in a hundred million: Tran & Leok, Figs. 7 and 8.

use super::System;
use crate::ScenarioError;
use crate::common::plot::Plot;
use carom_geometry::Shape;
use carom_lie::So3;
use carom_motion::flying::{Collider, Trajectory};
use carom_report::record::{Column, Quantity, Record, Table};
use carom_variational::{Flight, State, TimeGrid};
use nalgebra::Vector3;
use std::f64::consts::PI;

/// Perturbation of the height (m).
const RAISE: f64 = 1e-8;

/// Perturbation of the attitude about y (rad), as printed in the paper.
const TURN: f64 = 1e-8 * PI;

/// Perturbation of the attitude (rad) that gives the error printed in the paper: a millionth of a degree.
const TURN_MICRODEGREE: f64 = 1e-6 * PI / 180.0;

/// Number of rows of the table.
const SAMPLES: usize = 250;

/// Returns the distance of two states, $\lvert x' - x\rvert + \lVert R' - R\rVert_2$, where $x$ are the positions (m) and $R$
/// the rotation matrices. The norm of the difference of two rotations is $2\sin(\theta/2)$ with $\theta$ the angle between
/// them.
fn distance(a: &State, b: &State) -> f64 {
    let (_, sine) = a.rotation.inverse().compose(&b.rotation).quaternion();
    (a.position - b.position).norm() + 2.0 * sine.norm()
}

fn turned(state: &State, angle: f64) -> State {
    let turn = So3::exp(&Vector3::new(0.0, angle, 0.0));
    State {
        rotation: state.rotation.compose(&turn),
        ..*state
    }
}

pub(super) fn perturbed<F: Flight>(
    collider: &Collider<'_, Shape, F>,
    system: &System,
    base: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let Some((step, _)) = base.grid().nth(1) else {
        return Ok(());
    };
    let n_steps = base.grid().count() - 1;
    let grid = TimeGrid::steps(step, n_steps)?;
    let follow = |initial: &State| Trajectory::record(collider, initial, &grid, None);
    let mut raised = system.initial;
    raised.position.z += RAISE;
    let starts = [raised, turned(&system.initial, TURN)];
    let microdegree = turned(&system.initial, TURN_MICRODEGREE);
    let [position, attitude] = [follow(&starts[0])?, follow(&starts[1])?];

    let at_start = |state: &State| distance(&system.initial, state);
    record.quantities.extend([
        Quantity::new("error_start_position", at_start(&starts[0]), ""),
        Quantity::new("error_start_attitude", at_start(&starts[1]), "").note(
            "with the printed angle 1e-8 pi; the paper's 1.75e-8 is a millionth of a degree, below",
        ),
        Quantity::new(
            "error_start_attitude_microdegree",
            at_start(&microdegree),
            "",
        ),
    ]);
    let parted = base
        .grid()
        .zip(position.grid())
        .find(|((_, a), (_, b))| (a.position.z - b.position.z).abs() > 0.5);
    if let Some(((time, _), _)) = parted {
        let contacts = base.impacts().iter().filter(|i| i.time <= time).count();
        record.quantities.extend([
            Quantity::new("heights_part_s", time, "s")
                .note("first time that the heights differ by 0.5 m"),
            Quantity::new("contacts_before_parting", contacts as f64, "").note(
                "the paper says after the eighth collision: three of its collisions are two contacts \
                 within 0.02 s",
            ),
        ]);
    }
    figures(base, &position, &attitude, record)
}

fn figures<F: Flight>(
    base: &Trajectory<'_, F>,
    position: &Trajectory<'_, F>,
    attitude: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let mut table = Table::new(
        "sensitivity",
        "Height of the center of mass for three starts, and the distance of the perturbed ones.",
        Column::list(
            "time [s], height [m], height_position [m], height_attitude [m], \
             error_position, error_attitude",
        ),
    );
    let stride = (base.grid().count() / SAMPLES).max(1);
    let rows = base.grid().zip(position.grid()).zip(attitude.grid());
    for (((time, a), (_, b)), (_, c)) in rows.step_by(stride) {
        table.rows.push(vec![
            time,
            a.position.z,
            b.position.z,
            c.position.z,
            distance(a, b),
            distance(a, c),
        ]);
    }
    Plot::new("bouncing/sensitivity_height")
        .of(&table)
        .draw(record)?;
    Plot::new("bouncing/sensitivity_error")
        .of(&table)
        .draw(record)?;
    record.tables.push(table);
    Ok(())
}
