//! Problems whose outcomes are known whole.

use super::given::Given;
use crate::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, Routh};
use nalgebra::{Matrix2, Vector2};

/// Velocities after the impact whose convex hull has the extremes of every direction; `None` where
/// the set is not known.
///
/// One contact: Routh's outcome. Two frictionless contacts: the outcomes are segments in
/// $y = J_nv^+$, on the axes. An outcome ends where the last contact closes, so that one of them is
/// zero; between the two orders the other takes all values that overlapping pushes can give.
pub(super) fn outcomes(
    problem: &ImpactProblem<'_>,
    given: &Given,
) -> Result<Option<Vec<Vec<f64>>>, ImpactError> {
    if !problem.is_approaching() {
        return Ok(Some(vec![given.velocity.clone()]));
    }
    if !problem.contacts().constraint_forms().is_empty() {
        return Ok(None);
    }
    match given.contacts.as_slice() {
        [_] => one_contact(problem).map(Some),
        [a, b] if a.tangents.is_empty() && b.tangents.is_empty() => Ok(two_smooth(given)),
        _ => Ok(None),
    }
}

fn one_contact(problem: &ImpactProblem<'_>) -> Result<Vec<Vec<f64>>, ImpactError> {
    let contacts = problem.contacts();
    let inelastic = contacts.contacts().iter().map(|contact| Contact {
        restitution: 0.0,
        ..contact.clone()
    });
    let set = ContactSet::new(contacts.metric(), inelastic.collect())?;
    let alone = ImpactProblem::new(&set, problem.velocity_minus().clone())?;
    let outcome = Routh::default().resolve(&alone)?;
    Ok(vec![outcome.velocity_plus.0.as_slice().to_vec()])
}

/// Of two independent frictionless contacts.
fn two_smooth(given: &Given) -> Option<Vec<Vec<f64>>> {
    let [first, second] = given.contacts.as_slice() else {
        return None;
    };
    let mass = given.mass.clone().cholesky()?;
    let rows = [&first.normal, &second.normal].map(|n| nalgebra::DVector::from_column_slice(n));
    let solved = [mass.solve(&rows[0]), mass.solve(&rows[1])];
    let (a, d) = (rows[0].dot(&solved[0]), rows[1].dot(&solved[1]));
    let h = 0.5 * (rows[0].dot(&solved[1]) + rows[1].dot(&solved[0]));
    // Dependent normals: the closed form divides by the determinant.
    if a * d - h * h <= 1e-9 * a * d {
        return None;
    }
    let velocity = nalgebra::DVector::from_column_slice(&given.velocity);
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
