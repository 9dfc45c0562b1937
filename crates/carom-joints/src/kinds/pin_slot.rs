use super::{Axes, Condition, Coordinate, Geometry, Kind, Rows};
use crate::frames::{Frames, Row, turn};
use nalgebra::Vector3;

/// Pin-slot joint (`pin-slot`): a pin of the child in a straight slot of the parent. Its coordinates are the displacement along
/// the slot (x) and the angle about the pin (y), which is orthogonal to the slot.
pub(super) static KIND: Kind = Kind {
    name: "pin-slot",
    conditions: &[
        Condition::Across(1),
        Condition::Across(2),
        Condition::Orthogonal(0, 1),
        Condition::Orthogonal(2, 1),
    ],
    coordinates: &[
        Coordinate::displacement("displacement"),
        Coordinate::angle("angle"),
    ],
    axes: Axes::Two,
    measure: |_, frames, _, out| {
        out[0] = frames.parent.axis(0).dot(&frames.separation());
        let d = frames.relative();
        out[1] = libm::atan2(d.m13 - d.m31, d.m11 + d.m33);
    },
    place: |_, q| (Vector3::x() * q[0], turn(&Vector3::y(), q[1])),
    rates,
};

fn rates(_: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    rows.push(Row::sliding_force(frames, frames.parent.axis(0)));
    rows.push(Row::couple(frames, frames.parent.axis(1)));
}
