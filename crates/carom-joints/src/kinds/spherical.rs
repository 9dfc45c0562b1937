use super::{Axes, Condition, Kind, Rows, at_rest, no_coordinates};
use crate::frames::{Frames, Row};
use nalgebra::Vector3;

/// Conditions under which the origins coincide.
pub(super) const POINTS: [Condition; 3] = [
    Condition::Coincide(0),
    Condition::Coincide(1),
    Condition::Coincide(2),
];

/// A ball joint (`spherical`): its position is a quaternion, its rates the angular velocity of the child against the
/// parent in the parent's frame.
pub(super) static KIND: Kind = Kind {
    name: "spherical",
    conditions: &POINTS,
    coordinates: &[],
    axes: Axes::None,
    measure: no_coordinates,
    place: at_rest,
    rates: |_, frames: &Frames, _, rows: &mut Rows| {
        for k in 0..3 {
            let axis: Vector3<f64> = frames.parent.axis(k);
            rows.push(Row::couple(frames, axis));
        }
    },
};
