//! The bouncing penny against 80-digit arithmetic, closed forms and properties.
#![allow(
    clippy::excessive_precision,
    reason = "digits as their source has them"
)]

use super::common::{paper_penny, paper_start, relative};
use carom_motion::billiard::Ellipse;
use carom_motion::hybrid::{Ending, Limits};

use carom_impact::Restitution;
use carom_motion::billiard::penny::PennyBilliard;

/// One row of a reference table: rim, the numbers of the row, its honest tolerance.
struct Row {
    rim: &'static str,
    numbers: [f64; 8],
    tolerance: f64,
}

fn table(text: &'static str) -> Vec<Row> {
    let rows = text.lines().skip(1).map(|line| {
        let (rim, rest) = line.split_once(',').unwrap();
        let values: Vec<f64> = rest.split(',').map(|x| x.parse().unwrap()).collect();
        Row {
            rim,
            numbers: values[..8].try_into().unwrap(),
            tolerance: values[8],
        }
    });
    rows.collect()
}

/// Largest error of each row in the scales of the motion: positions by 0.2 m, angles by 1 rad,
/// $\Omega$ by 10, $\omega$ by 25, time by 1 s; and the relative error of the normal velocity.
fn errors(axes: [f64; 2], restitution: Restitution, rows: &[Row]) -> Vec<(f64, f64)> {
    let billiard = PennyBilliard::new(
        paper_penny(),
        Ellipse::new(axes[0], axes[1]).unwrap(),
        restitution,
    )
    .unwrap();
    let run = billiard
        .run(paper_start(), Limits::impacts(rows.len()))
        .unwrap();
    assert_eq!(run.ending, Ending::MaxImpacts);
    assert_eq!(run.events.len(), rows.len());
    let compare = |(event, row): (&carom_motion::billiard::penny::Event, &Row)| {
        assert_eq!(event.rim.name(), row.rim, "at {}", row.numbers[0]);
        let s = &event.state;
        let found = [event.time, s.x, s.y, s.theta, s.phi, s.theta_dot, s.phi_dot];
        let scales = [1.0, 0.2, 0.2, 1.0, 1.0, 10.0, 25.0];
        let scaled = found
            .iter()
            .zip(&row.numbers)
            .zip(scales)
            .map(|((a, b), scale)| (a - b).abs() / scale);
        let worst = scaled.fold(0.0, |m: f64, x| if x.is_nan() { x } else { m.max(x) });
        (worst, relative(event.normal_velocity, row.numbers[7]))
    };
    run.events.iter().zip(rows).map(compare).collect()
}

/// Every row within a fixed tolerance, and early rows within ten times their own.
fn reproduces(
    name: &str,
    axes: [f64; 2],
    restitution: Restitution,
    text: &'static str,
    tolerance: f64,
) {
    let rows = table(text);
    let errors = errors(axes, restitution, &rows);
    for (k, ((state, speed), row)) in errors.iter().zip(&rows).enumerate() {
        assert!(*state <= tolerance, "{name}, impact {}: {state:e}", k + 1);
        assert!(*speed <= 1e-10, "{name}, impact {}: {speed:e}", k + 1);
        assert!(
            *state <= 10.0 * row.tolerance.max(1e-13),
            "{name}, impact {}",
            k + 1
        );
    }
}

/// Clark & Bloch, Figs. 1-4; the paper prints no numbers, these are from 80-digit arithmetic.
#[test]
fn the_four_figures_are_reproduced_impact_by_impact() {
    let circle = [0.2, 0.2];
    let ellipse = [0.15, 0.2];
    let elastic = Restitution::Elastic;
    let projected = Restitution::Projected;
    reproduces(
        "Fig. 1",
        circle,
        elastic,
        include_str!("data/circle_elastic.csv"),
        1e-10,
    );
    reproduces(
        "Fig. 2",
        circle,
        projected,
        include_str!("data/circle_projected.csv"),
        1e-12,
    );
    reproduces(
        "Fig. 3",
        ellipse,
        elastic,
        include_str!("data/ellipse_elastic.csv"),
        1e-10,
    );
    reproduces(
        "Fig. 4",
        ellipse,
        projected,
        include_str!("data/ellipse_projected.csv"),
        1e-12,
    );
}
