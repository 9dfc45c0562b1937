//! Newton's cradle: Seghete & Murphey, Example 1 and Fig. 2.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Fraction, Input, Positive};
use crate::propagative::handed_on::{Ball, handed_on};
use crate::propagative::model::{
    System, chain_normals, diagnostics, propagative, relative_energy_change,
};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    masses: Positive<Vec<f64>>,
    velocities: Vec<f64>,
    restitution: Fraction,
    restitutions: Fraction<Vec<f64>>,
    max_speed: Positive,
}

/// Measured outcomes of a rigid-body engine (Bullet 3.2.7 through its Python binding) for three
/// equal balls: radius 0.5 m, 1 kg, no gravity, damping or friction.
const ENGINE: &str = include_str!("../../data/rigid_body_engine_cradle.csv");

struct EngineRun {
    gap: f64,
    restitution: f64,
    frequency_hz: f64,
    speed: f64,
    loss_percent: f64,
}

fn engine_runs() -> Vec<EngineRun> {
    let number = |fields: &[&str], i: usize| fields.get(i).and_then(|s| s.parse::<f64>().ok());
    let run = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        Some(EngineRun {
            gap: number(&fields, 0)?,
            restitution: number(&fields, 1)?,
            frequency_hz: number(&fields, 2)?,
            speed: number(&fields, 3)?,
            loss_percent: number(&fields, 7)?,
        })
    };
    ENGINE.lines().skip(1).filter_map(run).collect()
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let n = config.masses.len();
    crate::config::count("masses", n, 2, 200)?;
    if config.velocities.len() != n {
        let message = format!("{} entries for {n} masses", config.velocities.len());
        return Err(ScenarioError::value("velocities", message));
    }
    let system = System::diagonal(&config.masses, chain_normals(n))?;

    let law = propagative(*config.restitution)?;
    let outcome = system.resolve(&config.velocities, &law)?;
    let mut balls = Table::new(
        "balls",
        "Velocities before and after the impact.",
        Column::list("ball, mass [kg], velocity_minus [m/s], velocity_plus [m/s]"),
    );
    for i in 0..n {
        let v_plus = outcome.velocity_plus.0[i];
        balls.rows.push(vec![
            (i + 1) as f64,
            config.masses[i],
            config.velocities[i],
            v_plus,
        ]);
        let name = format!("velocity_plus_{}_m_per_s", i + 1);
        record.quantities.push(Quantity::new(name, v_plus, "m/s"));
    }
    record.tables.push(balls);
    let audit = &outcome.audit;
    record.quantities.extend([
        Quantity::new("energy_minus_j", audit.energy_minus_j, "J"),
        Quantity::new("energy_change_j", audit.energy_change_j(), "J"),
        Quantity::new("momentum_residual", audit.momentum_residual, "")
            .note("relative, in the kinetic metric"),
        Quantity::new("impacts", diagnostics(&outcome).impacts as f64, ""),
        Quantity::new(
            "normal_cosine_1_2",
            if n > 2 { system.cosine()? } else { 1.0 },
            "",
        ),
    ]);
    if n == 2 {
        record.quantities.pop();
    }
    loss_against_speed(&config, &system, &mut record)?;
    let balls = (0..n).map(|i| Ball {
        center: [i as f64, 0.0],
        radius: 0.5,
        label: (i + 1).to_string(),
        coordinates: [Some(i), None],
    });
    let fastest = config
        .velocities
        .iter()
        .fold(0.0, |m: f64, v| m.max(v.abs()));
    let text = (
        "impact",
        "The impact, resolved one contact at a time",
        "Arrows are velocities.",
    );
    let scale = if fastest > 0.0 { 0.9 / fastest } else { 1.0 };
    let velocities = &config.velocities;
    let motion = handed_on(text, &system, velocities, &outcome, balls.collect(), scale)?;
    record.animations.extend(motion);
    Ok(record)
}

/// Draws the energy loss of Newton's cradle against the speed of the first ball, which hits the other balls at rest, as in
/// Fig. 2b.
fn loss_against_speed(
    config: &Config,
    system: &System,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let engine = engine_runs();
    let three_equal =
        config.masses.len() == 3 && config.masses.iter().all(|m| *m == config.masses[0]);
    let speeds = linspace(*config.max_speed / 40.0, *config.max_speed, 40);
    let mut plot = Plot::new("newtons-cradle/fig2b_energy_loss").x_range([0.0, *config.max_speed]);
    let mut table = Table::new(
        "energy_loss",
        "Energy lost by the propagative law.",
        Column::list("restitution, speed [m/s], energy_loss [%]"),
    );
    for (k, &restitution) in config.restitutions.iter().enumerate() {
        let law = propagative(restitution)?;
        let mut losses = Vec::with_capacity(speeds.len());
        for &speed in &speeds {
            let mut velocity = vec![0.0; config.masses.len()];
            velocity[0] = speed;
            let loss = -100.0 * relative_energy_change(&system.resolve(&velocity, &law)?);
            table.rows.push(vec![restitution, speed, loss]);
            losses.push(loss);
        }
        let worst = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let name = format!("energy_loss_percent_restitution_{restitution}");
        let quantity = Quantity::new(name, worst, "%");
        record.quantities.push(if three_equal {
            let closed_form = 100.0 * (1.0 - restitution * restitution) * 2.0 / 3.0;
            quantity.closed_form(closed_form, "Eqs. (16)-(18): (1 - R^2) 2/3")
        } else {
            quantity
        });
        if three_equal {
            for frequency in [60.0, 6000.0] {
                let runs = engine
                    .iter()
                    .filter(|r| r.gap == 0.0 && r.restitution == restitution)
                    .filter(|r| r.frequency_hz == frequency && r.speed <= *config.max_speed);
                let runs: Vec<[f64; 2]> = runs.map(|r| [r.speed, r.loss_percent]).collect();
                if !runs.is_empty() {
                    let label = format!("engine, R = {restitution}, {frequency} Hz");
                    plot.numbered(&format!("engine, {frequency} Hz"), k, &label, runs);
                }
            }
        }
        let line = speeds
            .iter()
            .zip(losses)
            .map(|(speed, loss)| [*speed, loss]);
        plot.numbered("carom", k, &format!("carom, R = {restitution}"), line);
    }
    record.tables.push(table);
    plot.draw(record)?;
    if three_equal {
        engine_summary(&engine, record);
    }
    Ok(())
}

/// Adds a table of measured energy losses of a rigid-body engine, with one row for each of its settings. `engine`: measured
/// runs of the engine.
fn engine_summary(engine: &[EngineRun], record: &mut Record) {
    let mut table = Table::new(
        "engine_energy_loss",
        "Energy lost by the rigid-body engine (measured, not computed here).",
        ["gap_over_radius", "restitution"]
            .map(|name| Column::new(name, ""))
            .into_iter()
            .chain([Column::new("frequency", "Hz")])
            .chain(["loss_min", "loss_median", "loss_max"].map(|name| Column::new(name, "%")))
            .collect(),
    );
    let mut settings: Vec<[f64; 3]> = Vec::new();
    for run in engine {
        let setting = [run.gap, run.restitution, run.frequency_hz];
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    for setting in settings {
        let mut losses: Vec<f64> = engine
            .iter()
            .filter(|r| [r.gap, r.restitution, r.frequency_hz] == setting)
            .map(|r| r.loss_percent)
            .collect();
        losses.sort_by(f64::total_cmp);
        let at = |k: usize| losses.get(k).copied().unwrap_or(0.0);
        let (low, high) = (at((losses.len() - 1) / 2), at(losses.len() / 2));
        let statistics = [at(0), 0.5 * (low + high), at(losses.len() - 1)];
        table
            .rows
            .push(setting.into_iter().chain(statistics).collect());
    }
    record.tables.push(table);
}
