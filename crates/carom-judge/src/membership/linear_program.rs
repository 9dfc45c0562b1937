//! Small dense linear programs: minimize the distance to a target under linear conditions.

use crate::tolerances::EQUAL;
use crate::tolerances::ROUNDED;
use carom_numeric::sums::{two_product, two_sum};
use nalgebra::{DMatrix, DVector};

/// Small costs of the unknowns that keep the dual simplex method from stalling, far below the cost of the distance.
const SMALL_COST: f64 = 1e-7;

/// Fractional part of the golden ratio.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Violation of a condition that is accepted after the last correction.
const ACCEPTED: f64 = 1e-10;

/// Number of corrections of a vertex by residuals in twice the precision.
const CORRECTIONS: usize = 3;

/// Condition on $a \cdot x$ in a row of a [`Program`]; $b$ is the value of the row and $t$ the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// $a \cdot x = b$.
    Equal,
    /// $a \cdot x \ge b$.
    AtLeast,
    /// $|a \cdot x - b| \le t$.
    Near,
}

/// Linear program: the smallest distance $t \ge 0$ for which some $x \ge 0$ satisfies every row.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// Number of unknowns without the distance.
    n: usize,
    /// Coefficients of all rows, `n` for the unknowns and one for the distance in each.
    coefficients: Vec<f64>,
    /// Constant of each row.
    constants: Vec<f64>,
    /// True for rows of equalities.
    is_equality: Vec<bool>,
}

/// Vertex with the smallest distance.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Vertex {
    /// Values of the unknowns.
    pub(super) x: Vec<f64>,
    /// Distance $t$.
    pub(super) value: f64,
}

/// Variable that belongs to a row or a column of the tableau.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// Unknown `j`; the last one is the distance.
    Unknown(usize),
    /// Slack variable of a row.
    Slack(usize),
}

/// Simplex tableau $s = T x_N + \beta$ with reduced costs, stored by rows.
struct Tableau {
    /// Length of a row in memory; its first `width` entries are used.
    stride: usize,
    width: usize,
    entries: Vec<f64>,
    constants: Vec<f64>,
    costs: Vec<f64>,
    basic: Vec<Name>,
    nonbasic: Vec<Name>,
    /// True for rows of equalities. They stay basic only if they depend linearly on other rows.
    is_equality: Vec<bool>,
    /// Number of multiply-adds so far.
    work: u64,
}

impl Program {
    /// Creates a linear program with `n` unknowns and no conditions.
    pub(super) fn new(n: usize) -> Self {
        Self {
            n,
            ..Self::default()
        }
    }

    /// Adds a condition on $a\cdot x$, with the unknowns $x$, to the linear program. `rule` tells if $a\cdot x$ must
    /// equal `b`, be at least `b`, or be near it; the function `a` fills in the coefficients.
    pub(super) fn push(&mut self, rule: Rule, b: f64, a: impl FnOnce(&mut [f64])) {
        let mut row = vec![0.0; self.n + 1];
        a(&mut row[..self.n]);
        if rule == Rule::Near {
            // One row for each side of the distance.
            row[self.n] = 1.0;
            self.coefficients.extend_from_slice(&row);
            self.constants.push(b);
            self.is_equality.push(false);
            row[..self.n].iter_mut().for_each(|a| *a = -*a);
        }
        self.coefficients.append(&mut row);
        self.constants.push(if rule == Rule::Near { -b } else { b });
        self.is_equality.push(rule == Rule::Equal);
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.coefficients[i * (self.n + 1)..(i + 1) * (self.n + 1)]
    }

    /// Computes the slack of a row, $a \cdot x - b$, at the unknowns and the distance `x` in twice the precision.
    fn slack(&self, i: usize, x: &[f64]) -> f64 {
        let (mut high, mut low) = (-self.constants[i], 0.0);
        for (a, x) in self.row(i).iter().zip(x) {
            let (product, product_error) = two_product(*a, *x);
            let (sum, sum_error) = two_sum(high, product);
            high = sum;
            low += product_error + sum_error;
        }
        high + low
    }

    /// Minimizes the distance of the linear program by the dual simplex method. This method can start from zero unknowns
    /// for any conditions, because no cost is negative. `work` counts multiply-adds. `None` if no unknowns satisfy the
    /// conditions, the limit of pivots was reached, or rounding errors spoiled the vertex.
    pub(super) fn solve(&self, work: &mut u64) -> Option<Vertex> {
        let mut tableau = Tableau::new(self);
        let is_optimal = tableau.optimize();
        *work += tableau.work;
        is_optimal.then(|| self.vertex(&tableau)).flatten()
    }

    /// Computes the unknowns of the linear program once more, from the conditions that the final tableau satisfies as
    /// equations, and corrects the unknowns by residuals in twice the precision. `None` if the result is inaccurate
    /// because of rounding errors.
    fn vertex(&self, tableau: &Tableau) -> Option<Vertex> {
        let mut unknowns = Vec::new();
        let mut is_tight = vec![true; tableau.n_rows()];
        for name in &tableau.basic {
            match *name {
                Name::Unknown(j) => unknowns.push(j),
                Name::Slack(r) => is_tight[r] = false,
            }
        }
        let tight: Vec<usize> = (0..is_tight.len()).filter(|r| is_tight[*r]).collect();
        let mut x = vec![0.0; self.n + 1];
        if !unknowns.is_empty() {
            if tight.len() != unknowns.len() {
                return None;
            }
            let size = tight.len();
            let matrix = DMatrix::from_fn(size, size, |r, c| self.row(tight[r])[unknowns[c]]);
            let lu = matrix.lu();
            for _ in 0..=CORRECTIONS {
                let residual = DVector::from_fn(size, |r, _| -self.slack(tight[r], &x));
                let step = lu.solve(&residual)?;
                for (j, d) in unknowns.iter().zip(step.iter()) {
                    x[*j] += d;
                }
            }
        }
        if x.iter().any(|x| !(*x >= -ACCEPTED)) {
            return None;
        }
        x.iter_mut().for_each(|x| *x = x.max(0.0));
        let is_met = self.is_equality.iter().enumerate().all(|(i, is_equality)| {
            let slack = self.slack(i, &x);
            slack >= -ACCEPTED && !(*is_equality && slack > ACCEPTED)
        });
        let value = x.pop()?;
        is_met.then_some(Vertex { x, value })
    }
}

impl Tableau {
    fn new(program: &Program) -> Self {
        let n = program.n;
        let stride = n + 1;
        // Different costs avoid ties between columns: fractional parts of multiples of the golden ratio.
        let cost = |j: usize| SMALL_COST * (1.0 + (j as f64 * GOLDEN).fract());
        let mut costs: Vec<f64> = (0..n).map(cost).collect();
        costs.push(1.0);
        Self {
            stride,
            width: stride,
            entries: program.coefficients.clone(),
            constants: program.constants.iter().map(|b| -b).collect(),
            costs,
            basic: (0..program.constants.len()).map(Name::Slack).collect(),
            nonbasic: (0..stride).map(Name::Unknown).collect(),
            is_equality: program.is_equality.clone(),
            work: 0,
        }
    }

    fn n_rows(&self) -> usize {
        self.basic.len()
    }

    fn row(&self, r: usize) -> &[f64] {
        &self.entries[r * self.stride..r * self.stride + self.width]
    }

    /// Returns true if an optimal vertex was found.
    fn optimize(&mut self) -> bool {
        // Equalities leave the basis for good, and their columns are removed.
        for row in 0..self.n_rows() {
            if !self.is_equality[row] {
                continue;
            }
            let beta = self.constants[row];
            let wanted = if beta < 0.0 { 1.0 } else { -1.0 };
            let mut column = self.entering(row, wanted);
            if column.is_none() && beta.abs() <= ROUNDED {
                column = self.entering(row, -wanted);
            }
            match column {
                Some(column) => {
                    self.pivot(row, column);
                    self.remove(column);
                }
                None if beta.abs() <= ACCEPTED => {}
                None => return false,
            }
        }
        let limit = 20 + 3 * (self.n_rows() + self.width);
        for _ in 0..limit {
            let Some(row) = self.leaving() else {
                return true;
            };
            let Some(column) = self.entering(row, 1.0) else {
                return false;
            };
            self.pivot(row, column);
        }
        false
    }

    /// Returns the row of the simplex tableau whose condition is violated most, which leaves the basis; `None` if all
    /// are satisfied.
    fn leaving(&self) -> Option<usize> {
        let mut worst = -ROUNDED;
        let mut row = None;
        for (r, beta) in self.constants.iter().enumerate() {
            let is_redundant = || matches!(self.basic[r], Name::Slack(s) if self.is_equality[s]);
            if *beta < worst && !is_redundant() {
                worst = *beta;
                row = Some(r);
            }
        }
        row
    }

    /// Chooses the column of the simplex tableau that enters the basis in exchange for `row`. The value of the row is
    /// raised (`sign` 1) or lowered (-1). All reduced costs must stay nonnegative, within a small tolerance. Among the
    /// columns that satisfy this, the one with the largest pivot is taken; `None` if there is no such column.
    fn entering(&self, row: usize, sign: f64) -> Option<usize> {
        let mut bound = f64::INFINITY;
        for (t, d) in self.row(row).iter().zip(&self.costs) {
            let t = sign * t;
            if t > EQUAL {
                bound = bound.min((d + ACCEPTED) / t);
            }
        }
        let mut largest = EQUAL;
        let mut column = None;
        for (j, (t, d)) in self.row(row).iter().zip(&self.costs).enumerate() {
            let t = sign * t;
            if t > largest && d.max(0.0) <= bound * t {
                largest = t;
                column = Some(j);
            }
        }
        column
    }

    /// Exchanges the basic variable of `row` and the nonbasic variable of `column` in the simplex tableau.
    fn pivot(&mut self, row: usize, column: usize) {
        let (stride, width) = (self.stride, self.width);
        let start = row * stride;
        let inverse = 1.0 / self.entries[start + column];
        for t in &mut self.entries[start..start + width] {
            *t *= -inverse;
        }
        self.entries[start + column] = inverse;
        let constant = -self.constants[row] * inverse;
        self.constants[row] = constant;
        let (before, rest) = self.entries.split_at_mut(start);
        let (pivot_row, after) = rest.split_at_mut(stride);
        let pivot_row = &pivot_row[..width];
        let update = |target: &mut [f64]| -> f64 {
            let factor = target[column];
            if factor != 0.0 {
                target[column] = 0.0;
                for (t, p) in target.iter_mut().zip(pivot_row) {
                    *t += factor * p;
                }
            }
            factor
        };
        for (r, target) in before.chunks_exact_mut(stride).enumerate() {
            self.constants[r] += update(&mut target[..width]) * constant;
        }
        for (r, target) in after.chunks_exact_mut(stride).enumerate() {
            self.constants[row + 1 + r] += update(&mut target[..width]) * constant;
        }
        update(&mut self.costs[..width]);
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        self.work += (self.n_rows() * width) as u64;
    }

    /// Removes a column of the simplex tableau, so that its variable stays zero.
    fn remove(&mut self, column: usize) {
        let last = self.width - 1;
        for row in self.entries.chunks_exact_mut(self.stride) {
            row[column] = row[last];
        }
        self.costs.swap_remove(column);
        self.nonbasic.swap_remove(column);
        self.width = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(n: usize, rows: &[(Rule, &[f64], f64)]) -> Program {
        let mut program = Program::new(n);
        for (rule, a, b) in rows {
            program.push(*rule, *b, |row| row.copy_from_slice(a));
        }
        program
    }

    fn optimum(program: &Program) -> Option<Vertex> {
        program.solve(&mut 0)
    }

    /// A point of a triangle as near as can be to one outside, in the largest coordinate.
    #[test]
    fn the_nearest_point_of_a_triangle_is_found() {
        let triangle = program(
            2,
            &[
                (Rule::AtLeast, &[-1.0, -1.0], -1.0),
                (Rule::Near, &[1.0, 0.0], 1.0),
                (Rule::Near, &[0.0, 1.0], 1.0),
            ],
        );
        let found = optimum(&triangle);
        assert!(found.is_some_and(|v| (v.value - 0.5).abs() <= 1e-15));
    }

    #[test]
    fn equalities_may_depend_on_each_other() {
        let rows: [(Rule, &[f64], f64); 4] = [
            (Rule::Equal, &[1.0, 1.0, 0.0], 2.0),
            (Rule::Equal, &[2.0, 2.0, 0.0], 4.0),
            (Rule::Equal, &[1.0, -1.0, 0.0], 0.5),
            (Rule::Near, &[0.0, 0.0, 1.0], 3.0),
        ];
        let found = optimum(&program(3, &rows));
        assert!(found.is_some_and(|v| v.value <= 1e-15
            && (v.x[0] - 1.25).abs() <= 1e-15
            && (v.x[1] - 0.75).abs() <= 1e-15));
        let mut rows = rows;
        rows[1].2 = 4.1;
        assert_eq!(optimum(&program(3, &rows)), None);
    }

    #[test]
    fn rules_that_nothing_meets_are_seen() {
        let rows: [(Rule, &[f64], f64); 2] =
            [(Rule::AtLeast, &[1.0], 1.0), (Rule::AtLeast, &[-1.0], -0.5)];
        assert_eq!(optimum(&program(1, &rows)), None);
    }

    /// Random programs against all their vertices.
    #[test]
    fn the_value_is_that_of_the_best_vertex() {
        use carom_impact::frictional::CounterRng;
        let mut met = 0;
        for sample in 0..300 {
            let mut rng = CounterRng::new(5, sample, 0);
            let mut draw = || 2.0 * rng.next_uniform() - 1.0;
            let mut random = Program::new(3);
            for rule in [
                Rule::AtLeast,
                Rule::AtLeast,
                Rule::Near,
                Rule::Near,
                Rule::Near,
            ] {
                let b = draw();
                random.push(rule, b, |row| row.iter_mut().for_each(|x| *x = draw()));
            }
            let best = by_vertices(&random);
            let found = optimum(&random).map(|v| v.value);
            match (best, found) {
                (Some(best), Some(found)) => {
                    assert!((best - found).abs() <= 1e-9, "{sample}: {best} {found}");
                    met += 1;
                }
                (None, None) => {}
                other => panic!("{sample}: {other:?}"),
            }
        }
        assert!(met > 100);
    }

    /// The least distance over all points where four of the conditions are tight.
    fn by_vertices(program: &Program) -> Option<f64> {
        let n = program.n + 1;
        let rows = program.constants.iter().enumerate();
        let mut planes: Vec<(Vec<f64>, f64)> =
            rows.map(|(i, b)| (program.row(i).to_vec(), *b)).collect();
        planes.extend((0..n).map(|j| ((0..n).map(|k| f64::from(k == j)).collect(), 0.0)));
        let mut best: Option<f64> = None;
        let m = planes.len();
        for code in 0u32..1 << m {
            if code.count_ones() as usize != n {
                continue;
            }
            let tight: Vec<&(Vec<f64>, f64)> = (0..m)
                .filter(|i| code >> i & 1 == 1)
                .map(|i| &planes[i])
                .collect();
            let a = DMatrix::from_fn(n, n, |r, c| tight[r].0[c]);
            let b = DVector::from_fn(n, |r, _| tight[r].1);
            let Some(x) = a.lu().solve(&b) else { continue };
            let is_met = planes
                .iter()
                .all(|(a, b)| a.iter().zip(x.iter()).map(|(a, x)| a * x).sum::<f64>() >= b - 1e-9);
            let value = x[n - 1];
            if is_met && best.is_none_or(|best| value < best) {
                best = Some(value);
            }
        }
        best
    }
}
