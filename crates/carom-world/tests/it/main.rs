//! Integration tests of carom-world, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod contact;
mod guard;
mod heaps;
mod impacts;
mod jointed;
mod many;
mod rolling;
mod scales;
mod session;
mod settling;
mod shapes;
mod springs;
mod touching;
mod zeno;
