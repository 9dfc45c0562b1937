//! Integration tests of carom-geometry, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cylinders;
mod mass_properties;
mod mesh;
mod pairs;
mod shapes;
