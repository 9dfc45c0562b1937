//! Rebounds that contradict each other: contacts wedged against each other cannot all separate.

use super::space::ContactSpace;
use carom_contact::ContactIndex;
use carom_contact::nnls::nonnegative_least_squares;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::TAU;

/// Directions of friction by which a round cone is replaced.
const DIRECTIONS: usize = 16;

/// Residual, as a fraction of the rebounds, below which a contradiction is certain: any velocity with these rebounds would
/// have to be larger by the reciprocal.
const CONTRADICTION: f64 = 1e-8;

/// Fraction of its terms below which a gradient of the least-squares problem is a rounding error.
const ROUNDING: f64 = 1e-13;

/// Returns the indices of contacts that cannot all rebound with the prescribed speeds `rebounds` (one per contact).
/// Admissible impulses of these contacts balance each other, although one of them must separate with positive speed. In
/// formulas, $\sum_i J_i^T\lambda_i = 0$ with impulses $\lambda_i$ in the friction cones, Jacobian rows $J_i$ and
/// $\sum_i\lambda_{n,i}r_i > 0$ for the rebounds $r$. `None` if there are no such impulses.
///
/// Without friction such impulses prove (Farkas' lemma) that no velocity has $J_nv \ge r$. With friction an answer may still
/// exist; if the cones are pointed, an answer always exists (copositive matrices, Anitescu & Potra 1997).
pub(super) fn contradiction(space: &ContactSpace, rebounds: &[f64]) -> Option<Vec<usize>> {
    let largest = rebounds.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    let n = space.column(space.normal_slot(ContactIndex::new(0))).len();
    let mut owners = Vec::new();
    let mut columns: Vec<f64> = Vec::new();
    for (contact, rebound) in rebounds.iter().enumerate() {
        let friction = space.friction.get(contact).copied().unwrap_or(0.0);
        for direction in directions(space.n_tangents, friction) {
            let scale = 1.0 / friction.max(1.0);
            let mut slots = space.slots_at(ContactIndex::new(contact));
            let normal = slots.next().map(|slot| space.column(slot));
            let mut column: Vec<f64> = normal.unwrap_or_default().to_vec();
            for (tangent, c) in slots.zip(&direction) {
                for (x, u) in column.iter_mut().zip(space.column(tangent)) {
                    *x += friction * c * u;
                }
            }
            columns.extend(column.iter().map(|x| x * scale));
            columns.push(rebound / largest * scale);
            owners.push(contact);
        }
    }
    let cones = DMatrix::from_column_slice(n + 1, owners.len(), &columns);
    let mut wanted = DVector::zeros(n + 1);
    wanted[n] = -1.0;
    let impulses = nonnegative_least_squares(&cones, &wanted, ROUNDING).ok()?;
    let left = (&cones * &impulses + &wanted).norm();
    if !(left <= CONTRADICTION) {
        return None;
    }
    let mut contacts: Vec<usize> = owners
        .into_iter()
        .zip(impulses.iter())
        .filter(|(_, l)| **l > 0.0)
        .map(|(contact, _)| contact)
        .collect();
    contacts.dedup();
    Some(contacts)
}

/// Returns unit directions in the tangent plane in which friction may act at a contact. Without friction, the zero vector
/// is the only entry.
fn directions(n_tangents: usize, friction: f64) -> Vec<[f64; 2]> {
    match n_tangents {
        0 => vec![[0.0, 0.0]],
        _ if friction == 0.0 => vec![[0.0, 0.0]],
        1 => vec![[1.0, 0.0], [-1.0, 0.0]],
        _ => (0..DIRECTIONS)
            .map(|k| {
                let (y, x) = libm::sincos(TAU * k as f64 / DIRECTIONS as f64);
                [x, y]
            })
            .collect(),
    }
}
