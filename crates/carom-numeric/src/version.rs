//! Version of the numbers that carom computes.

/// Version number of the numerical results of carom.
///
/// It is 1 until the first release. After it the version is raised, once for a release, if and only if a number in `golden/`
/// changes. Two results of releases with equal version (key `numerics` in records and sweeps) were computed by equal arithmetic up to
/// the last digits. `cargo xtask numerics` compares the golden records with the digests stored next to this version in
/// `crates/carom-numeric/golden.toml`.
pub const NUMERICS_VERSION: u32 = 1;
