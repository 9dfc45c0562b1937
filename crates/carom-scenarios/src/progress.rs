//! Progress of a long run.

use std::fmt;
use std::sync::Arc;

type Observer = dyn Fn(&str, u64, u64) + Send + Sync;

/// Who is told how far a long run is; nobody by default.
///
/// Observation never changes a result.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Observer>>);

impl Progress {
    /// Calls `observer` with what is counted, how many are done, and of how many.
    pub fn new(observer: impl Fn(&str, u64, u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Reports the number of samples done and of all to the observer.
    pub(crate) fn samples(&self) -> impl Fn(u64, u64) + '_ {
        |done, total| self.report("samples", done, total)
    }

    /// Tells the observer.
    pub(crate) fn report(&self, what: &str, done: u64, total: u64) {
        if let Some(observer) = &self.0 {
            observer(what, done, total);
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
    /// True if both tell the same observer.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Eq for Progress {}
