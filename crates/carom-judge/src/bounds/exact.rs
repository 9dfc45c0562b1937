//! Problems whose set of outcomes is known in closed form.

use super::given::Given;
use crate::tolerances::EQUAL;
use carom_contact::{Contact, ContactSet, ImpactLaw, ImpactProblem};
use carom_impact::Routh;
use carom_impact::internal::{ContactSpace, planar_outcomes};
use nalgebra::{DMatrix, DVector, Matrix2, Vector2};

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
pub(super) fn known(problem: &ImpactProblem<'_>, given: &Given) -> Known {
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
        [a, b] if is_free && a.tangents.is_empty() && b.tangents.is_empty() => two_smooth(given),
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
fn routh(problem: &ImpactProblem<'_>) -> Option<Vec<Vec<f64>>> {
    let contacts = problem.contacts();
    let inelastic = contacts.contacts().iter().map(|contact| Contact {
        restitution: 0.0,
        ..contact.clone()
    });
    let set = ContactSet::new(contacts.metric(), inelastic.collect()).ok()?;
    let alone = ImpactProblem::new(&set, problem.velocity_minus().clone()).ok()?;
    let outcome = Routh::default().resolve(&alone).ok()?;
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

/// Computes the velocities after the impact of two frictionless contacts with linearly independent normals, at least
/// one of which approaches. `given` holds the data of the impact problem. Returns the end points of the set of
/// outcomes; `None` if the normals are dependent to working precision.
///
/// Let $y = J_nv^+$ be the two normal velocities after the impact. The contact that pushes last is closed at the end,
/// so that the outcomes lie on the axes of $y$. The normal velocity of the other contact takes all values between those
/// of the two orders of impacts, because pushes may overlap.
fn two_smooth(given: &Given) -> Option<Vec<Vec<f64>>> {
    let [first, second] = given.contacts.as_slice() else {
        return None;
    };
    let mass = given.mass.clone().cholesky()?;
    let rows = [&first.normal, &second.normal].map(|n| DVector::from_column_slice(n));
    let solved = [mass.solve(&rows[0]), mass.solve(&rows[1])];
    let (a, d) = (rows[0].dot(&solved[0]), rows[1].dot(&solved[1]));
    let h = 0.5 * (rows[0].dot(&solved[1]) + rows[1].dot(&solved[0]));
    // Dependent normals: the closed form divides by the determinant.
    if a * d - h * h <= 1e-9 * a * d {
        return None;
    }
    let velocity = DVector::from_column_slice(&given.velocity);
    let y = Vector2::new(rows[0].dot(&velocity), rows[1].dot(&velocity));
    let p = Vector2::new(y[0] - h / d * y[1], y[1] - h / a * y[0]);
    let (left, right) = (-(h / d) * p[1], -(h / a) * p[0]);
    let ends: Vec<[f64; 2]> = if y[0] < 0.0 && y[1] < 0.0 && h > 0.0 {
        if p[0] >= 0.0 {
            vec![[p[0], 0.0], [left, 0.0]]
        } else if p[1] >= 0.0 {
            vec![[0.0, p[1]], [0.0, right]]
        } else {
            vec![[0.0, 0.0], [left, 0.0], [0.0, right]]
        }
    } else if y[0] < 0.0 && p[1] >= 0.0 {
        vec![[0.0, p[1]]]
    } else if y[1] < 0.0 && p[0] >= 0.0 {
        vec![[p[0], 0.0]]
    } else {
        vec![[0.0, 0.0]]
    };
    let gram = Matrix2::new(a, h, h, d).cholesky()?;
    let after = ends.into_iter().map(|end| {
        let impulse = gram.solve(&(Vector2::from(end) - y));
        let v = &velocity + &solved[0] * impulse[0] + &solved[1] * impulse[1];
        v.as_slice().to_vec()
    });
    Some(after.collect())
}
