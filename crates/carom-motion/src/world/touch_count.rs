//! Count of the touches of a pair between two lines of the grid.

/// Count of a pair's touches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TouchCount {
    /// Number of the line of the grid before the latest touch.
    pub(crate) line: f64,
    /// Touches since then.
    pub(crate) count: usize,
    pub(crate) held: bool,
    /// True if it was held until that line.
    pub(crate) was_held: bool,
}
