//! Proofs that no chain of steps leads to a velocity.

use crate::{Case, Explanation, parts};
use carom_metric::kernel;

/// Condition that every inelastic frictional outcome satisfies and a judged velocity violates, so that the velocity is not in
/// the set of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum OutsideReason {
    /// Violated condition: no contact approaches after the impact.
    Penetrates,
    /// Violated condition: only impulses of contacts and constraints change the momentum.
    Momentum,
    /// Violated condition: no contact pulls.
    Pulls,
    /// Violated condition: the sum of all impulses lies in the sum of the friction cones.
    FrictionCone,
    /// Violated condition: the kinetic energy does not grow.
    Energy,
    /// Violated condition: not all contacts open. In every outcome at least one contact is still closed in the last
    /// step, among the bodies whose velocities changed, and nothing changes after this step.
    AllOpen,
    /// Violated condition: the velocity is in the set of outcomes, which is known in closed form.
    ExactSet,
}

impl OutsideReason {
    /// Stable identifier of the violated condition in records, for example `penetrates`.
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

/// Looks for a proof that the judged velocity is not in the set of outcomes. Returns the violated condition and a lower
/// bound of the relative distance from every member; `None` if no bound exceeds `tolerance`. `fit` has the impulses
/// that explain the change of momentum.
///
/// Each test bounds the distance from below by the distance from a larger set: the half-space of velocities at which a
/// contact does not approach; the velocities that impulses of a kind can make; the ball of velocities with at most the
/// energy before the impact; or the velocities at which at least one contact is closed.
pub(super) fn proof(
    case: &Case<'_>,
    fit: &Explanation,
    tolerance: f64,
) -> Option<(OutsideReason, f64)> {
    // A fit that is not known to be optimal proves nothing.
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

/// Returns the largest increase of the norm of the momentum in the impact, over the independent parts of the system.
/// Rounding is subtracted from the increase, and the difference is divided by the norm of the motion of the part. The
/// result is at least 0.
fn growth(case: &Case<'_>) -> f64 {
    let (before, after) = case.norms();
    let parts = before.iter().zip(&after).zip(&case.rounding);
    let parts = parts.zip(&case.references);
    let growths = parts
        .map(|(((before, after), rounding), reference)| (after - before - rounding) / reference);
    growths.fold(0.0, f64::max)
}

/// Returns a lower bound of the relative distance of the judged velocity from the set of outcomes. A group consists of
/// contacts that change each other's velocities. In every outcome, each group either has a closed contact or keeps its
/// velocity. The result is the largest distance of a group from such velocities.
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
            for row in contacts.rows_at(*contact) {
                // The change along one row is at most that of the group.
                let along = kernel::dot(contacts.unit_row(row), change.as_slice());
                changed = f64::max(changed, along.abs());
            }
        }
        let Some(first) = group.first() else { continue };
        let normal = &contacts.contact(*first).normal;
        largest = largest.max(case.relative_rate(normal, opening.min(changed)));
    }
    largest
}
