//! Work in parallel, if the caller has threads.

use std::sync::Mutex;

/// Runs independent tasks, in any order and on any threads.
///
/// This crate starts no threads. A caller with a thread pool lends it to [`judge_on`](super::judge_on);
/// the judgement is the same with or without.
pub trait Tasks: Sync {
    /// Calls `task` once for every index below `count`.
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync));
}

/// One task after the other, on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Tasks for Serial {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(task);
    }
}

/// The results of tasks in the order of their indices.
pub(super) fn map<T: Send>(
    tasks: &dyn Tasks,
    count: usize,
    task: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    tasks.run(count, &|index| {
        let result = task(index);
        if let Some(slot) = slots.get(index) {
            let mut slot = slot.lock().unwrap_or_else(|broken| broken.into_inner());
            *slot = Some(result);
        }
    });
    slots
        .into_iter()
        .filter_map(|slot| slot.into_inner().unwrap_or_else(|broken| broken.into_inner()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks run backwards give results in the same order.
    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        struct Backwards;
        impl Tasks for Backwards {
            fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
                (0..count).rev().for_each(task);
            }
        }
        assert_eq!(map(&Backwards, 4, |i| i * i), vec![0, 1, 4, 9]);
        assert_eq!(map(&Serial, 4, |i| i * i), vec![0, 1, 4, 9]);
    }
}
