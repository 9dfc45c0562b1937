//! Checks solutions found by another method, computes the dimension of their continuum, and moves to the member
//! that is selected.

use super::ConeMode;
use super::another::SAME_VELOCITIES;
use super::answer::{ConeAnswer, ConeSelection, ConeStart};
use super::newton::largest;
use super::problem::no_floors;
use super::problem::{ConeProblem, WIDTH};
use super::residual::{CONE_RESIDUAL, velocity_error_of};
use super::solution_branch::{DEEP, LEVELS, SolutionBranch};
use super::weak::solve_weak;
use super::workspace::{ConeWorkspace, GOOD_RESIDUAL};
use crate::{LcpError, LcpStatus};

impl ConeWorkspace {
    /// Solves a frictional contact problem by Newton's method from the starting point `impulse` alone; no other
    /// starting point is tried. `impulse` holds three impulses per contact (N·s; normal and two tangents), for the
    /// rows of `problem` without normalization.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve), and [`LcpError::DimensionMismatch`].
    pub fn solve_from(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
    ) -> Result<ConeAnswer, LcpError> {
        no_floors(problem)?;
        let mut answer = self.begin_given(problem, impulse)?;
        self.attempt(problem, ConeStart::Given, &mut answer);
        Ok(self.finish_first(answer))
    }

    /// Takes contact impulses that another method has found as the solution of `problem`. Computes the residual of
    /// these impulses, and the dimension of the continuum of solutions to which they belong. If there is such a
    /// continuum and `selection` is [`ConeSelection::Even`], another solution of the continuum replaces the given
    /// impulses: the limit of the solutions for equally compliant contacts as the compliance goes to zero. `impulse`
    /// holds three impulses per contact, for the rows of `problem` without normalization.
    ///
    /// # Errors
    ///
    /// The errors of [`solve_from`](Self::solve_from), except that floors (lower bounds on normal impulses) are
    /// allowed.
    pub fn take(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
        selection: ConeSelection,
    ) -> Result<ConeAnswer, LcpError> {
        let is_isolated = |_: &mut Self, answer: &ConeAnswer| answer.family == 0;
        self.take_by(problem, impulse, selection, is_isolated, Self::try_branch)
    }

    /// Takes contact impulses that another method has found as the solution of `problem`, like [`take`](Self::take).
    /// This method also selects among different impulses that give equal velocities, as in a statically indeterminate
    /// contact. If there are several solutions and `selection` is [`ConeSelection::Even`], the given impulses are
    /// replaced by the limit of the impulses for equally compliant contacts as the compliance goes to zero. If impulses approach this
    /// limit too slowly, a solution near it replaces them; [`ConeAnswer::selection`] is [`ConeSelection::First`] then. `impulse`
    /// holds three impulses per contact, for the rows of `problem` without normalization.
    ///
    /// # Errors
    ///
    /// The errors of [`take`](Self::take).
    pub fn settle(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
        selection: ConeSelection,
    ) -> Result<ConeAnswer, LcpError> {
        let is_isolated = |own: &mut Self, _: &ConeAnswer| {
            !own.solution_branch
                .is_free(&own.system, &own.start, &own.modes)
        };
        self.take_by(
            problem,
            impulse,
            selection,
            is_isolated,
            Self::settle_on_branch,
        )
    }

    /// Selects among several solutions like [`settle`](Self::settle), but starts from the answer that the last solve
    /// left in this workspace. If that solve computed solutions for compliant contacts, the selection continues from
    /// the smallest compliance reached, which saves most of the work. `problem` and `answer` must be those of the last
    /// solve. The returned number of Newton steps includes those of the last solve.
    ///
    /// # Errors
    ///
    /// The errors of [`take`](Self::take).
    pub fn settle_further(
        &mut self,
        problem: &ConeProblem<'_>,
        answer: ConeAnswer,
        selection: ConeSelection,
    ) -> Result<ConeAnswer, LcpError> {
        let given = self.impulse().to_vec();
        let reached = self.reached.filter(|_| selection == ConeSelection::Even);
        let Some(reached) = reached.filter(|_| self.system.n == problem.dim()) else {
            let steps = self.n_newton_steps;
            let answer = self.settle(problem, &given, selection)?;
            self.n_newton_steps += steps;
            return Ok(self.counted(answer));
        };
        // If the velocities form a continuum, the answer already is the limit of the solution branch.
        if answer.family > 0 {
            return Ok(answer);
        }
        let mut limit = answer;
        self.count_continuum(&mut limit);
        // A solve may have skipped the first compliance because Newton's method stalled at an edge between
        // smooth pieces. Steps between compliances are more reliable if the contacts are softer.
        let is_past = reached < SolutionBranch::first_compliance();
        if !self
            .solution_branch
            .is_free(&self.system, &self.start, &self.modes)
            || self.limit_from(reached, problem, &mut limit)
            || is_past && self.settle_on_branch(problem, &mut limit)
        {
            return Ok(self.counted(limit));
        }
        let steps = self.n_newton_steps;
        let answer = self.judge_given(problem, &given)?;
        self.n_newton_steps += steps;
        Ok(self.counted(answer))
    }

    /// Takes given impulses as a solution, or replaces them by another solution if `selection` requires another one. If
    /// the residual of the given impulses is too large, those of weak contacts (with much smaller impulses than the
    /// others) are computed again first. The impulses are kept if `selection` is the first solution, or if
    /// `is_isolated` returns true (no other solution is nearby). Otherwise `branch` replaces them by the limit of the
    /// solutions for equally compliant contacts; if `branch` returns false, they are kept.
    fn take_by(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
        selection: ConeSelection,
        is_isolated: fn(&mut Self, &ConeAnswer) -> bool,
        branch: fn(&mut Self, &ConeProblem<'_>, &mut ConeAnswer) -> bool,
    ) -> Result<ConeAnswer, LcpError> {
        let mut answer = self.judge_given(problem, impulse)?;
        let mut mended = Vec::new();
        if answer.status != LcpStatus::Solved {
            mended.extend_from_slice(impulse);
            if solve_weak(problem, &mut mended, self.depth)? {
                answer = self.judge_given(problem, &mended)?;
            }
        }
        let impulse = if mended.is_empty() { impulse } else { &mended };
        if selection == ConeSelection::First || answer.status != LcpStatus::Solved {
            return Ok(answer);
        }
        if is_isolated(self, &answer) {
            answer.selection = ConeSelection::Even;
            return Ok(answer);
        }
        let mut limit = answer;
        if branch(self, problem, &mut limit) {
            return Ok(self.counted(limit));
        }
        let steps = self.n_newton_steps;
        answer = self.judge_given(problem, impulse)?;
        self.n_newton_steps += steps;
        Ok(self.counted(answer))
    }

    /// Computes the dimension of the continuum of solutions that contains a given solution, counted in velocities
    /// after the impact: 0 if no other velocities nearby are a solution. `impulse` is the given solution (three
    /// impulses per contact, for the rows of `problem` without normalization). Only solutions in which touching
    /// contacts stay closed are counted.
    ///
    /// # Errors
    ///
    /// The errors of [`take`](Self::take).
    pub fn family(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
    ) -> Result<usize, LcpError> {
        self.begin_given(problem, impulse)?;
        let pushes = self.start.iter().step_by(WIDTH).map(|l| *l > 0.0);
        self.modes.clear();
        self.modes.extend(pushes.map(|pushes| {
            if pushes {
                ConeMode::Stick
            } else {
                ConeMode::Open
            }
        }));
        Ok(self
            .solution_branch
            .family(&self.system, &self.start, &self.modes))
    }

    /// Chooses if the next solves leave out the dimension of the continuum of solutions, [`ConeAnswer::family`], unless the
    /// selection among solutions needs this dimension. The report then holds 0 instead. The dimension costs more than a
    /// Newton step, and many callers do not need it.
    pub fn leave_out_family(&mut self, is_left_out: bool) {
        self.is_family_left_out = is_left_out;
    }

    /// Computes the dimension of the continuum of solutions that contains the answer (0 if its velocities are
    /// isolated), and stores it in the answer. Leaves the scaled impulses of the answer in `self.start`.
    pub(super) fn count_continuum(&mut self, answer: &mut ConeAnswer) {
        self.start.clear();
        let scaled = self.impulse.iter().zip(&self.system.factors);
        self.start.extend(scaled.map(|(l, factor)| l / factor));
        answer.family = self
            .solution_branch
            .family(&self.system, &self.start, &self.modes);
    }

    /// Completes the answer: sets its status and the counts of steps and, if the problem is solved, the dimension
    /// of the continuum of solutions that contains it.
    pub(super) fn finish(&mut self, mut answer: ConeAnswer) -> ConeAnswer {
        if answer.residual <= CONE_RESIDUAL {
            answer.status = LcpStatus::Solved;
            self.count_continuum(&mut answer);
        }
        self.counted(answer)
    }

    /// Completes the answer of a solve that does not select among solutions, see
    /// [`leave_out_family`](Self::leave_out_family).
    pub(super) fn finish_first(&mut self, mut answer: ConeAnswer) -> ConeAnswer {
        if !self.is_family_left_out {
            return self.finish(answer);
        }
        if answer.residual <= CONE_RESIDUAL {
            answer.status = LcpStatus::Solved;
        }
        self.counted(answer)
    }

    /// Scales the contact problem and sets the starting point of Newton's method to the given impulses, which
    /// belong to the rows of `problem` without scaling.
    pub(super) fn begin_given(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
    ) -> Result<ConeAnswer, LcpError> {
        if impulse.len() != problem.dim() {
            return Err(LcpError::DimensionMismatch {
                what: "impulse",
                expected: problem.dim(),
                found: impulse.len(),
            });
        }
        let answer = self.begin(problem, ConeStart::Given)?;
        self.start.clear();
        let scaled = impulse.iter().zip(&self.system.factors);
        self.start.extend(scaled.map(|(l, factor)| l / factor));
        Ok(answer)
    }

    /// Computes the residual of the given impulses without a Newton step, and returns the impulses with this residual
    /// as answer. The impulses belong to the rows of `problem` without scaling.
    fn judge_given(
        &mut self,
        problem: &ConeProblem<'_>,
        impulse: &[f64],
    ) -> Result<ConeAnswer, LcpError> {
        let mut answer = self.begin_given(problem, impulse)?;
        self.newton.run(&self.system, &self.start, GOOD_RESIDUAL, 0);
        answer.residual = f64::INFINITY;
        self.accept(problem, ConeStart::Given, &mut answer);
        Ok(self.finish(answer))
    }

    /// Replaces the answer by the limit of the solutions for equally compliant contacts as the compliance goes to
    /// zero. The limit of their impulses is taken even if several impulses give equal velocities. Returns false if the
    /// limit was not found.
    fn settle_on_branch(&mut self, problem: &ConeProblem<'_>, answer: &mut ConeAnswer) -> bool {
        let Self {
            solution_branch,
            system,
            newton,
            sweeps,
            ..
        } = self;
        if !solution_branch.begin_branch(system, newton, sweeps, &mut self.n_newton_steps) {
            self.system.soften(0.0);
            return false;
        }
        let first = SolutionBranch::first_compliance();
        solution_branch.stiffen(first, system, newton, &mut self.n_newton_steps)
            && self.limit_from(first, problem, answer)
    }

    /// Replaces the answer by the limit of the impulses for equally compliant contacts as the compliance goes to zero.
    /// The search starts at the compliance `reached` and continues with smaller ones. If it started at the first compliance
    /// and does not find the limit, another member of the continuum of solutions replaces the answer, see
    /// [`take_member`](Self::take_member). The impulses in the workspace are replaced, too. Returns false if the answer is not
    /// replaced.
    fn limit_from(
        &mut self,
        reached: f64,
        problem: &ConeProblem<'_>,
        answer: &mut ConeAnswer,
    ) -> bool {
        let mut tried = Vec::new();
        for compliance in SolutionBranch::compliances().filter(|c| *c <= reached) {
            let Self {
                solution_branch,
                system,
                newton,
                ..
            } = self;
            if compliance < reached
                && !solution_branch.stiffen(compliance, system, newton, &mut self.n_newton_steps)
            {
                break;
            }
            if self.select((compliance, LEVELS), problem, answer) {
                self.keep_selected(answer);
                return true;
            }
            tried.push((compliance, self.solution_branch.selected_from().to_vec()));
        }
        for (compliance, start) in &tried {
            self.solution_branch.return_to(start);
            if self.select((*compliance, DEEP), problem, answer) {
                self.keep_selected(answer);
                return true;
            }
        }
        let first = tried.first();
        let first =
            first.filter(|(compliance, _)| *compliance == SolutionBranch::first_compliance());
        first.is_some_and(|(compliance, start)| {
            self.solution_branch.return_to(start);
            self.take_member(*compliance, problem, answer)
        })
    }

    /// Replaces the answer by a member of its continuum of solutions that does not depend on rounding: the solution near an
    /// extrapolation from compliances below `compliance`. Smaller ones amplify rounding. Returns false if that solution is not
    /// accurate or has other velocities.
    fn take_member(
        &mut self,
        compliance: f64,
        problem: &ConeProblem<'_>,
        answer: &mut ConeAnswer,
    ) -> bool {
        let Self {
            solution_branch,
            system,
            newton,
            ..
        } = self;
        if !solution_branch.member(compliance, system, newton, &mut self.n_newton_steps) {
            return false;
        }
        let residual = self.judge(problem);
        let is_member = residual <= GOOD_RESIDUAL && self.is_same(problem);
        if is_member {
            self.keep_trial(residual, answer);
            self.keep_selected(answer);
            answer.selection = ConeSelection::First;
        }
        is_member
    }

    /// True if the velocities of the last trial are those of the answer.
    fn is_same(&self, problem: &ConeProblem<'_>) -> bool {
        let moved = largest(problem.velocity()).max(largest(&self.trial_after));
        let rows = self.after.iter().zip(&self.trial_after);
        let differences: Vec<f64> = rows.map(|(kept, tried)| kept - tried).collect();
        largest(&differences) <= SAME_VELOCITIES * moved
    }

    /// Keeps the last trial, with the given residual, as the answer.
    fn keep_trial(&mut self, residual: f64, answer: &mut ConeAnswer) {
        std::mem::swap(&mut self.impulse, &mut self.trial);
        std::mem::swap(&mut self.after, &mut self.trial_after);
        self.newton.modes(&mut self.modes);
        answer.residual = residual;
    }

    /// Marks the answer as the limit of the impulses for equally compliant contacts.
    fn keep_selected(&mut self, answer: &mut ConeAnswer) {
        self.count_continuum(answer);
        answer.selection = ConeSelection::Even;
        answer.start = ConeStart::Compliant;
    }

    /// Returns the velocity by which the impulses in `self.trial` violate the contact conditions, as a fraction of the largest
    /// row velocity before or after the impact.
    fn misses(&self, problem: &ConeProblem<'_>) -> f64 {
        let error = velocity_error_of(problem, &self.trial, &self.trial_after, &self.terms);
        let moved = largest(problem.velocity()).max(largest(&self.trial_after));
        if error > 0.0 { error / moved } else { 0.0 }
    }

    /// Selects from a continuum of solutions the limit of the solutions for equally compliant contacts. The
    /// extrapolation starts at the compliance `range.0` and uses `range.1` compliances. On success the impulses in the workspace
    /// and the residual in `answer` are replaced. Returns false if the limit is not found.
    pub(super) fn select(
        &mut self,
        range: (f64, usize),
        problem: &ConeProblem<'_>,
        answer: &mut ConeAnswer,
    ) -> bool {
        let Self {
            solution_branch,
            system,
            newton,
            ..
        } = self;
        if !solution_branch.select(range, system, newton, &mut self.n_newton_steps) {
            return false;
        }
        let residual = self.judge(problem);
        // Newton's method stalls near a limit in which sliding contacts come to rest, so a larger residual is
        // accepted, unless large impulses that cancel hide an error of the velocities.
        let is_good = residual <= GOOD_RESIDUAL
            || (residual <= CONE_RESIDUAL && self.misses(problem) <= CONE_RESIDUAL);
        if is_good {
            self.keep_trial(residual, answer);
        }
        is_good
    }
}
