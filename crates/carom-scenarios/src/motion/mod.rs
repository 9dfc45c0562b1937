//! Motion: worlds of rigid bodies and mechanisms of one's own, from a file.

pub(crate) mod mechanism;
pub(crate) mod world;
