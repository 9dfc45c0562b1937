//! TREX, a running robot with a tail, designed so that its double impact has a unique outcome.
//!
//! The body consists of two balls. Two legs with knees are attached at the center of the larger ball. The tail
//! is fixed to the smaller ball, which rotates relative to the larger one. If tail and foot hit the floor
//! together, the outcome depends on the order of the two impacts, unless the normals are orthogonal in
//! the kinetic metric. Seghete & Murphey, *A propagative model of simultaneous impact*,
//! Sec. VII-B.
//!
//! # Departure from the source
//!
//! The paper's figures have no dimensions, and its text does not define the coordinates, so
//! [`TailRunner`] is a reconstruction: [`Stance`] defines the angles, the bodies are solid
//! balls, limbs and tail are thin rods, and all mass of a limb lies on its axis. Table
//! I supports the reconstruction: in both rows the tip of the tail lies on the floor to the printed digits, if the tail
//! ends at the apex of the cone around the two balls ([`TailRule::Cone`]). With the paper's own formula for the
//! tail ([`TailRule::Printed`]) the tip lies 6 mm below the floor. The leg in contact is then the
//! left one, while the text says right. This model, and some two thousand variants of it, do not reproduce the printed
//! products of the normals; but they do reproduce that an optimum exists next to the initial
//! design.

mod design;
mod drawing;
mod gaits;
mod playback;
mod robot;
mod run;
mod search;
mod table;

pub use design::{TailRunners, UNKNOWN_NAMES, UNKNOWNS};
pub use robot::{
    Drive, GRAVITY, LEFT_FOOT, Layout, Lengths, Outline, RIGHT_FOOT, SpineJoint, Stance, TAIL,
    TailRule, TailRunner,
};

pub(crate) use run::run;
pub(crate) use search::run as search;
