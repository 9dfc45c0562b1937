//! Integration tests of units, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod export;
mod instance;
