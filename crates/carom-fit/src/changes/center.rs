//! Velocities and outline about a point that is not the center of mass.

use super::Kind;
use super::point::{arm, away, choices, velocity};
use crate::system::System;
use nalgebra::Vector2;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "center",
    choices: |system, _| choices(&KIND, system),
    velocity,
    rest: |change, states, place, state| {
        let arm = arm(change, &states[place]);
        state.configuration[0] += arm.x;
        state.configuration[1] += arm.y;
        true
    },
    system: |change, system| {
        let Some(body) = system.planar() else {
            return system.clone();
        };
        let mut body = (**body).clone();
        body.outline.center -= Vector2::from_column_slice(&change.values);
        System::PlanarBody(Arc::new(body))
    },
    words: |change| format!("velocities and outline about a point {}", away(change)),
};
