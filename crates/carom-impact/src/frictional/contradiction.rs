//! Rebounds that contradict each other: contacts wedged against each other cannot all separate.

use super::space::ContactSpace;
use carom_contact::ContactIndex;
use carom_metric::{kernel, nonnegative_least_squares};
use nalgebra::{DMatrix, DVector};

/// Residual, as a fraction of the rebounds, below which a contradiction is certain: any velocity with these rebounds would
/// have to be larger by the reciprocal.
const CONTRADICTION: f64 = 1e-8;

/// Fraction of its terms below which a gradient of the least-squares problem is a rounding error.
const ROUNDING: f64 = 1e-13;

/// Contacts that cannot all rebound with their prescribed speeds.
pub(super) struct Contradiction {
    /// Their indices, ascending.
    pub(super) contacts: Vec<usize>,
    /// Scaled normal impulses that balance each other, with their friction; one per contact.
    pub(super) pushes: Vec<f64>,
}

/// Returns contacts that cannot all rebound with the prescribed speeds `rebounds` (one per contact).
/// Admissible impulses of these contacts balance each other, although one of them must separate with positive speed. In
/// formulas, $\sum_i J_i^T\lambda_i = 0$ with impulses $\lambda_i$ in the friction cones, Jacobian rows $J_i$ and
/// $\sum_i\lambda_{n,i}r_i > 0$ for the rebounds $r$. `None` if there are no such impulses.
///
/// `friction`: coefficients, one per contact with at most one tangent. If it is empty, the impulses are along the normals. They
/// prove (Farkas' lemma) that no velocity has $J_nv \ge r$: the law has no answer, whatever the friction. Impulses of which some
/// have friction prove nothing. They explain why there is no answer if a search of all contact modes has found none; if there
/// are no such impulses, an answer exists (copositive matrices, Anitescu & Potra 1997).
pub(super) fn contradiction(
    space: &ContactSpace,
    rebounds: &[f64],
    friction: &[f64],
) -> Option<Contradiction> {
    let largest = rebounds.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    let mut edges: Vec<(usize, f64, Vec<f64>)> = Vec::new();
    for (contact, rebound) in ContactIndex::all(rebounds.len()).zip(rebounds) {
        let friction = friction.get(contact.index()).copied().unwrap_or(0.0);
        let signs: &[f64] = if friction == 0.0 {
            &[0.0]
        } else {
            &[1.0, -1.0]
        };
        for sign in signs {
            let mut edge = space.column(space.normal_slot(contact)).to_vec();
            for tangent in space.slots_at(contact).skip(1) {
                kernel::add_scaled(&mut edge, friction * sign, space.column(tangent));
            }
            edge.push(rebound / largest);
            let scale = 1.0 / friction.max(1.0);
            edge.iter_mut().for_each(|x| *x *= scale);
            edges.push((contact.index(), scale, edge));
        }
    }
    let n_rows = edges.first()?.2.len();
    let columns: Vec<f64> = edges.iter().flat_map(|(_, _, edge)| edge.clone()).collect();
    let cones = DMatrix::from_vec(n_rows, edges.len(), columns);
    let mut wanted = DVector::zeros(n_rows);
    wanted[n_rows - 1] = -1.0;
    let impulses = nonnegative_least_squares(&cones, &wanted, ROUNDING).ok()?;
    let left = &cones * &impulses + &wanted;
    if !(left.norm() <= CONTRADICTION) {
        return None;
    }
    let mut pushes = vec![0.0; rebounds.len()];
    for ((contact, scale, _), l) in edges.iter().zip(impulses.iter()) {
        pushes[*contact] += scale * l;
    }
    let pressed = pushes.iter().enumerate().filter(|(_, push)| **push > 0.0);
    let contacts = pressed.map(|(contact, _)| contact).collect();
    Some(Contradiction { contacts, pushes })
}
