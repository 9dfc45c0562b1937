//! Fast exclusion of most mode combinations of planar contacts by Gaussian elimination, without least squares.

use super::end_mode::EndMode;
use super::space::ContactSpace;
use carom_numeric::decisions::RANK;
use smallvec::{SmallVec, smallvec};

/// Violation of a condition, as a fraction of the impulses or velocities, that rounding cannot explain, and ratio to the largest
/// entry of a pivot large enough for a decision.
const CLEAR: f64 = 1e-3;

/// Unknown impulse of a closed contact: `scale` times the unknown on `slot`, and `tangential` times that on the next slot.
#[derive(Clone, Copy)]
struct Unknown {
    slot: usize,
    tangential: f64,
    scale: f64,
}

/// True if a combination of contact modes is impossible: the final velocities of the closed contacts determine the impulses,
/// and these impulses clearly violate another condition. False if in doubt. `before`: velocities of the normalized contact
/// rows before the step; `modes`: one per contact. Modes with an impulse at its upper bound are not allowed.
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
            tangential,
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
        unknown.scale * space.rate_by(row, unknown.slot, unknown.tangential)
    };
    let k = rows.len();
    // Equations, each with its right-hand side in the last column.
    let mut system: SmallVec<[f64; 64]> = smallvec![0.0; k * (k + 1)];
    for (line, row) in system.chunks_exact_mut(k + 1).zip(&rows) {
        for (x, unknown) in line.iter_mut().zip(&unknowns) {
            *x = rate(*row, unknown);
        }
        line[k] = -before[*row];
    }
    let speed = before.iter().fold(0.0, |a, b| f64::max(a, b.abs()));
    let mut order: SmallVec<[usize; 8]> = (0..k).collect();
    match eliminate(&mut system, k, speed, &mut order) {
        Elimination::Solved => {}
        Elimination::Contradictory => return true,
        Elimination::Unclear => return false,
    }
    let mut solution: SmallVec<[f64; 8]> = smallvec![0.0; k];
    for (line, unknown) in system.chunks_exact(k + 1).zip(&order) {
        solution[*unknown] = line[k];
    }
    let x = |j: usize| solution[j];
    let largest = solution.iter().fold(0.0, |a, x| f64::max(a, x.abs()));
    let speed = f64::max(largest, speed);
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

/// Result of an elimination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elimination {
    /// Solved: the last column holds the solution, in the order of the unknowns that `order` returns.
    Solved,
    /// Linearly dependent equations clearly contradict each other.
    Contradictory,
    /// Pivots are too small for a decision.
    Unclear,
}

/// Solves `k` linear equations in place by elimination with row and column exchanges. Each equation has `k` coefficients
/// and the right-hand side. If equations are dependent, right-hand sides that differ by less than [`CLEAR`] times `speed`
/// do not contradict each other. `order` receives the unknown of each row.
fn eliminate(system: &mut [f64], k: usize, speed: f64, order: &mut [usize]) -> Elimination {
    let width = k + 1;
    let entries = system.chunks_exact(width).flat_map(|line| &line[..k]);
    let largest = entries.fold(0.0, |a: f64, x| a.max(x.abs()));
    for step in 0..k {
        let (mut place, mut pivot) = ((step, step), 0.0f64);
        for row in step..k {
            for column in step..k {
                let size = system[row * width + column].abs();
                if size > pivot {
                    (place, pivot) = ((row, column), size);
                }
            }
        }
        if !(pivot > CLEAR * largest) {
            let differs = |row: usize| system[row * width + k].abs() > CLEAR * speed;
            return if pivot <= RANK * largest && (step..k).any(differs) {
                Elimination::Contradictory
            } else {
                Elimination::Unclear
            };
        }
        for j in 0..width {
            system.swap(place.0 * width + j, step * width + j);
        }
        for row in 0..k {
            system.swap(row * width + place.1, row * width + step);
        }
        order.swap(place.1, step);
        let divisor = system[step * width + step];
        for j in step..width {
            system[step * width + j] /= divisor;
        }
        for row in (0..k).filter(|row| *row != step) {
            let factor = system[row * width + step];
            for j in step..width {
                system[row * width + j] -= factor * system[step * width + j];
            }
        }
    }
    Elimination::Solved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_solves_three_equations() {
        let mut system = [0.0, 2.0, 1.0, 7.0, 1.0, 1.0, 0.0, 3.0, 2.0, 0.0, 1.0, 5.0];
        let mut order = [0, 1, 2];
        let end = eliminate(&mut system, 3, 1.0, &mut order);
        assert_eq!(end, Elimination::Solved);
        let lines = [system[3], system[7], system[11]];
        for (x, unknown) in lines.iter().zip(order) {
            let expected = [1.0, 2.0, 3.0][unknown];
            assert!((x - expected).abs() <= 1e-14, "{lines:?}");
        }
    }

    #[test]
    fn dependent_equations_contradict_each_other_or_tell_nothing() {
        let end =
            |right: f64| eliminate(&mut [1.0, 2.0, 3.0, 2.0, 4.0, right], 2, 1.0, &mut [0, 1]);
        assert_eq!(end(6.0), Elimination::Unclear);
        assert_eq!(end(7.0), Elimination::Contradictory);
    }
}
