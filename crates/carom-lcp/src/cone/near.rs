//! Solution of a problem near that of an earlier one: contacts that last from time step to time step.

use super::answer::{ConeAnswer, ConeStart};
use super::newton::{MAX_STEPS, largest};
use super::problem::{ConeProblem, WIDTH, no_floors};
use super::residual::velocity_error_of;
use super::sparse::{SparseConeOptions, SparseConeProblem};
use super::workspace::{ConeWorkspace, GOOD_RESIDUAL};
use crate::{LcpError, LcpStatus};

/// Compliances of a starting point, as fractions of the mobility: they make rows regular that nearly depend on
/// each other, such as those of the legs that carry one body.
const SOFTENINGS: [f64; 2] = [1e-10, 1e-8];

/// Number of Gauss-Seidel sweeps between two trials of Newton's method.
const SWEEPS: usize = 60;

/// Number of such trials. Contacts whose impulses jump from one to the other need several (measured).
const ROUNDS: usize = 10;

/// Number of such trials with prescribed slip directions: contacts that jam have no solution, so the search is kept
/// short.
const ROUNDS_OF_SLIPS: usize = 2;

/// Residual of the interior-point method up to which its slow final stages are left out in the first attempt.
const ACCEPTABLE: f64 = 1e-9;

/// Residual that the slow stages of the interior-point method are asked for: the rounding error of some ten
/// contacts.
const PATIENT: f64 = 1e-13;

/// Search for impulses whose velocity error is at most the tolerance. The best so far are the impulses of the
/// workspace.
struct Search<'a, 'p> {
    problem: &'a ConeProblem<'p>,
    tolerance: f64,
    /// Velocity error of the best impulses.
    error: f64,
    /// Starting point of the best impulses.
    start: ConeStart,
}

impl ConeWorkspace {
    /// Solves a contact problem whose solution is near `impulse` (three per contact: normal and two tangents, for the
    /// rows of `problem` without normalization), such as that of the time step before. Where contacts share a load,
    /// the impulses nearest to these are taken. The search ends at impulses whose
    /// [`cone_velocity_error`](super::cone_velocity_error) is at most `tolerance` (m/s), else with those of the least
    /// error that was found and the status [`Inaccurate`](LcpStatus::Inaccurate). The dimension of a continuum of
    /// solutions is not computed, no member is selected, and [`modes`](Self::modes) are not written.
    ///
    /// The starting points are, one after the other: the given impulses, zero, compliant contacts that become stiffer,
    /// the interior-point method, contacts with a slight compliance, Gauss-Seidel sweeps, and the slow stages of the
    /// interior-point method. Problems with prescribed slip directions ([`ConeProblem::with_slips`]) are not given to
    /// the interior-point method.
    ///
    /// # Errors
    ///
    /// The errors of [`solve_from`](Self::solve_from).
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_lcp::cone::{ConeProblem, ConeWorkspace};
    /// let delassus = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    /// let mut workspace = ConeWorkspace::new();
    /// let mut impulse = [0.0; 3];
    /// for speed in [1.0, 1.1, 1.2] {
    ///     let velocity = [-speed, 0.1, 0.0];
    ///     let problem = ConeProblem::new(&delassus, &velocity, &[0.5], &[])?;
    ///     workspace.solve_near(&problem, &impulse, 1e-14)?;
    ///     impulse.copy_from_slice(workspace.impulse());
    ///     assert!((impulse[0] - speed).abs() < 1e-15);
    /// }
    /// # Ok::<(), carom_lcp::LcpError>(())
    /// ```
    pub fn solve_near(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
        tolerance: f64,
    ) -> Result<ConeAnswer, LcpError> {
        no_floors(problem)?;
        let mut answer = self.begin_given(problem, impulse)?;
        if problem.n_contacts() == 1
            && let Some(closed) = self.closed_form(problem, answer.selection)
        {
            return Ok(closed);
        }
        let mut search = Search {
            problem,
            tolerance,
            error: f64::INFINITY,
            start: ConeStart::Given,
        };
        let fastest = largest(problem.velocity());
        let unit = if fastest > 0.0 {
            self.system.speed() / fastest
        } else {
            0.0
        };
        self.newton.set_tolerance(tolerance * unit);
        let found = self.search_near(&mut search);
        self.newton.set_tolerance(0.0);
        let is_found = found?;
        answer.residual = self.residual(problem);
        answer.start = search.start;
        if is_found {
            answer.status = LcpStatus::Solved;
        }
        Ok(self.counted(answer))
    }

    /// Searches impulses that solve the friction-cone problem of `search`, by Newton iterations from several starting
    /// points. Each starting point is tried if those before it failed. Returns true if the error of the contact
    /// velocities is at most the tolerance of `search`. The best impulses are stored in the workspace.
    fn search_near(&mut self, search: &mut Search<'_, '_>) -> Result<bool, LcpError> {
        Ok(self.is_near_given(search)
            || self.is_near_simple(search)
            || self.is_near_interior(search, ACCEPTABLE)?
            || self.is_near_soft(search)
            || self.is_near_swept(search)
            || self.is_near_interior(search, PATIENT)?)
    }

    /// Tries Newton's method for the friction-cone problem from the impulses that the caller gave as starting point.
    /// The first trial leaves out directions in which impulses hardly change the contact velocities; the second
    /// includes them. Returns true if the velocity error of the best impulses is at most the tolerance. `search` holds
    /// the problem, the tolerance, and the error of the best impulses.
    fn is_near_given(&mut self, search: &mut Search<'_, '_>) -> bool {
        self.newton.leave_out_weak(true);
        let is_found = self.is_near(search, ConeStart::Given, MAX_STEPS);
        self.newton.leave_out_weak(false);
        if is_found {
            return true;
        }
        self.load_best();
        self.is_near(search, ConeStart::Given, MAX_STEPS)
    }

    /// Tries Newton's method for the friction-cone problem from two starting points: zero impulses, and the impulses of
    /// compliant contacts that become stiffer. Returns true if the velocity error of the best impulses is at most the
    /// tolerance. `search` holds the problem, the tolerance, and the error of the best impulses.
    fn is_near_simple(&mut self, search: &mut Search<'_, '_>) -> bool {
        self.start.fill(0.0);
        if self.is_near(search, ConeStart::Zero, MAX_STEPS) {
            return true;
        }
        self.load_compliant();
        self.is_near(search, ConeStart::Compliant, MAX_STEPS)
    }

    /// Tries Newton's method for the friction-cone problem from the result of the interior-point method. The slow
    /// stages of the interior-point method run only if its residual exceeds `acceptable`. Returns true if the velocity
    /// error of the best impulses is at most the tolerance; false without a trial if impulses have upper bounds or slip
    /// directions are prescribed. `search` holds the problem, the tolerance, and the error of the best impulses.
    fn is_near_interior(
        &mut self,
        search: &mut Search<'_, '_>,
        acceptable: f64,
    ) -> Result<bool, LcpError> {
        let problem = search.problem;
        let is_capped = (0..problem.n_contacts()).any(|i| problem.cap(i).is_finite());
        if is_capped || problem.has_slips() {
            return Ok(false);
        }
        let sparse = SparseConeProblem::of_dense(problem)?;
        let options = SparseConeOptions::new(GOOD_RESIDUAL.min(acceptable), acceptable)?;
        let found = self.sparse.solve_from(&sparse, &self.impulse, &options)?;
        self.n_newton_steps += found.n_factorizations;
        self.start.clear();
        let scaled = self.sparse.impulse().iter().zip(&self.system.factors);
        self.start.extend(scaled.map(|(l, factor)| l / factor));
        Ok(self.is_near(search, ConeStart::Sparse, MAX_STEPS))
    }

    /// Tries Newton's method for contacts with a slight compliance, from the best impulses so far. The impulses found
    /// are kept if they have a smaller velocity error at the rigid contacts. Returns true if the velocity error of the
    /// best impulses is at most the tolerance. `search` holds the problem, the tolerance, and the error of the best
    /// impulses.
    fn is_near_soft(&mut self, search: &mut Search<'_, '_>) -> bool {
        let is_found = SOFTENINGS.into_iter().any(|softening| {
            self.load_best();
            self.system.soften(softening);
            self.is_near(search, ConeStart::Compliant, MAX_STEPS)
        });
        self.system.soften(0.0);
        is_found
    }

    /// Tries Newton's method for the friction-cone problem from impulses that Gauss-Seidel sweeps have improved,
    /// several times. Returns true if the velocity error of the best impulses is at most the tolerance. `search` holds
    /// the problem, the tolerance, and the error of the best impulses.
    fn is_near_swept(&mut self, search: &mut Search<'_, '_>) -> bool {
        self.load_best();
        self.sweeps.prepare(&self.system);
        let n_rounds = if search.problem.has_slips() {
            ROUNDS_OF_SLIPS
        } else {
            ROUNDS
        };
        (0..n_rounds).any(|_| {
            self.sweeps.run(&self.system, &mut self.start, SWEEPS);
            // The work of the sweeps is that of a factorization of twice as many rows.
            self.n_newton_steps += SWEEPS.div_ceil(self.system.n / WIDTH);
            self.is_near(search, ConeStart::GaussSeidel, 0)
                || self.is_near(search, ConeStart::GaussSeidel, MAX_STEPS)
        })
    }

    /// Sets the starting point of Newton's method to the best impulses so far.
    fn load_best(&mut self) {
        self.start.clear();
        let scaled = self.impulse.iter().zip(&self.system.factors);
        self.start.extend(scaled.map(|(l, factor)| l / factor));
    }

    /// Applies Newton's method for the friction-cone problem from the impulses in `self.start`, with at most
    /// `max_steps` steps. Keeps the result if its velocity error is the smallest so far; `start` names the kind of
    /// starting point. Returns true if the smallest velocity error is at most the tolerance of `search`.
    fn is_near(&mut self, search: &mut Search<'_, '_>, start: ConeStart, max_steps: usize) -> bool {
        let (_, steps) = self
            .newton
            .run(&self.system, &self.start, GOOD_RESIDUAL, max_steps);
        self.n_newton_steps += steps;
        self.turn();
        // Friction turned exactly against the sliding velocity is kept if that lowers the error.
        for is_turned in [false, true] {
            self.try_impulses(search.problem, is_turned);
            let (trial, after) = (&self.trial, &self.trial_after);
            let error = velocity_error_of(search.problem, trial, after, &self.terms);
            if error < search.error {
                std::mem::swap(&mut self.impulse, &mut self.trial);
                (search.error, search.start) = (error, start);
            }
        }
        search.error <= search.tolerance
    }
}
