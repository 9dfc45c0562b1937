//! Integration tests of carom-motion, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod billiard;
mod flying;
mod generalized;
