//! Frictional impact of two bodies: closed forms, reference outcomes, theorems, an independent oracle.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acceptance;
mod agreement;
mod cases;
mod compliance;
mod hodograph;
mod oracle;
mod random;
mod stress;
mod theorems;
