//! Solver for dense contact problems: starting points, Newton's method, final residual, selection of a
//! solution.

use super::ConeMode;
use super::another::Another;
use super::answer::{ConeAnswer, ConeSelection, ConeStart};
use super::gauss_seidel::Sweeps;
use super::newton::{MAX_STEPS, Newton, Scaled, largest};
use super::polygon::Polygons;
use super::problem::{ConeProblem, WIDTH};
use super::residual::{CONE_RESIDUAL, onto_disc, own_residual_of};
use super::scale::scale;
use super::single::single_contact;
use super::solution_branch::{LEVELS, SolutionBranch};
use super::sparse::SparseConeWorkspace;
use crate::{LcpError, LcpStatus};

/// Residual below which the search for a better answer ends.
pub(super) const GOOD_RESIDUAL: f64 = 1e-12;

/// Largest number of Newton steps from zero impulses. A problem that takes more steps may have several
/// solutions, and a long path can end at any of them. The method of compliant contacts that become stiffer ends
/// at the solution that does not depend on tangent axes and order of contacts.
const EASY_STEPS: usize = 8;

/// Largest number of subdivisions of the polygons. Each one halves the largest error of a direction.
const MAX_SUBDIVISIONS: usize = 48;

/// Multiply-adds of Lemke's method, roughly, after which polygons are not subdivided further: seconds of work.
const MAX_SUBDIVISION_WORK: u64 = 2_000_000_000;

/// Number of successive polygon problems without a solution after which the search ends.
const MAX_UNSOLVED: usize = 2;

/// Solver for dense contact problems with circular friction cones, which stores the impulses and velocities of the
/// last solve. The solver reuses its memory from one problem to the next.
///
/// No memory is allocated for a problem that is not larger than an earlier one and needs the same methods. There are
/// two exceptions. Memory is allocated if Newton's method fails from zero impulses and from the solutions for compliant
/// contacts. Memory is also allocated if weak contacts, whose impulses are
/// much smaller than the others, are solved separately.
///
/// # Examples
///
/// ```
/// use carom_lcp::cone::{ConeProblem, ConeSelection, ConeWorkspace};
/// let delassus = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let mut workspace = ConeWorkspace::new();
/// for speed in [0.1, 10.0] {
///     let velocity = [-1.0, speed, 0.0];
///     let problem = ConeProblem::new(&delassus, &velocity, &[0.5], &[])?;
///     workspace.solve(&problem, ConeSelection::Even)?;
///     // The cone has room for 0.5: a slow mass sticks, a fast one slides on.
///     assert!((workspace.velocity()[1] - (speed - 0.5).max(0.0)).abs() < 1e-12);
/// }
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConeWorkspace {
    pub(super) impulse: Vec<f64>,
    pub(super) after: Vec<f64>,
    pub(super) modes: Vec<ConeMode>,
    pub(super) start: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) trial_after: Vec<f64>,
    turned: Vec<f64>,
    pub(super) terms: Vec<f64>,
    /// Another solution found on the way.
    pub(super) another: Another,
    /// Compliance reached on the solution branch whose limit is the answer. `None` if the answer was found in
    /// another way.
    pub(super) reached: Option<f64>,
    pub(super) system: Scaled,
    pub(super) newton: Newton,
    pub(super) sweeps: Sweeps,
    pub(super) sparse: SparseConeWorkspace,
    polygons: Polygons,
    pub(super) solution_branch: SolutionBranch,
    pub(super) n_newton_steps: usize,
    n_pivots: usize,
    /// True if continua of solutions are not examined, see [`leave_out_family`](Self::leave_out_family).
    pub(super) is_family_left_out: bool,
    /// Nesting depth: number of larger scales above this problem, see `solve_weak`.
    pub(super) depth: usize,
}

impl ConeWorkspace {
    /// Creates a workspace for frictional contact problems, without any memory allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty workspace for the problem of the weak contacts, whose impulses are much smaller than the
    /// others. `depth` counts the enclosing problems with larger impulses.
    pub(super) fn below(depth: usize) -> Self {
        Self {
            depth,
            ..Self::default()
        }
    }

    /// Returns the contact impulses found by the last solve (N·s, three per contact: normal and two tangents,
    /// for the rows of the problem without normalization).
    pub fn impulse(&self) -> &[f64] {
        &self.impulse
    }

    /// Returns the contact velocities after the impulses of the last solve (m/s, three per contact: normal and
    /// two tangents).
    pub fn velocity(&self) -> &[f64] {
        &self.after
    }

    /// Returns the mode of each contact after the last solve: open, sticking or sliding.
    pub fn modes(&self) -> &[ConeMode] {
        &self.modes
    }

    /// Solves a contact problem with circular friction cones that has no floors (lower bounds on normal
    /// impulses). `selection` is the rule for problems with several solutions. Problems with prescribed slip
    /// directions can have no solution, and the last starting points are left out for them. The result is in
    /// [`impulse`](Self::impulse), [`velocity`](Self::velocity) and [`modes`](Self::modes).
    ///
    /// # Errors
    ///
    /// [`LcpError::NonFinite`] if velocities overflow. An answer that misses its accuracy is no
    /// error but has [`LcpStatus::Inaccurate`].
    pub fn solve(
        &mut self,
        problem: &ConeProblem<'_>,
        selection: ConeSelection,
    ) -> Result<ConeAnswer, LcpError> {
        super::problem::no_floors(problem)?;
        if problem.n_contacts() == 1
            && let Some(answer) = self.closed_form(problem, selection)
        {
            return Ok(answer);
        }
        let mut answer = self.begin(problem, ConeStart::Zero)?;
        if selection == ConeSelection::Even {
            if self.try_branch(problem, &mut answer) {
                return Ok(self.counted(answer));
            }
            answer = self.begin_again(problem, answer);
        }
        let n = self.system.n;
        self.start.clear();
        self.start.resize(n, 0.0);
        let _ = self.attempt(problem, ConeStart::Zero, &mut answer)
            || self.try_compliant(problem, &mut answer)
            || problem.largest().is_finite()
            || problem.has_slips()
            || self.try_sparse(problem, &mut answer)?
            || answer.residual <= CONE_RESIDUAL
            || self.try_polygons(problem, &mut answer)?;
        Ok(self.finish_first(answer))
    }

    /// Solves a contact problem with circular friction cones only by methods whose result does not depend on tangent
    /// axes, units and order of the contacts. The problem may have floors (lower bounds on normal impulses). Returns
    /// `None` if all methods fail.
    ///
    /// If `selection` is [`ConeSelection::Even`], the limit of the solutions for equally compliant contacts is
    /// computed first. The last methods, for either selection, are Newton's method from zero impulses and from compliant
    /// contacts.
    ///
    /// # Errors
    ///
    /// [`LcpError::NonFinite`] if velocities overflow.
    pub fn solve_invariantly(
        &mut self,
        problem: &ConeProblem<'_>,
        selection: ConeSelection,
    ) -> Result<Option<ConeAnswer>, LcpError> {
        let mut answer = self.begin(problem, ConeStart::Zero)?;
        if selection == ConeSelection::Even {
            if self.try_branch(problem, &mut answer) {
                return Ok(Some(self.counted(answer)));
            }
            answer = self.begin_again(problem, answer);
        }
        answer.residual = f64::INFINITY;
        self.start.clear();
        self.start.resize(self.system.n, 0.0);
        let is_found = self.attempt(problem, ConeStart::Zero, &mut answer)
            || self.try_compliant(problem, &mut answer);
        Ok(is_found.then(|| self.finish(answer)))
    }

    pub(super) fn closed_form(
        &mut self,
        problem: &ConeProblem<'_>,
        selection: ConeSelection,
    ) -> Option<ConeAnswer> {
        self.reached = None;
        let single = single_contact(problem).ok()?;
        self.impulse.clear();
        self.impulse.extend_from_slice(&single.impulse);
        let residual = self.residual(problem);
        self.modes.clear();
        self.modes.push(single.mode);
        (residual <= GOOD_RESIDUAL).then_some(ConeAnswer {
            status: LcpStatus::Solved,
            residual,
            start: ConeStart::ClosedForm,
            n_newton_steps: 0,
            n_pivots: 0,
            family: 0,
            selection,
            met_others: false,
        })
    }

    /// Prepares a solve: scales the contact problem, discards the results of the last one, and returns the answer
    /// with zero impulses. `start` is stored as the kind of starting point.
    pub(super) fn begin(
        &mut self,
        problem: &ConeProblem<'_>,
        start: ConeStart,
    ) -> Result<ConeAnswer, LcpError> {
        self.n_newton_steps = 0;
        self.n_pivots = 0;
        self.another.clear();
        self.reached = None;
        self.impulse.clear();
        self.impulse.resize(problem.dim(), 0.0);
        let residual = self.residual(problem);
        self.modes.clear();
        self.modes.resize(problem.n_contacts(), ConeMode::Open);
        scale(problem, &mut self.system)?;
        Ok(ConeAnswer {
            status: LcpStatus::Inaccurate,
            residual,
            start,
            n_newton_steps: 0,
            n_pivots: 0,
            family: 0,
            selection: ConeSelection::First,
            met_others: false,
        })
    }

    /// Applies Newton's method from the scaled impulses `self.start`, and keeps the result if its residual is the
    /// smallest so far. `start` names the kind of starting point. Returns true if the best answer is accurate enough.
    pub(super) fn attempt(
        &mut self,
        problem: &ConeProblem<'_>,
        start: ConeStart,
        answer: &mut ConeAnswer,
    ) -> bool {
        let max_steps = match start {
            ConeStart::Zero => EASY_STEPS,
            _ => MAX_STEPS,
        };
        let (_, steps) = self
            .newton
            .run(&self.system, &self.start, GOOD_RESIDUAL, max_steps);
        self.n_newton_steps += steps;
        self.accept(problem, start, answer)
    }

    /// Keeps the last result of Newton's method if its residual is smaller than that of the best answer so far. Impulses that
    /// are too large do not count.
    /// `start` names the kind of starting point. Returns true if the best answer is accurate enough.
    pub(super) fn accept(
        &mut self,
        problem: &ConeProblem<'_>,
        start: ConeStart,
        answer: &mut ConeAnswer,
    ) -> bool {
        let mut residual = self.judge(problem);
        if largest(self.newton.impulse()) > problem.largest() * self.system.speed() {
            residual = f64::INFINITY;
        }
        if residual < answer.residual || (residual <= GOOD_RESIDUAL && start == ConeStart::Zero) {
            std::mem::swap(&mut self.impulse, &mut self.trial);
            std::mem::swap(&mut self.after, &mut self.trial_after);
            self.newton.modes(&mut self.modes);
            answer.residual = residual;
            answer.start = start;
        }
        answer.residual <= GOOD_RESIDUAL
    }

    /// Computes the residual of the last result of Newton's method in the problem without scaling, and leaves the
    /// impulses in `self.trial`. The friction impulse is turned exactly against the sliding velocity if that lowers the
    /// residual: if friction impulses are a million times smaller than other impulses, its direction is known to a few
    /// digits only.
    pub(super) fn judge(&mut self, problem: &ConeProblem<'_>) -> f64 {
        self.turn();
        let residual = self.try_impulses(problem, true);
        if residual <= GOOD_RESIDUAL {
            return residual;
        }
        let straight = self.try_impulses(problem, false);
        if straight <= residual {
            return straight;
        }
        self.try_impulses(problem, true)
    }

    /// Writes the impulses of Newton's method, with the friction turned exactly against the sliding velocity, into
    /// `self.turned`.
    pub(super) fn turn(&mut self) {
        self.system
            .after(self.newton.impulse(), &mut self.trial_after);
        self.turned.clear();
        let contacts = self.newton.impulse().chunks_exact(WIDTH);
        let contacts = contacts.zip(self.trial_after.chunks_exact(WIDTH));
        let laws = self.system.friction.iter().zip(&self.system.slips);
        for ((l, u), (friction, slip)) in contacts.zip(laws) {
            if let (&[l0, l1, l2], &[_, u1, u2]) = (l, u) {
                let (x, y) = match slip {
                    Some([x, y]) => (-friction * l0 * x, -friction * l0 * y),
                    None => onto_disc(l1 - u1, l2 - u2, friction * l0.max(0.0)),
                };
                self.turned.extend([l0, x, y]);
            }
        }
    }

    /// Computes the residual of the last result of Newton's method in the problem without scaling, and leaves the
    /// impulses in `self.trial`. If `is_turned`, the friction impulses turned against the sliding velocity are
    /// used.
    pub(super) fn try_impulses(&mut self, problem: &ConeProblem<'_>, is_turned: bool) -> f64 {
        let scaled = if is_turned {
            &self.turned
        } else {
            self.newton.impulse()
        };
        self.trial.clear();
        let scaled = scaled.iter().zip(&self.system.factors);
        self.trial.extend(scaled.map(|(l, factor)| l * factor));
        problem.velocity_and_terms(&self.trial, &mut self.trial_after, &mut self.terms);
        own_residual_of(problem, &self.trial, &self.trial_after, &self.terms)
    }

    /// Computes the velocities after the current impulses, and the residual of the contact conditions for these
    /// impulses and velocities.
    pub(super) fn residual(&mut self, problem: &ConeProblem<'_>) -> f64 {
        problem.velocity_and_terms(&self.impulse, &mut self.after, &mut self.terms);
        own_residual_of(problem, &self.impulse, &self.after, &self.terms)
    }

    /// Tries the solutions of problems with friction polygons in place of the cones. The polygons first have a vertex opposite
    /// to the sliding velocity before the impact, so that they do not depend on the choice of tangent axes; then each gets
    /// vertices opposite to the sliding velocities found. This is the only start for capped impulses whose contacts jam.
    fn try_polygons(
        &mut self,
        problem: &ConeProblem<'_>,
        answer: &mut ConeAnswer,
    ) -> Result<bool, LcpError> {
        self.polygons.align(problem.n_contacts());
        self.polygons.turn(&self.system.velocity);
        let (mut unsolved, mut work) = (0, 0);
        for _ in 0..=MAX_SUBDIVISIONS {
            let report = self.polygons.solve(&self.system, &mut self.start)?;
            self.n_pivots += report.n_pivots;
            work += report.work;
            self.newton.run(&self.system, &self.start, GOOD_RESIDUAL, 0);
            if self.accept(problem, ConeStart::Polygon, answer)
                || self.attempt(problem, ConeStart::Polygon, answer)
            {
                return Ok(true);
            }
            unsolved = if report.is_solved { 0 } else { unsolved + 1 };
            self.system.after(&self.start, &mut self.trial);
            if unsolved == MAX_UNSOLVED
                || work >= MAX_SUBDIVISION_WORK
                || !self.polygons.subdivide(&self.trial)
            {
                break;
            }
        }
        Ok(false)
    }

    fn try_compliant(&mut self, problem: &ConeProblem<'_>, answer: &mut ConeAnswer) -> bool {
        self.load_compliant();
        self.attempt(problem, ConeStart::Compliant, answer)
    }

    /// Sets the starting point of Newton's method to the impulses of compliant contacts that became stiffer.
    pub(super) fn load_compliant(&mut self) {
        let Self {
            solution_branch,
            system,
            newton,
            sweeps,
            ..
        } = self;
        solution_branch.harden(system, newton, sweeps, &mut self.n_newton_steps);
        self.start.clear();
        self.start.extend_from_slice(self.solution_branch.start());
        self.system.soften(0.0);
    }

    /// Searches the limit of the solutions for equally compliant contacts as the compliance goes to zero, and
    /// replaces the answer by this limit. Returns false if the limit was not found.
    pub(super) fn try_branch(
        &mut self,
        problem: &ConeProblem<'_>,
        answer: &mut ConeAnswer,
    ) -> bool {
        let Self {
            solution_branch,
            system,
            newton,
            sweeps,
            ..
        } = self;
        if !solution_branch.begin_branch(system, newton, sweeps, &mut self.n_newton_steps) {
            return false;
        }
        let mut is_open = false;
        for compliance in SolutionBranch::compliances() {
            let Self {
                solution_branch,
                system,
                newton,
                ..
            } = self;
            if !solution_branch.stiffen(compliance, system, newton, &mut self.n_newton_steps) {
                return false;
            }
            let is_soft = self.solution_branch.is_soft(&self.system, compliance);
            if is_open && self.is_limit() {
                self.keep_limit(compliance, answer);
                return true;
            }
            is_open = false;
            self.start.clear();
            self.start.extend_from_slice(self.solution_branch.start());
            answer.residual = f64::INFINITY;
            if !self.attempt(problem, ConeStart::Compliant, answer) {
                // Rounding decides if an answer is accurate enough to be the limit, but not if it is another one.
                if !is_soft {
                    self.another.meet(&self.after, answer.residual);
                }
                continue;
            }
            self.count_continuum(answer);
            let is_limit = match answer.family {
                0 => self.is_limit(),
                _ => self.select((compliance, LEVELS), problem, answer),
            };
            if is_limit {
                self.keep_limit(compliance, answer);
                return true;
            }
            is_open = answer.family == 0;
            if self.another.is_met() || is_soft {
                continue;
            }
            // Rounding decides if a member of a continuum is met.
            if answer.family == 0 {
                self.another.meet(&self.after, answer.residual);
            }
        }
        false
    }

    /// True if the answer, whose scaled impulses are in `self.start`, is the limit of the solutions for compliant contacts. See
    /// [`SolutionBranch::is_limit`].
    fn is_limit(&mut self) -> bool {
        self.solution_branch
            .is_limit(&self.system, &self.start, &self.modes)
    }

    /// Marks the answer as the limit of the solutions for compliant contacts. `compliance` is the last of these.
    fn keep_limit(&mut self, compliance: f64, answer: &mut ConeAnswer) {
        answer.status = LcpStatus::Solved;
        answer.selection = ConeSelection::Even;
        self.reached = Some(compliance);
    }

    /// Returns the answer with zero impulses, from which further attempts start, in place of `answer`, which was not
    /// accepted.
    fn begin_again(&mut self, problem: &ConeProblem<'_>, answer: ConeAnswer) -> ConeAnswer {
        self.system.soften(0.0);
        self.impulse.fill(0.0);
        let residual = self.residual(problem);
        self.modes.fill(ConeMode::Open);
        ConeAnswer {
            status: LcpStatus::Inaccurate,
            residual,
            start: ConeStart::Zero,
            family: 0,
            ..answer
        }
    }

    pub(super) fn counted(&self, answer: ConeAnswer) -> ConeAnswer {
        ConeAnswer {
            n_newton_steps: self.n_newton_steps,
            n_pivots: self.n_pivots,
            met_others: self.another.differs(&self.after, &self.system),
            ..answer
        }
    }
}
