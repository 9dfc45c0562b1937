//! Version of the numbers that carom computes.

/// The version of carom's numbers.
///
/// It moves when, and only when, a number of `golden/` moves: two results that carry the same
/// version, in records and JSON answers under the key `numerics`, were computed by equal
/// arithmetic up to the last digits. `cargo xtask numerics` compares the golden records with the
/// digests that stand beside this version in `crates/carom-numeric/golden.toml`.
pub const NUMERICS_VERSION: u32 = 2;
