//! Time grid of a run.

use carom_variational::TimeGrid;

/// Position of a run on its time grid.
#[derive(Debug)]
pub(crate) struct Clock {
    pub(super) grid: TimeGrid,
    /// Time of the first grid point (s).
    origin: f64,
    /// Number of completed steps.
    pub(super) n_steps: usize,
    /// Completed part of the present step (s).
    pub(super) done: f64,
    /// Number of events in the present step.
    pub(super) n_events: usize,
}

impl Clock {
    pub(super) fn new(grid: &TimeGrid, origin: f64) -> Self {
        Self {
            grid: *grid,
            origin,
            n_steps: 0,
            done: 0.0,
            n_events: 0,
        }
    }

    /// Returns the time at which the current step of the time grid began (s).
    pub(super) fn begin(&self) -> f64 {
        self.origin + self.grid.time(self.n_steps)
    }

    /// Returns the length of the current step of the time grid (s).
    pub(crate) fn length(&self) -> f64 {
        self.grid.length(self.n_steps)
    }
}
