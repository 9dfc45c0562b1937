use super::{Axes, Condition, Coordinate, Kind, Rows, at_rest, no_coordinates};
use crate::frames::{Frames, Row, angle_about};
use nalgebra::Vector3;

/// Conditions under which the origins of both frames coincide.
pub(super) const POINTS: [Condition; 3] = [
    Condition::Coincide(0),
    Condition::Coincide(1),
    Condition::Coincide(2),
];

/// Spherical joint (`spherical`). A quaternion gives its attitude; its rates are the angular velocity of the child relative to
/// the parent, in the parent's frame.
pub(super) static KIND: Kind = Kind {
    name: "spherical",
    conditions: &POINTS,
    coordinates: &[],
    axes: Axes::None,
    measure: no_coordinates,
    place: at_rest,
    rates: |_, frames: &Frames, _, rows: &mut Rows| couples(frames, rows),
};

/// Spherical joint whose rotation angle has a limit. The angle is a coordinate; the row of its rate comes before the rate rows of
/// [`KIND`].
pub(super) static BOUNDED: Kind = Kind {
    name: "spherical",
    conditions: &POINTS,
    coordinates: &[Coordinate::angle("")],
    axes: Axes::None,
    measure: |_, frames, _, out| out[0] = rotation(frames).0,
    place: at_rest,
    rates: |_, frames: &Frames, _, rows: &mut Rows| {
        rows.push(rotation(frames).1);
        couples(frames, rows);
    },
};

fn couples(frames: &Frames, rows: &mut Rows) {
    for k in 0..3 {
        let axis: Vector3<f64> = frames.parent.axis(k);
        rows.push(Row::couple(frames, axis));
    }
}

/// Returns the rotation angle (rad) of a spherical joint, in \[0, π\], and the Jacobian row whose rate is the rate of this angle.
/// At the angles 0 and π the axis of the row is arbitrary.
pub(crate) fn rotation(frames: &Frames) -> (f64, Row) {
    let turned = frames.relative();
    let twice_sine = Vector3::new(
        turned.m32 - turned.m23,
        turned.m13 - turned.m31,
        turned.m21 - turned.m12,
    );
    let length = twice_sine.norm();
    let axis = if length > 0.0 {
        twice_sine / length
    } else {
        Vector3::x()
    };
    let angle = angle_about(&axis, &turned);
    (angle, Row::couple(frames, frames.parent.axes * axis))
}
