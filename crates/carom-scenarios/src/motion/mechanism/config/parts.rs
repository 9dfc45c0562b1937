//! Parts of a mechanism of any kind.

use crate::motion::mechanism::playback::Drawing;
use carom_mechanism::MechanicalSystem;
use carom_mechanism::planar::PlanarMechanism;

/// Kind of a coordinate, which has its own figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Position,
    Angle,
    /// Coordinate of a system given by formulas, whose unit is not known.
    Formula,
}

/// Drawn parts of a mechanism of links.
pub(crate) struct Scene {
    pub(crate) mechanism: PlanarMechanism,
    pub(crate) drawings: Vec<Drawing>,
    /// Lines that links can touch: a point, and a unit normal.
    pub(crate) lines: Vec<[[f64; 2]; 2]>,
}

/// Parts of a mechanism that its kind determines: of links, or given by formulas.
pub(super) struct Parts {
    pub(super) system: Box<dyn MechanicalSystem>,
    pub(super) scene: Option<Scene>,
    pub(super) coordinates: Vec<String>,
    pub(super) kinds: Vec<Kind>,
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
}
