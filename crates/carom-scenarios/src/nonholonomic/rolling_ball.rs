//! A ball that rolls between smooth or rough cushions.

use crate::ScenarioError;
use crate::config::{Count, Input, Positive};
use crate::nonholonomic::hybrid_model::{motion, name_laws, note, path, quantities, table};
use crate::nonholonomic::penny_model::{TableConfig, drawing};
use carom_motion::hybrid::Limits;

use carom_contact::ImpactLaw;
use carom_impact::{Nonholonomic, Restitution, Rough};
use carom_motion::billiard::rolling_ball::{BallState, RollingBall};
use carom_motion::billiard::system::{Billiard, Hit, follow};
use carom_motion::billiard::{BilliardError, Ellipse};
use carom_report::animation::Outline;
use carom_report::record::{Color, Quantity, Record};
use nalgebra::Vector2;
use serde::Deserialize;

/// Radius of the dot that marks the center, divided by the shorter semi-axis.
const POINT: f64 = 0.04;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    impacts: Count<1, 10_000>,
    semi_axes: Positive<[f64; 2]>,
    mass: Positive,
    radius: Positive,
    inertia: Positive,
    position: [f64; 2],
    velocity: [f64; 2],
    spin: f64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let [a, b] = *config.semi_axes;
    let table_shape = Ellipse::new(a, b)?;
    let ball = RollingBall::new(*config.mass, *config.radius, *config.inertia, table_shape)?;
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
    name_laws(&laws.map(|(_, law, _)| law.name()), &mut record);
    for (name, law, color) in laws {
        let (hits, ending) = follow(&ball, law, start, Limits::impacts(*config.impacts)).map_err(
            |error| match error {
                BilliardError::PenetratingStart { .. } => ScenarioError::value("position", error),
                other => other.into(),
            },
        )?;
        note(name, (&hits, ending), *config.impacts, &mut record)?;
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
            "x [m], y [m], velocity_x [m/s], velocity_y [m/s], spin [rad/s]",
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
        let outline = TableConfig::ellipse(*config.semi_axes);
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
        drawing(&outline, &format!("rolling-ball/{name}-cushions"))
            .with("center", x, y)
            .draw(&mut record)?;
    }
    Ok(record)
}

/// Compares the product of the angular momenta (per unit mass) about the two foci of an elliptic table at the end of a run with
/// the product at the start. For a smooth ball this product is constant. `a` and `b`: semi-axes of the ellipse (m). `None`
/// without impacts.
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
        .closed_form(product(start), "invariant of the elliptical billiard"),
    )
}
