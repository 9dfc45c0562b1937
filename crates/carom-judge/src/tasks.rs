//! Work on all threads of the current pool, with the feature `rayon`.

/// The results of independent tasks, in the order of their indices whatever thread made them.
#[cfg(feature = "rayon")]
pub(super) fn map<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    use rayon::prelude::*;
    (0..count).into_par_iter().map(&task).collect()
}

/// The results of independent tasks, in the order of their indices.
#[cfg(not(feature = "rayon"))]
pub(super) fn map<T>(count: usize, task: impl Fn(usize) -> T) -> Vec<T> {
    (0..count).map(task).collect()
}
