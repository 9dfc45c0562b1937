//! Problems whose set of outcomes is known in closed form.

use super::given::Given;
use crate::candidate::reposed;
use crate::membership::smooth_outcomes;
use crate::tolerances::EQUAL;
use carom_contact::{ImpactLaw, ImpactProblem};
use carom_impact::Routh;
use carom_impact::internal::{ContactSpace, planar_outcomes};
use nalgebra::{DMatrix, DVector};

/// Largest number of contacts for which the test that no step begins tries all subsets.
const MAX_SUBSETS: usize = 8;

/// Outcomes of a problem, if the whole set is known. Each list of velocities has a convex hull with the extremes of the
/// set in every direction.
pub(super) struct Known {
    /// True if a contact approaches. Otherwise the velocity before is an outcome as well.
    pub(super) is_approaching: bool,
    /// Ends of chains of steps; `None` if the set is not known.
    pub(super) steps: Option<Vec<Vec<f64>>>,
    /// Ends of paths of the inclusion; `None` if they are not known or do not differ from the ends of steps.
    pub(super) paths: Option<Vec<Vec<f64>>>,
}

/// Returns the set of velocities after the impact in closed form, where a closed form is known for this kind of problem.
/// `given` holds mass matrix, contacts and velocity of `problem` as numbers.
pub(super) fn known(problem: &ImpactProblem, given: &Given) -> Known {
    let contacts = problem.contacts();
    let is_approaching = problem.is_approaching();
    let before = || vec![given.velocity.clone()];
    let space = ContactSpace::new(contacts);
    let planar = match space.n_contacts {
        1 => planar_outcomes(problem, &space),
        _ => None,
    };
    let is_free = contacts.constraint_forms().is_empty();
    let steps = match given.contacts.as_slice() {
        _ if planar.is_some() => planar,
        _ if !is_approaching => no_step_begins(&space).then(before),
        [a, b] if is_free && a.tangents.is_empty() && b.tangents.is_empty() => two_smooth(problem),
        _ => None,
    };
    let is_single = steps.as_ref().is_some_and(|ends| ends.len() == 1);
    let paths = match given.contacts.as_slice() {
        _ if is_single => None,
        _ if !is_approaching => Some(before()),
        [contact] if is_free && !contact.tangents.is_empty() => routh(problem),
        _ => None,
    };
    Known {
        is_approaching,
        steps,
        paths,
    }
}

/// Returns the velocity after the impact (as a list with one entry) by Routh's law for a single contact with
/// restitution 0. `None` if this law fails.
fn routh(problem: &ImpactProblem) -> Option<Vec<Vec<f64>>> {
    let contacts = problem.contacts().contacts().iter();
    let inelastic = contacts.map(|contact| contact.clone().with_restitution(0.0));
    let inelastic = reposed(problem, inelastic.collect()).ok()?;
    let outcome = Routh::default().resolve(&inelastic).ok()?;
    Some(vec![outcome.velocity_plus.0.as_slice().to_vec()])
}

/// True if it is proven that no impulse step can begin at a velocity at which no contact approaches.
///
/// Let $n_i$ be the normal of contact $i$, $v$ and $v'$ the velocities before and after a step, and $D = v' - v$. A
/// step from $v$ with $n_iv \ge 0$ pushes only at contacts with $n_iv' \le 0$, so that $n_iD \le 0$ there and
/// $\sum_i\lambda_in_iD \le 0$ with the normal impulses $\lambda_i$. Without friction the sum is $\lVert D\rVert_M^2$,
/// with the mass matrix $M$. With friction this sum is at least $\lambda^TB\lambda$,
/// $B_{ij} = n_iM^{-1}n_j^T - \mu_j\lVert n_iM^{-1}t_j^T\rVert$ with tangents $t_j$ and friction coefficients $\mu_j$:
/// no step begins if $B$ is strictly copositive.
fn no_step_begins(space: &ContactSpace) -> bool {
    if space.friction.iter().all(|friction| *friction == 0.0) {
        return true;
    }
    let (m, width) = (space.n_contacts, space.width());
    let least = |i: usize, j: usize| {
        let tangents = (1..width).map(|t| space.gram[(i * width, j * width + t)]);
        let mixed = tangents.fold(0.0, libm::hypot);
        space.gram[(i * width, j * width)] - space.friction[j] * mixed
    };
    let b = DMatrix::from_fn(m, m, |i, j| 0.5 * (least(i, j) + least(j, i)));
    if b.clone().symmetric_eigenvalues().min() > EQUAL {
        return true;
    }
    // $B$ is strictly copositive unless a principal submatrix has an eigenvector with positive entries whose eigenvalue
    // is not positive (Kaplan, Linear Algebra Appl. 313, 2000).
    m <= MAX_SUBSETS
        && (1u32..1 << m).all(|subset| {
            let chosen: Vec<usize> = (0..m).filter(|i| subset >> i & 1 == 1).collect();
            let part =
                DMatrix::from_fn(chosen.len(), chosen.len(), |i, j| b[(chosen[i], chosen[j])]);
            let eigen = part.symmetric_eigen();
            let values = eigen
                .eigenvalues
                .iter()
                .zip(eigen.eigenvectors.column_iter());
            values.into_iter().all(|(value, vector)| {
                let has_one_sign = vector.min() >= -EQUAL || vector.max() <= EQUAL;
                *value > EQUAL || !has_one_sign
            })
        })
}

/// Computes the corners of the set of outcomes (n entries each) of two frictionless contacts, at least one of which
/// approaches.
fn two_smooth(problem: &ImpactProblem) -> Option<Vec<Vec<f64>>> {
    let corners = smooth_outcomes(problem).ok()??;
    let velocity = |corner: DVector<f64>| {
        let mut velocity = corner / problem.scale();
        let metric = problem.contacts().metric();
        metric.unwhiten_velocity_in_place(velocity.as_mut_slice());
        velocity.as_slice().to_vec()
    };
    Some(corners.into_iter().map(velocity).collect())
}
