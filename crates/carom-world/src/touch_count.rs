//! Number of contacts of a pair within one interval of the time grid.

/// Contacts of a pair within one interval of the time grid.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TouchCount {
    /// Index of the grid time before the latest contact.
    pub(crate) line: f64,
    /// Number of contacts since that grid time.
    pub(crate) count: usize,
    pub(crate) held: bool,
    /// True if the pair was kept as a lasting contact in the interval before.
    pub(crate) was_held: bool,
}
