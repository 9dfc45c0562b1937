//! Modes in which contacts end a step or an impact.

use super::regular::after;
use super::space::ContactSpace;
use carom_lcp::contact_problem::ContactMode;
use carom_metric::kernel;

/// Fraction of the terms of a slip velocity below which the slip is a rounding error and the contact sticks.
const STICKS: f64 = 1e-9;

/// Mode in which a planar contact ends a step or an impact: open, sticking or sliding. A mode also tells if the normal
/// impulse has reached its cap, the upper bound in the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndMode {
    /// No impulse; the contact does not approach.
    Open,
    /// Closed with zero normal velocity; the tangential velocity is zero or absent.
    Stick,
    /// Closed, sliding in the direction of the tangent.
    SlidePlus,
    /// Closed, sliding against the direction of the tangent.
    SlideMinus,
    /// Normal impulse at its upper bound (cap): the contact still approaches, and sticks.
    SaturatedStick,
    /// Normal impulse at its upper bound (cap): the contact still approaches, and slides in the direction of the tangent.
    SaturatedPlus,
    /// Normal impulse at its upper bound (cap): the contact still approaches, and slides against the direction of the
    /// tangent.
    SaturatedMinus,
}

impl EndMode {
    pub(super) const ALL: [Self; 7] = [
        Self::Open,
        Self::Stick,
        Self::SlidePlus,
        Self::SlideMinus,
        Self::SaturatedStick,
        Self::SaturatedPlus,
        Self::SaturatedMinus,
    ];

    pub(super) fn is_saturated(self) -> bool {
        matches!(
            self,
            Self::SaturatedStick | Self::SaturatedPlus | Self::SaturatedMinus
        )
    }

    /// Returns the sign (1 or -1) of the sliding velocity along the tangent at the end of the step; `None` unless the
    /// contact slides.
    pub(super) fn sliding(self) -> Option<f64> {
        match self {
            Self::SlidePlus | Self::SaturatedPlus => Some(1.0),
            Self::SlideMinus | Self::SaturatedMinus => Some(-1.0),
            _ => None,
        }
    }

    /// True if the contact ends closed: its impulse brings the normal velocity to zero before the upper bound of the
    /// impulse is reached.
    pub(super) fn is_closed(self) -> bool {
        matches!(self, Self::Stick | Self::SlidePlus | Self::SlideMinus)
    }

    /// True if the contact pushes and does not slide at the end of the step.
    pub(super) fn sticks(self) -> bool {
        matches!(self, Self::Stick | Self::SaturatedStick)
    }
}

/// Returns the mode in which each contact ends (open, sticking or sliding), judged by its total impulse `total` and its
/// tangential velocity after the impact. `before`: velocities of the normalized contact rows before the impact;
/// `sizes`: sizes of the summed terms of these velocities, for the rounding error.
pub(super) fn end_modes(
    space: &ContactSpace,
    before: &[f64],
    sizes: &[f64],
    total: &[f64],
) -> Vec<ContactMode> {
    let plus = after(space, before, total);
    let width = space.width();
    let mode = |i: usize| {
        let first = i * width;
        let Some(push) = total.get(first).copied().filter(|push| *push > 0.0) else {
            return ContactMode::Open;
        };
        let tangents = first + 1..first + width;
        let slip = kernel::norm(&plus[tangents.clone()]);
        let size = kernel::norm(&sizes[tangents.clone()]) + kernel::norm(&before[tangents]);
        if space.friction[i] > 0.0 && slip <= STICKS * size.max(push) {
            ContactMode::Stick
        } else {
            ContactMode::Slide
        }
    };
    (0..space.n_contacts).map(mode).collect()
}
