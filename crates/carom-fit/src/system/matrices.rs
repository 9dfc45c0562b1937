//! Impacts whose mass matrices and contact rows are given.

/// Names of the coordinates of impacts whose mass matrices and contact rows are given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matrices {
    /// Names of the coordinates; empty if they have none.
    pub(crate) coordinates: Vec<String>,
    /// Coordinates that are angles; `None` if the configuration does not say it.
    pub(crate) angles: Option<Vec<usize>>,
}
