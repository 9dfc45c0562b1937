//! Degrees where the configuration says radians.

use super::{Change, Direction, Kind};
use crate::states::State;
use crate::system::System;
use std::f64::consts::PI;

pub(super) static KIND: Kind = Kind {
    name: "degrees",
    choices: |system, n| choices(&KIND, system, n),
    velocity: |change, _, velocity, way| rates(change, velocity, PI / 180.0, way),
    rest: |change, _, _, state| angles(change, state, PI / 180.0),
    words,
    ..Kind::NONE
};

/// Name of the choice in which the rates are right.
const ANGLE: &str = "angle";
/// Name of the choice in which the angles are right.
const RATE: &str = "rate";

/// Returns the angles, their rates, or both, of a planar body; of lines each rate, and all rates if the angles are known.
pub(super) fn choices(kind: &'static Kind, system: &System, n: usize) -> Vec<Change> {
    let new =
        |choice: &str, places: Vec<usize>| kind.change(vec![choice.to_owned()], places, Vec::new());
    if system.planar().is_some() {
        return [ANGLE, RATE, "both"]
            .map(|choice| new(choice, vec![2]))
            .into();
    }
    let (names, angles) = (system.coordinates(n), system.angles());
    let places = angles.clone().unwrap_or_else(|| (0..n).collect());
    let mut found: Vec<Change> = places.iter().map(|k| new(&names[*k], vec![*k])).collect();
    if let Some(places) = angles.filter(|places| places.len() > 1) {
        found.push(new(RATE, places));
    }
    found
}

pub(super) fn rates(change: &Change, velocity: &mut [f64], factor: f64, way: Direction) {
    if change.names != [ANGLE] {
        change.scale(velocity, factor, way);
    }
}

pub(super) fn angles(change: &Change, state: &mut State, factor: f64) -> bool {
    if change.names != [RATE] && !state.configuration.is_empty() {
        change.scale(&mut state.configuration, factor, Direction::Forth);
    }
    true
}

pub(super) fn words(change: &Change) -> String {
    let name = change.names.join(",");
    let subject = match name.as_str() {
        ANGLE => "the angle".to_owned(),
        RATE => "the angular velocity".to_owned(),
        "both" => "angle and angular velocity".to_owned(),
        name => format!("the velocity of {name}"),
    };
    format!("{subject} in {}", change.kind.name)
}
