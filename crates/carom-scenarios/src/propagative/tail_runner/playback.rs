//! Animation of the dropped robot.

use super::drawing::limb_corners;
use super::robot::{Handles, TailRunner};
use crate::propagative::mechanism_motion::pose;
use crate::propagative::played::Played;
use carom_mechanism::planar::Link;
use carom_motion::generalized::Trajectory;
use carom_report::animation::{Animation, Outline};
use carom_report::record::Color;

/// Builds the animation of a run of the robot. `gait`: name of the gait, for the title.
pub(super) fn motion(gait: &str, robot: &TailRunner, run: &Trajectory) -> Animation {
    let Handles {
        anterior,
        legs: [left, right],
        posterior,
    } = robot.handles;
    let lengths = &robot.lengths;
    let played = Played::new(run);
    let ball = |x: f64, radius| Outline::disk([x, 0.0], radius, Color::Orange);
    let limb =
        |from: f64, to: f64, color| Outline::polygon(limb_corners([from, 0.0], [to, 0.0]), color);
    let leg = |[thigh, shank]: [Link; 2], color| {
        [
            (thigh, vec![limb(0.0, lengths.thigh, color)]),
            (shank, vec![limb(0.0, lengths.shank, color)]),
        ]
    };
    let trunk = [
        (
            posterior,
            vec![
                limb(robot.posterior_center, robot.tail_tip, Color::Green),
                ball(robot.posterior_center, lengths.posterior_radius),
            ],
        ),
        (anterior, vec![ball(0.0, lengths.anterior_radius)]),
    ];
    // The right leg is behind the body.
    let bodies = leg(right, Color::Gray)
        .into_iter()
        .chain(trunk)
        .chain(leg(left, Color::Blue));
    let reach = 3.0 * lengths.anterior_radius;
    let mut animation = played
        .animation(
            gait,
            &format!("The {gait} gait dropped"),
            "Tail and left foot hit together; of two approaching contacts the faster one is reflected \
             first. Lengths in cm.",
        )
        .fixed(Outline::line([[-reach, 0.0], [2.0 * reach, 0.0]], Color::Gray));
    for (link, outlines) in bodies {
        animation = animation.body(played.body(outlines, |q| pose(&robot.mechanism, link, q)));
    }
    animation
}
