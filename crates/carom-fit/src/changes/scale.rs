//! Lengths in another unit than the configuration says.

use super::{Direction, Kind};

pub(super) static KIND: Kind = Kind {
    name: "scale",
    choices: |system, n| {
        // The unit of lengths has no effect where all coordinates are lengths.
        let Some(angles) = system.angles().filter(|angles| !angles.is_empty()) else {
            return Vec::new();
        };
        let lengths: Vec<usize> = (0..n).filter(|k| !angles.contains(k)).collect();
        let names = || vec!["lengths".to_owned()];
        FACTORS
            .map(|factor| KIND.change(names(), lengths.clone(), vec![factor]))
            .into()
    },
    velocity: |change, _, velocity, way| change.scale(velocity, change.values[0], way),
    rest: |change, _, _, state| {
        if !state.configuration.is_empty() {
            change.scale(&mut state.configuration, change.values[0], Direction::Forth);
        }
        true
    },
    words: |change| format!("all lengths of the table times {}", change.values[0]),
    ..Kind::NONE
};

/// Factors that are tried: millimetres, centimetres, the reverse of both, inches, feet.
const FACTORS: [f64; 6] = [1e-3, 1e3, 1e-2, 1e2, 0.0254, 0.3048];
