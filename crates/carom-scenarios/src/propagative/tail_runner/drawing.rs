//! Drawings of the robot to scale.

use super::robot::{Outline, Stance, TailRunner};
use carom_report::record::{Color, Figure, LineStyle, Mark};

/// Side of the square cross-section of a limb, 1.25 cm² in area (cm).
const LIMB_WIDTH: f64 = 1.118_033_988_749_895;

/// Draws the robot into a figure, with a label below it. `stance`: its coordinates; `shift`: displacement along the floor
/// (cm).
pub(super) fn robot(
    figure: &mut Figure,
    robot: &TailRunner,
    stance: &Stance,
    shift: f64,
    label: &str,
) {
    let outline = robot.outline(stance);
    let [anterior, posterior] = [outline.hip, outline.posterior];
    let at = |[x, y]: [f64; 2]| [x + shift, y];
    // The right leg is behind the body.
    let [left, right] = outline.legs;
    for ([knee, foot], color) in [(right, Color::Gray), (left, Color::Blue)] {
        if color == Color::Blue {
            figure
                .marks
                .push(limb(at(posterior), at(outline.tail_tip), Color::Green));
            for (center, radius) in [
                (posterior, robot.lengths.posterior_radius),
                (anterior, robot.lengths.anterior_radius),
            ] {
                let [x, y] = at(center);
                figure.marks.push(Mark::Disk {
                    x,
                    y,
                    radius,
                    label: None,
                    color: Color::Orange,
                });
            }
        }
        figure.marks.push(limb(at(outline.hip), at(knee), color));
        figure.marks.push(limb(at(knee), at(foot), color));
    }
    if label.is_empty() {
        return;
    }
    figure.marks.push(Mark::Text {
        x: shift + 0.5 * outline.tail_tip[0],
        y: -4.0,
        text: label.to_owned(),
    });
}

/// Draws the floor below the robot, from one abscissa to another (cm).
pub(super) fn floor(from: f64, to: f64) -> Mark {
    Mark::path(vec![from, to], vec![0.0, 0.0], Color::Black)
}

fn limb(from: [f64; 2], to: [f64; 2], color: Color) -> Mark {
    let corners = limb_corners(from, to);
    Mark::Polygon {
        x: corners.iter().map(|corner| corner[0]).collect(),
        y: corners.iter().map(|corner| corner[1]).collect(),
        color,
    }
}

/// Returns the corners of the rectangle that shows a limb or the tail between two points, with its true width (cm).
pub(super) fn limb_corners(from: [f64; 2], to: [f64; 2]) -> [[f64; 2]; 4] {
    let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    let half = 0.5 * LIMB_WIDTH / libm::hypot(dx, dy);
    let (nx, ny) = (-half * dy, half * dx);
    [
        [from[0] + nx, from[1] + ny],
        [to[0] + nx, to[1] + ny],
        [to[0] - nx, to[1] - ny],
        [from[0] - nx, from[1] - ny],
    ]
}

/// Draws the angles of the robot as arcs at its joints, with their names. `stance`: the robot's coordinates.
pub(super) fn schematic(figure: &mut Figure, robot: &TailRunner, stance: &Stance) {
    let Outline {
        hip,
        posterior,
        legs: [[left_knee, _], [right_knee, _]],
        ..
    } = robot.outline(stance);
    let [_, _, theta, hip_l, knee_l, hip_r, knee_r, tail] = *stance;
    let tail_reach = robot.lengths.posterior_radius;
    // Arcs: joint, direction from which the angle is measured, angle, radius, name.
    let arcs = [
        (hip, 0.0, theta, 4.0, "θ"),
        (hip, theta, hip_l, 6.0, "φ_L"),
        (hip, theta, hip_r, 8.0, "φ_R"),
        (left_knee, theta + hip_l, knee_l, 3.0, "γ_L"),
        (right_knee, theta + hip_r, knee_r, 3.0, "γ_R"),
        (posterior, theta, tail, 2.0 * tail_reach, "φ_T"),
    ];
    for (center, from, angle, radius, name) in arcs {
        let point = |angle: f64, radius: f64| {
            [
                center[0] + radius * libm::cos(angle),
                center[1] + radius * libm::sin(angle),
            ]
        };
        let arc: Vec<[f64; 2]> = (0..=48)
            .map(|k| point(from + angle * f64::from(k) / 48.0, radius))
            .collect();
        figure.marks.push(
            Mark::path(
                vec![center[0], point(from, radius + 2.0)[0]],
                vec![center[1], point(from, radius + 2.0)[1]],
                Color::Black,
            )
            .style(LineStyle::Dotted),
        );
        figure.marks.push(Mark::path(
            arc.iter().map(|p| p[0]).collect(),
            arc.iter().map(|p| p[1]).collect(),
            Color::Vermillion,
        ));
        let [x, y] = point(from + 0.5 * angle, radius + 1.3);
        figure.marks.push(Mark::Text {
            x,
            y,
            text: name.to_owned(),
        });
    }
}
