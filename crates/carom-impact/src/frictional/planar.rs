//! Planar contacts whose complementarity problem has several solutions.

use super::regular::is_regular;
use super::round::{RoundStep, RoundWorkspace};
use super::space::ContactSpace;
use super::stepper::StepWorkspace;
use crate::tolerances::EQUAL;
use crate::tolerances::FREE;
use carom_contact::{FamilyMember, ImpactError};
use carom_lcp::cone::{ConeMode, ConeSelection};
use carom_metric::kernel;
use nalgebra::DMatrix;

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

/// True if no pivot of an elimination with row and column exchanges is small relative to the largest.
pub(super) fn has_safe_pivots(mut matrix: DMatrix<f64>) -> bool {
    let n = matrix.nrows();
    let mut largest = 0.0f64;
    for k in 0..n {
        let (mut place, mut pivot) = ((k, k), 0.0f64);
        for j in k..n {
            for i in k..n {
                let size = matrix[(i, j)].abs();
                if size > pivot {
                    (place, pivot) = ((i, j), size);
                }
            }
        }
        largest = largest.max(pivot);
        let is_pivot = pivot > FREE * largest;
        if !is_pivot {
            return false;
        }
        matrix.swap_rows(k, place.0);
        matrix.swap_columns(k, place.1);
        for i in k + 1..n {
            let factor = matrix[(i, k)] / matrix[(k, k)];
            for j in k + 1..n {
                let step = factor * matrix[(k, j)];
                matrix[(i, j)] -= step;
            }
        }
    }
    true
}
