//! Detection of lengths that are probably not in metres.

use crate::robust::quantile;
use crate::{Poses, Setup};

/// Standard gravity (m/s²), for setups in which gravity is not given.
pub(crate) const STANDARD_GRAVITY: f64 = 9.80665;
/// Quantile of the accelerations that is taken as gravity: a body that rests for half of the time still flies
/// for more than a quarter of it.
const FLIGHT_SHARE: f64 = 0.75;
/// Largest factor between the expected and the found gravity. It covers gravity on other celestial bodies and
/// errors of a tracker.
const FACTOR: f64 = 3.0;
/// If the body is this many times larger than the space in which it moves, its vertices and positions have
/// different units.
const TOO_LARGE: f64 = 20.0;
/// Units that trackers use instead of metres: name and number of units per metre.
const UNITS: [(&str, f64); 3] = [
    ("centimetres", 1e2),
    ("millimetres", 1e3),
    ("inches", 1.0 / 0.0254),
];

/// Checks if positions and vertices are given in metres, and returns one sentence for each of the two that seems to have
/// another unit. Positions are suspect if the acceleration in flight is far from gravity, but equals gravity in centimetres,
/// millimetres or inches. Vertices are suspect if the body is more than 20 times larger than the space in which it moves.
#[must_use]
pub fn unit_warnings(poses: &[Poses], setup: &Setup) -> Vec<String> {
    let mut warnings = Vec::new();
    let (low, high) = extent(poses);
    if let Some((name, factor)) = unit_of_positions(poses, setup) {
        warnings.push(format!(
            "positions x, y, z of {low:.3} to {high:.3}: metres? The body would fall at {factor:.0} times gravity; they look \
             like {name}"
        ));
    }
    let size = setup
        .body
        .vertices
        .iter()
        .map(|v| v.norm())
        .fold(0.0, f64::max);
    let space = high - low;
    if space > 0.0 && size > TOO_LARGE * space {
        warnings.push(format!(
            "body.vertices up to {size:.3} from the center: metres? The body moves within {space:.3} m"
        ));
    }
    warnings
}

/// Returns the smallest and the largest of all coordinates of the recorded positions (m).
fn extent(poses: &[Poses]) -> (f64, f64) {
    let all = poses.iter().flat_map(|toss| &toss.position);
    all.flat_map(|x| x.iter().copied())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        })
}

/// Guesses the unit of length of recorded positions that are not in metres. Returns the name of the unit in which the
/// acceleration in flight is that of gravity, and this acceleration as a multiple of gravity if the positions are
/// read as metres. `None` if the metre fits best.
fn unit_of_positions(poses: &[Poses], setup: &Setup) -> Option<(&'static str, f64)> {
    let mut accelerations = Vec::new();
    for toss in poses {
        let step = toss.time_step();
        for three in toss.position.windows(3) {
            if let [a, b, c] = three
                && step > 0.0
            {
                accelerations.push((a - b * 2.0 + c).norm() / (step * step));
            }
        }
    }
    let found = quantile(&mut accelerations, FLIGHT_SHARE)?;
    let gravity = setup.gravity.map_or(STANDARD_GRAVITY, |g| g.norm());
    let factor = found / gravity;
    let distance = |unit: f64| libm::log(factor / unit).abs();
    let near = |(_, unit): &(&str, f64)| {
        distance(*unit) <= libm::log(FACTOR) && distance(*unit) < distance(1.0)
    };
    UNITS
        .into_iter()
        .filter(near)
        .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))
        .map(|(name, _)| (name, factor))
}
