//! Rebounds that contradict each other: contacts wedged against each other cannot all separate.

use super::space::ContactSpace;
use carom_contact::ContactIndex;
use carom_contact::nnls::nonnegative_least_squares;
use carom_contact::residual_scale::dot_and_size;
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Residual, as a fraction of the rebounds, below which a contradiction is certain: any velocity with these rebounds would
/// have to be larger by the reciprocal.
const CONTRADICTION: f64 = 1e-8;

/// Fraction of its terms below which a gradient of the least-squares problem is a rounding error.
const ROUNDING: f64 = 1e-13;

/// Largest number of times that directions of friction are added: the residual of impulses inside the cones is zero after a
/// few.
const ROUNDS: usize = 64;

/// Returns the indices of contacts that cannot all rebound with the prescribed speeds `rebounds` (one per contact).
/// Admissible impulses of these contacts balance each other, although one of them must separate with positive speed. In
/// formulas, $\sum_i J_i^T\lambda_i = 0$ with impulses $\lambda_i$ in the friction cones, Jacobian rows $J_i$ and
/// $\sum_i\lambda_{n,i}r_i > 0$ for the rebounds $r$. `None` if there are no such impulses.
///
/// With `friction` = [`Friction::None`] the impulses are along the normals. They prove (Farkas' lemma) that no velocity has
/// $J_nv \ge r$: the law has no answer, whatever the friction. Impulses of which some have friction prove nothing. They
/// explain why there is no answer if a search of all contact modes has found none; if there are no such impulses, an
/// answer exists (copositive matrices, Anitescu & Potra 1997).
///
/// Round cones are spanned by few directions of friction at first; those along which the residual falls most are added until none
/// is left, so the result does not depend on the tangent axes.
pub(super) fn contradiction(
    space: &ContactSpace,
    rebounds: &[f64],
    friction: Friction,
) -> Option<Vec<usize>> {
    let largest = rebounds.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    let n = space.column(space.normal_slot(ContactIndex::new(0))).len();
    let edge = |contact: ContactIndex, direction: &[f64]| -> Vec<f64> {
        let friction = friction.of(space, contact);
        let scale = 1.0 / friction.max(1.0);
        let mut slots = space.slots_at(contact);
        let normal = slots.next().map(|slot| space.column(slot));
        let mut column: Vec<f64> = normal.unwrap_or_default().to_vec();
        for (tangent, c) in slots.zip(direction) {
            kernel::add_scaled(&mut column, friction * c, space.column(tangent));
        }
        column.push(rebounds[contact.index()] / largest);
        column.iter_mut().for_each(|x| *x *= scale);
        column
    };
    let mut edges: Vec<(ContactIndex, Vec<f64>)> = Vec::new();
    for contact in ContactIndex::all(rebounds.len()) {
        for direction in first_directions(space, contact, friction) {
            edges.push((contact, edge(contact, &direction)));
        }
    }
    let mut wanted = DVector::zeros(n + 1);
    wanted[n] = -1.0;
    for _ in 0..ROUNDS {
        let columns: Vec<f64> = edges.iter().flat_map(|(_, edge)| edge.clone()).collect();
        let cones = DMatrix::from_vec(n + 1, edges.len(), columns);
        let impulses = nonnegative_least_squares(&cones, &wanted, ROUNDING).ok()?;
        let left = &cones * &impulses + &wanted;
        let pushes = edges.into_iter().zip(impulses.iter());
        edges = pushes
            .filter_map(|(edge, l)| (*l > 0.0).then_some(edge))
            .collect();
        if left.norm() <= CONTRADICTION {
            let mut contacts: Vec<usize> = edges
                .into_iter()
                .map(|(contact, _)| contact.index())
                .collect();
            contacts.sort_unstable();
            contacts.dedup();
            return Some(contacts);
        }
        let steepest = ContactIndex::all(rebounds.len()).map(|contact| {
            let direction = against(space, contact, friction, left.as_slice());
            (contact, edge(contact, &direction))
        });
        let before = edges.len();
        edges.extend(steepest.filter(|(_, edge)| {
            let (slope, size) = dot_and_size(edge, left.as_slice());
            slope < -ROUNDING * size
        }));
        if edges.len() == before {
            return None;
        }
    }
    None
}

/// Friction that impulses which balance each other may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Friction {
    /// No friction: impulses along the normals.
    None,
    /// Coulomb friction.
    Coulomb,
}

impl Friction {
    /// Returns the coefficient of friction of a contact; 0 for contacts without tangents.
    fn of(self, space: &ContactSpace, contact: ContactIndex) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Coulomb => space.friction.get(contact.index()).copied().unwrap_or(0.0),
        }
    }
}

/// Returns unit directions of friction from which the search starts: along and against the principal axes of the tangents. Without
/// friction, the zero vector is the only entry.
fn first_directions(
    space: &ContactSpace,
    contact: ContactIndex,
    friction: Friction,
) -> Vec<Vec<f64>> {
    let still = vec![0.0; space.n_tangents];
    let tangents = space.slots_at(contact).skip(1);
    let tangents: Vec<&[f64]> = tangents.map(|slot| space.column(slot)).collect();
    if friction.of(space, contact) == 0.0 {
        return vec![still];
    }
    match tangents.as_slice() {
        [t, u] => {
            let twist = 2.0 * kernel::dot(t, u);
            let angle = 0.5 * libm::atan2(twist, kernel::dot(t, t) - kernel::dot(u, u));
            let (y, x) = libm::sincos(angle);
            vec![vec![x, y], vec![-y, x], vec![-x, -y], vec![y, -x]]
        }
        [_] => vec![vec![1.0], vec![-1.0]],
        _ => vec![still],
    }
}

/// Returns the unit direction in the tangent plane of a contact along which friction reduces the residual `left` most; empty
/// without friction.
fn against(
    space: &ContactSpace,
    contact: ContactIndex,
    friction: Friction,
    left: &[f64],
) -> Vec<f64> {
    if friction.of(space, contact) == 0.0 {
        return Vec::new();
    }
    let tangents = space.slots_at(contact).skip(1);
    let slopes = tangents.map(|slot| -dot_and_size(space.column(slot), left).0);
    let mut direction: Vec<f64> = slopes.collect();
    let length = kernel::norm(&direction);
    if length > 0.0 {
        direction.iter_mut().for_each(|x| *x /= length);
    }
    direction
}
