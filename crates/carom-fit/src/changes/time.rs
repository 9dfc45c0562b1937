//! Velocities before that are early and velocities after that are late, by one delay in all (s), with free fall between. Momentum
//! sees only the sum; half of it is taken on either side.

use super::{Change, Kind};

pub(super) static KIND: Kind = Kind {
    name: "time",
    choices: |system, _| match system.planar().and_then(|body| body.gravity) {
        Some(gravity) => vec![Change {
            ranges: vec![[-LONGEST, LONGEST]],
            gravity: gravity.into(),
            ..KIND.change(Vec::new(), Vec::new(), vec![0.0])
        }],
        None => Vec::new(),
    },
    rest: |change, _, _, state| {
        for (k, gravity) in change.gravity.iter().enumerate() {
            let fall = 0.5 * change.values[0] * gravity;
            state.minus[k] += fall;
            state.plus[k] -= fall;
        }
        true
    },
    words: |change| {
        let delay = 1e3 * change.values[0];
        format!("velocities taken {delay:.1} ms apart, with free fall between")
    },
    ..Kind::NONE
};

/// Largest delay that is sought (s): a body that bounces is in flight for longer.
const LONGEST: f64 = 0.25;
