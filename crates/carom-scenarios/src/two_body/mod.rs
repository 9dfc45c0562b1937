//! Jia & Wang: frictional impact of two bodies at one contact.

pub(crate) mod ball_impacts;
mod cases;
mod euler_impact;
pub(crate) mod euler_schemes;
pub(crate) mod hodograph_bundles;
pub(crate) mod hodographs;
pub(crate) mod icosahedron_tetrahedron;
pub(crate) mod pin_and_ball;
pub(crate) mod recompression;
pub(crate) mod restitution_laws;
pub(crate) mod sliding;
pub(crate) mod tangential_compliance;
