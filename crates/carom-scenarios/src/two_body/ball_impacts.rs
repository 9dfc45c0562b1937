//! Impacts of balls: Jia & Wang, Fig. 2.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Fraction, Input, NonNegative, Positive};
use crate::two_body::sliding::Setup;
use carom_impact::two_body::{BodyPair, RigidBody};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    masses: Positive<[f64; 2]>,
    radii: Positive<[f64; 2]>,
    friction: NonNegative,
    restitution: Fraction,
}

fn ball(mass: f64, radius: f64, height: f64) -> RigidBody {
    RigidBody {
        mass,
        inertia: Matrix3::from_diagonal_element(0.4 * mass * radius * radius),
        center: Vector3::new(0.0, 0.0, height),
        velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let ([m1, m2], [r1, r2]) = (*config.masses, *config.radii);
    let (upper, lower) = (ball(m1, r1, r1), ball(m2, r2, -r2));
    let mut inertia = [[0.0; 3]; 3];
    for (name, second, mass) in [
        ("balls", Some(lower), 1.0 / (1.0 / m1 + 1.0 / m2)),
        ("half_space", None, m1),
    ] {
        let pair = BodyPair::new(upper, second, Vector3::zeros(), Vector3::z())?;
        let w = pair.inertia()?.matrix();
        record.quantities.extend([
            Quantity::new(format!("{name}_tangential_per_kg"), w[(0, 0)], "1/kg")
                .closed_form(3.5 / mass, "7/2 of the inverse reduced mass"),
            Quantity::new(format!("{name}_normal_per_kg"), w[(2, 2)], "1/kg")
                .closed_form(1.0 / mass, "the inverse reduced mass"),
            Quantity::new(format!("{name}_coupling_per_kg"), w[(0, 2)], "1/kg")
                .closed_form(0.0, "central impact"),
        ]);
        inertia = [0, 1, 2].map(|i| [0, 1, 2].map(|j| w[(i, j)]));
    }
    // Sliding speed after the impact with the half-space, as a function of that before it.
    let mut table = Table::new(
        "half_space",
        "Sliding before and after a ball hits a half-space at 1 m/s.",
        Column::list("sliding_before [m/s], sliding_after [m/s], friction_work [J]"),
    );
    for speed in linspace(0.0, 3.0, 61) {
        let setup = Setup::new(
            &inertia,
            [speed, 0.0, -1.0],
            *config.friction,
            *config.restitution,
        )?;
        let impact = setup.trace()?.impact;
        let after = impact.velocity_plus.x;
        table.rows.push(vec![speed, after, impact.friction_work]);
    }
    let stops = 3.5 * *config.friction * (1.0 + *config.restitution);
    record.quantities.push(
        Quantity::new("fastest_sliding_that_stops_m_s", stops, "m/s")
            .note("7/2 mu (1 + e) for a closing speed of 1 m/s"),
    );
    let plot = Plot::new("ball-impacts/half_space_sliding").of(&table);
    plot.draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}
