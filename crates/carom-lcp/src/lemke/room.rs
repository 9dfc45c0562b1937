//! Memory allocation of workspaces.

/// Reserves memory for a total of `n` entries in a vector.
pub(super) fn reserve<T>(vector: &mut Vec<T>, n: usize) {
    vector.reserve(n.saturating_sub(vector.len()));
}
