//! Nonholonomic billiards: exact motion between impacts and event location that misses none.
//!
//! A billiard is free motion of a nonholonomic system inside a wall $h = 0$, with $h < 0$ on the
//! table, broken by impacts in which only the velocity jumps. What makes it hard is not the law of
//! impact but the events: a rim may graze the wall by $10^{-16}$ of the table, two rims may
//! rattle a thousand times in 20 ms, and a missed impact is a wrong orbit from then on. Nothing
//! here samples and hopes:
//!
//! - between impacts the motion is known in closed form;
//! - on an ellipse impacts are roots of a cubic, isolated by Bernstein coefficients, with the
//!   root of the present contact divided out;
//! - on any other wall steps are bounded by the second derivative ([`march`]);
//! - the rate of the wall function is carried from impact to impact while it is small.
//!
//! | module or type | holds |
//! | --- | --- |
//! | [`penny`] | the rolling penny: flow, law, orbits, Lyapunov exponents, section |
//! | [`circle`] | its complete solution on a circular table |
//! | [`Table`], [`Ellipse`], [`Superellipse`] | walls in the plane |
//! | [`system`] | the frame for other systems, from which the rest is made |
//! | [`sleigh`], [`knife_edge`], [`rolling_ball`], [`no_slip_disk`], [`snakeboard`], [`controlled`] | other systems |
//! | [`ensemble`] | starts keyed by seed and index |
//!
//! Wall functions point outwards, as in Clark & Bloch; the gap of the impact laws is $-h$.

pub mod circle;
pub mod controlled;
pub mod ensemble;
mod error;
pub mod knife_edge;
mod march;
pub mod no_slip_disk;
pub mod penny;
pub mod rolling_ball;
pub mod sleigh;
pub mod snakeboard;
pub mod system;
mod table;
mod trig;

pub use error::BilliardError;
pub use march::{March, march};
pub use table::{Ellipse, Superellipse, Table};
