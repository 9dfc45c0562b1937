//! Nonholonomic billiards: exact motion between impacts, and event location that misses no impact.
//!
//! A billiard is the free motion of a nonholonomic system on a table where the wall function satisfies $h < 0$. At the wall, $h =
//! 0$, impacts change the velocity only. The difficulty is not the impact law but the location of the events: a rim may graze the
//! wall by $10^{-16}$ of the table, two rims may rattle a thousand times in 20 ms, and after a missed impact the rest of the
//! orbit is wrong. Event location here does not rely on sampling:
//!
//! - the motion between impacts is known in closed form;
//! - on an ellipse impacts are roots of a cubic, isolated by Bernstein coefficients, after the
//!   root of the present contact has been divided out;
//! - on any other wall, steps are bounded by the second derivative ([`march`]);
//! - while the rate of the wall function is small, it is propagated from impact to impact instead of recomputed.
//!
//! | module or type | contents |
//! | --- | --- |
//! | [`penny`] | the rolling penny: flow, impact law, orbits, Lyapunov exponents, Poincaré section |
//! | [`circle`] | closed-form orbits of the penny on a circular table |
//! | [`Table`], [`Ellipse`], [`Superellipse`] | walls in the plane |
//! | [`system`] | trait for other systems, and the event loop that follows them |
//! | [`sleigh`], [`knife_edge`], [`rolling_ball`], [`no_slip_disk`], [`snakeboard`], [`controlled`] | other systems |
//! | [`ensemble`] | initial states determined by seed and index |
//!
//! The gradients of wall functions point outwards, as in Clark & Bloch; the gap of the impact laws is $-h$.

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
