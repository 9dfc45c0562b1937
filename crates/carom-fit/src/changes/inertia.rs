//! Another moment of inertia than the configured one.

use super::{Change, Kind};
use crate::system::{PlanarBody, System};
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "inertia",
    choices: |system, _| match system.planar() {
        Some(_) => vec![Change {
            ranges: vec![RANGE],
            ..KIND.change(Vec::new(), Vec::new(), vec![1.0])
        }],
        None => Vec::new(),
    },
    system: |change, system| {
        let Some(body) = system.planar() else {
            return system.clone();
        };
        let mass = body.metric.mass_matrix();
        let metric = PlanarBody::metric(mass[(0, 0)], mass[(2, 2)] * change.values[0]);
        let mut body = (**body).clone();
        if let Ok(metric) = metric {
            body.metric = metric;
        }
        System::PlanarBody(Arc::new(body))
    },
    words: |change| format!("{:.3} times the configured inertia", change.values[0]),
    ..Kind::NONE
};

/// Smallest and largest factor of the inertia.
const RANGE: [f64; 2] = [0.1, 10.0];
