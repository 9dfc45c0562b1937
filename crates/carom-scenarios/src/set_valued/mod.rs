//! Simultaneous frictional impacts: Halm & Posa, Section 5.
//!
//! One file for each system computes mass matrix and contact rows from its parameters. All systems share one
//! report: every simultaneous outcome, both sequential outcomes, samples of the set as in the paper,
//! and samples that search for the extremes of the set.

pub(crate) mod box_and_wall;
pub(crate) mod compass_gait;
pub(crate) mod compliant_block;
pub(crate) mod disk_stack;
pub(crate) mod four_legged_table;
pub(crate) mod impact_bounds;
pub(crate) mod impact_inclusions;
mod inclusion;
mod kelvin_voigt;
pub(crate) mod landing_map;
mod lipschitz;
mod playback;
pub(crate) mod ramone;
mod report;
pub(crate) mod rocking_block;
pub(crate) mod sliding_box;
mod slots;
mod spatial_box;
mod system;
pub(crate) mod zeno_block;
