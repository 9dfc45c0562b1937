//! Integration tests of the C interface, one binary: by its functions, and by programs in C and C++.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
mod programs;
mod runs;
mod support;
mod units;
