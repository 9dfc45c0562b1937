//! Threads for the independent tasks of time stepping.

use carom_world::Executor;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Thread pool, or the calling thread.
#[derive(Debug, Default)]
pub(super) struct Threads {
    pool: Option<ThreadPool>,
}

impl Threads {
    /// Creates a pool of `count` threads. The calling thread does all work instead if `count` is at most one, or if the pool
    /// cannot be created.
    pub(super) fn new(count: usize) -> Self {
        let pool = match count {
            0 | 1 => None,
            _ => ThreadPoolBuilder::new().num_threads(count).build().ok(),
        };
        Self { pool }
    }
}

impl Executor for Threads {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        match &self.pool {
            Some(pool) if count > 1 => pool.scope(|scope| {
                for index in 0..count {
                    scope.spawn(move |_| task(index));
                }
            }),
            _ => (0..count).for_each(task),
        }
    }
}
