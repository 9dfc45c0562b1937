//! Conditions of a tame problem.

use super::scene::Scene;
use nalgebra::{Cholesky, DVector, Dyn};

/// Largest condition number of the mass matrix after it is scaled to unit diagonal.
const CONDITION: f64 = 1e8;

/// Largest ratio of the kinetic lengths of two rows.
const ROW_RATIO: f64 = 1e4;

/// Steps of the search for a direction that proves the friction cone pointed.
const STEPS: usize = 400;

/// Least rate of a unit generator of the friction cone along the direction that proves the cone pointed.
const POINTED: f64 = 1e-3;

/// True if the mass matrix is well conditioned, and the kinetic lengths of all rows are of one size.
pub(crate) fn is_scaled(scene: &Scene) -> bool {
    let diagonal = scene.mass.diagonal();
    let scaled = scene
        .mass
        .map_with_location(|i, j, entry| entry / (diagonal[i] * diagonal[j]).sqrt());
    let eigenvalues = scaled.symmetric_eigenvalues();
    if !(eigenvalues.max() <= CONDITION * eigenvalues.min()) {
        return false;
    }
    let Some(factor) = scene.mass.clone().cholesky() else {
        return false;
    };
    let tangents = |rows: &[DVector<f64>], friction: f64| {
        let count = if friction > 0.0 { rows.len() } else { 1 };
        rows[..count].to_vec()
    };
    let rows = scene
        .contacts
        .iter()
        .flat_map(|contact| tangents(&contact.rows, contact.friction))
        .chain(scene.constraints.iter().cloned());
    let lengths: Vec<f64> = rows.map(|row| whitened(&factor, &row).norm()).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
    lengths.is_empty() || longest <= ROW_RATIO * shortest
}

fn whitened(factor: &Cholesky<f64, Dyn>, row: &DVector<f64>) -> DVector<f64> {
    let lower = factor.l_dirty();
    lower
        .solve_lower_triangular(row)
        .unwrap_or_else(|| DVector::from_element(row.len(), f64::NAN))
}

/// True if the friction cone of all contacts is proven pointed, with a margin: no impulses of the contacts, taken modulo the
/// constraints, cancel each other. A perceptron looks for a direction along which every contact opens faster than friction can
/// make up for.
pub(crate) fn is_pointed(scene: &Scene) -> bool {
    let Some(factor) = scene.mass.clone().cholesky() else {
        return false;
    };
    let mut basis: Vec<DVector<f64>> = Vec::new();
    let without = |basis: &[DVector<f64>], row: &DVector<f64>| {
        let row = whitened(&factor, row);
        basis.iter().fold(row, |rest, e| &rest - e * e.dot(&rest))
    };
    for row in &scene.constraints {
        let rest = without(&basis, row);
        if rest.norm() > 1e-9 * row.norm() {
            basis.push(rest.normalize());
        }
    }
    let contacts: Vec<(Vec<DVector<f64>>, f64)> = scene
        .contacts
        .iter()
        .map(|contact| {
            let rows = contact.rows.iter().map(|row| without(&basis, row));
            (rows.collect(), contact.friction)
        })
        .collect();
    let mut direction = DVector::zeros(scene.dim());
    for _ in 0..STEPS {
        let worst = contacts
            .iter()
            .map(|(rows, friction)| least_generator(rows, *friction, &direction))
            .map(|generator| (generator.dot(&direction) / generator.norm(), generator))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((rate, generator)) = worst else {
            return true;
        };
        if rate >= POINTED * direction.norm() && direction.norm() > 0.0 {
            return true;
        }
        direction += generator.normalize();
    }
    false
}

/// Returns the generator of the friction cone of a contact with the least product with `direction`.
fn least_generator(rows: &[DVector<f64>], friction: f64, direction: &DVector<f64>) -> DVector<f64> {
    let rates: Vec<f64> = rows[1..].iter().map(|row| row.dot(direction)).collect();
    let speed = rates.iter().fold(0.0f64, |sum, rate| sum.hypot(*rate));
    if speed == 0.0 {
        return rows[0].clone();
    }
    let slid = rows[1..].iter().zip(&rates);
    slid.fold(rows[0].clone(), |sum, (row, rate)| {
        sum - row * (friction * rate / speed)
    })
}

#[cfg(test)]
mod tests {
    use super::super::scene::Touch;
    use super::*;
    use nalgebra::{DMatrix, dvector};

    fn scene(normals: &[DVector<f64>], friction: f64) -> Scene {
        let contacts = normals.iter().map(|normal| Touch {
            rows: vec![normal.clone(), dvector![normal[1], -normal[0]]],
            friction,
            restitution: 0.0,
        });
        Scene {
            mass: DMatrix::identity(2, 2),
            velocity: dvector![0.0, -1.0],
            contacts: contacts.collect(),
            constraints: Vec::new(),
        }
    }

    #[test]
    fn a_wedge_is_pointed_until_its_friction_cones_oppose_each_other() {
        let wedge = [dvector![0.6, 0.8], dvector![-0.6, 0.8]];
        assert!(is_pointed(&scene(&wedge, 0.0)));
        // The steepest generators oppose each other at a friction of 4/3.
        assert!(is_pointed(&scene(&wedge, 1.2)));
        assert!(!is_pointed(&scene(&wedge, 1.4)));
        assert!(!is_pointed(&scene(
            &[dvector![0.0, 1.0], dvector![0.0, -1.0]],
            0.0
        )));
    }

    #[test]
    fn a_light_coordinate_is_no_fault_and_a_nearly_singular_matrix_is() {
        let mut wedge = scene(&[dvector![1.0, 1.0]], 0.0);
        wedge.mass[(1, 1)] = 1e-6;
        assert!(is_scaled(&wedge));
        wedge.mass = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0 + 1e-9]);
        assert!(!is_scaled(&wedge));
    }
}
