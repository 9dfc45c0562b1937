//! Proofs that no chain of steps leads to a velocity.

use crate::{Case, Explanation, parts};
use carom_metric::kernel;

/// Necessary conditions of inelastic frictional outcomes that a velocity violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideReason {
    /// No contact approaches afterwards.
    Penetrates,
    /// Only contacts and constraints change momentum.
    Momentum,
    /// Contacts do not pull.
    Pulls,
    /// The impulses add up to one within the sum of the friction cones.
    FrictionCone,
    /// Energy does not grow.
    Energy,
    /// In every outcome one of the contacts among bodies whose velocities changed was still closed in the last step,
    /// and nothing happened after it: not all of them open.
    AllOpen,
    /// The set is known as a whole.
    ExactSet,
}

impl OutsideReason {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Penetrates => "penetrates",
            Self::Momentum => "momentum",
            Self::Pulls => "pulls",
            Self::FrictionCone => "friction-cone",
            Self::Energy => "energy",
            Self::AllOpen => "all-open",
            Self::ExactSet => "exact-set",
        }
    }
}

/// The first proof, with how far every member is at least, relative.
///
/// Each test bounds the distance from below: to the half-space of velocities that leave a contact,
/// to the velocities that impulses of a kind can make, to the ball of the energy before, to the
/// velocities that leave some contact closed.
pub(super) fn proof(
    case: &Case<'_>,
    fit: &Explanation,
    tolerance: f64,
) -> Option<(OutsideReason, f64)> {
    // A fit that is not known to be the best proves nothing.
    let proven = |residual: f64, is_least: bool| if is_least { residual } else { 0.0 };
    let [momentum, pull, friction] = fit.residuals();
    [
        (OutsideReason::Penetrates, case.penetration()),
        (
            OutsideReason::Momentum,
            proven(momentum, fit.proven.momentum),
        ),
        (OutsideReason::Pulls, proven(pull, fit.proven.pulls)),
        (
            OutsideReason::FrictionCone,
            proven(friction, fit.proven.friction),
        ),
        (OutsideReason::Energy, growth(case)),
        (OutsideReason::AllOpen, all_open(case)),
    ]
    .into_iter()
    .find(|(_, margin)| *margin > tolerance)
}

/// Upper bound of the growth of a part's momentum.
fn growth(case: &Case<'_>) -> f64 {
    let (before, after) = case.norms();
    let parts = before.iter().zip(&after).zip(&case.rounding);
    let parts = parts.zip(&case.references);
    let growths = parts
        .map(|(((before, after), rounding), reference)| (after - before - rounding) / reference);
    growths.fold(0.0, f64::max)
}

/// The largest distance, over the groups of contacts that change each other's velocities, to velocities that leave
/// one of the group's contacts closed or nothing changed.
fn all_open(case: &Case<'_>) -> f64 {
    let contacts = case.problem.contacts();
    let change = &case.after - case.before();
    let mut largest = 0.0f64;
    for group in parts::met(contacts) {
        let mut changed = 0.0;
        let mut opening = f64::INFINITY;
        for contact in &group {
            let normal = contacts.unit_row(contacts.row(*contact));
            opening = opening.min(kernel::dot(normal, case.after.as_slice()));
            for row in contacts.row(*contact)..contacts.row(contact + 1) {
                // The change along a row is at most that of the group.
                let along = kernel::dot(contacts.unit_row(row), change.as_slice());
                changed = f64::max(changed, along.abs());
            }
        }
        let Some(first) = group.first() else { continue };
        let normal = &contacts.contacts()[*first].normal;
        largest = largest.max(case.relative_rate(normal, opening.min(changed)));
    }
    largest
}
