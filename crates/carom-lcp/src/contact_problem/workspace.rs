//! The stages of a solve, island by island.

use super::checks::{check_finite, check_len, check_range};
use super::enumerate;
use super::even::Path;
use super::law::{Law, Triple};
use super::linear::{Linear, Pattern};
use super::newton::{ATTEMPTS, Limits, Newton, Point};
use super::no_answer;
use super::problem::{ContactProblem, Kind, Operator};
use super::proximal::Proximal;
use super::rank::Uniqueness;
use super::rest::Rest;
use super::solution::{ContactMode, Member, NO_IMPULSE, Rank, Refusal, Solution};
use super::system::System;
use crate::LcpError;
use carom_numeric::kernel::{larger, norm};

/// Residual that a solve aims at: a thousandth of what is accepted, and a thousand times the rounding error of a heap of some
/// hundred contacts.
const GOAL: f64 = 1e-12;

/// Largest residual of an answer.
const ACCEPTED: f64 = 1e-9;

/// Largest number of steps of Newton's method in the second stage.
const STEPS: usize = 25;

/// Velocity up to which the closed form brings a contact to rest, relative to the one before.
const BALANCED: f64 = 1e-11;

/// Regularization of the last steps to an even member: rounding errors divided by it move shared impulses by 1e-10.
const EVEN: f64 = 1e-6;

/// A contact that carries slides if its tangential velocity exceeds this fraction of the largest velocity.
const SLIDES: f64 = 1e-9;

/// Work space of [`solve`]. Once it has solved a problem, it solves others of that size without allocations, and keeps the
/// symbolic factors of the last pattern.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Residual at which a search ends, if it is above [`GOAL`].
    goal: f64,
    pub(super) system: System,
    pub(super) linear: Linear,
    pub(super) newton: Newton,
    pub(super) proximal: Proximal,
    pub(super) rest: Rest,
    pub(super) point: Point,
    path: Path,
    kept: Vec<Triple>,
    uniqueness: Uniqueness,
    starts: Vec<usize>,
    /// Island of every contact, as the index of one of its contacts.
    parents: Vec<u32>,
    members: Vec<u32>,
    solution: Solution,
}

/// Solves a contact problem. `member` says which of several answers is wanted.
///
/// # Errors
///
/// A [`Refusal`], with a proof or with the best impulses.
pub fn solve<'w>(
    problem: &ContactProblem<'_>,
    member: Member,
    workspace: &'w mut Workspace,
) -> Result<&'w Solution, Refusal> {
    workspace.solve(problem, member)?;
    Ok(&workspace.solution)
}

/// Returns the residual of given impulses (N·s, one per row), which is defined as [`Solution::residual`] is.
///
/// # Errors
///
/// [`LcpError::DimensionMismatch`], [`LcpError::NonFinite`].
pub fn residual(
    problem: &ContactProblem<'_>,
    impulse: &[f64],
    workspace: &mut Workspace,
) -> Result<f64, LcpError> {
    check_len("impulse", problem.velocity().len(), impulse.len())?;
    check_finite("impulse", impulse)?;
    workspace.find_islands(problem);
    let mut largest = 0.0;
    for first in 0..problem.blocks().len() {
        if !workspace.begin_island(problem, first) {
            continue;
        }
        let Workspace {
            system,
            point,
            starts,
            ..
        } = &mut *workspace;
        point.clear(system.len());
        for (at, i) in system.members.iter().enumerate() {
            let width = system.contacts[at].kind.width();
            let given = &impulse[starts[*i as usize]..][..width];
            for (l, given) in point.impulse[at].iter_mut().zip(given) {
                *l = given / system.factor(at) / system.unit;
            }
        }
        let springs = std::mem::take(&mut system.springs);
        point.evaluate(system, Law::Coulomb, &springs);
        system.springs = springs;
        largest = larger(largest, point.told(&system.springs));
    }
    Ok(largest)
}

/// Returns the limits of Newton's method in the second stage, with the caller's `goal` in place of the default. Steps beyond the goal
/// are worth their time at the default.
fn limits(goal: f64, linear: &Linear, polish: Option<f64>) -> Limits {
    Limits {
        tolerance: goal.max(GOAL),
        steps: STEPS,
        polish: polish.filter(|_| goal <= GOAL),
        first: linear.first_attempt(),
    }
}

impl Workspace {
    /// Returns the pattern of the symbolic factors that are kept, on which the rounding of later solutions depends; `None`
    /// without factors. All else in this work space is scratch memory.
    pub fn pattern(&self) -> Option<Pattern> {
        self.linear.pattern()
    }

    /// Creates a work space that goes on as one with this [`pattern`](Self::pattern) does, to the same bits.
    pub fn recalling(pattern: Option<Pattern>) -> Self {
        let mut out = Self::default();
        if let Some(pattern) = pattern {
            out.linear.recall(pattern);
        }
        out
    }

    /// Fills the system with the island of the contact `first`. Returns false if another contact stands for that island.
    fn begin_island(&mut self, problem: &ContactProblem<'_>, first: usize) -> bool {
        if self.parents[first] as usize != first {
            return false;
        }
        self.members.clear();
        let of_island = (first..problem.blocks().len())
            .filter(|i| self.parents[*i] as usize == first)
            .map(|i| i as u32);
        self.members.extend(of_island);
        self.system.prepare(problem, &self.starts, &self.members);
        true
    }

    /// Sets the residual at which searches end, if it is above 1e-12. Searches for rest and for the even member stay as accurate as
    /// they are.
    ///
    /// # Errors
    ///
    /// [`LcpError::OutOfRange`] unless the goal is from 0 to 1.
    pub fn set_goal(&mut self, goal: f64) -> Result<(), LcpError> {
        check_range("goal", goal, 1.0, "from 0 to 1")?;
        self.goal = goal;
        Ok(())
    }

    fn solve(&mut self, problem: &ContactProblem<'_>, member: Member) -> Result<(), Refusal> {
        self.find_islands(problem);
        self.solution.reset(problem, member);
        self.newton.n_steps = 0;
        for first in 0..problem.blocks().len() {
            if !self.begin_island(problem, first) {
                continue;
            }
            self.linear.begin(&mut self.system);
            let rests = self.solve_island(member);
            let is_examined = matches!(member, Member::Even | Member::First);
            let springs = &self.system.springs;
            if springs.are_rigid() && !(self.point.told(springs) <= ACCEPTED) {
                self.retry(problem, member)?;
            }
            if is_examined && !self.select(member, rests) {
                self.try_modes(problem)?;
            }
            self.write(rests);
        }
        self.solution.steps = self.newton.n_steps;
        if self.solution.residual <= ACCEPTED {
            return Ok(());
        }
        Err(Refusal::NotConverged {
            residual: self.solution.residual,
            best: Box::new(self.solution.clone()),
        })
    }

    /// Finds the islands: contacts that are coupled by bodies. The least contact of an island stands for it.
    fn find_islands(&mut self, problem: &ContactProblem<'_>) {
        self.starts.clear();
        self.parents.clear();
        let mut n = 0;
        for (i, block) in problem.blocks().iter().enumerate() {
            self.starts.push(n);
            self.parents.push(i as u32);
            n += block.kind.width();
        }
        match problem.operator() {
            Operator::Dense(matrix) => {
                let mut j = 0;
                for (column, entries) in matrix.chunks_exact(n.max(1)).enumerate() {
                    if self.starts.get(j + 1).is_some_and(|next| column >= *next) {
                        j += 1;
                    }
                    for i in 0..j {
                        let rows = self.starts[i]..self.starts[i + 1];
                        if entries[rows].iter().any(|x| *x != 0.0) {
                            self.join(i, j);
                        }
                    }
                }
            }
            Operator::Bodies(bodies) => {
                self.members.clear();
                self.members.resize(bodies.n_bodies(), u32::MAX);
                for (i, sides) in bodies.sides().iter().enumerate() {
                    for body in sides.bodies {
                        let Some(first) = self.members.get_mut(body as usize) else {
                            continue;
                        };
                        if *first == u32::MAX {
                            *first = i as u32;
                        }
                        let first = *first as usize;
                        self.join(first, i);
                    }
                }
            }
        }
        for i in 0..self.parents.len() {
            self.parents[i] = self.root(i) as u32;
        }
    }

    fn root(&self, mut i: usize) -> usize {
        while self.parents[i] as usize != i {
            i = self.parents[i] as usize;
        }
        i
    }

    fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.root(i), self.root(j));
        self.parents[a.max(b)] = a.min(b) as u32;
        self.parents[i] = a.min(b) as u32;
        self.parents[j] = a.min(b) as u32;
    }

    /// Solves the island in `system`. Returns true if it comes to rest.
    fn solve_island(&mut self, member: Member) -> bool {
        let goal = self.goal;
        let Self {
            system,
            linear,
            newton,
            proximal,
            rest,
            point,
            ..
        } = self;
        let springs = std::mem::take(&mut system.springs);
        point.set(&springs.preload);
        rest.is_least = false;
        // Contacts that last share their load as before: steps with hardly any regularization would move it by rounding.
        let lasts = springs.preload.iter().any(|p| p[0] != 0.0);
        let mut limits = limits(goal, linear, Some(if lasts { EVEN } else { 0.0 }));
        if lasts {
            limits.first = ATTEMPTS.len() - 1;
        }
        if system.len() == 1 {
            point.impulse[0] = system.single(&springs);
            point.evaluate(system, Law::Coulomb, &springs);
            if point.is_solved(&springs, limits.tolerance) {
                let rests = member == Member::Even
                    && springs.compliance[0] == 0.0
                    && norm(&point.velocity[0]) <= BALANCED * system.speed;
                system.springs = springs;
                return rests;
            }
        }
        let can_rest = matches!(member, Member::Even | Member::Near)
            && springs.are_rigid()
            && system.contacts.iter().all(|c| {
                c.target == 0.0
                    && c.floor == 0.0
                    && c.cap == f64::INFINITY
                    && !matches!(c.kind, Kind::Against(_))
            });
        let rests = can_rest
            && match member {
                Member::Near => rest.keep((system, linear), point),
                _ => rest.find((system, linear), (newton, proximal), point),
            };
        if rests {
            point.evaluate(system, Law::Coulomb, &springs);
            let is_good = point.is_solved(&springs, limits.tolerance)
                || newton.run((system, linear), (Law::Coulomb, &springs), point, limits);
            if !is_good {
                proximal.run(
                    (system, linear),
                    newton,
                    (&springs, point),
                    limits.tolerance,
                );
            }
            system.springs = springs;
            return true;
        }
        if linear.is_dense() {
            // The search for rest ends early if a pivot is large, and pivots depend on the order of contacts.
            point.set(&springs.preload);
        }
        let tolerance = limits.tolerance;
        if lasts && member == Member::Near {
            // Contacts that yield a little share their loads as before, changed only by relative motion.
            proximal.share((system, linear), newton, (&springs, point), tolerance);
            if point.is_solved(&springs, tolerance) {
                system.springs = springs;
                return false;
            }
            point.set(&springs.preload);
        }
        let is_solved = newton.run((system, linear), (Law::Coulomb, &springs), point, limits);
        if !is_solved && proximal.run((system, linear), newton, (&springs, point), tolerance) {
            newton.run((system, linear), (Law::Coulomb, &springs), point, limits);
        }
        system.springs = springs;
        false
    }

    /// Looks for answers of rigid contacts where the stages found none. Refuses targets that contradict each other.
    fn retry(&mut self, problem: &ContactProblem<'_>, member: Member) -> Result<(), Refusal> {
        if let Some(proof) = no_answer::proof(&mut self.system) {
            let mut normal_impulses = vec![0.0; problem.blocks().len()];
            for (at, (i, l)) in self.system.members.iter().zip(proof).enumerate() {
                normal_impulses[*i as usize] = l * self.system.factor(at);
            }
            return Err(Refusal::NoAnswer { normal_impulses });
        }
        if matches!(member, Member::Even | Member::First) {
            self.try_modes(problem)?;
        }
        Ok(())
    }

    /// Tries all combinations of modes of a few planar contacts. If the island has one answer, takes it. Refuses it if there are
    /// several and the island is the whole problem.
    fn try_modes(&mut self, problem: &ContactProblem<'_>) -> Result<(), Refusal> {
        if !enumerate::can_try(&self.system) {
            return Ok(());
        }
        let springs = std::mem::take(&mut self.system.springs);
        let mut found = enumerate::answers((&mut self.system, &mut self.linear), &springs, GOAL);
        self.system.springs = springs;
        let is_whole = self.members.len() == problem.blocks().len();
        if found.len() < 2 || !is_whole {
            found.truncate(1);
            if let Some(point) = found
                .pop()
                .filter(|_| !(self.point.told(&self.system.springs) <= ACCEPTED))
            {
                self.point = point;
            }
            return Ok(());
        }
        let mut answers = Vec::new();
        for point in found {
            self.solution.reset(problem, Member::Any);
            self.point = point;
            let parts = (&mut self.system, &mut self.linear);
            self.solution.rank = self.uniqueness.rank(parts, &self.point, false);
            self.write(false);
            answers.push(self.solution.clone());
        }
        Err(Refusal::Ambiguous(answers))
    }

    /// Examines the answer of the island. If it is one of many and the even member is asked for, replaces it by that member.
    /// Returns false if the path to that member breaks.
    fn select(&mut self, member: Member, rests: bool) -> bool {
        let goal = self.goal;
        let Self {
            system,
            linear,
            newton,
            proximal,
            rest,
            point,
            path,
            uniqueness,
            kept,
            solution,
            ..
        } = self;
        if !system.springs.are_rigid() || point.told(&system.springs) > ACCEPTED {
            return true;
        }
        let rank = uniqueness.rank((system, linear), point, rests);
        solution.rank = solution.rank.max(rank);
        let is_settled = member == Member::First && !enumerate::can_try(system);
        if rank == Rank::Unique || is_settled || (rests && rest.is_least) {
            return true;
        }
        kept.clone_from(&point.impulse);
        let residual = point.residual;
        let law = if rests { Law::Cone } else { Law::Coulomb };
        let mut is_even = path.follow((system, linear), newton, law, point);
        let springs = std::mem::take(&mut system.springs);
        if is_even {
            is_even = if rests {
                rest.end((system, linear), newton, point)
            } else {
                // Steps at rigid contacts are not the least ones: further digits would cost evenness.
                let limits = limits(goal, linear, Some(EVEN));
                newton.run((system, linear), (law, &springs), point, limits)
                    || proximal.run(
                        (system, linear),
                        newton,
                        (&springs, point),
                        limits.tolerance,
                    )
            };
        }
        point.evaluate(system, Law::Coulomb, &springs);
        is_even &= !(point.residual > residual.max(GOAL));
        if !is_even || member == Member::First {
            point.set(kept);
            point.evaluate(system, Law::Coulomb, &springs);
        }
        system.springs = springs;
        if !is_even {
            solution.member = Member::First;
        }
        is_even || rests
    }

    /// Writes impulses, velocities and modes of the island into the solution.
    fn write(&mut self, rests: bool) {
        let solution = &mut self.solution;
        let (system, point) = (&self.system, &self.point);
        let limit = SLIDES * system.speed;
        let sizes = point.impulse.iter().map(|l| norm(l));
        let nothing = NO_IMPULSE * sizes.fold(0.0, f64::max);
        for (at, i) in system.members.iter().enumerate() {
            let i = *i as usize;
            let (contact, factor) = (&system.contacts[at], system.factor(at));
            // Velocities and impulses of springs belong together: their work is counted.
            let l = if system.springs.compliance[at] == 0.0 {
                point.projected(at)
            } else {
                point.impulse[at]
            };
            let pushes = l[0] > nothing || contact.floor > 0.0 || l[0] < 0.0;
            let u = &point.velocity[at];
            let width = contact.kind.width();
            let first = self.starts[i];
            for k in 0..width {
                let is_held = rests && (k == 0 || contact.friction > 0.0);
                solution.impulse[first + k] = l[k] * factor * system.unit;
                if !is_held {
                    solution.velocity[first + k] = u[k] / factor * system.unit;
                }
            }
            let tangential = norm(&point.relative[at][1..]);
            solution.modes[i] = if !pushes {
                ContactMode::Open
            } else if contact.friction == 0.0 || (tangential > limit && !rests) {
                ContactMode::Slide
            } else {
                ContactMode::Stick
            };
        }
        solution.residual = solution.residual.max(point.told(&system.springs));
        solution.rests &= rests;
        solution.work += self.linear.work;
    }
}
