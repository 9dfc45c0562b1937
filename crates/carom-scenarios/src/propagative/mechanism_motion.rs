//! Animations of planar mechanisms.

use crate::propagative::mechanism_run::AuditedRun;
use crate::propagative::played::Played;
use carom_mechanism::planar::{Link, PlanarMechanism};
use carom_report::animation::{Animation, Outline};
use carom_report::record::Color;

/// Radius of a drawn joint divided by the length of its rod.
const JOINT: f64 = 0.03;

/// Builds the animation of a mechanism's run. `rods`: link of each rod, and the rod's length (m) along the first axis of the
/// link.
pub(crate) fn motion(
    title: &str,
    caption: &str,
    mechanism: &PlanarMechanism,
    rods: &[(Link, f64)],
    run: &AuditedRun,
) -> Animation {
    let played = Played::new(&run.trajectory);
    let mut animation = played.animation("motion", title, caption);
    for (k, &(link, length)) in rods.iter().enumerate() {
        let color = if k % 2 == 0 { Color::Blue } else { Color::Sky };
        let outlines = vec![
            Outline::line([[0.0, 0.0], [length, 0.0]], color),
            Outline::disk([0.0, 0.0], JOINT * length, color),
            Outline::disk([length, 0.0], JOINT * length, color),
        ];
        animation = animation.body(played.body(outlines, |q| pose(mechanism, link, q)));
    }
    animation
}

/// Returns the position x, y (m) and the angle (rad) of a link in the configuration `q` of the mechanism.
pub(crate) fn pose(mechanism: &PlanarMechanism, link: Link, q: &[f64]) -> [f64; 3] {
    let [x, y] = mechanism.point(link, [0.0, 0.0], q).unwrap_or_default();
    [x, y, mechanism.angle(link, q).unwrap_or_default()]
}
