//! Animation of a mechanism: links are drawn through their known points, together with the lines that they touch.

use super::config::Scene;
use crate::propagative::played::Played;
use carom_mechanism::planar::Link;
use carom_motion::generalized::Trajectory;
use carom_report::animation::{Animation, Outline};
use carom_report::record::Color;

/// Radius of a drawn mass, as a fraction of the largest link.
const MASS: f64 = 0.04;

/// Largest number of configurations from which the drawn length of lines is determined, and of points of a path.
pub(super) const LOOKS: usize = 200;

/// Drawing of a link, in the frame of the link (m).
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) link: Link,
    pub(super) name: String,
    /// Contact points.
    pub(super) corners: Vec<[f64; 2]>,
    /// Centers and radii of wheels.
    pub(super) wheels: Vec<([f64; 2], f64)>,
    /// Joints to other links.
    pub(super) joints: Vec<[f64; 2]>,
    /// Centers of mass.
    pub(super) masses: Vec<[f64; 2]>,
}

impl Drawing {
    pub(super) fn new(link: Link, name: &str) -> Self {
        Self {
            link,
            name: name.to_owned(),
            corners: Vec::new(),
            wheels: Vec::new(),
            joints: Vec::new(),
            masses: Vec::new(),
        }
    }

    fn points(&self) -> impl Iterator<Item = &[f64; 2]> {
        let wheels = self.wheels.iter().map(|(center, _)| center);
        let others = self.joints.iter().chain(&self.masses);
        self.corners.iter().chain(wheels).chain(others)
    }

    /// Returns the largest distance (m) of the drawn points and wheels of a link from the origin of the link's frame.
    fn reach(&self) -> f64 {
        let far = self
            .points()
            .map(|[x, y]| libm::hypot(*x, *y))
            .fold(0.0, f64::max);
        self.wheels.iter().fold(far, |far, ([x, y], radius)| {
            f64::max(far, libm::hypot(*x, *y) + radius)
        })
    }

    /// Returns the outlines that draw a link. Three or more corners form a polygon; otherwise every point is connected to the
    /// origin of the link's frame. `size`: largest reach of a link (m), which determines the size of the dots for masses.
    fn outlines(&self, size: f64, color: Color) -> Vec<Outline> {
        let mut out = Vec::new();
        if self.corners.len() >= 3 {
            out.push(Outline::polygon(around(&self.corners), color));
        } else {
            let arms = self.points().filter(|point| **point != [0.0; 2]);
            out.extend(arms.map(|point| Outline::line([[0.0; 2], *point], color)));
        }
        let wheels = self.wheels.iter().filter(|(_, radius)| *radius > 0.0);
        out.extend(wheels.map(|(center, radius)| Outline::disk(*center, *radius, color)));
        let masses = self.masses.iter();
        out.extend(masses.map(|center| Outline::disk(*center, MASS * size, color)));
        if out.is_empty() {
            out.push(Outline::disk([0.0; 2], MASS * size, color));
        }
        out
    }
}

/// Sorts points by their angle about their mean, so that they form a polygon.
fn around(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = points.len() as f64;
    let middle = [0, 1].map(|k| points.iter().map(|point| point[k]).sum::<f64>() / n);
    let angle = |point: &[f64; 2]| libm::atan2(point[1] - middle[1], point[0] - middle[0]);
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    sorted
}

/// Creates the animation of a planar mechanism from a recorded run.
pub(super) fn playback(scene: &Scene, run: &Trajectory) -> Animation {
    let reaches = scene.drawings.iter().map(Drawing::reach);
    let reach = reaches.fold(0.0, f64::max);
    let size = if reach > 0.0 { reach } else { 1.0 };
    let played = Played::new(run);
    let mut animation = played.animation(
        "motion",
        "The mechanism in motion",
        "Links are drawn through their joints, centers of mass and points that touch; lines are what \
         these can touch.",
    );
    let stride = run.states.len().div_ceil(LOOKS).max(1);
    for [point, normal] in &scene.lines {
        let direction = [normal[1], -normal[0]];
        let along =
            |at: [f64; 2]| direction[0] * (at[0] - point[0]) + direction[1] * (at[1] - point[1]);
        let (mut low, mut high) = (0.0, 0.0);
        for state in run.states.iter().step_by(stride) {
            for drawing in &scene.drawings {
                let q = state.configuration.as_slice();
                let at = scene.mechanism.point(drawing.link, [0.0; 2], q);
                let s = at.map_or(0.0, along);
                (low, high) = (f64::min(low, s), f64::max(high, s));
            }
        }
        let end = |s: f64| [0, 1].map(|k| point[k] + s * direction[k]);
        let ends = [end(low - size), end(high + size)];
        animation = animation.fixed(Outline::line(ends, Color::Gray));
    }
    let colors = [Color::Blue, Color::Vermillion, Color::Green, Color::Purple];
    for (drawing, color) in scene.drawings.iter().zip(colors.iter().cycle()) {
        let link = drawing.link;
        let body = played.body(drawing.outlines(size, *color), |q| {
            let [x, y] = scene.mechanism.point(link, [0.0; 2], q).unwrap_or_default();
            [x, y, scene.mechanism.angle(link, q).unwrap_or_default()]
        });
        animation = animation.body(body.label(drawing.name.as_str()));
    }
    animation
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners in any order are the outline of the same box.
    #[test]
    fn corners_are_joined_around_the_body() {
        let corners = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]];
        let ordered = around(&corners);
        for k in 0..4 {
            let ([a, b], [c, d]) = (ordered[k], ordered[(k + 1) % 4]);
            assert!((a - c).abs() + (b - d).abs() == 2.0);
        }
    }
}
