//! Options of a fit.

use crate::FitError;

/// Largest number of resamples for the intervals of a fit.
const MOST_RESAMPLES: u64 = 1_000_000;

/// Options for fitting impact laws to measured impacts: number and seed of the bootstrap resamples for confidence intervals,
/// held-out halves, and separate fits of parts of the impacts.
///
/// # Examples
///
/// ```
/// use carom_fit::FitOptions;
/// // Intervals over 100 resamples of the groups, the same ones for the same seed.
/// let options = FitOptions::new(100, 7);
/// assert_eq!((options.bootstrap, options.seed, options.details), (100, 7, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FitOptions {
    /// Number of resamples of the groups for the intervals; with 0 there are no intervals.
    pub bootstrap: u64,
    /// Seed of the random resamples and halves.
    pub seed: u64,
    /// True if kinds, surfaces and groups are also fitted separately.
    pub details: bool,
    /// True if laws are fitted to one half of the groups and scored on the other, and ranked by that.
    pub hold_out: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            bootstrap: 400,
            seed: 0,
            details: true,
            hold_out: true,
        }
    }
}

impl FitOptions {
    /// Creates options for fitting an impact law. `bootstrap` is the number of resamples of the groups from which confidence
    /// intervals are computed; with 0 there are no intervals. `seed` selects the random numbers of resamples and halves.
    #[must_use]
    pub fn new(bootstrap: u64, seed: u64) -> Self {
        Self {
            bootstrap,
            seed,
            ..Self::default()
        }
    }

    /// Returns an error for more resamples than can be computed.
    pub(crate) fn check(&self) -> Result<(), FitError> {
        if self.bootstrap <= MOST_RESAMPLES {
            return Ok(());
        }
        let why = format!(
            "bootstrap: {} must be at most {MOST_RESAMPLES}",
            self.bootstrap
        );
        Err(FitError::Parameter(why))
    }
}
