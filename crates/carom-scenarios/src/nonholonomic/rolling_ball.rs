//! A ball rolls between smooth and rough cushions.

use crate::config::{count, finite, positive};
use crate::nonholonomic::hybrid_model::{motion, path, quantities, status, table};
use crate::nonholonomic::penny_model::{TableConfig, drawing};
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_billiard::hybrid::{Billiard, Hit, Limits, follow};
use carom_billiard::rolling_ball::{BallState, RollingBall};
use carom_billiard::{BilliardError, Ellipse};
use carom_impact::{ImpactLaw, Nonholonomic, Restitution, Rough};
use carom_report::animation::Outline;
use carom_report::record::{Color, Mark, Quantity, Record};
use nalgebra::Vector2;
use serde::{Deserialize, Serialize};

/// Radius of the point that shows the center, over the shorter semi-axis.
const POINT: f64 = 0.04;

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "rolling-ball",
    "a rolling ball on an elliptical table, with smooth and rough cushions",
    "Clark & Bloch",
    "Sec. IV on another classical system",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    impacts: usize,
    semi_axes: [f64; 2],
    mass: f64,
    radius: f64,
    inertia: f64,
    position: [f64; 2],
    velocity: [f64; 2],
    spin: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            impacts: 40,
            semi_axes: [0.15, 0.2],
            mass: 1.0,
            radius: 1.0,
            inertia: 0.4,
            position: [0.02, -0.03],
            velocity: [0.1, 0.07],
            spin: 0.3,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
impacts = 40
semi_axes = [0.15, 0.2]    # m, of the region of the ball's center
mass = 1.0                 # kg
radius = 1.0               # m
inertia = 0.4              # kg m^2; 2/5 m r^2 is a solid ball
position = [0.02, -0.03]   # m
velocity = [0.1, 0.07]     # m/s
spin = 0.3                 # rad/s, about the vertical
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    count("impacts", config.impacts, 1, 10_000)?;
    positive("semi_axes", &config.semi_axes)?;
    positive("mass", &[config.mass])?;
    positive("radius", &[config.radius])?;
    positive("inertia", &[config.inertia])?;
    finite("position", &config.position)?;
    finite("velocity", &config.velocity)?;
    finite("spin", &[config.spin])?;
    let [a, b] = config.semi_axes;
    let table_shape = Ellipse::new(a, b)?;
    let ball = RollingBall::new(config.mass, config.radius, config.inertia, table_shape)?;
    let start = BallState {
        position: Vector2::from(config.position),
        velocity: Vector2::from(config.velocity),
        spin: config.spin,
    };
    let smooth = Nonholonomic::new(Restitution::Elastic)?;
    let rough = Rough::new(1.0)?;
    let laws: [(&str, &dyn ImpactLaw, Color); 2] = [
        ("smooth", &smooth, Color::Blue),
        ("rough", &rough, Color::Orange),
    ];
    for (name, law, color) in laws {
        let (hits, ending) = follow(&ball, law, start, Limits::impacts(config.impacts)).map_err(
            |error| match error {
                BilliardError::PenetratingStart { .. } => ScenarioError::value("position", error),
                other => other.into(),
            },
        )?;
        record.status = status(ending);
        for mut quantity in quantities(&hits) {
            quantity.name = format!("{name}_{}", quantity.name);
            record.quantities.push(quantity);
        }
        if name == "smooth" {
            record.quantities.extend(focal_product(&start, &hits, a, b));
        }
        let mut rows = table(
            &hits,
            &format!("State after each impact on {name} cushions."),
            &[
                ("x", "m"),
                ("y", "m"),
                ("velocity_x", "m/s"),
                ("velocity_y", "m/s"),
                ("spin", "rad/s"),
            ],
            |hit| {
                let s = &hit.state;
                vec![
                    s.position.x,
                    s.position.y,
                    s.velocity.x,
                    s.velocity.y,
                    s.spin,
                ]
            },
        );
        rows.name = format!("{name}-impacts");
        record.tables.push(rows);
        let place = |s: &BallState| [s.position.x, s.position.y];
        let (x, y) = path(&start, &hits, 1, |s, t| ball.flow(s, t), place);
        let outline = TableConfig {
            semi_axes: config.semi_axes,
            ..TableConfig::default()
        };
        let played = motion(
            (
                &format!("{name}-motion"),
                &format!("The run, {name} cushions"),
                "The first impacts, from above. The table is that of the center, which a point \
                 shows.",
            ),
            &start,
            &hits,
            |s, t| ball.flow(s, t),
            vec![Outline::disk([0.0; 2], POINT * a.min(b), color)],
            |s| [s.position.x, s.position.y, 0.0],
        );
        record.animations.push(played.fixed(outline.wall()));
        record.figures.push(
            drawing(
                &outline,
                &format!("{name}-cushions"),
                &format!("Rolling ball, {name} cushions"),
                "Path of the center.",
            )
            .mark(Mark::line("center", x, y, color)),
        );
    }
    Ok(record)
}

/// The product of the angular momenta about the foci, at the end and at the start.
fn focal_product(start: &BallState, hits: &[Hit<BallState>], a: f64, b: f64) -> Option<Quantity> {
    let distance = (a * a - b * b).abs().sqrt();
    let focus = if a > b {
        Vector2::new(distance, 0.0)
    } else {
        Vector2::new(0.0, distance)
    };
    let product = |s: &BallState| {
        (s.position - focus).perp(&s.velocity) * (s.position + focus).perp(&s.velocity)
    };
    let last = hits.last()?;
    Some(
        Quantity::new(
            "smooth_focal_product_m4_per_s2",
            product(&last.state),
            "m^4/s^2",
        )
        .paper(product(start), "invariant of the elliptical billiard"),
    )
}
