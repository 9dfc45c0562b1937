//! Velocity constraints in a step: $A(q)v = 0$.

use super::{Point, StepFailure};
use carom_mechanism::MechanicalSystem;
use carom_metric::kernel;
use carom_numeric::dense;

/// Velocity constraints that a step keeps, with the kicks of its first half.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Indices of the constraints in the system.
    pub(super) indices: Vec<usize>,
    /// Impulse of each constraint in the first half of the step.
    pub(super) impulses: Vec<f64>,
    /// Rows at the start of the step, one after the other.
    rows: Vec<f64>,
    /// Number of coordinates.
    n: usize,
}

impl Held {
    /// All constraints of a system.
    pub(super) fn all<S: MechanicalSystem + ?Sized>(system: &S) -> Self {
        Self::of(
            system.dimension(),
            (0..system.constraints().len()).collect(),
        )
    }

    fn of(n: usize, indices: Vec<usize>) -> Self {
        Self {
            impulses: vec![0.0; indices.len()],
            rows: vec![0.0; indices.len() * n],
            indices,
            n,
        }
    }

    /// Constraints whose rows at a point are independent of those before them.
    pub(super) fn independent<S: MechanicalSystem + ?Sized>(
        system: &S,
        point: &Point,
        threshold: f64,
    ) -> Self {
        let mut all = Self::all(system);
        let n = all.n;
        all.start(system, &point.configuration);
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut indices = Vec::new();
        for (index, row) in all.rows.chunks_exact_mut(n).enumerate() {
            let norm = point.norm_of(row);
            if deflate(row, &basis) > threshold * norm {
                basis.push(unit(row));
                indices.push(index);
            }
        }
        Self::of(n, indices)
    }

    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    /// Computes the rows at the start of a step, and sets the impulses to zero.
    pub(super) fn start<S: MechanicalSystem + ?Sized>(&mut self, system: &S, q: &[f64]) {
        self.impulses.fill(0.0);
        fill(system, &self.indices, q, &mut self.rows);
    }

    /// Adds the kicks at the start to the momentum residuals and writes the velocities of the constraints at the middle of the step
    /// behind them. `terms` receives the sums of the absolute values of the terms of each residual. `middle`, `mean`:
    /// configuration there and mean velocity.
    pub(super) fn residuals<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        (middle, mean): (&[f64], &[f64]),
        residual: &mut [f64],
        terms: &mut [f64],
    ) {
        if self.indices.is_empty() {
            return;
        }
        self.add_impulses(&mut residual[..self.n]);
        let mut row = vec![0.0; self.n];
        for (i, (index, start)) in self.indices.iter().zip(self.start_rows()).enumerate() {
            for (term, a) in terms.iter_mut().zip(start) {
                *term += (self.impulses[i] * a).abs();
            }
            system.constraint_row(*index, middle, &mut row);
            residual[self.n + i] = kernel::dot(&row, mean);
            terms[self.n + i] = row.iter().zip(mean).map(|(a, w)| (a * w).abs()).sum();
        }
    }

    /// Writes the columns of the impulses and the rows of the constraints into the Jacobian of a step, whose half length is `half` (s).
    pub(super) fn assemble<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        (middle, mean): (&[f64], &[f64]),
        half: f64,
        jacobian: &mut [f64],
        size: usize,
    ) {
        if self.indices.is_empty() {
            return;
        }
        let (mut row, mut change) = (vec![0.0; self.n], vec![0.0; self.n]);
        for (i, (index, start)) in self.indices.iter().zip(self.start_rows()).enumerate() {
            let at = (self.n + i) * size;
            jacobian[at..at + self.n].copy_from_slice(start);
            system.constraint_row(*index, middle, &mut row);
            system.constraint_derivative(*index, middle, mean, &mut change);
            for (j, (a, da)) in row.iter().zip(&change).enumerate() {
                jacobian[j * size + self.n + i] = a + half * da;
            }
        }
    }

    pub(super) fn add_impulses(&self, momentum: &mut [f64]) {
        for (impulse, row) in self.impulses.iter().zip(self.start_rows()) {
            kernel::add_scaled(momentum, *impulse, row);
        }
    }

    fn start_rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.n.max(1))
    }

    /// Removes from a momentum what the constraints do not admit, $p\leftarrow p+A^T\lambda$ with $AM^{-1}p=0$, and sets the velocity.
    pub(super) fn project<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        point: &mut Point,
    ) -> Result<(), StepFailure> {
        let (n, m) = (self.n, self.indices.len());
        if m == 0 {
            return Ok(());
        }
        let mut rows = vec![0.0; m * n];
        fill(system, &self.indices, &point.configuration, &mut rows);
        let mut whitened = rows.clone();
        for row in whitened.chunks_exact_mut(n) {
            dense::whiten(point.mass.as_slice(), row);
        }
        let mut matrix = Vec::with_capacity(m * m);
        for a in whitened.chunks_exact(n) {
            matrix.extend(whitened.chunks_exact(n).map(|b| kernel::dot(a, b)));
        }
        let mut pivots = vec![0; m];
        if !dense::lu(&mut matrix, m, &mut pivots) {
            return Err(StepFailure::NotConverged);
        }
        // The second correction removes the rounding of the first.
        for _ in 0..2 {
            let rates = rows
                .chunks_exact(n)
                .map(|row| kernel::dot(row, &point.velocity));
            let mut impulses: Vec<f64> = rates.collect();
            dense::lu_solve(&matrix, &pivots, &mut impulses);
            for (impulse, row) in impulses.iter().zip(rows.chunks_exact(n)) {
                kernel::add_scaled(&mut point.momentum, -impulse, row);
            }
            point.velocity_from_momentum();
        }
        if kernel::is_finite(&point.velocity) {
            Ok(())
        } else {
            Err(StepFailure::NotConverged)
        }
    }

    /// Returns an orthonormal basis of the whitened rows at a point.
    pub(super) fn basis<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        point: &Point,
    ) -> Vec<Vec<f64>> {
        let mut rows = vec![0.0; self.indices.len() * self.n];
        fill(system, &self.indices, &point.configuration, &mut rows);
        let mut basis: Vec<Vec<f64>> = Vec::with_capacity(self.indices.len());
        for row in rows.chunks_exact_mut(self.n.max(1)) {
            dense::whiten(point.mass.as_slice(), row);
            if deflate(row, &basis) > 0.0 {
                basis.push(unit(row));
            }
        }
        basis
    }
}

fn fill<S: MechanicalSystem + ?Sized>(system: &S, indices: &[usize], q: &[f64], rows: &mut [f64]) {
    for (index, row) in indices.iter().zip(rows.chunks_exact_mut(q.len())) {
        system.constraint_row(*index, q, row);
    }
}

/// Removes from a vector its part in the span of an orthonormal basis, such as that of
/// [`constraint_basis`](super::Stepper::constraint_basis), and returns the norm of the rest.
pub fn deflate(vector: &mut [f64], basis: &[Vec<f64>]) -> f64 {
    for _ in 0..2 {
        for direction in basis {
            let along = kernel::dot(direction, vector);
            kernel::add_scaled(vector, -along, direction);
        }
    }
    kernel::norm(vector)
}

fn unit(vector: &[f64]) -> Vec<f64> {
    let norm = kernel::norm(vector);
    vector.iter().map(|x| x / norm).collect()
}
