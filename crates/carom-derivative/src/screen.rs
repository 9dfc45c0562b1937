//! A cheap test that most combinations of contact modes fail: one of their conditions is violated at all velocities near
//! the present one.
//!
//! The test works on the velocities and impulses along the rows of contacts and constraints, and derives the gradient of a
//! condition only if the condition is violated.

use super::branch::CONSTANT;
use super::form::Form;
use super::frame::Frame;
use super::mode::{Mode, Terms};
use super::reading::{Grip, Reading};
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;

/// Rounding of the value of a condition, relative to the magnitudes of all its terms. Generous: conditions that are
/// violated by less are examined with all their derivatives.
const ROUNDING: f64 = 1e-9;

/// Pivot, relative to the largest coefficient, below which equations may depend on each other.
const REGULAR: f64 = 1e-8;

/// Part of the unknowns, equations and conditions of a combination of modes: those of one contact in one mode, or those of
/// all constraints.
struct Part {
    unknowns: Vec<Terms>,
    /// Changes of the velocities along all rows per unit of each unknown.
    effects: Vec<Vec<f64>>,
    /// Linear form of the row velocities, and one plus the restitution.
    equations: Vec<(Terms, f64)>,
    conditions: Vec<Form>,
    /// Prescribed impulses on all rows, and the changes of the row velocities that they cause; `None` without prescribed impulses.
    given: Option<[Vec<f64>; 2]>,
}

/// Work buffers of a screening, with one entry per unknown or per row.
#[derive(Default)]
struct Buffers {
    /// Matrix of the equations, later its inverse (by rows).
    matrix: Vec<f64>,
    swaps: Vec<usize>,
    missed: Vec<f64>,
    missed_sizes: Vec<f64>,
    x: Vec<f64>,
    sizes: Vec<f64>,
    impulses: Vec<f64>,
    impulse_sizes: Vec<f64>,
    speeds: Vec<f64>,
    speed_sizes: Vec<f64>,
    gradient: Vec<f64>,
}

/// Conditions of all combinations of contact modes of one step, along the rows of contacts and constraints.
pub(super) struct Screen {
    /// Velocities along all rows before the step.
    before: Vec<f64>,
    /// Products of the rows in the metric of changes of the velocity before the impact (rows × rows).
    products: Vec<f64>,
    /// For each contact its modes, in the order of the lists of modes.
    contacts: Vec<Vec<Part>>,
    constraints: Part,
    buffers: Buffers,
}

impl Screen {
    /// Creates the screen of a step in which the contacts with the impulses and velocities `readings` take part, in any of
    /// their possible modes `lists`. `before` is the velocity before the step and `slopes` its Jacobian with respect to the
    /// velocity before the impact.
    pub(super) fn new(
        frame: &Frame<'_>,
        readings: &[&Reading<'_>],
        lists: &[Vec<Grip>],
        before: &DVector<f64>,
        slopes: &DMatrix<f64>,
    ) -> Self {
        let inertia = frame.rows.tr_mul(&frame.rows);
        let seen = slopes.tr_mul(&frame.rows);
        let parts = |(reading, grips): (&&Reading<'_>, &Vec<Grip>)| {
            let of = |grip: &Grip| {
                let mut mode = Mode::default();
                let mut conditions = Vec::new();
                reading.add(*grip, &mut mode, &mut conditions);
                let mut given = DVector::zeros(frame.n_rows());
                reading.given(*grip, &mut given);
                Part::new(&inertia, mode, conditions, given)
            };
            grips.iter().map(of).collect()
        };
        let mut held = Mode::default();
        held.hold_rows(frame.constraints_by_rank().0);
        let constraints = Part::new(&inertia, held, Vec::new(), DVector::zeros(frame.n_rows()));
        Self {
            before: frame.rows.tr_mul(before).as_slice().to_vec(),
            products: seen.tr_mul(&seen).as_slice().to_vec(),
            contacts: readings.iter().zip(lists).map(parts).collect(),
            constraints,
            buffers: Buffers::default(),
        }
    }

    /// True if the combination of modes with the number `code` (see [`combination`](super::friction::combination)) violates one
    /// of its conditions at all velocities before the impact within the distance `within` (kinetic norm). False if the cheap
    /// test cannot tell, for instance if contacts depend on each other.
    pub(super) fn excludes(&mut self, mut code: usize, within: f64) -> bool {
        let mut parts: SmallVec<[&Part; 8]> = SmallVec::new();
        for modes in &self.contacts {
            parts.push(&modes[code % modes.len()]);
            code /= modes.len();
        }
        parts.push(&self.constraints);
        let buffers = &mut self.buffers;
        if !buffers.solve(&parts, &self.before) {
            return false;
        }
        let conditions = parts.iter().flat_map(|part| &part.conditions);
        for condition in conditions {
            let (value, size) = buffers.value(condition, &self.before);
            let beyond = value + ROUNDING * size;
            if beyond >= 0.0 {
                continue;
            }
            let slope = buffers.slope(condition, &parts, &self.products);
            if slope > CONSTANT && -beyond > within * slope * (1.0 + ROUNDING) {
                return true;
            }
        }
        false
    }
}

impl Part {
    fn new(inertia: &DMatrix<f64>, mode: Mode, conditions: Vec<Form>, given: DVector<f64>) -> Self {
        let effect = |terms: &Terms| {
            let mut effect = vec![0.0; inertia.nrows()];
            for (row, c) in terms {
                kernel::add_scaled(&mut effect, *c, inertia.column(row.index()).as_slice());
            }
            effect
        };
        let has_given = given.iter().any(|l| *l != 0.0);
        let equations = mode.equations.into_iter();
        Self {
            effects: mode.unknowns.iter().map(effect).collect(),
            unknowns: mode.unknowns.into_vec(),
            equations: equations
                .map(|equation| (equation.velocities, 1.0 + equation.rebound.value()))
                .collect(),
            conditions,
            given: has_given.then(|| [&given, &(inertia * &given)].map(|x| x.as_slice().to_vec())),
        }
    }
}

/// Value of a linear form of the rows, whose values are `of`.
fn along(terms: &Terms, of: &[f64]) -> f64 {
    terms.iter().map(|(row, c)| c * of[row.index()]).sum()
}

/// Sum of the magnitudes of the terms of a linear form of the rows, whose values have the magnitudes `of`.
fn size_along(terms: &Terms, of: &[f64]) -> f64 {
    terms.iter().map(|(row, c)| c.abs() * of[row.index()]).sum()
}

fn add_scaled_size(out: &mut [f64], factor: f64, of: &[f64]) {
    for (out, x) in out.iter_mut().zip(of) {
        *out += factor * x.abs();
    }
}

/// Inverts a square matrix of `p` rows in place (Gauss and Jordan, with exchanges of rows, which `swaps` records). False if a
/// pivot is so small that the rows may depend on each other. The inverse itself is needed: its magnitudes bound the rounding of the
/// solution. A stage, which handles dependent rows, exchanges columns as well, for twice the work.
fn invert(matrix: &mut [f64], p: usize, swaps: &mut Vec<usize>) -> bool {
    let largest = matrix.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    swaps.clear();
    for k in 0..p {
        let mut best = k;
        for i in k + 1..p {
            if matrix[i * p + k].abs() > matrix[best * p + k].abs() {
                best = i;
            }
        }
        if !(matrix[best * p + k].abs() > REGULAR * largest) {
            return false;
        }
        swaps.push(best);
        if best != k {
            let (upper, lower) = matrix.split_at_mut(best * p);
            upper[k * p..(k + 1) * p].swap_with_slice(&mut lower[..p]);
        }
        let pivot = 1.0 / matrix[k * p + k];
        matrix[k * p + k] = 1.0;
        let (above, rest) = matrix.split_at_mut(k * p);
        let (row, below) = rest.split_at_mut(p);
        row.iter_mut().for_each(|x| *x *= pivot);
        for other in above.chunks_exact_mut(p).chain(below.chunks_exact_mut(p)) {
            let factor = std::mem::replace(&mut other[k], 0.0);
            kernel::add_scaled(other, -factor, row);
        }
    }
    for (k, swap) in swaps.iter().enumerate().rev() {
        for row in matrix.chunks_exact_mut(p) {
            row.swap(k, *swap);
        }
    }
    true
}

fn fill(of: &mut Vec<f64>, n: usize) {
    of.clear();
    of.resize(n, 0.0);
}

impl Buffers {
    /// Computes the velocities and impulses along all rows in a combination of modes, with the magnitudes of their terms, from
    /// the row velocities `before`. False if the equations depend on each other.
    fn solve(&mut self, parts: &[&Part], before: &[f64]) -> bool {
        let n_rows = before.len();
        for of in [&mut self.impulses, &mut self.impulse_sizes] {
            fill(of, n_rows);
        }
        self.speeds.clear();
        self.speeds.extend_from_slice(before);
        self.speed_sizes.clear();
        self.speed_sizes.extend(before.iter().map(|u| u.abs()));
        for [impulses, effects] in parts.iter().filter_map(|part| part.given.as_ref()) {
            kernel::add_scaled(&mut self.impulses, 1.0, impulses);
            add_scaled_size(&mut self.impulse_sizes, 1.0, impulses);
            kernel::add_scaled(&mut self.speeds, 1.0, effects);
            add_scaled_size(&mut self.speed_sizes, 1.0, effects);
        }
        let p: usize = parts.iter().map(|part| part.unknowns.len()).sum();
        fill(&mut self.matrix, p * p);
        for of in [
            &mut self.missed,
            &mut self.missed_sizes,
            &mut self.x,
            &mut self.sizes,
        ] {
            fill(of, p);
        }
        let equations = parts.iter().flat_map(|part| &part.equations);
        for (i, (terms, growth)) in equations.enumerate() {
            let effects = parts.iter().flat_map(|part| &part.effects);
            for (entry, effect) in self.matrix[i * p..].iter_mut().zip(effects) {
                *entry = along(terms, effect);
            }
            self.missed[i] = along(terms, &self.speeds) + (growth - 1.0) * along(terms, before);
            self.missed_sizes[i] = growth * size_along(terms, &self.speed_sizes);
        }
        if !invert(&mut self.matrix, p, &mut self.swaps) {
            return false;
        }
        let rows = self.matrix.chunks_exact(p.max(1));
        for ((x, size), row) in self.x.iter_mut().zip(&mut self.sizes).zip(rows) {
            *x = -kernel::dot(row, &self.missed);
            let terms = row.iter().zip(&self.missed_sizes);
            *size = terms.map(|(a, b)| a.abs() * b).sum();
        }
        let unknowns = parts.iter().flat_map(|part| &part.unknowns);
        let effects = parts.iter().flat_map(|part| &part.effects);
        for (j, (unknown, effect)) in unknowns.zip(effects).enumerate() {
            kernel::add_scaled(&mut self.speeds, self.x[j], effect);
            add_scaled_size(&mut self.speed_sizes, self.sizes[j], effect);
            for (row, c) in unknown {
                self.impulses[row.index()] += c * self.x[j];
                self.impulse_sizes[row.index()] += c.abs() * self.sizes[j];
            }
        }
        true
    }

    /// Returns the value of a condition at the present velocity, and the sum of the magnitudes of its terms.
    fn value(&self, condition: &Form, before: &[f64]) -> (f64, f64) {
        let value = along(&condition.after, &self.speeds)
            + along(&condition.before, before)
            + along(&condition.impulses, &self.impulses)
            + condition.constant;
        // The magnitudes after the step include those before it.
        let size = size_along(&condition.after, &self.speed_sizes)
            + size_along(&condition.before, &self.speed_sizes)
            + size_along(&condition.impulses, &self.impulse_sizes)
            + condition.constant.abs();
        (value, size)
    }

    /// Returns the norm of the gradient of a condition with respect to the velocity before the impact.
    fn slope(&mut self, condition: &Form, parts: &[&Part], products: &[f64]) -> f64 {
        let n_rows = self.speeds.len();
        let p = self.x.len();
        fill(&mut self.gradient, n_rows);
        for (row, c) in condition.after.iter().chain(&condition.before) {
            self.gradient[row.index()] += c;
        }
        let unknowns = parts.iter().flat_map(|part| &part.unknowns);
        let effects = parts.iter().flat_map(|part| &part.effects);
        for (j, (unknown, effect)) in unknowns.zip(effects).enumerate() {
            let mut by = along(&condition.after, effect);
            for (row, c) in &condition.impulses {
                let own = unknown.iter().filter(|(other, _)| other == row);
                by += c * own.map(|(_, s)| s).sum::<f64>();
            }
            if by == 0.0 {
                continue;
            }
            let inverse = &self.matrix[j * p..(j + 1) * p];
            let equations = parts.iter().flat_map(|part| &part.equations);
            for ((terms, growth), inverse) in equations.zip(inverse) {
                for (row, t) in terms {
                    self.gradient[row.index()] -= by * inverse * growth * t;
                }
            }
        }
        let columns = products.chunks_exact(n_rows.max(1));
        let columns = self.gradient.iter().zip(columns);
        let square: f64 = columns
            .map(|(g, column)| g * kernel::dot(column, &self.gradient))
            .sum();
        square.max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_one() {
        let given = DMatrix::from_row_slice(3, 3, &[0.0, 2.0, 1.0, 4.0, 1.0, -1.0, 2.0, 0.5, 3.0]);
        let mut matrix = given.transpose().as_slice().to_vec();
        assert!(invert(&mut matrix, 3, &mut Vec::new()));
        let inverse = DMatrix::from_row_slice(3, 3, &matrix);
        assert!((inverse * given - DMatrix::identity(3, 3)).amax() < 1e-15);
        let mut dependent = vec![1.0, 2.0, 2.0, 4.0];
        assert!(!invert(&mut dependent, 2, &mut Vec::new()));
        assert!(invert(&mut [], 0, &mut Vec::new()));
    }
}
