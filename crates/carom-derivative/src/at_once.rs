//! Laws whose contacts act at once: complementarity problems with and without friction.
//!
//! The derivative is that of the answer that the law gives. Where the velocity after is unique every impulse
//! that explains it is as good as the law's, and a test that another impulse passes decides nothing. Where it is not
//! unique the impulses of the law count: a tie of them is a tie, and the law itself is asked on both sides.

use super::alternatives::Step;
use super::branch::{Found, Test, Ties, Walk};
use super::frame::Frame;
use super::friction::{Contacts, Event};
use super::probe::Probe;
use super::reading::Cones;
use super::{Answers, Branches, Steps};
use carom_impact::{
    Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
};

/// A law whose contacts act at once.
#[derive(Clone, Copy)]
pub(super) struct AtOnce<'l> {
    pub(super) law: &'l dyn ImpactLaw,
    pub(super) cones: Cones,
    /// True if contacts ask for Newton's restitution.
    pub(super) rebounds: bool,
    pub(super) tolerance: f64,
}

impl AtOnce<'_> {
    /// The ways of an impact near its outcome, in the modes that the outcome shows.
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

    /// All ways that ties allow, the law's own first; `None` if the outcome is a member of a continuum.
    pub(super) fn ways(
        self,
        contacts: &Contacts<'_>,
        outcome: &ImpactOutcome,
        may_shift: bool,
    ) -> Result<Option<Found>, ImpactError> {
        let frame = contacts.frame;
        let (after, impulse) = frame.of_outcome(outcome);
        let event = Event {
            before: frame.before.clone(),
            after,
            impulse,
            caps: Vec::new(),
        };
        let ties = Ties {
            tolerance: self.tolerance,
            may_shift,
        };
        let found = simultaneous(contacts, &[event], ties)?;
        let Some(mut found) = found else {
            return Ok(None);
        };
        if outcome.status == ImpactStatus::Resolved {
            found.walks.extend(nothing_happens(frame, ties)?);
        }
        Ok(Some(found))
    }

    /// Asks the law itself where other answers than the ways found may exist; says whether it answered in every
    /// direction without a jump, `None` if it was not asked, and whether it answered on a way that is not among them.
    fn settle(
        self,
        outcome: &ImpactOutcome,
        contacts: &Contacts<'_>,
        found: &mut Found,
    ) -> Result<(Option<bool>, bool), ImpactError> {
        let frame = contacts.frame;
        let Some(own) = found.walks.first() else {
            return Ok((None, false));
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
        let mut own_ties = Vec::new();
        if is_shared && let Some(own) = self.ways(contacts, outcome, false)? {
            let is_one = own.walks.len() == 1 && !own.walks[0].is_tied();
            if is_one && !is_tied && has_others.is_none() {
                found.walks = own.walks;
                return Ok((None, false));
            }
            found.is_complete &= own.is_complete;
            own_ties.extend(own.walks.iter().flat_map(Walk::ties).cloned());
            ways.extend(own.walks);
        }
        let probe = Probe::new(self, frame, &ways);
        let Some(probe) = probe else {
            found.walks = ways;
            found.is_complete = false;
            return Ok((None, !own_ties.is_empty()));
        };
        let asked = probe.ask(ways, &own_ties)?;
        found.walks = asked.walks;
        found.is_complete &= asked.is_complete;
        Ok((Some(asked.is_continuous), asked.is_elsewhere))
    }
}

/// True if another map than that of a way may answer within the tolerance; `None` if that is not known.
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
/// Events of contacts that act at once, one after the other, in the modes that their impulses and
/// velocities show; `None` if they lead to a member of a continuum.
pub(super) fn simultaneous(
    contacts: &Contacts<'_>,
    events: &[Event],
    ties: Ties,
) -> Result<Option<Found>, ImpactError> {
    let mut is_complete = true;
    let mut is_family = false;
    let mut found = ties.follow(contacts.frame, 0, |walk, step: &usize, tie, out| {
        let Some(event) = events.get(*step) else {
            out.add([], None, None);
            return Ok(());
        };
        let tolerance = tie.map(|_| ties.tolerance);
        let (stages, all) = contacts.stages(event, &walk.jacobian, tolerance, ties.may_shift);
        is_complete &= all;
        is_family |= tie.is_none() && stages.iter().any(|(stage, _)| stage.is_loose());
        for stage in stages {
            out.add([], Some(stage), Some(step + 1));
        }
        Ok(())
    })?;
    found.is_complete &= is_complete;
    Ok((!is_family).then_some(found))
}

/// True if the outcome is a member of a continuum.
fn is_family(outcome: &ImpactOutcome) -> bool {
    matches!(&outcome.diagnostics, Diagnostics::Cone(cone) if cone.family > 0)
}

/// The way on which no contact approaches, if all contacts nearly do so. With friction another answer may exist
/// that pushes.
fn nothing_happens(frame: &Frame<'_>, ties: Ties) -> Result<Option<Walk>, ImpactError> {
    let contacts = frame.problem.contacts();
    if !frame.is_all_but_separating(ties.tolerance) {
        return Ok(None);
    }
    let found = ties.follow(frame, (), |_, (), _, out| {
        let normals = (0..contacts.len()).map(|i| Test::Separates(contacts.row(i)));
        out.add(normals, None, None);
        Ok(())
    })?;
    Ok(found.walks.into_iter().next())
}
