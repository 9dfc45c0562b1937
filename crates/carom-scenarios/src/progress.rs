//! Progress of a long run.

use std::fmt;
use std::sync::Arc;

/// Progress of a long run at one moment, as reported to an observer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Advance<'a> {
    /// Items that are counted, such as samples.
    Counted {
        /// Name of the items.
        what: &'a str,
        /// Number of items done.
        done: u64,
        /// Number of items in all.
        total: u64,
    },
    /// Simulation of a motion in time.
    Simulated {
        /// Simulated time (s).
        time: f64,
        /// Simulated time at the end (s).
        duration: f64,
        /// Number of impacts so far.
        impacts: usize,
    },
}

type Observer = dyn Fn(Advance<'_>) + Send + Sync;

/// Observer of a long run of a scenario: a function that is called with the progress. By default there is no observer.
///
/// Observation never changes a result.
///
/// # Examples
///
/// ```
/// use carom_scenarios::{Advance, Overrides, Progress, scenario};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// let seen = Arc::new(AtomicU64::new(0));
/// let count = Arc::clone(&seen);
/// let progress = Progress::new(move |advance| {
///     if let Advance::Simulated { time, duration, .. } = advance {
///         assert!(time <= duration);
///         count.fetch_add(1, Ordering::Relaxed);
///     }
/// });
/// let world = scenario("world").expect("a scenario");
/// world.run(&Overrides { progress, threads: 1, ..Overrides::default() })?;
/// assert!(seen.load(Ordering::Relaxed) > 0);
/// # Ok::<(), carom_scenarios::ScenarioError>(())
/// ```
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Observer>>);

impl Progress {
    /// Creates an observer of a run: the function `observer` is called repeatedly during the run. A panic of the function ends
    /// the run.
    pub fn new(observer: impl Fn(Advance<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Returns a callback for computations that draw samples. The callback reports the number of samples done and the total
    /// number to the observer.
    pub(crate) fn samples(&self) -> impl Fn(u64, u64) + '_ {
        |done, total| self.report("samples", done, total)
    }

    /// Reports to the observer that `done` of `total` items are complete. `what`: name of the items.
    pub(crate) fn report(&self, what: &str, done: u64, total: u64) {
        if let Some(observer) = &self.0 {
            observer(Advance::Counted { what, done, total });
        }
    }

    /// Reports the simulated time (s), the end time (s) and the number of impacts so far to the observer.
    pub(crate) fn simulated(&self, time: f64, duration: f64, impacts: usize) {
        if let Some(observer) = &self.0 {
            observer(Advance::Simulated {
                time,
                duration,
                impacts,
            });
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Progress(observed)"
        } else {
            "Progress"
        })
    }
}

impl PartialEq for Progress {
    /// True if both objects report to the identical observer, or both have no observer.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Eq for Progress {}
