//! Normal of two edges that lie along each other.

use super::part::{Core, Placed};
use super::tangents;
use crate::tolerances::NEARLY_EQUAL;
use nalgebra::{Vector2, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};

/// Returns the axis of the cone of normals of two polytopes that touch along an edge of each: a unit vector in space, from the
/// second body into the first. Every vector between the first and the last normal of the cone separates the bodies; the axis, half
/// way between these two, turns with the bodies and with their mirror image. `point` is a point of both edges (m) and `edge` their
/// direction. `None` for bodies without corners, and for edges that end in no faces.
pub fn axis_of_normals(
    a: &Placed<'_>,
    b: &Placed<'_>,
    point: &Vector3<f64>,
    edge: &Vector3<f64>,
) -> Option<Vector3<f64>> {
    let plane = tangents(&edge.try_normalize(0.0)?);
    let first = normals(a, point, &plane);
    // The normals of the second body point into it.
    let second = normals(b, point, &plane).map(|[low, high]| [low + PI, high + PI]);
    let [low, high] = match (first, second) {
        (Some([low, high]), Some([other_low, other_high])) => {
            let turns = (0.5 * (low + high - other_low - other_high) / (2.0 * PI)).round();
            let shift = 2.0 * PI * turns;
            [low.max(other_low + shift), high.min(other_high + shift)]
        }
        (one, None) | (None, one) => one?,
    };
    let angle = 0.5 * (low + high);
    Some(plane[0] * libm::cos(angle) + plane[1] * libm::sin(angle))
}

/// Returns the first and the last angle of the normals into a body at an edge through `point`, in the `plane` across the edge.
fn normals(body: &Placed<'_>, point: &Vector3<f64>, plane: &[Vector3<f64>; 2]) -> Option<[f64; 2]> {
    let Core::Vertices(vertices) = &body.part.core else {
        return None;
    };
    let flat = |vertex: &Vector3<f64>| {
        let from = body.outward(vertex) - point;
        let flat = Vector2::new(plane[0].dot(&from), plane[1].dot(&from));
        flat.try_normalize(NEARLY_EQUAL * body.part.bounding_radius())
    };
    let inside: Vector2<f64> = vertices.iter().filter_map(flat).sum();
    let inside = inside.try_normalize(0.0)?;
    let (mut least, mut most) = (0.0_f64, 0.0_f64);
    for direction in vertices.iter().filter_map(flat) {
        let angle = libm::atan2(inside.perp(&direction), inside.dot(&direction));
        (least, most) = (least.min(angle), most.max(angle));
    }
    let middle = libm::atan2(inside.y, inside.x);
    Some([middle + most - FRAC_PI_2, middle + least + FRAC_PI_2])
}
