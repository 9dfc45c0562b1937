//! Small numerical tools that several of carom's crates need, without dependencies.

mod version;

pub use version::NUMERICS_VERSION;
