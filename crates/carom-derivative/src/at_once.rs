//! Derivatives of laws whose contacts act simultaneously: complementarity problems with and without friction.
//!
//! The derivative is that of the answer that the law gives. If the velocity after the impact is unique, any impulses that
//! explain it are as good as those of the law: a test is passed if some of these impulses pass it. If the velocity is not
//! unique, the impulses of the law itself count: a tie of them is a tie, and the law itself is evaluated on both sides.

use super::alternatives::Step;
use super::assemble::{are_same, leads_everywhere};
use super::branch::{Found, Walk};
use super::frame::Frame;
use super::friction::Contacts;
use super::probe::Probe;
use super::ways::{AtOnce, is_family};
use super::{Answers, Branches, Steps};
use carom_contact::{
    ContactIndex, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus, RowIndex,
};
use nalgebra::DVector;

impl AtOnce<'_> {
    /// Finds the branches of a law whose contacts act simultaneously, near an outcome. The branches are the smooth maps
    /// that the law follows for slightly different velocities. The contact modes (open, sticking, sliding) on each branch
    /// are determined from the impulses and velocities of the outcome.
    pub(super) fn branches<'p>(
        self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
    ) -> Result<Branches<'p>, ImpactError> {
        let frame = Frame::new(problem)?;
        if is_family(outcome) {
            return Ok(Branches::family(frame));
        }
        let contacts = Contacts::all(&frame, self.cones, self.rebounds)?;
        let Some(mut found) = self.ways(&contacts, outcome, true)? else {
            drop(contacts);
            return Ok(Branches::family(frame));
        };
        if !contacts.have_friction() {
            drop(contacts);
            return Ok(Branches::of_chains(frame, found));
        }
        let (is_continuous, is_kink) = self.settle(outcome, &contacts, &mut found)?;
        let answers = match outcome.status {
            ImpactStatus::Resolved => Answers::Modes {
                cones: self.cones,
                rebounds: self.rebounds,
                steps: Steps::AtOnce,
            },
            _ => Answers::One,
        };
        drop(contacts);
        Ok(Branches {
            answers,
            is_continuous,
            is_kink,
            ..Branches::of_chains(frame, found)
        })
    }

    /// Returns the smallest change of the velocity (kinetic norm) that changes a decision, besides tied ones, of the contacts in
    /// `groups`: indices of groups of interacting contacts. The velocities of other contacts stay unchanged.
    fn next_within(
        self,
        groups: &[usize],
        contacts: &Contacts<'_>,
        outcome: &ImpactOutcome,
    ) -> Result<Option<f64>, ImpactError> {
        let frame = contacts.frame;
        let set = frame.problem.contacts();
        let is_in = |i: &ContactIndex| groups.contains(&frame.scales().group(set.row(*i)));
        let members: Vec<ContactIndex> = set.indices().filter(is_in).collect();
        if members.is_empty() {
            return Ok(None);
        }
        let contacts = Contacts::new(frame, members, self.cones, self.rebounds)?;
        let found = self.in_modes_of(&contacts, outcome, true)?;
        let next = |found: Found| {
            found
                .walks
                .iter()
                .fold(f64::INFINITY, |m, way| m.min(way.margin))
        };
        Ok(found.map(next))
    }

    /// Evaluates the law itself at velocities near the velocity before the impact, if the law may have answers on
    /// branches that are not in `found`, and updates `found`. `outcome` is the law's outcome at the velocity before the
    /// impact. The first result is true if the law gave an answer in every direction without a jump, and `None` if the
    /// law was not evaluated. The second result is true if an answer was on a branch that was not in `found` before.
    fn settle(
        self,
        outcome: &ImpactOutcome,
        contacts: &Contacts<'_>,
        found: &mut Found,
    ) -> Result<(Option<bool>, bool), ImpactError> {
        let frame = contacts.frame;
        let after = frame.of_velocity(&outcome.velocity_plus.0);
        let Some(own) = found.walks.first() else {
            // No velocity nearby has the modes of the outcome, for dependent contacts hold it in more ways than these allow.
            let (_, impulse) = frame.of_outcome(outcome);
            let normals = frame.problem.contacts().indices();
            let normals = normals.map(|i| frame.problem.contacts().row(i));
            let is_closed = |row: &RowIndex| {
                let at_rest = frame.scales().of_row(*row, self.tolerance);
                impulse[row.index()] > 0.0 || frame.rate(*row, &after).abs() <= at_rest
            };
            let closed = normals.filter(is_closed);
            let closed: Vec<_> = closed.map(|row| frame.row(row).into_owned()).collect();
            let Some(probe) = Probe::new(self, frame, &[], &closed, f64::INFINITY) else {
                return Ok((None, false));
            };
            let asked = probe.ask(Vec::new(), &closed, &after)?;
            found.walks = asked.walks;
            found.is_complete = false;
            return Ok((Some(asked.is_continuous), asked.is_elsewhere));
        };
        let is_tied = found.walks.len() > 1 || own.is_tied();
        let is_shared = own.stages.iter().any(|stage| stage.is_dependent);
        if !is_tied && !is_shared {
            return Ok((None, false));
        }
        let has_others = has_others(contacts, own, self.tolerance);
        if !is_tied && has_others == Some(false) {
            return Ok((None, false));
        }
        let mut ways = std::mem::take(&mut found.walks);
        // Dependent contacts share an impulse in one way or another: only decisions that every way makes bound the step.
        let next = ways.iter().fold(f64::INFINITY, |m, way| m.min(way.margin));
        let mut own_ties = Vec::new();
        if is_shared && let Some(own) = self.ways(contacts, outcome, false)? {
            if !is_tied && has_others.is_none() && is_without_effect(frame, &ways, &own)? {
                found.walks = own.walks;
                return Ok((None, false));
            }
            found.is_complete &= own.is_complete;
            own_ties.extend(own.walks.iter().flat_map(Walk::ties).cloned());
            ways.extend(own.walks);
        }
        let mut next = next;
        if frame.scales().count() > 1 {
            // Decisions of other groups say nothing about the ties of this one.
            let groups = touched(frame, &ways, &own_ties);
            next = self
                .next_within(&groups, contacts, outcome)?
                .unwrap_or(next);
        }
        let probe = Probe::new(self, frame, &ways, &own_ties, next);
        let Some(probe) = probe else {
            found.walks = ways;
            found.is_complete = false;
            return Ok((None, !own_ties.is_empty()));
        };
        let asked = probe.ask(ways, &own_ties, &after)?;
        found.walks = asked.walks;
        found.is_complete &= asked.is_complete;
        Ok((Some(asked.is_continuous), asked.is_elsewhere))
    }
}

/// True if all branches with the law's own impulses, `own`, lead to the same velocity with the same derivatives as the single
/// branch of `ways`, and one of them continues in each direction: ties of these impulses then have no effect.
fn is_without_effect(frame: &Frame<'_>, ways: &[Walk], own: &Found) -> Result<bool, ImpactError> {
    let [way] = ways else {
        return Ok(false);
    };
    let is_single = own.walks.len() == 1 && !own.walks.iter().any(Walk::is_tied);
    let is_same = |other: &Walk| are_same(frame, way, other);
    Ok(is_single
        || own.is_complete && own.walks.iter().all(is_same) && leads_everywhere(frame, &own.walks)?)
}

/// Returns the indices of the groups of interacting contacts that have tied decisions: those of the branches `ways`, and those of
/// the further rows `ties`.
fn touched(frame: &Frame<'_>, ways: &[Walk], ties: &[DVector<f64>]) -> Vec<usize> {
    let ties: Vec<&DVector<f64>> = ways.iter().flat_map(Walk::ties).chain(ties).collect();
    frame.scales().touched(&frame.rows, &ties)
}

/// True if contact modes other than those of the branch `way` may solve the law at a velocity within the relative
/// tolerance; `None` if that is not known.
fn has_others(contacts: &Contacts<'_>, way: &Walk, tolerance: f64) -> Option<bool> {
    let frame = contacts.frame;
    let step = Step {
        before: &frame.before,
        after: &way.velocity,
        slopes_before: &frame.admissible(),
        slopes_after: &way.jacobian,
        caps: &[],
    };
    let near = frame.scales().whole(tolerance);
    let nearest = contacts.exclusion(&step, 2.0 * near, tolerance);
    nearest.map(|nearest| nearest == 0.0)
}
