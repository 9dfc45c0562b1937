//! Past impacts of a contact, used to distinguish chatter from single impacts.

/// Past impacts of a contact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HitHistory {
    /// Time of the last impact (s).
    pub(super) last: Option<f64>,
    /// Number of consecutive impacts after short flights.
    pub(super) short: usize,
    /// True if the last impact lost energy.
    pub(super) lossy: bool,
}
