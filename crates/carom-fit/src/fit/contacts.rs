//! Contacts of a measured impact, as measured.

use super::case::Case;
use carom_contact::internal::orthonormal;
use carom_metric::kernel;
use carom_numeric::decisions::RANK;
use nalgebra::{DMatrix, DVector};

/// Measured contact of an impact.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Touched {
    surface: String,
    /// Normal velocity before the impact, towards the contact.
    pub(crate) approach: f64,
    /// Normal velocity after over that before; `None` if the contact does not approach.
    pub(crate) restitution: Option<f64>,
    /// Tangential velocity before the impact.
    #[serde(skip)]
    pub(crate) sliding: f64,
    /// Tangential over normal impulse of the best impulses; `None` if the rows do not determine them.
    pub(crate) impulse_ratio: Option<f64>,
}

/// Measures the contacts of an impact.
pub(crate) fn contacts(case: &Case) -> Vec<Touched> {
    let state = &case.state;
    let n = state.dim().max(1);
    let impulses = impulses(case);
    let mut place = 0;
    let mut touched = Vec::new();
    for contact in &state.contacts {
        let mut rows = contact.rows.chunks_exact(n);
        let normal = rows.next().unwrap_or(&[]);
        let before = kernel::dot(normal, &state.minus);
        let after = kernel::dot(normal, &state.plus);
        let sliding: Vec<f64> = rows.map(|row| kernel::dot(row, &state.minus)).collect();
        let size = 1 + sliding.len();
        let own = impulses
            .as_ref()
            .and_then(|all| all.get(place..place + size));
        place += size;
        touched.push(Touched {
            surface: contact.surface.to_string(),
            approach: -before,
            restitution: (before < 0.0).then(|| -after / before),
            sliding: kernel::norm(&sliding),
            impulse_ratio: own
                .filter(|own| own[0] > 0.0)
                .map(|own| kernel::norm(&own[1..]) / own[0]),
        });
    }
    touched
}

/// Returns the impulses on all rows that explain the change of velocity best; `None` if the rows are dependent.
fn impulses(case: &Case) -> Option<Vec<f64>> {
    let state = &case.state;
    let n = state.dim();
    let white: Vec<Vec<f64>> = state
        .rows()
        .map(|row| {
            let mut white = row.to_vec();
            state.metric.whiten_in_place(&mut white);
            white
        })
        .collect();
    let unit = state.unit_rows(&state.metric, state.rows());
    if orthonormal(unit.iter().map(Vec::as_slice), RANK).len() < white.len() * n {
        return None;
    }
    let change = state.plus.iter().zip(&state.minus);
    let change: Vec<f64> = change.map(|(after, before)| after - before).collect();
    let mut target = vec![0.0; n];
    state.metric.whiten_velocity_into(&change, &mut target);
    let matrix = DMatrix::from_vec(n, white.len(), white.concat());
    let normal = matrix.tr_mul(&matrix).cholesky()?;
    let right = matrix.tr_mul(&DVector::from_vec(target));
    Some(normal.solve(&right).as_slice().to_vec())
}
