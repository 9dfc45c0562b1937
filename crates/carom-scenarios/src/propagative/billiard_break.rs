//! A ball that hits two others at once: Seghete & Murphey, Figs. 4 and 5.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use crate::propagative::handed_on::{Ball, handed_on};
use crate::propagative::model::{System, disk_normal, propagative};
use crate::propagative::outcomes;
use carom_report::record::{Color, Column, Mark, Quantity, Record, Table};
use serde::Deserialize;
use std::f64::consts::{FRAC_PI_2, PI};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    radii: Positive<[f64; 3]>,
    angle: f64,
    direction: f64,
    radius_ratios: Positive<Vec<f64>>,
    samples: Count<2, 100_000>,
}

/// Three balls with ball c at the origin, moving with unit speed.
struct Break {
    system: System,
    centers: [[f64; 2]; 3],
    velocity: [f64; 6],
}

fn posed(radii: [f64; 3], angle: f64, direction: f64) -> Result<Break, ScenarioError> {
    let [a, b, c] = radii;
    let place = |side: f64, r: f64| {
        let reach = r + c;
        [
            reach * libm::cos(0.5 * angle),
            side * reach * libm::sin(0.5 * angle),
        ]
    };
    let centers = [place(1.0, a), place(-1.0, b), [0.0, 0.0]];
    let masses: Vec<f64> = radii.iter().flat_map(|r| [(r * r * r); 2]).collect();
    let normals = [0, 1].map(|i| disk_normal(&centers, 2, i));
    let velocity = [
        0.0,
        0.0,
        0.0,
        0.0,
        libm::cos(direction),
        libm::sin(direction),
    ];
    Ok(Break {
        system: System::diagonal(&masses, normals.to_vec())?,
        centers,
        velocity,
    })
}

/// Returns the smallest possible angle (rad) between the directions from ball c to the balls a and b, both of which touch ball
/// c. At this angle a and b touch each other; the angle follows from the law of cosines. The argument contains the radii of the
/// three balls.
fn smallest_angle([a, b, c]: [f64; 3]) -> f64 {
    let (ca, cb, ab) = (c + a, c + b, a + b);
    libm::acos((ca * ca + cb * cb - ab * ab) / (2.0 * ca * cb))
}

fn indeterminacy(radii: [f64; 3], angle: f64, direction: f64) -> Result<f64, ScenarioError> {
    let posed = posed(radii, angle, direction)?;
    Ok(posed
        .system
        .resolve_all(&posed.velocity, &propagative(1.0)?)?
        .indeterminacy)
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let least = smallest_angle(*config.radii);
    if !(config.angle >= least * (1.0 - 1e-12) && config.angle <= PI) {
        let message = format!(
            "{} must lie between {least}, where a and b touch, and pi",
            config.angle
        );
        return Err(ScenarioError::value("angle", message));
    }
    single(&config, &mut record)?;
    curves(&config, &mut record)?;
    Ok(record)
}

/// Computes one billiard break and draws the velocities after it for both orders of the impacts, as in Fig. 4.
fn single(config: &Config, record: &mut Record) -> Result<(), ScenarioError> {
    let posed = posed(*config.radii, config.angle, config.direction)?;
    let set = posed
        .system
        .resolve_all(&posed.velocity, &propagative(1.0)?)?;
    let mut plot = Plot::new("billiard-break/fig4_break");
    for ((center, radius), name) in posed.centers.iter().zip(*config.radii).zip(["a", "b", "c"]) {
        plot.mark(Mark::Disk {
            x: center[0],
            y: center[1],
            radius,
            label: Some(name.to_owned()),
            color: Color::Gray,
        });
    }
    // Length of a velocity arrow in meters per m/s.
    let length = 1.5 * config.radii[2];
    let [dx, dy] = [
        libm::cos(config.direction) * length,
        libm::sin(config.direction) * length,
    ];
    let tail = [-dx * 1.8, -dy * 1.8];
    plot.mark(Mark::arrow(
        tail,
        [tail[0] + dx * 0.8, tail[1] + dy * 0.8],
        Color::Black,
    ));
    let mut table = Table::new(
        "outcomes",
        "Velocities after the impact.",
        std::iter::once(Column::new("outcome", ""))
            .chain(
                ["x_a", "y_a", "x_b", "y_b", "x_c", "y_c"]
                    .map(|q| Column::new(format!("velocity_{q}"), "m/s")),
            )
            .collect(),
    );
    for (k, outcome) in set.outcomes.iter().enumerate() {
        let v = outcome.velocity_plus.0.as_slice();
        table.rows.push(
            std::iter::once((k + 1) as f64)
                .chain(v.iter().copied())
                .collect(),
        );
        for (ball, center) in posed.centers.iter().enumerate() {
            let to = [
                center[0] + length * v[2 * ball],
                center[1] + length * v[2 * ball + 1],
            ];
            let color = [Color::Blue, Color::Vermillion][k % 2];
            plot.mark(Mark::arrow(*center, to, color));
        }
    }
    for (k, outcome) in set.outcomes.iter().enumerate().take(2) {
        let balls = (0..3).map(|i| Ball {
            center: posed.centers[i],
            radius: config.radii[i],
            label: ["a", "b", "c"][i].to_owned(),
            coordinates: [Some(2 * i), Some(2 * i + 1)],
        });
        let text = (
            ["order_1", "order_2"][k],
            ["The break, first order", "The break, second order"][k],
            "Arrows are velocities.",
        );
        let (v, balls) = (&posed.velocity, balls.collect());
        let motion = handed_on(text, &posed.system, v, outcome, balls, length)?;
        record.animations.extend(motion);
    }
    let cosine = Quantity::new("cosine", posed.system.cosine()?, "");
    record.quantities.push(cosine);
    record.quantities.extend(outcomes::spread(&set));
    record.tables.push(table);
    plot.draw(record)
}

/// Draws the indeterminacy (relative distance of the two outcomes) against the angle between the balls that are hit, as in
/// Fig. 5.
fn curves(config: &Config, record: &mut Record) -> Result<(), ScenarioError> {
    let mut plot = Plot::new("billiard-break/fig5_indeterminacy");
    let mut table = Table::new(
        "indeterminacy",
        "Indeterminacy against the angle, for each ratio of radii.",
        Column::list("radius_ratio, angle [rad], indeterminacy"),
    );
    for (k, &ratio) in config.radius_ratios.iter().enumerate() {
        let radii = [1.0, 1.0, ratio];
        let least = smallest_angle(radii);
        let angles = linspace(least, PI, *config.samples);
        let mut values = Vec::with_capacity(angles.len());
        for &angle in &angles {
            let xi = indeterminacy(radii, angle, 0.0)?;
            table.rows.push(vec![ratio, angle, xi]);
            values.push(xi);
        }
        let name = |what: &str| format!("{what}_ratio_{:.3}", ratio);
        record.quantities.extend([
            Quantity::new(name("smallest_angle_rad"), least, "rad"),
            Quantity::new(
                name("indeterminacy_max"),
                values.iter().copied().fold(0.0, f64::max),
                "",
            ),
            Quantity::new(
                name("indeterminacy_90_deg"),
                indeterminacy(radii, FRAC_PI_2, 0.0)?,
                "",
            ),
            Quantity::new(
                name("indeterminacy_180_deg"),
                indeterminacy(radii, PI, 0.0)?,
                "",
            ),
        ]);
        let points = angles
            .iter()
            .zip(values)
            .map(|(a, xi)| [a.to_degrees(), xi]);
        plot.numbered("ratio", k, &format!("r_c / r = {ratio:.4}"), points);
    }
    record.tables.push(table);
    plot.with("paper: ξ = 0", [90.0, 180.0], [0.0; 2])
        .draw(record)
}
