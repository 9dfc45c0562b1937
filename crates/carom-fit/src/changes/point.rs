//! Velocities of another point than the center of mass; the outline is right.

use super::{Change, Direction, Kind};
use crate::states::State;
use crate::system::{PlanarBody, System};
use nalgebra::Vector2;

pub(super) static KIND: Kind = Kind {
    name: "point",
    choices: |system, _| choices(&KIND, system),
    velocity,
    words: |change| format!("velocities of a point {}", away(change)),
    ..Kind::NONE
};

/// Returns the change whose values are an offset: center of mass from the point, body axes (m). Offsets are sought within the
/// radius of the body.
pub(super) fn choices(kind: &'static Kind, system: &System) -> Vec<Change> {
    let Some(body) = system.planar() else {
        return Vec::new();
    };
    let radius = body.outline.radius();
    vec![Change {
        ranges: vec![[-radius, radius]; 2],
        ..kind.change(Vec::new(), Vec::new(), vec![0.0; 2])
    }]
}

/// Returns the offset in space axes, at the configuration of a state (m).
pub(super) fn arm(change: &Change, state: &State) -> Vector2<f64> {
    PlanarBody::turned(
        &state.configuration,
        Vector2::from_column_slice(&change.values),
    )
}

pub(super) fn velocity(change: &Change, state: &State, velocity: &mut [f64], way: Direction) {
    let arm = match way {
        Direction::Forth => arm(change, state),
        Direction::Back => -arm(change, state),
    };
    velocity[0] -= velocity[2] * arm.y;
    velocity[1] += velocity[2] * arm.x;
}

pub(super) fn away(change: &Change) -> String {
    let [x, y] = [0, 1].map(|k| 1e3 * change.values[k]);
    format!("from which the center of mass is {x:.2} mm, {y:.2} mm away")
}
