use super::{Axes, Condition, Coordinate, Geometry, Kind, Rows, revolute};
use crate::frames::{Frames, Row, turn};
use nalgebra::Vector3;

/// Cylindrical joint (`cylindrical`): a displacement along an axis and an angle about it.
pub(super) static KIND: Kind = Kind {
    name: "cylindrical",
    conditions: &[
        Condition::Across(0),
        Condition::Across(1),
        Condition::Orthogonal(0, 2),
        Condition::Orthogonal(1, 2),
    ],
    coordinates: &[
        Coordinate::displacement("displacement"),
        Coordinate::angle("angle"),
    ],
    axes: Axes::One,
    measure: |_, frames, _, out| {
        out[0] = frames.parent.axis(2).dot(&frames.separation());
        out[1] = revolute::angle(frames);
    },
    place: |_, q| (Vector3::new(0.0, 0.0, q[0]), turn(&Vector3::z(), q[1])),
    rates,
};

fn rates(_: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    rows.push(Row::sliding_force(frames, frames.parent.axis(2)));
    rows.push(Row::couple(frames, frames.parent.axis(2)));
}
