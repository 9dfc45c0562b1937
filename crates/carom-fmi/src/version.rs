//! Versions of FMI.

/// Version of FMI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Version {
    /// FMI 2: scalars.
    Two,
    /// FMI 3: arrays.
    #[default]
    Three,
}
