//! Small hand-written systems.
//!
//! | system | coordinates | contacts |
//! | --- | --- | --- |
//! | [`Block`] | x, y, angle | corners on a floor, level or inclined; also a rod and a ball |
//! | [`Pendulum`] | angle | a wall |
//! | [`PendulumCradle`] | angles | neighboring balls |
//! | [`BallsOnLine`] | positions | neighboring balls |

mod balls_on_line;
mod block;
mod pendulum;
mod pendulum_cradle;

pub use balls_on_line::BallsOnLine;
pub use block::Block;
pub use pendulum::Pendulum;
pub use pendulum_cradle::PendulumCradle;
