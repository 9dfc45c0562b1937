use super::{Axes, Condition, Coordinate, Geometry, Kind, Rows};
use crate::frames::{Frames, Row, turn};
use nalgebra::Vector3;

/// Universal joint (`universal`): two angles about intersecting axes, the first fixed in the parent (x), the second in the child
/// (y).
pub(super) static KIND: Kind = Kind {
    name: "universal",
    conditions: &[
        Condition::Coincide(0),
        Condition::Coincide(1),
        Condition::Coincide(2),
        Condition::Orthogonal(0, 1),
    ],
    coordinates: &[Coordinate::angle("angle1"), Coordinate::angle("angle2")],
    axes: Axes::Two,
    measure: |_, frames, _, out| {
        let d = frames.relative();
        out[0] = libm::atan2(d.m32, d.m22);
        out[1] = libm::atan2(d.m13, d.m11);
    },
    place: |_, q| {
        let d = turn(&Vector3::x(), q[0]) * turn(&Vector3::y(), q[1]);
        (Vector3::zeros(), d)
    },
    rates,
};

fn rates(_: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    rows.push(Row::couple(frames, frames.parent.axis(0)));
    rows.push(Row::couple(frames, frames.child.axis(1)));
}
