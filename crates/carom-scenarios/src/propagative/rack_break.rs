//! A cue ball that breaks a triangular rack of touching balls.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, Positive, count};
use crate::propagative::model::{
    System, diagnostics, disk_normal, propagative, relative_energy_change,
};
use crate::propagative::outcomes;
use carom_impact::Selection;
use carom_report::record::{Color, Column, Mark, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    MostApproaching,
    LeastApproaching,
    Random,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    rows: Count<1, 12>,
    speed: Positive,
    restitution: Fraction,
    selection: Order,
    seed: u64,
    all_outcomes_up_to_rows: usize,
}

/// Returns the centers of the cue ball and of the balls of a triangular rack with `rows` rows. The cue ball touches the first
/// ball; all masses and radii are 1.
fn centers(rows: usize) -> Vec<[f64; 2]> {
    let mut centers = vec![[-2.0, 0.0]];
    for i in 0..rows {
        for j in 0..=i {
            centers.push([3f64.sqrt() * i as f64, 2.0 * j as f64 - i as f64]);
        }
    }
    centers
}

/// True if two disks of radius 1 with the centers `a` and `b` touch.
fn touching(a: [f64; 2], b: [f64; 2]) -> bool {
    (libm::hypot(a[0] - b[0], a[1] - b[1]) - 2.0).abs() < 1e-9
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count(
        "all_outcomes_up_to_rows",
        config.all_outcomes_up_to_rows,
        0,
        3,
    )?;
    let centers = centers(*config.rows);
    let mut normals = Vec::new();
    for i in 0..centers.len() {
        for j in i + 1..centers.len() {
            if touching(centers[i], centers[j]) {
                normals.push(disk_normal(&centers, i, j));
            }
        }
    }
    let n_contacts = normals.len();
    let system = System::diagonal(&vec![1.0; 2 * centers.len()], normals)?;
    let mut velocity = vec![0.0; 2 * centers.len()];
    velocity[0] = *config.speed;
    let selection = match config.selection {
        Order::MostApproaching => Selection::MostApproaching,
        Order::LeastApproaching => Selection::LeastApproaching,
        Order::Random => Selection::Random(config.seed),
    };
    let law = propagative(*config.restitution)?.with_selection(selection);
    let outcome = system.resolve(&velocity, &law)?;
    let v = outcome.velocity_plus.0.as_slice();
    let momentum: f64 = v.iter().step_by(2).sum();
    record.quantities.extend([
        Quantity::new("contacts", n_contacts as f64, ""),
        Quantity::new("impacts", diagnostics(&outcome).impacts as f64, ""),
        Quantity::new("cue_velocity_x_m_per_s", v[0], "m/s"),
        Quantity::new("momentum_x_over_initial", momentum / *config.speed, ""),
        Quantity::new(
            "energy_change_over_initial",
            relative_energy_change(&outcome),
            "",
        ),
        Quantity::new(
            "penetration_residual",
            outcome.audit.penetration_residual,
            "",
        ),
    ]);
    if *config.rows <= config.all_outcomes_up_to_rows {
        let set = system.resolve_all(&velocity, &law)?;
        record.quantities.extend(outcomes::spread(&set));
    }
    let mut table = Table::new(
        "balls",
        "Centers and velocities after the impact; the cue ball first.",
        Column::list("x [ball radii], y [ball radii], velocity_x [m/s], velocity_y [m/s]"),
    );
    let mut plot = Plot::new("rack-break/break");
    for (k, center) in centers.iter().enumerate() {
        let color = if k == 0 { Color::Gray } else { Color::Sky };
        let [x, y] = *center;
        plot.mark(Mark::Disk {
            x,
            y,
            radius: 1.0,
            label: None,
            color,
        });
        table.rows.push(vec![x, y, v[2 * k], v[2 * k + 1]]);
    }
    let speed = |v: &[f64]| libm::hypot(v[0], v[1]);
    let fastest = v.chunks(2).map(speed).fold(0.0, f64::max);
    for (center, v) in centers.iter().zip(v.chunks(2)) {
        // The arrow of the fastest ball is three radii long; arrows below 1 % of its speed are not drawn.
        if speed(v) > 0.01 * fastest {
            let scale = 3.0 / fastest;
            let to = [center[0] + scale * v[0], center[1] + scale * v[1]];
            plot.mark(Mark::arrow(*center, to, Color::Vermillion));
        }
    }
    record.tables.push(table);
    plot.draw(&mut record)?;
    Ok(record)
}
