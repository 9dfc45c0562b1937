//! Execution of independent tasks on the threads that the caller provides.

/// Executor of independent tasks, for parallel computation in time stepping. This crate starts no threads: a caller that has
/// threads implements this trait.
pub trait Executor: Sync {
    /// Calls `task` once with each index below `count`, in any order or in parallel, and returns when all calls have ended.
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync));
}

/// Executor of independent tasks that runs them one after the other on the calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serial;

impl Executor for Serial {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        for index in 0..count {
            task(index);
        }
    }
}
