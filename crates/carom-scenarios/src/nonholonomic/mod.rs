//! Clark & Bloch: billiards of bodies that roll or glide without slipping.

pub(crate) mod chaplygin_sleigh;
pub(crate) mod controlled_penny;
pub(crate) mod hybrid_model;
pub(crate) mod knife_edge;
pub(crate) mod penny;
pub(crate) mod penny_chaos;
pub(crate) mod penny_cloud;
pub(crate) mod penny_figures;
pub(crate) mod penny_model;
pub(crate) mod penny_restitution;
pub(crate) mod penny_superellipse;
pub(crate) mod rolling_ball;
pub(crate) mod snakeboard;
