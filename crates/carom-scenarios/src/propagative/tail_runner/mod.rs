//! TREX, a running robot with a tail: a design whose double impact has one outcome.
//!
//! Two balls make the body, two legs with knees hang at the center of the larger one, and a tail
//! is welded to the smaller one, which turns against the larger. When tail and foot hit the floor
//! together, the order of the two impacts decides the outcome, unless the normals are orthogonal in
//! the kinetic metric. Seghete & Murphey, *A propagative model of simultaneous impact*,
//! Sec. VII-B.
//!
//! # Departure from the source
//!
//! The paper's figures carry no dimensions and its text leaves open where the coordinates sit, so
//! [`TailRunner`] is a reconstruction: [`Stance`] says how angles are measured, the bodies are solid
//! balls, limbs and tail thin rods, and all mass of a limb lies on its axis. It is supported by Table
//! I: the tip of the tail lies on the floor in both rows to the printed digits, if the tail ends at
//! the apex of the cone around the two balls ([`TailRule::Cone`]). The paper's own formula for the
//! tail ([`TailRule::Printed`]) puts the tip 6 mm below the floor. The leg that touches is then the
//! left one, where the text says right. The printed products of the normals are not reproduced by
//! this model, nor by some two thousand variants of it; that an optimum exists next to the start
//! is.

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
