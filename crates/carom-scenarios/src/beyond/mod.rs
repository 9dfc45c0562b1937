//! Scenarios that are not from the five papers.

pub(crate) mod cube_tosses;
pub(crate) mod engine_survey;
pub(crate) mod impact_derivatives;
pub(crate) mod no_slip_disk;
pub(crate) mod saltation;
