//! Code shared by the scenarios of several papers.

pub(crate) mod projection;
pub(crate) mod sensitivity;

/// Returns `count` equally spaced values from `first` to `last`.
pub(crate) fn linspace(first: f64, last: f64, count: usize) -> Vec<f64> {
    let steps = count.saturating_sub(1).max(1) as f64;
    (0..count)
        .map(|k| first + (last - first) * (k as f64 / steps))
        .collect()
}
