//! Memory of workspaces.

/// Room for `n` entries in all.
pub(super) fn reserve<T>(vector: &mut Vec<T>, n: usize) {
    vector.reserve(n.saturating_sub(vector.len()));
}
