//! The gate, once more and plainly: dense matrices, no scaling, no shortcuts.

use super::Case;
use carom_contact::ImpactOutcome;
use nalgebra::{DMatrix, DVector};

/// Rules that a law is excused from.
#[derive(Clone, Copy, Default)]
pub struct Excuses {
    pub friction: bool,
    pub gain: bool,
}

/// The largest violation of the five rules, in units of what each allows: a success is at most 1.
pub fn worst_violation(case: &Case, outcome: &ImpactOutcome, excuses: Excuses) -> f64 {
    let n = case.velocity.len();
    let minus = DVector::from_column_slice(&case.velocity);
    let plus = &outcome.velocity_plus.0;
    let rows: Vec<&DVector<f64>> = case
        .contacts
        .iter()
        .flat_map(|c| std::iter::once(&c.normal.0).chain(c.tangents.iter().map(|t| &t.0)))
        .collect();
    let impulses = outcome.impulses.as_slice();
    let mut worst = 0.0f64;
    let mut raise = |x: f64| {
        worst = if x <= worst { worst } else { x };
    };
    if !plus.iter().chain(impulses).all(|x| x.is_finite()) {
        return f64::INFINITY;
    }

    // 2. Momentum, coordinate by coordinate; two units of the last digit of the velocities.
    let change = plus - &minus;
    for k in 0..n {
        let (mut left, mut terms, mut rounding) = (0.0, 0.0, 0.0);
        for j in 0..n {
            left += case.mass[(k, j)] * change[j];
            terms += (case.mass[(k, j)] * change[j]).abs();
            rounding += case.mass[(k, j)].abs() * (minus[j].abs() + plus[j].abs());
        }
        for (row, l) in rows.iter().zip(impulses) {
            left -= row[k] * l;
            terms += (row[k] * l).abs();
        }
        raise(left.abs() / (1e-9 * terms + 5e-16 * rounding + f64::MIN_POSITIVE));
    }

    // Own terms.
    let inverse = case.mass.clone().cholesky().unwrap();
    let responses: Vec<DVector<f64>> = rows.iter().map(|row| inverse.solve(*row)).collect();
    let mut made = minus.abs() + plus.abs();
    for (response, l) in responses.iter().zip(impulses) {
        made += (response * *l).abs();
    }
    let size = |row: &DVector<f64>| row.abs().dot(&made);
    let (mut work, mut allowed) = (0.0, 0.0);
    for (row, l) in rows.iter().zip(impulses) {
        let (before, after) = (row.dot(&minus), row.dot(plus));
        let rounding = row.abs().dot(&(minus.abs() + plus.abs()));
        work += 0.5 * l * (before + after);
        // Two units of the last digit for the velocities, and as much for the rounding of this sum.
        allowed += l.abs() * (0.5e-9 * (before.abs() + after.abs()) + 1e-15 * rounding);
    }
    if !excuses.gain && work > 0.0 {
        raise(work / allowed);
    }
    let mut first = 0;
    for contact in &case.contacts {
        let normal = rows[first];
        // 3. and 4.
        let length = normal.dot(&responses[first]).sqrt();
        let hidden = 1e-14 * around(case, normal) * length;
        raise(-normal.dot(plus) / (1e-9 * size(normal) + hidden));
        let natural = size(normal) / normal.dot(&responses[first]);
        raise(-impulses[first] / (1e-9 * natural));
        let tangents = first + 1..first + 1 + contact.tangents.len();
        let friction = tangents
            .clone()
            .fold(0.0f64, |sum, row| sum.hypot(impulses[row]));
        let natural = tangents.map(|row| size(rows[row]) / rows[row].dot(&responses[row]));
        let excess = friction - contact.friction * impulses[first].max(0.0);
        if !excuses.friction && excess > 0.0 {
            raise(excess / (1e-9 * natural.fold(0.0, f64::max)));
        }
        first += 1 + contact.tangents.len();
    }
    worst
}

/// True if some contact approaches by the definition: on its own terms, and by more than rounding
/// of the momentum around it.
pub fn some_contact_approaches(case: &Case) -> bool {
    let v = DVector::from_column_slice(&case.velocity);
    let inverse = case.mass.clone().cholesky().unwrap();
    case.contacts.iter().any(|contact| {
        let row = &contact.normal.0;
        let rate = row.dot(&v);
        let own: f64 = row.iter().zip(&v).map(|(a, v)| (a * v).abs()).sum();
        let length = row.dot(&inverse.solve(row)).sqrt();
        rate < -1e-12 * own && -rate / length > 1e-15 * around(case, row)
    })
}

/// Norm of the momentum before the impact of the bodies that a row acts on.
fn around(case: &Case, row: &DVector<f64>) -> f64 {
    let touched = component(&case.mass, row);
    let moves = |k: usize, _| if touched[k] { case.velocity[k] } else { 0.0 };
    let part = DVector::from_fn(case.velocity.len(), moves);
    part.dot(&(&case.mass * &part)).sqrt()
}

fn component(mass: &DMatrix<f64>, row: &DVector<f64>) -> Vec<bool> {
    let n = row.len();
    let mut touched: Vec<bool> = row.iter().map(|a| *a != 0.0).collect();
    for _ in 0..n {
        for i in 0..n {
            for j in 0..n {
                if touched[i] && mass[(i, j)] != 0.0 {
                    touched[j] = true;
                }
            }
        }
    }
    touched
}
