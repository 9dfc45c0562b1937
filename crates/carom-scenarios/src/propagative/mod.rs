//! Seghete & Murphey: the propagative law, which resolves one contact after the other, and its time stepper.

pub(crate) mod billiard_break;
pub(crate) mod break_map;
pub(crate) mod double_pendulum_walls;
pub(crate) mod falling_block;
pub(crate) mod falling_chain;
pub(crate) mod handed_on;
pub(crate) mod light_ball;
pub(crate) mod mechanism_motion;
pub(crate) mod mechanism_run;
pub(crate) mod mechanisms;
pub(crate) mod model;
pub(crate) mod newtons_cradle;
pub(crate) mod orthogonal_corner;
pub(crate) mod outcomes;
pub(crate) mod pair_map;
pub(crate) mod plate_on_legs;
pub(crate) mod played;
pub(crate) mod rack_break;
pub(crate) mod reflection_wedge;
pub mod tail_runner;
pub(crate) mod three_ball_masses;
