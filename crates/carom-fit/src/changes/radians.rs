//! Radians where the configuration says degrees.

use super::Kind;
use super::degrees::{angles, choices, rates, words};
use std::f64::consts::PI;

pub(super) static KIND: Kind = Kind {
    name: "radians",
    choices: |system, n| choices(&KIND, system, n),
    velocity: |change, _, velocity, way| rates(change, velocity, 180.0 / PI, way),
    rest: |change, _, _, state| angles(change, state, 180.0 / PI),
    words,
    ..Kind::NONE
};
