//! Modes of planar contacts that elimination refutes: most of them, without least squares.

use super::modes::EndMode;
use super::space::ContactSpace;
use smallvec::{SmallVec, smallvec};

/// Pivots below this fraction of the largest entry tell nothing.
const REGULAR: f64 = 1e-3;

/// A condition missed by this fraction of the impulses or velocities is missed whatever rounding does.
const CLEAR: f64 = 1e-3;

/// Unknown of a closed contact: an impulse on its normal, and as many times that on its tangent.
#[derive(Clone, Copy)]
struct Unknown {
    slot: usize,
    tangential: f64,
    scale: f64,
}

/// True if the modes cannot hold: the velocities that closed contacts end with leave one choice of impulses,
/// which clearly breaks another condition. False if in doubt. Modes are without caps.
pub(super) fn are_refuted(space: &ContactSpace, before: &[f64], modes: &[EndMode]) -> bool {
    let mut rows: SmallVec<[usize; 8]> = SmallVec::new();
    let mut unknowns: SmallVec<[Unknown; 8]> = SmallVec::new();
    let width = space.width();
    for (contact, mode) in modes.iter().enumerate() {
        let (normal, friction) = (contact * width, space.friction[contact]);
        if *mode == EndMode::Open {
            continue;
        }
        rows.push(normal);
        let tangential = mode
            .sliding()
            .map_or(0.0, |direction| -direction * friction);
        let scale = 1.0 / friction.max(1.0);
        unknowns.push(Unknown {
            slot: normal,
            tangential: tangential * scale,
            scale: if tangential == 0.0 { 1.0 } else { scale },
        });
        if mode.sticks() && friction > 0.0 {
            rows.push(normal + 1);
            unknowns.push(Unknown {
                slot: normal + 1,
                tangential: 0.0,
                scale: 1.0,
            });
        }
    }
    let rate = |row: usize, unknown: &Unknown| {
        let along = match unknown.tangential {
            0.0 => 0.0,
            tangential => tangential * space.gram[(row, unknown.slot + 1)],
        };
        unknown.scale * space.gram[(row, unknown.slot)] + along
    };
    let k = rows.len();
    // Rows of the system, each with its right-hand side.
    let mut system: SmallVec<[f64; 64]> = smallvec![0.0; k * (k + 1)];
    for (line, row) in system.chunks_exact_mut(k + 1).zip(&rows) {
        for (x, unknown) in line.iter_mut().zip(&unknowns) {
            *x = rate(*row, unknown);
        }
        line[k] = -before[*row];
    }
    if !eliminate(&mut system, k) {
        return false;
    }
    let x = |j: usize| system[j * (k + 1) + k];
    let largest = (0..k).fold(0.0, |a, j| f64::max(a, x(j).abs()));
    let speed = before.iter().fold(largest, |a, b| f64::max(a, b.abs()));
    let mut next = 0;
    for (contact, mode) in modes.iter().enumerate() {
        let (normal, friction) = (contact * width, space.friction[contact]);
        if *mode != EndMode::Open {
            let push = x(next);
            next += 1;
            if push < -CLEAR * largest {
                return true;
            }
            if mode.sticks() && friction > 0.0 {
                let excess = x(next).abs() - friction * push;
                next += 1;
                if excess > CLEAR * largest * friction.max(1.0) {
                    return true;
                }
            }
        }
        let (row, sign) = match mode.sliding() {
            Some(direction) => (normal + 1, direction),
            None if *mode == EndMode::Open => (normal, 1.0),
            None => continue,
        };
        let made = unknowns.iter().enumerate();
        let made: f64 = made.map(|(j, unknown)| rate(row, unknown) * x(j)).sum();
        if sign * (before[row] + made) < -CLEAR * speed {
            return true;
        }
    }
    false
}

/// Solves k equations in place by elimination with row exchanges: the solution is the last column. False if a
/// pivot is small.
fn eliminate(system: &mut [f64], k: usize) -> bool {
    let width = k + 1;
    let largest = system.chunks_exact(width).flat_map(|line| &line[..k]);
    let least = REGULAR * largest.fold(0.0, |a: f64, x| a.max(x.abs()));
    for column in 0..k {
        let size = |row: &usize| system[row * width + column].abs();
        let pivot = (column..k).max_by(|i, j| size(i).total_cmp(&size(j)));
        let Some(pivot) = pivot.filter(|row| size(row) > least) else {
            return false;
        };
        for j in 0..width {
            system.swap(pivot * width + j, column * width + j);
        }
        let divisor = system[column * width + column];
        for j in column..width {
            system[column * width + j] /= divisor;
        }
        for row in (0..k).filter(|row| *row != column) {
            let factor = system[row * width + column];
            for j in column..width {
                system[row * width + j] -= factor * system[column * width + j];
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_solves_three_equations() {
        let mut system = [0.0, 2.0, 1.0, 7.0, 1.0, 1.0, 0.0, 3.0, 2.0, 0.0, 1.0, 5.0];
        assert!(eliminate(&mut system, 3));
        let solution = [system[3], system[7], system[11]];
        for (x, expected) in solution.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - expected).abs() <= 1e-14, "{solution:?}");
        }
    }

    #[test]
    fn elimination_does_not_trust_dependent_equations() {
        assert!(!eliminate(&mut [1.0, 2.0, 3.0, 2.0, 4.0, 6.0], 2));
    }
}
