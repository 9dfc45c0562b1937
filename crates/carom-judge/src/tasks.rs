//! Independent tasks on all threads of the current pool (feature `rayon`), or one after the other.

/// Runs `task` for every index below `count` in parallel, and returns the results in the order of the indices.
#[cfg(feature = "rayon")]
pub(super) fn map<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    use rayon::prelude::*;
    (0..count).into_par_iter().map(&task).collect()
}

/// Runs `task` for every index below `count`, one after the other, and returns the results in the order of the indices.
#[cfg(not(feature = "rayon"))]
pub(super) fn map<T>(count: usize, task: impl Fn(usize) -> T) -> Vec<T> {
    (0..count).map(task).collect()
}
