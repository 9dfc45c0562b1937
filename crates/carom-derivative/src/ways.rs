//! Branches of an impact whose contacts act simultaneously, in the modes that its outcome shows.

use super::branch::{Found, Test, Ties, Walk};
use super::frame::Frame;
use super::friction::{Contacts, Event};
use super::reading::Cones;
use carom_contact::{Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactStatus};

/// A law whose contacts act simultaneously.
#[derive(Clone, Copy)]
pub(super) struct AtOnce<'l> {
    pub(super) law: &'l dyn ImpactLaw,
    pub(super) cones: Cones,
    /// True if contacts have Newton's restitution.
    pub(super) rebounds: bool,
    pub(super) tolerance: f64,
}

impl AtOnce<'_> {
    /// Finds all branches of a law with simultaneous contacts near an outcome, on both sides of nearly tied decisions,
    /// which a tiny change of the velocity reverses. The branch of the outcome itself is the first. If `may_shift` is
    /// true, impulses may be exchanged between dependent contacts to pass a test. `None` if the outcome is a member of
    /// a continuum of outcomes.
    pub(super) fn ways(
        self,
        contacts: &Contacts<'_>,
        outcome: &ImpactOutcome,
        may_shift: bool,
    ) -> Result<Option<Found>, ImpactError> {
        let Some(mut found) = self.in_modes_of(contacts, outcome, may_shift)? else {
            return Ok(None);
        };
        if outcome.status == ImpactStatus::Resolved {
            let nothing = nothing_happens(contacts.frame, self.ties(may_shift))?;
            found.walks.extend(nothing);
        }
        Ok(Some(found))
    }

    /// Finds the branches on which the contacts have the modes of an outcome, or modes on the other side of a nearly tied
    /// decision. `may_shift` and the result are those of [`ways`](Self::ways).
    pub(super) fn in_modes_of(
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
        simultaneous(contacts, &[event], self.ties(may_shift))
    }

    fn ties(self, may_shift: bool) -> Ties {
        Ties {
            tolerance: self.tolerance,
            may_shift,
        }
    }
}

/// Finds the branches of a sequence of impact steps, in each of which contacts act simultaneously. The contact modes of
/// a step are read from the impulses and velocities in `events`, and `ties` holds the rules for tied decisions, which a
/// tiny change of the velocity reverses. `None` if the steps lead to a member of a continuum of outcomes.
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
        let (stages, all) = contacts.stages(event, &walk.jacobian, ties, tie.is_some());
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

/// True if the law reports that the outcome is a member of a continuum of outcomes.
pub(super) fn is_family(outcome: &ImpactOutcome) -> bool {
    matches!(&outcome.diagnostics, Diagnostics::Cone(cone) if cone.family > 0)
}

/// Returns the branch on which no contact has an impulse; `None` if a contact approaches by more than the tolerance of a
/// tie. With friction another answer, in which contacts push, may exist as well.
fn nothing_happens(frame: &Frame<'_>, ties: Ties) -> Result<Option<Walk>, ImpactError> {
    let contacts = frame.problem.contacts();
    if !frame.is_all_but_separating(ties.tolerance) {
        return Ok(None);
    }
    let found = ties.follow(frame, (), |_, (), _, out| {
        let normals = contacts.indices().map(|i| Test::Separates(contacts.row(i)));
        out.add(normals, None, None);
        Ok(())
    })?;
    Ok(found.walks.into_iter().next())
}
