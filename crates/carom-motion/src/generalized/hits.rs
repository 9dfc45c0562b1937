//! Hits of contacts, by which chatter is told from single impacts.

/// History of a contact's hits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HitHistory {
    /// Time of the last hit (s).
    pub(super) last: Option<f64>,
    /// Hits in a row after short flights.
    pub(super) short: usize,
    /// True if the last hit lost energy.
    pub(super) lossy: bool,
}
