//! Random problems, systems, comparisons and relations that the suites of carom-impact, carom-derivative and carom-judge
//! share.
#![allow(dead_code, unused_imports, reason = "every suite uses a part of it")]

pub mod common;
pub mod problems;
pub mod random;
pub mod systems;
pub mod transforms;
