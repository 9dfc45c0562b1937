//! Evaluation of the law itself near a velocity, if several answers or branches are possible there.

use super::assemble::leads_everywhere;
use super::branch::{LONG, Walk};
use super::directions::spread;
use super::frame::Frame;
use super::friction::Contacts;
use super::ways::AtOnce;
use super::{Branches, Map, SAME_JACOBIAN, are_one};
use carom_contact::{ImpactError, ImpactLaw, ImpactProblem};
use carom_metric::Tangent;
use nalgebra::{DMatrix, DVector};

/// Distance at which the law is evaluated, as a fraction of the motion that contacts can change: beyond tied decisions, but
/// below the curvature of round cones.
const NEAR: f64 = 1e-6;

/// Largest probe distance, as a fraction of the distance of the next decision.
const BEFORE_NEXT: f64 = 1e-3;

/// Smallest probe distance, as a multiple of the distance of tied decisions.
const BEYOND_TIES: f64 = 16.0;

/// Distance, as a fraction of the step, by which an answer may differ from a branch.
const MATCH: f64 = 1e-2;

/// Difference between an answer and a branch, as a multiple of that of the best branch, up to which the answer is on it.
const BEST: f64 = 2.0;

/// Distance, in steps, from the answer at the velocity itself beyond which an answer counts as a jump.
const FAR: f64 = 1e3;

/// Length below which a direction counts as zero.
const ZERO: f64 = 1e-9;

/// Largest number of directions in which the law is evaluated, besides those that are computed from them.
const MAX_DIRECTIONS: usize = 80;

/// A law, prepared for evaluation near a velocity.
pub(super) struct Probe<'f, 'l> {
    law: AtOnce<'l>,
    frame: &'f Frame<'f>,
    step: f64,
    /// Groups of contacts that have ties; the velocities of other groups stay unchanged.
    groups: Vec<usize>,
}

/// Branches that the law took where it was evaluated.
pub(super) struct Asked {
    pub(super) walks: Vec<Walk>,
    pub(super) is_complete: bool,
    /// True if the law had an answer in every direction, and all were near the answer at the velocity itself.
    pub(super) is_continuous: bool,
    /// True if an answer with unknown derivatives was on none of the given branches: the law takes another one there.
    pub(super) is_elsewhere: bool,
}

/// Answer near the velocity: velocity after the impact, and its derivatives.
struct Answer {
    after: DVector<f64>,
    /// Jacobians of the velocity and of the impulses; `None` at another tie and in a continuum of outcomes.
    jacobians: Option<[DMatrix<f64>; 2]>,
}

impl<'f, 'l> Probe<'f, 'l> {
    /// Prepares the evaluation of a law at velocities near the velocity before the impact, all at one small distance
    /// from it. This distance must be larger than the velocity changes that reverse tied decisions (those of the
    /// branches `ways`, and those of the further rows `ties`), and than the approach that the law takes for rounding. The
    /// distance must also be well below the change that reverses the next decision. Returns `None` if no distance satisfies
    /// both conditions.
    pub(super) fn new(
        law: AtOnce<'l>,
        frame: &'f Frame<'f>,
        ways: &[Walk],
        ties: &[DVector<f64>],
        next: f64,
    ) -> Option<Self> {
        let ties: Vec<&DVector<f64>> = ways.iter().flat_map(Walk::ties).chain(ties).collect();
        let (groups, unit) = groups_and_unit(frame, &ties);
        let step = unit.min(BEFORE_NEXT * next);
        let tied = frame.scales().least(&groups, law.tolerance);
        (step >= BEYOND_TIES * tied.unwrap_or(0.0)).then_some(Self {
            law,
            frame,
            step,
            groups,
        })
    }

    /// Returns the part of a direction of velocity change that lies in the span of certain contact rows: those groups
    /// of interacting rows that have tied decisions, which a tiny change of the velocity reverses.
    fn within_groups(&self, direction: &DVector<f64>) -> DVector<f64> {
        part_in_groups(self.frame, &self.groups, direction)
    }

    /// Evaluates the law at velocities that differ from the present one in several directions. Returns those of the
    /// branches `ways` that the law took, in their order, and a new branch for each answer that is on no known branch.
    /// `after` is the velocity after the impact. `ties` are the rows of further tied decisions (a tiny change of the velocity reverses them), which give further
    /// directions.
    pub(super) fn ask(
        &self,
        ways: Vec<Walk>,
        ties: &[DVector<f64>],
        after: &DVector<f64>,
    ) -> Result<Asked, ImpactError> {
        let own = ways.iter().map(|way| way.direction(self.frame));
        let mut directions = own.collect::<Result<Vec<_>, _>>()?;
        let ties = ways.iter().flat_map(Walk::ties).chain(ties);
        directions.extend(ties.flat_map(|row| [row.clone(), -row]));
        directions.truncate(MAX_DIRECTIONS);
        let within = |direction: &DVector<f64>| self.within_groups(&self.frame.admit(direction));
        let directions = spread(self.frame, directions, within);
        // Direction in which the law was found on each branch.
        let mut seen: Vec<Option<DVector<f64>>> = vec![None; ways.len()];
        let mut asked = Asked {
            walks: Vec::new(),
            is_complete: true,
            is_continuous: true,
            is_elsewhere: false,
        };
        let mut others: Vec<Walk> = Vec::new();
        let mut tied: Vec<(DVector<f64>, Answer)> = Vec::new();
        for (number, direction) in directions.into_iter().enumerate() {
            let direction = within(&direction);
            let Some(direction) = direction.try_normalize(ZERO) else {
                continue;
            };
            let Some(answer) = self.answer(&direction) else {
                asked.is_continuous = false;
                asked.is_complete = false;
                continue;
            };
            let on_way = (0..ways.len()).filter(|k| self.is_on(&ways[*k], &direction, &answer));
            let missed = on_way.map(|k| (k, self.missed(&ways[k], &direction, &answer)));
            let mut on_way: Vec<(usize, f64)> = missed.collect();
            // Several branches may have nearly equal Jacobians: the law is on those that fit best.
            let least = on_way
                .iter()
                .fold(f64::INFINITY, |m, (_, missed)| m.min(*missed));
            on_way.retain(|(_, missed)| *missed <= BEST * least + SAME_JACOBIAN);
            for (k, _) in &on_way {
                let seen = &mut seen[*k];
                if seen.is_none() || number == *k {
                    *seen = Some(direction.clone());
                }
            }
            let is_known = !on_way.is_empty()
                || others
                    .iter()
                    .any(|way| self.is_on(way, &direction, &answer));
            if !is_known {
                let Some([jacobian, impulses]) = answer.jacobians else {
                    tied.push((direction, answer));
                    continue;
                };
                asked.is_complete = false;
                let moved = &answer.after - after;
                asked.is_continuous &= self.frame.is_within(&moved, FAR * self.step);
                let mut limit = answer.after - &jacobian * (self.step * &direction);
                if self.frame.is_within(&(&limit - after), MATCH * self.step) {
                    limit.clone_from(after);
                }
                let mut way = Walk::at(self.frame, limit, f64::INFINITY, 0.0, vec![direction]);
                way.jacobian = jacobian;
                way.impulses = impulses;
                way.map = Map::Limit;
                others.push(way);
            }
        }
        // An answer at another tie may be on a branch that was found in a later direction.
        for (direction, answer) in &tied {
            if !others.iter().any(|way| self.is_on(way, direction, answer)) {
                let moved = &answer.after - after;
                asked.is_continuous &= self.frame.is_within(&moved, FAR * self.step);
                (asked.is_complete, asked.is_elsewhere) = (false, true);
            }
        }
        let is_nowhere = others.is_empty() && seen.iter().all(Option::is_none);
        if is_nowhere {
            // The outcome itself is a piece, though the law answers otherwise all around it.
            asked.walks.extend(ways.into_iter().take(1));
            return Ok(asked);
        }
        for (mut way, seen) in ways.into_iter().zip(seen) {
            if let Some(direction) = seen {
                way.towards = Some(direction);
                asked.walks.push(way);
            }
        }
        asked.walks.extend(others);
        Ok(asked)
    }

    fn is_on(&self, way: &Walk, direction: &DVector<f64>, answer: &Answer) -> bool {
        let is_parallel = |of: &[DMatrix<f64>; 2]| are_near(&of[0], &way.jacobian);
        // The Jacobians come first: they cost less than distances and distinguish most branches.
        if !answer.jacobians.as_ref().is_none_or(is_parallel) {
            return false;
        }
        let predicted = &way.velocity + &way.jacobian * (self.step * direction);
        let allowed = MATCH * self.step * way.jacobian.amax().max(1.0);
        self.frame.is_within(&(&answer.after - predicted), allowed)
    }

    /// Returns the relative difference between an answer of the law and a branch that the answer is on: that of the Jacobians,
    /// or that of the velocities if the Jacobian of the answer is not known. `direction` is the whitened direction of the
    /// velocity change.
    fn missed(&self, way: &Walk, direction: &DVector<f64>, answer: &Answer) -> f64 {
        let size = way.jacobian.amax().max(1.0);
        match &answer.jacobians {
            Some([jacobian, _]) => (jacobian - &way.jacobian).amax() / size,
            None => {
                let predicted = &way.velocity + &way.jacobian * (self.step * direction);
                (&answer.after - predicted).norm() / (self.step * size)
            }
        }
    }

    fn answer(&self, direction: &DVector<f64>) -> Option<Answer> {
        let velocity = self
            .frame
            .velocity(&(&self.frame.before + self.step * direction));
        let problem = ImpactProblem::new(self.frame.problem.contacts(), Tangent(velocity)).ok()?;
        let outcome = self.law.law.resolve(&problem).ok()?;
        let after = self.frame.of_velocity(&outcome.velocity_plus.0);
        let near = Frame::new(&problem).ok()?;
        let contacts = Contacts::all(&near, self.law.cones, self.law.rebounds).ok()?;
        let found = self.law.ways(&contacts, &outcome, true).ok().flatten();
        let jacobians = found.and_then(|found| {
            let all = found.walks;
            let first = all.first()?;
            let is_one = all
                .iter()
                .all(|way| are_one(&way.jacobian, &first.jacobian));
            is_one.then(|| [first.jacobian.clone(), first.impulses.clone()])
        });
        Some(Answer { after, jacobians })
    }
}

/// Returns the indices of the groups of interacting rows that have one of the tied decisions `ties`, and the distance (kinetic norm)
/// at which a law is evaluated beside these ties: beyond the approach that the law takes for rounding.
fn groups_and_unit(frame: &Frame<'_>, ties: &[&DVector<f64>]) -> (Vec<usize>, f64) {
    let mut groups = frame.scales().touched(&frame.rows, ties);
    if groups.is_empty() {
        groups = (0..frame.scales().count()).collect();
    }
    let unit = frame.scales().least(&groups, NEAR);
    let unit = unit.unwrap_or(if frame.speed > 0.0 {
        NEAR * frame.speed
    } else {
        NEAR
    });
    let unit = unit.max(BEYOND_TIES * frame.grazing_in(&groups));
    (groups, unit)
}

/// Returns the part of a direction of velocity change in the span of the rows of some groups of interacting rows.
fn part_in_groups(frame: &Frame<'_>, groups: &[usize], direction: &DVector<f64>) -> DVector<f64> {
    let scales = frame.scales();
    if groups.len() == scales.count() {
        return direction.clone();
    }
    let parts = groups.iter();
    let parts = parts.map(|group| scales.part(&frame.rows, *group, direction));
    parts.fold(DVector::zeros(frame.dim()), |sum, part| sum + part)
}

impl Branches<'_> {
    /// Compares the branches of a law that strikes one contact after the other with answers of the `law` itself nearby, if the branches
    /// may not tell the class of the outcome: from a tie they leave a gap, are too many, or are long, so that rounding decides about
    /// their ends. Decisions tie within the relative `tolerance`. The law is evaluated in the directions of [`spread`] and along the
    /// normals of the contacts, which depend neither on the coordinates nor on the branches.
    ///
    /// # Errors
    ///
    /// Returns the errors of the solver that compares the regions of the branches.
    pub(super) fn compared_with(
        mut self,
        law: &dyn ImpactLaw,
        tolerance: f64,
    ) -> Result<Self, ImpactError> {
        let (frame, ways) = (&self.frame, &self.ways);
        let is_tied = ways.len() > 1 || ways.iter().any(Walk::is_tied);
        let is_long = ways.iter().any(|way| way.stages.len() >= LONG);
        if !is_tied || ways.is_empty() {
            return Ok(self);
        }
        let mut is_complete = self.is_complete && leads_everywhere(frame, ways)?;
        if is_complete && !is_long {
            return Ok(self);
        }
        let ties: Vec<&DVector<f64>> = ways.iter().flat_map(Walk::ties).collect();
        let (groups, unit) = groups_and_unit(frame, &ties);
        // Decisions of an endless branch lie ever nearer: the nearest of them bounds the step only as far as the ties allow.
        let next = ways.iter().fold(f64::INFINITY, |m, way| m.min(way.margin));
        let tied = BEYOND_TIES * frame.scales().least(&groups, tolerance).unwrap_or(0.0);
        let step = unit.min(BEFORE_NEXT * next).max(tied);
        let within =
            |direction: &DVector<f64>| part_in_groups(frame, &groups, &frame.admit(direction));
        let set = frame.problem.contacts();
        let normals = set.indices().map(|i| frame.row(set.row(i)).into_owned());
        let starts = normals.flat_map(|row| [-&row, row]).collect();
        let (mut is_continuous, mut is_elsewhere) = (true, false);
        for direction in spread(frame, starts, within) {
            let Some(direction) = within(&direction).try_normalize(ZERO) else {
                continue;
            };
            // A law that refuses an endless sequence tells nothing.
            let Some(after) = answer_at(law, frame, &(step * &direction)) else {
                is_complete = false;
                continue;
            };
            let is_on = |way: &Walk| {
                let predicted = &way.velocity + &way.jacobian * (step * &direction);
                let allowed = MATCH * step * way.jacobian.amax().max(1.0);
                frame.is_within(&(&after - predicted), allowed)
            };
            if !ways.iter().any(is_on) {
                is_elsewhere = true;
                let moved = |way: &Walk| frame.is_within(&(&after - &way.velocity), FAR * step);
                is_continuous &= ways.first().is_some_and(moved);
            }
        }
        self.is_continuous = Some(is_continuous);
        self.is_kink = is_elsewhere;
        self.is_complete = is_complete && !is_elsewhere;
        Ok(self)
    }
}

/// Returns the whitened velocity after the impact if the velocity before it is changed by `change` (whitened); `None` if the law has
/// no answer.
fn answer_at(
    law: &dyn ImpactLaw,
    frame: &Frame<'_>,
    change: &DVector<f64>,
) -> Option<DVector<f64>> {
    let velocity = frame.velocity(&(&frame.before + change));
    let problem = ImpactProblem::new(frame.problem.contacts(), Tangent(velocity)).ok()?;
    let outcome = law.resolve(&problem).ok()?;
    Some(frame.of_velocity(&outcome.velocity_plus.0))
}

/// True if two whitened Jacobians are equal up to the change that round friction cones cause within one probe step,
/// because the direction of friction rotates.
fn are_near(a: &DMatrix<f64>, b: &DMatrix<f64>) -> bool {
    (a - b).amax() <= MATCH * a.amax().max(b.amax()).max(1.0)
}
