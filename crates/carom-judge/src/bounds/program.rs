//! Conic programs for the best multipliers of Theorem 1.

use carom_numeric::decisions::Budget;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use nalgebra::{DMatrix, DVector};

/// Bound of the unknowns of all programs: of a multiplier, relative to the length of the direction, and of each moment. Larger
/// multipliers prove that a contact cannot close last, not how large $c\cdot v^+$ can be.
pub(super) const LARGEST: f64 = 1e3;

/// Largest number of iterations of the solver; it usually needs 10 to 30.
const MAX_ITERATIONS: u32 = 100;

/// Units of work per multiply-add in the sparse factors of the solver: twice that in dense ones.
const SPARSE_WORK: u64 = 2;

/// The solver is not started if the budget allows fewer iterations: the result would prove next to nothing.
const FEWEST_ITERATIONS: u64 = 10;

/// Linear program over second-order cones: minimizes $q\cdot x$ such that the rows of $b - Ax$ lie in a product of cones.
#[derive(Default)]
pub(super) struct ConicProgram {
    rows: Vec<Vec<(usize, f64)>>,
    constants: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl ConicProgram {
    /// Adds the condition that the affine function `constant` $+ \sum_k c_kx_k$ of the unknowns $x$ is not negative.
    /// `terms` lists the pairs $(k, c_k)$.
    pub(super) fn nonnegative(&mut self, terms: Vec<(usize, f64)>, constant: f64) {
        self.row(terms, constant);
        self.cones.push(SupportedConeT::NonnegativeConeT(1));
    }

    /// Adds the condition that the first affine function of the unknowns is at least the Euclidean norm of the others.
    /// Each row has the pairs of index and coefficient of an affine function, and its constant.
    pub(super) fn norm_below(&mut self, rows: Vec<(Vec<(usize, f64)>, f64)>) {
        let n = rows.len();
        for (terms, constant) in rows {
            self.row(terms, constant);
        }
        self.cones.push(match n {
            1 => SupportedConeT::NonnegativeConeT(1),
            n => SupportedConeT::SecondOrderConeT(n),
        });
    }

    fn row(&mut self, mut terms: Vec<(usize, f64)>, constant: f64) {
        for term in &mut terms {
            term.1 = -term.1;
        }
        self.rows.push(terms);
        self.constants.push(constant);
    }

    /// Returns the work (about multiply-adds) of one iteration of the solver: forming the normal equations of all
    /// cones, and factorizing them. `unknowns` is the number of unknowns.
    fn work(&self, unknowns: usize) -> u64 {
        let n = unknowns as u64;
        let mut rows = self.rows.iter();
        let mut work = n * n * n / 3;
        let mut has = vec![false; unknowns];
        for cone in &self.cones {
            let count = match cone {
                SupportedConeT::SecondOrderConeT(n) => *n,
                _ => 1,
            };
            let mut met = Vec::new();
            for (k, _) in rows.by_ref().take(count).flatten() {
                if let Some(has) = has.get_mut(*k)
                    && !std::mem::replace(has, true)
                {
                    met.push(*k);
                }
            }
            let size = met.len() as u64;
            work = work.saturating_add(count as u64 * size * size);
            met.into_iter().for_each(|k| has[k] = false);
        }
        work
    }

    /// Minimizes $q\cdot x$ over the unknowns $x$ that satisfy all conditions; `cost` is $q$. Returns $x$ to the
    /// accuracy of the solver. `None` if the program is infeasible or unbounded, the solver fails, or the budget allows
    /// too few iterations.
    pub(super) fn minimize(&self, cost: &[f64], budget: &mut Budget) -> Option<Vec<f64>> {
        match self.solve(cost, budget)? {
            Minimum::Point(x) => Some(x),
            Minimum::Ray(_) => None,
        }
    }

    /// Minimizes $q\cdot x$ over the unknowns $x$ that satisfy all conditions; `cost` is $q$. If the solver finds that
    /// this is unbounded, returns the ray along which the cost decreases without limit. `None` if the solver fails or
    /// the budget allows too few iterations.
    fn solve(&self, cost: &[f64], budget: &mut Budget) -> Option<Minimum> {
        let (m, n) = (self.rows.len(), cost.len());
        let work = self.work(n).saturating_mul(SPARSE_WORK);
        let allowed = budget.times(work, FEWEST_ITERATIONS)?;
        let max_iter = u32::try_from(allowed).map_or(MAX_ITERATIONS, |n| n.min(MAX_ITERATIONS));
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for (i, row) in self.rows.iter().enumerate() {
            for (k, x) in row.iter().filter(|(_, x)| *x != 0.0) {
                columns.get_mut(*k)?.push((i, *x));
            }
        }
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for column in columns {
            for (i, x) in column {
                places.push(i);
                values.push(x);
            }
            starts.push(places.len());
        }
        let matrix = CscMatrix::new(m, n, starts, places, values);
        let nothing = CscMatrix::zeros((n, n));
        let settings = DefaultSettings {
            verbose: false,
            max_iter,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(
            &nothing,
            cost,
            &matrix,
            &self.constants,
            &self.cones,
            settings,
        )
        .ok()?;
        solver.solve();
        let iterations = u64::from(solver.solution.iterations);
        budget.spend(work.saturating_mul(iterations.max(1)));
        if solver.solution.status == SolverStatus::MaxIterations && max_iter < MAX_ITERATIONS {
            budget.end();
        }
        let x = solver.solution.x;
        if !x.iter().all(|x| x.is_finite()) {
            return None;
        }
        match solver.solution.status {
            SolverStatus::Solved
            | SolverStatus::AlmostSolved
            | SolverStatus::InsufficientProgress
            | SolverStatus::MaxIterations => Some(Minimum::Point(x)),
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
                Some(Minimum::Ray(x))
            }
            _ => None,
        }
    }
}

/// Result of a conic program.
enum Minimum {
    Point(Vec<f64>),
    /// The cost decreases along this ray without limit, from any feasible point.
    Ray(Vec<f64>),
}

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

    /// Adds the condition that every admissible impulse does nonnegative work along the velocity $w$. The entries of
    /// $w$ are consecutive unknowns of the program, starting at index `first`. `margin` is the index of an unknown by
    /// which the normal velocity must at least exceed the friction term at each contact.
    fn require_dual(&self, program: &mut ConicProgram, first: usize, margin: Option<usize>) {
        let along = |row: &DVector<f64>| -> Vec<(usize, f64)> {
            let entries = row.iter().enumerate();
            entries.map(|(k, x)| (first + k, *x)).collect()
        };
        for (normal, slides) in self.normals.iter().zip(&self.slides) {
            let mut head = along(normal);
            head.extend(margin.map(|margin| (margin, -1.0)));
            let mut rows = vec![(head, 0.0)];
            rows.extend(slides.iter().map(|slide| (along(slide), 0.0)));
            program.norm_below(rows);
        }
    }

    /// Finds the multipliers of Theorem 1 (momentum, friction cones and energy) with the smallest upper bound of the
    /// velocity along `direction` (whitened, unit length), if contact `last` pushes in the last step. Returns $\nu$
    /// (one per contact) and the whitened velocity $w$ (n entries). `None` if the solver fails or the budget ends.
    pub(super) fn best(
        &self,
        direction: &DVector<f64>,
        last: usize,
        budget: &mut Budget,
    ) -> Option<(Vec<f64>, DVector<f64>)> {
        let (m, n) = (self.normals.len(), self.dim());
        let length = m + n;
        let mut program = ConicProgram::default();
        let mut rows = vec![(vec![(length, 1.0)], 0.0)];
        for k in 0..n {
            let mut terms: Vec<(usize, f64)> = Vec::with_capacity(m + 1);
            terms.extend(self.normals.iter().enumerate().map(|(i, u)| (i, u[k])));
            terms.push((m + k, 1.0));
            rows.push((terms, direction[k]));
        }
        program.norm_below(rows);
        program.nonnegative(vec![(length, -1.0)], LARGEST);
        for i in (0..m).filter(|i| *i != last) {
            program.nonnegative(vec![(i, 1.0)], 0.0);
        }
        self.require_dual(&mut program, m, None);
        let mut cost = vec![0.0; m + n + 1];
        for (c, p) in cost[m..].iter_mut().zip(self.momentum.iter()) {
            *c = -p;
        }
        cost[length] = 1.0;
        let x = match program.solve(&cost, budget)? {
            Minimum::Point(x) => x,
            // The contact cannot close last. At zero multipliers the bound is one, and no outcome is below minus one. Far
            // enough along the ray the bound is below that of the other contacts.
            Minimum::Ray(mut ray) => {
                let slope: f64 = cost.iter().zip(&ray).map(|(c, x)| c * x).sum();
                if slope >= 0.0 {
                    return None;
                }
                ray.iter_mut().for_each(|x| *x *= -3.0 / slope);
                ray
            }
        };
        let w = DVector::from_column_slice(&x[m..m + n]);
        Some((x[..m].to_vec(), w))
    }

    /// Finds a whitened velocity of at most unit length along which every admissible impulse does positive work, with
    /// the largest margin. `None` if there is no such velocity, because the cone of admissible impulses is not pointed,
    /// or if the solver fails. `budget` limits the work.
    pub(super) fn interior(&self, budget: &mut Budget) -> Option<DVector<f64>> {
        let n = self.dim();
        let mut program = ConicProgram::default();
        let mut rows = vec![(Vec::new(), 1.0)];
        rows.extend((0..n).map(|k| (vec![(k, 1.0)], 0.0)));
        program.norm_below(rows);
        self.require_dual(&mut program, 0, Some(n));
        let mut cost = vec![0.0; n + 1];
        cost[n] = -1.0;
        let x = program.minimize(&cost, budget)?;
        (x[n] > 1e-6).then(|| DVector::from_column_slice(&x[..n]))
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
