use super::{Axes, Condition, Coordinate, Geometry, Kind, Rows, revolute};
use crate::frames::{Frames, Row, turn};
use nalgebra::Vector3;

/// Planar joint (`planar`): two displacements in the parent's plane and the angle about its normal.
pub(super) static KIND: Kind = Kind {
    name: "planar",
    conditions: &[
        Condition::Across(2),
        Condition::Orthogonal(0, 2),
        Condition::Orthogonal(1, 2),
    ],
    coordinates: &[
        Coordinate::displacement("x"),
        Coordinate::displacement("y"),
        Coordinate::angle("angle"),
    ],
    axes: Axes::None,
    measure: |_, frames, _, out| {
        let d = frames.separation();
        out[0] = frames.parent.axis(0).dot(&d);
        out[1] = frames.parent.axis(1).dot(&d);
        out[2] = revolute::angle(frames);
    },
    place: |_, q| (Vector3::new(q[0], q[1], 0.0), turn(&Vector3::z(), q[2])),
    rates,
};

fn rates(_: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    rows.push(Row::sliding_force(frames, frames.parent.axis(0)));
    rows.push(Row::sliding_force(frames, frames.parent.axis(1)));
    rows.push(Row::couple(frames, frames.parent.axis(2)));
}
