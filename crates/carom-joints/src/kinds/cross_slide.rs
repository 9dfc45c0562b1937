use super::{Axes, Condition, Coordinate, Geometry, Kind, Rows};
use crate::frames::{Frames, Row};
use nalgebra::{Matrix3, Vector3};

/// Cross slide (`cross-slide`): displacements $x_1$, $x_2$ along two directions $u_1$, $u_2$ that are fixed in the parent,
/// $d = x_1u_1 + x_2u_2$, without rotation. The frames have x along $u_1$ and z normal to both directions, which need not be
/// orthogonal.
pub(super) static KIND: Kind = Kind {
    name: "cross-slide",
    conditions: &[
        Condition::Across(2),
        Condition::Orthogonal(0, 1),
        Condition::Orthogonal(1, 2),
        Condition::Orthogonal(2, 0),
    ],
    coordinates: &[
        Coordinate::displacement("displacement1"),
        Coordinate::displacement("displacement2"),
    ],
    axes: Axes::Oblique(2),
    measure: |geometry, frames, _, out| {
        let d = frames.separation();
        for (out, along) in out.iter_mut().zip(along(geometry)) {
            *out = (frames.parent.axes * along).dot(&d);
        }
    },
    place: |geometry, q| {
        let [first, second, _] = geometry.axes;
        (first * q[0] + second * q[1], Matrix3::identity())
    },
    rates,
};

/// Returns the two vectors in the plane of the slides whose scalar products with $d$ are the displacements: the vectors dual to
/// the directions of the slides, in the parent's frame.
fn along(geometry: &Geometry) -> [Vector3<f64>; 2] {
    let [_, second, _] = geometry.axes;
    let (cosine, sine) = (second.x, second.y);
    [
        Vector3::new(1.0, -cosine / sine, 0.0),
        Vector3::new(0.0, 1.0 / sine, 0.0),
    ]
}

fn rates(geometry: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    for along in along(geometry) {
        rows.push(Row::sliding_force(frames, frames.parent.axes * along));
    }
}
