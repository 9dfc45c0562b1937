//! Small problems that doubles can hardly carry: nearly singular mass matrices, nearly equal rows, tiny and huge masses.

use super::draws::Draws;
use super::motion::factors;
use super::scene::{Scene, Touch};
use nalgebra::{DMatrix, DVector};

/// Largest number of generalized velocities, and of contacts.
const SIZE: usize = 4;

/// Generates a hostile problem with at most four velocities and four contacts.
pub(crate) fn hostile(draws: &mut Draws) -> Scene {
    let n = draws.count(1, SIZE);
    let is_decimal = draws.chance(0.3);
    let mass = match draws.count(0, 2) {
        0 => diagonal(n, is_decimal, draws),
        1 => coupled(n, 6, draws),
        _ => coupled(n, 30, draws),
    };
    let tangents = draws.count(0, 2);
    let wide_rows = draws.chance(0.3);
    let row = |draws: &mut Draws| {
        let mut row = DVector::from_fn(n, |_, _| {
            let entry = entry(is_decimal, draws);
            if wide_rows {
                entry * draws.power(-30, 30)
            } else {
                entry
            }
        });
        if row.amax() == 0.0 {
            row[0] = 1.0;
        }
        row
    };
    let mut contacts: Vec<Touch> = Vec::new();
    for k in 0..draws.count(1, SIZE) {
        let mut rows: Vec<DVector<f64>> = (0..=tangents).map(|_| row(draws)).collect();
        if k > 0 && draws.chance(0.5) {
            let other = draws.count(0, k - 1);
            rows[0] = beside(contacts[other].normal(), draws);
        }
        contacts.push(Touch::drawn(rows, draws));
    }
    let mut constraints = Vec::new();
    if n > 2 && draws.chance(0.1) {
        constraints.push(DVector::from_fn(n, |i, _| f64::from(i == n - 1)));
        if draws.chance(0.5) {
            let again = beside(&constraints[0], draws);
            constraints.push(again);
        }
    }
    let mut velocity = DVector::from_fn(n, |_, _| entry(is_decimal, draws));
    if draws.chance(0.2) {
        velocity *= draws.power(-30, 30);
    }
    for row in &constraints {
        for k in (0..n).filter(|&k| row[k] != 0.0) {
            velocity[k] = 0.0;
        }
    }
    Scene {
        mass,
        velocity,
        contacts,
        constraints,
    }
}

fn entry(is_decimal: bool, draws: &mut Draws) -> f64 {
    if is_decimal {
        draws.between(-1.0, 1.0)
    } else {
        draws.whole(-3, 3)
    }
}

/// Generates a diagonal mass matrix with masses over 18 decades.
fn diagonal(n: usize, is_decimal: bool, draws: &mut Draws) -> DMatrix<f64> {
    DMatrix::from_diagonal(&DVector::from_fn(n, |_, _| {
        let mass = draws.power(-30, 30);
        if is_decimal {
            mass * draws.between(0.5, 1.0)
        } else {
            mass
        }
    }))
}

/// Generates a mass matrix $B^T D B$ with powers of two in the diagonal matrix $D$ and small whole numbers times powers of two up
/// to $2^k$, k = `coupling`, in the triangular matrix $B$. With a strong coupling it is nearly singular. Where its entries do not
/// fit into doubles it is $D$ alone.
fn coupled(n: usize, coupling: i32, draws: &mut Draws) -> DMatrix<f64> {
    let d = DMatrix::from_diagonal(&DVector::from_fn(n, |_, _| draws.power(-15, 15)));
    let half = coupling / 2;
    let b = DMatrix::from_fn(n, n, |i, j| {
        if i == j {
            1.0
        } else if i < j {
            draws.whole(-3, 3) * draws.power(-half, half)
        } else {
            0.0
        }
    });
    let mass = b.transpose() * &d * &b;
    match factors(&mass) {
        Some((lower, pivots)) if lower == b.transpose() && pivots == d.diagonal() => mass,
        _ => d,
    }
}

/// Returns a row that nearly equals `row`, or nearly opposes it: one entry differs by a part of $2^{-10}$ to $2^{-36}$, or none.
/// Rows that differ by less than 1e-12 count as one.
fn beside(row: &DVector<f64>, draws: &mut Draws) -> DVector<f64> {
    let sign = if draws.chance(0.5) { 1.0 } else { -1.0 };
    let mut other = row * (sign * draws.power(-2, 2));
    let at = draws.count(0, row.len() - 1);
    let part = draws.power(-36, -10);
    let is_changed = draws.chance(0.8);
    if is_changed {
        let size = if other[at] == 0.0 {
            other.amax()
        } else {
            other[at]
        };
        other[at] += part * size;
    }
    other
}
