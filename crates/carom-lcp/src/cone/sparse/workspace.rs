//! Solver for sparse contact problems: stages, final residual, warm start.

use super::interior::{Interior, Pace};
use super::linear::Linear;
use super::natural::Point;
use super::newton::{Best, Steps};
use super::perturbed::{Methods, Perturbed};
use super::problem::SparseConeProblem;
use super::proximal::Proximal;
use super::sweeps::sweep;
use super::system::{System, Triple};
use super::tolerances::{
    DEPTHS_BEFORE_PROXIMAL, DONE, INSIDE, INSIDE_FROM_ZERO, NEWTON_STEPS, PATIENT_DEPTHS, PROXIMAL,
    PROXIMAL_FIRST_LEVELS, PROXIMAL_FROM_ZERO, PROXIMAL_LEVELS, RETRIED, RETRIED_DEPTH, SWEEPS,
    TOLERANCE,
};
use crate::cone::problem::WIDTH;
use crate::cone::residual::projected;
use crate::cone::{CONE_RESIDUAL, ConeMode};
use crate::{LcpError, LcpStatus};
use carom_numeric::kernel::{larger, norm};

/// Tolerances of the solver for sparse contact problems with friction.
///
/// # Examples
///
/// ```
/// use carom_lcp::cone::{
///     BodyRows, SparseConeOptions, SparseConeProblem, SparseConeWorkspace, SparseContact,
/// };
/// let mut problem = SparseConeProblem::of_bodies();
/// let mut mass = [[0.0; 6]; 6];
/// for (i, row) in mass.iter_mut().enumerate() {
///     row[i] = 2.0;
/// }
/// let ball = problem.push_body(&mass)?;
/// let mut rows = [[0.0; 6]; 3];
/// (rows[0][2], rows[1][0], rows[2][1]) = (1.0, 1.0, 1.0);
/// problem.push_contact(&SparseContact {
///     first: BodyRows { body: ball, rows },
///     second: None,
///     velocity: [-1.0, 0.0, 0.0],
///     friction: 0.5,
///     floor: 0.0,
/// })?;
/// let options = SparseConeOptions::new(1e-9, 1e-8)?;
/// let mut workspace = SparseConeWorkspace::new();
/// let answer = workspace.solve_from(&problem, &[], &options)?;
/// assert!(answer.residual <= 1e-8);
/// // The impulse m v stops the ball.
/// assert!((workspace.impulse()[0] - 2.0).abs() < 1e-7);
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SparseConeOptions {
    /// Residual at which the solve ends; 1e-12 by default.
    pub tolerance: f64,
    /// Residual that is accepted after Newton's method and the interior-point method have been tried. By
    /// default it equals the tolerance. A larger value avoids the slow stages.
    pub acceptable: f64,
}

carom_numeric::setters!(SparseConeOptions {
    /// Sets the residual at which the solve ends.
    with_tolerance: tolerance, f64;
    /// Sets the residual that is accepted after the quick methods have been tried, at least the tolerance.
    with_acceptable: acceptable, f64;
});

impl Default for SparseConeOptions {
    fn default() -> Self {
        Self {
            tolerance: TOLERANCE,
            acceptable: TOLERANCE,
        }
    }
}

impl SparseConeOptions {
    /// Creates the options of a sparse contact solve and checks their range. The solver stops as soon as the residual
    /// is at most `tolerance`. Once Newton's method and the interior-point method have been tried, the solver also
    /// stops at a residual of at most `acceptable`. Both are dimensionless residuals like [`sparse_cone_residual`].
    ///
    /// # Errors
    ///
    /// [`LcpError::OutOfRange`] unless the tolerance is in [1e-15, 1e-6] and the acceptable residual
    /// between the tolerance and 1e-6.
    pub fn new(tolerance: f64, acceptable: f64) -> Result<Self, LcpError> {
        let options = Self {
            tolerance,
            acceptable,
        };
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), LcpError> {
        let check = |what, value, least| {
            if (least..=1e-6).contains(&value) {
                Ok(())
            } else {
                Err(LcpError::OutOfRange {
                    what,
                    value,
                    allowed: "from 1e-15 (the tolerance) to 1e-6",
                })
            }
        };
        check("tolerance", self.tolerance, 1e-15)?;
        check("acceptable residual", self.acceptable, self.tolerance)
    }
}

/// Stage of the solver for sparse contact problems with friction, that is, the method that ran last. The variants are
/// in the order in which the solver tries them. Most stages start from the best impulses found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SparseConeStage {
    /// The starting point was already accurate enough.
    Start,
    /// Regularized Newton steps.
    Newton,
    /// Interior-point method.
    Interior,
    /// First compliances of the proximal-point method.
    Proximal,
    /// Interior-point method from zero impulses.
    InteriorFromZero,
    /// Interior-point method from the best point, which is moved inside the cones by several depths. The other depths
    /// than the first are tried after [`ProximalFromZero`](Self::ProximalFromZero).
    PatientInterior,
    /// Proximal-point method with all its compliances, from the best point and from zero impulses.
    ProximalFromZero,
    /// Continuation from perturbed problems.
    Perturbed,
    /// Repeated interior-point and proximal-point steps.
    Retried,
    /// Gauss-Seidel sweeps, then the proximal-point method with a line search.
    Sweeps,
}

/// Report of [`SparseConeWorkspace`] about the solution of a sparse contact problem with friction: status, residual
/// and work. The impulses and velocities themselves are stored in the workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SparseConeAnswer {
    /// [`LcpStatus::Solved`] if the residual is at most [`CONE_RESIDUAL`], else
    /// [`LcpStatus::Inaccurate`].
    pub status: LcpStatus,
    /// [`sparse_cone_residual`] of the impulses.
    pub residual: f64,
    /// Last stage that was tried.
    pub stage: SparseConeStage,
    /// Number of Newton steps of all stages.
    pub n_newton_steps: usize,
    /// Number of interior-point steps.
    pub n_interior_steps: usize,
    /// Number of numeric factorizations.
    pub n_factorizations: usize,
    /// Number of symbolic factorizations.
    pub n_symbolic: usize,
    /// Number of Gauss-Seidel sweeps.
    pub n_sweeps: usize,
}

/// Solver for sparse contact problems with friction, which stores the impulses and velocities of the last solve. The
/// solver reuses its memory for the next problem, and also the symbolic factorization if the next problem couples the
/// same contacts.
///
/// # Examples
///
/// ```
/// use carom_lcp::cone::{BodyRows, SparseConeProblem, SparseConeWorkspace, SparseContact};
/// // Two balls of 1 kg, one above the other, come down on the floor at 1 m/s.
/// let mut problem = SparseConeProblem::of_bodies();
/// let mut mass = [[0.0; 6]; 6];
/// for (i, row) in mass.iter_mut().enumerate() {
///     row[i] = 1.0;
/// }
/// let (lower, upper) = (problem.push_body(&mass)?, problem.push_body(&mass)?);
/// let rows = |sign: f64| {
///     let mut rows = [[0.0; 6]; 3];
///     (rows[0][2], rows[1][0], rows[2][1]) = (sign, sign, sign);
///     rows
/// };
/// let floor = SparseContact {
///     first: BodyRows { body: lower, rows: rows(1.0) },
///     second: None,
///     velocity: [-1.0, 0.0, 0.0],
///     friction: 0.3,
///     floor: 0.0,
/// };
/// let between = SparseContact {
///     first: BodyRows { body: upper, rows: rows(1.0) },
///     second: Some(BodyRows { body: lower, rows: rows(-1.0) }),
///     velocity: [0.0; 3],
///     ..floor
/// };
/// problem.push_contact(&floor)?;
/// problem.push_contact(&between)?;
/// let mut workspace = SparseConeWorkspace::new();
/// workspace.solve(&problem)?;
/// // The floor stops both balls, the lower ball the upper one.
/// let impulse = workspace.impulse();
/// assert!((impulse[0] - 2.0).abs() < 1e-11 && (impulse[3] - 1.0).abs() < 1e-11);
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SparseConeWorkspace {
    system: System,
    linear: Linear,
    steps: Steps,
    interior: Interior,
    proximal: Proximal,
    perturbed: Perturbed,
    point: Point,
    best: Best,
    start: Vec<Triple>,
    pattern: Vec<u64>,
    last_pattern: Vec<u64>,
    impulse: Vec<f64>,
    velocity: Vec<f64>,
    modes: Vec<ConeMode>,
    n_sweeps: usize,
}

impl SparseConeWorkspace {
    /// Creates a workspace for sparse contact problems, without any memory allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the contact impulses found by the last solve (N·s, three per contact: normal and two tangents,
    /// for the rows of the problem without normalization).
    pub fn impulse(&self) -> &[f64] {
        &self.impulse
    }

    /// Returns the contact velocities after the impulses of the last solve (m/s, three per contact: normal and
    /// two tangents).
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// Returns the mode of each contact after the last solve: open, sticking or sliding. A contact whose
    /// impulse is at a positive floor (lower bound) is not [`Open`](ConeMode::Open).
    pub fn modes(&self) -> &[ConeMode] {
        &self.modes
    }

    /// Solves a sparse contact problem with friction, starting from zero impulses, with the default tolerance
    /// (a residual of 1e-12).
    ///
    /// # Errors
    ///
    /// [`LcpError::NonFinite`] and [`LcpError::NonPositiveDiagonal`] if numbers overflow or
    /// underflow. An answer that misses its accuracy is no error but has
    /// [`LcpStatus::Inaccurate`].
    pub fn solve(&mut self, problem: &SparseConeProblem) -> Result<SparseConeAnswer, LcpError> {
        self.solve_from(problem, &[], &SparseConeOptions::default())
    }

    /// Solves a sparse contact problem with friction, starting from the impulses `start` (N·s, three per
    /// contact, for the rows of the problem without normalization; an empty slice means zero).
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve), [`LcpError::DimensionMismatch`] and, for a start that is not finite,
    /// [`LcpError::NonFinite`]; [`LcpError::OutOfRange`] for options outside the ranges of [`SparseConeOptions::new`].
    pub fn solve_from(
        &mut self,
        problem: &SparseConeProblem,
        start: &[f64],
        options: &SparseConeOptions,
    ) -> Result<SparseConeAnswer, LcpError> {
        options.check()?;
        self.system.prepare(problem)?;
        self.take_start(start)?;
        self.compare_pattern(problem);
        self.steps.n_steps = 0;
        self.interior.n_steps = 0;
        self.n_sweeps = 0;
        self.best.reset();
        let stage = self.run(options);
        self.finish(problem, stage)
    }

    fn take_start(&mut self, start: &[f64]) -> Result<(), LcpError> {
        let n = WIDTH * self.system.m;
        if !start.is_empty() && start.len() != n {
            return Err(LcpError::DimensionMismatch {
                what: "start",
                expected: n,
                found: start.len(),
            });
        }
        if let Some(index) = start.iter().position(|x| !x.is_finite()) {
            return Err(LcpError::NonFinite {
                what: "start",
                index,
                value: start[index],
            });
        }
        let zero_start = [0.0; WIDTH];
        self.start.clear();
        for (i, factor) in self.system.factors.iter().enumerate() {
            let factor = factor * self.system.unit;
            let given = start.get(i * WIDTH..(i + 1) * WIDTH);
            let given = given.and_then(|l| <Triple>::try_from(l).ok());
            let scaled = given.unwrap_or(zero_start).map(|l| l / factor);
            self.start.push(scaled);
        }
        Ok(())
    }

    /// Keeps the symbolic factorizations of the last problem if exactly the same pairs of contacts and bodies are
    /// coupled in this problem; otherwise discards the factorizations.
    fn compare_pattern(&mut self, problem: &SparseConeProblem) {
        std::mem::swap(&mut self.pattern, &mut self.last_pattern);
        self.pattern.clear();
        self.pattern.push(problem.n_bodies() as u64);
        self.pattern.push(problem.n_contacts() as u64);
        let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
        let sides = problem.sides().iter();
        self.pattern
            .extend(sides.map(|sides| pair(sides.bodies[0], sides.bodies[1])));
        let blocks = problem.blocks().iter();
        self.pattern.extend(blocks.map(|(i, j, _)| pair(*i, *j)));
        self.linear.begin(self.pattern == self.last_pattern);
    }

    /// Runs the methods of the solver one after the other until the residual of the best impulses is small enough:
    /// Newton's method, the interior-point method, the proximal-point method, and slower attempts. Returns the
    /// stage (method) that ran last.
    fn run(&mut self, options: &SparseConeOptions) -> SparseConeStage {
        let tolerance = options.tolerance;
        let Self {
            system,
            linear,
            steps,
            interior,
            proximal,
            point,
            best,
            start,
            ..
        } = self;
        point.impulse.clear();
        point.impulse.extend_from_slice(start);
        point.evaluate(system);
        best.take(point);
        if best.residual <= DONE * tolerance {
            return SparseConeStage::Start;
        }
        if steps.run(system, linear, point, best, (tolerance, NEWTON_STEPS)) {
            return SparseConeStage::Newton;
        }
        start.resize(system.m, [0.0; WIDTH]);
        if best.impulse.len() == system.m {
            start.copy_from_slice(&best.impulse);
        }
        let from_best = (
            &start[..],
            INSIDE.min(best.residual),
            tolerance,
            Pace::QUICK,
        );
        let is_found = interior.run(system, linear, steps, best, from_best);
        if is_found || best.residual <= options.acceptable {
            return SparseConeStage::Interior;
        }
        start.copy_from_slice(&best.impulse);
        let from_best = (&start[..], PROXIMAL, tolerance, false);
        let is_found = proximal.run(
            system,
            linear,
            steps,
            best,
            from_best,
            PROXIMAL_FIRST_LEVELS,
        );
        if is_found || best.residual <= options.acceptable {
            return SparseConeStage::Proximal;
        }
        self.run_slowly(options)
    }

    /// Runs the slow methods of the solver, for heaps that come to rest and for jammed contacts: interior-point and
    /// proximal-point methods from several starting points, and finally Gauss-Seidel sweeps. Which of these methods
    /// succeeds cannot be predicted. Returns the stage (method) that ran last.
    fn run_slowly(&mut self, options: &SparseConeOptions) -> SparseConeStage {
        let tolerance = options.tolerance;
        let Self {
            system,
            linear,
            steps,
            interior,
            best,
            start,
            ..
        } = self;
        start.fill([0.0; WIDTH]);
        let from_zero = (&start[..], INSIDE_FROM_ZERO, tolerance, Pace::PATIENT);
        let is_found = interior.run(system, linear, steps, best, from_zero);
        if is_found || best.residual <= options.acceptable {
            return SparseConeStage::InteriorFromZero;
        }
        let (first, others) = PATIENT_DEPTHS.split_at(DEPTHS_BEFORE_PROXIMAL);
        if self.run_patiently(first, options) {
            return SparseConeStage::PatientInterior;
        }
        if self.run_all_compliances(options) {
            return SparseConeStage::ProximalFromZero;
        }
        if self.run_patiently(others, options) {
            return SparseConeStage::PatientInterior;
        }
        if self.run_perturbed(options) {
            return SparseConeStage::Perturbed;
        }
        self.run_last(options)
    }

    /// Runs the continuation from perturbed problems. Returns true if the residual is small enough.
    fn run_perturbed(&mut self, options: &SparseConeOptions) -> bool {
        let mut methods = Methods {
            linear: &mut self.linear,
            steps: &mut self.steps,
            interior: &mut self.interior,
            proximal: &mut self.proximal,
        };
        let (system, best) = (&mut self.system, &mut self.best);
        let tolerance = options.acceptable;
        self.perturbed.run(system, &mut methods, best, tolerance)
    }

    /// Runs the interior-point method with many short steps from the best impulses, moved inside the cones by each of the
    /// `depths` in turn. Returns true if the residual is small enough.
    fn run_patiently(&mut self, depths: &[f64], options: &SparseConeOptions) -> bool {
        let (start, best) = (&mut self.start, &mut self.best);
        let (system, linear, steps) = (&mut self.system, &mut self.linear, &mut self.steps);
        for depth in depths {
            start.copy_from_slice(&best.impulse);
            let from_best = (&start[..], *depth, options.tolerance, Pace::PATIENT);
            let is_found = self.interior.run(system, linear, steps, best, from_best);
            if is_found || best.residual <= options.acceptable {
                return true;
            }
        }
        false
    }

    /// Runs the proximal-point method with all its compliances, from the best impulses and from zero. Returns true if the
    /// residual is small enough.
    fn run_all_compliances(&mut self, options: &SparseConeOptions) -> bool {
        let (start, best) = (&mut self.start, &mut self.best);
        let (system, linear, steps) = (&mut self.system, &mut self.linear, &mut self.steps);
        for (compliance, is_from_zero) in [(PROXIMAL, false), (PROXIMAL_FROM_ZERO, true)] {
            if is_from_zero {
                start.fill([0.0; WIDTH])
            } else {
                start.copy_from_slice(&best.impulse)
            }
            let from = (&start[..], compliance, options.tolerance, false);
            let proximal = &mut self.proximal;
            let is_found = proximal.run(system, linear, steps, best, from, PROXIMAL_LEVELS);
            if is_found || best.residual <= options.acceptable {
                return true;
            }
        }
        false
    }

    /// Runs the last attempts: interior-point and proximal-point methods from the best impulses in turn, then Gauss-Seidel
    /// sweeps and the proximal-point method with a line search. Returns the stage (method) that ran last.
    fn run_last(&mut self, options: &SparseConeOptions) -> SparseConeStage {
        let tolerance = options.tolerance;
        let Self {
            system,
            linear,
            steps,
            interior,
            proximal,
            best,
            start,
            ..
        } = self;
        for compliance in RETRIED {
            start.copy_from_slice(&best.impulse);
            let depth = INSIDE.min(RETRIED_DEPTH * best.residual);
            let from_best = (&start[..], depth, tolerance, Pace::QUICK);
            let is_found = interior.run(system, linear, steps, best, from_best) || {
                start.copy_from_slice(&best.impulse);
                let from_best = (&start[..], compliance, tolerance, false);
                proximal.run(system, linear, steps, best, from_best, PROXIMAL_LEVELS)
            };
            if is_found || best.residual <= options.acceptable {
                return SparseConeStage::Retried;
            }
        }
        start.copy_from_slice(&best.impulse);
        sweep(system, start, SWEEPS);
        self.n_sweeps += SWEEPS;
        let swept = (&start[..], PROXIMAL, tolerance, true);
        proximal.run(system, linear, steps, best, swept, PROXIMAL_LEVELS);
        SparseConeStage::Sweeps
    }

    /// Converts the best impulses from the scaled rows to those of `problem`, and computes the velocities after
    /// them and the residual. `stage` is the method that ran last.
    fn finish(
        &mut self,
        problem: &SparseConeProblem,
        stage: SparseConeStage,
    ) -> Result<SparseConeAnswer, LcpError> {
        self.point.impulse.clear();
        self.point.impulse.extend_from_slice(&self.best.impulse);
        self.point.impulse.resize(self.system.m, [0.0; WIDTH]);
        self.point.evaluate(&mut self.system);
        self.modes.clear();
        self.modes
            .extend(self.point.pieces.iter().map(|piece| piece.mode()));
        self.impulse.clear();
        for (l, factor) in self.point.impulse.iter().zip(&self.system.factors) {
            let factor = factor * self.system.unit;
            self.impulse.extend(l.map(|l| l * factor));
        }
        problem.velocity_after(&self.impulse, &mut self.velocity)?;
        let residual = residual_of(problem, &self.impulse, &self.velocity, &self.system.factors);
        Ok(SparseConeAnswer {
            status: if residual <= CONE_RESIDUAL {
                LcpStatus::Solved
            } else {
                LcpStatus::Inaccurate
            },
            residual,
            stage,
            n_newton_steps: self.steps.n_steps,
            n_interior_steps: self.interior.n_steps,
            n_factorizations: self.linear.n_factorizations,
            n_symbolic: self.linear.n_symbolic,
            n_sweeps: self.n_sweeps,
        })
    }
}

/// Computes the residual of contact impulses in a sparse problem with circular friction cones: dimensionless, 0
/// for a solution. `impulse` holds three impulses per contact (normal and two tangents).
///
/// This residual is the [`cone_residual`](super::super::cone_residual) with the normal impulses restricted to
/// $\lambda_n \ge p$, where $p$ are the floors (lower bounds). Only the problem and the impulses enter its
/// computation.
///
/// # Errors
///
/// [`LcpError::DimensionMismatch`] for impulses of another length, and
/// [`LcpError::NonPositiveDiagonal`].
pub fn sparse_cone_residual(problem: &SparseConeProblem, impulse: &[f64]) -> Result<f64, LcpError> {
    let mut after = Vec::with_capacity(impulse.len());
    problem.velocity_after(impulse, &mut after)?;
    let mut system = System::default();
    system.prepare(problem)?;
    Ok(residual_of(problem, impulse, &after, &system.factors))
}

/// Computes the residual of the contact conditions for the impulses and the velocities after them, `after`.
/// Impulses and velocities belong to the rows of `problem`. `factors` holds one row scale per contact: $g^{-1/2}$,
/// with $g$ the largest diagonal entry of the contact's block of the Delassus matrix.
fn residual_of(
    problem: &SparseConeProblem,
    impulse: &[f64],
    after: &[f64],
    factors: &[f64],
) -> f64 {
    let (mut worst, mut size) = (0.0f64, 0.0f64);
    let rows = impulse.chunks_exact(WIDTH).zip(after.chunks_exact(WIDTH));
    let rows = rows.zip(problem.velocity().chunks_exact(WIDTH));
    for (i, ((l, u), b)) in rows.enumerate() {
        let factor = factors[i];
        let (friction, floor) = (problem.friction()[i], problem.floors()[i] / factor);
        let scaled: Triple = std::array::from_fn(|k| l[k] / factor);
        let moved: Triple = std::array::from_fn(|k| u[k] * factor);
        let lifted = moved[0] + friction * norm(&moved[1..]);
        let p = projected(
            [
                scaled[0] - lifted,
                scaled[1] - moved[1],
                scaled[2] - moved[2],
            ],
            friction,
            floor,
        );
        let error = norm(&[scaled[0] - p[0], scaled[1] - p[1], scaled[2] - p[2]]);
        worst = larger(worst, error);
        size = size.max(norm(b) * factor).max(norm(&scaled));
    }
    match worst {
        0.0 => 0.0,
        _ => worst / size,
    }
}
