//! Angles that count clockwise.

use super::{Direction, Kind};

pub(super) static KIND: Kind = Kind {
    name: "angle-sense",
    choices: |system, _| match system.planar() {
        Some(_) => vec![KIND.change(Vec::new(), vec![2], Vec::new())],
        None => Vec::new(),
    },
    velocity: |change, _, velocity, way| change.scale(velocity, -1.0, way),
    rest: |change, _, _, state| {
        change.scale(&mut state.configuration, -1.0, Direction::Forth);
        true
    },
    words: |_| "the angle counting clockwise".to_owned(),
    ..Kind::NONE
};
