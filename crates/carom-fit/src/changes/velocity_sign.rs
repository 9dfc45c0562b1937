//! A velocity with the other sign.

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "velocity-sign",
    choices: |system, n| {
        let names = system.coordinates(n).into_iter().enumerate();
        names
            .map(|(k, name)| KIND.change(vec![name], vec![k], Vec::new()))
            .collect()
    },
    velocity: |change, _, velocity, way| change.scale(velocity, -1.0, way),
    words: |change| {
        format!(
            "the velocity of {} pointing the other way",
            change.names.join(",")
        )
    },
    ..Kind::NONE
};
