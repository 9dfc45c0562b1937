use super::{Axes, Condition, Coordinate, Geometry, Kind, Rows};
use crate::frames::{Frames, Row};
use nalgebra::{Matrix3, Vector3};

/// Prismatic joint (`prismatic`): one displacement along an axis.
pub(super) static KIND: Kind = Kind {
    name: "prismatic",
    conditions: &[
        Condition::Across(0),
        Condition::Across(1),
        Condition::Orthogonal(0, 1),
        Condition::Orthogonal(1, 2),
        Condition::Orthogonal(2, 0),
    ],
    coordinates: &[Coordinate::displacement("")],
    axes: Axes::One,
    measure: |_, frames, _, out| out[0] = frames.parent.axis(2).dot(&frames.separation()),
    place: |_, q| (Vector3::new(0.0, 0.0, q[0]), Matrix3::identity()),
    rates,
};

fn rates(_: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    rows.push(Row::sliding_force(frames, frames.parent.axis(2)));
}
