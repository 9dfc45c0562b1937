//! Planar contacts whose complementarity problem has several solutions.

use super::regular::is_regular;
use super::round::{RoundStep, RoundWorkspace};
use super::space::ContactSpace;
use super::stepper::StepWorkspace;
use crate::tolerances::EQUAL;
use carom_contact::{FamilyMember, ImpactError};
use carom_lcp::cone::{ConeMode, ConeSelection};
use carom_metric::kernel;

/// Impulses that replace those found by Lemke's method.
pub(super) struct Replaced {
    /// Impulses on the slots.
    pub(super) impulse: Vec<f64>,
    pub(super) modes: Vec<ConeMode>,
}

/// Decides which solution of a planar impact is reported if the solution in the workspace has neighbors that solve it,
/// too. If the even member (the limit of the solutions for equally compliant contacts) is selected, its impulses are
/// returned as the second result; `None` keeps the solution in the workspace. `selection`: requested member if
/// neighboring solutions exist. `before`: velocities of the normalized contact rows before the impact.
pub(super) fn select(
    space: &ContactSpace,
    before: &[f64],
    workspace: &StepWorkspace,
    selection: ConeSelection,
) -> Result<(FamilyMember, Option<Replaced>), ImpactError> {
    let mut member = FamilyMember {
        family: 0,
        selection,
        met_others: false,
    };
    if is_isolated(space, before, workspace) {
        return Ok((member, None));
    }
    let round = RoundStep::new(space);
    let mut memory = RoundWorkspace::default();
    member.family = round.family(before, &workspace.impulse, &mut memory)?;
    if member.family == 0 || selection == ConeSelection::First {
        return Ok((member, None));
    }
    let limit = round.solve(before, &[], selection, &mut memory);
    match limit {
        Ok(answer) if answer.selection == selection => {
            member.family = answer.family;
            member.met_others = answer.met_others;
            let replaced = Replaced {
                impulse: memory.impulse.clone(),
                modes: memory.cone.modes().to_vec(),
            };
            Ok((member, Some(replaced)))
        }
        _ => {
            member.selection = ConeSelection::First;
            Ok((member, None))
        }
    }
}

/// True if the solution in the workspace is locally unique: no neighboring solution has the same modes of all contacts
/// (open, sticking, sliding) but other velocities. `before`: velocities of the normalized contact rows before the impact.
fn is_isolated(space: &ContactSpace, before: &[f64], workspace: &StepWorkspace) -> bool {
    let (impulse, after) = (&workspace.impulse, &workspace.after);
    let none = EQUAL * kernel::max_abs(before);
    let slides = |contact: usize| {
        let pushes = impulse[2 * contact] > 0.0 || after[2 * contact].abs() <= none;
        pushes && space.friction[contact] > 0.0 && after[2 * contact + 1].abs() > none
    };
    // Without a sliding contact the velocities are unique, even if the impulses are not.
    !(0..space.n_contacts).any(slides) || is_regular(space, before, impulse, &[], 0.0)
}
