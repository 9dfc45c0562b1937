//! Diagnostics of `routh` and `two-body`, the laws for one frictional contact.

use crate::matrix::rows;
use carom_contact::FrictionalDiagnostics;
use carom_impact::ContactMode;
use carom_impact::two_body::{ContactInertia, InvariantDirections, invariant_directions};
use nalgebra::{DMatrix, Matrix3, Vector3};
use serde_json::{Map, Value, json};

/// Writes the diagnostics of an impact at one frictional contact as JSON fields. Vectors and matrices have the axes of the
/// contact: tangents first, normal last.
pub(crate) fn diagnostics(found: &FrictionalDiagnostics) -> Map<String, Value> {
    in_axes(found, &Matrix3::identity())
}

/// Writes the diagnostics of an impact at one frictional contact as JSON fields, with vectors and matrices rotated into
/// other axes. The columns of `axes` are the contact's tangents and normal in these axes.
pub(crate) fn in_axes(found: &FrictionalDiagnostics, axes: &Matrix3<f64>) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    let w = axes * found.inertia.matrix() * axes.transpose();
    let w = 0.5 * (w + w.transpose());
    put("events", "".into());
    if let Some(impact) = &found.impact {
        put("events", impact.events.sequence().into());
        put("impulse_compression", impact.compression_impulse.into());
        put("energy_compression_j", impact.compression_energy.into());
        put("normal_work_j", impact.normal_work.into());
        put("friction_work_j", impact.friction_work.into());
        put("energy_gain_j", impact.energy_gain().into());
        put("final_mode", impact.mode.name().into());
        put("contact_mode", ContactMode::of(impact).name().into());
        put("recompressed", impact.recompressed.into());
        let at: Vec<f64> = impact.events.iter().map(|e| e.impulse[2]).collect();
        put("event_impulses", json!(at));
    }
    put(
        "inverse_inertia",
        json!(rows(&DMatrix::from_fn(3, 3, |i, j| w[(i, j)]))),
    );
    put("stick_demand", found.inertia.stick_demand().into());
    directions(&found.inertia, found.friction, axes, &mut put);
    fields
}

fn directions(
    inertia: &ContactInertia,
    friction: f64,
    axes: &Matrix3<f64>,
    put: &mut impl FnMut(&str, Value) -> Option<Value>,
) {
    match invariant_directions(inertia, friction) {
        // Every direction is invariant, so there is no list.
        InvariantDirections::All => {
            put("invariant_directions", json!([]));
            put("all_directions_invariant", true.into());
        }
        InvariantDirections::Discrete(list) => {
            let unit = |d: [f64; 2]| {
                let world = axes * Vector3::new(d[0], d[1], 0.0);
                [world.x, world.y, world.z]
            };
            let vectors: Vec<[f64; 3]> = list.iter().map(|d| unit(d.direction())).collect();
            let rates: Vec<f64> = list.iter().map(|d| d.lambda).collect();
            put("invariant_directions", json!(vectors));
            put("invariant_rates", json!(rates));
        }
    }
}
