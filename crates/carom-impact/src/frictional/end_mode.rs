//! Final modes of contacts.

/// Final mode of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndMode {
    /// No impulse; the contact does not approach.
    Open,
    /// Neither approaching nor separating; the tangential velocity is zero or absent.
    Stick,
    /// Sliding along the tangent.
    SlidePlus,
    /// Sliding against the tangent.
    SlideMinus,
    /// At its cap and still approaching, sticking.
    SaturatedStick,
    /// At its cap, sliding along the tangent.
    SaturatedPlus,
    /// At its cap, sliding against the tangent.
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

    /// Sliding direction; `None` for sticking.
    pub(super) fn sliding(self) -> Option<f64> {
        match self {
            Self::SlidePlus | Self::SaturatedPlus => Some(1.0),
            Self::SlideMinus | Self::SaturatedMinus => Some(-1.0),
            _ => None,
        }
    }

    /// True if it pushes as much as it takes to stop approaching.
    pub(super) fn is_closed(self) -> bool {
        matches!(self, Self::Stick | Self::SlidePlus | Self::SlideMinus)
    }

    /// True if it pushes and does not slide.
    pub(super) fn sticks(self) -> bool {
        matches!(self, Self::Stick | Self::SaturatedStick)
    }
}
