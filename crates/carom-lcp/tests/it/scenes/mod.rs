//! Bodies in contact, and problems from files.

pub mod heaps;
pub mod scene;
pub mod siconos;
