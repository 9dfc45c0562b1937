//! The best multipliers of Theorem 1, by conic programs.

use super::budget::Budget;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use nalgebra::{DMatrix, DVector};

/// Multipliers beyond this many times the direction's length prove that a contact cannot be last
/// rather than how fast it can be.
const LARGEST: f64 = 1e3;

/// Iterations of the solver; it ends after 10 to 30 of them.
const MAX_ITERATIONS: u32 = 100;

/// Units of work for a multiply-add in the sparse factors of the solver, which costs as much as two in dense ones.
const SPARSE_WORK: u64 = 2;

/// A solver that is not allowed so many iterations is not started: its point would prove next to nothing.
const FEWEST_ITERATIONS: u64 = 10;

/// A linear program over second-order cones: the least $q\cdot x$ with $b - Ax$ in a product of
/// cones, row by row.
#[derive(Default)]
pub(super) struct ConicProgram {
    rows: Vec<Vec<(usize, f64)>>,
    constants: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl ConicProgram {
    /// The affine function $\text{constant} + \sum c_kx_k$ is not negative.
    pub(super) fn nonnegative(&mut self, terms: Vec<(usize, f64)>, constant: f64) {
        self.row(terms, constant);
        self.cones.push(SupportedConeT::NonnegativeConeT(1));
    }

    /// The first affine function is at least the Euclidean norm of the others.
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

    /// Work of an iteration with so many unknowns: the rows of each cone meet its unknowns in pairs, and what they leave is
    /// factored.
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

    /// A point that is optimal up to the solver's accuracy; `None` if no point exists, the solver gives up or the budget
    /// allows too few iterations.
    pub(super) fn minimize(&self, cost: &[f64], budget: &mut Budget) -> Option<Vec<f64>> {
        match self.solve(cost, budget)? {
            Minimum::Point(x) => Some(x),
            Minimum::Ray(_) => None,
        }
    }

    /// Solves the program; returns the ray along which the cost falls without end if the solver finds one.
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

/// Result of a program.
enum Minimum {
    Point(Vec<f64>),
    /// From any feasible point the cost falls without end along it.
    Ray(Vec<f64>),
}

/// A problem in whitened coordinates: normals of unit length, $\lVert p\rVert = 1$.
pub(super) struct Whitened {
    pub(super) normals: Vec<DVector<f64>>,
    /// Tangents times $\mu$ over the length of the normal; none without friction.
    pub(super) slides: Vec<Vec<DVector<f64>>>,
    pub(super) momentum: DVector<f64>,
}

impl Whitened {
    pub(super) fn dim(&self) -> usize {
        self.momentum.len()
    }

    /// $w$ stays where every admissible impulse does work on it, less a margin that is a variable
    /// (if any) times one.
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

    /// Whitened $\nu$ (m) and $w$ (n) with the least bound on `direction` (of unit length) if
    /// contact `last` closes last.
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
            // The contact cannot close last. At zero the bound is one, and no outcome is below minus
            // one: far enough along the ray the bound is below that of the others.
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

    /// A unit velocity on which every admissible impulse does work, by a margin; `None` if the
    /// friction cone is not pointed.
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

/// Symmetric matrices as vectors: the place of an entry.
pub(super) fn place(n: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * n - i * (i + 1) / 2 + j
}

/// The symmetric matrix of such a vector.
pub(super) fn symmetric(n: usize, x: &[f64]) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| x[place(n, i, j)])
}
