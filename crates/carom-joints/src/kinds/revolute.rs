use super::{Axes, Condition, Coordinate, Geometry, Kind, Rows};
use crate::frames::{Frames, Row, turn};
use nalgebra::Vector3;

/// Conditions under which the z axes of both frames lie on one line with coinciding origins.
pub(super) const HINGE: [Condition; 5] = [
    Condition::Coincide(0),
    Condition::Coincide(1),
    Condition::Coincide(2),
    Condition::Orthogonal(0, 2),
    Condition::Orthogonal(1, 2),
];

/// Returns the angle (rad) by which the child is rotated about the joint's z axis relative to the parent.
pub(super) fn angle(frames: &Frames) -> f64 {
    let d = frames.relative();
    libm::atan2(d.m21 - d.m12, d.m11 + d.m22)
}

/// Revolute joint (`revolute`): one angle about an axis.
pub(super) static KIND: Kind = Kind {
    name: "revolute",
    conditions: &HINGE,
    coordinates: &[Coordinate::angle("")],
    axes: Axes::One,
    measure: |_, frames, _, out| out[0] = angle(frames),
    place: |_, q| (Vector3::zeros(), turn(&Vector3::z(), q[0])),
    rates,
};

fn rates(_: &Geometry, frames: &Frames, _: &[f64], rows: &mut Rows) {
    rows.push(Row::couple(frames, frames.parent.axis(2)));
}
