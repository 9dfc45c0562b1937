//! Programs for the best multipliers of Theorem 1.

use super::barrier::{AffineCone, Barrier};
use carom_numeric::decisions::Budget;
use nalgebra::{DMatrix, DVector};

/// Bound of the unknowns of Theorem 2: of a multiplier, relative to the length of the direction, and of each moment.
pub(super) const LARGEST: f64 = 1e3;

/// Bound of the multipliers of Theorem 1, relative to the length of the direction. Larger multipliers prove that a contact
/// cannot close last, not how large $c\cdot v^+$ can be.
const LARGEST_MULTIPLIER: f64 = 1e4;

/// Distance of a bound from the best one, in units of the speed before the impact, at which the search ends.
const GAP: f64 = 1e-8;

/// Smallest margin of work, relative to the impulse, with which a velocity is an interior one.
const LEAST_MARGIN: f64 = 1e-6;

/// Problem in whitened coordinates: normals of unit length, and momentum before the impact with $\lVert p\rVert = 1$.
pub(super) struct Whitened {
    pub(super) normals: Vec<DVector<f64>>,
    /// Tangents multiplied by $\mu$ and divided by the length of the normal; empty without friction.
    pub(super) slides: Vec<Vec<DVector<f64>>>,
    pub(super) momentum: DVector<f64>,
}

impl Whitened {
    pub(super) fn dim(&self) -> usize {
        self.momentum.len()
    }

    /// Returns the conditions that every admissible impulse does nonnegative work along the velocity $w$, whose entries are
    /// consecutive unknowns of a program with `count` unknowns, starting at index `first`.
    fn dual(&self, first: usize, count: usize) -> Vec<AffineCone> {
        let contacts = self.normals.iter().zip(&self.slides);
        let cone = |(normal, slides): (&DVector<f64>, &Vec<DVector<f64>>)| {
            let mut cone = AffineCone::zeros(1 + slides.len(), count);
            for (r, row) in std::iter::once(normal).chain(slides).enumerate() {
                let mut entries = cone.rows.view_mut((r, first), (1, self.dim()));
                entries.tr_copy_from(row);
            }
            cone
        };
        contacts.map(cone).collect()
    }

    /// Finds the multipliers of Theorem 1 (momentum, friction cones and energy) with the smallest upper bound of the
    /// velocity along `direction` (whitened, unit length), if contact `last` pushes in the last step. Returns $\nu$
    /// (one per contact) and the whitened velocity $w$ (n entries). `None` if the budget ends. `interior` is a whitened
    /// velocity along which every admissible impulse does positive work.
    pub(super) fn best(
        &self,
        direction: &DVector<f64>,
        last: usize,
        interior: &DVector<f64>,
        budget: &mut Budget,
    ) -> Option<(Vec<f64>, DVector<f64>)> {
        let (m, n) = (self.normals.len(), self.dim());
        let (length, count) = (m + n, m + n + 1);
        // The length of c + Jₙ'ν + Mw is the last unknown.
        let mut sum = AffineCone::zeros(n + 1, count);
        sum.rows[(0, length)] = 1.0;
        for (i, normal) in self.normals.iter().enumerate() {
            sum.rows.view_mut((1, i), (n, 1)).copy_from(normal);
        }
        sum.rows.view_mut((1, m), (n, n)).fill_with_identity();
        sum.constant.rows_mut(1, n).copy_from(direction);
        let mut cones = self.dual(m, count);
        cones.push(sum);
        let mut cost = DVector::zeros(count);
        cost.rows_mut(m, n).copy_from(&-&self.momentum);
        cost[length] = 1.0;
        let mut floor = vec![-LARGEST_MULTIPLIER; count];
        floor[..m].fill(0.0);
        floor[last] = -LARGEST_MULTIPLIER;
        let program = Barrier {
            cost,
            gap: GAP,
            definite: Vec::new(),
            cones,
            floor,
            largest: LARGEST_MULTIPLIER,
        };
        if !program.is_affordable(budget) {
            return None;
        }
        let mut start = DVector::zeros(count);
        start.rows_mut(0, m).fill(1.0 / m as f64);
        start.rows_mut(m, n).copy_from(interior);
        // Direction, normals and interior velocity have at most unit length each.
        start[length] = 4.0;
        let x = program.minimize(start, budget);
        let w = x.rows(m, n).into_owned();
        Some((x.as_slice()[..m].to_vec(), w))
    }

    /// Finds a whitened velocity of at most unit length along which every admissible impulse does positive work, with
    /// the largest margin. `None` if there is no such velocity, because the cone of admissible impulses is not pointed.
    /// `budget` limits the work.
    pub(super) fn interior(&self, budget: &mut Budget) -> Option<DVector<f64>> {
        let n = self.dim();
        let mut cones = self.dual(0, n + 1);
        for cone in &mut cones {
            cone.rows[(0, n)] = -1.0;
        }
        let mut ball = AffineCone::zeros(n + 1, n + 1);
        ball.constant[0] = 1.0;
        ball.rows.view_mut((1, 0), (n, n)).fill_with_identity();
        cones.push(ball);
        let mut start = DVector::zeros(n + 1);
        start[n] = -1.0;
        let mut cost = DVector::zeros(n + 1);
        cost[n] = -1.0;
        let program = Barrier {
            cost,
            gap: GAP,
            definite: Vec::new(),
            cones,
            floor: vec![-2.0; n + 1],
            largest: 2.0,
        };
        let x = program.minimize(start, budget);
        (x[n] > LEAST_MARGIN).then(|| x.rows(0, n).into_owned())
    }
}

/// Returns the position of entry (i, j) of a symmetric n × n matrix in the list of its upper triangle, row by row.
pub(super) fn place(n: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * n - i * (i + 1) / 2 + j
}

/// Builds a symmetric n × n matrix from the list `x` of its upper triangle, row by row.
pub(super) fn symmetric(n: usize, x: &[f64]) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| x[place(n, i, j)])
}
