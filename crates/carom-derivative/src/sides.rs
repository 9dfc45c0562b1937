//! Sides of tied decisions: the branches that a law takes for velocities around a tie.
//!
//! Each decision at equality is a hyperplane of velocities through the velocity before the impact. These hyperplanes cut the
//! velocities nearby into cells. The law itself is evaluated at one velocity in each cell, at a small distance. The modes of its
//! answer hold up to the decisions that bound them: a further hyperplane that cuts the cell splits it, and the law is evaluated on
//! both sides again. The directions are computed from the hyperplanes alone, so that they do not depend on coordinates.

use super::branch::{BLUR, Tied, Walk};
use super::frame::Frame;
use super::{DifferentiableLaw, Map, Query};
use crate::SAME_JACOBIAN;
use crate::tolerances::NEGLIGIBLE;
use carom_contact::internal::ROUNDING;
use carom_contact::{ImpactError, ImpactProblem};
use carom_metric::{Tangent, interior_direction};
use nalgebra::DVector;
use std::collections::VecDeque;

/// Distance at which the law is evaluated, and sliding velocity at which decisions of a contact that sticks from the start are
/// evaluated, as a fraction of the motion that contacts can change: beyond tied decisions, but below the curvature of round cones.
pub(crate) const STEP: f64 = 1e-6;

/// Error of an extrapolation over a step, in steps, that counts as zero: the difference of an extrapolated outcome from that at the
/// velocity itself, and the distance of a hyperplane through this velocity. A step is at most this fraction of the distance of the next
/// decision.
const MATCH: f64 = 1e-2;

/// Difference up to which Jacobians count as equal on sides where they change with the velocity or with the end of a long chain of
/// strikes, relative to the largest entry or to one. Rows of ties have this rounding, too: a cell counts as empty if the hull of its
/// unit rows is as near to the origin.
const TURNED: f64 = 1e-4;

/// Largest number of ties that are taken both ways.
const MAX_TIES: usize = 6;

/// Velocities around a tie at which a law is evaluated.
pub(super) struct Around<'a> {
    law: &'a dyn DifferentiableLaw,
    frame: &'a Frame<'a>,
    query: Query<'a, 'a>,
    /// Whitened velocity after the impact.
    after: DVector<f64>,
    /// Distance at which the law is evaluated (kinetic norm).
    step: f64,
    /// Relative tolerance that reaches the hyperplanes through the velocity before the impact.
    tolerance: f64,
}

/// Branches on the sides of tied decisions.
pub(super) struct Sides {
    /// Branches with different outcomes or Jacobians, as limits from their sides. That of the law itself is the first if some
    /// velocity nearby takes it; its margin is the smallest of all.
    pub(super) walks: Vec<Walk>,
    /// False if the law has no answer on some side, or none with a derivative that rounding leaves.
    pub(super) is_known: bool,
    /// True if the law was evaluated in all cells.
    pub(super) is_complete: bool,
    /// True if a decision about a round friction cone bounds a cell, so that the law may have infinitely many sides.
    pub(super) is_round: bool,
    /// True if all sides that were found have the outcome at the velocity before the impact.
    pub(super) are_continuous: bool,
    pub(super) work: u64,
}

impl Sides {
    /// True if the law takes one branch all around the tie.
    pub(super) fn are_one(&self) -> bool {
        self.walks.len() == 1 && self.is_known && self.is_complete && self.are_continuous
    }
}

/// Adds to `cells` those of the two parts of `cell` on both sides of the hyperplane `row` that are not empty; the whole cell if the
/// hyperplane does not cut it. Returns true if it does.
fn split(
    cell: Vec<DVector<f64>>,
    row: &DVector<f64>,
    cells: &mut VecDeque<Vec<DVector<f64>>>,
) -> Result<bool, ImpactError> {
    let with = |row: DVector<f64>| {
        let mut part = cell.clone();
        part.push(row);
        part
    };
    let parts = [with(row.clone()), with(-row)];
    for part in &parts {
        if interior_direction(part, TURNED)?.is_none() {
            cells.push_back(cell);
            return Ok(false);
        }
    }
    cells.extend(parts);
    Ok(true)
}

impl<'a> Around<'a> {
    /// Prepares the evaluation of a law around the velocity before the impact of `query`. `own` is the branch of its outcome.
    pub(super) fn new(
        law: &'a dyn DifferentiableLaw,
        frame: &'a Frame<'a>,
        query: Query<'a, 'a>,
        own: &Walk,
    ) -> Self {
        let scales = frame.scales();
        let rows: Vec<&DVector<f64>> = own.tied.iter().map(|tie| &tie.row).collect();
        let mut groups = scales.touched(&frame.rows, &rows);
        if groups.is_empty() {
            groups = (0..scales.count()).collect();
        }
        let whole = if frame.speed > 0.0 { frame.speed } else { 1.0 };
        let of = |tolerance| {
            scales
                .least(&groups, tolerance)
                .unwrap_or(tolerance * whole)
        };
        let step = of(STEP)
            .min(MATCH * own.margin)
            .max(BLUR * of(query.tolerance))
            .max(BLUR * frame.grazing_in(&groups));
        Self {
            law,
            frame,
            query,
            after: frame.of_velocity(&query.outcome.velocity_plus.0),
            step,
            tolerance: 2.0 * step / scales.least(&groups, 1.0).unwrap_or(0.0).max(step),
        }
    }

    /// Evaluates the law in the cells around the ties of the branch `own`. Unless it `wants_all`, the search ends as soon as two
    /// sides differ.
    pub(super) fn sides(&self, own: &Walk, wants_all: bool) -> Result<Sides, ImpactError> {
        let mut found = Sides {
            walks: Vec::new(),
            is_known: true,
            is_complete: true,
            is_round: false,
            are_continuous: true,
            work: 0,
        };
        let mut open = VecDeque::from([Vec::new()]);
        for (k, tie) in own.tied.iter().enumerate() {
            if k >= MAX_TIES {
                found.is_complete = false;
                break;
            }
            for cell in std::mem::take(&mut open) {
                split(cell, &tie.row, &mut open)?;
            }
        }
        let (mut asked, mut margin) = (0, own.margin);
        while let Some(cell) = open.pop_front() {
            if asked >= 1 << MAX_TIES {
                found.is_complete = false;
                break;
            }
            let Some(direction) = interior_direction(&cell, 0.0)? else {
                continue;
            };
            let leads = |tie: &Tied| tie.row.dot(&direction) > 0.0;
            let walk = if !own.is_pinched && own.tied.iter().all(leads) {
                Some(own.clone())
            } else {
                asked += 1;
                self.ask(&direction)
            };
            // Beyond this size of the derivatives, rounding of the data changes the outcome by more than two equal outcomes may
            // differ. Contacts that hinder each other amplify a change of the velocity alternately.
            let is_certain = |walk: &Walk| ROUNDING * walk.jacobian.norm() <= NEGLIGIBLE;
            let Some(mut walk) = walk.filter(is_certain) else {
                (found.is_known, found.is_complete) = (false, false);
                if wants_all {
                    continue;
                }
                break;
            };
            found.work += walk.work;
            found.is_round |= walk
                .tied
                .iter()
                .any(|tie| tie.decision.is_round && self.passes(tie, &walk, &direction));
            if self.cut(&cell, &walk, &direction, &mut open)? {
                continue;
            }
            let moved = &walk.velocity - &self.after;
            found.are_continuous &= self.frame.is_zero(&moved, NEGLIGIBLE);
            margin = margin.min(walk.margin);
            if !found.walks.iter().any(|other| self.are_same(other, &walk)) {
                walk.towards = Some(direction);
                found.walks.push(walk);
            }
            if found.walks.len() > 1 && !wants_all {
                break;
            }
        }
        if let Some(first) = found.walks.first_mut() {
            first.margin = margin;
        }
        Ok(found)
    }

    /// Evaluates the law at the velocity in the given whitened direction (unit kinetic norm), and returns its branch there as the
    /// limit from that direction. Its tied decisions are those within reach of the velocity before the impact. `None` if the
    /// law has no answer there, or one without a derivative.
    fn ask(&self, direction: &DVector<f64>) -> Option<Walk> {
        let frame = self.frame;
        let velocity = frame.velocity(&(&frame.before + self.step * direction));
        let problem = ImpactProblem::new(frame.problem.contacts(), Tangent(velocity)).ok()?;
        let mut outcome = self.law.near(self.query, &problem).ok()?;
        let after = frame.of_velocity(&outcome.velocity_plus.0);
        let event = problem.event();
        outcome.velocity_plus.0 -= &problem.velocity_minus().0 - &event.velocity_minus().0;
        let query = Query {
            problem: event,
            outcome: &outcome,
            is_member: false,
            tolerance: self.tolerance,
        };
        let mut walk = self.law.branch(query).ok()?.walk?;
        let scale = frame.problem.scale() / event.scale();
        walk.velocity = after - &walk.jacobian * (self.step * direction);
        let allowed = MATCH * self.step * walk.jacobian.amax().max(1.0);
        if frame.is_within(&(&walk.velocity - &self.after), allowed) {
            walk.velocity.clone_from(&self.after);
        }
        for tie in &mut walk.tied {
            tie.distance *= scale;
        }
        walk.margin = walk.margin * scale - self.step * walk.nearest.dot(direction);
        if walk.is_quiet() {
            walk.impulses.fill(0.0);
        }
        walk.stages = Vec::new();
        walk.map = Map::Limit;
        Some(walk)
    }

    /// True if a tied decision of the branch `walk`, which was found in the given direction, belongs to a hyperplane through the
    /// velocity before the impact.
    fn passes(&self, tie: &Tied, walk: &Walk, direction: &DVector<f64>) -> bool {
        let is_own = !matches!(walk.map, Map::Limit);
        let at = tie.distance - self.step * tie.row.dot(direction);
        is_own || at.abs() <= MATCH * self.step
    }

    /// Splits `cell` by the first decision of the answer `walk` that passes through the velocity before the impact and cuts it.
    /// The answer was found in the given direction. Returns false if no decision does so.
    fn cut(
        &self,
        cell: &[DVector<f64>],
        walk: &Walk,
        direction: &DVector<f64>,
        open: &mut VecDeque<Vec<DVector<f64>>>,
    ) -> Result<bool, ImpactError> {
        for tie in walk.tied.iter().filter(|_| matches!(walk.map, Map::Limit)) {
            if !self.passes(tie, walk, direction) {
                continue;
            }
            let mut parts = VecDeque::new();
            if split(cell.to_vec(), &tie.row, &mut parts)? {
                while let Some(part) = parts.pop_back() {
                    open.push_front(part);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if two sides have equal outcomes and equal Jacobians. Jacobians are compared in whitened coordinates, relative to the
    /// largest entry or to one, the size of the entries of the identity.
    fn are_same(&self, a: &Walk, b: &Walk) -> bool {
        let moved = &a.velocity - &b.velocity;
        let size = a.jacobian.amax().max(b.jacobian.amax()).max(1.0);
        let allowed = if a.is_curved || b.is_curved {
            TURNED
        } else {
            SAME_JACOBIAN
        };
        self.frame.is_zero(&moved, NEGLIGIBLE)
            && (&a.jacobian - &b.jacobian).amax() <= allowed * size
    }
}
