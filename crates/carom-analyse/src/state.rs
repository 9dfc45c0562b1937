//! States of contacts.

/// State of a contact in a mode, and of its impulse in a reset.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// Open contact; no impulse.
    Open,
    /// Lasting contact without friction.
    Closed,
    /// Lasting contact that sticks.
    Sticks,
    /// Lasting contact whose slide coordinate grows.
    SlidesUp,
    /// Lasting contact whose slide coordinate falls.
    SlidesDown,
    /// Open contact that cannot close.
    Unarmed,
}

impl State {
    /// Returns the state with a number.
    pub(crate) fn of(state: u8) -> Self {
        let all = [
            Self::Open,
            Self::Closed,
            Self::Sticks,
            Self::SlidesUp,
            Self::SlidesDown,
        ];
        all.into_iter()
            .find(|known| *known as u8 == state)
            .unwrap_or(Self::Unarmed)
    }
}

/// True if a contact lasts.
pub(crate) fn lasts(state: u8) -> bool {
    matches!(
        State::of(state),
        State::Closed | State::Sticks | State::SlidesUp | State::SlidesDown
    )
}
