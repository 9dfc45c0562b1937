//! Time grid on which steps begin.

use crate::VariationalError;
use crate::tolerances::WHOLE_STEPS;

/// Uniform time grid, with a shorter last step if the duration is not a multiple of the step length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeGrid {
    step: f64,
    n_full: usize,
    rest: f64,
}

impl TimeGrid {
    /// Creates a uniform time grid of `n_steps` steps of the length `step` (s).
    ///
    /// # Errors
    ///
    /// [`VariationalError::BadStep`].
    pub fn steps(step: f64, n_steps: usize) -> Result<Self, VariationalError> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(VariationalError::BadStep { time_step: step });
        }
        Ok(Self {
            step,
            n_full: n_steps,
            rest: 0.0,
        })
    }

    /// Creates a uniform time grid with steps of the length `step` (s) from 0 to `duration` (s). The last step is shorter if
    /// the duration is not a multiple of the step length.
    ///
    /// # Errors
    ///
    /// [`VariationalError::BadStep`]; [`VariationalError::BadDuration`] if the duration is negative, not finite, or has more than
    /// $10^{15}$ steps.
    pub fn duration(step: f64, duration: f64) -> Result<Self, VariationalError> {
        let grid = Self::steps(step, 0)?;
        let steps = duration / step;
        if !(0.0..=1e15).contains(&steps) {
            return Err(VariationalError::BadDuration { duration });
        }
        // A duration that is a multiple of the step length up to rounding has no shorter last step.
        let whole = steps.round();
        if (steps - whole).abs() <= WHOLE_STEPS * whole.max(1.0) {
            return Self::steps(step, whole as usize);
        }
        let n_full = steps.floor() as usize;
        Ok(Self {
            n_full,
            rest: duration - n_full as f64 * step,
            ..grid
        })
    }

    /// Returns the length of a full step of the time grid (s).
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Returns the number of steps of the time grid, including a shorter last one.
    pub fn n_steps(&self) -> usize {
        self.n_full + usize::from(self.rest > 0.0)
    }

    /// Returns the time of grid point `i` (s). The time is computed as a product, not as a sum of steps, so that rounding errors
    /// do not accumulate.
    pub fn time(&self, i: usize) -> f64 {
        let rest = if i > self.n_full { self.rest } else { 0.0 };
        i.min(self.n_full) as f64 * self.step + rest
    }

    /// Returns the length of the step that begins at grid point `i` (s).
    pub fn length(&self, i: usize) -> f64 {
        if i < self.n_full {
            self.step
        } else {
            self.rest
        }
    }
}
