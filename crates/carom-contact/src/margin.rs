//! Test of whether all contacts can open at once.

use crate::tolerances::JAMMED_WEIGHT;
use crate::{ContactSet, ImpactError};
use carom_metric::{kernel, nonnegative_least_squares};
use nalgebra::{DMatrix, DVector};

/// Largest distance of the convex hull of the unit normals from the origin at which contacts count as jammed: the cone of
/// velocities that open all contacts then has no interior.
pub const JAM_MARGIN: f64 = 1e-7;

/// Distance of the convex hull of the unit normals of a contact set from the origin: a measure of how far all contacts can
/// open at once.
///
/// If the distance is positive, some momentum opens every contact, and every chain of elastic impacts ends,
/// in any order. If it is zero, the normals of some contacts balance each other and these contacts
/// are jammed, like a body wedged between parallel walls.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Margin {
    /// The distance $\delta \in [0, 1]$; 1 without contacts.
    pub distance: f64,
    /// Weight of each contact in the point of the hull nearest to the origin; the weights sum to 1.
    pub weights: Vec<f64>,
}

impl Margin {
    /// Returns the indices of the contacts that jam each other, because their normals can balance each other; empty if all
    /// contacts can open together.
    pub fn jammed(&self) -> Vec<usize> {
        if self.distance > JAM_MARGIN {
            return Vec::new();
        }
        (0..self.weights.len())
            .filter(|&i| self.weights[i] > JAMMED_WEIGHT)
            .collect()
    }
}

/// Computes the distance of the origin from the convex hull of the unit normals, and the weights of the nearest point. The
/// distance is zero if the normals can balance each other, so that contacts jam. The weights are the normalized solution of
/// $\min_{w \ge 0} \lVert Yw\rVert^2 + (1 - \sum w)^2$, with the unit normals as columns of $Y$.
pub(crate) fn margin(contacts: &ContactSet) -> Result<Margin, ImpactError> {
    let m = contacts.n_distinct();
    if m == 0 {
        return Ok(Margin {
            distance: 1.0,
            weights: Vec::new(),
        });
    }
    let n = contacts.metric().dim();
    let normals: Vec<&[f64]> = contacts.unit_rows().map(|j| contacts.unit(j)).collect();
    let hull = DMatrix::from_fn(n + 1, m, |i, j| if i < n { normals[j][i] } else { 1.0 });
    let mut target = DVector::zeros(n + 1);
    target[n] = -1.0;
    let mut weights = nonnegative_least_squares(&hull, &target, 1e-14)?;
    let sum = weights.sum();
    weights /= sum;
    let nearest = hull.rows(0, n) * &weights;
    let mut on_contacts = vec![0.0; contacts.len()];
    for (j, weight) in contacts.unit_rows().zip(weights.iter()) {
        on_contacts[contacts.contact_at(j).index()] = *weight;
    }
    Ok(Margin {
        distance: kernel::norm(nearest.as_slice()),
        weights: on_contacts,
    })
}
