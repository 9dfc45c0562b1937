//! Independent tasks, by as many threads as the caller has.

/// Runs independent tasks. This crate starts no threads; who has some hands them in.
pub trait Executor: Sync {
    /// Calls `task` once with every index below `count`, in any order, and returns when all have ended.
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync));
}

/// One task after the other, on the thread of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serial;

impl Executor for Serial {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        for index in 0..count {
            task(index);
        }
    }
}
